/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/attention.c - attention in one operation.
 */
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"
#include "backends/cpu/ops/slope.h"

#include <math.h>
#include <string.h>

/*
 * Attention of queries to keys and values.
 *
 *   src0   q, F32 [d, N, H, b]; rows dense, any other strides
 *   src1   k, any weights' type, [d, M, Hk, bk]; likewise
 *   src2   v, any type that can be read, [d, M or more, Hv, bv]; likewise
 *   src3   mask, F16 [M or more, N or more], or NULL
 *   dst    F32 [d, H, N, b], contiguous
 *   params scale, max_bias, softcap
 *
 * For head h and token n, with z the products of q and the keys:
 *     s = scale * z, or softcap * tanh(scale / softcap * z), + slope(h) * mask
 *     dst = the sum of softmax(s)[j] * v[j]
 * A token that sees no key gets zeros.
 *
 * Keys are taken a block at a time: with the largest s so far the sums are what
 * a softmax over these keys needs, and are scaled down when a larger s appears.
 * All heads that share a key head, and some tokens, go through it together.
 *
 * Threads   tiles are some tokens and heads and, where there would be too few
 *           tiles, a part of the keys; parts are joined in their order.
 * Accuracy  q is rounded to what k's type is multiplied with; else float.
 * Source    one pass: "Online normalizer calculation for softmax" (arXiv
 *           1805.02867); blocks: "FlashAttention" (arXiv 2205.14135).
 */

#define MAX_COLS     48  /* queries in a tile: heads times tokens */
#define BLOCK        64  /* keys that are looked at at a time */
#define PART         256 /* keys that are worth a tile, a multiple of a block */
#define TILES_WANTED 16

/* How the work is cut. */
struct cut {
    int64_t heads;       /* in a tile, all of one key head and one value head */
    int64_t tokens;      /* in a tile */
    int64_t group;       /* heads that share a key and a value head */
    int64_t head_tiles;  /* in a group */
    int64_t token_tiles;
    int64_t part;        /* keys in a tile */
    int64_t parts;
    int64_t tiles;
};

static int64_t
pieces(int64_t n, int64_t step)
{
    return (n + step - 1) / step;
}

static int64_t
min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Heads that share both a key head and a value head. */
static int64_t
group_of(int64_t heads, int64_t key_heads, int64_t value_heads)
{
    const int64_t by_key = heads / key_heads;
    const int64_t by_value = heads / value_heads;
    const int64_t smaller = min_of(by_key, by_value);

    return by_key % smaller == 0 && by_value % smaller == 0 ? smaller : 1;
}

static struct cut
cut_of(const struct ggml_tensor *node)
{
    const struct ggml_tensor *q = node->src[0];
    const struct ggml_tensor *k = node->src[1];
    struct cut cut;
    int64_t tiles;

    cut.group = group_of(q->ne[2], k->ne[2], node->src[2]->ne[2]);
    cut.heads = min_of(cut.group, MAX_COLS);
    cut.head_tiles = pieces(cut.group, cut.heads);
    cut.tokens = min_of(q->ne[1], MAX_COLS / cut.heads);
    cut.token_tiles = pieces(q->ne[1], cut.tokens);
    tiles = cut.token_tiles * cut.head_tiles * (q->ne[2] / cut.group) *
            q->ne[3];
    cut.parts = 1;
    cut.part = k->ne[1];
    if (tiles < TILES_WANTED && k->ne[1] > PART) {
        cut.part = pieces(k->ne[1], pieces(TILES_WANTED, tiles));
        cut.part = pieces(cut.part, PART) * PART;
        cut.parts = pieces(k->ne[1], cut.part);
    }
    cut.tiles = tiles * cut.parts;
    return cut;
}

/* What one part of the keys gives for one query: the largest s, the sum of the
 * exponentials, and as many sums of values as there are elements. */
#define PART_FLOATS(d) ((d) + 2)

static bool
attention_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *q = node->src[0];
    const struct ggml_tensor *k = node->src[1];
    const struct ggml_tensor *v = node->src[2];
    const struct ggml_tensor *mask = node->src[3];

    return q->type == GGML_TYPE_F32 && gb_cpu_is_dense(q) &&
           gb_cpu_is_dense(k) && gb_cpu_kernels()->weight(k->type) != NULL &&
           gb_cpu_is_dense(v) && gb_cpu_can_read(v) &&
           node->type == GGML_TYPE_F32 && ggml_is_contiguous(node) &&
           (mask == NULL ||
            (mask->type == GGML_TYPE_F16 && gb_cpu_is_dense(mask)));
}

