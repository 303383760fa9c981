/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/generic.h - vectors of floats in the compiler's own vector type.
 *
 * GCC and Clang translate the type for any machine: to the vectors of the
 * baseline where there are some (SSE2, NEON, VSX), to scalars elsewhere.  So
 * each machine has all kernels.  It is also the reference that the other
 * headers are tested against: what it says is what a word means.
 *
 * Operators act on each lane.  A comparison gives an integer vector with -1
 * (all ones) for true and 0 for false, and a cast between vectors keeps the
 * bits.
 */
#ifndef GB_CPU_SIMD_GENERIC_H
#define GB_CPU_SIMD_GENERIC_H

#include <stdint.h>
#include <string.h>

#define VF_LEN 4

typedef float vf __attribute__((vector_size(16)));
typedef int32_t vm __attribute__((vector_size(16)));

/* The lanes of a vf as unsigned words, and VF_LEN 16-bit floats. */
typedef uint32_t vf_bits __attribute__((vector_size(16)));
typedef uint16_t vf_halves __attribute__((vector_size(8)));

/* Loading and storing. */

static inline vf
vf_set1(float x)
{
    return (vf){ x, x, x, x };
}

static inline vf
vf_zero(void)
{
    return vf_set1(0.0f);
}

/* memcpy is how C loads from any address; it becomes one instruction. */
static inline vf
vf_load(const float *p)
{
    vf v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void
vf_store(float *p, vf v)
{
    memcpy(p, &v, sizeof(v));
}

static inline vf
vf_load_n(const float *p, int64_t n)
{
    vf v = vf_zero();

    for (int64_t i = 0; i < n; i++)
        v[i] = p[i];
    return v;
}

static inline void
vf_store_n(float *p, vf v, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = v[i];
}

/* Integers to floats; beyond 2^24 they are rounded to the nearest. */

static inline vf
vf_from_i32(const int32_t *p)
{
    vm v;

    memcpy(&v, p, sizeof(v));
    return __builtin_convertvector(v, vf);
}

static inline vf
vf_from_i8(const int8_t *p)
{
    return (vf){ p[0], p[1], p[2], p[3] };
}

/* The shift leaves the upper four bits at the bottom, the mask takes away what
 * is above them. */
static inline vf
vf_from_nibbles(const uint8_t *p, int is_high)
{
    const int shift = is_high ? 4 : 0;
    const vm v = { p[0], p[1], p[2], p[3] };

    return __builtin_convertvector(v >> shift & 15, vf);
}

/* Arithmetic, lane by lane. */

static inline vf
vf_add(vf a, vf b)
{
    return a + b;
}

static inline vf
vf_sub(vf a, vf b)
{
    return a - b;
}

static inline vf
vf_mul(vf a, vf b)
{
    return a * b;
}

static inline vf
vf_div(vf a, vf b)
{
    return a / b;
}

/* With a fused instruction, which rounds once.  Without one the C library's
 * fmaf would take fifty times as long as a multiplication, and product and sum
 * are rounded each. */
static inline vf
vf_fma(vf a, vf b, vf c)
{
#ifdef __FP_FAST_FMAF
    for (int i = 0; i < VF_LEN; i++)
        c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
#else
    return a * b + c;
#endif
}

static inline vf
vf_fnma(vf a, vf b, vf c)
{
    return vf_fma(-a, b, c);
}

/* Bits of YES where the mask has ones, bits of NO where it has zeros. */
static inline vf
vf_select(vm m, vf yes, vf no)
{
    return (vf)((m & (vm)yes) | (~m & (vm)no));
}

/* The comparison is false for a NaN, which gives b: that is what MINPS of x86
 * does. */
static inline vf
vf_min(vf a, vf b)
{
    return vf_select(a < b, a, b);
}

static inline vf
vf_max(vf a, vf b)
{
    return vf_select(a > b, a, b);
}

static inline vf
vf_neg(vf v)
{
    return -v;
}

/* INT32_MAX is all bits but the sign. */
static inline vf
vf_abs(vf v)
{
    return (vf)((vm)v & INT32_MAX);
}

static inline vf
vf_copysign(vf magnitude, vf sign)
{
    return (vf)(((vm)magnitude & INT32_MAX) | ((vm)sign & INT32_MIN));
}

static inline vf
vf_swap_pairs(vf v)
{
    return (vf){ v[1], v[0], v[3], v[2] };
}

/* The builtin is an instruction: -fno-math-errno frees it from errno. */
static inline vf
vf_sqrt(vf v)
{
    for (int i = 0; i < VF_LEN; i++)
        v[i] = __builtin_sqrtf(v[i]);
    return v;
}

/* 2^23 and the floats above it are integers.  So a smaller magnitude loses its
 * fraction when 2^23 is added: the addition rounds it, to the nearest with ties
 * to even, and the subtraction is exact.  What is larger, or NaN, has no
 * fraction. */
static inline vf
vf_round(vf v)
{
    const vf big = vf_set1(8388608.0f);
    const vf magnitude = vf_abs(v);
    const vf rounded = (magnitude + big) - big;

    return vf_copysign(vf_select(magnitude < big, rounded, magnitude), v);
}

/* The nearest integer may be the one above; then it is one too many. */
static inline vf
vf_floor(vf v)
{
    const vf near = vf_round(v);
    const vf down = near - vf_select(near > v, vf_set1(1.0f), vf_zero());

    return vf_copysign(down, v);
}

/* 2^n is not a float for all n, so that it is applied as 2^half times 2^(n -
 * half).  A float with the bits (e + 127) << 23 is 2^e. */
static inline vf
vf_ldexp(vf v, vf n)
{
    const vf limit = vf_set1(252.0f);
    const vf within = vf_min(vf_max(n, -limit), limit);
    const vm exponent = __builtin_convertvector(within, vm);
    const vm half = exponent >> 1;

    return v * (vf)((half + 127) << 23) * (vf)((exponent - half + 127) << 23);
}

/* Bits 23 to 30 hold the exponent plus 127. */
static inline vf
vf_exponent(vf v)
{
    return __builtin_convertvector(((vm)v >> 23) - 127, vf);
}

/* The fraction, with the exponent of 1. */
static inline vf
vf_mantissa(vf v)
{
    return (vf)(((vm)v & 0x007fffff) | 0x3f800000);
}

/* Across lanes. */

static inline float
vf_sum(vf v)
{
    return (v[0] + v[2]) + (v[1] + v[3]);
}

static inline void
vf_sum4(float *p, vf a, vf b, vf c, vf d)
{
    p[0] = vf_sum(a);
    p[1] = vf_sum(b);
    p[2] = vf_sum(c);
    p[3] = vf_sum(d);
}

/* By comparisons, in the order of vf_sum. */
static inline float
vf_hmax(vf v)
{
    const float a = v[0] > v[1] ? v[0] : v[1];
    const float b = v[2] > v[3] ? v[2] : v[3];

    return a > b ? a : b;
}

/* Masks. */

static inline vm
vf_lt(vf a, vf b)
{
    return a < b;
}

static inline vm
vf_le(vf a, vf b)
{
    return a <= b;
}

static inline vm
vf_gt(vf a, vf b)
{
    return a > b;
}

static inline vm
vf_eq(vf a, vf b)
{
    return a == b;
}

static inline vm
vm_and(vm a, vm b)
{
    return a & b;
}

static inline vm
vm_or(vm a, vm b)
{
    return a | b;
}

static inline vm
vm_not(vm m)
{
    return ~m;
}

static inline int
vm_any(vm m)
{
    return (m[0] | m[1] | m[2] | m[3]) != 0;
}

/* 16-bit floats. */

/*
 * binary16 to binary32 (IEEE 754-2019, section 3.4): 1 + 5 + 10 bits to 1 + 8 +
 * 23.
 *
 * Moved up by 13 bits the fraction is in its place and the exponent, whose bias
 * is 15 and not 127, is 112 too small.  A multiplication by 2^112 mends that,
 * and makes normal numbers of subnormal ones.  Infinity and NaN get an exponent
 * of all ones instead, and a signalling NaN becomes a quiet one.
 *
 * Not inlined, since some kernels need it many times.
 */
static __attribute__((noinline, unused)) vf
vf_from_f16_bits(vf_bits h)
{
    const vf_bits sign = (h & 0x8000u) << 16;
    const vf_bits shifted = (h & 0x7fffu) << 13;
    const vf scaled = (vf)shifted * vf_set1(0x1p112f);
    const vm is_special = (vm)((h & 0x7c00u) == 0x7c00u);
    const vf_bits is_nan = (vf_bits)((h & 0x7fffu) > 0x7c00u);
    const vf_bits special = shifted | 0x7f800000u | (is_nan & 0x00400000u);

    return (vf)((vf_bits)vf_select(is_special, (vf)special, scaled) | sign);
}

/*
 * binary32 to binary16, to the nearest with ties to even.
 *
 * Normal results: the exponent is made smaller by 112 (0x38000000), and
 * thirteen bits are rounded off by an addition of half a unit of the last bit
 * that stays, less one, plus that bit.  A carry goes on into the exponent and
 * may reach infinity, as it shall.
 *
 * Subnormal results, below 2^-14: floats from 1/2 up to 1 are 2^-24 apart, as
 * subnormal halves are.  So adding 1/2 rounds at the right bit, and the bits of
 * 1/2 are taken off again.
 */
static inline vf_bits
vf_to_f16_bits(vf v)
{
    const vf_bits bits = (vf_bits)v;
    const vf_bits magnitude = bits & 0x7fffffffu;
    const vf_bits odd = (magnitude >> 13) & 1u;
    const vf_bits normal = (magnitude - 0x38000000u + 0xfffu + odd) >> 13;
    const vf_bits small =
        (vf_bits)((vf)magnitude + vf_set1(0.5f)) - 0x3f000000u;
    const vf_bits is_small = (vf_bits)(magnitude < 0x38800000u);
    const vf_bits is_large = (vf_bits)(magnitude >= 0x47800000u);
    const vf_bits is_nan = (vf_bits)(magnitude > 0x7f800000u);
    vf_bits half = (is_small & small) | (~is_small & normal);

    half = (is_large & 0x7c00u) | (~is_large & half);
    half |= is_nan & 0x0200u;
    return half | (bits >> 16 & 0x8000u);
}

/* A bfloat16 is the upper half of a float.  The lower half is rounded off as
 * above; a NaN keeps its upper bits, and the one that makes it quiet is set, or
 * it might become infinity. */
static inline vf_bits
vf_to_bf16_bits(vf v)
{
    const vf_bits bits = (vf_bits)v;
    const vf_bits rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    const vf_bits is_nan = (vf_bits)((bits & 0x7fffffffu) > 0x7f800000u);

    return (is_nan & (bits >> 16 | 0x40u)) | (~is_nan & rounded);
}

/* VF_LEN 16-bit words, each widened to 32 bits with zeros above. */
static inline vf_bits
vf_load_halves(const uint16_t *p)
{
    vf_halves h;

    memcpy(&h, p, sizeof(h));
    return __builtin_convertvector(h, vf_bits);
}

static inline vf_bits
vf_load_halves_n(const uint16_t *p, int64_t n)
{
    vf_bits h = { 0, 0, 0, 0 };

    for (int64_t i = 0; i < n; i++)
        h[i] = p[i];
    return h;
}

static inline void
vf_store_halves(uint16_t *p, vf_bits bits)
{
    const vf_halves h = __builtin_convertvector(bits, vf_halves);

    memcpy(p, &h, sizeof(h));
}

static inline void
vf_store_halves_n(uint16_t *p, vf_bits bits, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        p[i] = (uint16_t)bits[i];
}

static inline vf
vf_load_f16(const uint16_t *p)
{
    return vf_from_f16_bits(vf_load_halves(p));
}

static inline vf
vf_load_f16_n(const uint16_t *p, int64_t n)
{
    return vf_from_f16_bits(vf_load_halves_n(p, n));
}

static inline void
vf_store_f16(uint16_t *p, vf v)
{
    vf_store_halves(p, vf_to_f16_bits(v));
}

static inline void
vf_store_f16_n(uint16_t *p, vf v, int64_t n)
{
    vf_store_halves_n(p, vf_to_f16_bits(v), n);
}

static inline vf
vf_load_bf16(const uint16_t *p)
{
    return (vf)(vf_load_halves(p) << 16);
}

static inline vf
vf_load_bf16_n(const uint16_t *p, int64_t n)
{
    return (vf)(vf_load_halves_n(p, n) << 16);
}

static inline void
vf_store_bf16(uint16_t *p, vf v)
{
    vf_store_halves(p, vf_to_bf16_bits(v));
}

static inline void
vf_store_bf16_n(uint16_t *p, vf v, int64_t n)
{
    vf_store_halves_n(p, vf_to_bf16_bits(v), n);
}

#endif
