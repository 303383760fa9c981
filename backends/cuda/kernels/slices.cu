/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/slices.cu - the sum of slices of a tensor, each by its weight: what
 * the experts of a mixture made.
 *
 * One element of the sum a thread, 256 threads a block, in steps of the grid.
 * Products and sums are rounded one after the other, as by the nodes themselves.
 * Memory is the limit: each product is read once where nobody sees it.
 */
#include "backends/cuda/kernels/args-slices.h"
#include "backends/cuda/kernels/tensor.cuh"

GB_DEVICE float
product_at(const gb_cuda_slices_args &a, const gb_index &at)
{
    return gb_mul(*(const float *)gb_element(a.src, at),
                  *(const float *)gb_element(a.weights, at));
}

/* Products may take the place of src, and are stored after the sum. */
GB_KERNEL(256, gb_sum_slices, slices)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        int64_t token = n;
        const int64_t i = gb_take_index(&token, a.src.ne[0]);
        gb_index at = { { i, a.slices[0], token, 0 } };
        float sum = product_at(a, at);

        for (int k = 1; k < a.n_slices; k++) {
            const gb_cuda_tensor &to = a.sums[k - 1];

            at.i[1] = a.slices[k];
            sum += product_at(a, at);
            if (to.data != nullptr)
                *(float *)(to.data + i * to.nb[0] + token * to.nb[1]) = sum;
        }
        if (a.products.data == nullptr)
            continue;
        for (at.i[1] = 0; at.i[1] < a.src.ne[1]; at.i[1]++)
            *(float *)gb_element(a.products, at) = product_at(a, at);
    }
}
