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

static void
arange_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    struct gb_vk_arange_params params = {
        .n = (uint32_t)node->ne[0],
        .start = gb_node_param_f32(node, 0),
        .step = gb_node_param_f32(node, 2),
    };

    GB_VK_DISPATCH(emit, arange, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node));
}

const struct gb_vk_op gb_vk_op_arange = {
    .emit = arange_emit,
};

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
    const int32_t half = gb_node_param_i32(node, 0) / 2;
    const double ratio =
        half > 0 ? -log2(gb_node_param_i32(node, 1)) / half : 0.0;
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
    .emit = timestep_emit,
};

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
    .parts = &diag_parts,
    .emit = diag_emit,
};
