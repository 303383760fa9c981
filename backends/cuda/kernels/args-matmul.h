/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-matmul.h - arguments of the kernels that multiply matrices
 * (MUL_MAT, MUL_MAT_ID) and of those that prepare it.
 *
 * In D = A * B the weights A [k, m] and the activations B [k, n] both have rows
 * of k values; a row of B is called a column here and makes one of D.
 */
#ifndef GB_CUDA_KERNELS_ARGS_MATMUL_H
#define GB_CUDA_KERNELS_ARGS_MATMUL_H

#include "backends/cuda/kernels/args.h"

/* Thirty-two values of a q8 activation: d * qs[i].  Whole in three loads of 16
 * bytes. */
struct gb_cuda_q8 {
    float d;
    float sums[2]; /* d times the sum of the first and of the last 16 qs */
    float unused;
    int32_t qs[8]; /* int8, four in a word */
};

/* A column of halves begins with a factor, a power of two by which its values
 * have to be multiplied; then up to a multiple of GB_CUDA_K_STEP of them, zeros
 * behind the last. */
#define GB_CUDA_HALVES_HEAD 16 /* bytes */
#define GB_CUDA_K_STEP      32 /* of k, per step of a GEMM on tensor cores */

/* Elements of D's shape; strides of 0 where one is used again. */
struct gb_cuda_places {
    char *data;
    int64_t nb[4];
};

/* What is added to a product, one after the other. */
#define GB_CUDA_MAX_ADDENDS 2
struct gb_cuda_addends {
    struct gb_cuda_places addends[GB_CUDA_MAX_ADDENDS];
    /* Where the sum before each goes, if somebody sees it; else no data. */
    struct gb_cuda_places before[GB_CUDA_MAX_ADDENDS];
    int64_t n;
};

/* Rows of B as columns in scratch. */
struct gb_cuda_pack_args {
    struct gb_cuda_tensor dst; /* counts of src, strides of columns in bytes */
    struct gb_cuda_tensor src;
    int64_t n; /* values, or columns where a thread block takes one */
};

/* A run of sorted columns with the same expert. */
struct gb_cuda_expert_tile {
    int32_t expert; /* none's: the number of experts */
    int32_t first;  /* in the sorted list */
    int32_t count;  /* 0: an unused tile */
};

/* The pairs (slot, token) of ids in the order of their experts. */
struct gb_cuda_experts_args {
    struct gb_cuda_tensor ids; /* [slots, tokens] */
    int32_t n_experts;
    int32_t col_step; /* most columns of a tile */
    int32_t n_tiles;
    int32_t unused;
    int32_t *counts; /* n_experts + 1 */
    int32_t *pairs;  /* slot + slots * token, in order */
    struct gb_cuda_expert_tile *tiles;
};

/*
 * Tiles of row_step rows and col_step columns, cut into splits of k; a thread
 * block each.  All columns of B that meet the same matrix of A are counted
 * through.
 */
struct gb_cuda_product_args {
    struct gb_cuda_tensor weights; /* A [k, m, a2, a3] */
    struct gb_cuda_tensor columns; /* B [k, n, p, q], as it lies or packed */
    struct gb_cuda_tensor dst;     /* D, or the first split's part of it */
    struct gb_cuda_tensor ids;     /* MUL_MAT_ID's; else data is NULL */
    const int32_t *pairs;          /* sorted; NULL: in their own order */
    const struct gb_cuda_expert_tile *tiles;
    int32_t n_cols; /* that meet one matrix of A */
    int32_t r2, r3; /* matrices of B that meet one of A, by dimension */
    int32_t col_tiles, row_tiles, n_splits;
    int32_t row_step, col_step;
    int64_t split_k;     /* of a split; the last may have less */
    int64_t split_bytes; /* between parts of D */
    struct gb_cuda_addends more; /* of a GEMV whose k is not split */
};

/* Products that one launch makes, the thread blocks of one behind those of the
 * other. */
#define GB_CUDA_MAX_PRODUCTS 3
struct gb_cuda_gemv_args {
    struct gb_cuda_product_args of[GB_CUDA_MAX_PRODUCTS];
    uint32_t first[GB_CUDA_MAX_PRODUCTS]; /* thread block of each */
    int32_t n;
};

/* Of the GEMM by warp groups. */
#define GB_CUDA_WGMMA_ROWS   64  /* of a tile */
#define GB_CUDA_WGMMA_COLS   128
#define GB_CUDA_WGMMA_K      64  /* of k, per step: 128 bytes of halves */
#define GB_CUDA_WGMMA_SHARED 52480 /* bytes that a block has */

/* Columns are halves. */
struct gb_cuda_wgmma_args {
    struct gb_cuda_tensor_map map; /* of all columns, row by row */
    struct gb_cuda_product_args product;
    int32_t has_map; /* else columns of a tile may lie anywhere */
    int32_t unused[7];
};

/* Columns of D, dense, times the factors of the halves that made them. */
struct gb_cuda_rescale_args {
    float *dst;
    const char *columns; /* each begins with its factor */
    int64_t column_bytes;
    int64_t m, n; /* values of a column, columns */
};

/* dst = the sum of its parts in order. */
struct gb_cuda_join_args {
    struct gb_cuda_tensor dst;
    const float *parts; /* each with all values of dst in order */
    int64_t n;          /* values */
    int64_t n_splits;
    struct gb_cuda_addends more;
};

#endif
