/* SPDX-License-Identifier: MIT */
/*
 * Attention in one operation.
 *
 * Bound: the error is that of sums and exponentials in float, whatever the type
 * of keys and values, which are read exactly.
 */
#include "tests/cpu/ops/driver.h"

#define NMSE 1e-10

static float
param(const struct ggml_tensor *node, int word)
{
    float value;

    memcpy(&value, &node->op_params[word], sizeof(value));
    return value;
}

static double
slope_of(double max_bias, int64_t heads, int64_t head)
{
    int64_t power = 1;

    if (max_bias == 0.0)
        return 1.0;
    while (2 * power <= heads)
        power *= 2;
    if (head < power)
        return pow(2.0, -max_bias / (double)power * (double)(head + 1));
    return pow(2.0, -max_bias / (double)(2 * power) *
                        (double)(2 * (head - power) + 1));
}

/* s of one key. */
static double
score(const struct ggml_tensor *node, int64_t head, int64_t token,
      int64_t batch, int64_t key)
{
    const struct ggml_tensor *q = node->src[0];
    const struct ggml_tensor *k = node->src[1];
    const struct ggml_tensor *mask = node->src[3];
    const double scale = param(node, 0);
    const double cap = param(node, 2);
    double s = 0.0;

    for (int64_t i = 0; i < q->ne[0]; i++)
        s += at(q, i, token, head, batch) *
             at(k, i, key, head / (q->ne[2] / k->ne[2]),
                batch / (q->ne[3] / k->ne[3]));
    s = cap != 0.0 ? cap * tanh(scale / cap * s) : scale * s;
    if (mask != NULL)
        s += slope_of(param(node, 1), q->ne[2], head) *
             at(mask, key, token, 0, 0);
    return s;
}

static double
reference(const struct ggml_tensor *node, int64_t i, int64_t head,
          int64_t token, int64_t batch)
{
    const struct ggml_tensor *q = node->src[0];
    const struct ggml_tensor *v = node->src[2];
    const int64_t keys = node->src[1]->ne[1];
    static double scores[1500];
    static const struct ggml_tensor *of;
    static int64_t of_head = -1, of_token = -1, of_batch = -1;
    double max = -INFINITY;
    double sum = 0.0;
    double out = 0.0;

    /* Elements of a row are asked for one after the other. */
    if (of != node || of_head != head || of_token != token ||
        of_batch != batch || i == 0)
        for (int64_t j = 0; j < keys; j++)
            scores[j] = score(node, head, token, batch, j);
    of = node;
    of_head = head;
    of_token = token;
    of_batch = batch;
    for (int64_t j = 0; j < keys; j++)
        max = fmax(max, scores[j]);
    for (int64_t j = 0; j < keys && max > -INFINITY; j++) {
        const double w = exp(scores[j] - max);

        sum += w;
        if (w > 0.0)
            out += w * at(v, i, j, head / (q->ne[2] / v->ne[2]),
                          batch / (q->ne[3] / v->ne[3]));
    }
    return sum > 0.0 ? out / sum : 0.0;
}

struct shape {
    int64_t d, tokens, heads, key_heads, value_heads, keys, batches;
};

struct options {
    enum ggml_type k, v;
    enum layout layout;
    bool has_mask;
    float max_bias, softcap;
};

/* A mask that hides what is ahead, of the first token everything. */
static struct ggml_tensor *
mask_for(struct bench *bench, const struct shape *s)
{
    struct ggml_tensor *mask = ggml_new_tensor_2d(
        bench->ctx, GGML_TYPE_F16, s->keys,
        GGML_PAD(s->tokens, GGML_KQ_MASK_PAD));

    fill(bench, mask, -1.0, 1.0);
    for (int64_t n = 0; n < s->tokens; n++)
        for (int64_t j = 0; j < s->keys; j++)
            if (n == 0 || j > s->keys - s->tokens + n)
                put(mask, j, n, 0, 0, -INFINITY);
    return mask;
}

