/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/generate.c - tensors made of numbers, all F32: ARANGE,
 * TIMESTEP_EMBEDDING, DIAG.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-arange.h"
#include "backends/vulkan/shaders/params-diag.h"
#include "backends/vulkan/shaders/params-timestep.h"

#include <math.h>

static bool
arange_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_has_f32_rows(node) && ggml_nrows(node) == 1;
}

static void
arange_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    struct gb_vk_arange_params params = {
        .n = (uint32_t)node->ne[0],
        .start = gb_vk_param_f32(node, 0),
        .step = gb_vk_param_f32(node, 2),
    };

    GB_VK_DISPATCH(emit, arange, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node));
}

const struct gb_vk_op gb_vk_op_arange = {
    .supports = arange_supports,
    .emit = arange_emit,
};

/* The parameter's values fit a row, and there is a time for each row. */
static bool
timestep_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int32_t dim = gb_vk_param_i32(node, 0);

    (void)limits;
    return gb_vk_has_sources(node, 1) && a->type == GGML_TYPE_F32 &&
           node->type == GGML_TYPE_F32 && dim >= 0 && dim <= node->ne[0] &&
           node->ne[2] == 1 && node->ne[3] == 1 && !ggml_is_empty(a) &&
           a->ne[0] >= node->ne[1];
}

/* The twelve upper bits of X: times a number below 4,096 the product is
 * exact. */
static float
upper_bits(double x)
{
    const float value = (float)x;
    uint32_t bits;
    float upper;

    memcpy(&bits, &value, sizeof(bits));
    bits &= ~(uint32_t)0xfff;
    memcpy(&upper, &bits, sizeof(upper));
    return upper;
}

/*
 * Frequencies fall from 1 to nearly 1 / max_period in equal ratios; the
 * logarithm of the ratio is split, since its error counts once for each step,
 * and that of a frequency as often as there are times.
 */
static void
timestep_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *times = node->src[0];
    const int32_t half = gb_vk_param_i32(node, 0) / 2;
    const double ratio =
        half > 0 ? -log2(gb_vk_param_i32(node, 1)) / half : 0.0;
    const float high = upper_bits(ratio);
    struct gb_vk_timestep_params params = {
        .ne0 = (uint32_t)node->ne[0],
        .n = (uint32_t)ggml_nelements(node),
        .dst_nb = { (uint32_t)node->nb[0], (uint32_t)node->nb[1] },
        .times_nb = (uint32_t)times->nb[0],
        .frequencies = (uint32_t)half,
        .high = high,
        .low = (float)(ratio - (double)high),
    };

    GB_VK_DISPATCH(emit, timestep, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read(times));
}

const struct gb_vk_op gb_vk_op_timestep = {
    .supports = timestep_supports,
    .emit = timestep_emit,
};

static bool
diag_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    (void)limits;
    return gb_vk_has_sources(node, 1) && a->type == GGML_TYPE_F32 &&
           node->type == GGML_TYPE_F32 && a->ne[1] == 1 &&
           node->ne[0] == a->ne[0] && node->ne[1] == a->ne[0] &&
           node->ne[2] == a->ne[2] && node->ne[3] == a->ne[3];
}

static void
diag_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    struct gb_vk_diag_params params = {
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .src_nb = GB_VK_NB(node->src[0]),
        .n = (uint32_t)ggml_nelements(node),
    };

    GB_VK_DISPATCH(emit, diag, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read(node->src[0]));
}

static const struct gb_vk_parts diag_parts = {
    .dims = { [2] = true, [3] = true },
    .sources = { GB_VK_ALIKE },
};

const struct gb_vk_op gb_vk_op_diag = {
    .supports = diag_supports,
    .parts = &diag_parts,
    .emit = diag_emit,
};
