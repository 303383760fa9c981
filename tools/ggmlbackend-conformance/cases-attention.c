/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-conformance/cases-attention.c - attention: types, masks, sizes of heads,
 * and numbers of keys that fill and overhang tiles.
 */
#include "tools/ggmlbackend-conformance/suite.h"

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define NE(...)       ((const int64_t[]){ __VA_ARGS__ })

static void
attend(struct suite *s, enum ggml_type type_k, enum ggml_type type_v, int64_t d,
       int64_t n, int64_t m, int64_t heads, int64_t kv_heads, int how)
{
    const bool masked = how % 2 == 1;
    const float bias = how == 3 ? 8.0f : 0.0f;
    const float cap = how >= 4 ? 10.0f : 0.0f;
    struct ggml_tensor *q, *k, *v, *mask = NULL;

    if (!suite_begin(s, GGML_OP_FLASH_ATTN_EXT))
        return;
    if (how == 5) {
        /* [d, heads, tokens] in memory. */
        q = ggml_permute(s->ctx, leaf_4d(s, GGML_TYPE_F32, d, heads, n, 1), 0, 2,
                         1, 3);
        k = ggml_permute(s->ctx, leaf_4d(s, type_k, d, kv_heads, m, 1), 0, 2, 1,
                         3);
        v = ggml_permute(s->ctx, leaf_4d(s, type_v, d, kv_heads, m, 1), 0, 2, 1,
                         3);
    } else {
        q = leaf_4d(s, GGML_TYPE_F32, d, n, heads, 1);
        k = leaf_4d(s, type_k, d, m, kv_heads, 1);
        v = leaf_4d(s, type_v, d, m, kv_heads, 1);
    }
    if (masked)
        mask = leaf_range(s, GGML_TYPE_F16,
                          NE(m, GGML_PAD(n, GGML_KQ_MASK_PAD), 1, 1), -2, 0);
    suite_check(s,
                ggml_flash_attn_ext(s->ctx, q, k, v, mask, 0.25f, bias, cap),
                5e-4);
}

static void
attentions(struct suite *s)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0,
        GGML_TYPE_Q4_0, GGML_TYPE_Q5_1,
    };

    for (int t = 0; t < LENGTH(types); t++)
        for (int how = 0; how < 6; how++)
            for (int shape = 0; shape < 6; shape++) {
                static const int64_t tokens[] = { 1, 3, 35, 1, 7, 2 };
                static const int64_t keys[] = { 1, 113, 64, 512, 33, 96 };
                static const int64_t heads[] = { 4, 8, 2, 9, 4, 6 };
                static const int64_t kv_heads[] = { 4, 2, 2, 3, 1, 2 };

                attend(s, types[t], types[t], shape % 2 == 0 ? 64 : 128,
                       tokens[shape], keys[shape], heads[shape],
                       kv_heads[shape], how);
            }
    for (int t = 0; t < LENGTH(types); t++) {
        attend(s, types[t], GGML_TYPE_F16, 256, 4, 50, 4, 2, 1);
        attend(s, GGML_TYPE_F16, types[t], 64, 4, 50, 4, 2, 3);
    }
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;

        if (ggml_is_quantized(type) && type != GGML_TYPE_Q8_1 &&
            type != GGML_TYPE_Q8_K)
            attend(s, type, type, 256, 3, 20, 2, 1, 1);
    }
}

/* Each size of heads with some numbers of keys and tokens, so that in all of them
 * each number was there. */
static void
sizes(struct suite *s)
{
    static const int64_t heads[] = { 40, 64, 72, 80, 96, 112, 128, 192, 256 };
    static const int64_t keys[] = { 31, 64, 65, 127, 257, 1024, 4096 };
    static const int64_t tokens[] = { 1, 2, 8, 16, 17, 64, 65 };
    static const enum ggml_type types[] = { GGML_TYPE_F16, GGML_TYPE_BF16,
                                            GGML_TYPE_F32 };

    for (int i = 0; i < LENGTH(heads); i++)
        for (int j = 0; j < LENGTH(keys); j++) {
            const enum ggml_type type = types[(i + j) % LENGTH(types)];
            const int64_t n = tokens[(2 * i + j) % LENGTH(tokens)];

            /* Many keys with many tokens show nothing that fewer do not. */
            attend(s, type, type, heads[i], keys[j] > 1000 && n > 8 ? 3 : n,
                   keys[j], 2, 1, (i + 2 * j) % 6);
        }
}

/* The longest heads with more tokens than a tile of a few rows takes: enough of
 * them for each part of the cases to have some. */
static void
long_heads(struct suite *s)
{
    static const int64_t heads[] = { 136, 192, 256 };
    static const enum ggml_type types[] = { GGML_TYPE_F16, GGML_TYPE_Q8_0 };

    for (int i = 0; i < 12; i++) {
        const int64_t d = heads[i % LENGTH(heads)];
        const enum ggml_type type =
            d % 32 != 0 ? GGML_TYPE_F16 : types[i / 3 % LENGTH(types)];

        attend(s, type, type, d, 33, 70, 2, 1, i % 6);
    }
}

