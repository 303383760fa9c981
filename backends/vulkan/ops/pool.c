/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/pool.c - the largest or the mean of windows over rows and planes,
 * and the gradient.
 *
 * Parameters: the function, then window, stride and padding: k0 s0 p0 in one
 * dimension, k0 k1 s0 s1 p0 p1 in two.
 */
#include "backends/vulkan/ops/counts.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-pool.h"
#include "backends/vulkan/shaders/params-poolback.h"

/* Windows along one dimension. */
struct windows {
    int32_t k, s, pad;
};

static bool
is_1d(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_POOL_1D;
}

static bool
is_max(const struct ggml_tensor *node)
{
    return gb_vk_param_i32(node, 0) == GGML_OP_POOL_MAX;
}

/* Those along dimension D; along a row's height there is one. */
static struct windows
windows_of(const struct ggml_tensor *node, int d)
{
    if (is_1d(node) && d == 1)
        return (struct windows){ .k = 1, .s = 0, .pad = 0 };
    if (is_1d(node))
        return (struct windows){
            .k = gb_vk_param_i32(node, 1),
            .s = gb_vk_param_i32(node, 2),
            .pad = gb_vk_param_i32(node, 3),
        };
    return (struct windows){
        .k = gb_vk_param_i32(node, 1 + d),
        .s = gb_vk_param_i32(node, 3 + d),
        .pad = gb_vk_param_i32(node, 5 + d),
    };
}

/* Does each place within N windows along dimension D of LENGTH elements,
 * padding included, fit an int32_t?  Windows have elements, and do not move
 * backwards. */
static bool
are_windows_good(
    const struct ggml_tensor *node, int d, int64_t n, int64_t length)
{
    const struct windows w = windows_of(node, d);

    if (w.k <= 0 || w.pad < 0 || w.s < (is_1d(node) && d == 1 ? 0 : 1))
        return false;
    return n <= INT32_MAX && length + w.pad <= INT32_MAX &&
           n * w.s + w.k <= INT32_MAX;
}

/* A known function, and windows of RESULTS' planes over those of PLANES. */
static bool
is_usable(const struct ggml_tensor *node, const struct ggml_tensor *results,
          const struct ggml_tensor *planes)
{
    return (uint32_t)gb_vk_param_i32(node, 0) < GGML_OP_POOL_COUNT &&
           are_windows_good(node, 0, results->ne[0], planes->ne[0]) &&
           are_windows_good(node, 1, results->ne[1], planes->ne[1]) &&
           (int64_t)windows_of(node, 0).k * windows_of(node, 1).k <=
               INT32_MAX;
}

static bool
pool_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    (void)limits;
    return a != NULL && gb_vk_is_float(a->type) && gb_vk_has_f32_rows(node) &&
           is_usable(node, node, a) &&
           gb_vk_same_from(node, a, is_1d(node) ? 1 : 2);
}

/* Windows of RESULTS, a tensor of the counts that NODE's results have, over
 * A. */
static struct gb_vk_pool_params
pool_params(const struct ggml_tensor *node, const struct ggml_tensor *results,
            const struct ggml_tensor *a)
{
    const struct windows x = windows_of(node, 0);
    const struct windows y = windows_of(node, 1);

    return (struct gb_vk_pool_params){
        .ne = GB_VK_NE(results),
        .dst_nb = GB_VK_NB(results),
        .src_ne = { (uint32_t)a->ne[0], (uint32_t)a->ne[1] },
        .src_nb = GB_VK_NB(a),
        .row_plane = is_1d(node) ? (uint32_t)a->nb[1] : 0,
        .k = { x.k, y.k },
        .s = { x.s, y.s },
        .pad = { x.pad, y.pad },
        .n = (uint32_t)ggml_nelements(results),
        .src_type = gb_vk_float_of(a->type),
        .is_max = is_max(node),
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

const struct gb_vk_op gb_vk_op_pool = {
    .supports = pool_supports,
    .emit = pool_emit,
};

/* src0 is the gradient of the result, src1 what had been pooled. */
static bool
pool_back_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    (void)limits;
    return gb_vk_has_sources(node, 2) && a->type == GGML_TYPE_F32 &&
           gb_vk_is_float(b->type) && gb_vk_has_f32_rows(node) &&
           ggml_are_same_shape(b, node) && gb_vk_same_from(a, node, 2) &&
           is_usable(node, a, b);
}

/* A place for each window. */
static size_t
pool_back_scratch(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return is_max(node)
               ? (size_t)ggml_nelements(node->src[0]) * sizeof(uint32_t)
               : 0;
}

/* Rows without elements may be any number: no windows. */
static struct gb_vk_pool_back_params
pool_back_params(const struct ggml_tensor *node)
{
    const struct ggml_tensor *grad = node->src[0];
    const struct windows x = windows_of(node, 0);
    const struct windows y = windows_of(node, 1);

    return (struct gb_vk_pool_back_params){
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .grad_ne = { (uint32_t)grad->ne[0],
                     grad->ne[0] == 0 ? 0 : (uint32_t)grad->ne[1] },
        .grad_nb = GB_VK_NB(grad),
        .k = { x.k, y.k },
        .s = { x.s, y.s },
        .pad = { x.pad, y.pad },
        .n = (uint32_t)ggml_nelements(node),
        .is_max = is_max(node),
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
    .scratch = pool_back_scratch,
    .emit = pool_back_emit,
};
