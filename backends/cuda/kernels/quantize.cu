/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/quantize.cu - floats into blocks, and blocks into floats.
 *
 * Thread blocks of 128.  Blocks of 32 values: one a thread.  Blocks of 256: one
 * a team of 8 or 16 threads, each of which holds a sub-block; limited by the
 * search for scales.  Reading blocks: four values a thread; limited by memory.
 * All in steps of the grid.
 */
#include "backends/cuda/kernels/args-quantize.h"
#include "backends/cuda/kernels/pack.cuh"
#include "backends/cuda/kernels/tensor.cuh"
#include "backends/cuda/kernels/unpack.cuh"

#define THREADS 128

template <int n, typename T>
GB_DEVICE void
load_floats_of(const T *from, float *x)
{
    GB_UNROLL
    for (int i = 0; i < n; i++)
        x[i] = gb_float(from[i]);
}

/* N floats of a type that the launch gave, side by side. */
template <int n>
GB_DEVICE void
load_floats(const char *from, int type, float *x)
{
    if (type == GB_CUDA_F32)
        load_floats_of<n>((const float *)from, x);
    else if (type == GB_CUDA_F16)
        load_floats_of<n>((const gb_f16 *)from, x);
    else
        load_floats_of<n>((const gb_bf16 *)from, x);
}

template <typename B>
GB_DEVICE void
quantize(const gb_cuda_quantize_args &a)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        float x[32];

        load_floats<32>(gb_element(a.src, gb_index_of(n * 32, a.src.ne)),
                        a.src_type, x);
        gb_pack((B *)gb_element(a.dst, gb_index_of(n, a.dst.ne)), x);
    }
}

/* All threads come to the barriers, those without a block too. */
template <typename B>
GB_DEVICE void
quantize_by_team(const gb_cuda_quantize_args &a)
{
    constexpr int subs = 256 / B::sub, teams = THREADS / subs;
    GB_SHARED gb_packing packings[teams];
    gb_packing &s = packings[gb_thread() / subs];
    const int b = gb_thread() % subs;

    for (int64_t first = gb_block() * teams; first < a.n;
         first += gb_n_blocks() * teams) {
        const int64_t n = first + gb_thread() / subs;
        const bool has_block = n < a.n;
        B *to = nullptr;
        float x[B::sub];

        if (has_block) {
            to = (B *)gb_element(a.dst, gb_index_of(n, a.dst.ne));
            load_floats<B::sub>(
                gb_element(a.src, gb_index_of(n * 256 + b * B::sub, a.src.ne)),
                a.src_type, x);
            gb_pack_search(to, s, b, x);
        }
        gb_sync();
        if (has_block)
            gb_pack_code(to, s, b, x);
        gb_sync();
        if (has_block)
            gb_pack_store(to, s, b);
        gb_sync();
    }
}

template <typename B>
GB_DEVICE void
dequantize(const gb_cuda_quantize_args &a)
{
    const int64_t n_fours = a.n * (B::values / 4);

    for (int64_t n = gb_global_thread(); n < n_fours; n += gb_global_threads()) {
        const B *const from = (const B *)gb_element(
            a.src, gb_index_of(n / (B::values / 4), a.src.ne));
        float *const to =
            (float *)gb_element(a.dst, gb_index_of(n * 4, a.dst.ne));
        float x[4];

        gb_values<4>(from, n % (B::values / 4) * 4, x);
        GB_UNROLL
        for (int i = 0; i < 4; i++)
            to[i] = x[i];
    }
}

#define GB_CUDA_PACKED(TYPE, name, n)                     \
    GB_KERNEL(THREADS, gb_quantize_##name, quantize)     \
    {                                                    \
        quantize<gb_##name>(a);                          \
    }
#define GB_CUDA_PACKED_BY_TEAM(TYPE, name, n)               \
    GB_KERNEL(THREADS, gb_quantize_##name, quantize)     \
    {                                                    \
        quantize_by_team<gb_##name>(a);                  \
    }
#include "backends/cuda/kernels/packed.def"

#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name)                       \
    GB_KERNEL(THREADS, gb_dequantize_##name, quantize)   \
    {                                                    \
        dequantize<gb_##name>(a);                        \
    }
#include "backends/cuda/kernels/formats.def"