/* Decode: tokens and heads that share keys in F16, with a mask that hides many of
 * these: sizes of heads, of groups and numbers of keys that fill and overhang
 * what is taken at a time. */
static void
decode(struct suite *s)
{
    static const int64_t sizes_of[] = { 64, 80, 128, 256 };
    static const int64_t keys[] = { 1,   63,  64,   65,  129,
                                    255, 257, 1000, 4096 };
    static const int64_t groups[] = { 1, 4, 8, 16 };
    static const int64_t tokens[] = { 1, 2, 4 };

    for (int i = 0; i < LENGTH(sizes_of) * LENGTH(keys); i++) {
        const int64_t d = sizes_of[i % LENGTH(sizes_of)];
        const int64_t m = keys[i / LENGTH(sizes_of)];
        const int64_t group = groups[(i + i / 4) % LENGTH(groups)];
        const int64_t n = tokens[(i + i / 4 + i / 12) % LENGTH(tokens)];
        const int64_t kv_heads = 1 + i % 3, batches = 1 + i / 2 % 2;
        struct ggml_tensor *q, *k, *v, *mask;

        if (!suite_begin(s, GGML_OP_FLASH_ATTN_EXT))
            continue;
        q = leaf_4d(s, GGML_TYPE_F32, d, n, group * kv_heads, batches);
        k = leaf_4d(s, GGML_TYPE_F16, d, m, kv_heads, i % 5 == 0 ? 1 : batches);
        v = leaf_4d(s, GGML_TYPE_F16, d, m, kv_heads, batches);
        mask = leaf_filled(s, GGML_TYPE_F16,
                           NE(m, GGML_PAD(n, GGML_KQ_MASK_PAD), 1, 1),
                           FILL_HIDING, -2, 0);
        suite_check(s,
                    ggml_flash_attn_ext(s->ctx, q, k, v, mask, 0.25f,
                                        i % 4 == 1 ? 8.0f : 0.0f,
                                        i % 4 == 2 ? 10.0f : 0.0f),
                    5e-4);
    }
}

/* Prompts: rows of a group that fill and overhang tiles of 64 and of 128, keys in
 * F16 that do so with steps of as many; behind each other by head and, with every
 * other size, by token, some of them with other batches. */
static void
prompts(struct suite *s)
{
    static const int64_t sizes_of[] = { 40, 64, 80, 128, 112, 128 };
    static const int64_t keys[] = { 1, 127, 128, 129, 256, 257, 300, 513 };
    static const int64_t groups[] = { 1, 2, 4, 8 };
    static const int64_t rows[] = { 65, 128, 136, 256, 72 };

    for (int i = 0; i < 40; i++) {
        const int64_t d = sizes_of[i % LENGTH(sizes_of)];
        const int64_t m = keys[i % LENGTH(keys)];
        const int64_t group = groups[i / 2 % LENGTH(groups)];
        const int64_t n =
            (rows[i % LENGTH(rows)] + group - 1) / group;
        const int64_t kv_heads = 1 + i % 3, batches = 1 + i / 3 % 2;
        struct ggml_tensor *q, *k, *v, *mask = NULL;

        if (!suite_begin(s, GGML_OP_FLASH_ATTN_EXT))
            continue;
        q = leaf_4d(s, GGML_TYPE_F32, d, n, group * kv_heads, batches);
        if (i % 2 == 0) {
            k = leaf_4d(s, GGML_TYPE_F16, d, m, kv_heads, batches);
            v = leaf_4d(s, GGML_TYPE_F16, d, m, kv_heads,
                        i % 5 == 0 ? 1 : batches);
        } else {
            k = ggml_permute(s->ctx,
                             leaf_4d(s, GGML_TYPE_F16, d, kv_heads, m, batches),
                             0, 2, 1, 3);
            v = ggml_permute(s->ctx,
                             leaf_4d(s, GGML_TYPE_F16, d, kv_heads, m, batches),
                             0, 2, 1, 3);
        }
        if (i % 3 != 0)
            mask = leaf_filled(s, GGML_TYPE_F16,
                               NE(m, GGML_PAD(n, GGML_KQ_MASK_PAD), 1, 1),
                               FILL_HIDING, -2, 0);
        suite_check(s,
                    ggml_flash_attn_ext(s->ctx, q, k, v, mask,
                                        i % 7 == 3 ? -0.25f : 0.25f,
                                        i % 3 == 1 ? 8.0f : 0.0f,
                                        i % 5 == 2 ? 10.0f : 0.0f),
                    5e-4);
    }
}

/* Keys that agree with a token far better than others, and values beyond what
 * products of halves may come to. */
