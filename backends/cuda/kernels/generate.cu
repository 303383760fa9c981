/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/generate.cu - tensors made of numbers: ranges, embeddings of
 * times, diagonal matrices.
 *
 * Blocks of 256 threads, one element a thread, in steps of the grid.  Limited
 * by writing, embeddings by computing.
 */
#include "backends/cuda/kernels/args-generate.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/tensor.cuh"

GB_KERNEL(256, gb_arange_f32, arange)
{
    float *const dst = (float *)a.dst.data;

    for (int64_t i = gb_global_thread(); i < a.dst.ne[0];
         i += gb_global_threads())
        dst[i] = a.start + gb_mul(a.step, (float)i);
}

/* Element I of the row of TIME. */
GB_DEVICE float
timestep(const gb_cuda_timestep_args &a, float time, int64_t i)
{
    const bool is_sine = i >= a.half;
    const float step = (float)(is_sine ? i - a.half : i);
    const float phase =
        time * (gb_exp2(step * a.high) * gb_exp2(step * a.low));

    if (i >= 2 * a.half)
        return 0.0f;
    return is_sine ? gb_sin(phase) : gb_cos(phase);
}

GB_KERNEL(256, gb_timestep_f32, timestep)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        const float time =
            *(const float *)(a.times.data + at.i[1] * a.times.nb[0]);

        *(float *)gb_element(a.dst, at) = timestep(a, time, at.i[0]);
    }
}

GB_KERNEL(256, gb_diag_f32, diag)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        gb_index at = gb_index_of(n, a.dst.ne);
        float *const to = (float *)gb_element(a.dst, at);
        const bool is_on = at.i[0] == at.i[1];

        at.i[1] = 0;
        *to = is_on ? *(const float *)gb_element(a.src, at) : 0.0f;
    }
}
