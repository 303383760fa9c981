/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/words.h - the vocabulary of one level, behind functions that
 * the tests can call: words.c is compiled once for each level.
 */
#ifndef GB_TESTS_CPU_SIMD_WORDS_H
#define GB_TESTS_CPU_SIMD_WORDS_H

#include <stdint.h>

/* Words from up to three vectors to one. */
enum simd_word {
    SIMD_ADD, SIMD_SUB, SIMD_MUL, SIMD_DIV, SIMD_FMA, SIMD_FNMA, SIMD_MIN,
    SIMD_MAX, SIMD_NEG, SIMD_ABS, SIMD_COPYSIGN, SIMD_SWAP_PAIRS, SIMD_SQRT,
    SIMD_FLOOR, SIMD_ROUND, SIMD_LDEXP, SIMD_EXPONENT, SIMD_MANTISSA,
    /* a compared with b selects b or c */
    SIMD_SELECT_LT, SIMD_SELECT_LE, SIMD_SELECT_GT, SIMD_SELECT_EQ,
    /* a < b and, or, not b < c select a or c */
    SIMD_SELECT_AND, SIMD_SELECT_OR, SIMD_SELECT_NOT,
    SIMD_ZERO, SIMD_SET1,
    /* simd/math.h */
    SIMD_EXP, SIMD_EXP2, SIMD_EXPM1, SIMD_TANH, SIMD_SIGMOID, SIMD_LOG,
    SIMD_SIN, SIMD_COS,
    SIMD_WORD_COUNT
};

/* What floats are loaded from and stored as. */
enum simd_form { SIMD_F32, SIMD_F16, SIMD_BF16, SIMD_FORM_COUNT };

struct simd_level {
    const char *name;
    int len; /* floats in a vector, at most SIMD_MAX_LEN */
    /* n, a multiple of len, lanes */
    void (*apply)(enum simd_word word, int n, float *out, const float *a,
                  const float *b, const float *c);
    void (*load)(enum simd_form form, float *out, const void *p);
    void (*store)(enum simd_form form, void *p, const float *v);
    void (*load_n)(enum simd_form form, float *out, const void *p, int n);
    void (*store_n)(enum simd_form form, void *p, const float *v, int n);
    void (*from_i32)(float *out, const int32_t *p);
    void (*from_i8)(float *out, const int8_t *p);
    void (*from_nibbles)(float *out, const uint8_t *p, int is_high);
    float (*sum)(const float *v);
    void (*sum4)(float *out, const float *v); /* of four vectors */
    float (*hmax)(const float *v);
    int (*any_below)(const float *v, float limit);
};

#define SIMD_MAX_LEN 16

/* The levels of this build that this machine can run; how many. */
int simd_levels(const struct simd_level *out[3]);

#endif
