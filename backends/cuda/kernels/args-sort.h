/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-sort.h - arguments of the kernels of sort.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_SORT_H
#define GB_CUDA_KERNELS_ARGS_SORT_H

#include "backends/cuda/kernels/args.h"

/* The most keys that one thread block sorts: 32 KiB of shared memory. */
#define GB_CUDA_SORT_RUN 4096

/*
 * Rows of src0 from FIRST_ROW on.  Keys of a row are N numbers at the row's
 * place in from and to; indices go to dst where TO is NULL.
 */
struct gb_cuda_sort_args {
    struct gb_cuda_tensor dst, src0;
    int src_type; /* enum gb_cuda_float */
    int is_descending;
    const uint64_t *from;
    uint64_t *to;
    int64_t n;       /* elements of a row */
    int64_t n_runs;  /* of a row, each of RUN elements but the last */
    int64_t run;
    int64_t n_rows;
    int64_t first_row;
};

#endif
