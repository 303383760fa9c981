/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/recurrent.c - operations that carry a state from token to token.
 *
 * SSM_CONV SSM_SCAN RWKV_WKV6 GATED_LINEAR_ATTN, in F32.  A sequence's tokens
 * come one after another; tiles are parts of the state that do not see each
 * other.  The new states are kept in dst, where each step changes them: behind
 * the outputs of all tokens.
 *
 * Words     T tokens, S sequences, R channels ("inner" size), N numbers of
 *           state for each channel, K taps of the convolution, H heads of Z
 *           elements.
 * Accuracy  floats, in the order of the tokens; a sum over N is in lanes, one
 *           over Z in the order of its terms.
 *
 * Sources: "Mamba" (arXiv 2312.00752), algorithm 2; "Eagle and Finch"
 * (arXiv 2404.05892), section 4; "Gated Linear Attention" (arXiv 2312.06635),
 * section 4.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

#include <math.h>
#include <string.h>

/* The first N sources are F32 with dense rows. */
static bool
are_float_rows(const struct ggml_tensor *node, int n)
{
    for (int i = 0; i < n; i++)
        if (node->src[i]->type != GGML_TYPE_F32 ||
            !gb_is_dense(node->src[i]))
            return false;
    return node->type == GGML_TYPE_F32 && ggml_is_contiguous(node);
}

/*
 * SSM_CONV: a causal convolution of each channel with K taps of its own,
 *
 *     dst[r, t, s] = sum over x < K of src0[t + x, r, s] * src1[x, r]
 *
 *   src0   [K - 1 + T, R, S], rows dense: the K - 1 tokens before come first
 *   src1   [K, R], contiguous
 *   dst    [R, T, S], contiguous
 *
 * Threads   tiles are rows of dst: tokens, with all channels.
 */
static bool
ssm_conv_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return are_float_rows(node, 2) && ggml_is_contiguous(b) &&
           ggml_is_matrix(b) && b->ne[1] == a->ne[1] &&
           a->ne[0] == b->ne[0] - 1 + node->ne[1] && a->ne[3] == 1 &&
           gb_cpu_has_shape(node, a->ne[1], node->ne[1], a->ne[2], 1);
}

static enum ggml_status
ssm_conv_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        float *const dst = (void *)gb_cpu_row_ptr(node, at.i1, at.i2, 0);
        const float *x = (void *)gb_cpu_row_ptr(a, 0, at.i2, 0);

        task->k->ssm_conv_f32(b->ne[0], node->ne[0], dst, x + at.i1,
                              (int64_t)(a->nb[1] / sizeof(float)), b->data);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_ssm_conv = {
    .n_src = 2,
    .can_run = ssm_conv_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = ssm_conv_run,
};

/* Rows of the state in one tile: a cache line of results. */
#define SCAN_ROWS 16

/*
 * SSM_SCAN: the selective state space model of Mamba.  With h the state of
 * channel r, N numbers, and step = softplus(dt[r, t]), for one token after the
 * other:
 *
 *     h[n]    = h[n] * exp(step * A[n, r]) + B[n, t] * x[r, t] * step
 *     y[r, t] = sum over n of h[n] * C[n, t]
 *
 *   src0   s, the first states [N, R, S]     src3   A [N, R]
 *   src1   x [R, T, S]                       src4   B [N, T, S]
 *   src2   dt [R, T, S]                      src5   C [N, T, S]
 *   dst    y [R, T, S], then the last states [N, R, S]; contiguous
 *
 * All sources have dense rows and any other strides.
 *
 * Threads   tiles are SCAN_ROWS channels of a sequence.
 */
