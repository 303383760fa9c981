/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/attention.c - FLASH_ATTN_EXT: q F32, keys and values of any types
 * that can be read, mask F16, any strides between rows.
 *
 * kernels/args-attention.h says what groups, rows, tiles and parts are.
 */
#include "backends/cuda/kernels/args-attention.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/formats.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#define DECODE_ROWS  8   /* of a tile */
#define PREFILL_ROWS 32
#define RANGE        256 /* elements of results of a tile */
#define KEYS         64  /* taken at a time */
#define LEAST_PART   128 /* keys of a part, so that the join costs little */
#define MOST_PARTS   64
#define TILES_A_SM   4   /* wanted: so many run at once */

static const uint8_t formats[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type) \
    [GGML_TYPE_##TYPE] = GB_CUDA_FORMAT_##TYPE,
#define GB_CUDA_BLOCKS(TYPE, name) [GGML_TYPE_##TYPE] = GB_CUDA_FORMAT_##TYPE,
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_BLOCKS
#undef GB_CUDA_FLOATS
};

/* Is B a multiple of A, or both 0? */
static bool
divides(int64_t a, int64_t b)
{
    return a == b || (a > 0 && b % a == 0);
}

/* Does each head, and each batch, of K or V serve the same number of those of
 * Q, with rows of the same length? */
static bool
are_shared(const struct ggml_tensor *t, const struct ggml_tensor *q)
{
    return gb_cuda_can_read(t) && gb_cuda_has_dense_rows(t) &&
           t->ne[0] == q->ne[0] && divides(t->ne[2], q->ne[2]) &&
           divides(t->ne[3], q->ne[3]) && gb_cuda_is_countable(t);
}

static bool
mask_fits(const struct ggml_tensor *mask, const struct ggml_tensor *q,
          const struct ggml_tensor *k)
{
    return mask == NULL ||
           (mask->type == GGML_TYPE_F16 && gb_cuda_has_dense_rows(mask) &&
            mask->ne[0] >= k->ne[1] && mask->ne[1] >= q->ne[1] &&
            mask->ne[2] > 0 && mask->ne[3] > 0);
}

static bool
attention_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *q = node->src[0];
    const struct ggml_tensor *k = node->src[1];
    const struct ggml_tensor *v = node->src[2];

    (void)limits;
    return gb_cuda_has_sources(node, 3) && gb_cuda_has_f32_rows(q) &&
           gb_cuda_is_countable(q) && are_shared(k, q) && are_shared(v, q) &&
           v->ne[1] >= k->ne[1] && node->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(node) &&
           gb_cuda_has_shape(node, q->ne[0], q->ne[2], q->ne[1], q->ne[3]) &&
           mask_fits(node->src[3], q, k);
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

static int64_t
ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static int64_t
rows_of_tile(const struct gb_cuda_attention_args *args)
{
    return args->rows <= DECODE_ROWS ? DECODE_ROWS : PREFILL_ROWS;
}

/* Divide the keys where there are fewer tiles than the card runs at once. */
static void
divide_keys(struct gb_cuda_attention_args *args, int64_t wanted)
{
    int64_t parts = ceil_div(wanted, args->n_tiles);

    if (parts > MOST_PARTS)
        parts = MOST_PARTS;
    args->part = ceil_div(args->n_keys, parts);
    if (args->part < LEAST_PART)
        args->part = LEAST_PART;
    args->part = ceil_div(args->part, KEYS) * KEYS;
    args->n_parts = args->n_keys > 0 ? ceil_div(args->n_keys, args->part) : 1;
    args->n_tiles *= args->n_parts;
}

/* The tiles, by shapes and the card's multiprocessors alone. */
static struct gb_cuda_attention_args
tiles_of(const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *q = node->src[0];
    struct gb_cuda_attention_args args = { .n_keys = node->src[1]->ne[1] };

    args.group = group_of(node);
    args.groups = q->ne[2] / args.group;
    args.rows = q->ne[1] * args.group;
    args.row_tiles = ceil_div(args.rows, rows_of_tile(&args));
    args.ranges = ceil_div(q->ne[0], RANGE);
    args.n_tiles = args.ranges * args.row_tiles * args.groups * q->ne[3];
    divide_keys(&args, (int64_t)limits->n_sms * TILES_A_SM);
    return args;
}

static size_t
attention_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_cuda_attention_args args = tiles_of(limits, node);

    if (args.n_parts == 1)
        return 0;
    return (size_t)(args.n_parts * ggml_nrows(node) * (node->ne[0] + 2)) *
           sizeof(float);
}

/* May four elements of each row, which are floats, be read at once? */
static bool
is_aligned(const struct ggml_tensor *t)
{
    const size_t size = 4 * ggml_type_size(t->type);

    return ((uintptr_t)t->data | t->nb[1] | t->nb[2] | t->nb[3]) % size == 0;
}

static void
emit_join(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
          int64_t n_parts)
{
    const struct gb_cuda_attention_join_args args = {
        .dst = node->data,
        .columns = gb_cuda_columns_for(emit, node),
        .parts = (const float *)emit->scratch,
        .d = node->ne[0],
        .n_rows = ggml_nrows(node),
        .n_parts = n_parts,
    };

    GB_CUDA_LAUNCH(emit, gb_attention_join,
                   gb_cuda_blocks(ggml_nelements(node), 256), 0, &args);
}

static void
attention_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_attention_args args = tiles_of(emit->limits, node);

    args.q = gb_cuda_arg(node->src[0]);
    args.k = gb_cuda_arg(node->src[1]);
    args.v = gb_cuda_arg(node->src[2]);
    args.k_format = formats[node->src[1]->type];
    args.v_format = formats[node->src[2]->type];
    args.k_is_aligned = is_aligned(node->src[1]);
    args.v_is_aligned = is_aligned(node->src[2]);
    args.has_mask = node->src[3] != NULL;
    if (args.has_mask)
        args.mask = gb_cuda_arg(node->src[3]);
    args.dst = node->data;
    args.parts = (float *)emit->scratch;
    args.scale = gb_cuda_param_f32(node, 0);
    args.max_bias = gb_cuda_param_f32(node, 1);
    args.softcap = gb_cuda_param_f32(node, 2);
    if (args.softcap != 0.0f)
        args.scale /= args.softcap;

    if (rows_of_tile(&args) == DECODE_ROWS)
        GB_CUDA_LAUNCH(emit, gb_attention_decode,
                       gb_cuda_blocks(args.n_tiles, 1), 0, &args);
    else
        GB_CUDA_LAUNCH(emit, gb_attention_prefill,
                       gb_cuda_blocks(args.n_tiles, 1), 0, &args);
    if (args.n_parts > 1)
        emit_join(emit, node, args.n_parts);
}

const struct gb_cuda_op gb_cuda_op_attention = {
    .supports = attention_supports,
    .scratch = attention_scratch,
    .emit = attention_emit,
};
