/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/binary.cu - operations on two tensors, element by element.
 *
 * One thread an element, in steps of the grid; any strides.
 */
#include "backends/cuda/kernels/args-binary.h"
#include "backends/cuda/kernels/tensor.cuh"

GB_KERNEL(256, gb_add_f32_f32, binary)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);

        *(float *)gb_element(a.dst, at) =
            *(const float *)gb_element(a.src0, at) +
            *(const float *)gb_repeated_element(a.src1, at);
    }
}
