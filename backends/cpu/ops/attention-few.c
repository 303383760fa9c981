/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/attention-few.c - attention of a few queries: generation.
 *
 * Keys and values are used once, so it is memory that has to be waited for:
 * float types are read where they lie, and what comes a block later is fetched.
 */
#include "backends/cpu/ops/attention.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/rows.h"

#include <math.h>
#include <string.h>

#define BLOCK   GB_ATTEND_KEYS /* keys that are looked at at a time */
#define QUERIES GB_ATTENTION_MANY
#define LOG2_E  1.44269504f

/* Where a thread's memory goes; all parts are whole cache lines. */
struct room {
    size_t scores;
    size_t masks;
    size_t rows; /* a block of keys or values that cannot be used in place */
};

static bool
is_in_place(const struct ggml_tensor *t)
{
    return gb_cpu_is_float(t->type);
}

static struct room
room_of(const struct ggml_tensor *node)
{
    struct room room;

    room.scores = gb_attention_lines(QUERIES * BLOCK);
    room.masks = gb_attention_lines(QUERIES * BLOCK);
    room.rows = is_in_place(node->src[1]) && is_in_place(node->src[2])
                    ? 0
                    : gb_attention_lines(BLOCK * node->ne[0]);
    return room;
}

size_t
gb_attention_few_scratch(const struct ggml_tensor *node)
{
    const struct room room = room_of(node);

    return room.scores + room.masks + room.rows;
}

/* A tile's work. */
struct few {
    const struct gb_attention *t;
    float max[QUERIES]; /* the largest s so far */
    float sum[QUERIES]; /* of exp(s - max) */
    float slope[QUERIES];
    float *queries[QUERIES];
    float *sums[QUERIES];
    float *scores[QUERIES];
    float *masks; /* BLOCK floats for each token */
    float *rows;
};

/* Nothing seen so far. */
static void
begin(struct few *few)
{
    const struct gb_attention *t = few->t;
    const struct room room = room_of(t->task->node);
    float *scores = t->task->scratch;

    few->masks = (float *)(void *)((char *)scores + room.scores);
    few->rows = (float *)(void *)((char *)few->masks + room.masks);
    for (int64_t c = 0; c < t->n; c++) {
        few->max[c] = -INFINITY;
        few->sum[c] = 0.0f;
        few->slope[c] = gb_attention_slope(t, c);
        few->queries[c] = (float *)gb_attention_query(t, c);
        few->sums[c] = gb_attention_sums(t, c);
        few->scores[c] = scores + c * BLOCK;
        memset(few->sums[c], 0, (size_t)t->d * sizeof(float));
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

/* Turn N products of query C into weights of its values. */
static void
weigh(struct few *few, int64_t c, int64_t n)
{
    const struct gb_attention *t = few->t;
    const struct gb_cpu_kernels *k = t->task->k;
    const float *mask = t->task->node->src[3] != NULL
                            ? few->masks + c / t->heads * BLOCK
                            : NULL;
    float *const scores = few->scores[c];
    float scale = t->scale;
    float max;

    if (t->softcap != 0.0f) {
        k->scale_f32(n, scores, scores, scale);
        k->tanh_f32(n, scores, scores);
        scale = t->softcap;
    }
    max = k->scale_mask_max_f32(
        n, scores, scores, mask, scale, few->slope[c]);
    if (max == -INFINITY) {
        memset(scores, 0, (size_t)n * sizeof(*scores));
        return;
    }
    if (max > few->max[c]) {
        const float factor = expf(few->max[c] - max);

        k->scale_f32(t->d, few->sums[c], few->sums[c], factor);
        few->sum[c] *= factor;
        few->max[c] = max;
    }
    few->sum[c] += (float)k->exp_sum_f32(n, scores, scores, few->max[c]);
}

/* N rows from ROW on of K or V, and the vectors that they meet. */
static struct gb_attend_few
meeting(const struct few *few, const struct ggml_tensor *of, const char *rows,
        int64_t row, int64_t n, float *const *vectors)
{
    struct gb_attend_few a = {
        .type = of->type,
        .d = few->t->d,
        .n = n,
        .rows = rows + (size_t)row * of->nb[1],
        .pitch = of->nb[1],
        .n_vectors = few->t->n,
        .vectors = vectors,
        .weights = few->scores,
    };

    if (is_in_place(of)) {
        a.ahead = BLOCK * a.pitch;
        return a;
    }
    a.type = GGML_TYPE_F32;
    a.pitch = (size_t)a.d * sizeof(float);
    for (int64_t j = 0; j < n; j++)
        gb_cpu_convert(few->t->task->k, of->type, GGML_TYPE_F32, a.d,
                       few->rows + j * a.d, a.rows + (size_t)j * of->nb[1]);
    a.rows = (const char *)few->rows;
    return a;
}

/* What N keys from KEY on do to the queries. */
static void
add_keys(struct few *few, int64_t key, int64_t n)
{
    const struct gb_attention *t = few->t;
    const struct ggml_tensor *const *src =
        (const struct ggml_tensor *const *)t->task->node->src;
    const struct gb_attend_few dots =
        meeting(few, src[1], t->keys, key, n, few->queries);
    struct gb_attend_few sums;

    t->task->k->attend_few_dots(&dots);
    for (int64_t c = 0; c < t->n; c++)
        weigh(few, c, n);
    sums = meeting(few, src[2], t->values, key, n, few->sums);
    t->task->k->attend_few_sums(&sums);
}

void
gb_attention_few(const struct gb_attention *t)
{
    struct few few = { .t = t };

    begin(&few);
    for (int64_t key = t->first_key; key < t->end_key; key += BLOCK) {
        const int64_t left = t->end_key - key;
        const int64_t n = left < BLOCK ? left : BLOCK;

        if (read_mask(&few, key, n))
            add_keys(&few, key, n);
    }
    for (int64_t c = 0; c < t->n; c++)
        gb_attention_done(t, c, few.max[c] * LOG2_E, few.sum[c]);
}
