# SPDX-License-Identifier: MIT
# GB_FLOATS: floats are rounded after each operation.  i386 of old does it when a
# value leaves the processor's stack, which nobody foresees: results would not be
# the same twice, and halves would be rounded wrong.
AC_DEFUN([GB_FLOATS], [
  AC_CACHE_CHECK([for flags by which floats are floats], [gb_cv_float_flags],
    [gb_cv_float_flags=unknown
    gb_save_CFLAGS=$CFLAGS
    for gb_flags in '' '-msse2 -mfpmath=sse'; do
      CFLAGS="$gb_flags $gb_save_CFLAGS"
      AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <float.h>
#if FLT_EVAL_METHOD != 0
#error more digits than a float has
#endif]], [[]])], [gb_cv_float_flags=${gb_flags:-none}; break])
    done
    CFLAGS=$gb_save_CFLAGS])
  AS_CASE([$gb_cv_float_flags],
    [none], [],
    [unknown], [AC_MSG_WARN([floats have more digits here than they should; results will not be exact])],
    [GB_CFLAGS="$GB_CFLAGS $gb_cv_float_flags"])
])
