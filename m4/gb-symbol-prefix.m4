# SPDX-License-Identifier: MIT
# GB_SYMBOL_PREFIX: --with-symbol-prefix=my_ makes a second copy of the library, for
# a program that has one already.  Every public name begins with my_, and so do the
# names of what is installed, which is the library, its headers and its packages.
AC_DEFUN([GB_SYMBOL_PREFIX], [
  AC_ARG_WITH([symbol-prefix],
    [AS_HELP_STRING([--with-symbol-prefix=PREFIX],
      [put PREFIX before each public name, the library's file and its packages])],
    [], [with_symbol_prefix=no])
  AS_CASE([$with_symbol_prefix],
    [no], [GB_PREFIX=],
    [yes | ''], [AC_MSG_ERROR([--with-symbol-prefix needs a prefix, such as my_])],
    [[[!A-Za-z]*|*[!A-Za-z0-9_]*]],
      [AC_MSG_ERROR([--with-symbol-prefix=$with_symbol_prefix: a prefix is a letter, then letters, digits and underscores])],
    [GB_PREFIX=$with_symbol_prefix])
  AC_SUBST([GB_PREFIX])
  AM_CONDITIONAL([SYMBOL_PREFIX], [test -n "$GB_PREFIX"])
  # What programs need that are built against the build tree.
  GB_PREFIX_CPPFLAGS=
  AS_IF([test -n "$GB_PREFIX"],
    [GB_PREFIX_CPPFLAGS="-include \"`pwd`/prefix/prefix.h\""])
  AC_SUBST([GB_PREFIX_CPPFLAGS])
])