static bool
ssm_scan_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *s = node->src[0];
    const struct ggml_tensor *x = node->src[1];
    const int64_t n = s->ne[0], n_tokens = x->ne[1], n_seqs = s->ne[2];

    return are_float_rows(node, 6) && s->ne[3] == 1 &&
           gb_cpu_has_shape(x, s->ne[1], n_tokens, n_seqs, 1) &&
           gb_cpu_has_shape(node->src[2], s->ne[1], n_tokens, n_seqs, 1) &&
           gb_cpu_has_shape(node->src[3], n, s->ne[1], 1, 1) &&
           gb_cpu_has_shape(node->src[4], n, n_tokens, n_seqs, 1) &&
           gb_cpu_has_shape(node->src[5], n, n_tokens, n_seqs, 1) &&
           ggml_nelements(node) == ggml_nelements(x) + ggml_nelements(s);
}

/* Tiles of one sequence. */
static int64_t
scan_parts(const struct ggml_tensor *node)
{
    return (node->src[0]->ne[1] + SCAN_ROWS - 1) / SCAN_ROWS;
}

static int64_t
ssm_scan_tiles(const struct ggml_tensor *node)
{
    return scan_parts(node) * node->src[0]->ne[2];
}

/* Element R of the row of T at token t, sequence SEQ. */
static float
token_value(const struct ggml_tensor *t, int64_t r, int64_t token,
            int64_t seq)
{
    const float *row = (void *)gb_cpu_row_ptr(t, token, seq, 0);

    return row[r];
}

/* ln(1 + e^x), which is x itself above 20: it is x + ln(1 + e^-x), and e^-20 is
 * far below half a unit in the last place of 20. */
static float
softplus(float x)
{
    return x <= 20.0f ? log1pf(expf(x)) : x;
}

/* All tokens of channel R of sequence SEQ.  The first state is copied to its
 * place in dst, where it then changes; the source stays as it is. */
static void
scan_row(const struct gb_cpu_task *task, int64_t r, int64_t seq)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *s = node->src[0];
    const struct ggml_tensor *x = node->src[1];
    const int64_t n = s->ne[0];
    const int64_t n_rows = s->ne[1];
    float *const y = (float *)node->data + r + seq * n_rows * x->ne[1];
    float *const state = (float *)node->data + ggml_nelements(x) +
                         (seq * n_rows + r) * n;

    memmove(state, gb_cpu_row_ptr(s, r, seq, 0), (size_t)n * sizeof(float));
    for (int64_t t = 0; t < x->ne[1]; t++) {
        const float step = softplus(token_value(node->src[2], r, t, seq));

        y[t * n_rows] = task->k->ssm_step_f32(
            n, state, (void *)gb_cpu_row_ptr(node->src[3], r, 0, 0),
            (void *)gb_cpu_row_ptr(node->src[4], t, seq, 0),
            (void *)gb_cpu_row_ptr(node->src[5], t, seq, 0), step,
            token_value(x, r, t, seq) * step);
    }
}

