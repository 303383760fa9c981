/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-networks.c - norms, softmax, rotary positions,
 * and losses.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

static const int64_t shapes[][4] = {
    { 64, 5, 4, 3 }, { 1, 3, 1, 1 },   { 33, 7, 1, 1 }, { 500, 2, 2, 1 },
    { 17, 1, 3, 2 }, { 1025, 3, 1, 1 }, { 16, 0, 1, 1 },
};

static void
norms(struct suite *s)
{
    static const float eps[] = { 1e-6f, 1e-5f, 1e-1f };

    for (int j = 0; j < LENGTH(shapes); j++)
        for (int e = 0; e < 3; e++)
            for (int how = 0; how < 3; how++)
                for (int rms = 0; rms < 2; rms++) {
                    struct ggml_tensor *a;

                    if (!suite_begin(s, rms ? GGML_OP_RMS_NORM : GGML_OP_NORM))
                        continue;
                    a = leaf_range(s, GGML_TYPE_F32, shapes[j], -10, 10);
                    if (how == 2)
                        a = ggml_permute(s->ctx, a, 0, 2, 3, 1);
                    if (rms)
                        a = (how == 1 ? ggml_rms_norm_inplace : ggml_rms_norm)(
                            s->ctx, a, eps[e]);
                    else
                        a = (how == 1 ? ggml_norm_inplace
                                      : ggml_norm)(s->ctx, a, eps[e]);
                    suite_check(s, a, 1e-7);
                }
    for (int j = 0; j < LENGTH(shapes); j++)
        for (int e = 0; e < 3; e++) {
            /* A row of one value is all cancellation where eps is small. */
            if ((shapes[j][0] > 1 || eps[e] > 0.01f) &&
                suite_begin(s, GGML_OP_RMS_NORM_BACK))
                suite_check(
                    s,
                    ggml_rms_norm_back(
                        s->ctx, leaf_range(s, GGML_TYPE_F32, shapes[j], -1, 1),
                        leaf_range(s, GGML_TYPE_F32, shapes[j], -1, 1), eps[e]),
                    1e-7);
            for (int groups = 1; groups <= 4 && shapes[j][1] > 0; groups++) {
                if (suite_begin(s, GGML_OP_GROUP_NORM))
                    suite_check(s,
                                (groups % 2 ? ggml_group_norm
                                            : ggml_group_norm_inplace)(
                                    s->ctx,
                                    leaf_range(s, GGML_TYPE_F32,
                                               NE(shapes[j][0], shapes[j][1], 7,
                                                  2),
                                               -1, 1),
                                    groups, eps[e]),
                                1e-7);
            }
        }
}

static void
softmaxes(struct suite *s)
{
    static const int64_t rows[] = { 1, 16, 33, 200, 1024 };

    for (int i = 0; i < LENGTH(rows); i++)
        for (int heads = 1; heads <= 6; heads += 5)
            for (int how = 0; how < 8; how++) {
                const int64_t ne[] = { rows[i], 5, heads, 1 + how % 2 };
                const enum ggml_type type =
                    (how & 1) != 0 ? GGML_TYPE_F16 : GGML_TYPE_F32;
                struct ggml_tensor *mask = NULL;

                if (!suite_begin(s, GGML_OP_SOFT_MAX))
                    continue;
                if (how >= 2)
                    mask = leaf_range(s, type, NE(rows[i], how < 4 ? 5 : 7, 1, 1),
                                      -2, 0);
                suite_check(s,
                            ggml_soft_max_ext(
                                s->ctx,
                                leaf_range(s, GGML_TYPE_F32, ne, -9, 9), mask,
                                how < 6 ? 1.0f : 0.1f, how < 4 ? 0.0f : 8.0f),
                            1e-6);
            }
    for (int j = 0; j < LENGTH(shapes); j++) {
        if (suite_begin(s, GGML_OP_SOFT_MAX))
            suite_check(s,
                        ggml_soft_max_inplace(
                            s->ctx,
                            leaf_range(s, GGML_TYPE_F32, shapes[j], -50, 50)),
                        1e-6);
        for (int inplace = 0; inplace < 2; inplace++) {
            if (suite_begin(s, GGML_OP_SOFT_MAX_BACK))
                suite_check(
                    s,
                    (inplace ? ggml_soft_max_ext_back_inplace
                             : ggml_soft_max_ext_back)(
                        s->ctx, leaf_range(s, GGML_TYPE_F32, shapes[j], -1, 1),
                        leaf_range(s, GGML_TYPE_F32, shapes[j], 0, 1), 0.7f,
                        0.0f),
                    1e-6);
        }
        /* The mean over no rows is not defined. */
        if (shapes[j][1] > 0 && suite_begin(s, GGML_OP_CROSS_ENTROPY_LOSS))
            suite_check(s,
                        ggml_cross_entropy_loss(
                            s->ctx,
                            leaf_range(s, GGML_TYPE_F32, shapes[j], -9, 9),
                            leaf_range(s, GGML_TYPE_F32, shapes[j], 0, 1)),
                        1e-7);
        if (suite_begin(s, GGML_OP_CROSS_ENTROPY_LOSS_BACK))
            suite_check(s,
                        ggml_cross_entropy_loss_back(
                            s->ctx, leaf_4d(s, GGML_TYPE_F32, 1, 1, 1, 1),
                            leaf_range(s, GGML_TYPE_F32, shapes[j], -9, 9),
                            leaf_range(s, GGML_TYPE_F32, shapes[j], 0, 1)),
                        1e-6);
    }
}

