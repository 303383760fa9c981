/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/convert.c - what ggmlbackend-gguf writes, and what it refuses to
 * write.
 */
#include "tests/tools/run/program.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define TOOL "ggmlbackend-gguf"

/* A new context of tensors with data. */
static struct ggml_context *
new_tensors(void)
{
    const struct ggml_init_params params = { .mem_size = 64 << 20 };
    struct ggml_context *ctx = ggml_init(params);

    assert_non_null(ctx);
    return ctx;
}

/* A matrix of F32 in CTX and GGUF, all of its values VALUE. */
static struct ggml_tensor *
add_matrix(struct gguf_context *gguf, struct ggml_context *ctx,
           const char *name, int64_t n0, int64_t n1, float value)
{
    struct ggml_tensor *t =
        ggml_set_name(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, n0, n1), name);
    float *x = t->data;

    for (int64_t i = 0; i < n0 * n1; i++)
        x[i] = value;
    gguf_add_tensor(gguf, t);
    return t;
}

/* "convert OPTIONS FROM OUTPUT" of files in the folder; its messages in *ERR, to be
 * freed, unless ERR is NULL. */
static int
convert(const char *options, const char *from, const char *output, char **err)
{
    struct result r = run_other(TOOL, "convert %s %s %s", options,
                                in_folder(from), in_folder(output));
    const int status = r.status;

    if (err != NULL)
        *err = strdup(r.err);
    result_free(&r);
    return status;
}

static int
check(const char *name)
{
    struct result r = run_other(TOOL, "check %s", in_folder(name));
    const int status = r.status;

    result_free(&r);
    return status;
}

/* The tensors of a file, with their data; *GGUF is to be freed as well. */
static struct ggml_context *
load(const char *name, struct gguf_context **gguf)
{
    struct ggml_context *ctx;
    const struct gguf_init_params params = { false, &ctx };

    *gguf = gguf_init_from_file(in_folder(name), params);
    assert_non_null(*gguf);
    return ctx;
}

static void
tensors_without_elements_are_copied(void **state)
{
    static const int64_t shapes[][2] = {
        { 0, 1 }, { 0, 5 }, { 4, 0 }, { 32, 0 }, { 0, 0 },
        { INT64_C(1) << 40, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        struct gguf_context *gguf = gguf_init_empty();
        struct ggml_context *ctx = new_tensors();
        const struct ggml_tensor *t;

        add_matrix(gguf, ctx, "none", shapes[i][0], shapes[i][1], 0.0f);
        add_matrix(gguf, ctx, "after", 32, 2, 0.5f);
        write_model("empty", gguf, ctx);
        assert_int_equal(convert("--pure --type f16", "empty", "x", NULL), 0);
        assert_int_equal(convert("--no-mmap --type q8_0", "empty", "x", NULL), 0);
        assert_int_equal(check("x"), 0);
        ctx = load("x", &gguf);
        t = ggml_get_tensor(ctx, "none");
        assert_int_equal(t->ne[0], shapes[i][0]);
        assert_int_equal(t->ne[1], shapes[i][1]);
        assert_int_equal(ggml_get_tensor(ctx, "after")->type, GGML_TYPE_Q8_0);
        ggml_free(ctx);
        gguf_free(gguf);
    }
}

/* The file NAME has the word "before". */
static void
assert_is_before(const char *name)
{
    FILE *file = fopen(in_folder(name), "rb");
    char text[16] = "";

    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof(text) - 1, file), 6);
    assert_string_equal(text, "before");
    fclose(file);
}

