/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/attention-few.c - attention of a few queries: generation.
 */
#include "backends/cpu/ops/attention.h"
#include "backends/cpu/ops/rows.h"

#include <math.h>
#include <string.h>

#define BLOCK   64 /* keys that are looked at at a time */
#define QUERIES GB_ATTENTION_MANY
#define LOG2_E  1.44269504f

/* Where a thread's memory goes; all parts are whole cache lines. */
struct room {
    size_t column; /* bytes of a query as a column, 0 if it is used in place */
    size_t columns;
    size_t scores;
    size_t masks;
    size_t values; /* none when they are used in place */
};

static struct room
room_of(const struct ggml_tensor *node)
{
    const struct gb_layout *layout =
        &gb_cpu_kernels()->weight(node->src[1]->type)->layout;
    const int64_t d = node->ne[0];
    struct room room;

    room.column = layout->piece == 0 ? 0 : gb_column_bytes(layout, d);
    room.columns = room.column * QUERIES;
    room.scores = gb_attention_lines(QUERIES * BLOCK);
    room.masks = gb_attention_lines(QUERIES * BLOCK);
    room.values = gb_attention_is_plain(node->src[2])
                      ? 0
                      : gb_attention_lines(BLOCK * d);
    return room;
}

size_t
gb_attention_few_scratch(const struct ggml_tensor *node)
{
    const struct room room = room_of(node);

    return GB_PRODUCT_SCRATCH + room.columns + room.scores + room.masks +
           room.values;
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
struct few {
    const struct gb_attention *t;
    struct query query[QUERIES];
    const void *columns[QUERIES];
    float *scores[QUERIES];
    float *masks; /* BLOCK floats for each token */
    float *value_rows;
};

/* Queries as columns, and nothing seen so far. */
static void
place_queries(struct few *few)
{
    const struct gb_attention *t = few->t;
    const struct gb_cpu_task *task = t->task;
    const struct gb_layout *layout =
        &task->k->weight(task->node->src[1]->type)->layout;
    const struct room room = room_of(task->node);
    char *column = (char *)task->scratch + GB_PRODUCT_SCRATCH;
    float *scores = (float *)(void *)(column + room.columns);

    few->masks = (float *)(void *)((char *)scores + room.scores);
    few->value_rows = (float *)(void *)((char *)few->masks + room.masks);
    for (int64_t c = 0; c < t->n; c++) {
        const float *row = gb_attention_query(t, c);
        struct query *query = &few->query[c];

        few->columns[c] = row;
        if (room.column > 0) {
            task->k->column(layout, t->d, row, GGML_TYPE_F32, column);
            few->columns[c] = column;
            column += room.column;
        }
        few->scores[c] = scores + c * BLOCK;
        query->max = -INFINITY;
        query->sum = 0.0f;
        query->values = gb_attention_sums(t, c);
        query->slope = gb_attention_slope(t, c);
        query->token = c / t->heads;
        memset(query->values, 0, (size_t)t->d * sizeof(float));
    }
}

/* The mask for N keys from KEY on, as floats; can any query see any of them? */
static bool
read_mask(const struct few *few, int64_t key, int64_t n)
{
    const struct gb_attention *t = few->t;
    const struct ggml_tensor *mask = t->task->node->src[3];
    bool is_seen = false;

    if (mask == NULL)
        return true;
    for (int64_t i = 0; i < t->tokens; i++) {
        const char *row = gb_cpu_row_ptr(mask, t->first_token + i, 0, 0);
        float *floats = few->masks + i * BLOCK;

        t->task->k->f16_to_f32(
            n, floats, (const uint16_t *)(const void *)row + key);
        if (t->task->k->max_f32(n, floats) > -INFINITY)
            is_seen = true;
    }
    return is_seen;
}

/* Turn N products of a query into weights of its values. */
static void
weigh(const struct few *few, struct query *query, float *scores, int64_t n)
{
    const struct gb_attention *t = few->t;
    const struct gb_cpu_kernels *k = t->task->k;
    const float *mask = t->task->node->src[3] != NULL
                            ? few->masks + query->token * BLOCK
                            : NULL;
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

/* What N keys from KEY on do to the queries. */
static void
add_keys(struct few *few, int64_t key, int64_t n)
{
    const struct gb_attention *t = few->t;
    const struct gb_cpu_kernels *k = t->task->k;
    const struct ggml_tensor *keys = t->task->node->src[1];
    const struct ggml_tensor *values = t->task->node->src[2];
    const void *weights[QUERIES];
    float *sums[QUERIES];
    int64_t step;
    struct gb_product product = {
        .k = t->d,
        .rows = n,
        .cols = t->n,
        .weights = t->keys + (size_t)key * keys->nb[1],
        .pitch = keys->nb[1],
        .columns = few->columns,
        .dst = few->scores,
        .scratch = t->task->scratch,
    };

    k->product(k->weight(keys->type), &product);
    for (int64_t c = 0; c < t->n; c++) {
        weigh(few, &few->query[c], few->scores[c], n);
        weights[c] = few->scores[c];
        sums[c] = few->query[c].values;
    }
    product.k = n;
    product.rows = t->d;
    product.weights = gb_attention_rows(
        t, values, t->values, key, n, few->value_rows, &step);
    product.pitch = (size_t)step * sizeof(float);
    product.columns = weights;
    product.dst = sums;
    k->outer(&product, true);
}

void
gb_attention_few(const struct gb_attention *t)
{
    struct few few = { .t = t };

    place_queries(&few);
    for (int64_t key = t->first_key; key < t->end_key; key += BLOCK) {
        const int64_t left = t->end_key - key;
        const int64_t n = left < BLOCK ? left : BLOCK;

        if (read_mask(&few, key, n))
            add_keys(&few, key, n);
    }
    for (int64_t c = 0; c < t->n; c++)
        gb_attention_done(
            t, c, few.query[c].max * LOG2_E, few.query[c].sum);
}
