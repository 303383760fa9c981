/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/rope.c - rotary position embedding and its gradient.
 *
 * ROPE ROPE_BACK.  Pair j of a row, (u, v), is rotated by an angle that grows
 * with the token's position p:
 *
 *     u' = u * cos(a) - v * sin(a)        a = p * frequency(j)
 *     v' = u * sin(a) + v * cos(a)        frequency(j) = base^(-2 j / n_dims)
 *
 * so that the product of a query and a key depends on how far they are apart.
 * ROPE_BACK rotates by -a.  Pairs are (2 j, 2 j + 1), or (j, j + pairs) where
 * they are split in halves; elements behind the pairs are copied.
 *
 *   src0   F32, F16 or BF16 [n, heads, tokens, batches], any strides
 *   src1   positions, I32 [tokens], or with sections four times as many: all of
 *          time, then height, width, extra
 *   src2   F32, by which the pairs' frequencies are divided, or NULL
 *   dst    a float type, the same shape, any strides; may be src0
 *   params see rope_of()
 *
 * The cosines and sines of all tokens are prepared in a table, which queries
 * and keys share, of all layers.  A token's part of it is its cosines, then its
 * sines:
 *
 *     split in halves   c0 c1 c2 ..         s0 s1 s2 ..
 *     neighbours        c0 c0 c1 c1 ..     -s0 s0 -s1 s1 ..
 *
 * all times the attention factor.  Neighbours have both for either element, so
 * that vectors need no shuffle but of x.
 *
 * Threads   a tile is some tokens with all their heads; of the table, 32
 *           tokens.
 * Accuracy  angles are in double: at position 100,000 a float angle would be
 *           off by some thousandths.  Cosines and sines are of floats.
 *
 * Sources: "RoFormer" (arXiv 2104.09864), section 3.2; blending of frequencies:
 * "YaRN" (arXiv 2309.00071), section 3.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"

#include <math.h>
#include <string.h>

/* Streams of positions: time, height, width, extra. */
#define N_STREAMS 4

/* A node's parameters.  mode is one of GGML_ROPE_TYPE_; n_dims are the elements
 * that are rotated, with vision half of them; sections say how many successive
 * pairs follow the position of each stream.  YaRN: ext_factor says how much
 * frequencies are blended, 0 for not; attn_factor multiplies cosines and
 * sines. */
struct rope {
    int mode;
    int n_dims;
    int64_t n_pairs;
    int sections[N_STREAMS];
    float freq_base, freq_scale;
    float ext_factor, attn_factor;
    float corr[2]; /* pairs between which frequencies are blended */
};

static bool
is_vision(const struct rope *rope)
{
    return rope->mode == GGML_ROPE_TYPE_VISION;
}

/* Has each token four positions, and each pair a section that says which? */
static bool
has_streams(const struct rope *rope)
{
    return (rope->mode & GGML_ROPE_TYPE_MROPE) != 0;
}

/* Pairs are halves apart, not neighbours. */
static bool
is_split(const struct rope *rope)
{
    return (rope->mode & GGML_ROPE_TYPE_NEOX) != 0 || has_streams(rope);
}

static struct rope
rope_of(const struct ggml_tensor *node)
{
    struct rope rope = {
        .n_dims = gb_cpu_param_i32(node, 1),
        .mode = gb_cpu_param_i32(node, 2),
        .freq_base = gb_cpu_param_f32(node, 5),
        .freq_scale = gb_cpu_param_f32(node, 6),
        .ext_factor = gb_cpu_param_f32(node, 7),
        .attn_factor = gb_cpu_param_f32(node, 8),
    };

    rope.n_pairs = is_vision(&rope) ? rope.n_dims : rope.n_dims / 2;
    for (int i = 0; i < N_STREAMS; i++)
        rope.sections[i] = gb_cpu_param_i32(node, 11 + i);
    if (rope.ext_factor != 0.0f)
        ggml_rope_yarn_corr_dims(
            rope.n_dims, gb_cpu_param_i32(node, 4), rope.freq_base,
            gb_cpu_param_f32(node, 9), gb_cpu_param_f32(node, 10), rope.corr);
    return rope;
}

/* Sections are not negative, no more pairs than a row has elements, and one of
 * the first three has a pair.  Pairs behind the last section begin with the
 * first one again, so their sum, which is divided by, must not be 0. */
static bool
sections_fit(const struct rope *rope, int64_t ne0)
{
    int64_t sum = 0;

    for (int i = 0; i < N_STREAMS; i++) {
        if (rope->sections[i] < 0)
            return false;
        sum += rope->sections[i];
    }
    return sum <= ne0 && sum > rope->sections[N_STREAMS - 1];
}