/* One rotation; PARAMS picks base, scaling and magnitude. */
static void
rotate(struct suite *s, enum ggml_type type, const int64_t ne[4], int n_dims,
       int mode, bool factors, int params, int how)
{
    const bool is_multi = (mode & GGML_ROPE_TYPE_MROPE) != 0;
    const bool is_vision = mode == GGML_ROPE_TYPE_VISION;
    const float freq_scale = params == 0 ? 1.0f : 1.4245f;
    const float ext = params == 2 ? 0.7465f : 0.0f;
    const float attn = params == 0 ? 1.0f : 1.4245f;
    int sections[4] = { n_dims / 4, n_dims / 8, n_dims / 8, 0 };
    struct ggml_tensor *a, *pos, *c = NULL, *node;
    const bool back = how == 2;

    if (!suite_begin(s, back ? GGML_OP_ROPE_BACK : GGML_OP_ROPE))
        return;
    a = leaf_range(s, type, ne, -1, 1);
    if (how == 3) {
        /* The middle of longer rows. */
        a = leaf_range(s, type, NE(2 * ne[0], ne[1], ne[2], ne[3]), -1, 1);
        a = ggml_view_4d(s->ctx, a, ne[0], ne[1], ne[2], ne[3], a->nb[1],
                         a->nb[2], a->nb[3], 2 * ggml_element_size(a));
    }
    pos = leaf_filled(s, GGML_TYPE_I32, NE(ne[2] * (is_multi ? 4 : 1), 1, 1, 1),
                      FILL_INTEGERS, 0, 500);
    if (factors)
        c = leaf_range(s, GGML_TYPE_F32,
                       NE(is_vision ? n_dims : n_dims / 2, 1, 1, 1), 0.9, 1.1);
    if (is_multi)
        node = (back ? ggml_rope_multi_back : ggml_rope_multi)(
            s->ctx, a, pos, c, n_dims, sections, mode, 512, 10000.0f,
            freq_scale, ext, attn, 1.0f, 32.0f);
    else
        node = (back       ? ggml_rope_ext_back
                : how == 1 ? ggml_rope_ext_inplace
                           : ggml_rope_ext)(
            s->ctx, a, pos, c, n_dims, mode, 512, 10000.0f, freq_scale, ext,
            attn, 1.0f, 32.0f);
    /* Angles are known to some ulp of the position times the frequency. */
    suite_check(s, node, type == GGML_TYPE_F16 ? 1e-6 : 1e-7);
}

static void
rotations(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16 };
    static const struct {
        int64_t ne[4];
        int n_dims, mode;
    } cases[] = {
        { { 128, 4, 3, 1 }, 128, 0 },
        { { 128, 3, 2, 2 }, 64, 0 },
        { { 80, 2, 5, 1 }, 32, GGML_ROPE_TYPE_NEOX },
        { { 64, 3, 7, 2 }, 64, GGML_ROPE_TYPE_NEOX },
        { { 64, 2, 1, 1 }, 20, GGML_ROPE_TYPE_NEOX },
        { { 128, 2, 4, 1 }, 128, GGML_ROPE_TYPE_MROPE },
        { { 128, 2, 4, 1 }, 64, GGML_ROPE_TYPE_MROPE },
        { { 80, 3, 2, 1 }, 40, GGML_ROPE_TYPE_VISION },
        { { 64, 2, 3, 2 }, 32, GGML_ROPE_TYPE_VISION },
    };

    for (int i = 0; i < LENGTH(cases); i++)
        for (int t = 0; t < 2; t++)
            for (int factors = 0; factors < 2; factors++)
                for (int params = 0; params < 3; params++)
                    for (int how = 0; how < 4; how++) {
                        const bool is_multi =
                            (cases[i].mode & GGML_ROPE_TYPE_MROPE) != 0;

                        if (how == 1 && is_multi)
                            continue;
                        rotate(s, types[t], cases[i].ne, cases[i].n_dims,
                               cases[i].mode, factors, params, how);
                    }
    /* So many that threads of a small card have several heads each. */
    rotate(s, GGML_TYPE_F32, NE(64, 7, 40, 1), 64, 0, false, 0, 0);
}

void
cases_networks(struct suite *s)
{
    norms(s);
    softmaxes(s);
    rotations(s);
}
