/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/tensor.cuh - elements of tensors with any strides.
 */
#ifndef GB_CUDA_KERNELS_TENSOR_CUH
#define GB_CUDA_KERNELS_TENSOR_CUH

#include "backends/cuda/kernels/rows.cuh"

struct gb_index {
    int64_t i[4];
};

/* The indices of element N of a tensor with counts NE, in row-major order. */
GB_DEVICE gb_index
gb_index_of(int64_t n, const int64_t ne[4])
{
    gb_index index;

    index.i[0] = gb_take_index(&n, ne[0]);
    index.i[1] = gb_take_index(&n, ne[1]);
    index.i[2] = gb_take_index(&n, ne[2]);
    index.i[3] = n;
    return index;
}

/* N % D for counts. */
GB_DEVICE int64_t
gb_remainder(int64_t n, int64_t d)
{
    return n < d ? n : gb_take_index(&n, d);
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
    return t.data + gb_remainder(index.i[0], t.ne[0]) * t.nb[0] +
           gb_remainder(index.i[1], t.ne[1]) * t.nb[1] +
           gb_remainder(index.i[2], t.ne[2]) * t.nb[2] +
           gb_remainder(index.i[3], t.ne[3]) * t.nb[3];
}

/* Four floats that are read and written at once, at a multiple of 16. */
struct alignas(16) gb_float4 {
    float at[4];
};

/* X + Y, element by element. */
GB_DEVICE gb_float4
gb_sum_of_4(gb_float4 x, const gb_float4 &y)
{
    GB_UNROLL
    for (int j = 0; j < 4; j++)
        x.at[j] += y.at[j];
    return x;
}

#endif
