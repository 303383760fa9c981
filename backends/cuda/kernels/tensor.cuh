/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/tensor.cuh - elements of tensors with any strides.
 */
#ifndef GB_CUDA_KERNELS_TENSOR_CUH
#define GB_CUDA_KERNELS_TENSOR_CUH

#include "backends/cuda/kernels/args.h"

struct gb_index {
    int64_t i[4];
};

/* The indices of element N of a tensor with counts NE, in its row-major order. */
GB_DEVICE gb_index
gb_index_of(int64_t n, const int64_t ne[4])
{
    gb_index index;

    index.i[0] = n % ne[0];
    n /= ne[0];
    index.i[1] = n % ne[1];
    n /= ne[1];
    index.i[2] = n % ne[2];
    index.i[3] = n / ne[2];
    return index;
}

GB_DEVICE char *
gb_element(const gb_cuda_tensor &t, const gb_index &index)
{
    return t.data + index.i[0] * t.nb[0] + index.i[1] * t.nb[1] +
           index.i[2] * t.nb[2] + index.i[3] * t.nb[3];
}

/* The same where T is repeated along dimensions in which it is shorter. */
GB_DEVICE char *
gb_repeated_element(const gb_cuda_tensor &t, const gb_index &index)
{
    return t.data + index.i[0] % t.ne[0] * t.nb[0] +
           index.i[1] % t.ne[1] * t.nb[1] + index.i[2] % t.ne[2] * t.nb[2] +
           index.i[3] % t.ne[3] * t.nb[3];
}

#endif
