/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/attention-prefill.c - prefill: attention of 12 to 256 queries.
 *
 * Queries of the tile are transposed once, so that each is a lane of a vector.
 * Then for each block of 64 keys (kernels/attention/prefill.c):
 *   1. the block masks of all tokens are read; a block whose keys are hidden
 *      from all of them is left out: about half of all with a causal mask;
 *   2. its keys and values are converted to F32, unless they are, once for all
 *      queries;
 *   3. prefill_keys multiplies, goes on with the online softmax of attention.c
 *      and adds up values.
 *
 * A block mask is a byte for a token and a block: behind which key everything
 * is hidden, and whether all values are 0, so that the mask need not be read.
 * It is the same for all heads, so it is computed once, in the prepare phase.
 *
 * Exponentials have base 2: the slopes and the queries, or the softcap, are
 * multiplied with log2(e) beforehand, which saves a multiplication for each
 * score.
 *
 * Accuracy  F32 throughout.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/attention.h"
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/rows.h"

#define LOG2_E 1.44269504f

/* Rows of more elements would have more floats, padded to 16 and for 256
 * queries, than an int64_t counts. */
#define LONGEST_ROW (INT64_MAX / GB_PREFILL_QUERIES - 15)

/* Bytes of the arrays in a thread's scratch, in this order; panels are there
 * twice, for the transposed queries and for their sums of values. */
struct room {
    size_t masks; /* struct gb_block_mask for each token */
    size_t panels;
    size_t scores; /* of a block for all queries; and as many mask values */
    size_t keys;   /* a block as F32; 0 if used in place */
    size_t values;
};

static struct room
room_of(const struct ggml_tensor *node)
{
    const int64_t d = node->ne[0];
    const size_t rows = gb_attention_lines(GB_PREFILL_KEYS, d);
    struct room room;

    room.masks = GB_PREFILL_QUERIES * sizeof(struct gb_block_mask);
    room.masks = (room.masks + 63) & ~(size_t)63;
    room.panels = d <= LONGEST_ROW
                      ? gb_mul_or_max(gb_prefill_floats(d), sizeof(float))
                      : SIZE_MAX;
    room.scores = gb_attention_lines(2 * GB_PREFILL_QUERIES, GB_PREFILL_KEYS);
    room.keys = gb_attention_is_plain(node->src[1]) ? 0 : rows;
    room.values = gb_attention_is_plain(node->src[2]) ? 0 : rows;
    return room;
}

size_t
gb_attention_prefill_scratch(const struct ggml_tensor *node)
{
    const struct room room = room_of(node);

    const size_t panels = gb_mul_or_max(room.panels, 2);
    const size_t rows = gb_add_or_max(room.keys, room.values);

    return gb_add_or_max(gb_add_or_max(room.masks, room.scores),
                         gb_add_or_max(panels, rows));
}

/* Blocks of keys, the last one perhaps shorter. */
static int64_t
blocks_of(const struct ggml_tensor *node)
{
    return gb_cpu_ceil_div(node->src[1]->ne[1], GB_PREFILL_KEYS);
}

/* Tokens in a tile of the prepare phase: about GB_CPU_TILE_ELEMENTS values of
 * the mask. */
static int64_t
mask_step(const struct ggml_tensor *node)
{
    return GB_CPU_TILE_ELEMENTS / (node->src[1]->ne[1] + 1) + 1;
}

size_t
gb_attention_mask_bytes(const struct ggml_tensor *node)
{
    return node->src[3] == NULL
               ? 0
               : gb_mul_or_max((size_t)node->src[0]->ne[1],
                               (size_t)blocks_of(node));
}

int64_t
gb_attention_mask_tiles(const struct ggml_tensor *node)
{
    return node->src[3] == NULL
               ? 0
               : gb_cpu_ceil_div(node->src[0]->ne[1], mask_step(node));
}