static int64_t
attention_tiles(const struct ggml_tensor *node)
{
    return cut_of(node).tiles;
}

/* Where a thread's memory goes; all parts are whole cache lines. */
struct room {
    size_t column; /* bytes of a query as a column, 0 if it is used in place */
    size_t columns;
    size_t scores;
    size_t masks;
    size_t sums;
    size_t values; /* none when they are used in place */
    size_t total;
};

static bool
is_plain(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && t->nb[1] % sizeof(float) == 0;
}

static size_t
lines(int64_t floats)
{
    return ((size_t)floats * sizeof(float) + 63) & ~(size_t)63;
}

static struct room
room_of(const struct ggml_tensor *node)
{
    const struct gb_layout *layout =
        &gb_cpu_kernels()->weight(node->src[1]->type)->layout;
    const int64_t d = node->ne[0];
    struct room room;

    room.column = layout->piece == 0 ? 0 : gb_column_bytes(layout, d);
    room.columns = room.column * MAX_COLS;
    room.scores = lines(MAX_COLS * BLOCK);
    room.masks = lines(MAX_COLS * BLOCK);
    room.sums = lines(MAX_COLS * PART_FLOATS(d));
    room.values = is_plain(node->src[2]) ? 0 : lines(BLOCK * d);
    room.total = GB_PRODUCT_SCRATCH + room.columns + room.scores +
                 room.masks + room.sums + room.values;
    return room;
}

static size_t
attention_scratch(const struct ggml_tensor *node)
{
    return room_of(node).total;
}

/* Results of parts, when there are several: by part, batch, token and head. */
static size_t
attention_shared(const struct ggml_tensor *node)
{
    const struct cut cut = cut_of(node);

    if (cut.parts == 1)
        return 0;
    return (size_t)(cut.parts * ggml_nrows(node) *
                    PART_FLOATS(node->ne[0])) *
           sizeof(float);
}

/* One query of a tile. */
struct query {
    float max;     /* the largest s so far */
    float sum;     /* of exp(s - max) */
    float *values; /* the sum of exp(s - max) * v */
    float slope;
    int64_t token; /* in the tile */
};

/* A tile's work. */
struct tile {
    const struct gb_cpu_task *task;
    int64_t d;
    int64_t batch;
    int64_t first_head;
    int64_t heads;
    int64_t first_token;
    int64_t tokens;
    int64_t part; /* which */
    int64_t first_key;
    int64_t end_key;
    const char *keys; /* key 0 of the head, and value 0 */
    const char *values;
    float scale;
    float softcap;
    /* Queries: heads of the first token, heads of the second and so on. */
    int64_t n;
    struct query query[MAX_COLS];
    const void *columns[MAX_COLS];
    float *scores[MAX_COLS];
    float *masks; /* BLOCK floats for each token */
    float *value_rows;
};

/* A head's matrix in T, whose heads and batches are shared by H and B of
 * them. */
static const char *
matrix_of(const struct ggml_tensor *t, const struct ggml_tensor *q,
          int64_t head, int64_t batch)
{
    return gb_cpu_row_ptr(t, 0, head / (q->ne[2] / t->ne[2]),
                          batch / (q->ne[3] / t->ne[3]));
}

static void
place_tile(struct tile *t, int64_t number)
{
    const struct ggml_tensor *node = t->task->node;
    const struct ggml_tensor *q = node->src[0];
    const struct cut cut = cut_of(node);
    const int64_t groups = q->ne[2] / cut.group;
    int64_t group;
    int64_t in_group;

    t->first_token = number % cut.token_tiles * cut.tokens;
    number /= cut.token_tiles;
    in_group = number % cut.head_tiles * cut.heads;
    number /= cut.head_tiles;
    group = number % groups;
    number /= groups;
    t->part = number % cut.parts;
    t->batch = number / cut.parts;
    t->d = node->ne[0];
    t->first_head = group * cut.group + in_group;
    t->heads = min_of(cut.heads, cut.group - in_group);
    t->tokens = min_of(cut.tokens, q->ne[1] - t->first_token);
    t->first_key = t->part * cut.part;
    t->end_key = min_of(t->first_key + cut.part, node->src[1]->ne[1]);
    t->keys = matrix_of(node->src[1], q, t->first_head, t->batch);
    t->values = matrix_of(node->src[2], q, t->first_head, t->batch);
    t->softcap = gb_cpu_param_f32(node, 2);
    t->scale = gb_cpu_param_f32(node, 0);
    if (t->softcap != 0.0f)
        t->scale /= t->softcap;
}

