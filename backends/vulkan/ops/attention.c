/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/attention.c - FLASH_ATTN_EXT: q F32, keys and values of any types
 * that can be read, mask F16, any strides between rows.
 *
 * Keys and values of one type that caches have are read as they are; others
 * become floats in the scratch first.  shaders/params-attention.h says what
 * groups, rows and parts are.
 */
#include "backends/vulkan/ops/formats.h"
#include "backends/vulkan/ops/matmul.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-attention.h"
#include "backends/vulkan/shaders/params-attentionjoin.h"
#include "backends/vulkan/shaders/params-floats.h"

#define DECODE_ROWS  8   /* of a work group */
#define PREFILL_ROWS 32
#define KEYS         32  /* taken at a time */
#define LEAST_PART   128 /* keys of a part, so that the join costs little */
#define MOST_PARTS   32
#define GROUPS       256 /* wanted: parts are as many as make so many groups */
#define GROUPS_OF_CPU 8  /* wanted of a device that is a processor */
#define WIDE_GROUPS  512 /* wanted of the shader with wide reads */
#define WIDE_PARTS   64

/* Types of keys and values that are read as they are. */
struct kernels {
    bool is_there;
    enum gb_vk_pipeline decode, prefill_128, prefill_256;
};

static const struct kernels kernels[GGML_TYPE_COUNT] = {
#define ATTENTION(TYPE, name)                                                  \
    [GGML_TYPE_##TYPE] = { true, GB_VK_attention_##name##_8_256,              \
                           GB_VK_attention_##name##_32_128,                   \
                           GB_VK_attention_##name##_32_256 }
    ATTENTION(F32, f32),
    ATTENTION(F16, f16),
    ATTENTION(BF16, bf16),
    ATTENTION(Q4_0, q4_0),
    ATTENTION(Q4_1, q4_1),
    ATTENTION(Q5_0, q5_0),
    ATTENTION(Q5_1, q5_1),
    ATTENTION(Q8_0, q8_0),
    ATTENTION(IQ4_NL, iq4_nl),
#undef ATTENTION
};

/* Those for narrow subgroups: 4 or 8 rows of a work group, heads of 64 and 128
 * elements. */
struct narrow {
    bool is_there;
    enum gb_vk_pipeline of_64[2], of_128[2];
};

static const struct narrow narrow[GGML_TYPE_COUNT] = {
#define NARROW(TYPE, name)                                  \
    [GGML_TYPE_##TYPE] = { true,                            \
                           { GB_VK_narrow_attention_##name##_4_64, \
                             GB_VK_narrow_attention_##name##_8_64 }, \
                           { GB_VK_narrow_attention_##name##_4_128, \
                             GB_VK_narrow_attention_##name##_8_128 } }
    NARROW(F16, f16),
    NARROW(Q4_0, q4_0),
    NARROW(Q8_0, q8_0),
#undef NARROW
};

/* With wide reads, for up to 4 and 8 rows: F16 alone, by the elements of a head. */
static const struct {
    int64_t d;
    enum gb_vk_pipeline of_4, of_8;
} wide[] = {
    { 64, GB_VK_attentionwide_4_64, GB_VK_attentionwide_8_64 },
    { 128, GB_VK_attentionwide_4_128, GB_VK_attentionwide_8_128 },
    { 256, GB_VK_attentionwide_4_256, GB_VK_attentionwide_8_256 },
};

/* For prompts by cooperative matrices, with elements of a head up to its number;
 * keys and values are F16, whose range matrices have. */
static const struct {
    int64_t range;
    enum gb_vk_pipeline pipeline;
} matrices[] = {
    { 64, GB_VK_attentioncoop_64 },
    { 128, GB_VK_attentioncoop_128 },
    { 256, GB_VK_attentioncoop_256 },
};

/* What makes floats of keys or values.  F32 are some, and are never asked for. */
#define GB_VK_floats_f32 GB_VK_PIPELINE_COUNT
static const enum gb_vk_pipeline floats[GGML_TYPE_COUNT] = {
#define GB_VK_FORMAT(TYPE, name, table) \
    [GGML_TYPE_##TYPE] = GB_VK_floats_##name,
#include "backends/vulkan/shaders/formats.def"
#undef GB_VK_FORMAT
#undef GB_VK_floats_f32
};

static int64_t
ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* How many successive heads share both a key head and a value head.  If neither
 * number of sharing heads is a multiple of the other, each head goes alone. */
static int64_t
group_of(const struct ggml_tensor *node)
{
    const int64_t by_key = node->src[0]->ne[2] / node->src[1]->ne[2];
    const int64_t by_value = node->src[0]->ne[2] / node->src[2]->ne[2];
    const int64_t smaller = by_key < by_value ? by_key : by_value;

    return by_key % smaller == 0 && by_value % smaller == 0 ? smaller : 1;
}

/* How NODE is computed, and what lies where in its scratch. */
struct plan {
    enum gb_vk_pipeline pipeline;
    int64_t group, n_groups, n_parts, part;
    int64_t tiles;     /* of rows and elements, of a group of heads */
    int64_t wanted;    /* work groups */
    int64_t most_parts;
    bool is_float[2];  /* keys, values: read as they are? */
    size_t floats[2];  /* if not, where they are floats */
    size_t parts_size; /* of what is first in scratch */
    size_t scratch;
};

static size_t
floats_size(const struct ggml_tensor *node, int i)
{
    return (size_t)ggml_nelements(node->src[1 + i]) * sizeof(float);
}

/* GB_VK_PIPELINE_COUNT: by none. */
static enum gb_vk_pipeline
by_matrices(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const int64_t d = node->src[0]->ne[0];

    if (node->src[1]->type != GGML_TYPE_F16 ||
        node->src[2]->type != GGML_TYPE_F16)
        return GB_VK_PIPELINE_COUNT;
    for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++)
        if (d <= matrices[i].range &&
            gb_vk_can_use(limits, matrices[i].pipeline))
            return matrices[i].pipeline;
    return GB_VK_PIPELINE_COUNT;
}

static void
plan_types(const struct gb_vk_limits *limits, const struct ggml_tensor *node,
           int64_t rows, struct plan *plan)
{
    const enum gb_vk_pipeline by = by_matrices(limits, node);
    const enum ggml_type k = node->src[1]->type, v = node->src[2]->type;
    const bool is_direct = k == v && kernels[k].is_there;
    const struct kernels *of = &kernels[is_direct ? k : GGML_TYPE_F32];
    const bool is_decode = rows <= DECODE_ROWS;
    const int64_t d = node->ne[0], range = !is_decode && d <= 128 ? 128 : 256;

    plan->tiles = ceil_div(d, range) *
                  ceil_div(rows, is_decode ? DECODE_ROWS : PREFILL_ROWS);
    plan->wanted = GROUPS;
    plan->most_parts = MOST_PARTS;
    plan->is_float[0] = is_direct || k == GGML_TYPE_F32;
    plan->is_float[1] = is_direct || v == GGML_TYPE_F32;
    plan->pipeline = is_decode                    ? of->decode
                     : by != GB_VK_PIPELINE_COUNT ? by
                     : d <= 128                   ? of->prefill_128
                                                  : of->prefill_256;
}

/* Do those of T, which is F16 or in blocks, begin at whole words? */
static bool
has_word_rows(const struct ggml_tensor *t)
{
    return t->type != GGML_TYPE_F16 || gb_vk_has_rows_at(t, 4);
}

/* For few rows on cards; false for what its shader does not take. */
static bool
plan_wide(const struct gb_vk_limits *limits, const struct ggml_tensor *node,
          int64_t rows, struct plan *plan)
{
    const struct ggml_tensor *k = node->src[1], *v = node->src[2];

    if (k->type != GGML_TYPE_F16 || v->type != GGML_TYPE_F16 ||
        rows > DECODE_ROWS || !gb_vk_has_rows_at(k, 16) ||
        !gb_vk_has_rows_at(v, 16))
        return false;
    plan->is_float[0] = plan->is_float[1] = true;
    plan->tiles = 1;
    plan->wanted = WIDE_GROUPS;
    plan->most_parts = WIDE_PARTS;
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++) {
        plan->pipeline = rows <= 4 ? wide[i].of_4 : wide[i].of_8;
        if (wide[i].d == node->ne[0])
            return gb_vk_can_use(limits, plan->pipeline);
    }
    return false;
}

/* For a device that is a processor; false where it is none, and for what its
 * shaders do not take. */
static bool
plan_narrow(const struct gb_vk_limits *limits, const struct ggml_tensor *node,
            int64_t rows, struct plan *plan)
{
    const enum ggml_type type = node->src[1]->type;
    const struct narrow *of = &narrow[type];
    const int64_t d = node->ne[0];
    const int i = rows > 4;

    if (!of->is_there || type != node->src[2]->type || (d != 64 && d != 128))
        return false;
    plan->is_float[0] = plan->is_float[1] = true;
    plan->pipeline = d == 64 ? of->of_64[i] : of->of_128[i];
    plan->tiles = ceil_div(rows, i == 0 ? 4 : 8);
    plan->wanted = GROUPS_OF_CPU;
    plan->most_parts = MOST_PARTS;
    return gb_vk_can_use(limits, plan->pipeline) &&
           d % (8 * limits->subgroup) == 0 &&
           gb_node_param_f32(node, 2) == 0.0f && /* the softcap */
           has_word_rows(node->src[1]) && has_word_rows(node->src[2]);
}

/* By shapes, types and the device alone. */
static struct plan
plan_of(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *q = node->src[0];
    const int64_t n_keys = node->src[1]->ne[1], d = q->ne[0];
    struct plan plan = { .group = group_of(node) };
    const int64_t rows = q->ne[1] * plan.group;
    int64_t tiles, parts;

    if (!plan_narrow(limits, node, rows, &plan) &&
        !plan_wide(limits, node, rows, &plan))
        plan_types(limits, node, rows, &plan);
    tiles = plan.tiles * (q->ne[2] / plan.group) * q->ne[3];
    parts = ceil_div(plan.wanted, tiles);
    parts = parts > plan.most_parts ? plan.most_parts : parts;
    plan.part = ceil_div(n_keys, parts);
    if (plan.part < LEAST_PART)
        plan.part = LEAST_PART;
    plan.part = ceil_div(plan.part, KEYS) * KEYS;
    plan.n_parts = ceil_div(n_keys, plan.part);
    plan.n_groups = tiles * plan.n_parts;
    if (plan.n_parts > 1)
        plan.parts_size = (size_t)(plan.n_parts * ggml_nrows(node) * (d + 2)) *
                          sizeof(float);
    plan.scratch = gb_vk_scratch_up(plan.parts_size);
    for (int i = 0; i < 2; i++)
        if (!plan.is_float[i]) {
            plan.floats[i] = plan.scratch;
            plan.scratch += gb_vk_scratch_up(floats_size(node, i));
        }
    return plan;
}

/* Does a binding show all that the scratch has of keys, of values, of parts? */
static bool
scratch_fits(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct plan plan = plan_of(limits, node);

    return plan.parts_size <= limits->range &&
           (plan.is_float[0] || floats_size(node, 0) <= limits->range) &&
           (plan.is_float[1] || floats_size(node, 1) <= limits->range);
}

static bool
attention_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *k = node->src[1];
    const struct ggml_tensor *mask = node->src[3];

    return k->ne[1] > 0 && gb_vk_can_read_rows(k) &&
           gb_vk_can_read_rows(node->src[2]) &&
           (mask == NULL || gb_vk_can_read_rows(mask)) &&
           scratch_fits(limits, node);
}

static size_t
attention_scratch(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    return plan_of(limits, node).scratch;
}

/* T as floats in the scratch at TO; NB: of its rows and matrices there. */
static void
emit_floats(struct gb_vk_emit *emit, const struct ggml_tensor *t,
            const struct gb_vk_bind *to, uint32_t nb[3])
{
    const enum gb_vk_table table = gb_vk_table_of(t->type);
    struct gb_vk_floats_params params = {
        .ne = GB_VK_NE(t),
        .nb = GB_VK_NB_FROM_1(t),
        .n = (uint32_t)(ceil_div(t->ne[0], 8) * ggml_nrows(t)),
    };
    const int64_t n_groups = gb_vk_groups(params.n, 256);

    if (table == GB_VK_TABLE_NONE)
        GB_VK_DISPATCH_ONE_OF(emit, floats[t->type], n_groups,
                              &params, *to, gb_vk_read(t));
    else
        GB_VK_DISPATCH_ONE_OF(emit, floats[t->type], n_groups,
                              &params, *to, gb_vk_read(t),
                              gb_vk_read_table(table));
    nb[0] = (uint32_t)t->ne[0] * 4;
    nb[1] = nb[0] * (uint32_t)t->ne[1];
    nb[2] = nb[1] * (uint32_t)t->ne[2];
}

/* Keys (I = 0) or values as the shader reads them. */
static struct gb_vk_bind
operand_of(struct gb_vk_emit *emit, const struct ggml_tensor *node,
           const struct plan *plan, int i, uint32_t nb[3])
{
    const struct ggml_tensor *t = node->src[1 + i];
    const size_t size = floats_size(node, i);
    const struct gb_vk_bind to = gb_vk_scratch(plan->floats[i], size, true);

    if (plan->is_float[i]) {
        nb[0] = (uint32_t)t->nb[1];
        nb[1] = (uint32_t)t->nb[2];
        nb[2] = (uint32_t)t->nb[3];
        return gb_vk_read(t);
    }
    emit_floats(emit, t, &to, nb);
    return gb_vk_scratch(plan->floats[i], size, false);
}

static void
emit_join(struct gb_vk_emit *emit, const struct ggml_tensor *node,
          const struct plan *plan)
{
    struct gb_vk_attention_join_params params = {
        .d = (uint32_t)node->ne[0],
        .n_rows = (uint32_t)ggml_nrows(node),
        .n_parts = (uint32_t)plan->n_parts,
    };

    GB_VK_DISPATCH(emit, attentionjoin,
                   gb_vk_groups(ggml_nelements(node), 128), &params,
                   gb_vk_write(node),
                   gb_vk_scratch(0, plan->parts_size, false));
}

static void
attention_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct plan plan = plan_of(emit->limits, node);
    const struct ggml_tensor *q = node->src[0];
    const struct ggml_tensor *k = node->src[1];
    const struct ggml_tensor *v = node->src[2];
    const struct ggml_tensor *mask = node->src[3];
    struct gb_vk_attention_params params = {
        .n_groups = (uint32_t)plan.n_groups,
        .d = (uint32_t)q->ne[0],
        .n_keys = (uint32_t)k->ne[1],
        .n_tokens = (uint32_t)q->ne[1],
        .n_heads = (uint32_t)q->ne[2],
        .n_rows = (uint32_t)ggml_nrows(node),
        .q_nb = GB_VK_NB_FROM_1(q),
        .group = (uint32_t)plan.group,
        .n_parts = (uint32_t)plan.n_parts,
        .part = (uint32_t)plan.part,
        .k_heads = (uint32_t)(q->ne[2] / k->ne[2]),
        .v_heads = (uint32_t)(q->ne[2] / v->ne[2]),
        .k_batches = (uint32_t)(q->ne[3] / k->ne[3]),
        .v_batches = (uint32_t)(q->ne[3] / v->ne[3]),
        .scale = gb_node_param_f32(node, 0),
        .max_bias = gb_node_param_f32(node, 1),
        .softcap = gb_node_param_f32(node, 2),
        .has_mask = mask != NULL,
        .mask_nb = mask != NULL ? (uint32_t)mask->nb[1] : 0,
    };
    const struct gb_vk_bind keys =
        operand_of(emit, node, &plan, 0, params.k_nb);
    const struct gb_vk_bind values =
        operand_of(emit, node, &plan, 1, params.v_nb);

    if (params.softcap != 0.0f)
        params.scale /= params.softcap;
    emit->operations =
        2 * (uint64_t)(ggml_nelements(q) + ggml_nelements(node)) * params.n_keys;
    GB_VK_DISPATCH_ONE_OF(
        emit, plan.pipeline, plan.n_groups, &params,
        plan.n_parts > 1 ? gb_vk_scratch(0, plan.parts_size, true)
                         : gb_vk_write(node),
        gb_vk_read(q), keys, values, gb_vk_read(mask != NULL ? mask : q));
    if (plan.n_parts > 1)
        emit_join(emit, node, &plan);
}

/* Tokens are cut from each other: rows of queries and of the mask; and batches
 * that have keys of their own. */
static bool
attention_may(const struct ggml_tensor *node, int dim)
{
    return dim == 2 || (node->src[1]->ne[3] == node->ne[3] &&
                        node->src[2]->ne[3] == node->ne[3]);
}

static const struct gb_vk_parts attention_parts = {
    .dims = { [2] = true, [3] = true },
    .sources = { { [2] = 2, [3] = 4 }, { [3] = 4 }, { [3] = 4 }, { [2] = 2 } },
    .may = attention_may,
};

const struct gb_vk_op gb_vk_op_attention = {
    .supports = attention_supports,
    .parts = &attention_parts,
    .scratch = attention_scratch,
    .emit = attention_emit,
};