static bool
rope_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *positions = node->src[1];
    const struct ggml_tensor *factors = node->src[2];
    const struct rope rope = rope_of(node);
    const int64_t streams = has_streams(&rope) ? N_STREAMS : 1;

    if (!gb_cpu_is_float(a->type) || !gb_cpu_is_float(node->type) ||
        !ggml_are_same_shape(a, node))
        return false;
    if (positions->type != GGML_TYPE_I32 || !ggml_is_vector(positions) ||
        positions->ne[0] < streams * a->ne[2])
        return false;
    if (factors != NULL && (factors->type != GGML_TYPE_F32 ||
                            factors->ne[0] < rope.n_pairs ||
                            (ggml_is_empty(factors) && rope.n_pairs > 0)))
        return false;
    if (rope.n_dims < 0 || rope.n_dims % 2 != 0 || rope.n_dims > a->ne[0])
        return false;
    if (is_vision(&rope) && 2 * (int64_t)rope.n_dims != a->ne[0])
        return false;
    return !has_streams(&rope) || sections_fit(&rope, a->ne[0]);
}

/* Tokens of about GB_CPU_TILE_ELEMENTS elements, and at least one. */
static int64_t
tokens_per_tile(const struct ggml_tensor *node)
{
    const int64_t elements = node->ne[0] * node->ne[1];
    const int64_t tokens =
        elements > 0 ? GB_CPU_TILE_ELEMENTS / elements : 1;

    return tokens > 0 ? tokens : 1;
}

static int64_t
rope_tiles(const struct ggml_tensor *node)
{
    const int64_t tokens = node->ne[2] * node->ne[3];
    const int64_t per_tile = tokens_per_tile(node);

    return (tokens + per_tile - 1) / per_tile;
}

/* Cosines of a token in the table, and as many sines: one a pair, or, for
 * neighbours, two. */
static int64_t
table_width(const struct rope *rope)
{
    return is_split(rope) ? rope->n_pairs : 2 * rope->n_pairs;
}

/* The table has an address even where no pair is rotated. */
static size_t
rope_shared(const struct ggml_tensor *node)
{
    const struct rope rope = rope_of(node);
    const size_t of_token =
        gb_mul_or_max((size_t)table_width(&rope), 2 * sizeof(float));

    return gb_add_or_max(
        gb_mul_or_max(of_token, (size_t)node->ne[2]), sizeof(float));
}

/* A thread's scratch: the angle of each pair at position 1 and at a token's, or
 * rows that cannot be used where they lie.  There are at most as many pairs as
 * elements. */
static size_t
rope_scratch(const struct ggml_tensor *node)
{
    return gb_mul_or_max((size_t)node->ne[0], 2 * sizeof(double));
}

/* The stream of pair J, and in *first the first pair index of its section. */
static int
stream_of(const struct rope *rope, int64_t j, int64_t *first)
{
    int64_t all = 0;
    int64_t within;
    int stream = 0;

    *first = 0;
    if (!has_streams(rope))
        return 0;
    for (int i = 0; i < N_STREAMS; i++)
        all += rope->sections[i];
    within = j % all;
    while (within >= *first + rope->sections[stream])
        *first += rope->sections[stream++];
    return stream;
}

/* The share of the unscaled frequency that pair J keeps: ext_factor for fast
 * pairs, which turn often within the context that the model was trained with,
 * nothing for slow ones, and between the two pairs of rope->corr a linear
 * ramp. */
static double
kept_share(const struct rope *rope, int64_t j)
{
    const float width = rope->corr[1] - rope->corr[0];
    const float y =
        ((float)j - rope->corr[0]) / (width > 0.001f ? width : 0.001f);

    return (1.0f - fminf(1.0f, fmaxf(0.0f, y))) * rope->ext_factor;
}

/*
 * The angle of each pair at position 1: base^(-2 e / n_dims), where e counts
 * pairs (with vision: pairs of the section), scaled and divided by its factor.
 * Powers are successive products in double: one pow() for all.
 */
static void
fill_frequencies(const struct rope *rope, const struct ggml_tensor *factors,
                 double *frequency)
{
    const double w = pow(rope->freq_base, -2.0 / rope->n_dims);
    int64_t all = 0;
    double power = 1.0;

    for (int i = 0; i < N_STREAMS; i++)
        all += rope->sections[i];
    for (int64_t j = 0; j < rope->n_pairs; j++) {
        const double keep = rope->ext_factor != 0.0f ? kept_share(rope, j) : 0;
        int64_t first;
        float factor = 1.0f;

        (void)stream_of(rope, j, &first);
        if (is_vision(rope) && j % all == first)
            power = 1.0;
        if (factors != NULL)
            memcpy(&factor,
                   (const char *)factors->data + (size_t)j * factors->nb[0],
                   sizeof(factor));
        frequency[j] = power / factor *
                       (rope->freq_scale * (1.0 - keep) + keep);
        power *= w;
    }
}

/* The angles of all pairs at token I2. */
static void
fill_angles(const struct rope *rope, const struct ggml_tensor *positions,
            int64_t i2, int64_t n_tokens, const double *frequency,
            double *angle)
{
    double position[N_STREAMS] = { 0 };
    const int n_streams = has_streams(rope) ? N_STREAMS : 1;

    for (int i = 0; i < n_streams; i++) {
        int32_t p;

        memcpy(&p,
               (const char *)positions->data +
                   (size_t)(i2 + i * n_tokens) * positions->nb[0],
               sizeof(p));
        position[i] = p;
    }
    for (int64_t j = 0; j < rope->n_pairs; j++) {
        int64_t first;

        angle[j] = position[stream_of(rope, j, &first)] * frequency[j];
    }
}

