# SPDX-License-Identifier: MIT
# GB_INVARIANTS: --enable-debug stops where an invariant of ours is broken.
AC_DEFUN([GB_INVARIANTS], [
  AC_ARG_ENABLE([debug],
    [AS_HELP_STRING([--enable-debug], [check the library's own invariants])],
    [], [enable_debug=no])
  GB_YES_OR_NO([debug])
  AS_IF([test "x$enable_debug" = xyes],
    [AC_DEFINE([GB_DEBUG], [1], [Check the library's own invariants.])])
])