static void
check_attention(const struct shape *s, const struct options *o)
{
    struct bench bench = bench_open();
    struct ggml_tensor *q =
        tensor(&bench, GGML_TYPE_F32, o->layout, s->d, s->tokens, s->heads,
               s->batches);
    struct ggml_tensor *k = tensor(&bench, o->k, o->layout, s->d, s->keys,
                                   s->key_heads, s->batches);
    struct ggml_tensor *v = tensor(&bench, o->v, o->layout, s->d, s->keys,
                                   s->value_heads, 1);
    struct ggml_tensor *mask = o->has_mask ? mask_for(&bench, s) : NULL;

    check(&bench,
          ggml_flash_attn_ext(bench.ctx, q, k, v, mask,
                              1.0f / sqrtf((float)s->d), o->max_bias,
                              o->softcap),
          reference, NMSE);
    bench_close(&bench);
}

static const struct shape shapes[] = {
    { 64, 1, 6, 2, 2, 70, 1 },   { 64, 9, 3, 3, 1, 65, 2 },
    { 32, 60, 4, 1, 2, 64, 1 },  { 96, 5, 1, 1, 1, 1, 1 },
    { 64, 2, 50, 1, 1, 130, 1 }, { 64, 1, 2, 1, 1, 800, 1 },
    { 80, 30, 6, 2, 2, 150, 1 }, { 20, 70, 2, 2, 2, 70, 1 },
};

#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void
every_shape_with_and_without_mask(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SHAPES; i++) {
        for (int layout = DENSE; layout <= PERMUTED; layout++) {
            if (layout == TRANSPOSED)
                continue;
            for (int masked = 0; masked <= 1; masked++)
                check_attention(&shapes[i],
                                &(const struct options){
                                    GGML_TYPE_F16, GGML_TYPE_F16,
                                    (enum layout)layout, masked != 0, 0.0f,
                                    0.0f });
        }
    }
}

static void
biases_and_caps(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SHAPES; i++) {
        check_attention(&shapes[i], &(const struct options){
            GGML_TYPE_F32, GGML_TYPE_F32, DENSE, true, 8.0f, 0.0f });
        check_attention(&shapes[i], &(const struct options){
            GGML_TYPE_BF16, GGML_TYPE_F32, PADDED, true, 8.0f, 10.0f });
        check_attention(&shapes[i], &(const struct options){
            GGML_TYPE_F32, GGML_TYPE_BF16, DENSE, false, 0.0f, 2.0f });
    }
}

static void
keys_and_values_of_every_type(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32,  GGML_TYPE_F16,  GGML_TYPE_BF16,   GGML_TYPE_Q4_0,
        GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1,   GGML_TYPE_Q8_0,
        GGML_TYPE_Q2_K, GGML_TYPE_Q3_K, GGML_TYPE_Q4_K,   GGML_TYPE_Q5_K,
        GGML_TYPE_Q6_K, GGML_TYPE_TQ2_0, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const bool is_long = ggml_blck_size(types[i]) == 256;
        const struct shape s = {
            is_long ? 256 : 64, 7, 2, 1, 1, 40, 1
        };

        check_attention(&s, &(const struct options){
            types[i], GGML_TYPE_F16, DENSE, true, 0.0f, 0.0f });
        check_attention(&s, &(const struct options){
            GGML_TYPE_F16, types[i], PERMUTED, false, 0.0f, 0.0f });
    }
}

