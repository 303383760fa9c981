/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mask.cu - a matrix with all right of a diagonal replaced.
 *
 * One thread an element, 256 a block; memory is the limit.
 */
#include "backends/cuda/kernels/args-mask.h"
#include "backends/cuda/kernels/tensor.cuh"

GB_KERNEL(256, gb_diag_mask_f32, mask)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        float *to = (float *)gb_element(a.dst, at);

        if (at.i[0] > a.n_past + at.i[1])
            *to = a.value;
        else
            *to = *(const float *)gb_element(a.src0, at);
    }
}