/* Queries as columns, and nothing seen so far. */
static void
place_queries(struct tile *t)
{
    const struct gb_cpu_task *task = t->task;
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *q = node->src[0];
    const struct gb_layout *layout =
        &task->k->weight(node->src[1]->type)->layout;
    const struct room room = room_of(node);
    char *column = (char *)task->scratch + GB_PRODUCT_SCRATCH;
    float *scores = (float *)(void *)(column + room.columns);
    float *sums = (float *)(void *)((char *)scores + room.scores + room.masks);

    t->masks = (float *)(void *)((char *)scores + room.scores);
    t->value_rows = (float *)(void *)((char *)sums + room.sums);
    t->n = t->tokens * t->heads;
    for (int64_t c = 0; c < t->n; c++) {
        const int64_t head = t->first_head + c % t->heads;
        const int64_t token = c / t->heads;
        const char *row = gb_cpu_row_ptr(
            q, t->first_token + token, head, t->batch);
        struct query *query = &t->query[c];

        t->columns[c] = row;
        if (room.column > 0) {
            task->k->column(layout, t->d, row, q->type, column);
            t->columns[c] = column;
            column += room.column;
        }
        t->scores[c] = scores + c * BLOCK;
        query->max = -INFINITY;
        query->sum = 0.0f;
        query->values = sums + c * PART_FLOATS(t->d);
        query->slope =
            gb_cpu_slope(gb_cpu_param_f32(node, 1), q->ne[2], head);
        query->token = token;
        memset(query->values, 0, (size_t)t->d * sizeof(float));
    }
}

/* The mask for N keys from KEY on, as floats; can any query see any of them? */
static bool
read_mask(const struct tile *t, int64_t key, int64_t n)
{
    const struct ggml_tensor *mask = t->task->node->src[3];
    bool is_seen = false;

    if (mask == NULL)
        return true;
    for (int64_t i = 0; i < t->tokens; i++) {
        const char *row = gb_cpu_row_ptr(mask, t->first_token + i, 0, 0);
        float *floats = t->masks + i * BLOCK;

        t->task->k->f16_to_f32(
            n, floats, (const uint16_t *)(const void *)row + key);
        if (t->task->k->max_f32(n, floats) > -INFINITY)
            is_seen = true;
    }
    return is_seen;
}

/* Turn N products of a query into weights of its values. */
static void
weigh(const struct tile *t, struct query *query, float *scores, int64_t n)
{
    const struct gb_cpu_kernels *k = t->task->k;
    const float *mask =
        t->task->node->src[3] != NULL ? t->masks + query->token * BLOCK : NULL;
    float scale = t->scale;
    float max;

    if (t->softcap != 0.0f) {
        k->scale_f32(n, scores, scores, scale);
        k->tanh_f32(n, scores, scores);
        scale = t->softcap;
    }
    max = k->scale_mask_max_f32(
        n, scores, scores, mask, scale, query->slope);
    if (max == -INFINITY) {
        memset(scores, 0, (size_t)n * sizeof(*scores));
        return;
    }
    if (max > query->max) {
        const float factor = expf(query->max - max);

        k->scale_f32(t->d, query->values, query->values, factor);
        query->sum *= factor;
        query->max = max;
    }
    query->sum += (float)k->exp_sum_f32(n, scores, scores, query->max);
}

/* Values of N keys from KEY on, as rows of floats; *PITCH is their distance. */
static const void *
read_values(const struct tile *t, int64_t key, int64_t n, size_t *pitch)
{
    const struct ggml_tensor *v = t->task->node->src[2];
    const char *rows = t->values + (size_t)key * v->nb[1];

    if (is_plain(v)) {
        *pitch = v->nb[1];
        return rows;
    }
    *pitch = (size_t)t->d * sizeof(float);
    for (int64_t j = 0; j < n; j++)
        gb_cpu_convert(t->task->k, v->type, GGML_TYPE_F32, t->d,
                       t->value_rows + j * t->d, rows + (size_t)j * v->nb[1]);
    return t->value_rows;
}

