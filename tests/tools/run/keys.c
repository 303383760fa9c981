/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/keys.c - what a file's keys may say, and what they may not.
 */
#include "tests/tools/run/program.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum kind {
    NOTHING, /* the key is taken away */
    U8, I8, U16, I16, U32, I32, U64, I64, F32, F64,
    BOOL,
    TEXT,
    INTS,   /* .number zeros */
    FLOATS, /* .number zeros */
    TEXTS   /* .number times .text */
};

/* One key of a model that is told something else. */
struct edit {
    const char *key;
    enum kind kind;
    double number;
    const char *text;
};

static const struct {
    const char *name, *options;
} models[] = {
    { "llama", "-a llama -p smollm" },
    { "qwen2", "-a qwen2 -p qwen2" },
    { "gemma3", "-a gemma3 -p default" },
};

enum { LLAMA, QWEN2, GEMMA3 };

static void
set_array(struct gguf_context *gguf, const struct edit *e)
{
    const size_t n = (size_t)e->number;
    uint32_t *zeros = calloc(n + 1, sizeof(*zeros));
    const char **texts = calloc(n + 1, sizeof(*texts));

    assert_non_null(zeros);
    assert_non_null(texts);
    for (size_t i = 0; i < n; i++)
        texts[i] = e->text;
    if (e->kind == TEXTS)
        gguf_set_arr_str(gguf, e->key, texts, n);
    else
        gguf_set_arr_data(gguf, e->key,
                          e->kind == INTS ? GGUF_TYPE_INT32 : GGUF_TYPE_FLOAT32,
                          zeros, n);
    free(texts);
    free(zeros);
}

static void
set_key(struct gguf_context *gguf, const struct edit *e)
{
    const char *key = e->key;
    const double x = e->number;

    switch (e->kind) {
    case NOTHING: gguf_remove_key(gguf, key); break;
    case U8: gguf_set_val_u8(gguf, key, (uint8_t)x); break;
    case I8: gguf_set_val_i8(gguf, key, (int8_t)x); break;
    case U16: gguf_set_val_u16(gguf, key, (uint16_t)x); break;
    case I16: gguf_set_val_i16(gguf, key, (int16_t)x); break;
    case U32: gguf_set_val_u32(gguf, key, (uint32_t)x); break;
    case I32: gguf_set_val_i32(gguf, key, (int32_t)x); break;
    case U64: gguf_set_val_u64(gguf, key, (uint64_t)x); break;
    case I64: gguf_set_val_i64(gguf, key, (int64_t)x); break;
    case F32: gguf_set_val_f32(gguf, key, (float)x); break;
    case F64: gguf_set_val_f64(gguf, key, x); break;
    case BOOL: gguf_set_val_bool(gguf, key, x != 0.0); break;
    case TEXT: gguf_set_val_str(gguf, key, e->text); break;
    case INTS:
    case FLOATS:
    case TEXTS: set_array(gguf, e); break;
    }
}

/* MODEL with the N EDITS; the path of the file. */
static const char *
edited(int model, const struct edit *edits, size_t n)
{
    struct ggml_context *ctx;
    const struct gguf_init_params params = { false, &ctx };
    struct gguf_context *gguf;

    make_model(models[model].name, models[model].options);
    gguf = gguf_init_from_file(in_folder(models[model].name), params);
    assert_non_null(gguf);
    for (size_t i = 0; i < n; i++)
        set_key(gguf, &edits[i]);
    write_model("edited", gguf, ctx);
    return in_folder("edited");
}

/* What the edited model answers; json_decref it. */
static json_t *
answer_of(int model, const struct edit *edits, size_t n, const char *options)
{
    const char *path = edited(model, edits, n);

    return run_json("-m %s -n 2 --json --logits %s", path, options);
}

static bool
is_same(const json_t *a, const json_t *b, const char *key)
{
    return json_equal(json_object_get(a, key), json_object_get(b, key)) == 1;
}

