/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/reference-sequences.c - states that go along a sequence,
 * windows of images, relative positions, and functions of the client's.
 */
#include "tools/ggmlbackend-conformance/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
ssm_conv(const struct ggml_tensor *node, const struct values *src,
         struct values *out)
{
    (void)node;
    for (int64_t s = 0; s < out->ne[2]; s++)
        for (int64_t t = 0; t < out->ne[1]; t++)
            for (int64_t r = 0; r < out->ne[0]; r++)
                for (int64_t x = 0; x < src[1].ne[0]; x++)
                    *at(out, r, t, s, 0) +=
                        *at(&src[0], t + x, r, s, 0) * *at(&src[1], x, r, 0, 0);
}

/* "Mamba" (arXiv 2312.00752), algorithm 2, one channel of one sequence. */
static void
scan(const struct values *src, struct values *out, int64_t r, int64_t s)
{
    const int64_t n_state = src[0].ne[0], channels = src[0].ne[1];
    const int64_t tokens = src[1].ne[1], seqs = src[1].ne[2];
    double *state = must_alloc((size_t)n_state, sizeof(*state));

    memcpy(state, at(&src[0], 0, r, s, 0), (size_t)n_state * sizeof(*state));
    for (int64_t t = 0; t < tokens; t++) {
        const double x = *at(&src[1], r, t, s, 0);
        const double dt = *at(&src[2], r, t, s, 0);
        const double delta = dt <= 20 ? log1p(exp(dt)) : dt;
        double y = 0;

        for (int64_t n = 0; n < n_state; n++) {
            state[n] = state[n] * exp(delta * *at(&src[3], n, r, 0, 0)) +
                       *at(&src[4], n, t, s, 0) * x * delta;
            y += state[n] * *at(&src[5], n, t, s, 0);
        }
        out->v[r + channels * (t + tokens * s)] = y;
    }
    memcpy(&out->v[channels * tokens * seqs + n_state * (r + channels * s)],
           state, (size_t)n_state * sizeof(*state));
    free(state);
}

static void
ssm_scan(const struct ggml_tensor *node, const struct values *src,
         struct values *out)
{
    (void)node;
    for (int64_t s = 0; s < src[1].ne[2]; s++)
        for (int64_t r = 0; r < src[0].ne[1]; r++)
            scan(src, out, r, s);
}

/*
 * RWKV 6 ("Eagle and Finch", arXiv 2404.05892, section 4) and gated linear attention
 * (arXiv 2312.06635, section 4.1): a state of Z x Z for each head and sequence.
 */
static void
linear_attention(const struct ggml_tensor *node, const struct values *src,
                 struct values *out)
{
    const bool is_rwkv = node->op == GGML_OP_RWKV_WKV6;
    const int64_t z = src[0].ne[0], heads = src[0].ne[1], tokens = src[0].ne[2];
    const struct values *in = &src[is_rwkv ? 5 : 4];
    const int64_t seqs = in->ne[1];
    double *states = &out->v[tokens * z * heads];

    memcpy(states, in->v, (size_t)values_count(in) * sizeof(*states));
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t h = 0; h < heads; h++) {
            double *st = states + (t / (tokens / seqs) * heads + h) * z * z;

            for (int64_t i = 0; i < z; i++)
                for (int64_t j = 0; j < z; j++) {
                    const double kv =
                        *at(&src[0], i, h, t, 0) * *at(&src[1], j, h, t, 0);
                    double *o = &out->v[(t * heads + h) * z + j];
                    double *x = &st[i * z + j];

                    if (is_rwkv) {
                        *o += *at(&src[2], i, h, t, 0) *
                              (*at(&src[3], i, h, 0, 0) * kv + *x);
                        *x = *at(&src[4], i, h, t, 0) * *x + kv;
                    } else {
                        *x = *at(&src[3], i, h, t, 0) * *x + kv;
                        *o += param_f(node, 0) * *at(&src[2], i, h, t, 0) * *x;
                    }
                }
        }
}

static void
win_part(const struct ggml_tensor *node, const struct values *src,
         struct values *out)
{
    const int64_t px = param_i(node, 0), w = param_i(node, 2);

    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i)) {
        const int64_t x = i.i3 % px * w + i.i1, y = i.i3 / px * w + i.i2;

        if (x < src[0].ne[1] && y < src[0].ne[2])
            *at(out, i.i0, i.i1, i.i2, i.i3) = *at(&src[0], i.i0, x, y, 0);
    }
}

static void
win_unpart(const struct ggml_tensor *node, const struct values *src,
           struct values *out)
{
    const int64_t w = param_i(node, 0);
    const int64_t px = (out->ne[1] + w - 1) / w;

    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i))
        *at(out, i.i0, i.i1, i.i2, 0) = *at(&src[0], i.i0, i.i1 % w, i.i2 % w,
                                            i.i2 / w * px + i.i1 / w);
}

static void
get_rel_pos(const struct ggml_tensor *node, const struct values *src,
            struct values *out)
{
    (void)node;
    for (struct index i = index_first(); index_inside(out, &i);
         index_next(out, &i))
        *at(out, i.i0, i.i1, i.i2, 0) =
            *at(&src[0], i.i0, out->ne[1] - 1 - i.i1 + i.i2, 0, 0);
}

static void
add_rel_pos(const struct ggml_tensor *node, const struct values *src,
            struct values *out)
{
    const int64_t e = src[1].ne[0];

    (void)node;
    for (int64_t row = 0; row < values_count(out) / out->ne[0]; row++)
        for (int64_t i = 0; i < out->ne[0]; i++)
            out->v[row * out->ne[0] + i] = src[0].v[row * out->ne[0] + i] +
                                           src[1].v[row * e + i % e] +
                                           src[2].v[row * e + i / e];
}

/* What the cases' own functions do: see case-sequences.c. */
static void
custom(const struct ggml_tensor *node, const struct values *src,
       struct values *out)
{
    (void)node;
    for (int64_t i = 0; i < values_count(out); i++) {
        out->v[i] = 2 * src[0].v[i];
        if (src[1].v != NULL)
            out->v[i] += 3 * src[1].v[i];
        if (src[2].v != NULL)
            out->v[i] += 5 * src[2].v[i];
    }
}

const struct reference_row reference_sequences[] = {
    { GGML_OP_SSM_CONV, ssm_conv, NULL },
    { GGML_OP_SSM_SCAN, ssm_scan, NULL },
    { GGML_OP_RWKV_WKV6, linear_attention, NULL },
    { GGML_OP_GATED_LINEAR_ATTN, linear_attention, NULL },
    { GGML_OP_WIN_PART, win_part, NULL },
    { GGML_OP_WIN_UNPART, win_unpart, NULL },
    { GGML_OP_GET_REL_POS, get_rel_pos, NULL },
    { GGML_OP_ADD_REL_POS, add_rel_pos, NULL },
    { GGML_OP_MAP_UNARY, custom, NULL },
    { GGML_OP_MAP_BINARY, custom, NULL },
    { GGML_OP_MAP_CUSTOM1_F32, custom, NULL },
    { GGML_OP_MAP_CUSTOM2_F32, custom, NULL },
    { GGML_OP_MAP_CUSTOM3_F32, custom, NULL },
    { GGML_OP_MAP_CUSTOM1, custom, NULL },
    { GGML_OP_MAP_CUSTOM2, custom, NULL },
    { GGML_OP_MAP_CUSTOM3, custom, NULL },
    { GGML_OP_NONE, NULL, NULL },
};
