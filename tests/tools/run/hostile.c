/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/hostile.c - what files contain does not act on a terminal,
 * and is JSON whatever it is.
 */
#include "tests/tools/run/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Clears the screen, sets the title, C1's form of the former, and no UTF-8. */
#define ESCAPES "\x1b[2J\x1b]0;x\a\xc2\x9b" "2J\x7f\r\xff"

/* Is a byte or a character of TEXT something that a terminal obeys? */
static bool
is_obeyed(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)text[i];
        const unsigned char next = (unsigned char)text[i + 1];

        if ((c < 0x20 && c != '\n') || c == 0x7f || c == 0xff)
            return true;
        if (c == 0xc2 && next >= 0x80 && next <= 0x9f)
            return true;
    }
    return false;
}

static void
check_is_harmless(const struct result *r, int status, const char *wanted)
{
    const size_t size = strlen(r->err);

    if (r->status != status)
        fail_msg("status %d, not %d: %s", r->status, status, r->err);
    if (is_obeyed(r->out, r->size))
        fail_msg("standard output: %s", r->out);
    if (is_obeyed(r->err, size))
        fail_msg("standard error: %s", r->err);
    if (strstr(r->out, wanted) == NULL && strstr(r->err, wanted) == NULL)
        fail_msg("no '%s' in: %s%s", wanted, r->out, r->err);
}

/* A file with such names, and with a tensor whose value is VALUE. */
static void
write_hostile(const char *name, float value)
{
    const char *texts[] = { "plain", "array " ESCAPES };
    const uint64_t numbers[] = { 1, UINT64_MAX };
    const struct ggml_init_params params = { 4096, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct gguf_context *gguf = gguf_init_empty();

    ggml_set_name(t, "tensor " ESCAPES);
    for (int i = 0; i < 4; i++)
        ((float *)t->data)[i] = value;
    gguf_set_val_str(gguf, "general.architecture", "arch " ESCAPES);
    gguf_set_val_str(gguf, "key " ESCAPES, "value " ESCAPES);
    gguf_set_val_u64(gguf, "large", UINT64_C(9223372036854775813));
    gguf_set_val_u64(gguf, "less", INT64_MAX);
    gguf_set_val_i64(gguf, "negative", -5);
    gguf_set_arr_str(gguf, "texts", texts, 2);
    gguf_set_arr_data(gguf, "numbers", GGUF_TYPE_UINT64, numbers, 2);
    gguf_add_tensor(gguf, t);
    assert_true(gguf_write_to_file(gguf, in_folder(name), false));
    gguf_free(gguf);
    ggml_free(ctx);
}

static void
names_are_quoted_for_people(void **state)
{
    static const char *const options[] = { "", "--all" };
    struct result r;

    (void)state;
    write_hostile("names", 1.0f);
    for (int i = 0; i < 2; i++) {
        r = run_other("ggmlbackend-gguf", "show %s %s", options[i],
                      in_folder("names"));
        check_is_harmless(&r, 0, "key \\x1b[2J\\x1b]0;x\\x07\\xc2\\x9b2J");
        assert_non_null(strstr(r.out, "\"value \\x1b"));
        assert_non_null(strstr(r.out, "\"array \\x1b"));
        assert_non_null(strstr(r.out, "tensor \\x1b"));
        result_free(&r);
    }
}

static void
names_are_quoted_in_messages(void **state)
{
    struct result r;

    (void)state;
    write_hostile("names", 1.0f);
    write_hostile("nan", (float)strtod("nan", NULL));
    r = run_other("ggmlbackend-gguf", "check %s", in_folder("nan"));
    check_is_harmless(&r, 1, "tensor 'tensor \\x1b[2J");
    result_free(&r);
    r = run("-m %s -p x", in_folder("names"));
    check_is_harmless(&r, 1, "arch \\x1b[2J");
    result_free(&r);
    r = run_other("ggmlbackend-gguf", "show \"$(printf 'no\\033[2Jfile')\"");
    check_is_harmless(&r, 1, "no\\x1b[2Jfile");
    result_free(&r);
}

static void
modules_are_quoted(void **state)
{
    char name[128], *path = realpath(in_folder("."), NULL);
    struct result r;

    (void)state;
    assert_non_null(path);
    snprintf(name, sizeof(name), "libggml-%s.so", "\x1b[2J\xc2\x9b");
    write_file(name, "no module", 9);
    setenv("GGMLBACKEND_MODULE_PATH", path, 1);
    free(path);
    r = run_other("ggmlbackend-info", "--env");
    unsetenv("GGMLBACKEND_MODULE_PATH");
    check_is_harmless(&r, 0, "libggml-\\x1b[2J");
    result_free(&r);
    unlink(in_folder(name));
}

static const char *
text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));

    assert_non_null(text);
    return text;
}

