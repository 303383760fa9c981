/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/layers.c - models whose layers have sizes of their own, and
 * heads whose keys and values differ in length.
 */
#include "tests/tools/run/program.h"
#include "tests/tools/run/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The reference rounds what is cached like the program: see forward.c. */
#define BOUND    3e-6
#define MOST_IDS 64

enum { N_EMBD = 64, MOST_LAYERS = 6 };

/* One layer of a model. */
struct sizes {
    int32_t n_ff, n_head, n_head_kv, n_head_k, n_head_v, is_local;
};

struct shape {
    const char *arch;
    int n_layer;
    enum gguf_type pattern; /* of the window's array, or NONE */
    struct sizes at[MOST_LAYERS];
};

#define NONE GGUF_TYPE_COUNT

static uint32_t state;

/* Between -0.4 and 0.4. */
static float
random_weight(void)
{
    state = state * 1664525u + 1013904223u;
    return ((float)(state >> 8) / (float)(1 << 24) - 0.5f) * 0.8f;
}

/* A tensor "blk.IL.NAME.KIND" of N0 × N1. */
static void
add(struct ggml_context *ctx, struct gguf_context *gguf, int il,
    const char *name, const char *kind, int64_t n0, int64_t n1)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, n0, n1);

    assert_non_null(t);
    for (int64_t i = 0; i < n0 * n1; i++)
        ((float *)t->data)[i] =
            random_weight() + (strstr(name, "norm") != NULL ? 1.0f : 0.0f);
    ggml_format_name(t, "blk.%d.%s.%s", il, name, kind);
    gguf_add_tensor(gguf, t);
}

/* All weights of layer IL, of the model's own sizes. */
static void
add_layer(struct ggml_context *ctx, struct gguf_context *gguf,
          const struct shape *shape, int il)
{
    const struct sizes *s = &shape->at[il];
    const int n_q = s->n_head * s->n_head_k, n_k = s->n_head_kv * s->n_head_k;
    const int n_v = s->n_head_kv * s->n_head_v;
    const bool is_gemma = strcmp(shape->arch, "gemma3") == 0;

    add(ctx, gguf, il, "attn_norm", "weight", N_EMBD, 1);
    add(ctx, gguf, il, "attn_q", "weight", N_EMBD, n_q);
    add(ctx, gguf, il, "attn_k", "weight", N_EMBD, n_k);
    add(ctx, gguf, il, "attn_v", "weight", N_EMBD, n_v);
    add(ctx, gguf, il, "attn_output", "weight", s->n_head * s->n_head_v,
        N_EMBD);
    if (strcmp(shape->arch, "qwen2") == 0) {
        add(ctx, gguf, il, "attn_q", "bias", n_q, 1);
        add(ctx, gguf, il, "attn_k", "bias", n_k, 1);
        add(ctx, gguf, il, "attn_v", "bias", n_v, 1);
    }
    if (is_gemma) {
        add(ctx, gguf, il, "attn_q_norm", "weight", s->n_head_k, 1);
        add(ctx, gguf, il, "attn_k_norm", "weight", s->n_head_k, 1);
        add(ctx, gguf, il, "post_attention_norm", "weight", N_EMBD, 1);
        add(ctx, gguf, il, "post_ffw_norm", "weight", N_EMBD, 1);
    }
    add(ctx, gguf, il, "ffn_norm", "weight", N_EMBD, 1);
    add(ctx, gguf, il, "ffn_gate", "weight", N_EMBD, s->n_ff);
    add(ctx, gguf, il, "ffn_up", "weight", N_EMBD, s->n_ff);
    add(ctx, gguf, il, "ffn_down", "weight", s->n_ff, N_EMBD);
}

/* The key NAME: a number for each layer, the member at OFFSET. */
static void
set_sizes(struct gguf_context *gguf, const struct shape *shape,
          const char *name, size_t offset)
{
    int32_t numbers[MOST_LAYERS];
    char key[96];

    for (int il = 0; il < shape->n_layer; il++)
        memcpy(&numbers[il], (const char *)&shape->at[il] + offset,
               sizeof(numbers[il]));
    snprintf(key, sizeof(key), "%s.%s", shape->arch, name);
    gguf_set_arr_data(gguf, key, GGUF_TYPE_INT32, numbers,
                      (size_t)shape->n_layer);
}

