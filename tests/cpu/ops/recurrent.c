/* SPDX-License-Identifier: MIT */
/*
 * Operations that carry a state from token to token.
 *
 * References follow one element through all tokens from its first state on.
 */
#include "tests/cpu/ops/driver.h"

static double
ssm_conv_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                   int64_t i2, int64_t i3)
{
    const struct ggml_tensor *c = node->src[1];
    double sum = 0;

    (void)i3;
    for (int64_t x = 0; x < c->ne[0]; x++)
        sum += at(node->src[0], i1 + x, i0, i2, 0) * at(c, x, i0, 0, 0);
    return sum;
}

static void
short_convolutions_along_the_tokens(void **state)
{
    (void)state;
    for (int k = 1; k < 6; k++)
        for (int tokens = 0; tokens < 9; tokens += 4) {
            struct bench bench = bench_open();
            struct ggml_tensor *x = tensor(&bench, GGML_TYPE_F32, DENSE,
                                           k - 1 + tokens, 37, 2, 1);
            struct ggml_tensor *c =
                tensor(&bench, GGML_TYPE_F32, DENSE, k, 37, 1, 1);

            if (x->ne[0] > 0)
                check(&bench, ggml_ssm_conv(bench.ctx, x, c),
                      ssm_conv_reference, 1e-12);
            bench_close(&bench);
        }
}

/* The state of (n, r, seq) after TOKENS tokens. */
static double
scan_state(const struct ggml_tensor *node, int64_t n, int64_t r, int64_t seq,
           int64_t tokens)
{
    double state = at(node->src[0], n, r, seq, 0);

    for (int64_t t = 0; t < tokens; t++) {
        const double dt = at(node->src[2], r, t, seq, 0);
        const double step = dt <= 20 ? log1p(exp(dt)) : dt;

        state = state * exp(step * at(node->src[3], n, r, 0, 0)) +
                at(node->src[4], n, t, seq, 0) *
                    at(node->src[1], r, t, seq, 0) * step;
    }
    return state;
}

static double
ssm_scan_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                   int64_t i2, int64_t i3)
{
    const struct ggml_tensor *s = node->src[0];
    const struct ggml_tensor *x = node->src[1];
    const int64_t n_rows = s->ne[1];
    const int64_t n_y = ggml_nelements(x);
    const int64_t r = i0 % n_rows;
    const int64_t t = i0 / n_rows % (x->ne[1] > 0 ? x->ne[1] : 1);
    const int64_t seq = n_y > 0 ? i0 / n_rows / x->ne[1] : 0;
    double y = 0;

    (void)i1;
    (void)i2;
    (void)i3;
    if (i0 >= n_y) {
        const int64_t i = i0 - n_y;

        return scan_state(node, i % s->ne[0], i / s->ne[0] % n_rows,
                          i / s->ne[0] / n_rows, x->ne[1]);
    }
    for (int64_t n = 0; n < s->ne[0]; n++)
        y += scan_state(node, n, r, seq, t + 1) *
             at(node->src[5], n, t, seq, 0);
    return y;
}

static void
selective_scans(void **state)
{
    static const int64_t states[] = { 1, 5, 16, 19 };

    (void)state;
    for (int i = 0; i < 4; i++)
        for (int tokens = 0; tokens < 8; tokens += 7) {
            const int64_t n = states[i];
            struct bench bench = bench_open();
            struct ggml_context *ctx = bench.ctx;
            struct ggml_tensor *s =
                tensor(&bench, GGML_TYPE_F32, DENSE, n, 35, 2, 1);
            struct ggml_tensor *x =
                tensor(&bench, GGML_TYPE_F32, DENSE, 35, tokens, 2, 1);
            struct ggml_tensor *dt =
                tensor(&bench, GGML_TYPE_F32, DENSE, 35, tokens, 2, 1);
            struct ggml_tensor *a =
                tensor(&bench, GGML_TYPE_F32, DENSE, n, 35, 1, 1);
            struct ggml_tensor *b =
                tensor(&bench, GGML_TYPE_F32, PADDED, n, tokens, 2, 1);
            struct ggml_tensor *c =
                tensor(&bench, GGML_TYPE_F32, PADDED, n, tokens, 2, 1);

            fill(&bench, a, -1.0, 0.0);
            fill(&bench, dt, -3.0, 3.0);
            if (tokens > 0)
                put(dt, 3, 0, 0, 0, 25.0);
            check(&bench, ggml_ssm_scan(ctx, s, x, dt, a, b, c),
                  ssm_scan_reference, 1e-10);
            bench_close(&bench);
        }
}