void
gb_attention_mask_blocks(const struct gb_cpu_task *task, int64_t tile,
                         uint8_t *summaries)
{
    const struct ggml_tensor *node = task->node;
    const int64_t step = mask_step(node);
    const int64_t end = gb_cpu_min((tile + 1) * step, node->src[0]->ne[1]);

    for (int64_t i = tile * step; i < end; i++)
        task->k->mask_blocks(
            node->src[1]->ne[1],
            (const uint16_t *)(const void *)gb_cpu_row_ptr(
                node->src[3], i, 0, 0),
            summaries + i * blocks_of(node));
}

/* Collect the mask and the block mask of each token for the block that begins
 * with KEY.  False if all its keys are hidden from all tokens. */
static bool
read_masks(const struct gb_attention *t, int64_t key,
           struct gb_block_mask *masks)
{
    const struct ggml_tensor *node = t->task->node;
    const int64_t blocks = blocks_of(node);
    const uint8_t *summary =
        t->block_masks + t->first_token * blocks + key / GB_PREFILL_KEYS;
    bool is_seen = false;

    for (int64_t i = 0; i < t->tokens; i++, summary += blocks) {
        const char *row =
            gb_cpu_row_ptr(node->src[3], t->first_token + i, 0, 0);

        masks[i].values = (const uint16_t *)(const void *)row + key;
        masks[i].summary = *summary;
        if ((*summary & GB_BLOCK_MASK_END) > 0)
            is_seen = true;
    }
    return is_seen;
}

/* Transpose the queries and begin their online softmax.  The factors scale and
 * log2(e) go into the queries; with a softcap only the scale does, and log2(e)
 * into the softcap, since tanh is between the two. */
static void
begin(const struct gb_attention *t, struct gb_prefill *a)
{
    const float *rows[GB_PREFILL_QUERIES];
    float scale = t->scale;

    if (t->softcap != 0.0f)
        a->cap = t->softcap * LOG2_E;
    else
        scale *= LOG2_E;
    for (int64_t c = 0; c < t->n; c++) {
        rows[c] = gb_attention_query(t, c);
        a->slope[c] = gb_attention_slope(t, c) * LOG2_E;
    }
    t->task->k->prefill_begin(a, rows, scale);
}

/* Put the sums of values where they belong, transposed back: divided by the
 * sums of exponentials, which finishes the queries; or, with several parts, as
 * they are, with maximum and sum for the join. */
static void
end(const struct gb_attention *t, const struct gb_prefill *a)
{
    float *rows[GB_PREFILL_QUERIES];

    for (int64_t c = 0; c < t->n; c++)
        rows[c] = gb_attention_sums(t, c);
    t->task->k->prefill_sums(a, rows, t->parts == 1);
    for (int64_t c = 0; c < t->n && t->parts > 1; c++)
        gb_attention_done(t, c, a->max[c], a->sum[c]);
}

void
gb_attention_prefill(const struct gb_attention *t)
{
    const struct ggml_tensor *node = t->task->node;
    const bool has_mask = node->src[3] != NULL;
    const struct room room = room_of(node);
    char *place = t->task->scratch;
    struct gb_block_mask *masks = (void *)place;
    struct gb_prefill a = { .d = t->d, .n = t->n, .per_mask = t->heads };
    float *key_rows;
    float *value_rows;

    a.queries = (void *)(place += room.masks);
    a.sums = (void *)(place += room.panels);
    a.scores = (void *)(place += room.panels);
    a.masks = a.scores + GB_PREFILL_QUERIES * GB_PREFILL_KEYS;
    key_rows = (void *)(place += room.scores);
    value_rows = (void *)(place + room.keys);
    begin(t, &a);
    for (int64_t key = t->first_key; key < t->end_key; key += GB_PREFILL_KEYS) {
        const int64_t n = gb_cpu_min(GB_PREFILL_KEYS, t->end_key - key);
        const float *k;
        const float *v;
        int64_t k_step;
        int64_t v_step;

        if (has_mask && !read_masks(t, key, masks))
            continue;
        k = gb_attention_rows(
            t, node->src[1], t->keys, key, n, key_rows, &k_step);
        v = gb_attention_rows(
            t, node->src[2], t->values, key, n, value_rows, &v_step);
        t->task->k->prefill_keys(
            &a, n, k, k_step, v, v_step, has_mask ? masks : NULL);
    }
    end(t, &a);
}
