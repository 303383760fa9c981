# SPDX-License-Identifier: MIT
# GB_TESTS: make check needs cmocka; the rest is skipped where it is missing.
AC_DEFUN([GB_TESTS], [
  PKG_CHECK_MODULES([CMOCKA], [cmocka >= 1.1.5], [gb_tests=yes],
    [gb_tests='no, they need libcmocka-dev'])
  AM_CONDITIONAL([TESTS_CMOCKA], [test "x$gb_tests" = xyes])
  AC_PATH_PROG([MANDOC], [mandoc], [:])
  AC_PATH_PROG([NM], [nm], [:])
])