static enum ggml_status
ssm_scan_run(const struct gb_cpu_task *task, int64_t tile)
{
    const int64_t n_rows = task->node->src[0]->ne[1];
    const int64_t seq = tile / scan_parts(task->node);
    const int64_t first = tile % scan_parts(task->node) * SCAN_ROWS;

    for (int64_t r = first; r < first + SCAN_ROWS && r < n_rows; r++)
        scan_row(task, r, seq);
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_ssm_scan = {
    .n_src = 6,
    .can_run = ssm_scan_can_run,
    .tiles = ssm_scan_tiles,
    .run = ssm_scan_run,
};

/*
 * RWKV_WKV6:          k v r tf td state
 * GATED_LINEAR_ATTN:  k v q g state
 *
 * k, v, r or q, td or g: [Z, H, T]; tf: [Z, H]; a state of Z * Z numbers for
 * each head and sequence.  dst: outputs [Z * H, T], then the new states.  The
 * tokens of a sequence follow each other, as many of each.  All are contiguous.
 *
 * For each token, with the state M a Z x Z matrix of the head:
 *
 *     WKV6  out[j] = sum over i of r[i] * (tf[i] * k[i] * v[j] + M[i][j]), then
 *           M[i][j] = td[i] * M[i][j] + k[i] * v[j]
 *     GLA   M[i][j] = g[i] * M[i][j] + k[i] * v[j], then
 *           out[j] = scale * sum over i of q[i] * M[i][j]
 *
 * td and g are decays of the state, tf is the bonus of the present token.
 *
 * Threads   a tile is a head of a sequence.
 */
static const struct ggml_tensor *
state_of(const struct ggml_tensor *node)
{
    return node->src[node->op == GGML_OP_RWKV_WKV6 ? 5 : 4];
}

/* Shapes as above; the states' size is counted with care, as Z * Z may not
 * fit. */
static bool
linear_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *k = node->src[0];
    const struct ggml_tensor *state = state_of(node);
    const int n = node->op == GGML_OP_RWKV_WKV6 ? 6 : 5;
    const int64_t n_seqs = state != NULL ? state->ne[1] : 0;
    int64_t n_state;

    if (n_seqs == 0 || k->ne[3] != 1 || k->ne[2] % n_seqs != 0)
        return false;
    for (int i = 0; i < n; i++) {
        const struct ggml_tensor *src = node->src[i];

        if (!ggml_is_contiguous(src) ||
            (n == 6 && i == 3
                 ? !gb_cpu_has_shape(src, k->ne[0], k->ne[1], 1, 1)
                 : i < n - 1 && !ggml_are_same_shape(src, k)))
            return false;
    }
    return are_float_rows(node, n) &&
           gb_mul_count(k->ne[0], k->ne[0], &n_state) &&
           gb_mul_count(n_state, k->ne[1], &n_state) &&
           gb_mul_count(n_state, n_seqs, &n_state) &&
           ggml_nelements(state) == n_state &&
           ggml_nelements(node) == ggml_nelements(k) + n_state;
}

static int64_t
linear_tiles(const struct ggml_tensor *node)
{
    return node->src[0]->ne[1] * state_of(node)->ne[1];
}

/* One token of one head: OUT is zeroed first; AT counts elements of [Z, H,
 * T]. */
static void
linear_token(const struct gb_cpu_task *task, int64_t head, int64_t at,
             float *out, float *state)
{
    const struct ggml_tensor *node = task->node;
    const int64_t z = node->src[0]->ne[0];
    const float *k = (const float *)node->src[0]->data + at;
    const float *v = (const float *)node->src[1]->data + at;
    const float *r = (const float *)node->src[2]->data + at;
    const bool is_wkv6 = node->op == GGML_OP_RWKV_WKV6;
    const float *first = (const float *)node->src[3]->data + head * z;
    const float *decay =
        (const float *)node->src[is_wkv6 ? 4 : 3]->data + at;

    memset(out, 0, (size_t)z * sizeof(float));
    for (int64_t i = 0; i < z; i++)
        if (is_wkv6)
            task->k->wkv6_step_f32(z, out, state + i * z, v, k[i], r[i],
                                   first[i], decay[i]);
        else
            task->k->gla_step_f32(z, out, state + i * z, v, k[i], r[i],
                                  decay[i]);
    if (!is_wkv6)
        task->k->scale_f32(z, out, out, gb_cpu_param_f32(node, 0));
}

/* One head of one sequence. */
static enum ggml_status
linear_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const int64_t z = node->src[0]->ne[0];
    const int64_t n_heads = node->src[0]->ne[1];
    const int64_t n_tokens = node->src[0]->ne[2];
    const int64_t run = n_tokens / state_of(node)->ne[1];
    const int64_t head = tile % n_heads;
    const int64_t seq = tile / n_heads;
    float *const out = node->data;
    float *const state = out + n_tokens * n_heads * z + tile * z * z;

    memmove(state, (const float *)state_of(node)->data + tile * z * z,
            (size_t)(z * z) * sizeof(float));
    for (int64_t t = seq * run; t < (seq + 1) * run; t++) {
        const int64_t at = (t * n_heads + head) * z;

        linear_token(task, head, at, out + at, state);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_linear = {
    .n_src = 5,
    .can_run = linear_can_run,
    .tiles = linear_tiles,
    .run = linear_run,
};
