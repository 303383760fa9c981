/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/rows.h - launches of kernels that compute row by row.
 *
 * Such a kernel has two instances: one in which each warp has a row, and one in
 * which each thread block has.  Which one runs follows from the length of a row
 * alone, so that a row's result does not depend on how many there are.
 */
#ifndef GB_CUDA_OPS_ROWS_H
#define GB_CUDA_OPS_ROWS_H

#include "backends/cuda/ops/emit.h"

/* The longest row that a warp takes: 16 elements of each of 32 lanes. */
#define GB_CUDA_WARP_ROW 512

/* Threads of a block of the instance whose warps have a row each. */
#define GB_CUDA_WARP_ROW_THREADS 256

struct gb_cuda_row_kernels {
    enum gb_cuda_kernel warp;
    enum gb_cuda_kernel block;
};

/* The two instances of gb_NAME. */
#define GB_CUDA_ROW_KERNELS(name) \
    { GB_CUDA_KERNEL_gb_##name##_warp, GB_CUDA_KERNEL_gb_##name##_block }

/* Launch the instance for N_ROWS rows of N elements with the struct ARGS. */
static inline void
gb_cuda_launch_rows(
    struct gb_cuda_emit *emit, const struct gb_cuda_row_kernels *kernels,
    int64_t n, int64_t n_rows, const void *args, size_t size)
{
    const bool is_long = n > GB_CUDA_WARP_ROW;
    const int per_block =
        is_long ? 1 : GB_CUDA_WARP_ROW_THREADS / emit->limits->warp;

    emit->add(emit, is_long ? kernels->block : kernels->warp,
              gb_cuda_blocks(n_rows, per_block), 0, args, size);
}

#endif
