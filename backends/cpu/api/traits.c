/* SPDX-License-Identifier: MIT */
/*
 * cpu/api/traits.c - rounding to a type, and products of rows of it, by type.
 *
 * The interface's functions carry no type, so each type has a function of its
 * own, which hands on to the kernels of the level in use.
 */
#include "config.h"

#include "backends/cpu/kernels/api/kernels.h"

#include "ggml-cpu.h"

#include "lib/type/format.h"

static void
f16_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->f32_to_f16(n, y, x);
}

static void
bf16_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->f32_to_bf16(n, y, x);
}

static void
q4_0_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->quantize_row_q4_0(x, y, n);
}

static void
q4_1_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->quantize_row_q4_1(x, y, n);
}

static void
q5_0_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->quantize_row_q5_0(x, y, n);
}

static void
q5_1_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->quantize_row_q5_1(x, y, n);
}

static void
q8_0_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->quantize_row_q8_0(x, y, n);
}

static void
q8_1_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->quantize_row_q8_1(x, y, n);
}

static void
q8_k_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->quantize_row_q8_K(x, y, n);
}

static void
iq4_nl_from_float(const float *x, void *y, int64_t n)
{
    gb_cpu_kernels()->quantize_row_iq4_nl(x, y, n);
}

/* One product: strides, and pairs of rows, matter only to those who do
 * several. */
static void
dot(enum ggml_type type, int n, float *s, const void *x, const void *y)
{
    *s = gb_cpu_kernels()->dot(type, n, x, y);
}

static void
dot_f32(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_F32, n, s, x, y);
}

static void
dot_f16(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_F16, n, s, x, y);
}

static void
dot_bf16(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_BF16, n, s, x, y);
}

static void
dot_q4_0(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q4_0, n, s, x, y);
}

static void
dot_q4_1(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q4_1, n, s, x, y);
}

static void
dot_q5_0(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q5_0, n, s, x, y);
}

static void
dot_q5_1(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q5_1, n, s, x, y);
}

static void
dot_q8_0(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q8_0, n, s, x, y);
}

static void
dot_q2_k(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q2_K, n, s, x, y);
}

static void
dot_q3_k(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q3_K, n, s, x, y);
}

static void
dot_q4_k(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q4_K, n, s, x, y);
}

static void
dot_q5_k(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q5_K, n, s, x, y);
}

static void
dot_q6_k(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_Q6_K, n, s, x, y);
}

static void
dot_iq2_xxs(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_IQ2_XXS, n, s, x, y);
}

static void
dot_iq2_xs(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_IQ2_XS, n, s, x, y);
}

static void
dot_iq3_xxs(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_IQ3_XXS, n, s, x, y);
}

static void
dot_iq1_s(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_IQ1_S, n, s, x, y);
}

static void
dot_iq4_nl(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_IQ4_NL, n, s, x, y);
}

static void
dot_iq3_s(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_IQ3_S, n, s, x, y);
}

static void
dot_iq2_s(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_IQ2_S, n, s, x, y);
}

static void
dot_iq4_xs(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_IQ4_XS, n, s, x, y);
}

static void
dot_iq1_m(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_IQ1_M, n, s, x, y);
}

static void
dot_tq1_0(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_TQ1_0, n, s, x, y);
}

static void
dot_tq2_0(
    int n, float *restrict s, size_t bs, const void *restrict x, size_t bx,
    const void *restrict y, size_t by, int nrc)
{
    (void)bs, (void)bx, (void)by, (void)nrc;
    dot(GGML_TYPE_TQ2_0, n, s, x, y);
}

/* from_float, vec_dot, the type of the other operand, rows at once.  Types
 * without a row have neither function. */
static const struct ggml_type_traits_cpu traits[GGML_TYPE_COUNT] = {
    [GGML_TYPE_F32] = { NULL, dot_f32, GGML_TYPE_F32, 1 },
    [GGML_TYPE_F16] = { f16_from_float, dot_f16, GGML_TYPE_F16, 1 },
    [GGML_TYPE_BF16] = { bf16_from_float, dot_bf16, GGML_TYPE_BF16, 1 },
    [GGML_TYPE_Q4_0] = { q4_0_from_float, dot_q4_0, GGML_TYPE_Q8_0, 1 },
    [GGML_TYPE_Q4_1] = { q4_1_from_float, dot_q4_1, GGML_TYPE_Q8_1, 1 },
    [GGML_TYPE_Q5_0] = { q5_0_from_float, dot_q5_0, GGML_TYPE_Q8_0, 1 },
    [GGML_TYPE_Q5_1] = { q5_1_from_float, dot_q5_1, GGML_TYPE_Q8_1, 1 },
    [GGML_TYPE_Q8_0] = { q8_0_from_float, dot_q8_0, GGML_TYPE_Q8_0, 1 },
    [GGML_TYPE_Q8_1] = { q8_1_from_float, NULL, GGML_TYPE_Q8_1, 1 },
    [GGML_TYPE_Q2_K] = { gb_q2_k_from_float, dot_q2_k, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_Q3_K] = { gb_q3_k_from_float, dot_q3_k, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_Q4_K] = { gb_q4_k_from_float, dot_q4_k, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_Q5_K] = { gb_q5_k_from_float, dot_q5_k, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_Q6_K] = { gb_q6_k_from_float, dot_q6_k, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_Q8_K] = { q8_k_from_float, NULL, GGML_TYPE_F32, 1 },
    [GGML_TYPE_IQ2_XXS] = { NULL, dot_iq2_xxs, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_IQ2_XS] = { NULL, dot_iq2_xs, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_IQ3_XXS] = { NULL, dot_iq3_xxs, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_IQ1_S] = { NULL, dot_iq1_s, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_IQ4_NL] = {
        iq4_nl_from_float, dot_iq4_nl, GGML_TYPE_Q8_0, 1 },
    [GGML_TYPE_IQ3_S] = { NULL, dot_iq3_s, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_IQ2_S] = { NULL, dot_iq2_s, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_IQ4_XS] = {
        gb_iq4_xs_from_float, dot_iq4_xs, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_IQ1_M] = { NULL, dot_iq1_m, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_TQ1_0] = { gb_tq1_0_from_float, dot_tq1_0, GGML_TYPE_Q8_K, 1 },
    [GGML_TYPE_TQ2_0] = { gb_tq2_0_from_float, dot_tq2_0, GGML_TYPE_Q8_K, 1 },
};

const struct ggml_type_traits_cpu *
ggml_get_type_traits_cpu(enum ggml_type type)
{
    static const struct ggml_type_traits_cpu none;

    return (unsigned)type < GGML_TYPE_COUNT ? &traits[type] : &none;
}
