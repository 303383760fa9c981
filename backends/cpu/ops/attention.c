/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/attention.c - attention in one operation.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/attention.h"
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"
#include "backends/cpu/ops/slope.h"

#include <math.h>

/*
 * Attention of queries to keys and values.
 *
 *   src0   q, F32 [d, N, H, b]; rows dense, any other strides
 *   src1   k, any type that can be read, [d, M, Hk, bk]; likewise
 *   src2   v, likewise, [d, M or more, Hv, bv]
 *   src3   mask, F16 [M or more, N or more], or NULL
 *   dst    F32 [d, H, N, b], contiguous
 *   params scale, max_bias, softcap
 *
 * For query head h, token n and batch b, with key head h / (H / Hk), value head
 * h / (H / Hv), and batches of K and V likewise:
 *     z[j] = sum over i of q[i, n, h, b] * k[i, j, ...]
 *     s[j] = scale * z[j] + slope(h) * mask[j, n], or with a softcap
 *            softcap * tanh(scale / softcap * z[j]) + slope(h) * mask[j, n]
 *     dst[:, h, n, b] = sum over j of softmax(s)[j] * v[:, j, ...]
 * Without a mask its term is 0.  Where all s are -infinity, or M is 0, the
 * result is 0.  slope.h has the slopes.
 *
 * Online softmax: keys are taken a block of 64 at a time.  Kept for each query
 * are the running maximum m, the sum of exp(s - m) and the sums of
 * exp(s - m) * v.  A new maximum m' scales both down by exp(m - m').  Memory
 * does not grow with M: only a block of scores exists at a time.
 *
 * Heads that share a key head and a value head are a group (grouped-query
 * attention).  A group and some tokens go through the keys together:
 *   prefill  12 to 256 queries, each in a lane of a vector
 *            (attention-prefill.c)
 *   decode   fewer; keys of all groups in the order of memory
 *            (attention-decode.c)
 *
 * Threads   a tile has some tokens and heads of one batch; where there would be
 *           too few tiles, of a part of the keys only (flash decoding).  Then
 *           each tile leaves maximum and sums in the shared memory, and finish
 *           joins them in the order of the keys.
 * Accuracy  sums and exponentials in float; q is not rounded.
 * Source    one pass: "Online normalizer calculation for softmax" (arXiv
 *           1805.02867); blocks: "FlashAttention" (arXiv 2205.14135); groups:
 *           "GQA" (arXiv 2305.13245); softcap: "Gemma 2" (arXiv 2408.00118).
 */

/* A part of the keys has PART elements or more, so that its join costs little
 * beside it.  Keys are divided among tiles where there are fewer tiles than
 * wanted: more are wanted for decode, which reads each key once and needs many
 * threads to reach the bandwidth of the memory. */
#define PART                16384
#define TILES_WANTED        16

/* Queries that prefill takes at once at most: two vectors of 16 lanes.  Tiles of
 * a multiple leave none of them in part empty. */
#define QUERIES_AT_ONCE     32
#define DECODE_TILES_WANTED 32

/* The path of a node and its tiles: decided once a plan. */
struct tiling {
    bool is_prefill;     /* enough queries in a tile to give each a lane */
    int64_t group;       /* heads that share a key and a value head */
    int64_t heads;       /* of a group that go together, 256 at most */
    int64_t head_tiles;  /* ranges of that many heads, over all groups */
    int64_t tokens;      /* that go together */
    int64_t token_tiles; /* ranges of that many tokens */
    int64_t part;        /* keys in a tile, whole blocks of 64 */
    int64_t parts;       /* 1: each tile has all keys */
    int64_t in_tile;     /* ranges of heads in a tile: 1, decode all */
    int64_t tiles;       /* of the run phase */
    size_t parts_bytes;  /* of the parts' results in the shared memory */
};

_Static_assert(sizeof(struct tiling) <= GB_CPU_TILING_MAX, "its place");

