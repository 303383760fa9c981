# SPDX-License-Identifier: MIT
# GB_LEVELS: which levels of CPU kernels the compiler can make.  Nothing is asked
# of the machine that builds.
AC_DEFUN([GB_LEVELS], [
  AC_ARG_VAR([KERNEL_CFLAGS], [further flags for the CPU kernels alone])
  GB_MACHINE([x86_64])
  GB_MACHINE([aarch64])
  GB_LEVEL_ARM([neon], [], [], [vmulq_s32(x, x)])
  GB_LEVEL_ARM([dotprod], [neon], [-march=armv8.2-a+dotprod],
    [vdotq_s32(x, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(x))])
  GB_LEVEL_ARM([i8mm], [neon], [-march=armv8.2-a+dotprod+i8mm],
    [vmmlaq_s32(x, vreinterpretq_s8_s32(x), vreinterpretq_s8_s32(x))])
  GB_LEVEL_ARM([sve], [], [-march=armv8.2-a+dotprod+i8mm+sve],
    [vdupq_n_s32((int)svcntw())], [#include <arm_sve.h>])
  GB_LEVEL([avx2], [], [-mavx2 -mfma -mf16c -mbmi2],
    [_mm256_fmadd_ps(_mm256_cvtph_ps(_mm_setzero_si128()), x, x)], [__m256 x = _mm256_setzero_ps()])
  GB_LEVEL([avx2_vnni], [avx2], [-mavx2 -mavxvnni -mfma -mf16c -mbmi2],
    [_mm256_dpbusd_epi32(x, x, x)], [__m256i x = _mm256_setzero_si256()])
  GB_LEVEL([avx512], [],
    [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c -mbmi2],
    [_mm512_fmadd_ps(_mm512_cvtph_ps(_mm256_setzero_si256()), x, x)], [__m512 x = _mm512_setzero_ps()])
  GB_LEVEL([avx512_vnni], [avx512],
    [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mavx2 -mfma -mf16c -mbmi2],
    [_mm512_dpbusd_epi32(x, x, x)], [__m512i x = _mm512_setzero_si512()])
  GB_LEVEL([avx512_bf16], [avx512_vnni],
    [-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vbmi -mavx512vnni -mavx512bf16 -mavx2 -mfma -mf16c -mbmi2],
    [_mm512_dpbf16_ps(x, (__m512bh)_mm512_castps_si512(x), (__m512bh)_mm512_castps_si512(x))],
    [__m512 x = _mm512_setzero_ps()])
  gb_levels="generic$gb_levels"
])

# GB_MACHINE(NAME): does the compiler make code for it?
AC_DEFUN([GB_MACHINE], [
  AC_CACHE_CHECK([whether this is $1], [gb_cv_$1], [
    AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#ifndef __$1__
#error no
#endif
int gb_machine;]])], [gb_cv_$1=yes], [gb_cv_$1=no])])
])

# GB_LEVEL(NAME, BELOW, FLAGS, EXPRESSION, DECLARATION): one of x86-64, which may
# take kernels from another one
AC_DEFUN([GB_LEVEL], [GB_LEVEL_OF([x86_64], [$1], [$2], [$3], [#include <immintrin.h>],
  [$5; x = $4; (void)x;])])

# GB_LEVEL_ARM(NAME, BELOW, FLAGS, EXPRESSION, [INCLUDES]): one of arm64; x is four
# integers
AC_DEFUN([GB_LEVEL_ARM], [GB_LEVEL_OF([aarch64], [$1], [$2], [$3], [#include <arm_neon.h>
$5], [int32x4_t x = vdupq_n_s32(0); x = $4; (void)x;])])

# GB_LEVEL_OF(MACHINE, NAME, BELOW, FLAGS, INCLUDES, STATEMENTS)
AC_DEFUN([GB_LEVEL_OF], [
  AS_VAR_PUSHDEF([gb_var], [gb_cv_level_$2])
  AC_CACHE_CHECK([whether $CC can make $2 code], [gb_var], [
    AS_VAR_SET([gb_var], [no])
    AS_IF([test "x$gb_cv_$1" = xyes], [
      gb_save_CFLAGS=$CFLAGS
      CFLAGS="$CFLAGS $4"
      AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[$5]], [[$6]])],
        [AS_VAR_SET([gb_var], [yes])])
      CFLAGS=$gb_save_CFLAGS])])
  m4_ifval([$3], [AS_IF([test "x$gb_cv_level_$3" != xyes], [AS_VAR_SET([gb_var], [no])])])
  AM_CONDITIONAL([ISA_]m4_toupper([$2]), [AS_VAR_TEST_SET([gb_var]) && test "x$gb_cv_level_$2" = xyes])
  AS_VAR_IF([gb_var], [yes], [
    gb_levels="$gb_levels $2"
    AC_DEFINE([GB_ISA_]m4_toupper([$2]), [1], [There are kernels of level $2.])])
  AC_SUBST([CFLAGS_]m4_toupper([$2]), ["$4"])
  AS_VAR_POPDEF([gb_var])
])