static void
values_that_a_type_cannot_hold_are_refused(void **state)
{
    static const struct {
        float value;
        const char *options, *word;
    } cases[] = {
        { NAN, "f16", "NaN" },         { INFINITY, "q4_0", "infinity" },
        { -INFINITY, "bf16", "-infinity" },
        { NAN, "f32", "NaN" },         { 70000.0f, "f16", "70000" },
        { -70000.0f, "f16", "-70000" }, { 1e38f, "q8_0", "e+3" },
        { 1e38f, "q4_K --pure", "e+3" }, { 3.4028235e38f, "bf16", "e+38" },
        { 1e38f, "iq1_m --pure", "e+3" }, { -1e9f, "q4_1", "-1e+09" },
        { 1e30f, "tq2_0 --pure", "e+30" },
        /* Coarse types are nearly as far off where they cut nothing. */
        { 1e38f, "iq2_s --pure", "e+37" }, { 1e12f, "iq2_s --pure", "e+11" },
        { 1e8f, "iq3_s --pure", "100000000" },
        { 1e8f, "iq1_m --pure", "100000000" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gguf_context *gguf = gguf_init_empty();
        struct ggml_context *ctx = new_tensors();
        struct ggml_tensor *t = add_matrix(gguf, ctx, "m", 256, 5, 0.25f);
        struct result r;
        char options[64];

        ((float *)t->data)[3 * 256 + 77] = cases[i].value;
        write_model("bad", gguf, ctx);
        write_file("target", "before", 6);
        snprintf(options, sizeof(options), "--type %s", cases[i].options);
        r = run_other(TOOL, "convert %s %s %s", options, in_folder("bad"),
                      in_folder("target"));
        if (r.status != 1 || strstr(r.err, "'m', row 3, column 77") == NULL ||
            strstr(r.err, cases[i].word) == NULL)
            fail_msg("%s: status %d: %s", options, r.status, r.err);
        result_free(&r);
        assert_is_before("target");
    }
}

/* The largest values that types hold are no reason to refuse. */
static void
values_at_the_end_of_the_range_are_written(void **state)
{
    static const struct {
        float value;
        const char *options;
    } cases[] = {
        { 65504.0f, "f16" },  { 65504.0f, "q4_0" },     { 8e6f, "q8_0" },
        { 3.3e38f, "bf16" },  { 3.4e38f, "f32" },       { 1e6f, "q6_K --pure" },
        { 60000.0f, "tq1_0 --pure" }, { -60000.0f, "iq4_xs --pure" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct gguf_context *gguf = gguf_init_empty();
        struct ggml_context *ctx = new_tensors();
        char options[64];

        ((float *)add_matrix(gguf, ctx, "m", 256, 2, 0.25f)->data)[9] =
            cases[i].value;
        write_model("large", gguf, ctx);
        snprintf(options, sizeof(options), "--type %s", cases[i].options);
        if (convert(options, "large", "x", NULL) != 0 || check("x") != 0)
            fail_msg("%s", options);
    }
}

/* Numbers of general.file_type, from the published list of the format; rows of 576
 * get the type with smaller blocks. */
static const struct {
    const char *name;
    uint32_t number, number_of_576;
    const char *type_of_576;
} types[] = {
    { "f32", 0, 0, "f32" },       { "f16", 1, 1, "f16" },
    { "bf16", 32, 32, "bf16" },   { "q4_0", 2, 2, "q4_0" },
    { "q4_1", 3, 3, "q4_1" },     { "q5_0", 8, 8, "q5_0" },
    { "q5_1", 9, 9, "q5_1" },     { "q8_0", 7, 7, "q8_0" },
    { "q2_K", 10, 25, "iq4_nl" }, { "q3_K", 12, 25, "iq4_nl" },
    { "q4_K", 15, 8, "q5_0" },    { "q5_K", 17, 9, "q5_1" },
    { "q6_K", 18, 7, "q8_0" },    { "iq1_m", 31, 25, "iq4_nl" },
    { "iq2_s", 28, 25, "iq4_nl" }, { "iq3_xxs", 23, 25, "iq4_nl" },
    { "iq3_s", 26, 25, "iq4_nl" }, { "iq4_nl", 25, 25, "iq4_nl" },
    { "iq4_xs", 30, 25, "iq4_nl" }, { "tq1_0", 36, 2, "q4_0" },
    { "tq2_0", 37, 2, "q4_0" },
};

static void
check_type(const char *type, int64_t n0, const char *wanted, uint32_t number)
{
    struct gguf_context *gguf = gguf_init_empty();
    struct ggml_context *ctx = new_tensors();
    char options[64], *err;

    add_matrix(gguf, ctx, "m", n0, 3, 0.25f);
    write_model("rows", gguf, ctx);
    snprintf(options, sizeof(options), "--type %s", type);
    assert_int_equal(convert(options, "rows", "x", &err), 0);
    if ((strstr(err, "warning") != NULL) != (strcmp(type, wanted) != 0) ||
        strstr(err, "tensors") == NULL)
        fail_msg("%s: %s", type, err);
    free(err);
    ctx = load("x", &gguf);
    assert_string_equal(ggml_type_name(ggml_get_tensor(ctx, "m")->type), wanted);
    assert_int_equal(
        gguf_get_val_u32(gguf, gguf_find_key(gguf, "general.file_type")), number);
    ggml_free(ctx);
    gguf_free(gguf);
}

static void
rows_that_are_no_whole_blocks_get_smaller_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        check_type(types[i].name, 512, types[i].name, types[i].number);
        check_type(types[i].name, 576, types[i].type_of_576,
                   types[i].number_of_576);
    }
    /* No quantised type has blocks for these. */
    check_type("q4_0", 33, "f16", 1);
}