static void
large_values(struct suite *s)
{
    for (int n = 1; n <= 33; n += 16) {
        struct ggml_tensor *q, *k, *v;

        if (!suite_begin(s, GGML_OP_FLASH_ATTN_EXT))
            continue;
        q = leaf_range(s, GGML_TYPE_F32, NE(64, n, 4, 1), -3e3, 3e3);
        k = leaf_range(s, GGML_TYPE_F16, NE(64, 70, 2, 1), -3e2, 3e2);
        v = leaf_range(s, GGML_TYPE_F16, NE(64, 70, 2, 1), -6e4, 6e4);
        suite_check(s, ggml_flash_attn_ext(s->ctx, q, k, v, NULL, 1e-6f, 0, 0),
                    5e-4);
    }
    /* Scores up to 10^12, of which one key has all the weight; whole steps. */
    for (int n = 33; n <= 128; n += 95) {
        struct ggml_tensor *q, *k, *v;

        if (!suite_begin(s, GGML_OP_FLASH_ATTN_EXT))
            continue;
        q = leaf_range(s, GGML_TYPE_F32, NE(128, n, 4, 1), -3e4, 3e4);
        k = leaf_range(s, GGML_TYPE_F16, NE(128, 256, 2, 1), -6e4, 6e4);
        v = leaf_range(s, GGML_TYPE_F16, NE(128, 256, 2, 1), -6e4, 6e4);
        suite_check(s, ggml_flash_attn_ext(s->ctx, q, k, v, NULL, 1.0f, 0, 0),
                    5e-4);
    }
}

/* Keys and values beyond the range of halves, and below what these tell from
 * 0. */
static void
wide_values(struct suite *s)
{
    static const float sizes[] = { 1e-12f, 1.0f, 1e12f };

    for (int k_size = 0; k_size < LENGTH(sizes); k_size++)
        for (int v_size = 0; v_size < LENGTH(sizes); v_size++) {
            const float of_k = sizes[k_size], of_v = sizes[v_size];
            struct ggml_tensor *q, *k, *v;

            if (!suite_begin(s, GGML_OP_FLASH_ATTN_EXT))
                continue;
            q = leaf_range(s, GGML_TYPE_F32, NE(64, 17, 4, 1), -1 / of_k,
                           1 / of_k);
            k = leaf_range(s, GGML_TYPE_BF16, NE(64, 150, 2, 1), -of_k, of_k);
            v = leaf_range(s, GGML_TYPE_BF16, NE(64, 150, 2, 1), -of_v, of_v);
            suite_check(
                s, ggml_flash_attn_ext(s->ctx, q, k, v, NULL, 0.25f, 0, 0),
                5e-4);
        }
}

/* Sums in F32 are asked for, with which nothing is lost but by rounding queries
 * and exponentials to F16. */
static void
precise(struct suite *s)
{
    for (int n = 1; n <= 33; n += 16) {
        struct ggml_tensor *q, *k, *v, *node;

        if (!suite_begin(s, GGML_OP_FLASH_ATTN_EXT))
            continue;
        q = leaf_4d(s, GGML_TYPE_F32, 64, n, 4, 1);
        k = leaf_4d(s, GGML_TYPE_F16, 64, 70, 2, 1);
        v = leaf_4d(s, GGML_TYPE_F16, 64, 70, 2, 1);
        node = ggml_flash_attn_ext(s->ctx, q, k, v, NULL, 0.25f, 0, 0);
        ggml_flash_attn_ext_set_prec(node, GGML_PREC_F32);
        suite_check(s, node, 1e-6);
    }
}

void
cases_attention(struct suite *s)
{
    attentions(s);
    sizes(s);
    long_heads(s);
    decode(s);
    prompts(s);
    large_values(s);
    wide_values(s);
    precise(s);
}

/* Each type that caches have, in heads of each class of size, for a token and for
 * many; and with values of another type. */
void
cases_cache_types(struct suite *s)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32,  GGML_TYPE_F16,  GGML_TYPE_BF16,
        GGML_TYPE_Q8_0, GGML_TYPE_Q4_0, GGML_TYPE_Q4_1,
        GGML_TYPE_Q5_0, GGML_TYPE_Q5_1, GGML_TYPE_IQ4_NL,
    };
    static const int64_t sizes[] = { 64, 128, 256 };
    static const int64_t tokens[] = { 1, 2, 9 };

    for (int t = 0; t < LENGTH(types); t++)
        for (int d = 0; d < LENGTH(sizes); d++)
            for (int n = 0; n < LENGTH(tokens); n++)
                attend(s, types[t], types[t], sizes[d], tokens[n], 72, 8, 2, 1);
    for (int t = 0; t < LENGTH(types); t++)
        attend(s, types[t], GGML_TYPE_F16, 64, 2, 72, 8, 2, 1);
}
