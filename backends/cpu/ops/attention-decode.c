/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/attention-decode.c - decode: attention of one or few tokens to a long
 * cache of keys and values.
 *
 * Each key and value is used once, so that the bandwidth of the memory is the
 * limit.  A tile therefore has all heads: it takes a block of 64 keys, computes
 * it for one group of heads after another, whose rows are usually next to each
 * other in memory, and meanwhile prefetches the next block in the order of
 * addresses.
 *
 * For each block, group and query, with the online softmax of attention.c:
 *     scores[j] = query * key[j]                 decode_scores
 *     weights[j] = exp(s[j] - max)               weigh(), in place
 *     sums += weights[j] * value[j]              decode_values
 *
 * F32, F16, BF16, Q8_0 and Q4_0 are read in their own type; rows of other types
 * are converted to F32, a block at a time.
 *
 * Accuracy  F32 throughout.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/attention.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/rows.h"

#include <math.h>
#include <string.h>

#define BLOCK   GB_PREFILL_KEYS /* keys between two steps of the softmax */
#define QUERIES GB_ATTENTION_PREFILL
#define LOG2_E  1.44269504f

/* The queries of one group of heads, fewer than QUERIES, and the state of their
 * online softmax. */
struct decode {
    struct gb_attention t;
    struct gb_decode keys; /* of all keys; block_of() makes a block of it */
    struct gb_decode values;
    float max[QUERIES];      /* the largest s so far */
    float sum[QUERIES];      /* of exp(s - max) */
    float slope[QUERIES];    /* of the query's head */
    float *queries[QUERIES]; /* rows of src0 */
    float *sums[QUERIES];    /* of exp(s - max) * v, D floats */
};

/* A thread's scratch; each array begins on a cache line. */
struct work {
    struct decode *groups;
    float *scores[QUERIES]; /* BLOCK floats each: scores, then weights */
    float *masks; /* BLOCK floats for each token */
    float *rows;  /* keys or values that cannot be used in place */
};

/* Bytes of the states of N groups, whole cache lines. */
static size_t
groups_bytes(int64_t n)
{
    return gb_pad_or_max(gb_mul_or_max((size_t)n, sizeof(struct decode)), 64);
}

size_t
gb_attention_decode_scratch(const struct ggml_tensor *node, int64_t n)
{
    const size_t rows = gb_add_or_max(gb_attention_lines(2 * QUERIES, BLOCK),
                                      gb_attention_lines(BLOCK, node->ne[0]));

    return gb_add_or_max(groups_bytes(n), rows);
}

/* The arrays of N groups in SCRATCH, in the sizes that
 * gb_attention_decode_scratch() has counted. */
static struct work
work_in(void *scratch, int64_t n)
{
    float *floats = (float *)(void *)((char *)scratch + groups_bytes(n));
    struct work work;

    work.groups = scratch;
    for (int64_t c = 0; c < QUERIES; c++)
        work.scores[c] = floats + c * BLOCK;
    work.masks = floats + QUERIES * BLOCK;
    work.rows = work.masks + QUERIES * BLOCK;
    return work;
}

/*
 * What group G prefetches while it computes a block.  Where rows of all heads
 * of a key are next to each other, each group takes an equal contiguous share
 * of the next block, so that together they run through it in the order of
 * addresses; else a group prefetches its own rows.
 *
 * Rows more than MOST_APART times their length apart are not prefetched, since
 * most bytes between them are not needed; nor is a single row, whose stride
 * means nothing.
 */
#define MOST_APART 8

static void
share_fetching(struct gb_decode *a, const struct ggml_tensor *of,
               int64_t g, int64_t groups)
{
    const size_t n = (size_t)groups;
    const bool is_interleaved = of->nb[2] <= of->nb[1] / n;
    const size_t share = is_interleaved ? of->nb[1] / n : of->nb[1];

    if (a->rows == NULL || of->ne[1] == 1 ||
        share > MOST_APART * ggml_row_size(a->type, a->d))
        return;
    a->fetch = a->rows + BLOCK * of->nb[1];
    if (is_interleaved)
        a->fetch += (size_t)g * (BLOCK * share - of->nb[2]);
    a->fetch_step = share * 32 / (size_t)a->d;
}

/* The operands of decode_scores (VECTORS: queries) or decode_values (sums) for
 * group G of GROUPS and all rows of OF, the first of which is at ROWS. */
static struct gb_decode
meeting(const struct work *work, const struct decode *decode, int64_t g,
        int64_t groups, const struct ggml_tensor *of, const char *rows,
        float *const *vectors)
{
    struct gb_decode a = {
        .type = of->type,
        .d = decode->t.d,
        .rows = rows,
        .pitch = of->nb[1],
        .fetch = rows,
        .n_vectors = decode->t.n,
        .vectors = vectors,
        .weights = work->scores,
    };

    share_fetching(&a, of, g, groups);
    return a;
}

/* Begin the online softmax of group G of GROUPS: maximum -infinity, sums 0.
 * FIRST is the tile of group 0. */