/* Whisper's encoder and decoder: sums over 1500 keys stay float sums. */
static void
long_rows_of_half_floats(void **state)
{
    static const struct shape long_shapes[] = {
        { 64, 16, 2, 2, 2, 1500, 1 }, { 64, 1, 2, 2, 2, 1500, 1 },
        { 64, 5, 2, 2, 2, 1500, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(long_shapes) / sizeof(long_shapes[0]); i++)
        for (int masked = 0; masked <= 1; masked++)
            check_attention(&long_shapes[i],
                            &(const struct options){
                                GGML_TYPE_F16, GGML_TYPE_F16, PERMUTED,
                                masked != 0, 0.0f, 0.0f });
}

/* Rows of these are read where they lie; odd numbers of everything. */
static void
few_queries_of_types_that_are_read_in_place(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0,
        GGML_TYPE_Q4_0,
    };
    static const struct shape few_shapes[] = {
        { 32, 1, 5, 5, 5, 3, 1 },    { 64, 1, 6, 3, 3, 131, 1 },
        { 96, 3, 3, 1, 1, 66, 1 },   { 128, 1, 8, 2, 2, 200, 1 },
        { 160, 2, 5, 1, 1, 70, 1 },  { 64, 11, 2, 2, 1, 65, 1 },
        { 288, 1, 7, 1, 1, 129, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(few_shapes) / sizeof(few_shapes[0]); i++)
        for (size_t j = 0; j < sizeof(types) / sizeof(types[0]); j++) {
            const enum ggml_type other =
                types[(i + j) % (sizeof(types) / sizeof(types[0]))];

            check_attention(&few_shapes[i], &(const struct options){
                types[j], other, PERMUTED, true, 4.0f, 0.0f });
            check_attention(&few_shapes[i], &(const struct options){
                other, types[j], DENSE, false, 0.0f, 0.0f });
        }
}

/* A prompt: many tiles, whose masks hide whole blocks from some. */
static void
many_queries_of_many_heads(void **state)
{
    static const struct shape prompt = { 16, 150, 32, 16, 16, 150, 1 };

    (void)state;
    check_attention(&prompt, &(const struct options){
        GGML_TYPE_F16, GGML_TYPE_F16, PERMUTED, true, 0.0f, 0.0f });
}

/* What a token sees of a block of keys is added to scores for some queries of a
 * tile and changes nothing for others: masks are 0 where they do not hide. */
static void
causal_masks(void **state)
{
    static const struct shape causal[] = {
        { 16, 70, 2, 2, 2, 70, 1 }, { 16, 130, 1, 1, 1, 200, 1 },
        { 16, 9, 4, 1, 1, 72, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(causal) / sizeof(causal[0]); i++) {
        const struct shape *s = &causal[i];
        struct bench bench = bench_open();
        struct ggml_tensor *q = tensor(&bench, GGML_TYPE_F32, DENSE, s->d,
                                       s->tokens, s->heads, 1);
        struct ggml_tensor *k = tensor(&bench, GGML_TYPE_F16, DENSE, s->d,
                                       s->keys, s->key_heads, 1);
        struct ggml_tensor *v = tensor(&bench, GGML_TYPE_F16, DENSE, s->d,
                                       s->keys, s->value_heads, 1);
        struct ggml_tensor *mask = mask_for(&bench, s);

        for (int64_t n = 0; n < s->tokens; n++)
            for (int64_t j = 0; j < s->keys; j++)
                if (at(mask, j, n, 0, 0) > -INFINITY)
                    put(mask, j, n, 0, 0, 0.0);
        check(&bench,
              ggml_flash_attn_ext(bench.ctx, q, k, v, mask, 0.25f, 0.0f, 0.0f),
              reference, NMSE);
        bench_close(&bench);
    }
}

/* Large scores must not overflow, and the largest may come last. */
static void
large_scores(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *q =
        tensor(&bench, GGML_TYPE_F32, DENSE, 64, 3, 2, 1);
    struct ggml_tensor *k =
        tensor(&bench, GGML_TYPE_F32, DENSE, 64, 200, 2, 1);
    struct ggml_tensor *v =
        tensor(&bench, GGML_TYPE_F32, DENSE, 64, 200, 2, 1);

    (void)state;
    for (int64_t j = 0; j < 200; j++)
        for (int64_t i = 0; i < 64; i++)
            put(k, i, j, 0, 0, at(q, i, 0, 0, 0) * (double)j);
    check(&bench,
          ggml_flash_attn_ext(bench.ctx, q, k, v, NULL, 1.0f, 0.0f, 0.0f),
          reference, 1e-6);
    bench_close(&bench);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_with_and_without_mask),
        cmocka_unit_test(biases_and_caps),
        cmocka_unit_test(keys_and_values_of_every_type),
        cmocka_unit_test(long_rows_of_half_floats),
        cmocka_unit_test(few_queries_of_types_that_are_read_in_place),
        cmocka_unit_test(many_queries_of_many_heads),
        cmocka_unit_test(causal_masks),
        cmocka_unit_test(large_scores),
    };

    return cmocka_run_group_tests_name("attention", tests, NULL, NULL);
}