/* Element (i, j) of a head's state in front of token T. */
static double
linear_state(const struct ggml_tensor *node, int64_t i, int64_t j,
             int64_t head, int64_t first, int64_t t)
{
    const bool is_wkv6 = node->op == GGML_OP_RWKV_WKV6;
    const struct ggml_tensor *k = node->src[0];
    const struct ggml_tensor *decay = node->src[is_wkv6 ? 4 : 3];
    const struct ggml_tensor *s = node->src[is_wkv6 ? 5 : 4];
    const int64_t z = k->ne[0];
    const int64_t seq = first / (k->ne[2] / s->ne[1]);
    const int64_t at_first =
        ((seq * k->ne[1] + head) * z + i) * z + j;
    double state = ((const float *)s->data)[at_first];

    for (int64_t u = first; u < t; u++)
        state = state * at(decay, i, head, u, 0) +
                at(k, i, head, u, 0) * at(node->src[1], j, head, u, 0);
    return state;
}

static double
linear_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                 int64_t i2, int64_t i3)
{
    const bool is_wkv6 = node->op == GGML_OP_RWKV_WKV6;
    const struct ggml_tensor *k = node->src[0];
    const int64_t z = k->ne[0];
    const int64_t tokens = k->ne[2];
    const int64_t run = tokens / node->src[is_wkv6 ? 5 : 4]->ne[1];
    const int64_t head = i0 / z;
    const int64_t j = i0 % z;
    const int64_t first = i1 / run * run;
    float scale;
    double sum = 0;

    (void)i2;
    (void)i3;
    if (i1 >= tokens) {
        const int64_t n = (i1 - tokens) * node->ne[0] + i0;
        const int64_t seq = n / z / z / k->ne[1];

        return linear_state(node, n / z % z, n % z, n / z / z % k->ne[1],
                            seq * run, (seq + 1) * run);
    }
    memcpy(&scale, node->op_params, sizeof(scale));
    for (int64_t i = 0; i < z; i++) {
        const double r = at(node->src[2], i, head, i1, 0);

        if (is_wkv6)
            sum += r * (at(node->src[3], i, head, 0, 0) *
                            at(k, i, head, i1, 0) *
                            at(node->src[1], j, head, i1, 0) +
                        linear_state(node, i, j, head, first, i1));
        else
            sum += scale * r * linear_state(node, i, j, head, first, i1 + 1);
    }
    return sum;
}

static void
linear_attention_of_both_kinds(void **state)
{
    static const int64_t sizes[] = { 4, 16, 21 };

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int n_seqs = 1; n_seqs < 4; n_seqs++) {
            const int64_t z = sizes[i];
            struct bench bench = bench_open();
            struct ggml_context *ctx = bench.ctx;
            struct ggml_tensor *in[4];
            struct ggml_tensor *first =
                tensor(&bench, GGML_TYPE_F32, DENSE, z, 3, 1, 1);
            struct ggml_tensor *s = tensor(&bench, GGML_TYPE_F32, DENSE,
                                           z * z * 3, n_seqs, 1, 1);

            for (int j = 0; j < 4; j++)
                in[j] = tensor(&bench, GGML_TYPE_F32, DENSE, z, 3, 6, 1);
            check(&bench,
                  ggml_rwkv_wkv6(ctx, in[0], in[1], in[2], first, in[3], s),
                  linear_reference, 1e-11);
            check(&bench,
                  ggml_gated_linear_attn(ctx, in[0], in[1], in[2], in[3], s,
                                         0.25f),
                  linear_reference, 1e-11);
            bench_close(&bench);
        }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_convolutions_along_the_tokens),
        cmocka_unit_test(selective_scans),
        cmocka_unit_test(linear_attention_of_both_kinds),
    };

    return cmocka_run_group_tests_name("recurrent", tests, NULL, NULL);
}