static void
begin(const struct work *work, const struct gb_attention *first, int64_t g,
      int64_t groups)
{
    struct decode *const decode = &work->groups[g];
    const struct gb_attention *t = &decode->t;

    decode->t = gb_attention_later(first, g);
    decode->keys = meeting(work, decode, g, groups, t->task->node->src[1], t->keys,
                        decode->queries);
    decode->values = meeting(work, decode, g, groups, t->task->node->src[2],
                          t->values, decode->sums);
    for (int64_t c = 0; c < t->n; c++) {
        decode->max[c] = -INFINITY;
        decode->sum[c] = 0.0f;
        decode->slope[c] = gb_attention_slope(t, c);
        decode->queries[c] = (float *)gb_attention_query(t, c);
        decode->sums[c] = gb_attention_sums(t, c);
        memset(decode->sums[c], 0, (size_t)t->d * sizeof(float));
    }
}

/* Convert the mask of each token for N keys from KEY on to floats.  False if it
 * hides all these keys from all tokens, so that the block can be left out; true
 * without a mask. */
static bool
read_mask(const struct work *work, const struct gb_attention *t, int64_t key,
          int64_t n)
{
    const struct ggml_tensor *mask = t->task->node->src[3];
    bool is_seen = false;

    if (mask == NULL)
        return true;
    for (int64_t i = 0; i < t->tokens; i++) {
        const char *row = gb_cpu_row_ptr(mask, t->first_token + i, 0, 0);
        float *floats = work->masks + i * BLOCK;

        t->task->k->f16_to_f32(
            n, floats, (const uint16_t *)(const void *)row + key);
        if (t->task->k->max_f32(n, floats) > -INFINITY)
            is_seen = true;
    }
    return is_seen;
}

/*
 * One step of query C's online softmax: N products q * k in its scores become
 * scores s, then weights exp(s - max).  When the maximum grows, sums of weights
 * and of values so far are scaled down by exp(old maximum - new one).  Where
 * the mask hides all N keys, weights are 0 and nothing else changes.
 */
static void
weigh(const struct work *work, struct decode *decode, int64_t c, int64_t n)
{
    const struct gb_attention *t = &decode->t;
    const struct gb_cpu_kernels *k = t->task->k;
    const float *mask = t->task->node->src[3] != NULL
                            ? work->masks + c / t->heads * BLOCK
                            : NULL;
    float *const scores = work->scores[c];
    float scale = t->scale;
    float max;

    if (t->softcap != 0.0f) {
        k->scale_f32(n, scores, scores, scale);
        k->tanh_f32(n, scores, scores);
        scale = t->softcap;
    }
    max = k->scale_mask_max_f32(
        n, scores, scores, mask, scale, decode->slope[c]);
    if (max == -INFINITY) {
        memset(scores, 0, (size_t)n * sizeof(*scores));
        return;
    }
    if (max > decode->max[c]) {
        const float factor = expf(decode->max[c] - max);

        k->scale_f32(t->d, decode->sums[c], decode->sums[c], factor);
        decode->sum[c] *= factor;
        decode->max[c] = max;
    }
    decode->sum[c] += (float)k->exp_sum_f32(n, scores, scores, decode->max[c]);
}

/* The operands for N rows from KEY on, out of those for ALL rows.  Types that
 * the kernels do not read are converted to F32 in the scratch. */
static struct gb_decode
block_of(const struct work *work, const struct decode *decode,
         const struct gb_decode *all, int64_t key, int64_t n)
{
    struct gb_decode a = *all;

    a.n = n;
    a.rows += (size_t)key * a.pitch;
    a.fetch += (size_t)key * a.pitch;
    if (gb_decode_reads(a.type))
        return a;
    for (int64_t j = 0; j < n; j++)
        gb_cpu_convert(decode->t.task->k, a.type, GGML_TYPE_F32, a.d,
                       work->rows + j * a.d, a.rows + (size_t)j * a.pitch);
    a.type = GGML_TYPE_F32;
    a.pitch = (size_t)a.d * sizeof(float);
    a.rows = (const char *)work->rows;
    return a;
}

/* Add N keys and values from KEY on to the online softmax of a group. */
static void
add_keys(const struct work *work, struct decode *decode, int64_t key, int64_t n)
{
    const struct gb_cpu_kernels *k = decode->t.task->k;
    struct gb_decode a = block_of(work, decode, &decode->keys, key, n);

    k->decode_scores(&a);
    for (int64_t c = 0; c < decode->t.n; c++)
        weigh(work, decode, c, n);
    a = block_of(work, decode, &decode->values, key, n);
    k->decode_values(&a);
}

void
gb_attention_decode(const struct gb_attention *t, int64_t n)
{
    const struct work work = work_in(t->task->scratch, n);

    for (int64_t g = 0; g < n; g++)
        begin(&work, t, g, n);
    for (int64_t key = t->first_key; key < t->end_key; key += BLOCK) {
        const int64_t keys = gb_cpu_min(BLOCK, t->end_key - key);

        if (!read_mask(&work, t, key, keys))
            continue;
        for (int64_t g = 0; g < n; g++)
            add_keys(&work, &work.groups[g], key, keys);
    }
    for (int64_t g = 0; g < n; g++) {
        const struct decode *decode = &work.groups[g];

        for (int64_t c = 0; c < decode->t.n; c++)
            /* Exponentials were of base e here; the join has base 2. */
            gb_attention_done(
                &decode->t, c, decode->max[c] * LOG2_E, decode->sum[c]);
    }
}