static void
json_has_any_bytes_and_any_number(void **state)
{
    const json_t *keys, *numbers;
    char arguments[200];
    struct result r;
    json_t *json;

    (void)state;
    write_hostile("names", 1.0f);
    r = run_other("ggmlbackend-gguf", "show --json %s", in_folder("names"));
    assert_int_equal(r.status, 0);
    json = json_loads(r.out, 0, NULL);
    assert_non_null(json);
    keys = json_object_get(json, "keys");
    assert_string_equal(
        text_at(keys, "key \x1b[2J\x1b]0;x\a\xc2\x9b" "2J\x7f\r\xef\xbf\xbd"),
        "value \x1b[2J\x1b]0;x\a\xc2\x9b" "2J\x7f\r\xef\xbf\xbd");
    assert_string_equal(text_at(keys, "large"), "9223372036854775813");
    assert_true(json_integer_value(json_object_get(keys, "less")) == INT64_MAX);
    assert_int_equal(json_integer_value(json_object_get(keys, "negative")), -5);
    numbers = json_object_get(keys, "numbers");
    assert_int_equal(json_integer_value(json_array_get(numbers, 0)), 1);
    assert_string_equal(json_string_value(json_array_get(numbers, 1)),
                        "18446744073709551615");
    json_decref(json);
    result_free(&r);
    /* On a terminal it has nothing beyond ASCII. */
    snprintf(arguments, sizeof(arguments), "show --json %s",
             in_folder("names"));
    r = run_on_terminal("ggmlbackend-gguf", arguments);
    assert_int_equal(r.status, 0);
    for (size_t i = 0; i < r.size; i++)
        assert_true((unsigned char)r.out[i] < 0x80);
    assert_non_null(strstr(r.out, "\\u009B"));
    result_free(&r);
}

static void
keys_that_json_cannot_tell_apart_are_said(void **state)
{
    struct gguf_context *gguf = gguf_init_empty();
    struct result r;

    (void)state;
    gguf_set_val_u32(gguf, "a\xfe", 1);
    gguf_set_val_u32(gguf, "a\xff", 2);
    assert_true(gguf_write_to_file(gguf, in_folder("twins"), false));
    gguf_free(gguf);
    r = run_other("ggmlbackend-gguf", "show --json %s", in_folder("twins"));
    check_is_harmless(&r, 1, "two keys");
    assert_int_equal(r.size, 0);
    result_free(&r);
}

/* A model whose tokens all act on a terminal. */
static void
write_speaker(void)
{
    struct ggml_context *ctx;
    const struct gguf_init_params params = { false, &ctx };
    struct gguf_context *gguf;
    const char *texts[512];
    char pool[512][32];
    const int32_t *types;
    int64_t key;
    size_t n;

    make_model("speaker", "-a gemma3 -p default");
    gguf = gguf_init_from_file(in_folder("speaker"), params);
    assert_non_null(gguf);
    types = gguf_get_arr_data(gguf,
                              gguf_find_key(gguf, "tokenizer.ggml.token_type"));
    key = gguf_find_key(gguf, "tokenizer.ggml.tokens");
    n = gguf_get_arr_n(gguf, key);
    assert_true(n <= 512);
    for (size_t i = 0; i < n; i++) {
        snprintf(pool[i], sizeof(pool[i]), "\x1b[3%zum\xc2\x9b\xe2\x82", i);
        if (types[i] != 1)
            snprintf(pool[i], sizeof(pool[i]), "%s",
                     gguf_get_arr_str(gguf, key, i));
        texts[i] = pool[i];
    }
    gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", texts, n);
    write_model("speaker", gguf, ctx);
}

static void
what_a_model_says_does_not_act_on_a_terminal(void **state)
{
    char arguments[200];
    struct result r;

    (void)state;
    write_speaker();
    snprintf(arguments, sizeof(arguments), "-m %s -p x -n 20 --temp 2",
             in_folder("speaker"));
    r = run("%s", arguments);
    if (r.status != 0)
        fail_msg("%s", r.err);
    assert_true(is_obeyed(r.out, r.size));
    result_free(&r);
    r = run_on_terminal("ggmlbackend-run", arguments);
    assert_int_equal(r.status, 0);
    /* The terminal itself puts a return before each end of a line. */
    for (size_t i = 0; i < r.size; i++)
        if (r.out[i] == '\r')
            r.out[i] = ' ';
    assert_false(is_obeyed(r.out, r.size));
    assert_non_null(strstr(r.out, "\\x1b[3"));
    assert_non_null(strstr(r.out, "\\xc2\\x9b"));
    assert_non_null(strstr(r.out, "\\xe2\\x82"));
    result_free(&r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_quoted_for_people),
        cmocka_unit_test(names_are_quoted_in_messages),
        cmocka_unit_test(modules_are_quoted),
        cmocka_unit_test(json_has_any_bytes_and_any_number),
        cmocka_unit_test(keys_that_json_cannot_tell_apart_are_said),
        cmocka_unit_test(what_a_model_says_does_not_act_on_a_terminal),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
