# SPDX-License-Identifier: MIT
# GB_VARIANTS: which variants of the CPU kernels the compiler can make.  Nothing is
# asked of the machine that builds.
AC_DEFUN([GB_VARIANTS], [
  AC_ARG_VAR([KERNEL_CFLAGS], [further flags for the CPU kernels alone])
  m4_include([backends/cpu/variants.m4])
  AC_DEFINE_UNQUOTED([GB_CPU_VARIANTS(row)], [$gb_rows],
    [row(variant, whose floats it has) for each variant of the CPU kernels, slowest first.])
])

# GB_CPU_VARIANT(NAME, MACHINE, SIMD, FLOATS, PAIRS, BYTES, SHUFFLES, TILES, FLAGS,
# HEADER, PROBE): a row of the list
AC_DEFUN([GB_CPU_VARIANT], [
  AC_CACHE_CHECK([whether $CC can make $1 code], [gb_cv_variant_$1], [
    gb_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $9"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([m4_ifval([$2], [[#ifndef __$2__
#error another machine
#endif]])
m4_ifval([$10], [[#include <$10>]])], [[$11]])],
      [gb_cv_variant_$1=yes], [gb_cv_variant_$1=no])
    CFLAGS=$gb_save_CFLAGS])
  AS_CASE(["$gb_cv_variant_$4 $gb_cv_variant_$5 $gb_cv_variant_$6 $gb_cv_variant_$7"],
    [*no*], [gb_cv_variant_$1=no])
  AM_CONDITIONAL([VARIANT_$1], [test "x$gb_cv_variant_$1" = xyes])
  AS_IF([test "x$gb_cv_variant_$1" = xyes], [
    gb_variants="${gb_variants:+$gb_variants }$1"
    gb_rows="${gb_rows:+$gb_rows }row($1, $4)"])
])
