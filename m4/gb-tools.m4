# SPDX-License-Identifier: MIT
# GB_TOOLS: the installed programs need PCRE2 and a JSON library; the library
# itself needs neither.
AC_DEFUN([GB_TOOLS], [
  AC_ARG_ENABLE([tools],
    [AS_HELP_STRING([--disable-tools], [do not build the programs])], [],
    [enable_tools=auto])
  AS_IF([test "x$enable_tools" != xauto], [GB_YES_OR_NO([tools])])
  # They exist once, beside the library without a prefix.
  AS_IF([test -n "$GB_PREFIX"], [
    AS_IF([test "x$enable_tools" = xyes],
      [AC_MSG_ERROR([--with-symbol-prefix makes a library alone: it cannot be had together with --enable-tools])])
    enable_tools=no])
  gb_tools=no
  AS_IF([test "x$enable_tools" != xno], [
    PKG_CHECK_MODULES([PCRE2], [libpcre2-8 >= 10.30],
      [PKG_CHECK_MODULES([JANSSON], [jansson >= 2.10], [gb_tools=yes], [:])], [:])
    AS_IF([test "x$enable_tools$gb_tools" = xyesno],
      [AC_MSG_ERROR([the programs need pkg-config, PCRE2 10.30 and Jansson 2.10 (Debian: pkgconf, libpcre2-dev, libjansson-dev); --disable-tools leaves them out])])])
  AS_IF([test "x$enable_tools$gb_tools" = xautono],
    [gb_tools="no, they need ${gb_pkgconf}libpcre2-dev and libjansson-dev"])
  AM_CONDITIONAL([TOOLS], [test "x$gb_tools" = xyes])
])