static void
pure_writes_no_other_type(void **state)
{
    struct gguf_context *gguf = gguf_init_empty();
    struct ggml_context *ctx = new_tensors();
    char *err;

    (void)state;
    add_matrix(gguf, ctx, "m", 576, 3, 0.25f);
    write_model("rows", gguf, ctx);
    assert_int_equal(convert("--pure --type q4_K", "rows", "x", &err), 0);
    assert_non_null(strstr(err, "1 of 1 matrices"));
    free(err);
    ctx = load("x", &gguf);
    assert_int_equal(ggml_get_tensor(ctx, "m")->type, GGML_TYPE_F32);
    assert_int_equal(
        gguf_get_val_u32(gguf, gguf_find_key(gguf, "general.file_type")), 0);
    ggml_free(ctx);
    gguf_free(gguf);
}

static void
mistakes_are_answered_with_what_there_is(void **state)
{
    static const struct {
        const char *arguments, *words;
    } cases[] = {
        { "convert a b", "needs --type TYPE; types: f32, f16" },
        { "convert --type q9 a b", "no type 'q9'; types: f32, f16" },
        { "convert --type q4_K_M a b", "take q4_K (types: f32" },
        { "convert --type IQ3_M a b", "take iq3_s (types: f32" },
        { "convert --type iq2_xxs a b", "importance matrix" },
        { "convert --type i32 a b", "no type of weights; types: f32" },
        { "convert --type f16 a", "convert takes 2 files, not 1" },
        { "quantize a", "no command 'quantize'; commands: show, check, conv" },
        { "", "no command; commands: show, check, convert, types" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct result r = run_other(TOOL, "%s", cases[i].arguments);

        if (r.status != 2 || strstr(r.err, cases[i].words) == NULL)
            fail_msg("%s: status %d: %s", cases[i].arguments, r.status, r.err);
        result_free(&r);
    }
}

static void
a_cut_file_is_one_line_with_a_count(void **state)
{
    struct gguf_context *gguf = gguf_init_empty();
    struct ggml_context *ctx = new_tensors();
    struct result r;
    char name[16];

    (void)state;
    for (int i = 0; i < 250; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        add_matrix(gguf, ctx, name, 32, 8, 1.0f);
    }
    write_model("long", gguf, ctx);
    assert_int_equal(truncate(in_folder("long"), 24 + 250 * 50 + 10 * 1024), 0);
    r = run_other(TOOL, "check %s", in_folder("long"));
    assert_int_equal(r.status, 1);
    assert_ptr_equal(strchr(r.err, '\n'), r.err + strlen(r.err) - 1);
    assert_non_null(strstr(r.err, " of its 250 tensors"));
    result_free(&r);
    assert_int_equal(convert("--type f16", "long", "y", NULL), 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_without_elements_are_copied),
        cmocka_unit_test(values_that_a_type_cannot_hold_are_refused),
        cmocka_unit_test(values_at_the_end_of_the_range_are_written),
        cmocka_unit_test(rows_that_are_no_whole_blocks_get_smaller_ones),
        cmocka_unit_test(pure_writes_no_other_type),
        cmocka_unit_test(mistakes_are_answered_with_what_there_is),
        cmocka_unit_test(a_cut_file_is_one_line_with_a_count),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
