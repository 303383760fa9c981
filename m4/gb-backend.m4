# SPDX-License-Identifier: MIT
# GB_BACKEND(NAME, TITLE, FIND): a backend that is optional.  --with-NAME says what
# becomes of it: a module, a part of the library, nothing, or (auto) a module where
# one can be built.  Unless it is no, FIND is run, which leaves in gb_missing what is
# missing, in words for people, or nothing.
#
# Clients are told of what is built in by GGML_USE_NAME, as at the API level.
#
# Afterwards gb_backend_NAME is module, builtin or no, gb_backends has the words of
# all backends for the summary, and gb_why_not_NAME the reason of an auto that came
# to nothing.  Conditionals, NAME in capitals: NAME_MODULE,
# NAME_BUILTIN, NAME_NO.
AC_DEFUN([GB_BACKEND], [
  AC_ARG_WITH([$1],
    [AS_HELP_STRING([--with-$1=auto|module|builtin|no],
      [$2, as a module or in the library; auto: a module where it can be built @<:@auto@:>@])],
    [], [with_$1=auto])
  AS_CASE([$with_$1], [auto|module|builtin|no], [],
    [AC_MSG_ERROR([--with-$1 is auto, module, builtin or no, not '$with_$1'])])
  gb_missing= gb_why_not_$1=
  gb_backend_$1=$with_$1
  AS_CASE([$with_$1/$enable_shared],
    [no/*], [],
    [module/no], [AC_MSG_ERROR([--with-$1=module: a module needs the shared library, which --disable-shared leaves out; --with-$1=builtin puts it into the static one])],
    [auto/no], [gb_missing='a module needs the shared library; --with-$1=builtin puts it into the static one'],
    [$3])
  AS_CASE([$with_$1/$gb_missing],
    [auto/], [gb_backend_$1=module],
    [auto/*], [gb_backend_$1=no gb_why_not_$1=$gb_missing],
    [no/*|*/], [],
    [AC_MSG_ERROR([--with-$1=$with_$1: $gb_missing])])
  AC_MSG_CHECKING([whether to build the backend $1])
  AC_MSG_RESULT([$gb_backend_$1])
  gb_backends="$gb_backends $1=$gb_backend_$1"
  AM_CONDITIONAL(m4_toupper([$1])[_MODULE], [test "x$gb_backend_$1" = xmodule])
  AM_CONDITIONAL(m4_toupper([$1])[_BUILTIN], [test "x$gb_backend_$1" = xbuiltin])
  AM_CONDITIONAL(m4_toupper([$1])[_NO], [test "x$gb_backend_$1" = xno])
  AS_IF([test "x$gb_backend_$1" = xbuiltin], [
    AC_DEFINE([GB_BUILTIN_]m4_toupper([$1]), [1], [The backend $1 is built in.])
    GB_USE_FLAGS="$GB_USE_FLAGS -DGGML_USE_[]m4_toupper([$1])"
    GB_USE_LIST="$GB_USE_LIST;GGML_USE_[]m4_toupper([$1])"])
  AC_SUBST([GB_USE_FLAGS])
  AC_SUBST([GB_USE_LIST])
])
