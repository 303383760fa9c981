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

#include <stdalign.h>

/*
 * q8 activations: 32 neighbouring values of all columns, in the order of the
 * columns, are a block, d * code each.  Thirty-two blocks are a group, in which
 * the first halves of the blocks' codes follow each other, then the second ones,
 * then the rest: what neighbouring lanes with neighbouring blocks load is
 * neighbouring memory.
 */
#define GB_CUDA_Q8_GROUP 32 /* blocks */
struct gb_cuda_q8_head {
    alignas(16) float d;
    float sum;    /* d times the first one below, plus d times the second */
    float same_d; /* so that what needs d and those below loads two words */
    int16_t code_sums[2]; /* of the first and of the last 16 codes */
};
struct gb_cuda_q8_half {
    alignas(16) int32_t words[4]; /* int8, four in a word */
};
struct gb_cuda_q8_group {
    struct gb_cuda_q8_half codes[2][GB_CUDA_Q8_GROUP];
    struct gb_cuda_q8_head heads[GB_CUDA_Q8_GROUP];
};

/* A column of halves begins with a factor, a power of two by which its values
 * have to be multiplied; then up to a multiple of GB_CUDA_K_STEP of them, zeros
 * behind the last.  The first one is at a multiple of 128 bytes, as long as k is one
 * of 64: 64 values of a column are a line of the card's cache then, not two. */
#define GB_CUDA_HALVES_HEAD 128 /* bytes */
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
    struct gb_cuda_tensor dst; /* counts of src; strides of columns in bytes, of
                                  q8 in blocks */
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
    struct gb_cuda_tensor columns; /* B [k, n, p, q], as it lies or packed; the
                                      strides of q8 count blocks */
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
    struct gb_cuda_addends more; /* of a GEMV, or a GEMM by warp groups, whose k
                                  * is not split */
};

/* Products that one launch makes, the thread blocks of one behind those of the
 * other.  Several have the same columns, and each its own tiles and splits, so
 * that its bits are those of a launch of its own. */
#define GB_CUDA_MAX_PRODUCTS 3
struct gb_cuda_products_args {
    struct gb_cuda_product_args of[GB_CUDA_MAX_PRODUCTS];
    uint32_t first[GB_CUDA_MAX_PRODUCTS]; /* thread block of each */
    int32_t n;
};

/* Neighbouring rows of weights that a warp of the GEMV takes at once.  A tile's
 * rows are these, times the warps that do not share k: row_step says how many. */
#define GB_CUDA_GEMV_ROWS    4
#define GB_CUDA_GEMV_THREADS 128

struct gb_cuda_gemv_args {
    struct gb_cuda_products_args products;
    int32_t weights_stay; /* no kernel of the graph writes them; no ids */
};

/* Of the GEMM by warp groups. */
#define GB_CUDA_WGMMA_ROWS    128 /* of a tile */
#define GB_CUDA_WGMMA_COLS    256
#define GB_CUDA_WGMMA_K       64  /* of k, per step: 128 bytes of halves */
#define GB_CUDA_WGMMA_THREADS 512
#define GB_CUDA_WGMMA_SHARED  231424 /* bytes that a block has */

/* Of the GEMM on MFMA by large tiles. */
#define GB_CUDA_MFMA_TILE    128 /* rows, and columns */
#define GB_CUDA_MFMA_THREADS 256

/* Columns are halves. */
struct gb_cuda_wgmma_args {
    struct gb_cuda_tensor_map map; /* of all columns, row by row */
    struct gb_cuda_products_args products;
    int32_t has_map; /* else columns of a tile may lie anywhere */
    int32_t unused[5];
};

/* Columns of D, dense, times the factors of the halves that made them. */
struct gb_cuda_rescale_args {
    float *dst;
    const char *columns; /* each begins with its factor */
    int64_t column_bytes;
    int64_t m, n; /* values of a column, columns */
};

/* dst = the sum of its parts in order. */
struct gb_cuda_join {
    struct gb_cuda_tensor dst;
    const float *parts; /* each with all values of dst in order */
    int64_t n;          /* values */
    int64_t n_splits;
};

/* Those of the products of a launch, or some of them. */
struct gb_cuda_join_args {
    struct gb_cuda_join of[GB_CUDA_MAX_PRODUCTS];
    int64_t n; /* values of all */
    struct gb_cuda_addends more; /* of the only one */
};

#endif
