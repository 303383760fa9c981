/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/unary.cu - functions of one tensor, element by element.
 *
 * Blocks of 256 threads, in steps of the grid.  Computed in F32, rounded once
 * to the type of dst.  Function and types are the launch's: all threads take
 * the same branch, which costs nothing beside memory, the limit of both.
 */
#include "backends/cuda/kernels/args-unary.h"
#include "backends/cuda/kernels/columns.cuh"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/rows.cuh"

/*
 * x Phi(x) with the normal distribution Phi(x) = (1 + tanh u) / 2 for
 * u = sqrt(2 / pi) (x + 0.044715 x^3), which is sigmoid(2 u) (Hendrycks and
 * Gimpel, arXiv 1606.08415, section 2).  Below -10 it is 0: there the cube
 * overflows before the product does.
 */
GB_DEVICE float
gelu(float x)
{
    const float two_u = 2.0f * 0.79788456080286535588f * x *
                        gb_fma(0.044715f * x, x, 1.0f);

    return x < -10.0f ? 0.0f : x * gb_sigmoid(two_u);
}

/* x sigmoid(factor x). */
GB_DEVICE float
swish(float x, float factor)
{
    return x / (1.0f + gb_exp(x * -factor));
}

/* (x + 3) / 6, limited to [0, 1]. */
GB_DEVICE float
hard_sigmoid(float x)
{
    const float line = (x + 3.0f) / 6.0f;
    const float above = line < 0.0f ? 0.0f : line;

    return above > 1.0f ? 1.0f : above;
}

/* A NaN stays one. */
GB_DEVICE float
clamp(float x, float least, float most)
{
    const float below = x > most ? most : x;

    return below < least ? least : below;
}

GB_DEVICE float
value_of(int function, float x, float p0, float p1)
{
    switch (function) {
#define GB_CUDA_UNARY(name, value) \
    case GB_CUDA_FUNCTION_##name:  \
        return value;
#define GB_CUDA_MAP GB_CUDA_UNARY
#include "backends/cuda/kernels/unary-functions.def"
#undef GB_CUDA_MAP
#undef GB_CUDA_UNARY
    default:
        return x;
    }
}

/* Contiguous F32, a multiple of four elements at addresses that are multiples
 * of 16.  Four elements a thread, in one access each. */
GB_KERNEL(256, gb_unary_f32, unary)
{
    gb_float4 *const dst = (gb_float4 *)a.dst.data;
    const gb_float4 *const src = (const gb_float4 *)a.src.data;

    for (int64_t i = gb_global_thread(); i < a.n / 4;
         i += gb_global_threads()) {
        gb_float4 x = src[i];

        GB_UNROLL
        for (int j = 0; j < 4; j++)
            x.at[j] = value_of(a.function, x.at[j], a.p0, a.p1);
        dst[i] = x;
    }
}

/* Elements 4 * I on, which are stored. */
GB_DEVICE gb_float4
gate_of(const gb_cuda_gate_args &a, int64_t i)
{
    gb_float4 x = ((const gb_float4 *)a.src)[i];
    gb_float4 y = ((const gb_float4 *)a.other)[i];

    GB_UNROLL
    for (int j = 0; j < 4; j++) {
        x.at[j] = value_of(a.function, x.at[j], 0.0f, 0.0f);
        y.at[j] = x.at[j] * y.at[j];
    }
    if (a.inner != nullptr)
        ((gb_float4 *)a.inner)[i] = x;
    ((gb_float4 *)a.dst)[i] = y;
    return y;
}

/* The same times another tensor. */
GB_KERNEL(256, gb_gate_f32, gate)
{
    for (int64_t first = gb_block() * 256; first < a.n / 4;
         first += gb_n_blocks() * 256) {
        const int64_t i = first + gb_thread();
        const bool is_inside = i < a.n / 4;
        gb_float4 y = { { 0.0f, 0.0f, 0.0f, 0.0f } };

        if (is_inside)
            y = gate_of(a, i);
        if (a.columns != nullptr)
            gb_store_q8_by_4(a.columns, i / 8, (int)(i % 8 * 4), y, is_inside);
    }
}

/* The same, a thread block a column, which it reads again when it knows the
 * largest value. */
GB_KERNEL(256, gb_gate_halves, gate)
{
    const int64_t fours = a.width / 4;

    for (int64_t n = gb_block(); n * a.width < a.n; n += gb_n_blocks()) {
        float largest = 0.0f;

        for (int64_t i = gb_thread(); i < fours; i += 256) {
            const gb_float4 y = gate_of(a, n * fours + i);

            GB_UNROLL
            for (int j = 0; j < 4; j++)
                largest = gb_larger_magnitude(largest, y.at[j]);
        }
        gb_store_halves_by_4<gb_block_team<256>>(
            gb_halves_of(a.columns, n, a.width),
            (const gb_float4 *)a.dst + n * fours, a.width, largest);
    }
}

/* Any floating-point types and strides; one element a thread. */
GB_KERNEL(256, gb_unary_any, unary)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        const float x = gb_float_at(gb_element(a.src, at), a.src_type);

        gb_store_at(gb_element(a.dst, at), a.dst_type,
                    value_of(a.function, x, a.p0, a.p1));
    }
}