/* How many successive query heads share both a key head and a value head.
 * There may be different numbers of the two: if neither number is a multiple of
 * the other, each head goes alone. */
static int64_t
group_of(int64_t heads, int64_t key_heads, int64_t value_heads)
{
    const int64_t by_key = heads / key_heads;
    const int64_t by_value = heads / value_heads;
    const int64_t smaller = gb_cpu_min(by_key, by_value);

    return by_key % smaller == 0 && by_value % smaller == 0 ? smaller : 1;
}

/* Divide KEYS of WIDTH elements into parts, one a tile, where there are fewer
 * tiles than WANTED.  A part is whole blocks, PART elements or more. */
static void
tile_keys(struct tiling *tiling, int64_t keys, int64_t width, int64_t wanted)
{
    const int64_t block = GB_PREFILL_KEYS;
    const int64_t least = gb_cpu_ceil_div(PART, width > 0 ? width : 1);
    int64_t part = keys;

    if (tiling->tiles > 0 && tiling->tiles < wanted)
        part = gb_cpu_ceil_div(keys, gb_cpu_ceil_div(wanted, tiling->tiles));
    part = part > least ? part : least;
    tiling->part = gb_cpu_ceil_div(part, block) * block;
    tiling->parts = keys > 0 ? gb_cpu_ceil_div(keys, tiling->part) : 1;
    tiling->tiles *= tiling->parts;
}

/* The least number of tokens whose queries, of HEADS heads, are a multiple of
 * QUERIES_AT_ONCE. */
static int64_t
tokens_at_once(int64_t heads)
{
    int64_t tokens = QUERIES_AT_ONCE;

    for (; tokens % 2 == 0 && heads % 2 == 0; heads /= 2)
        tokens /= 2;
    return tokens;
}

/* Choose the tokens of a tile: with all heads of the group 256 queries at most,
 * or 128 where that would give too few tiles. */
static void
tile_tokens(struct tiling *tiling, const struct ggml_tensor *q)
{
    int64_t queries = GB_ATTENTION_QUERIES;

    if (gb_cpu_ceil_div(q->ne[1] * tiling->heads, queries) * tiling->head_tiles *
            q->ne[3] < TILES_WANTED)
        queries /= 2;
    tiling->tokens = tiling->heads < queries ? queries / tiling->heads : 1;
    if (tiling->tokens >= tokens_at_once(tiling->heads))
        tiling->tokens -= tiling->tokens % tokens_at_once(tiling->heads);
    tiling->tokens = gb_cpu_min(q->ne[1], tiling->tokens);
    tiling->token_tiles = gb_cpu_ceil_div(q->ne[1], tiling->tokens);
}

/*
 * The dispatch of attention: the path and the tiles, from shapes alone.
 *
 * Fewer than 12 queries are decode.  These are all tokens then, since a tile of
 * 128 queries would have taken more; so a tile can have all heads, and reads
 * rows of keys whole, in which key heads are usually next to each other.
 */
static void
dispatch(struct tiling *tiling, const struct ggml_tensor *node)
{
    const struct ggml_tensor *q = node->src[0];
    const struct ggml_tensor *k = node->src[1];

    tiling->group = group_of(q->ne[2], k->ne[2], node->src[2]->ne[2]);
    tiling->heads = gb_cpu_min(tiling->group, GB_ATTENTION_QUERIES);
    tiling->head_tiles = gb_cpu_ceil_div(tiling->group, tiling->heads) *
                         (q->ne[2] / tiling->group);
    tile_tokens(tiling, q);
    tiling->is_prefill =
        tiling->heads * tiling->tokens >= GB_ATTENTION_PREFILL;
    tiling->in_tile = tiling->is_prefill ? 1 : tiling->head_tiles;
    tiling->tiles = tiling->token_tiles * tiling->head_tiles /
                    tiling->in_tile * q->ne[3];
    if (tiling->is_prefill)
        tile_keys(tiling, k->ne[1], q->ne[0], TILES_WANTED);
    else
        tile_keys(tiling, k->ne[1], q->ne[0] * k->ne[2], DECODE_TILES_WANTED);
}