/* What an edit leads to: a message that has these words. */
struct refusal {
    int model;
    struct edit edit;
    const char *wanted;
};

#define CHAT "tokenizer.chat_template"
#define TOKENIZER(name) "tokenizer.ggml." name

static void
keys_of_another_type_or_range_are_refused(void **state)
{
    static const struct refusal rows[] = {
        { LLAMA, { "general.architecture", NOTHING, 0, NULL },
          "no key general.architecture" },
        { LLAMA, { "general.architecture", U32, 1, NULL }, "not a string" },
        { LLAMA, { "llama.block_count", NOTHING, 0, NULL },
          "no key llama.block_count" },
        { LLAMA, { "llama.block_count", F32, 2, NULL }, "whole number" },
        { LLAMA, { "llama.block_count", U64, 1.2e19, NULL },
          "9223372036854775807, not between 1 and" },
        { LLAMA, { "llama.block_count", I64, -1, NULL }, "is -1, not" },
        { LLAMA, { "llama.expert_count", U32, 8, NULL }, "experts" },
        { LLAMA, { "llama.expert_count", TEXT, 0, "8" }, "whole number" },
        { LLAMA, { "llama.attention.layer_norm_rms_epsilon", NOTHING, 0, NULL },
          "no key" },
        { LLAMA, { "llama.attention.layer_norm_rms_epsilon", U32, 0, NULL },
          "not a real number" },
        { LLAMA, { "llama.attention.layer_norm_rms_epsilon", F64, 2, NULL },
          "is 2, not between 0 and 1" },
        { LLAMA, { "llama.attention.layer_norm_rms_epsilon", F32, -1, NULL },
          "is -1, not between 0 and 1" },
        { LLAMA, { "llama.attention.head_count", NOTHING, 0, NULL }, "no key" },
        { LLAMA, { "llama.attention.head_count_kv", TEXT, 0, "2" },
          "whole number" },
        { LLAMA, { "llama.attention.key_length", BOOL, 1, NULL },
          "whole number" },
        { LLAMA, { "llama.attention.head_count", INTS, 2, NULL },
          "head_count[0] is 0, not between 1 and" },
        { LLAMA, { "llama.attention.head_count_kv", INTS, 3, NULL },
          "head_count_kv has 3 elements for 2 layers" },
        { LLAMA, { "llama.attention.head_count_kv", INTS, 0, NULL },
          "head_count_kv has 0 elements for 2 layers" },
        { LLAMA, { "llama.feed_forward_length", FLOATS, 2, NULL },
          "feed_forward_length[0] is not a whole number" },
        { LLAMA, { "llama.attention.value_length", TEXTS, 2, "16" },
          "value_length[0] is not a whole number" },
        { LLAMA, { "llama.block_count", INTS, 2, NULL }, "whole number" },
        { GEMMA3, { "gemma3.attention.sliding_window_pattern", INTS, 2, NULL },
          "has 2 elements for 6 layers" },
        { GEMMA3, { "gemma3.attention.sliding_window_pattern", FLOATS, 6,
                    NULL }, "sliding_window_pattern[0] is not a whole" },
        { LLAMA, { "llama.rope.dimension_count", U32, 17, NULL },
          "between 2 and 16" },
        { LLAMA, { "llama.rope.dimension_count", U32, 15, NULL }, "not pairs" },
        { LLAMA, { "llama.rope.freq_base", U32, 10000, NULL }, "real number" },
        { LLAMA, { "llama.rope.freq_base_swa", F32, 0, NULL }, "between" },
        { LLAMA, { "llama.rope.scale_linear", F32, -1, NULL }, "scale_linear" },
        { LLAMA, { "llama.rope.scaling.type", U32, 1, NULL }, "not a string" },
        { LLAMA, { "llama.rope.scaling.type", TEXT, 0, "longrope" },
          "'longrope' is not known" },
        { LLAMA, { "llama.rope.scaling.factor", F32, -1, NULL }, "factor" },
        { LLAMA, { "llama.rope.scaling.factor", F32, 1e-9, NULL },
          "factor is 1e-09, not between 1e-06 and" },
        { LLAMA, { "llama.rope.scaling.factor", F64, 1e7, NULL }, "factor" },
        { LLAMA, { "llama.rope.scaling.attn_factor", U8, 1, NULL },
          "attn_factor" },
        { LLAMA, { "llama.rope.scaling.yarn_beta_fast", F32, 0, NULL },
          "beta_fast" },
        { LLAMA, { "llama.rope.scaling.yarn_beta_slow", F32, 0, NULL },
          "beta_slow" },
        { LLAMA, { "llama.rope.scaling.original_context_length", U32, 0, NULL },
          "original_context_length" },
        { GEMMA3, { "gemma3.attention.sliding_window", NOTHING, 0, NULL },
          "no key gemma3.attention.sliding_window" },
        { GEMMA3, { "gemma3.attention.sliding_window_pattern", U32, 0, NULL },
          "sliding_window_pattern" },
        { LLAMA, { TOKENIZER("model"), NOTHING, 0, NULL }, "no key" },
        { LLAMA, { TOKENIZER("model"), U32, 1, NULL }, "not a string" },
        { LLAMA, { TOKENIZER("tokens"), NOTHING, 0, NULL }, "no key" },
        { LLAMA, { TOKENIZER("tokens"), TEXT, 0, "a" }, "array of str" },
        { LLAMA, { TOKENIZER("tokens"), INTS, 3, NULL }, "array of str" },
        { LLAMA, { TOKENIZER("tokens"), TEXTS, 0, "" }, "has 0 tokens" },
        { LLAMA, { TOKENIZER("token_type"), INTS, 3, NULL }, "3 token types" },
        { LLAMA, { TOKENIZER("token_type"), FLOATS, 3, NULL }, "array of i32" },
        { GEMMA3, { TOKENIZER("scores"), FLOATS, 3, NULL }, "3 scores for" },
        { GEMMA3, { TOKENIZER("scores"), INTS, 3, NULL }, "array of f32" },
        { GEMMA3, { TOKENIZER("scores"), NOTHING, 0, NULL }, "no key" },
        { LLAMA, { TOKENIZER("bos_token_id"), TEXT, 0, "1" }, "bos_token_id" },
        { LLAMA, { TOKENIZER("eos_token_id"), I32, -2, NULL }, "eos_token_id" },
        { LLAMA, { TOKENIZER("eot_token_id"), U32, 9999, NULL }, "beyond" },
        { LLAMA, { TOKENIZER("unknown_token_id"), F32, 1, NULL }, "unknown" },
        { LLAMA, { TOKENIZER("merges"), NOTHING, 0, NULL }, "no key" },
        { LLAMA, { TOKENIZER("merges"), TEXTS, 1, "together" },
          "'together', not two tokens" },
        { LLAMA, { TOKENIZER("merges"), TEXTS, 1, "" }, "not two tokens" },
        { LLAMA, { TOKENIZER("pre"), BOOL, 1, NULL }, "not a string" },
        { LLAMA, { TOKENIZER("add_bos_token"), U8, 1, NULL }, "true or false" },
        { LLAMA, { TOKENIZER("add_eos_token"), U8, 1, NULL }, "true or false" },
        { GEMMA3, { TOKENIZER("add_space_prefix"), TEXT, 0, "no" },
          "true or false" },
        { LLAMA, { CHAT, U32, 1, NULL }, "not a string" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *path = edited(rows[i].model, &rows[i].edit, 1);
        struct result r = run("-m %s -p the -n 1 --chat", path);

        if (r.status != 1 || r.size != 0 ||
            strstr(r.err, rows[i].wanted) == NULL)
            fail_msg("%s: status %d, '%s' has no '%s'", rows[i].edit.key,
                     r.status, r.err, rows[i].wanted);
        result_free(&r);
    }
}

static void
heads_and_vocabulary_have_to_fit(void **state)
{
    static const struct edit many_heads[] = {
        { "llama.attention.head_count", U32, 128, NULL },
        { "llama.attention.head_count_kv", U32, 128, NULL },
        { "llama.attention.key_length", NOTHING, 0, NULL },
    };
    static const struct edit few_tokens[] = {
        { TOKENIZER("tokens"), TEXTS, 3, "a" },
        { TOKENIZER("token_type"), NOTHING, 0, NULL },
        { TOKENIZER("bos_token_id"), NOTHING, 0, NULL },
        { TOKENIZER("eos_token_id"), NOTHING, 0, NULL },
    };
    struct result r;

    (void)state;
    r = run("-m %s -p the", edited(LLAMA, many_heads, 3));
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "128 heads of 0 elements"));
    result_free(&r);
    r = run("-m %s -p the", edited(LLAMA, few_tokens, 4));
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "has 3 tokens and embeddings of 283"));
    result_free(&r);
}

