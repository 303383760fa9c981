/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-far.c - rows that lie more than 1 GiB apart, so that
 * an offset does not fit 32 bits.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

static void
elements(struct suite *s)
{
    struct ggml_tensor *far;

    if (suite_begin(s, GGML_OP_ADD)) {
        far = leaf_far(s, GGML_TYPE_F32, 70, -1, 1);
        suite_check(s,
                    ggml_add(s->ctx, leaf_4d(s, GGML_TYPE_F32, 70, FAR_ROWS, 1, 1),
                             far),
                    1e-7);
    }
    if (suite_begin(s, GGML_OP_CONT)) {
        far = leaf_far(s, GGML_TYPE_F16, 70, -1, 1);
        suite_check(s, ggml_cont(s->ctx, far), 0);
    }
    if (suite_begin(s, GGML_OP_RMS_NORM)) {
        far = leaf_far(s, GGML_TYPE_F32, 70, -1, 1);
        suite_check(s, ggml_rms_norm(s->ctx, far, 1e-5f), 1e-7);
    }
}

/* From rows that lie far apart, and to such. */
static void
copies(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_Q8_0 };

    for (int i = 0; i < LENGTH(types); i++) {
        struct ggml_tensor *near;

        if (suite_begin(s, GGML_OP_CPY)) {
            near = leaf_4d(s, GGML_TYPE_F32, 64, FAR_ROWS, 1, 1);
            suite_check(s,
                        ggml_cpy(s->ctx, leaf_far(s, types[i], 64, -1, 1), near),
                        1e-7);
        }
        if (suite_begin(s, GGML_OP_CPY)) {
            near = leaf_4d(s, GGML_TYPE_F32, 64, FAR_ROWS, 1, 1);
            suite_check(s,
                        ggml_cpy(s->ctx, near, leaf_far(s, types[i], 64, -1, 1)),
                        limit_of_type(types[i]));
        }
    }
}

static void
weights(struct suite *s)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_Q4_0, GGML_TYPE_Q4_K };

    for (int i = 0; i < LENGTH(types); i++) {
        const double limit = types[i] == GGML_TYPE_F32 ? 1e-7 : 5e-4;
        struct ggml_tensor *far, *ids;

        for (int n = 1; n <= 33; n += 16) {
            if (!suite_begin(s, GGML_OP_MUL_MAT))
                continue;
            far = leaf_far(s, types[i], 256, -1, 1);
            suite_check(s,
                        ggml_mul_mat(s->ctx, far,
                                     leaf_4d(s, GGML_TYPE_F32, 256, n, 1, 1)),
                        limit);
        }
        if (suite_begin(s, GGML_OP_GET_ROWS)) {
            far = leaf_far(s, types[i], 256, -1, 1);
            ids = leaf_filled(s, GGML_TYPE_I32, NE(11, 1, 1, 1), FILL_INTEGERS,
                              0, FAR_ROWS);
            suite_check(s, ggml_get_rows(s->ctx, far, ids), 1e-7);
        }
    }
}

/* The last of the keys, and of the values; of many, so that they are taken in several
 * pieces. */
static void
keys(struct suite *s, int64_t n, int64_t n_keys)
{
    struct ggml_tensor *q, *k, *v;

    if (!suite_begin(s, GGML_OP_FLASH_ATTN_EXT))
        return;
    q = leaf_4d(s, GGML_TYPE_F32, 64, n, 1, 1);
    k = leaf_far_rows(s, GGML_TYPE_F16, 64, n_keys, -1, 1);
    v = leaf_far_rows(s, GGML_TYPE_F16, 64, n_keys, -1, 1);
    suite_check(s, ggml_flash_attn_ext(s->ctx, q, k, v, NULL, 0.25f, 0, 0),
                5e-4);
}

void
cases_far(struct suite *s)
{
    if (sizeof(size_t) < 8 || s->loose)
        return;
    elements(s);
    copies(s);
    weights(s);
    keys(s, 1, FAR_ROWS);
    keys(s, 33, FAR_ROWS);
    keys(s, 1, 130);
    keys(s, 33, 130);
}
