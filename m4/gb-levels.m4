# SPDX-License-Identifier: MIT
# GB_LEVELS: which levels of CPU kernels the compiler can make.  Nothing is asked
# of the machine that builds.
AC_DEFUN([GB_LEVELS], [
  AC_ARG_VAR([KERNEL_CFLAGS], [further flags for the CPU kernels alone])
  AC_CACHE_CHECK([whether this is x86-64], [gb_cv_x86_64], [
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef __x86_64__
#error no
#endif
int gb_x86;]])], [gb_cv_x86_64=yes], [gb_cv_x86_64=no])])
  GB_LEVEL([avx2], [-mavx2 -mfma -mf16c -mbmi2],
    [_mm256_fmadd_ps(_mm256_cvtph_ps(_mm_setzero_si128()), x, x)], [__m256 x = _mm256_setzero_ps()])
  GB_LEVEL([avx512],
    [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c -mbmi2],
    [_mm512_fmadd_ps(_mm512_cvtph_ps(_mm256_setzero_si256()), x, x)], [__m512 x = _mm512_setzero_ps()])
  GB_LEVEL([avx512_vnni],
    [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx2 -mfma -mf16c -mbmi2],
    [_mm512_dpbusd_epi32(x, x, x)], [__m512i x = _mm512_setzero_si512()])
  GB_LEVEL([avx512_bf16],
    [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx512bf16 -mavx2 -mfma -mf16c -mbmi2],
    [_mm512_dpbf16_ps(x, (__m512bh)_mm512_castps_si512(x), (__m512bh)_mm512_castps_si512(x))],
    [__m512 x = _mm512_setzero_ps()])
  gb_levels="generic$gb_levels"
])

# GB_LEVEL(NAME, FLAGS, EXPRESSION, DECLARATION)
AC_DEFUN([GB_LEVEL], [
  AS_VAR_PUSHDEF([gb_var], [gb_cv_level_$1])
  AC_CACHE_CHECK([whether $CC can make $1 code], [gb_var], [
    AS_VAR_SET([gb_var], [no])
    AS_IF([test "x$gb_cv_x86_64" = xyes], [
      gb_save_CFLAGS=$CFLAGS
      CFLAGS="$CFLAGS $2"
      AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <immintrin.h>]],
        [[$4; x = $3; (void)x;]])], [AS_VAR_SET([gb_var], [yes])])
      CFLAGS=$gb_save_CFLAGS])])
  AM_CONDITIONAL([ISA_]m4_toupper([$1]), [AS_VAR_TEST_SET([gb_var]) && test "x$gb_cv_level_$1" = xyes])
  AS_VAR_IF([gb_var], [yes], [
    gb_levels="$gb_levels $1"
    AC_DEFINE([GB_ISA_]m4_toupper([$1]), [1], [There are kernels of level $1.])])
  AC_SUBST([CFLAGS_]m4_toupper([$1]), ["$2"])
  AS_VAR_POPDEF([gb_var])
])