static void
set_keys(struct gguf_context *gguf, const struct shape *shape)
{
    char key[96];
    int8_t flags[MOST_LAYERS];

    snprintf(key, sizeof(key), "%s.block_count", shape->arch);
    gguf_set_val_u32(gguf, key, (uint32_t)shape->n_layer);
    snprintf(key, sizeof(key), "%s.rope.dimension_count", shape->arch);
    gguf_remove_key(gguf, key);
    set_sizes(gguf, shape, "feed_forward_length", offsetof(struct sizes, n_ff));
    set_sizes(gguf, shape, "attention.head_count",
              offsetof(struct sizes, n_head));
    set_sizes(gguf, shape, "attention.head_count_kv",
              offsetof(struct sizes, n_head_kv));
    set_sizes(gguf, shape, "attention.key_length",
              offsetof(struct sizes, n_head_k));
    set_sizes(gguf, shape, "attention.value_length",
              offsetof(struct sizes, n_head_v));
    if (shape->pattern == GGUF_TYPE_INT32)
        set_sizes(gguf, shape, "attention.sliding_window_pattern",
                  offsetof(struct sizes, is_local));
    if (shape->pattern != GGUF_TYPE_BOOL)
        return;
    for (int il = 0; il < shape->n_layer; il++)
        flags[il] = (int8_t)shape->at[il].is_local;
    snprintf(key, sizeof(key), "%s.attention.sliding_window_pattern",
             shape->arch);
    gguf_set_arr_data(gguf, key, GGUF_TYPE_BOOL, flags,
                      (size_t)shape->n_layer);
}

/* The tiny model of this architecture, with layers of SHAPE; "shaped". */
static void
write_shaped(const struct shape *shape)
{
    const struct ggml_init_params room = { .mem_size = 16 << 20 };
    struct ggml_context *from_ctx, *ctx = ggml_init(room);
    const struct gguf_init_params params = { false, &from_ctx };
    struct gguf_context *from, *gguf = gguf_init_empty();
    char options[64];

    snprintf(options, sizeof(options), "-a %s -p %s", shape->arch,
             strcmp(shape->arch, "llama") == 0       ? "smollm"
                 : strcmp(shape->arch, "qwen2") == 0 ? "qwen2"
                                                     : "default");
    make_model(shape->arch, options);
    from = gguf_init_from_file(in_folder(shape->arch), params);
    assert_non_null(from);
    gguf_set_kv(gguf, from);
    set_keys(gguf, shape);
    for (struct ggml_tensor *t = ggml_get_first_tensor(from_ctx); t != NULL;
         t = ggml_get_next_tensor(from_ctx, t)) {
        struct ggml_tensor *copy;

        if (strncmp(t->name, "blk.", 4) == 0)
            continue;
        copy = ggml_dup_tensor(ctx, t);
        memcpy(copy->data, t->data, ggml_nbytes(t));
        ggml_set_name(copy, t->name);
        gguf_add_tensor(gguf, copy);
    }
    for (int il = 0; il < shape->n_layer; il++)
        add_layer(ctx, gguf, shape, il);
    gguf_free(from);
    ggml_free(from_ctx);
    write_model("shaped", gguf, ctx);
}

static void
check_logits(const struct shape *shape, const char *options)
{
    double *logits, *last, error = 0.0, square = 0.0;
    int ids[MOST_IDS];
    size_t n, n_vocab;
    json_t *json;

    json = run_json("-m %s -p 'the hello world and 12 others' -n 0 --json "
                    "--logits %s", in_folder("shaped"), options);
    n = json_array_size(json_object_get(json, "prompt_ids"));
    assert_in_range(n, 10, MOST_IDS);
    for (size_t i = 0; i < n; i++)
        ids[i] = (int)number_at(json, "prompt_ids", i);
    logits = reference_logits(in_folder("shaped"), ids, n, &n_vocab);
    last = logits + (n - 1) * n_vocab;
    assert_int_equal(json_array_size(json_object_get(json, "logits")), n_vocab);
    for (size_t i = 0; i < n_vocab; i++) {
        error += pow(number_at(json, "logits", i) - last[i], 2);
        square += last[i] * last[i];
    }
    if (!(error <= BOUND * square))
        fail_msg("%s of %d layers, %s: error %g", shape->arch, shape->n_layer,
                 options, error / square);
    free(logits);
    json_decref(json);
}