/* Floats that a part of the keys leaves for one query: the maximum of its
 * scores (times log2(e)), the sum of the exponentials, and D sums of values. */
#define PART_FLOATS(d) ((d) + 2)

/* Does each head, and each batch, of K or V serve the same number of those of
 * Q, with rows of the same length? */
static bool
are_shared(const struct ggml_tensor *t, const struct ggml_tensor *q)
{
    return t->ne[0] == q->ne[0] && gb_cpu_divides(t->ne[2], q->ne[2]) &&
           gb_cpu_divides(t->ne[3], q->ne[3]);
}

/* Do the dimensions agree?  Those of Q and K are below 2^30, so that the
 * products of two of them, with which tiles are counted, fit an int64_t. */
static bool
have_shapes(const struct ggml_tensor *node, const struct ggml_tensor *q,
            const struct ggml_tensor *k, const struct ggml_tensor *v)
{
    return gb_cpu_has_shape(node, q->ne[0], q->ne[2], q->ne[1], q->ne[3]) &&
           are_shared(k, q) && are_shared(v, q) && v->ne[1] >= k->ne[1] &&
           gb_cpu_is_countable(q) && gb_cpu_is_countable(k);
}

static bool
attention_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *q = node->src[0];
    const struct ggml_tensor *k = node->src[1];
    const struct ggml_tensor *v = node->src[2];
    const struct ggml_tensor *mask = node->src[3];

    return q->type == GGML_TYPE_F32 && gb_is_dense(q) &&
           gb_is_dense(k) && gb_cpu_can_read(k) &&
           gb_is_dense(v) && gb_cpu_can_read(v) &&
           node->type == GGML_TYPE_F32 && ggml_is_contiguous(node) &&
           have_shapes(node, q, k, v) &&
           (mask == NULL ||
            (mask->type == GGML_TYPE_F16 && gb_is_dense(mask) &&
             mask->ne[0] >= k->ne[1] && mask->ne[1] >= q->ne[1] &&
             mask->ne[2] > 0 && mask->ne[3] > 0));
}

/* Bytes of the results of parts, 0 for a single one.  Order, from the slowest
 * index to the fastest: part, batch, token, head; see part_at(). */
static size_t
parts_bytes(const struct ggml_tensor *node, int64_t parts)
{
    size_t floats;

    if (parts == 1)
        return 0;
    floats = gb_mul_or_max((size_t)parts, (size_t)ggml_nrows(node));
    floats = gb_mul_or_max(floats, (size_t)PART_FLOATS(node->ne[0]));
    return gb_mul_or_max(floats, sizeof(float));
}

/* What a step needs.  Shared memory: results of parts, then block masks. */
static void
attention_tile(const struct ggml_tensor *node, const struct gb_cpu_kernels *k,
               void *out, struct gb_cpu_needs *needs)
{
    struct tiling *tiling = out;

    (void)k;
    dispatch(tiling, node);
    tiling->parts_bytes = parts_bytes(node, tiling->parts);
    needs->tiles = tiling->tiles;
    needs->shared = tiling->parts_bytes;
    needs->prepare_tiles = 0;
    needs->prepared_as = 0;
    if (tiling->is_prefill) {
        needs->scratch = gb_attention_prefill_scratch(node);
        needs->shared =
            gb_add_or_max(needs->shared, gb_attention_mask_bytes(node));
        needs->prepare_tiles = gb_attention_mask_tiles(node);
    } else {
        needs->scratch = gb_attention_decode_scratch(node, tiling->in_tile);
    }
}

/* The block masks in the shared memory, behind the results of parts; NULL
 * without a mask, and for decode, which reads the mask itself. */
