/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-sequences.c - states along sequences, windows, relative
 * positions, and functions of the client's.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

static void
state_spaces(struct suite *s)
{
    static const int64_t channels[] = { 1, 16, 33, 64 };
    static const int64_t tokens[] = { 1, 4, 9 };

    for (int r = 0; r < LENGTH(channels); r++)
        for (int t = 0; t < LENGTH(tokens); t++)
            for (int64_t seqs = 1; seqs <= 3; seqs += 2) {
                const int64_t R = channels[r], T = tokens[t];

                for (int64_t k = 2; k <= 5; k += 2) {
                    if (suite_begin(s, GGML_OP_SSM_CONV))
                        suite_check(
                            s,
                            ggml_ssm_conv(s->ctx,
                                          leaf_4d(s, GGML_TYPE_F32, k - 1 + T,
                                                  R, seqs, 1),
                                          leaf_4d(s, GGML_TYPE_F32, k, R, 1, 1)),
                            1e-7);
                }
                for (int64_t n = 4; n <= 17; n += 13) {
                    struct ggml_tensor *state, *x, *dt, *a, *b, *c;

                    if (!suite_begin(s, GGML_OP_SSM_SCAN))
                        continue;
                    state = leaf_4d(s, GGML_TYPE_F32, n, R, seqs, 1);
                    x = leaf_4d(s, GGML_TYPE_F32, R, T, seqs, 1);
                    dt = leaf_range(s, GGML_TYPE_F32, NE(R, T, seqs, 1), -2, 25);
                    a = leaf_range(s, GGML_TYPE_F32, NE(n, R, 1, 1), -1, 0);
                    b = leaf_4d(s, GGML_TYPE_F32, n, T, seqs, 1);
                    c = leaf_4d(s, GGML_TYPE_F32, n, T, seqs, 1);
                    suite_check(s, ggml_ssm_scan(s->ctx, state, x, dt, a, b, c),
                                1e-7);
                }
            }
}

static void
linear_attentions(struct suite *s)
{
    for (int64_t z = 16; z <= 64; z *= 2)
        for (int64_t heads = 1; heads <= 4; heads += 3)
            for (int64_t seqs = 1; seqs <= 4; seqs *= 2)
                for (int64_t t = seqs; t <= 8 * seqs; t *= 2) {
                    const int64_t ne[] = { z, heads, t, 1 };
                    const int64_t states[] = { z * z * heads, seqs, 1, 1 };
                    struct ggml_tensor *k, *v, *x, *tf, *td, *st;

                    if (suite_begin(s, GGML_OP_RWKV_WKV6)) {
                        k = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
                        v = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
                        x = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
                        tf = leaf_4d(s, GGML_TYPE_F32, z, heads, 1, 1);
                        td = leaf_range(s, GGML_TYPE_F32, ne, 0, 1);
                        st = leaf_range(s, GGML_TYPE_F32, states, -1, 1);
                        suite_check(
                            s, ggml_rwkv_wkv6(s->ctx, k, v, x, tf, td, st),
                            1e-7);
                    }
                    if (suite_begin(s, GGML_OP_GATED_LINEAR_ATTN)) {
                        k = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
                        v = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
                        x = leaf_range(s, GGML_TYPE_F32, ne, -1, 1);
                        td = leaf_range(s, GGML_TYPE_F32, ne, 0, 1);
                        st = leaf_range(s, GGML_TYPE_F32, states, -1, 1);
                        suite_check(s,
                                    ggml_gated_linear_attn(s->ctx, k, v, x, td,
                                                           st, 0.5f),
                                    1e-7);
                    }
                }
}

static void
windows(struct suite *s)
{
    for (int64_t c = 1; c <= 16; c += 5)
        for (int w = 1; w <= 7; w += 2)
            for (int64_t n = w; n <= 3 * w; n += 2) {
                const int64_t h = n + 1;
                const int64_t px = (n + w - 1) / w, py = (h + w - 1) / w;

                if (suite_begin(s, GGML_OP_WIN_PART))
                    suite_check(s,
                                ggml_win_part(
                                    s->ctx, leaf_4d(s, GGML_TYPE_F32, c, n, h, 1),
                                    w),
                                0);
                if (suite_begin(s, GGML_OP_WIN_UNPART))
                    suite_check(s,
                                ggml_win_unpart(s->ctx,
                                                leaf_4d(s, GGML_TYPE_F32, c, w,
                                                        w, px * py),
                                                (int)n, (int)h, w),
                                0);
            }
    for (int64_t c = 1; c <= 33; c += 8)
        for (int n = 1; n <= 9; n += 4) {
            if (suite_begin(s, GGML_OP_GET_REL_POS))
                suite_check(s,
                            ggml_get_rel_pos(
                                s->ctx,
                                leaf_4d(s, GGML_TYPE_F16, c, 2 * n - 1, 1, 1),
                                n, n),
                            0);
        }
    for (int64_t e = 1; e <= 7; e += 2)
        for (int inplace = 0; inplace < 2; inplace++) {
            struct ggml_tensor *a, *pw, *ph;

            if (!suite_begin(s, GGML_OP_ADD_REL_POS))
                continue;
            a = leaf_4d(s, GGML_TYPE_F32, e * e, 4 * 3, 2, 1);
            pw = leaf_4d(s, GGML_TYPE_F32, e, 4, 3, 2);
            ph = leaf_4d(s, GGML_TYPE_F32, e, 4, 3, 2);
            suite_check(
                s,
                (inplace ? ggml_add_rel_pos_inplace : ggml_add_rel_pos)(
                    s->ctx, a, pw, ph),
                1e-7);
        }
}

