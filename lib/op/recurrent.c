/* SPDX-License-Identifier: MIT */
/*
 * op/recurrent.c - builders of recurrences over tokens: state spaces and linear
 * attention.
 */
#include "config.h"

#include "lib/op/build.h"

/* Is T of shape [NE0, NE1, NE2], with its elements side by side in each row? */
static bool
is_3d(const struct ggml_tensor *t, int64_t ne0, int64_t ne1, int64_t ne2)
{
    return t->ne[0] == ne0 && t->ne[1] == ne1 && t->ne[2] == ne2 &&
           t->ne[3] == 1 && gb_is_dense(t);
}

struct ggml_tensor *
ggml_ssm_conv(struct ggml_context *ctx, struct ggml_tensor *sx,
              struct ggml_tensor *c)
{
    GB_NEED_SOURCES(ctx, "ssm_conv", sx, c);
    GB_NEED(ctx,
            ggml_is_matrix(c) && ggml_is_contiguous(c) && c->ne[0] > 0,
            "ssm_conv: c %s is no contiguous matrix", GB_SHAPE(c));
    GB_NEED(ctx,
            is_3d(sx, sx->ne[0], c->ne[1], sx->ne[2]) &&
                (sx->ne[1] == 1 ||
                 sx->nb[1] == ggml_row_size(sx->type, sx->ne[0])) &&
                sx->ne[0] >= c->ne[0] - 1,
            "ssm_conv: sx %s is not dense or does not fit c %s", GB_SHAPE(sx),
            GB_SHAPE(c));
    return gb_op_new(
        ctx, GGML_OP_SSM_CONV, GGML_TYPE_F32,
        (const int64_t[]){ c->ne[1], sx->ne[0] - c->ne[0] + 1, sx->ne[2], 1 },
        GB_SRC(sx, c));
}

struct ggml_tensor *
ggml_ssm_scan(struct ggml_context *ctx, struct ggml_tensor *s,
              struct ggml_tensor *x, struct ggml_tensor *dt,
              struct ggml_tensor *A, struct ggml_tensor *B,
              struct ggml_tensor *C)
{
    int64_t n_state, n_inner, n_tokens, n_seqs;

    GB_NEED_SOURCES(ctx, "ssm_scan", s, x, dt, A, B, C);
    n_state = s->ne[0];
    n_inner = s->ne[1];
    n_seqs = s->ne[2];
    n_tokens = x->ne[1];
    GB_NEED(ctx,
            ggml_is_contiguous(s) && ggml_is_contiguous(x) &&
                ggml_is_contiguous(dt) && ggml_is_contiguous(A),
            "ssm_scan: s, x, dt or A is not contiguous");
    GB_NEED(ctx,
            s->ne[3] == 1 && is_3d(x, n_inner, n_tokens, n_seqs) &&
                is_3d(dt, n_inner, n_tokens, n_seqs),
            "ssm_scan: s has shape %s, x %s, dt %s", GB_SHAPE(s), GB_SHAPE(x),
            GB_SHAPE(dt));
    GB_NEED(ctx,
            is_3d(A, n_state, n_inner, 1) &&
                is_3d(B, n_state, n_tokens, n_seqs) &&
                is_3d(C, n_state, n_tokens, n_seqs),
            "ssm_scan: s has shape %s, A %s, B %s, C %s", GB_SHAPE(s),
            GB_SHAPE(A), GB_SHAPE(B), GB_SHAPE(C));
    return gb_op_new(ctx, GGML_OP_SSM_SCAN, GGML_TYPE_F32,
                     (const int64_t[]){ gb_dim_add(gb_op_elements(x->ne),
                                                   gb_op_elements(s->ne)),
                                        1, 1, 1 },
                     GB_SRC(s, x, dt, A, B, C));
}

/*
 * Linear attention over heads with matrices as states.  SRC are keys first,
 * then operands of the same shape, then the states, N tensors in all; number
 * I_BONUS, if there is such a one, is shared by all tokens.
 */
static struct ggml_tensor *
linear_attention(struct ggml_context *ctx, enum ggml_op op,
                 struct ggml_tensor *const src[GGML_MAX_SRC], int n,
                 int i_bonus)
{
    const struct ggml_tensor *const k = src[0], *const state = src[n - 1];
    const int64_t size = k->ne[0], n_heads = k->ne[1], n_tokens = k->ne[2];
    const int64_t n_seqs = state->ne[1];
    const int64_t width = gb_dim_mul(size, n_heads);

    for (int i = 0; i < n; i++)
        GB_NEED(ctx, ggml_is_contiguous(src[i]),
                "%s: source %d %s is not contiguous", gb_op_word(op), i,
                GB_SHAPE(src[i]));
    for (int i = 0; i < n - 1; i++)
        GB_NEED(ctx,
                is_3d(src[i], size, n_heads, i == i_bonus ? 1 : n_tokens),
                "%s: k has shape %s, source %d %s", gb_op_word(op),
                GB_SHAPE(k), i, GB_SHAPE(src[i]));
    GB_NEED(ctx,
            gb_dim_divides(n_seqs, n_tokens) &&
                gb_op_elements(state->ne) ==
                    gb_dim_mul(gb_dim_mul(width, size), n_seqs),
            "%s: %s is no state of k %s for each sequence", gb_op_word(op),
            GB_SHAPE(state), GB_SHAPE(k));
    return gb_op_new(
        ctx, op, GGML_TYPE_F32,
        (const int64_t[]){
            width, gb_dim_add(n_tokens, gb_dim_mul(size, n_seqs)), 1, 1 },
        src);
}

struct ggml_tensor *
ggml_rwkv_wkv6(struct ggml_context *ctx, struct ggml_tensor *k,
               struct ggml_tensor *v, struct ggml_tensor *r,
               struct ggml_tensor *tf, struct ggml_tensor *td,
               struct ggml_tensor *state)
{
    GB_NEED_SOURCES(ctx, "rwkv_wkv6", k, v, r, tf, td, state);
    return linear_attention(ctx, GGML_OP_RWKV_WKV6,
                            GB_SRC(k, v, r, tf, td, state), 6, 3);
}

struct ggml_tensor *
ggml_gated_linear_attn(struct ggml_context *ctx, struct ggml_tensor *k,
                       struct ggml_tensor *v, struct ggml_tensor *q,
                       struct ggml_tensor *g, struct ggml_tensor *state,
                       float scale)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "gated_linear_attn", k, v, q, g, state);
    node = linear_attention(ctx, GGML_OP_GATED_LINEAR_ATTN,
                            GB_SRC(k, v, q, g, state), 5, -1);
    gb_op_set_f32(node, 0, scale);
    return node;
}