static uint8_t *
block_masks_in(const struct gb_cpu_task *task)
{
    const struct tiling *tiling = task->tiling;

    return task->node->src[3] != NULL && tiling->is_prefill
               ? (uint8_t *)task->shared + tiling->parts_bytes
               : NULL;
}

/* A tile of the prepare phase, of prefill only: block masks of some tokens. */
static enum ggml_status
attention_prepare(const struct gb_cpu_task *task, int64_t tile)
{
    gb_attention_mask_blocks(task, tile, block_masks_in(task));
    return GGML_STATUS_SUCCESS;
}

/* The matrix of T, keys or values, that query head HEAD of batch BATCH of Q
 * uses: successive heads and batches of Q share one. */
static const char *
matrix_of(const struct ggml_tensor *t, const struct ggml_tensor *q,
          int64_t head, int64_t batch)
{
    return gb_cpu_row_ptr(t, 0, head / (q->ne[2] / t->ne[2]),
                          batch / (q->ne[3] / t->ne[3]));
}

struct gb_attention
gb_attention_later(const struct gb_attention *t, int64_t g)
{
    const struct ggml_tensor *node = t->task->node;
    struct gb_attention later = *t;

    later.first_head += g * t->heads;
    later.keys =
        matrix_of(node->src[1], node->src[0], later.first_head, t->batch);
    later.values =
        matrix_of(node->src[2], node->src[0], later.first_head, t->batch);
    return later;
}

/*
 * The tile with a number: from the fastest index to the slowest, range of
 * tokens, range of heads, part of the keys, batch.  A tile of decode has all
 * ranges of heads and no index of tokens, there being one range of them: NUMBER
 * is then that of its first range of heads.
 */
static struct gb_attention
tile_of(const struct gb_cpu_task *task, int64_t number)
{
    const struct tiling *tiling = task->tiling;
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *q = node->src[0];
    const int64_t in_group = gb_cpu_ceil_div(tiling->group, tiling->heads);
    struct gb_attention t = { .task = task };
    int64_t first;
    int64_t head_tile;

    if (tiling->in_tile == 1) {
        /* The last tokens first: with a causal mask they see most, and long tiles
         * at the end would be waited for. */
        t.first_token = (tiling->token_tiles - 1 - number % tiling->token_tiles) *
                        tiling->tokens;
        number /= tiling->token_tiles;
    }
    head_tile = number % tiling->head_tiles;
    number /= tiling->head_tiles;
    first = head_tile % in_group * tiling->heads;
    t.part = number % tiling->parts;
    t.parts = tiling->parts;
    t.block_masks = block_masks_in(task);
    t.batch = number / tiling->parts;
    t.d = node->ne[0];
    t.first_head = head_tile / in_group * tiling->group + first;
    t.heads = gb_cpu_min(tiling->heads, tiling->group - first);
    t.tokens = gb_cpu_min(tiling->tokens, q->ne[1] - t.first_token);
    t.n = t.heads * t.tokens;
    t.first_key = t.part * tiling->part;
    t.end_key = gb_cpu_min(t.first_key + tiling->part, node->src[1]->ne[1]);
    t.softcap = gb_cpu_param_f32(node, 2);
    t.scale = gb_cpu_param_f32(node, 0);
    if (t.softcap != 0.0f)
        t.scale /= t.softcap;
    return gb_attention_later(&t, 0);
}

const float *
gb_attention_query(const struct gb_attention *t, int64_t c)
{
    return (const float *)(const void *)gb_cpu_row_ptr(
        t->task->node->src[0], t->first_token + c / t->heads,
        t->first_head + c % t->heads, t->batch);
}

float
gb_attention_slope(const struct gb_attention *t, int64_t c)
{
    return gb_cpu_slope(gb_cpu_param_f32(t->task->node, 1),
                        t->task->node->src[0]->ne[2],
                        t->first_head + c % t->heads);
}

