/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/args.c - tensors as kernels see them.
 */
#include "backends/cuda/ops/args.h"

/*
 * From a loop the compiler makes it on the stack and copies it at once, in
 * other pieces than it was written in, which stalls: 25 us of 160 for a graph
 * of 845 launches (bench/token).
 */
struct gb_cuda_tensor
gb_cuda_arg(const struct ggml_tensor *tensor)
{
    const int64_t *ne = tensor->ne;
    const size_t *nb = tensor->nb;

    return (struct gb_cuda_tensor){
        .data = tensor->data,
        .ne = { ne[0], ne[1], ne[2], ne[3] },
        .nb = { (int64_t)nb[0], (int64_t)nb[1], (int64_t)nb[2],
                (int64_t)nb[3] },
    };
}
