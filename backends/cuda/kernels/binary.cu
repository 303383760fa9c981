/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/binary.cu - operations on two tensors, element by element.
 *
 * Blocks of 256 threads, in steps of the grid.  Computed in F32, rounded once
 * to the type of dst.  Operation and types are the launch's: all threads take
 * the same branch, which costs nothing beside memory.  All are limited by
 * memory, but gb_binary_any by the divisions that find its elements.
 */
#include "backends/cuda/kernels/args-binary.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/rows.cuh"
#include "backends/cuda/kernels/tensor.cuh"

/* With s = 1 / (1 + e^-x), silu(x) = x s has the derivative
 * s (1 + x (1 - s)). */
GB_DEVICE float
silu_back(float dy, float x)
{
    const float s = gb_sigmoid(x);

    return dy * s * gb_fma(x, 1.0f - s, 1.0f);
}

GB_DEVICE float
binary_of(int op, float a, float b)
{
    switch (op) {
    case GB_CUDA_ADD:
        return a + b;
    case GB_CUDA_SUB:
        return a - b;
    case GB_CUDA_MUL:
        return a * b;
    case GB_CUDA_DIV:
        return a / b;
    default:
        return silu_back(a, b);
    }
}

/*
 * Contiguous F32, src1 being repeated as a whole; both counts are multiples of
 * four and all addresses of 16.  Four elements a thread, in one access each.
 */
GB_KERNEL(256, gb_binary_f32, binary)
{
    gb_float4 *const dst = (gb_float4 *)a.dst.data;
    const gb_float4 *const src0 = (const gb_float4 *)a.src0.data;
    const gb_float4 *const src1 = (const gb_float4 *)a.src1.data;

    for (int64_t i = gb_global_thread(); i < a.n / 4;
         i += gb_global_threads()) {
        const gb_float4 x = src0[i];
        const gb_float4 y = src1[gb_remainder(i, a.n_src1 / 4)];
        gb_float4 d;

        GB_UNROLL
        for (int j = 0; j < 4; j++)
            d.at[j] = binary_of(a.op, x.at[j], y.at[j]);
        dst[i] = d;
    }
}

/* Any floating-point types and strides; one element a thread. */
GB_KERNEL(256, gb_binary_any, binary)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        const char *const src1 = a.n_src1 == a.n
                                     ? gb_element(a.src1, at)
                                     : gb_repeated_element(a.src1, at);

        gb_store_at(
            gb_element(a.dst, at), a.dst_type,
            binary_of(a.op, gb_float_at(gb_element(a.src0, at), a.src0_type),
                      gb_float_at(src1, a.src1_type)));
    }
}
