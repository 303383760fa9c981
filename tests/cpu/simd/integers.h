/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/integers.h - checks of one level's words for small integers:
 * integers-level.c is compiled once for each level.
 */
#ifndef GB_TESTS_CPU_SIMD_INTEGERS_H
#define GB_TESTS_CPU_SIMD_INTEGERS_H

/* The first word that does not do what q32.h or quad.h say; NULL for none. */
typedef const char *(*check_integers_fn)(void);

const char *gb_cpu_generic_check_integers(void);
const char *gb_cpu_avx2_check_integers(void);
const char *gb_cpu_avx2_vnni_check_integers(void);
const char *gb_cpu_avx512_check_integers(void);
const char *gb_cpu_avx512_vnni_check_integers(void);
const char *gb_cpu_avx512_bf16_check_integers(void);
const char *gb_cpu_neon_check_integers(void);
const char *gb_cpu_dotprod_check_integers(void);
const char *gb_cpu_i8mm_check_integers(void);
const char *gb_cpu_sve_check_integers(void);

#endif
