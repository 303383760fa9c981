/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/values.c - values of every type, as ggmlbackend-gguf shows and
 * converts them.
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

/* 59 letters, and one of two bytes that does not fit into 60. */
static const char long_text[] =
    "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffff\xc3\xa9!";

static void
write_keys(void)
{
    static const int16_t numbers[] = { -1, 2, -3, 4, -5, 6, -7 };
    static const int8_t truths[] = { 1, 0 };
    static const double reals[] = { 0.5, -2.25 };
    const char *texts[] = { "one", "two" };
    struct gguf_context *gguf = gguf_init_empty();

    assert_non_null(gguf);
    gguf_set_val_u8(gguf, "k.u8", 250);
    gguf_set_val_i8(gguf, "k.i8", -128);
    gguf_set_val_u16(gguf, "k.u16", 65535);
    gguf_set_val_i16(gguf, "k.i16", -32768);
    gguf_set_val_u32(gguf, "k.u32", 4294967295u);
    gguf_set_val_i32(gguf, "k.i32", -2147483647);
    gguf_set_val_u64(gguf, "k.u64", UINT64_MAX);
    gguf_set_val_i64(gguf, "k.i64", INT64_C(-9007199254740993));
    gguf_set_val_f32(gguf, "k.f32", 1.5f);
    gguf_set_val_f64(gguf, "k.f64", -0.0078125);
    gguf_set_val_f32(gguf, "k.inf", INFINITY);
    gguf_set_val_bool(gguf, "k.yes", true);
    gguf_set_val_bool(gguf, "k.no", false);
    gguf_set_val_str(gguf, "k.text", long_text);
    gguf_set_arr_data(gguf, "a.i16", GGUF_TYPE_INT16, numbers, 7);
    gguf_set_arr_data(gguf, "a.bool", GGUF_TYPE_BOOL, truths, 2);
    gguf_set_arr_data(gguf, "a.f64", GGUF_TYPE_FLOAT64, reals, 2);
    gguf_set_arr_data(gguf, "a.none", GGUF_TYPE_UINT8, numbers, 0);
    gguf_set_arr_str(gguf, "a.str", texts, 2);
    assert_true(gguf_write_to_file(gguf, in_folder("keys"), false));
    gguf_free(gguf);
}

/* The line of KEY has TYPE and then VALUE alone. */
static void
check_line(const char *shown, const char *key, const char *type,
           const char *value)
{
    char wanted[256];

    snprintf(wanted, sizeof(wanted), "%-44s %s %s\n", key, type, value);
    if (strstr(shown, wanted) == NULL)
        fail_msg("no '%s' in:\n%s", wanted, shown);
}

static void
people_see_each_type_with_its_value(void **state)
{
    struct result r;

    (void)state;
    write_keys();
    r = run_other("ggmlbackend-gguf", "show %s", in_folder("keys"));
    assert_int_equal(r.status, 0);
    check_line(r.out, "k.u8", "u8", "250");
    check_line(r.out, "k.i8", "i8", "-128");
    check_line(r.out, "k.u16", "u16", "65535");
    check_line(r.out, "k.i16", "i16", "-32768");
    check_line(r.out, "k.u32", "u32", "4294967295");
    check_line(r.out, "k.i32", "i32", "-2147483647");
    check_line(r.out, "k.u64", "u64", "18446744073709551615");
    check_line(r.out, "k.i64", "i64", "-9007199254740993");
    check_line(r.out, "k.f32", "f32", "1.5");
    check_line(r.out, "k.f64", "f64", "-0.0078125");
    check_line(r.out, "k.inf", "f32", "inf");
    check_line(r.out, "k.yes", "bool", "true");
    check_line(r.out, "k.no", "bool", "false");
    check_line(r.out, "k.text", "str",
               "\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffff"
               "…\"");
    check_line(r.out, "a.i16", "i16[7]", "-1, 2, -3, 4, -5, 6, …");
    check_line(r.out, "a.bool", "bool[2]", "true, false");
    check_line(r.out, "a.f64", "f64[2]", "0.5, -2.25");
    check_line(r.out, "a.none", "u8[0]", "");
    check_line(r.out, "a.str", "str[2]", "\"one\", \"two\"");
    result_free(&r);
    r = run_other("ggmlbackend-gguf", "show --all %s", in_folder("keys"));
    assert_int_equal(r.status, 0);
    check_line(r.out, "a.i16", "i16[7]", "-1, 2, -3, 4, -5, 6, -7");
    assert_non_null(strstr(r.out, "\xc3\xa9!\"\n"));
    result_free(&r);
}