/* The client's functions: 2 a + 3 b + 5 c, which the reference knows too. */

static void
row_of_one(const int n, float *out, const float *a)
{
    for (int i = 0; i < n; i++)
        out[i] = 2 * a[i];
}

static void
row_of_two(const int n, float *out, const float *a, const float *b)
{
    for (int i = 0; i < n; i++)
        out[i] = 2 * a[i] + 3 * b[i];
}

/* Every NTH element from ITH on. */
static void
combine(struct ggml_tensor *out, const struct ggml_tensor *a,
        const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
        int nth)
{
    float *to = out->data;

    for (int64_t i = ith; i < ggml_nelements(out); i += nth)
        to[i] = 2 * ((const float *)a->data)[i] +
                (b != NULL ? 3 * ((const float *)b->data)[i] : 0) +
                (c != NULL ? 5 * ((const float *)c->data)[i] : 0);
}

static void
once1(struct ggml_tensor *out, const struct ggml_tensor *a)
{
    combine(out, a, NULL, NULL, 0, 1);
}

static void
once2(struct ggml_tensor *out, const struct ggml_tensor *a,
      const struct ggml_tensor *b)
{
    combine(out, a, b, NULL, 0, 1);
}

static void
once3(struct ggml_tensor *out, const struct ggml_tensor *a,
      const struct ggml_tensor *b, const struct ggml_tensor *c)
{
    combine(out, a, b, c, 0, 1);
}

static void
shared1(struct ggml_tensor *out, const struct ggml_tensor *a, int ith, int nth,
        void *data)
{
    (void)data;
    combine(out, a, NULL, NULL, ith, nth);
}

static void
shared2(struct ggml_tensor *out, const struct ggml_tensor *a,
        const struct ggml_tensor *b, int ith, int nth, void *data)
{
    (void)data;
    combine(out, a, b, NULL, ith, nth);
}

static void
shared3(struct ggml_tensor *out, const struct ggml_tensor *a,
        const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
        int nth, void *data)
{
    (void)data;
    combine(out, a, b, c, ith, nth);
}

/* The deprecated builders are part of what is checked. */
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

static struct ggml_tensor *
client_node(struct suite *s, enum ggml_op op, const int64_t ne[4], bool inplace,
            int n_tasks)
{
    struct ggml_tensor *x[3];

    for (int i = 0; i < 3; i++)
        x[i] = leaf_range(s, GGML_TYPE_F32, ne, 0.1, 1);
    switch ((int)op) {
    case GGML_OP_MAP_UNARY:
        return (inplace ? ggml_map_unary_inplace_f32 : ggml_map_unary_f32)(
            s->ctx, x[0], row_of_one);
    case GGML_OP_MAP_BINARY:
        return (inplace ? ggml_map_binary_inplace_f32 : ggml_map_binary_f32)(
            s->ctx, x[0], x[1], row_of_two);
    case GGML_OP_MAP_CUSTOM1_F32:
        return (inplace ? ggml_map_custom1_inplace_f32 : ggml_map_custom1_f32)(
            s->ctx, x[0], once1);
    case GGML_OP_MAP_CUSTOM2_F32:
        return (inplace ? ggml_map_custom2_inplace_f32 : ggml_map_custom2_f32)(
            s->ctx, x[0], x[1], once2);
    case GGML_OP_MAP_CUSTOM3_F32:
        return (inplace ? ggml_map_custom3_inplace_f32 : ggml_map_custom3_f32)(
            s->ctx, x[0], x[1], x[2], once3);
    case GGML_OP_MAP_CUSTOM1:
        return (inplace ? ggml_map_custom1_inplace : ggml_map_custom1)(
            s->ctx, x[0], shared1, n_tasks, NULL);
    case GGML_OP_MAP_CUSTOM2:
        return (inplace ? ggml_map_custom2_inplace : ggml_map_custom2)(
            s->ctx, x[0], x[1], shared2, n_tasks, NULL);
    default:
        return (inplace ? ggml_map_custom3_inplace : ggml_map_custom3)(
            s->ctx, x[0], x[1], x[2], shared3, n_tasks, NULL);
    }
}

static void
client_functions(struct suite *s)
{
    static const int64_t ne[][4] = {
        { 1, 1, 1, 1 }, { 33, 5, 2, 3 }, { 1024, 7, 1, 1 },
    };

    for (int op = GGML_OP_MAP_UNARY; op <= GGML_OP_MAP_CUSTOM3; op++)
        for (int i = 0; i < LENGTH(ne); i++)
            for (int inplace = 0; inplace < 2; inplace++)
                for (int n_tasks = GGML_N_TASKS_MAX; n_tasks < 4; n_tasks += 2) {
                    if (op < GGML_OP_MAP_CUSTOM1 && n_tasks > 0)
                        continue;
                    if (!suite_begin(s, (enum ggml_op)op))
                        continue;
                    suite_check(s,
                                client_node(s, (enum ggml_op)op, ne[i], inplace,
                                            n_tasks),
                                1e-12);
                }
}

void
cases_sequences(struct suite *s)
{
    state_spaces(s);
    linear_attentions(s);
    windows(s);
    client_functions(s);
}
