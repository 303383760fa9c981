/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/matmul.h - how products of matrices are cut into work groups, for
 * MUL_MAT and MUL_MAT_ID.
 *
 * In D = A * B the weights A [k, m] and B [k, n] both have rows of k values; a
 * row of B is called a column here and makes one of D.
 */
#ifndef GB_VULKAN_OPS_MATMUL_H
#define GB_VULKAN_OPS_MATMUL_H

#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/shaders/params-matmul.h"

/* The strides of a tensor's rows and matrices. */
#define GB_VK_NB_FROM_1(t)                           \
    { (uint32_t)(t)->nb[1], (uint32_t)(t)->nb[2],    \
      (uint32_t)(t)->nb[3] }

/* What decides how a product is computed. */
struct gb_vk_product_shape {
    const struct gb_vk_limits *limits;
    enum ggml_type weights, columns;
    int64_t m, k;
    int64_t cols;     /* that meet a matrix of weights */
    int64_t matrices; /* of weights */
    bool is_cut;      /* by operands: k is not */
    bool is_wide;     /* see gb_vk_is_wide */
    size_t columns_size; /* of all columns as blocks, see gb_vk_columns_size; 0:
                          * they cannot be */
};

struct gb_vk_tiling {
    enum gb_vk_pipeline pipeline;
    int64_t rows, cols; /* of a work group */
    bool has_epilogue;  /* can its shader add something to results? */
    int64_t lanes;      /* GEMV: invocations that share k; else 0 */
    bool is_wide;       /* GEMM: are 16 bytes read at a time? */
    int64_t n_splits; /* 0: k is 0, and the result is the sum of no parts */
    int64_t split_k;
    size_t columns_size; /* bytes of scratch for columns as blocks, which its
                          * shader takes; 0: it takes them as they are */
};

/* By SHAPE alone, so that bits of a device depend on nothing else.  IS_SINGLE:
 * each column has a matrix of its own. */
struct gb_vk_tiling gb_vk_tile_product(
    const struct gb_vk_product_shape *shape, bool is_single);

/* Is T of a type of formats.def, in rows whose elements lie side by side and
 * that begin where shaders can read them: at multiples of 4 bytes, or of 2
 * where that is all that the type's size is a multiple of? */
bool gb_vk_can_read_rows(const struct ggml_tensor *t);

/* Can the rows of A meet those of B? */
bool gb_vk_can_multiply(
    const struct ggml_tensor *a, const struct ggml_tensor *b);

/* May shaders read 16 bytes at a time: of columns, which are F32, and of weights that
 * are floats? */
bool gb_vk_is_wide(const struct ggml_tensor *a, const struct ggml_tensor *b);

/* Bytes of the rows of B, columns of a product, as blocks of bytes with a scale, for
 * dot products of bytes; 0 where a binding cannot show them. */
size_t gb_vk_columns_size(
    const struct gb_vk_limits *limits, const struct ggml_tensor *b);

/* Bytes of scratch for the parts of NODE where k is split. */
size_t gb_vk_product_parts_size(
    const struct gb_vk_tiling *tiling, const struct ggml_tensor *node);

/* What a dispatch of a product shows. */
struct gb_vk_product {
    struct gb_vk_tiling tiling;
    const struct ggml_tensor *node;
    struct gb_vk_bind dst, weights, columns, chosen;
    size_t parts; /* of scratch, where k is split: their first byte */
    /* Adds addend to node's result, which itself is not written; NULL: nobody
     * does, and dst is node's. */
    const struct ggml_tensor *sum, *addend;
    struct gb_vk_matmul_params params;
};

/* Dispatch what makes blocks of the columns of PRODUCT's node, in scratch from AT on:
 * once for all products with them. */
void gb_vk_pack_columns(struct gb_vk_emit *emit,
                        const struct gb_vk_product *product, size_t at);

/* Let PRODUCT, whose tiling takes such, have those at AT. */
void gb_vk_take_packed(struct gb_vk_product *product, size_t at);

/*
 * Dispatch PRODUCT with N_TILES tiles of columns over all matrices, and the sum
 * of its parts.  The params have all that is of dst, columns and chosen;
 * n_groups, strides of dst where k is split, and what is of the tiling are
 * filled here.
 */
void gb_vk_multiply(struct gb_vk_emit *emit, struct gb_vk_product *product,
                    int64_t n_tiles);

/* The same in two steps; between them others may be dispatched that have other
 * parts. */
void gb_vk_multiply_parts(
    struct gb_vk_emit *emit, struct gb_vk_product *product, int64_t n_tiles);
void gb_vk_join_product(
    struct gb_vk_emit *emit, const struct gb_vk_product *product);

/* Can what computes products by TILING add something to the results? */
static inline bool
gb_vk_can_add(const struct gb_vk_tiling *tiling)
{
    return tiling->has_epilogue || tiling->n_splits != 1;
}

#endif
