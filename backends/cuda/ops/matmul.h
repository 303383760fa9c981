/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/matmul.h - how products of matrices are computed (MUL_MAT,
 * MUL_MAT_ID).
 */
#ifndef GB_CUDA_OPS_MATMUL_H
#define GB_CUDA_OPS_MATMUL_H

#include "backends/cuda/kernels/args-matmul.h"
#include "backends/cuda/ops/emit.h"

#include "ggml.h"

#include <stdbool.h>

/* What activations are packed as. */
enum gb_cuda_packing {
    GB_CUDA_PACK_F32,
    GB_CUDA_PACK_Q8,
    GB_CUDA_PACK_F16,
    GB_CUDA_PACK_BF16,
    GB_CUDA_PACK_COUNT,
    GB_CUDA_IN_PLACE = GB_CUDA_PACK_COUNT, /* F32 as it lies */
};

/* What the dispatch looks at. */
struct gb_cuda_product_shape {
    enum ggml_type weights;
    enum ggml_type activations;
    int64_t m;        /* rows of a matrix of weights */
    int64_t k;
    int64_t cols;     /* that meet one matrix; with experts: in the mean */
    int64_t matrices; /* of weights that are multiplied */
    bool is_in_pieces; /* each row of weights begins at a multiple of 16 bytes and
                          has whole steps of GB_CUDA_K_STEP */
};

/* And what it decides. */
struct gb_cuda_tiling {
    enum gb_cuda_kernel kernel;
    enum gb_cuda_packing packing;
    bool by_warp_groups;    /* the kernel takes struct gb_cuda_wgmma_args */
    bool is_gemv;           /* it takes struct gb_cuda_gemv_args, and adds */
    int row_step, col_step; /* of a tile */
    int64_t n_splits;
    int64_t split_k; /* values of k in each split but the last */
};

/* Path, tiles and splits, by shape and limits alone. */
struct gb_cuda_tiling gb_cuda_matmul_dispatch(
    const struct gb_cuda_limits *limits,
    const struct gb_cuda_product_shape *shape);

/* May a GEMV for NODE read weights before the kernels in front have ended? */
bool gb_cuda_may_read_ahead(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node);

/* Are there kernels for weights A and activations B, whose rows have the same
 * length? */
bool gb_cuda_can_multiply(
    const struct ggml_tensor *a, const struct ggml_tensor *b);

/* Of weights A: the shape's is_in_pieces. */
bool gb_cuda_is_in_pieces(const struct ggml_tensor *a);

/* What the right side of a MUL_MAT that can be run is packed as. */
enum gb_cuda_packing gb_cuda_packing_of(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node);

/* Do A and B have the same elements at the same addresses? */
bool gb_cuda_are_the_same(
    const struct ggml_tensor *a, const struct ggml_tensor *b);

/*
 * Bytes of B packed; and the launch that packs it at the columns' place, unless
 * a product before it did, with what columns are then.
 */
size_t gb_cuda_packed_size(
    enum gb_cuda_packing packing, const struct ggml_tensor *b);
void gb_cuda_pack(struct gb_cuda_emit *emit, enum gb_cuda_packing packing,
                  const struct ggml_tensor *b,
                  struct gb_cuda_tensor *columns_out);

/* Tiles of a product of MATRICES with M rows; false when they are more than one
 * launch has thread blocks. */
bool gb_cuda_tiles(const struct gb_cuda_tiling *tiling, int64_t m,
                   int64_t col_tiles, int64_t matrices, int64_t *tiles_out);

/* Bytes of the parts of NODE that splits of k make: none without splits. */
size_t gb_cuda_parts_size(
    const struct gb_cuda_tiling *tiling, const struct ggml_tensor *node);

/*
 * Products that one launch makes, by the kernel that is each one's, and what
 * joins the parts of those whose k is split.  A GEMV and a GEMM by warp groups
 * make several; nothing is added to these.  All zero: none.
 */
struct gb_cuda_products {
    struct gb_cuda_products_args args;
    struct gb_cuda_join_args joins;
    int n_joins;
    unsigned n_blocks;
    bool may_be_written; /* a GEMV may not read weights ahead */
};

/*
 * One more, NODE: at most GB_CUDA_MAX_PRODUCTS, and as many thread blocks as a
 * launch can have.  Where k is split, parts are made at PARTS.  Of ARGS weights,
 * columns, ids, pairs, tiles, n_cols, r2, r3, col_tiles and more are set.
 */
void gb_cuda_add_product(struct gb_cuda_products *products,
                         const struct gb_cuda_tiling *tiling,
                         const struct ggml_tensor *node, int64_t matrices,
                         char *parts, const struct gb_cuda_product_args *args);
void gb_cuda_launch_products(struct gb_cuda_emit *emit,
                             const struct gb_cuda_tiling *tiling,
                             const struct gb_cuda_products *products);

/* Both, for one product. */
void gb_cuda_multiply(struct gb_cuda_emit *emit,
                      const struct gb_cuda_tiling *tiling,
                      const struct ggml_tensor *node, int64_t matrices,
                      char *parts, const struct gb_cuda_product_args *args);

/* Bytes of scratch for the BLAS, where it may be used for NODE; else 0. */
size_t gb_cuda_blas_scratch(const struct gb_cuda_limits *limits,
                            const struct gb_cuda_tiling *tiling,
                            const struct ggml_tensor *node);

/*
 * The BLAS is offered NODE with packed COLUMNS before the launches that
 * gb_cuda_multiply makes.  Where it is true, gb_cuda_complete_blas comes behind
 * these.  WORKSPACE may be where their parts are: both are not made at once.
 */
bool gb_cuda_offer_blas(struct gb_cuda_emit *emit,
                        const struct gb_cuda_tiling *tiling,
                        const struct ggml_tensor *node,
                        const struct gb_cuda_tensor *columns, char *workspace);
void gb_cuda_complete_blas(struct gb_cuda_emit *emit,
                           const struct gb_cuda_tiling *tiling,
                           const struct ggml_tensor *node,
                           const struct gb_cuda_tensor *columns);

#endif
