/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/addends.cuh - what is added to an element of a product before it
 * is stored: a bias, what was there before a layer.
 */
#ifndef GB_CUDA_KERNELS_ADDENDS_CUH
#define GB_CUDA_KERNELS_ADDENDS_CUH

#include "backends/cuda/kernels/args-matmul.h"
#include "backends/cuda/kernels/tensor.cuh"

GB_DEVICE float *
gb_place(const gb_cuda_places &places, const gb_index &at)
{
    return (float *)(places.data + at.i[0] * places.nb[0] +
                     at.i[1] * places.nb[1] + at.i[2] * places.nb[2] +
                     at.i[3] * places.nb[3]);
}

/* VALUE, the element AT of the product, and all that is added to it. */
GB_DEVICE float
gb_add_all(const gb_cuda_addends &more, const gb_index &at, float value)
{
    for (int i = 0; i < more.n; i++) {
        const float addend = *gb_place(more.addends[i], at);

        if (more.before[i].data != nullptr)
            *gb_place(more.before[i], at) = value;
        value += addend;
    }
    return value;
}

#endif
