/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/words.c - the vocabulary of the level that is being compiled.
 */
#include "tests/cpu/simd/words.h"

#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/simd.h"

#define STRING(x)     #x
#define LEVEL_NAME(x) STRING(x)

static vf
apply_one(enum simd_word word, vf a, vf b, vf c)
{
    switch (word) {
    case SIMD_ADD: return vf_add(a, b);
    case SIMD_SUB: return vf_sub(a, b);
    case SIMD_MUL: return vf_mul(a, b);
    case SIMD_DIV: return vf_div(a, b);
    case SIMD_FMA: return vf_fma(a, b, c);
    case SIMD_FNMA: return vf_fnma(a, b, c);
    case SIMD_MIN: return vf_min(a, b);
    case SIMD_MAX: return vf_max(a, b);
    case SIMD_NEG: return vf_neg(a);
    case SIMD_ABS: return vf_abs(a);
    case SIMD_COPYSIGN: return vf_copysign(a, b);
    case SIMD_SWAP_PAIRS: return vf_swap_pairs(a);
    case SIMD_SQRT: return vf_sqrt(a);
    case SIMD_FLOOR: return vf_floor(a);
    case SIMD_ROUND: return vf_round(a);
    case SIMD_LDEXP: return vf_ldexp(a, b);
    case SIMD_EXPONENT: return vf_exponent(a);
    case SIMD_MANTISSA: return vf_mantissa(a);
    case SIMD_SELECT_LT: return vf_select(vf_lt(a, b), b, c);
    case SIMD_SELECT_LE: return vf_select(vf_le(a, b), b, c);
    case SIMD_SELECT_GT: return vf_select(vf_gt(a, b), b, c);
    case SIMD_SELECT_EQ: return vf_select(vf_eq(a, b), b, c);
    case SIMD_SELECT_AND:
        return vf_select(vm_and(vf_lt(a, b), vf_lt(b, c)), a, c);
    case SIMD_SELECT_OR:
        return vf_select(vm_or(vf_lt(a, b), vf_lt(b, c)), a, c);
    case SIMD_SELECT_NOT: return vf_select(vm_not(vf_lt(a, b)), a, c);
    case SIMD_ZERO: return vf_zero();
    case SIMD_SET1: return vf_set1(2.5f);
    case SIMD_EXP: return vf_exp(a);
    case SIMD_EXP2: return vf_exp2(a);
    case SIMD_EXPM1: return vf_expm1(a);
    case SIMD_TANH: return vf_tanh(a);
    case SIMD_SIGMOID: return vf_sigmoid(a);
    case SIMD_LOG: return vf_log(a);
    case SIMD_SIN: return vf_sin(a);
    case SIMD_COS: return vf_cos(a);
    case SIMD_WORD_COUNT: break;
    }
    return vf_zero();
}

static void
apply(enum simd_word word, int n, float *out, const float *a, const float *b,
      const float *c)
{
    for (int i = 0; i < n; i += VF_LEN)
        vf_store(out + i, apply_one(word, vf_load(a + i), vf_load(b + i),
                                    vf_load(c + i)));
}

static void
load(enum simd_form form, float *out, const void *p)
{
    vf_store(out, form == SIMD_F32 ? vf_load(p)
                                   : form == SIMD_F16 ? vf_load_f16(p)
                                                      : vf_load_bf16(p));
}

static void
store(enum simd_form form, void *p, const float *v)
{
    if (form == SIMD_F32)
        vf_store(p, vf_load(v));
    else if (form == SIMD_F16)
        vf_store_f16(p, vf_load(v));
    else
        vf_store_bf16(p, vf_load(v));
}

static void
load_n(enum simd_form form, float *out, const void *p, int n)
{
    vf_store(out, form == SIMD_F32 ? vf_load_n(p, n)
                                   : form == SIMD_F16 ? vf_load_f16_n(p, n)
                                                      : vf_load_bf16_n(p, n));
}

static void
store_n(enum simd_form form, void *p, const float *v, int n)
{
    if (form == SIMD_F32)
        vf_store_n(p, vf_load(v), n);
    else if (form == SIMD_F16)
        vf_store_f16_n(p, vf_load(v), n);
    else
        vf_store_bf16_n(p, vf_load(v), n);
}

static void
from_i32(float *out, const int32_t *p)
{
    vf_store(out, vf_from_i32(p));
}

static void
from_i8(float *out, const int8_t *p)
{
    vf_store(out, vf_from_i8(p));
}

static void
from_nibbles(float *out, const uint8_t *p, int is_high)
{
    vf_store(out, vf_from_nibbles(p, is_high));
}

static void
sum4(float *out, const float *v)
{
    vf_sum4(out, vf_load(v), vf_load(v + VF_LEN), vf_load(v + 2 * VF_LEN),
            vf_load(v + 3 * VF_LEN));
}

static float
sum(const float *v)
{
    return vf_sum(vf_load(v));
}

static float
hmax(const float *v)
{
    return vf_hmax(vf_load(v));
}

static int
any_below(const float *v, float limit)
{
    return vm_any(vf_lt(vf_load(v), vf_set1(limit)));
}

extern const struct simd_level GB_K(simd);

const struct simd_level GB_K(simd) = {
    .name = LEVEL_NAME(GB_VARIANT),
    .len = VF_LEN,
    .apply = apply,
    .load = load,
    .store = store,
    .load_n = load_n,
    .store_n = store_n,
    .from_i32 = from_i32,
    .from_i8 = from_i8,
    .from_nibbles = from_nibbles,
    .sum = sum,
    .sum4 = sum4,
    .hmax = hmax,
    .any_below = any_below,
};