static void
json_has_each_type_with_its_value(void **state)
{
    /* What has no number in JSON is null. */
    static const char wanted[] =
        "{\"k.u8\": 250, \"k.i8\": -128, \"k.u16\": 65535, \"k.i16\": -32768,"
        " \"k.u32\": 4294967295, \"k.i32\": -2147483647,"
        " \"k.u64\": \"18446744073709551615\", \"k.i64\": -9007199254740993,"
        " \"k.f32\": 1.5, \"k.f64\": -0.0078125, \"k.inf\": null,"
        " \"k.yes\": true, \"k.no\": false,"
        " \"a.i16\": [-1, 2, -3, 4, -5, 6, -7], \"a.bool\": [true, false],"
        " \"a.f64\": [0.5, -2.25], \"a.none\": [], \"a.str\": [\"one\", \"two\"]}";
    json_t *json, *keys, *expected;
    struct result r;

    (void)state;
    write_keys();
    r = run_other("ggmlbackend-gguf", "show --json %s", in_folder("keys"));
    assert_int_equal(r.status, 0);
    json = json_loads(r.out, 0, NULL);
    expected = json_loads(wanted, 0, NULL);
    assert_non_null(json);
    assert_non_null(expected);
    keys = json_object_get(json, "keys");
    assert_string_equal(json_string_value(json_object_get(keys, "k.text")),
                        long_text);
    json_object_del(keys, "k.text");
    if (!json_equal(keys, expected))
        fail_msg("%s", r.out);
    json_decref(expected);
    json_decref(json);
    result_free(&r);
}

/* Tensors of N0 columns, and what type they have after a convert. */
struct row {
    const char *name;
    enum ggml_type from;
    int64_t n0, n1;
    enum ggml_type to, pure;
};

