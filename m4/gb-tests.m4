# SPDX-License-Identifier: MIT
# GB_TESTS: make check needs cmocka; the rest is skipped where it is missing.  With
# --enable-installed-tests make install installs tests as well.
AC_DEFUN([GB_TESTS], [
  PKG_CHECK_MODULES([CMOCKA], [cmocka >= 1.1.5], [gb_tests=yes],
    [gb_tests='no, they need libcmocka-dev'])
  AM_CONDITIONAL([TESTS_CMOCKA], [test "x$gb_tests" = xyes])
  AC_PATH_PROG([MANDOC], [mandoc], [:])
  AC_PATH_PROG([NM], [nm], [:])
  AC_ARG_ENABLE([installed-tests],
    [AS_HELP_STRING([--enable-installed-tests],
      [install test programs and a runner for them])], [],
    [enable_installed_tests=no])
  AS_IF([test "x$enable_installed_tests$gb_tests" = xyesno],
    [AC_MSG_ERROR([--enable-installed-tests needs cmocka 1.1.5 or later])])
  AM_CONDITIONAL([INSTALLED_TESTS], [test "x$enable_installed_tests" = xyes])
])
