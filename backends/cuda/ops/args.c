/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/args.c - tensors as kernels see them.
 */
#include "backends/cuda/ops/args.h"

struct gb_cuda_tensor
gb_cuda_arg(const struct ggml_tensor *tensor)
{
    struct gb_cuda_tensor arg = { .data = tensor->data };

    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        arg.ne[i] = tensor->ne[i];
        arg.nb[i] = (int64_t)tensor->nb[i];
    }
    return arg;
}
