/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/unary.cu - functions of one tensor, element by element.
 *
 * Blocks of 256 threads, in steps of the grid; what becomes a column of halves
 * has blocks of 512, which keep up to 16,384 values of it in registers.  Computed
 * in F32, rounded once to the type of dst.  Function and types are the launch's:
 * all threads take the same branch, which costs nothing beside memory, the limit
 * of both.
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

GB_DEVICE float
silu(float x)
{
    return swish(x, 1.0f);
}

/* The same of four.  One branch, to code that lies together: for a few elements
 * it is instructions that come from memory. */
GB_DEVICE gb_float4
values_of_4(int function, gb_float4 four, float p0, float p1)
{
    switch (function) {
#define GB_CUDA_UNARY(name, value)          \
    case GB_CUDA_FUNCTION_##name:           \
        GB_UNROLL                           \
        for (int j = 0; j < 4; j++) {       \
            const float x = four.at[j];     \
                                            \
            four.at[j] = value;             \
        }                                   \
        break;
#define GB_CUDA_MAP GB_CUDA_UNARY
#include "backends/cuda/kernels/unary-functions.def"
#undef GB_CUDA_MAP
#undef GB_CUDA_UNARY
    default:
        break;
    }
    return four;
}

/* Contiguous F32, a multiple of four elements at addresses that are multiples
 * of 16.  Four elements a thread, in one access each. */
GB_KERNEL(256, gb_unary_f32, unary)
{
    gb_float4 *const dst = (gb_float4 *)a.dst.data;
    const gb_float4 *const src = (const gb_float4 *)a.src.data;

    for (int64_t i = gb_global_thread(); i < a.n / 4;
         i += gb_global_threads())
        dst[i] = values_of_4(a.function, src[i], a.p0, a.p1);
}

/* Y times X, the function's values, elements 4 * I on of the result. */
GB_DEVICE gb_float4
gate_put(const gb_cuda_gate_args &a, int64_t i, const gb_float4 &x, gb_float4 y)
{
    GB_UNROLL
    for (int j = 0; j < 4; j++)
        y.at[j] = x.at[j] * y.at[j];
    if (a.inner != nullptr)
        ((gb_float4 *)a.inner)[i] = x;
    ((gb_float4 *)a.dst)[i] = y;
    return y;
}

template <float function(float)>
GB_DEVICE gb_float4
values_by(gb_float4 x)
{
    GB_UNROLL
    for (int j = 0; j < 4; j++)
        x.at[j] = function(x.at[j]);
    return x;
}

/* Elements 4 * I on, which are stored.  SILU is there besides: code that most
 * models run lies in front of that of the others. */
GB_DEVICE gb_float4
gate_of(const gb_cuda_gate_args &a, int64_t i)
{
    const gb_float4 x = ((const gb_float4 *)a.src)[i];
    const gb_float4 y = ((const gb_float4 *)a.other)[i];

    if (a.function == GB_CUDA_FUNCTION_SILU)
        return gate_put(a, i, values_by<silu>(x), y);
    return gate_put(a, i, values_of_4(a.function, x, 0.0f, 0.0f), y);
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

/* Fours of a column that a thread keeps, where the function has an instance for
 * that; and those that it has on their way at once. */
#define GATE_THREADS 512
#define GATE_KEPT    8
#define GATE_STEP    2

/* GATE_STEP fours of the column that begins with four FIRST and has COUNT of
 * them: numbers I, I + GATE_THREADS and so on. */
template <float function(float)>
GB_DEVICE void
gate_step(const gb_cuda_gate_args &a, int64_t first, int i, int count,
          gb_float4 *kept)
{
    const gb_float4 *const src = (const gb_float4 *)a.src + first;
    const gb_float4 *const other = (const gb_float4 *)a.other + first;
    gb_float4 x[GATE_STEP], y[GATE_STEP];

    GB_UNROLL
    for (int k = 0; k < GATE_STEP; k++)
        if (i + k * GATE_THREADS < count) {
            x[k] = src[i + k * GATE_THREADS];
            y[k] = other[i + k * GATE_THREADS];
        }
    GB_UNROLL
    for (int k = 0; k < GATE_STEP; k++) {
        kept[k] = { { 0.0f, 0.0f, 0.0f, 0.0f } };
        if (i + k * GATE_THREADS < count)
            kept[k] = gate_put(a, first + i + k * GATE_THREADS,
                               values_by<function>(x[k]), y[k]);
    }
}

/* Column N, of fours that the block keeps until it knows the largest value. */
template <float function(float)>
GB_DEVICE void
gate_kept_column(const gb_cuda_gate_args &a, int64_t n)
{
    const int count = (int)(a.width / 4);
    char *const to = gb_halves_of(a.columns, n, a.width);
    gb_float4 kept[GATE_KEPT];
    float largest = 0.0f, factor;

    GB_UNROLL
    for (int k = 0; k < GATE_KEPT; k += GATE_STEP)
        gate_step<function>(a, n * count, gb_thread() + k * GATE_THREADS, count,
                            kept + k);
    GB_UNROLL
    for (int k = 0; k < GATE_KEPT; k++)
        largest = gb_larger_magnitude_of_4(largest, kept[k]);
    factor = gb_store_halves_head<gb_block_team<GATE_THREADS>>(to, largest);
    GB_UNROLL
    for (int k = 0; k < GATE_KEPT; k++) {
        const int i = gb_thread() + k * GATE_THREADS;

        if (i < count)
            gb_store_halves_four(to, 4 * i, kept[k], factor);
    }
}

/* Column N, which the block reads again when it knows the largest value. */
GB_DEVICE void
gate_any_column(const gb_cuda_gate_args &a, int64_t n)
{
    const int64_t fours = a.width / 4;
    float largest = 0.0f;

    for (int64_t i = n * fours + gb_thread(); i < (n + 1) * fours;
         i += GATE_THREADS) {
        const gb_float4 x = values_of_4(
            a.function, ((const gb_float4 *)a.src)[i], 0.0f, 0.0f);

        largest = gb_larger_magnitude_of_4(
            largest, gate_put(a, i, x, ((const gb_float4 *)a.other)[i]));
    }
    gb_store_halves_by_4<gb_block_team<GATE_THREADS>>(
        gb_halves_of(a.columns, n, a.width),
        (const gb_float4 *)a.dst + n * fours, a.width, largest);
}

/* The same, a thread block a column of halves. */
GB_KERNEL_RESIDENT(GATE_THREADS, 2, gb_gate_halves, gate)
{
    const int64_t n = gb_block();
    const bool is_kept = a.width <= 4 * GATE_THREADS * GATE_KEPT;

    if (n * a.width >= a.n)
        return;
    if (is_kept && a.function == GB_CUDA_FUNCTION_SILU)
        gate_kept_column<silu>(a, n);
    else
        gate_any_column(a, n);
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