static void
check_shapes(const struct shape *shapes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct result r;

        state = (uint32_t)i + 1;
        write_shaped(&shapes[i]);
        check_logits(&shapes[i], "");
        check_logits(&shapes[i], "--no-flash-attn");
        check_logits(&shapes[i], "--no-mmap -t 2");
        r = run_other("ggmlbackend-bench",
                      "-m %s -t 1 -s 0.001 -p 4 -g 1 -b 2 --json",
                      in_folder("shaped"));
        if (r.status != 0)
            fail_msg("bench of shape %zu: %s", i, r.err);
        result_free(&r);
    }
}

static void
heads_of_keys_and_values_may_differ_in_length(void **state_)
{
    static const struct shape shapes[] = {
        { "llama", 1, NONE, { { 96, 4, 2, 24, 16, 0 } } },
        { "llama", 1, NONE, { { 96, 4, 2, 16, 24, 0 } } },
        { "llama", 1, NONE, { { 96, 2, 2, 96, 64, 0 } } },
        { "qwen2", 1, NONE, { { 96, 2, 1, 192, 128, 0 } } },
        { "gemma3", 2, GGUF_TYPE_BOOL,
          { { 96, 4, 2, 24, 16, 1 }, { 96, 4, 2, 24, 16, 0 } } },
    };

    (void)state_;
    check_shapes(shapes, sizeof(shapes) / sizeof(shapes[0]));
}

static void
layers_may_have_sizes_of_their_own(void **state_)
{
    static const struct shape shapes[] = {
        /* Equal ones are the plain model. */
        { "llama", 2, NONE,
          { { 96, 4, 2, 16, 16, 0 }, { 96, 4, 2, 16, 16, 0 } } },
        /* Each size in turn, and all of them. */
        { "llama", 2, NONE,
          { { 96, 4, 2, 16, 16, 0 }, { 32, 4, 2, 16, 16, 0 } } },
        { "llama", 2, NONE,
          { { 96, 4, 2, 16, 16, 0 }, { 96, 8, 2, 16, 16, 0 } } },
        { "llama", 2, NONE,
          { { 96, 4, 4, 16, 16, 0 }, { 96, 4, 1, 16, 16, 0 } } },
        { "llama", 2, NONE,
          { { 96, 4, 2, 16, 16, 0 }, { 96, 4, 2, 32, 32, 0 } } },
        { "llama", 3, NONE,
          { { 96, 4, 2, 16, 16, 0 },
            { 96, 4, 2, 16, 32, 0 },
            { 96, 4, 2, 16, 8, 0 } } },
        { "qwen2", 3, NONE,
          { { 32, 6, 3, 16, 8, 0 },
            { 64, 1, 1, 32, 32, 0 },
            { 96, 4, 1, 8, 24, 0 } } },
        { "gemma3", 3, GGUF_TYPE_BOOL,
          { { 32, 2, 1, 16, 16, 0 },
            { 64, 4, 2, 32, 32, 1 },
            { 96, 4, 4, 24, 24, 0 } } },
        { "gemma3", 4, GGUF_TYPE_INT32,
          { { 96, 4, 2, 16, 16, 1 },
            { 96, 4, 2, 16, 16, 0 },
            { 96, 4, 2, 16, 16, 0 },
            { 96, 4, 2, 16, 16, 1 } } },
    };

    (void)state_;
    check_shapes(shapes, sizeof(shapes) / sizeof(shapes[0]));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_of_keys_and_values_may_differ_in_length),
        cmocka_unit_test(layers_may_have_sizes_of_their_own),
    };

    return cmocka_run_group_tests_name("layers", tests, folder_make,
                                       folder_remove);
}
