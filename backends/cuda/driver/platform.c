/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/platform.c - CUDA's own names.
 */
#include "backends/cuda/driver/platform.h"

static const char *const libraries[] = { "libcuda.so.1", NULL };
static const char *const blas[] = { "libcublas.so.13", "libcublas.so.12",
                                    "libcublas.so.11", NULL };

/* Kernels' arguments are constants of the grid from 11.7's compiler on, whose
 * code every driver of 11.x takes. */
const struct gb_cuda_platform gb_cuda_platform = {
    .name = "CUDA",
    .log_name = "cuda",
    .libraries = libraries,
    .blas = blas,
    .least_version = 11000,
};