static const struct row rows[] = {
    { "matrix", GGML_TYPE_F32, 64, 3, GGML_TYPE_Q4_0, GGML_TYPE_Q4_0 },
    { "half", GGML_TYPE_F16, 32, 2, GGML_TYPE_Q4_0, GGML_TYPE_Q4_0 },
    { "vector", GGML_TYPE_F32, 64, 1, GGML_TYPE_F32, GGML_TYPE_F32 },
    { "odd", GGML_TYPE_F32, 33, 2, GGML_TYPE_F16, GGML_TYPE_F32 },
    { "whole", GGML_TYPE_I32, 32, 2, GGML_TYPE_I32, GGML_TYPE_I32 },
    { "token_embd.weight", GGML_TYPE_F32, 32, 2, GGML_TYPE_Q8_0,
      GGML_TYPE_Q4_0 },
    { "output.weight", GGML_TYPE_F32, 64, 2, GGML_TYPE_Q8_0, GGML_TYPE_Q4_0 },
    { "long", GGML_TYPE_F32, 1 << 20, 2, GGML_TYPE_Q4_0, GGML_TYPE_Q4_0 },
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* Blocks of which one value is 8 times -0.5, the others multiples of 0.5. */
static float
value_at(int64_t i)
{
    return i % 32 == 0 ? -4.0f : (float)(i % 8) * 0.5f;
}

static void
write_tensors(void)
{
    const struct ggml_init_params params = { 64 << 20, NULL, false };
    struct ggml_context *ctx = ggml_init(params);
    struct gguf_context *gguf = gguf_init_empty();

    assert_non_null(ctx);
    assert_non_null(gguf);
    for (size_t i = 0; i < N_ROWS; i++) {
        struct ggml_tensor *t =
            ggml_new_tensor_2d(ctx, rows[i].from, rows[i].n0, rows[i].n1);

        ggml_set_name(t, rows[i].name);
        for (int64_t j = 0; j < ggml_nelements(t); j++)
            if (rows[i].from == GGML_TYPE_F16)
                ((ggml_fp16_t *)t->data)[j] = ggml_fp32_to_fp16(value_at(j));
            else if (rows[i].from == GGML_TYPE_I32)
                ((int32_t *)t->data)[j] = (int32_t)j;
            else
                ((float *)t->data)[j] = value_at(j);
        gguf_add_tensor(gguf, t);
    }
    assert_true(gguf_write_to_file(gguf, in_folder("tensors"), false));
    gguf_free(gguf);
    ggml_free(ctx);
}

/* Value J of T, which has Q4_0's blocks: a half, then 16 bytes of two each. */
static float
q4_0_at(const struct ggml_tensor *t, int64_t j)
{
    const uint8_t *block = (const uint8_t *)t->data + j / 32 * 18;
    const int64_t k = j % 32;
    ggml_fp16_t scale;

    memcpy(&scale, block, sizeof(scale));
    return ggml_fp16_to_fp32(scale) *
        (float)((k < 16 ? block[2 + k] & 15 : block[2 + k - 16] >> 4) - 8);
}

static void
check_tensor(const struct row *row, const struct ggml_tensor *t,
             enum ggml_type wanted)
{
    assert_non_null(t);
    if (t->type != wanted)
        fail_msg("%s has type %s", row->name, ggml_type_name(t->type));
    assert_int_equal(t->ne[0], row->n0);
    for (int64_t j = 0; j < ggml_nelements(t); j++) {
        const float value = wanted == GGML_TYPE_Q4_0 ? q4_0_at(t, j)
                          : wanted == GGML_TYPE_F32  ? ((float *)t->data)[j]
                                                     : value_at(j);

        if (value != value_at(j))
            fail_msg("%s: value %lld is %g", row->name, (long long)j, value);
    }
}

static void
matrices_of_numbers_are_converted_and_nothing_else(void **state)
{
    (void)state;
    write_tensors();
    for (int pure = 0; pure < 2; pure++) {
        struct ggml_context *ctx;
        const struct gguf_init_params params = { false, &ctx };
        struct gguf_context *gguf;
        struct result r =
            run_other("ggmlbackend-gguf", "convert %s --type q4_0 %s %s",
                      pure ? "--pure" : "", in_folder("tensors"),
                      in_folder("converted"));

        if (r.status != 0)
            fail_msg("%s", r.err);
        result_free(&r);
        gguf = gguf_init_from_file(in_folder("converted"), params);
        assert_non_null(gguf);
        /* The interface's number for q4_0. */
        assert_int_equal(
            gguf_get_val_u32(gguf, gguf_find_key(gguf, "general.file_type")),
            2);
        for (size_t i = 0; i < N_ROWS; i++)
            check_tensor(&rows[i], ggml_get_tensor(ctx, rows[i].name),
                         pure ? rows[i].pure : rows[i].to);
        gguf_free(gguf);
        ggml_free(ctx);
    }
}

/* A type that no number is for counts as that of unquantised files. */
static void
the_number_of_the_file_is_that_of_most_weights(void **state)
{
    struct gguf_context *gguf;
    const struct gguf_init_params params = { true, NULL };
    struct result r;

    (void)state;
    write_tensors();
    r = run_other("ggmlbackend-gguf", "convert --type tq2_0 %s %s",
                  in_folder("tensors"), in_folder("converted"));
    assert_int_equal(r.status, 0);
    result_free(&r);
    gguf = gguf_init_from_file(in_folder("converted"), params);
    assert_non_null(gguf);
    assert_int_equal(
        gguf_get_val_u32(gguf, gguf_find_key(gguf, "general.file_type")),
        37);
    gguf_free(gguf);
}

/* The bar is drawn from 300 ms on, and not at once again: how far it has come by
 * then depends on the machine.  A case takes half of its time, or all of it. */
static void
a_terminal_shows_how_far_it_is(void **state)
{
    /* Each case takes its time: a sample is long, and their number has an end. */
    struct result r = run_on_terminal(
        "ggmlbackend-bench", "-t 1 -s 0.4 --json -k copy/set/16384KiB "
        "-k copy/*/131072KiB");
    const char *bar;
    int done;
    int percent;

    (void)state;
    assert_int_equal(r.status, 0);
    bar = strstr(r.out, "\rmeasuring [####");
    if (bar == NULL)
        fail_msg("%s", r.out);
    bar += strlen("\rmeasuring [");
    done = (int)strspn(bar, "#");
    percent = atoi(strchr(bar, ']') + 1);
    assert_true(percent > 0 && percent % 25 == 0);
    assert_int_equal(done, percent * 40 / 100);
    /* Which goes away before a line is written, and in the end. */
    assert_non_null(strstr(bar, "%\r\x1b[K{\"name\""));
    result_free(&r);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(people_see_each_type_with_its_value),
        cmocka_unit_test(json_has_each_type_with_its_value),
        cmocka_unit_test(matrices_of_numbers_are_converted_and_nothing_else),
        cmocka_unit_test(
            the_number_of_the_file_is_that_of_most_weights),
        cmocka_unit_test(a_terminal_shows_how_far_it_is),
    };

    return cmocka_run_group_tests_name("values", tests, folder_make,
                                       folder_remove);
}
