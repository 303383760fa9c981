/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/rope.h - rotations that are part of other launches.
 */
#ifndef GB_CUDA_OPS_ROPE_H
#define GB_CUDA_OPS_ROPE_H

#include "backends/cuda/kernels/args-rope.h"
#include "backends/cuda/ops/limits.h"

#include "ggml.h"

/* Those of a rotation by itself, which can run, in ARGS, which are all zero:
 * they are too many to be copied about for each token. */
void gb_cuda_rope_set_args(
    struct gb_cuda_rope_args *args, const struct gb_cuda_limits *limits,
    const struct ggml_tensor *node);

/* Share the slots of src0 among threads; n_pairs is set. */
void gb_cuda_rope_set_items(
    struct gb_cuda_rope_args *args, const struct gb_cuda_limits *limits);

#endif
