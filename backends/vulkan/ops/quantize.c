/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/quantize.c - floats into blocks, and blocks into floats.
 */
#include "backends/vulkan/ops/quantize.h"

#include "backends/vulkan/ops/formats.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-quantize.h"

struct conversion {
    enum gb_vk_pipeline pipeline;
    int n_blocks; /* that a work group makes; 0: there is no pipeline */
};

static const struct conversion quantize[GGML_TYPE_COUNT] = {
#define GB_VK_PACKED(TYPE, name, n) \
    [GGML_TYPE_##TYPE] = { GB_VK_quantize_##name, n },
#include "backends/vulkan/shaders/packed.def"
#undef GB_VK_PACKED
};

/* An invocation, of 128 of a work group, has eight values.  Floats have no
 * blocks: their pipelines are none. */
#define GB_VK_dequantize_f32  GB_VK_PIPELINE_COUNT
#define GB_VK_dequantize_f16  GB_VK_PIPELINE_COUNT
#define GB_VK_dequantize_bf16 GB_VK_PIPELINE_COUNT
static const enum gb_vk_pipeline dequantize[GGML_TYPE_COUNT] = {
#define GB_VK_FORMAT(TYPE, name, table) \
    [GGML_TYPE_##TYPE] = GB_VK_dequantize_##name,
#include "backends/vulkan/shaders/formats.def"
#undef GB_VK_FORMAT
};

bool
gb_vk_can_convert_blocks(const struct ggml_tensor *dst,
                         const struct ggml_tensor *src)
{
    const bool is_packing = gb_node_is_float(src->type);
    const struct ggml_tensor *floats = is_packing ? src : dst;
    const struct ggml_tensor *blocks = is_packing ? dst : src;

    if (ggml_nelements(dst) != ggml_nelements(src) ||
        (is_packing ? quantize[dst->type].n_blocks == 0
                    : dst->type != GGML_TYPE_F32 ||
                          !gb_vk_has_format(src->type)))
        return false;
    return gb_node_has_dense_rows(blocks) && gb_node_has_dense_rows(floats) &&
           gb_vk_is_aligned(blocks) && gb_vk_is_aligned(floats) &&
           gb_node_dense_run(floats) % ggml_blck_size(blocks->type) == 0;
}

static void
emit_quantize(struct gb_vk_emit *emit, enum ggml_type type,
              struct gb_vk_quantize_params *params, struct gb_vk_bind to,
              struct gb_vk_bind from)
{
    const struct conversion *conversion = &quantize[type];

    GB_VK_DISPATCH_ONE_OF(emit, conversion->pipeline,
                          gb_vk_groups(params->n, conversion->n_blocks),
                          params, to, from);
}

static void
emit_dequantize(struct gb_vk_emit *emit, enum ggml_type type,
                struct gb_vk_quantize_params *params, struct gb_vk_bind to,
                struct gb_vk_bind from)
{
    const enum gb_vk_table table = gb_vk_table_of(type);
    const int64_t n_groups =
        gb_vk_groups(params->n * (ggml_blck_size(type) / 8), 128);

    if (table == GB_VK_TABLE_NONE)
        GB_VK_DISPATCH_ONE_OF(emit, dequantize[type], n_groups, params, to,
                              from);
    else
        GB_VK_DISPATCH_ONE_OF(emit, dequantize[type], n_groups, params, to,
                              from, gb_vk_read_table(table));
}

void
gb_vk_emit_convert_blocks(struct gb_vk_emit *emit,
                          const struct ggml_tensor *dst, struct gb_vk_bind to,
                          const struct ggml_tensor *src,
                          struct gb_vk_bind from)
{
    const bool is_packing = gb_node_is_float(src->type);
    const uint32_t values =
        (uint32_t)ggml_blck_size(is_packing ? dst->type : src->type);
    struct gb_vk_quantize_params params = {
        .dst_ne = GB_VK_NE(dst),
        .dst_nb = GB_VK_NB(dst),
        .src_ne = GB_VK_NE(src),
        .src_nb = GB_VK_NB(src),
        .n = (uint32_t)ggml_nelements(dst) / values,
    };

    if (is_packing) {
        params.dst_ne[0] /= values;
        params.src_type = gb_vk_float_of(src->type);
        emit_quantize(emit, dst->type, &params, to, from);
    } else {
        params.src_ne[0] /= values;
        emit_dequantize(emit, src->type, &params, to, from);
    }
}