/* What N keys from KEY on do to the queries. */
static void
add_keys(struct tile *t, int64_t key, int64_t n)
{
    const struct gb_cpu_kernels *k = t->task->k;
    const struct ggml_tensor *keys = t->task->node->src[1];
    const void *weights[MAX_COLS];
    float *sums[MAX_COLS];
    struct gb_product product = {
        .k = t->d,
        .rows = n,
        .cols = t->n,
        .weights = t->keys + (size_t)key * keys->nb[1],
        .pitch = keys->nb[1],
        .columns = t->columns,
        .dst = t->scores,
        .scratch = t->task->scratch,
    };

    k->product(k->weight(keys->type), &product);
    for (int64_t c = 0; c < t->n; c++) {
        weigh(t, &t->query[c], t->scores[c], n);
        weights[c] = t->scores[c];
        sums[c] = t->query[c].values;
    }
    product.k = n;
    product.rows = t->d;
    product.weights = read_values(t, key, n, &product.pitch);
    product.columns = weights;
    product.dst = sums;
    k->outer(&product, true);
}

/* Which of the node's rows a query's result is. */
static int64_t
row_of(const struct tile *t, int64_t c)
{
    const struct ggml_tensor *node = t->task->node;

    return t->first_head + c % t->heads +
           node->ne[1] * (t->first_token + c / t->heads +
                          node->ne[2] * t->batch);
}

static float *
part_at(const struct gb_cpu_task *task, int64_t part, int64_t row)
{
    return (float *)task->shared + (part * ggml_nrows(task->node) + row) *
                                       PART_FLOATS(task->node->ne[0]);
}

/* dst = values / sum; nothing seen makes zeros. */
static void
write_result(const struct gb_cpu_task *task, int64_t row, float sum,
             const float *values)
{
    const int64_t d = task->node->ne[0];

    task->k->scale_f32(d, (float *)task->node->data + row * d, values,
                       sum > 0.0f ? 1.0f / sum : 0.0f);
}

static enum ggml_status
attention_run(const struct gb_cpu_task *task, int64_t number)
{
    const bool is_whole = cut_of(task->node).parts == 1;
    struct tile t = { .task = task };

    place_tile(&t, number);
    place_queries(&t);
    for (int64_t key = t.first_key; key < t.end_key; key += BLOCK) {
        const int64_t n = min_of(BLOCK, t.end_key - key);

        if (read_mask(&t, key, n))
            add_keys(&t, key, n);
    }
    for (int64_t c = 0; c < t.n; c++) {
        const struct query *query = &t.query[c];

        if (is_whole) {
            write_result(task, row_of(&t, c), query->sum, query->values);
        } else {
            float *part = part_at(task, t.part, row_of(&t, c));

            part[0] = query->max;
            part[1] = query->sum;
            memcpy(part + 2, query->values, (size_t)t.d * sizeof(float));
        }
    }
    return GGML_STATUS_SUCCESS;
}

/* Join the parts of each row. */
static enum ggml_status
attention_finish(const struct gb_cpu_task *task, int64_t tile)
{
    const int64_t parts = cut_of(task->node).parts;
    const int64_t d = task->node->ne[0];

    (void)tile;
    for (int64_t row = 0; parts > 1 && row < ggml_nrows(task->node); row++) {
        float *first = part_at(task, 0, row);
        float max = first[0];
        float sum = 0.0f;

        for (int64_t i = 1; i < parts; i++)
            max = fmaxf(max, part_at(task, i, row)[0]);
        for (int64_t i = 0; i < parts; i++) {
            const float *part = part_at(task, i, row);
            const float factor =
                part[0] > -INFINITY ? expf(part[0] - max) : 0.0f;

            sum += part[1] * factor;
            if (i == 0)
                task->k->scale_f32(d, first + 2, part + 2, factor);
            else
                task->k->add_scaled_f32(d, first + 2, part + 2, factor);
        }
        write_result(task, row, sum, first + 2);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_attention = {
    .can_run = attention_can_run,
    .tiles = attention_tiles,
    .scratch = attention_scratch,
    .shared = attention_shared,
    .run = attention_run,
    .finish = attention_finish,
};
