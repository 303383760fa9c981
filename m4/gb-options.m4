# SPDX-License-Identifier: MIT
# GB_OPTIONS: options that configure does not have, and those that cannot be had
# together, end it; else a slip would be a package without what was asked for.
# --disable-option-checking, which packagers' tools pass with options for all
# packages, allows the former.
AC_DEFUN([GB_OPTIONS], [
  AS_IF([test -n "$ac_unrecognized_opts" && test "x$enable_option_checking" != xno],
    [AC_MSG_ERROR([there is no option $ac_unrecognized_opts; '$[]0 --help' lists those that there are])])
  AS_IF([test "x$enable_shared$enable_static" = xnono],
    [AC_MSG_ERROR([--disable-shared and --disable-static leave no library to build; give one of them])])
])

# GB_YES_OR_NO(FEATURE): --enable-FEATURE has no other values.
AC_DEFUN([GB_YES_OR_NO], [
  AS_CASE([$enable_$1], [yes|no], [],
    [AC_MSG_ERROR([--enable-$1 is yes or no, not '$enable_$1'])])
])
