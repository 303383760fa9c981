/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/pool.c - the largest or the mean of windows over rows and planes,
 * and the gradient.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-pool.h"
#include "backends/vulkan/shaders/params-poolback.h"

#include "lib/node/pool.h"

/* Does each place within N windows along dimension D of LENGTH elements,
 * padding included, fit an int32_t?  Windows do not move backwards. */
static bool
are_windows_good(
    const struct gb_node_pool *pool, int d, int64_t n, int64_t length)
{
    const int64_t stride = pool->stride[d], padding = pool->padding[d];

    return padding >= 0 && stride >= (pool->is_1d && d == 1 ? 0 : 1) &&
           length + padding <= INT32_MAX &&
           n * stride + pool->kernel[d] <= INT32_MAX;
}

/* Windows of RESULTS' planes over those of PLANES. */
static bool
fits(const struct gb_node_pool *pool, const struct ggml_tensor *results,
     const struct ggml_tensor *planes)
{
    return are_windows_good(pool, 0, results->ne[0], planes->ne[0]) &&
           are_windows_good(pool, 1, results->ne[1], planes->ne[1]) &&
           (int64_t)pool->kernel[0] * pool->kernel[1] <= INT32_MAX;
}

static bool
pool_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_node_pool pool = gb_node_pool_of(node);

    (void)limits;
    return fits(&pool, node, node->src[0]);
}

/* Windows of RESULTS, a tensor of the counts that NODE's results have, over
 * A. */
static struct gb_vk_pool_params
pool_params(const struct ggml_tensor *node, const struct ggml_tensor *results,
            const struct ggml_tensor *a)
{
    const struct gb_node_pool pool = gb_node_pool_of(node);

    return (struct gb_vk_pool_params){
        .ne = GB_VK_NE(results),
        .dst_nb = GB_VK_NB(results),
        .src_ne = { (uint32_t)a->ne[0], (uint32_t)a->ne[1] },
        .src_nb = GB_VK_NB(a),
        .row_plane = pool.is_1d ? (uint32_t)a->nb[1] : 0,
        .k = { pool.kernel[0], pool.kernel[1] },
        .s = { pool.stride[0], pool.stride[1] },
        .pad = { pool.padding[0], pool.padding[1] },
        .n = (uint32_t)ggml_nelements(results),
        .src_type = gb_vk_float_of(a->type),
        .is_max = pool.is_max,
    };
}

static void
pool_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    struct gb_vk_pool_params params = pool_params(node, node, a);

    emit->operations =
        2 * (uint64_t)params.n * (uint64_t)(params.k[0] * params.k[1]);
    GB_VK_DISPATCH(emit, pool, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read_or(a, node));
}

/* Planes, or rows, are cut from each other. */
static bool
pool_may(const struct ggml_tensor *node, int dim)
{
    return dim >= (gb_node_pool_of(node).is_1d ? 1 : 2);
}

static const struct gb_vk_parts pool_parts = {
    .dims = { [1] = true, [2] = true, [3] = true },
    .sources = { GB_VK_ALIKE, GB_VK_ALIKE },
    .may = pool_may,
};

const struct gb_vk_op gb_vk_op_pool = {
    .supports = pool_supports,
    .parts = &pool_parts,
    .emit = pool_emit,
};

/* src0 is the gradient of the result. */
static bool
pool_back_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_node_pool pool = gb_node_pool_of(node);

    (void)limits;
    return fits(&pool, node->src[0], node->src[1]);
}

/* A place for each window. */
static size_t
pool_back_scratch(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_node_pool_of(node).is_max
               ? (size_t)ggml_nelements(node->src[0]) * sizeof(uint32_t)
               : 0;
}

/* Rows without elements may be any number: no windows. */
static struct gb_vk_pool_back_params
pool_back_params(const struct ggml_tensor *node)
{
    const struct ggml_tensor *grad = node->src[0];
    const struct gb_node_pool pool = gb_node_pool_of(node);

    return (struct gb_vk_pool_back_params){
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .grad_ne = { (uint32_t)grad->ne[0],
                     grad->ne[0] == 0 ? 0 : (uint32_t)grad->ne[1] },
        .grad_nb = GB_VK_NB(grad),
        .k = { pool.kernel[0], pool.kernel[1] },
        .s = { pool.stride[0], pool.stride[1] },
        .pad = { pool.padding[0], pool.padding[1] },
        .n = (uint32_t)ggml_nelements(node),
        .is_max = pool.is_max,
    };
}

static void
pool_back_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *grad = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const size_t size = pool_back_scratch(emit->limits, node);
    struct gb_vk_pool_params places = pool_params(node, grad, b);
    struct gb_vk_pool_back_params params = pool_back_params(node);

    if (size > 0)
        GB_VK_DISPATCH(emit, pool_places, gb_vk_groups(places.n, 256),
                       &places, gb_vk_scratch(0, size, true), gb_vk_read(b));
    emit->operations =
        2 * (uint64_t)params.n * (uint64_t)(params.k[0] * params.k[1]);
    GB_VK_DISPATCH(
        emit, pool_back, gb_vk_groups(params.n, 256), &params,
        gb_vk_write(node), gb_vk_read_or(grad, node),
        size > 0 ? gb_vk_scratch(0, size, false) : gb_vk_read(b));
}

const struct gb_vk_op gb_vk_op_pool_back = {
    .supports = pool_back_supports,
    .parts = &pool_parts,
    .scratch = pool_back_scratch,
    .emit = pool_back_emit,
};
