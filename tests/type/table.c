/* SPDX-License-Identifier: MIT */
/*
 * tests/type/table.c - the table of types as the interface shows it.
 */
#include "tests/type/tsv.h"
#include "tests/util/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* Columns of types.tsv. */
enum column {
    ID,
    NAME,
    BLOCK,
    BYTES,
    IS_QUANTIZED,
    HAS_TO_FLOAT,
    HAS_FROM_FLOAT_REF,
    CPU_HAS_FROM_FLOAT,
    ACTIVATION,
    CHUNK,
};

static int
silence(void **state)
{
    (void)state;
    ggml_log_set(gb_sink_ignore, NULL);
    return 0;
}

static enum ggml_type
number(int type)
{
    return (enum ggml_type)type;
}

static void
each_type_is_as_published(void **state)
{
    struct tsv tsv;
    int n = 0;

    (void)state;
    assert_true(tsv_open(&tsv, "types.tsv"));
    for (; tsv_next(&tsv); n++) {
        const enum ggml_type type = number(atoi(tsv.columns[ID]));
        const struct ggml_type_traits *traits = ggml_get_type_traits(type);

        assert_int_equal(traits->blck_size, atoi(tsv.columns[BLOCK]));
        assert_int_equal(traits->type_size, atoi(tsv.columns[BYTES]));
        assert_int_equal(traits->blck_size_interleave, 0);
        assert_int_equal(traits->is_quantized, atoi(tsv.columns[IS_QUANTIZED]));
        assert_int_equal(traits->to_float != NULL,
                         atoi(tsv.columns[HAS_TO_FLOAT]));
        assert_int_equal(traits->from_float_ref != NULL,
                         atoi(tsv.columns[HAS_FROM_FLOAT_REF]));
        if (traits->blck_size > 0)
            assert_string_equal(traits->type_name, tsv.columns[NAME]);
    }
    assert_int_equal(n, GGML_TYPE_COUNT);
    tsv_close(&tsv);
}

static void
each_question_is_answered_from_the_table(void **state)
{
    (void)state;
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        const struct ggml_type_traits *traits =
            ggml_get_type_traits(number(type));

        assert_non_null(traits->type_name);
        assert_string_equal(ggml_type_name(number(type)), traits->type_name);
        assert_int_equal(ggml_blck_size(number(type)), traits->blck_size);
        assert_int_equal(ggml_type_size(number(type)), traits->type_size);
        assert_int_equal(ggml_is_quantized(number(type)),
                         traits->is_quantized);
        assert_int_equal(ggml_row_size(number(type), 12 * traits->blck_size),
                         12 * traits->type_size);
    }
}

static void
only_types_that_have_a_quantiser_are_quantised(void **state)
{
    static const float x[256], importance[256];
    static uint8_t blocks[1024];
    struct tsv tsv;

    (void)state;
    assert_true(tsv_open(&tsv, "types.tsv"));
    while (tsv_next(&tsv)) {
        const enum ggml_type type = number(atoi(tsv.columns[ID]));
        const char *chunk = tsv.columns[CHUNK];
        const bool needs = strcmp(chunk, "imatrix") == 0;
        const size_t size =
            strcmp(chunk, "no") == 0 ? 0 : ggml_row_size(type, 256);

        assert_int_equal(ggml_quantize_requires_imatrix(type), needs);
        if (ggml_quantize_chunk(type, x, blocks, 0, 1, 256, importance) != size)
            fail_msg("%s: expected %zu bytes", tsv.columns[NAME], size);
        if (ggml_quantize_chunk(type, x, blocks, 0, 1, 256, NULL) !=
            (needs ? 0 : size))
            fail_msg("%s: expected other bytes without importance",
                     tsv.columns[NAME]);
    }
    tsv_close(&tsv);
}

static void
a_number_out_of_range_is_no_type(void **state)
{
    static const int numbers[] = { GGML_TYPE_COUNT, 1000, -1 };

    (void)state;
    for (int i = 0; i < 3; i++) {
        const enum ggml_type type = number(numbers[i]);
        const struct ggml_type_traits *traits = ggml_get_type_traits(type);

        assert_non_null(traits);
        assert_int_equal(traits->blck_size, 0);
        assert_int_equal(traits->type_size, 0);
        assert_null(traits->to_float);
        assert_string_equal(ggml_type_name(type), "NONE");
        assert_int_equal(ggml_blck_size(type), 0);
        assert_int_equal(ggml_type_size(type), 0);
        assert_int_equal(ggml_row_size(type, 32), 0);
        assert_false(ggml_is_quantized(type));
        assert_false(ggml_quantize_requires_imatrix(type));
        ggml_quantize_init(type);
    }
}

static void
a_row_that_is_no_whole_blocks_has_no_size(void **state)
{
    (void)state;
    assert_int_equal(ggml_row_size(GGML_TYPE_Q4_0, 0), 0);
    assert_int_equal(ggml_row_size(GGML_TYPE_Q4_0, 64), 36);
    assert_int_equal(ggml_row_size(GGML_TYPE_Q4_0, 63), 0);
    assert_int_equal(ggml_row_size(GGML_TYPE_Q4_0, -32), 0);
    assert_int_equal(ggml_row_size(number(4), 32), 0);
    assert_int_equal(ggml_row_size(GGML_TYPE_F64, INT64_MAX), 0);
}

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

static void
bytes_per_value_are_a_fraction(void **state)
{
    (void)state;
    assert_true(ggml_type_sizef(GGML_TYPE_F32) == 4.0);
    assert_true(ggml_type_sizef(GGML_TYPE_Q4_0) == 0.5625);
    assert_true(ggml_type_sizef(number(4)) == 0.0);
}

static void
a_file_type_stands_for_a_type_by_name(void **state)
{
    static const struct {
        int file;
        const char *name;
    } rows[] = {
        { 0, "f32" },     { 1, "f16" },      { 2, "q4_0" },    { 3, "q4_1" },
        { 7, "q8_0" },    { 8, "q5_0" },     { 9, "q5_1" },    { 10, "q2_K" },
        { 11, "q3_K" },   { 12, "q4_K" },    { 13, "q5_K" },   { 14, "q6_K" },
        { 15, "iq2_xxs" }, { 16, "iq2_xs" }, { 17, "iq3_xxs" }, { 18, "iq1_s" },
        { 19, "iq4_nl" }, { 20, "iq3_s" },   { 21, "iq2_s" },  { 22, "iq4_xs" },
        { 23, "iq1_m" },  { 24, "bf16" },
    };
    static const int none[] = { -1, 4, 5, 6, 25, 1024 };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(ggml_type_name(ggml_ftype_to_ggml_type(
                                (enum ggml_ftype)rows[i].file)),
                            rows[i].name);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(ggml_ftype_to_ggml_type((enum ggml_ftype)none[i]),
                         GGML_TYPE_COUNT);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_is_as_published),
        cmocka_unit_test(each_question_is_answered_from_the_table),
        cmocka_unit_test(only_types_that_have_a_quantiser_are_quantised),
        cmocka_unit_test(a_number_out_of_range_is_no_type),
        cmocka_unit_test(a_row_that_is_no_whole_blocks_has_no_size),
        cmocka_unit_test(bytes_per_value_are_a_fraction),
        cmocka_unit_test(a_file_type_stands_for_a_type_by_name),
    };

    return cmocka_run_group_tests_name("types", tests, silence, NULL);
}
