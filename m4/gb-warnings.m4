# SPDX-License-Identifier: MIT
# GB_WARNINGS: warnings one by one; --enable-werror is for us and for CI.
AC_DEFUN([GB_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [make warnings errors])], [],
    [enable_werror=no])
  GB_YES_OR_NO([werror])
  GB_CFLAGS=
  for gb_flag in -Wall -Wextra -Wmissing-prototypes -Wpointer-arith \
      -Wwrite-strings -Wvla -fvisibility=hidden -fno-math-errno \
      -ffp-contract=off; do
    GB_CC_HAS([$gb_flag], [GB_CFLAGS="$GB_CFLAGS $gb_flag"])
  done
  AS_IF([test "x$enable_werror" = xyes], [GB_CFLAGS="$GB_CFLAGS -Werror"])

  # No path of the build goes into objects, debug information included.
  GB_PREFIX_MAP=
  GB_CC_HAS([-ffile-prefix-map=/a=.], [GB_PREFIX_MAP=-ffile-prefix-map],
    [GB_CC_HAS([-fdebug-prefix-map=/a=.], [GB_PREFIX_MAP=-fdebug-prefix-map])])
  AM_CONDITIONAL([PREFIX_MAP], [test -n "$GB_PREFIX_MAP"])
  AC_SUBST([GB_PREFIX_MAP])
  AC_SUBST([GB_CFLAGS])
])

# GB_CC_HAS(FLAG, YES, [NO]): does the compiler take FLAG?
AC_DEFUN([GB_CC_HAS], [
  AC_MSG_CHECKING([whether $CC takes $1])
  gb_save_CFLAGS=$CFLAGS
  CFLAGS="$CFLAGS -Werror $1"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[]], [[]])], [gb_has=yes], [gb_has=no])
  CFLAGS=$gb_save_CFLAGS
  AC_MSG_RESULT([$gb_has])
  AS_IF([test $gb_has = yes], [$2], [$3])
])