static void
whole_and_real_numbers_may_have_any_type(void **state)
{
    static const enum kind whole[] = { U8, I8, U16, I16, I32, U64, I64 };
    json_t *plain = answer_of(LLAMA, NULL, 0, "-p the");

    (void)state;
    for (size_t i = 0; i <= sizeof(whole) / sizeof(whole[0]); i++) {
        const struct edit edit =
            i == 0 ? (struct edit){ "llama.rope.freq_base", F64, 10000, NULL }
                   : (struct edit){ "llama.block_count", whole[i - 1], 2, NULL };
        json_t *other = answer_of(LLAMA, &edit, 1, "-p the");

        if (!is_same(plain, other, "logits"))
            fail_msg("%s of kind %d", edit.key, (int)edit.kind);
        json_decref(other);
    }
    json_decref(plain);
}

static void
what_is_not_said_is_the_usual(void **state)
{
    /* One model's keys, and others that mean the same. */
    static const struct {
        int model, n;
        struct edit edits[2];
        int n_other;
        struct edit others[2];
    } rows[] = {
        { LLAMA, 2, { { "llama.attention.key_length", NOTHING, 0, NULL },
                      { "llama.attention.value_length", NOTHING, 0, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { LLAMA, 1, { { "llama.rope.scaling.type", TEXT, 0, "none" } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { LLAMA, 1, { { "llama.rope.dimension_count", U32, 16, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { LLAMA, 1, { { "llama.expert_count", U32, 0, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { LLAMA, 1, { { "llama.rope.scale_linear", F32, 4, NULL } },
          2, { { "llama.rope.scaling.type", TEXT, 0, "linear" },
               { "llama.rope.scaling.factor", F32, 4, NULL } } },
        /* A factor without a type is linear; 0 says that there is none. */
        { LLAMA, 1, { { "llama.rope.scaling.factor", F32, 4, NULL } },
          2, { { "llama.rope.scaling.type", TEXT, 0, "linear" },
               { "llama.rope.scaling.factor", F32, 4, NULL } } },
        { LLAMA, 1, { { "llama.rope.scaling.factor", F32, 0, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { LLAMA, 1, { { "llama.rope.scale_linear", F32, 0, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { LLAMA, 2, { { "llama.rope.scaling.type", TEXT, 0, "linear" },
                      { "llama.rope.scaling.factor", F32, 0, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { LLAMA, 2, { { "llama.rope.scaling.type", TEXT, 0, "yarn" },
                      { "llama.rope.scaling.factor", F32, 0, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { LLAMA, 2, { { "llama.rope.scaling.type", TEXT, 0, "none" },
                      { "llama.rope.scaling.factor", F32, 4, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { LLAMA, 2, { { "llama.rope.scale_linear", F32, 4, NULL },
                      { "llama.rope.scaling.factor", F32, 0, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { GEMMA3, 1, { { "gemma3.attention.sliding_window_pattern", U32, 6,
                         NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
        { GEMMA3, 1, { { "gemma3.rope.freq_base_swa", F32, 10000, NULL } },
          0, { { NULL, NOTHING, 0, NULL } } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *a = answer_of(rows[i].model, rows[i].edits, (size_t)rows[i].n,
                              "-p 'the hello'");
        json_t *b = answer_of(rows[i].model, rows[i].others,
                              (size_t)rows[i].n_other, "-p 'the hello'");

        if (!is_same(a, b, "logits"))
            fail_msg("%s", rows[i].edits[0].key);
        json_decref(a);
        json_decref(b);
    }
}

/* Check the ids that the model makes of TEXT: those up to a -1. */
static void
check_ids(int model, const struct edit *edits, size_t n, const char *options,
          const int *ids)
{
    json_t *json = answer_of(model, edits, n, options);
    size_t i;

    for (i = 0; ids[i] != -1; i++)
        if (number_at(json, "prompt_ids", i) != ids[i])
            fail_msg("%s, %s: id %zu is %g, not %d", n > 0 ? edits[0].key : "",
                     options, i, number_at(json, "prompt_ids", i), ids[i]);
    assert_int_equal(json_array_size(json_object_get(json, "prompt_ids")), i);
    json_decref(json);
}

/* Ids are those of tests/tools/run/tokens.c. */
static void
tokens_around_a_text_are_those_that_the_file_names(void **state)
{
    static const struct edit begin[] = {
        { TOKENIZER("add_bos_token"), BOOL, 1, NULL },
    };
    static const struct edit end[] = {
        { TOKENIZER("add_eos_token"), BOOL, 1, NULL },
    };
    static const struct edit none[] = {
        { TOKENIZER("add_bos_token"), BOOL, 1, NULL },
        { TOKENIZER("bos_token_id"), NOTHING, 0, NULL },
        { TOKENIZER("add_eos_token"), BOOL, 1, NULL },
        { TOKENIZER("eos_token_id"), U32, UINT32_MAX, NULL },
    };
    static const struct edit usual[] = {
        { TOKENIZER("add_bos_token"), NOTHING, 0, NULL },
    };

    (void)state;
    check_ids(LLAMA, begin, 1, "-p ' the'", (const int[]){ 1, 261, -1 });
    check_ids(LLAMA, end, 1, "-p ' the'", (const int[]){ 261, 2, -1 });
    check_ids(LLAMA, none, 4, "-p ' the'", (const int[]){ 261, -1 });
    /* SentencePiece begins texts, byte pairs as their family does. */
    check_ids(GEMMA3, usual, 1, "-p ' the'", (const int[]){ 2, 265, -1 });
    check_ids(LLAMA, usual, 1, "-p ' the'", (const int[]){ 261, -1 });
}

static void
a_blank_stands_before_a_text_where_the_file_says_so(void **state)
{
    static const struct edit edits[] = {
        { TOKENIZER("add_space_prefix"), BOOL, 1, NULL },
    };

    (void)state;
    check_ids(GEMMA3, edits, 1, "-p the", (const int[]){ 2, 265, -1 });
    /* Behind a token that was found whole it is another text's begin. */
    check_ids(GEMMA3, edits, 1, "-p \"$(printf 'the\\n\\nthe')\"",
              (const int[]){ 2, 265, 4, 265, -1 });
}

/* Take MODEL's token ID for TEXT of TYPE, and write it with the N EDITS. */
static const char *
retold(int model, int32_t id, const char *text, int32_t type,
       const struct edit *edits, size_t n)
{
    struct ggml_context *ctx;
    const struct gguf_init_params params = { false, &ctx };
    struct gguf_context *gguf =
        gguf_init_from_file(edited(model, edits, n), params);
    const char *texts[512];
    int32_t types[512];
    int64_t key;
    size_t n_tokens;

    assert_non_null(gguf);
    key = gguf_find_key(gguf, TOKENIZER("tokens"));
    n_tokens = gguf_get_arr_n(gguf, key);
    assert_true(n_tokens <= 512);
    for (size_t i = 0; i < n_tokens; i++)
        texts[i] = strdup(gguf_get_arr_str(gguf, key, i));
    memcpy(types,
           gguf_get_arr_data(gguf, gguf_find_key(gguf, TOKENIZER("token_type"))),
           n_tokens * sizeof(types[0]));
    free((char *)texts[id]);
    texts[id] = strdup(text);
    types[id] = type;
    gguf_set_arr_str(gguf, TOKENIZER("tokens"), texts, n_tokens);
    gguf_set_arr_data(gguf, TOKENIZER("token_type"), GGUF_TYPE_INT32, types,
                      n_tokens);
    write_model("retold", gguf, ctx);
    for (size_t i = 0; i < n_tokens; i++)
        free((char *)texts[i]);
    return in_folder("retold");
}

static void
check_json_ids(json_t *json, const int *ids)
{
    size_t i;

    for (i = 0; ids[i] != -1; i++)
        assert_int_equal((int)number_at(json, "prompt_ids", i), ids[i]);
    assert_int_equal(json_array_size(json_object_get(json, "prompt_ids")), i);
    json_decref(json);
}

/* The byte z has no token any more, and no token is for what is unknown, or one
 * that ends documents: that never stands for a byte. */
static void
bytes_without_a_token_are_told_once(void **state)
{
    static const struct edit nameless[] = {
        { TOKENIZER("unknown_token_id"), NOTHING, 0, NULL },
    };
    static const struct edit named[] = {
        { TOKENIZER("unknown_token_id"), U32, 0, NULL },
    };
    const char *const begin = "ggmlbackend-run: warning: the text has bytes";
    struct result r;
    const char *path;

    (void)state;
    for (int i = 0; i < 2; i++) {
        path = retold(LLAMA, 3 + 'z', "nothing", 1, i == 0 ? nameless : named,
                      1);
        check_json_ids(run_json("-m %s -p zazz -n 0 --json", path),
                       (const int[]){ 3 + 'a', -1 });
        r = run("-m %s -p zazz -n 0", path);
        assert_int_equal(r.status, 0);
        assert_non_null(strstr(r.err, begin));
        assert_null(strstr(strstr(r.err, begin) + 1, begin));
        result_free(&r);
    }

    /* The same of SentencePiece: bytes have tokens of their own. */
    path = retold(GEMMA3, 7 + 'T', "nothing", 1, nameless, 1);
    check_json_ids(run_json("-m %s -p TheT -n 0 --json", path),
                   (const int[]){ 2, 264, -1 });
    r = run("-m %s -p TheT -n 0", path);
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err, begin));
    assert_null(strstr(strstr(r.err, begin) + 1, begin));
    result_free(&r);
    path = retold(GEMMA3, 7 + 'T', "nothing", 1, NULL, 0);
    check_json_ids(run_json("-m %s -p The -n 0 --json", path),
                   (const int[]){ 2, 3, 264, -1 });
}

/* What is next to each other is the same cutting by another name. */
static void
names_of_one_cutting_are_the_same(void **state)
{
    static const struct {
        const char *name;
        int ids[5]; /* of 1234: 12 is 274, 123 is 281 */
    } rows[] = {
        { "falcon3", { 281, 3 + '4', -1 } },
        { "falcon-h1", { 281, 3 + '4', -1 } },
        { "pixtral", { 281, 3 + '4', -1 } },
        { "glm4", { 281, 3 + '4', -1 } },
        { "megrez", { 3 + '1', 3 + '2', 3 + '3', 3 + '4', -1 } },
        { "kormo", { 3 + '1', 3 + '2', 3 + '3', 3 + '4', -1 } },
        { "refact", { 3 + '1', 3 + '2', 3 + '3', 3 + '4', -1 } },
        { "phi-2", { 281, 3 + '4', -1 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct edit edits[] = {
            { TOKENIZER("pre"), TEXT, 0, rows[i].name },
            { TOKENIZER("add_bos_token"), BOOL, 0, NULL },
        };
        struct result r = run("-m %s -p 1234 -n 0", edited(LLAMA, edits, 2));

        if (strstr(r.err, "not known") != NULL)
            fail_msg("%s: %s", rows[i].name, r.err);
        result_free(&r);
        check_ids(LLAMA, edits, 2, "-p 1234", rows[i].ids);
    }
}

/* The token that the model says first after "he". */
static int
first_answer(void)
{
    json_t *json = answer_of(LLAMA, NULL, 0, "-p he");
    const int id = (int)number_at(json, "answer_ids", 0);

    json_decref(json);
    return id;
}

static void
check_stop(const char *path, const char *what, const char *wanted)
{
    json_t *json = run_json("-m %s -p he -n 2 --json", path);
    const char *stop = json_string_value(json_object_get(json, "stop"));

    if (strcmp(stop, wanted) != 0)
        fail_msg("%s: stopped by %s, not %s", what, stop, wanted);
    json_decref(json);
}

/* The token that is said becomes one that ends a turn. */
static void
an_answer_ends_by_every_known_token(void **state)
{
    static const char *const texts[] = {
        "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|end|>", "<|EOT|>",
        "<|end_of_text|>", "<|end_of_turn|>", "<EOT>", "\u2581<EOT>",
        "<\uff5cend\u2581of\u2581sentence\uff5c>",
    };
    static const char *const keys[] = {
        TOKENIZER("eos_token_id"), TOKENIZER("eot_token_id"),
        TOKENIZER("eom_token_id"),
    };
    const int said = first_answer();

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        /* normal, control, added by hand */
        for (int type = 1; type <= 4; type += type == 1 ? 2 : 1)
            check_stop(retold(LLAMA, said, texts[i], type, NULL, 0), texts[i],
                       "end");
    }
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct edit edit = { keys[i], U32, said, NULL };

        check_stop(edited(LLAMA, &edit, 1), keys[i], "end");
    }
    check_stop(retold(LLAMA, said, "<|x|>", 3, NULL, 0), "another control token",
               "length");
}

static void
tokens_of_an_unknown_type_are_usual_ones(void **state)
{
    const char *path = retold(LLAMA, 261, "\xc4\xa0the", 99, NULL, 0);

    (void)state;
    check_json_ids(run_json("-m %s -p ' the' -n 0 --json", path),
                   (const int[]){ 261, -1 });
}

/* Of two tokens of one text the first counts; whole ones are the longest. */
static void
equal_and_longer_tokens_are_told_apart(void **state)
{
    const char *path = retold(LLAMA, 262, "\xc4\xa0the", 1, NULL, 0);

    (void)state;
    check_json_ids(run_json("-m %s -p ' the' -n 0 --json", path),
                   (const int[]){ 261, -1 });
    path = retold(GEMMA3, 264, "\n\n\n", 4, NULL, 0);
    check_json_ids(run_json("-m %s -p \"$(printf 'a\\n\\n\\nb')\" -n 0 --json",
                            path),
                   (const int[]){ 2, 290, 264, 307, -1 });
    /* Of two equal ones the first again. */
    path = retold(GEMMA3, 264, "\n\n", 4, NULL, 0);
    check_json_ids(run_json("-m %s -p \"$(printf 'a\\n\\nb')\" -n 0 --json",
                            path),
                   (const int[]){ 2, 290, 4, 307, -1 });
}

static void
a_family_that_is_not_known_is_cut_as_gpt2(void **state)
{
    static const struct edit edits[] = {
        { TOKENIZER("pre"), TEXT, 0, "somebody's" },
    };
    struct result r = run("-m %s -p 1234 -n 0", edited(LLAMA, edits, 1));

    (void)state;
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err, "'somebody's', which is not known; gpt-2"));
    result_free(&r);
    check_ids(LLAMA, edits, 1, "-p 1234", (const int[]){ 281, 3 + '4', -1 });
}

/* Merges whose parts or result are no tokens, and one that is there twice. */
static void
merges_that_cannot_come_up_say_nothing(void **state)
{
    static const char *const lines[] = { "??? e", "h ???", "q z", "h e" };

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const struct edit edit = { TOKENIZER("merges"), TEXTS, 2, lines[i] };

        if (i < 3)
            check_ids(LLAMA, &edit, 1, "-p he",
                      (const int[]){ 3 + 'h', 3 + 'e', -1 });
        else
            check_ids(LLAMA, &edit, 1, "-p he", (const int[]){ 260, -1 });
    }
}

/* Hugging Face's usual one, ChatML. */
static const char chatml_template[] =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + "
    "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

static void
a_template_says_how_messages_are_framed(void **state)
{
    const struct edit chatml = { CHAT, TEXT, 0, chatml_template };
    static const char *const others[] = {
        "{% x %}<|im_start|>y", "{{ x }}", "<|start_header_id|>", "",
    };
    struct result r;

    (void)state;
    check_ids(LLAMA, &chatml, 1, "-p ' he' --chat",
              (const int[]){ 1, 3 + 'u', 3 + 's', 263, 13, 35, 260, 2, 13, 1,
                             3 + 'a', 3 + 's', 3 + 's', 3 + 'i', 3 + 's',
                             3 + 't', 3 + 'a', 3 + 'n', 3 + 't', 13, -1 });
    check_ids(LLAMA, &chatml, 1, "-p he --chat --system he",
              (const int[]){ 1, 3 + 's', 3 + 'y', 3 + 's', 3 + 't', 3 + 'e',
                             3 + 'm', 13, 260, 2, 13, 1, 3 + 'u', 3 + 's',
                             263, 13, 260, 2, 13, 1, 3 + 'a', 3 + 's', 3 + 's',
                             3 + 'i', 3 + 's', 3 + 't', 3 + 'a', 3 + 'n',
                             3 + 't', 13, -1 });
    /* Any other is refused with the way to do without. */
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct edit other = { CHAT, TEXT, 0, others[i] };

        r = run("-m %s -p he --chat", edited(LLAMA, &other, 1));
        assert_int_equal(r.status, 1);
        assert_non_null(strstr(r.err, "chat template (hash "));
        assert_non_null(strstr(r.err, "-p or -f with --special"));
        result_free(&r);
    }
}

static void
without_a_template_tokens_tell_with_a_warning(void **state)
{
    struct result r;

    (void)state;
    r = run("-m %s -p he --chat -n 1", edited(LLAMA, NULL, 0));
    assert_int_equal(r.status, 0);
    assert_non_null(strstr(r.err, "no chat template; the form is ChatML"));
    result_free(&r);
    r = run("-m %s -p he --chat", retold(LLAMA, 1, "<s>", 3, NULL, 0));
    assert_int_equal(r.status, 1);
    assert_non_null(strstr(r.err, "no chat template, and no token"));
    result_free(&r);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_another_type_or_range_are_refused),
        cmocka_unit_test(heads_and_vocabulary_have_to_fit),
        cmocka_unit_test(whole_and_real_numbers_may_have_any_type),
        cmocka_unit_test(what_is_not_said_is_the_usual),
        cmocka_unit_test(tokens_around_a_text_are_those_that_the_file_names),
        cmocka_unit_test(a_blank_stands_before_a_text_where_the_file_says_so),
        cmocka_unit_test(bytes_without_a_token_are_told_once),
        cmocka_unit_test(names_of_one_cutting_are_the_same),
        cmocka_unit_test(an_answer_ends_by_every_known_token),
        cmocka_unit_test(tokens_of_an_unknown_type_are_usual_ones),
        cmocka_unit_test(equal_and_longer_tokens_are_told_apart),
        cmocka_unit_test(a_family_that_is_not_known_is_cut_as_gpt2),
        cmocka_unit_test(merges_that_cannot_come_up_say_nothing),
        cmocka_unit_test(a_template_says_how_messages_are_framed),
        cmocka_unit_test(without_a_template_tokens_tell_with_a_warning),
    };

    return cmocka_run_group_tests_name("keys", tests, folder_make,
                                       folder_remove);
}