/* Tokens whose part of the table is a tile. */
#define TABLE_TOKENS 32

static int64_t
rope_prepare_tiles(const struct ggml_tensor *node)
{
    return (node->ne[2] + TABLE_TOKENS - 1) / TABLE_TOKENS;
}

/* Token I2's cosines in a task's table; its sines stand behind them. */
static float *
table_row(const struct gb_cpu_task *task, const struct rope *rope, int64_t i2)
{
    return (float *)task->shared + 2 * table_width(rope) * i2;
}

/* Part TILE of the table.  With YaRN the rows get longer too, by 0.1 ln(1 /
 * scale) (its "attention temperature").  Negated sines rotate back. */
static enum ggml_status
rope_prepare(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct rope rope = rope_of(node);
    const int64_t first = tile * TABLE_TOKENS;
    double *const frequency = task->scratch;
    double *const angle = frequency + rope.n_pairs;
    float m = rope.attn_factor;

    if (rope.ext_factor != 0.0f)
        m *= 1.0f + 0.1f * logf(1.0f / rope.freq_scale);
    fill_frequencies(&rope, node->src[2], frequency);
    for (int64_t t = first; t < first + TABLE_TOKENS && t < node->ne[2]; t++) {
        float *const c = table_row(task, &rope, t);
        float *const s = c + table_width(&rope);

        fill_angles(&rope, node->src[1], t, node->ne[2], frequency, angle);
        task->k->rope_angles_f32(rope.n_pairs, c, s, angle, m,
                                 node->op == GGML_OP_ROPE ? m : -m);
        if (!is_split(&rope))
            task->k->rope_spread_f32(rope.n_pairs, c, s);
    }
    return GGML_STATUS_SUCCESS;
}

/* Do A and B have the same values: the same tensor, or views of the same
 * bytes?  Positions of each layer are often a view of their own. */
static bool
are_same_values(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a == b ||
           (a != NULL && b != NULL && a->data == b->data && a->data != NULL &&
            a->type == b->type && ggml_are_same_shape(a, b) &&
            ggml_are_same_stride(a, b));
}

/* Is the table the same: operation, positions, factors and all parameters? */
static bool
rope_is_prepared(const struct ggml_tensor *node,
                 const struct ggml_tensor *before)
{
    return node->op == before->op && node->ne[2] == before->ne[2] &&
           are_same_values(node->src[1], before->src[1]) &&
           are_same_values(node->src[2], before->src[2]) &&
           memcmp(node->op_params, before->op_params,
                  sizeof(node->op_params)) == 0;
}

/* Rotate one row by the table's row C. */
static void
rotate_row(const struct gb_cpu_task *task, const struct rope *rope,
           const struct gb_cpu_line *d, const struct gb_cpu_line *a,
           const float *c)
{
    const int64_t n = task->node->ne[0];
    const float *const s = c + table_width(rope);
    float *const buffer = task->scratch;
    const float *x = gb_cpu_line_read(task->k, a, 0, n, buffer);
    float *const to = gb_cpu_line_target(d, 0, buffer + n);

    if (is_split(rope))
        task->k->rope_halves_f32(rope->n_pairs, rope->n_pairs, to, x, c, s);
    else
        task->k->rope_pairs_f32(rope->n_pairs, to, x, c, s);
    if (to != x)
        memmove(to + 2 * rope->n_pairs, x + 2 * rope->n_pairs,
                (size_t)(n - 2 * rope->n_pairs) * sizeof(float));
    gb_cpu_line_write(task->k, d, 0, n, to);
}

static enum ggml_status
rope_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct rope rope = rope_of(node);
    const int64_t tokens = node->ne[2] * node->ne[3];
    const int64_t first = tile * tokens_per_tile(node);
    const int64_t behind = first + tokens_per_tile(node);

    for (int64_t t = first; t < behind && t < tokens; t++) {
        const int64_t i2 = t % node->ne[2];
        const int64_t i3 = t / node->ne[2];
        const float *const c = table_row(task, &rope, i2);

        for (int64_t i1 = 0; i1 < node->ne[1]; i1++) {
            const struct gb_cpu_line d = gb_cpu_line_at(node, i1, i2, i3);
            const struct gb_cpu_line a =
                gb_cpu_line_at(node->src[0], i1, i2, i3);

            rotate_row(task, &rope, &d, &a, c);
        }
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_rope = {
    .n_src = 2,
    .can_run = rope_can_run,
    .tiles = rope_tiles,
    .scratch = rope_scratch,
    .shared = rope_shared,
    .prepare_tiles = rope_prepare_tiles,
    .prepare = rope_prepare,
    .is_prepared = rope_is_prepared,
    .keeps_shared = true,
    .run = rope_run,
};