bool
gb_attention_is_plain(const struct ggml_tensor *of)
{
    return of->type == GGML_TYPE_F32 && of->nb[1] % sizeof(float) == 0;
}

const float *
gb_attention_rows(const struct gb_attention *t, const struct ggml_tensor *of,
                  const char *rows, int64_t row, int64_t n, float *buffer,
                  int64_t *step)
{
    rows += (size_t)row * of->nb[1];
    if (gb_attention_is_plain(of)) {
        *step = (int64_t)(of->nb[1] / sizeof(float));
        return (const float *)(const void *)rows;
    }
    *step = t->d;
    for (int64_t j = 0; j < n; j++)
        gb_cpu_convert(t->task->k, of->type, GGML_TYPE_F32, t->d,
                       buffer + j * t->d, rows + (size_t)j * of->nb[1]);
    return buffer;
}

/* The row of dst, [d, H, N, b], that has query C's result, as a number. */
static int64_t
row_of(const struct gb_attention *t, int64_t c)
{
    const struct ggml_tensor *node = t->task->node;

    return t->first_head + c % t->heads +
           node->ne[1] * (t->first_token + c / t->heads +
                          node->ne[2] * t->batch);
}

/* What part PART has left for row ROW of dst: PART_FLOATS floats. */
static float *
part_at(const struct gb_cpu_task *task, int64_t part, int64_t row)
{
    return (float *)task->shared + (part * ggml_nrows(task->node) + row) *
                                       PART_FLOATS(task->node->ne[0]);
}

/* Row ROW of dst, which is contiguous. */
static float *
result_at(const struct gb_cpu_task *task, int64_t row)
{
    return (float *)task->node->data + row * task->node->ne[0];
}

float *
gb_attention_sums(const struct gb_attention *t, int64_t c)
{
    const int64_t row = row_of(t, c);

    return t->parts == 1 ? result_at(t->task, row)
                         : part_at(t->task, t->part, row) + 2;
}

/* Normalise: dst = SUMS / SUM, the end of the softmax.  SUM is 0 where the mask
 * hides all keys; the result then is zeros. */
static void
write_result(const struct gb_cpu_task *task, int64_t row, float sum,
             const float *sums)
{
    task->k->scale_f32(task->node->ne[0], result_at(task, row), sums,
                       sum > 0.0f ? 1.0f / sum : 0.0f);
}

void
gb_attention_done(const struct gb_attention *t, int64_t c, float max,
                  float sum)
{
    float *const sums = gb_attention_sums(t, c);

    if (t->parts == 1) {
        write_result(t->task, row_of(t, c), sum, sums);
    } else {
        /* The two floats of the part before its sums. */
        sums[-2] = max;
        sums[-1] = sum;
    }
}

static enum ggml_status
attention_run(const struct gb_cpu_task *task, int64_t number)
{
    const struct tiling *tiling = task->tiling;
    const struct gb_attention t = tile_of(task, number * tiling->in_tile);

    if (tiling->is_prefill)
        gb_attention_prefill(&t);
    else
        gb_attention_decode(&t, tiling->in_tile);
    return GGML_STATUS_SUCCESS;
}

/*
 * Join the parts of each row, in their order, with the maximum over all parts:
 *     sums = sum over parts of sums[part] * 2^(max[part] - max), sum likewise
 * A part in which the mask hides all keys has a maximum of -infinity and counts
 * nothing; -infinity minus itself would be NaN.  One call by one thread.
 */
static enum ggml_status
attention_finish(const struct gb_cpu_task *task, int64_t tile)
{
    const struct tiling *tiling = task->tiling;
    const int64_t parts = tiling->parts;
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
                part[0] > -INFINITY ? exp2f(part[0] - max) : 0.0f;

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
    .n_src = 3,
    .can_run = attention_can_run,
    .tile = attention_tile,
    .tiling_size = sizeof(struct tiling),
    .prepare = attention_prepare,
    .run = attention_run,
    .finish = attention_finish,
};
