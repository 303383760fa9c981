/* SPDX-License-Identifier: MIT */
/*
 * tests/type/chunk.c - quantising in pieces, with wrong arguments, and with
 * values that are none.
 */
#include "ggml.h"

#include "tests/util/sink.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define N_ROWS    6
#define N_COLUMNS 512
#define MAX_BYTES (N_ROWS * N_COLUMNS * sizeof(float))

static float x[N_ROWS * N_COLUMNS], importance[N_COLUMNS];

static int
make_data(void **state)
{
    (void)state;
    ggml_log_set(gb_sink_ignore, NULL);
    for (int i = 0; i < N_ROWS * N_COLUMNS; i++)
        x[i] = sinf((float)i * 0.7f) + 0.3f * cosf((float)i * 2.9f);
    for (int i = 0; i < N_COLUMNS; i++)
        importance[i] = 0.2f + (float)(i % 7);
    return 0;
}

/* Types that can be quantised, one after another: -1 before the first; false
 * behind the last. */
static bool
next_type(int *type)
{
    uint8_t blocks[MAX_BYTES];

    while (++*type < GGML_TYPE_COUNT)
        if (ggml_quantize_chunk((enum ggml_type)*type, x, blocks, 0, 1,
                                N_COLUMNS, importance) != 0)
            return true;
    return false;
}

static void
pieces_give_the_bytes_of_the_whole(void **state)
{
    (void)state;
    for (int t = -1; next_type(&t);) {
        const enum ggml_type type = (enum ggml_type)t;
        const size_t row = ggml_row_size(type, N_COLUMNS);
        uint8_t whole[MAX_BYTES + 8], pieces[MAX_BYTES + 8];

        memset(whole, 0xA5, sizeof(whole));
        memset(pieces, 0xA5, sizeof(pieces));
        assert_int_equal(ggml_quantize_chunk(type, x, whole, 0, N_ROWS,
                                             N_COLUMNS, importance),
                         N_ROWS * row);
        assert_int_equal(ggml_quantize_chunk(type, x, pieces, 2 * N_COLUMNS, 4,
                                             N_COLUMNS, importance),
                         4 * row);
        assert_int_equal(pieces[2 * row - 1], 0xA5);
        assert_int_equal(ggml_quantize_chunk(type, x, pieces, 0, 2, N_COLUMNS,
                                             importance),
                         2 * row);
        if (memcmp(whole, pieces, sizeof(whole)) != 0)
            fail_msg("%s", ggml_type_name(type));
        assert_int_equal(whole[N_ROWS * row], 0xA5);
    }
}

static void
wrong_arguments_write_nothing(void **state)
{
    const enum ggml_type type = GGML_TYPE_Q4_K;
    uint8_t blocks[MAX_BYTES], untouched[MAX_BYTES];

    (void)state;
    memset(blocks, 0xA5, sizeof(blocks));
    memset(untouched, 0xA5, sizeof(untouched));

    assert_int_equal(ggml_quantize_chunk(type, x, blocks, 256, 1, N_COLUMNS,
                                         NULL), 0);
    assert_int_equal(ggml_quantize_chunk(type, x, blocks, 16, 1, 256, NULL), 0);
    assert_int_equal(ggml_quantize_chunk(type, x, blocks, -N_COLUMNS, 1,
                                         N_COLUMNS, NULL), 0);
    assert_int_equal(ggml_quantize_chunk(type, x, blocks, 0, 1, 100, NULL), 0);
    assert_int_equal(ggml_quantize_chunk(type, x, blocks, 0, 1, 0, NULL), 0);
    assert_int_equal(ggml_quantize_chunk(type, x, blocks, 0, -1, 256, NULL), 0);
    assert_int_equal(ggml_quantize_chunk(type, x, blocks, 0, 0, 256, NULL), 0);
    assert_int_equal(ggml_quantize_chunk(type, NULL, blocks, 0, 1, 256, NULL),
                     0);
    assert_int_equal(ggml_quantize_chunk(type, x, NULL, 0, 1, 256, NULL), 0);
    assert_int_equal(ggml_quantize_chunk(GGML_TYPE_IQ2_XS, x, blocks, 0, 1, 256,
                                         NULL), 0);
    assert_int_equal(ggml_quantize_chunk(GGML_TYPE_I32, x, blocks, 0, 1, 256,
                                         NULL), 0);
    assert_int_equal(ggml_quantize_chunk(GGML_TYPE_Q8_1, x, blocks, 0, 1, 256,
                                         NULL), 0);
    assert_int_equal(ggml_quantize_chunk(GGML_TYPE_COUNT, x, blocks, 0, 1, 256,
                                         NULL), 0);
    assert_memory_equal(blocks, untouched, sizeof(blocks));
}

static void
plain_types_are_copied_or_converted(void **state)
{
    float copy[N_COLUMNS];
    ggml_fp16_t halves[N_COLUMNS];

    (void)state;
    assert_int_equal(ggml_quantize_chunk(GGML_TYPE_F32, x, copy, 0, 1,
                                         N_COLUMNS, importance),
                     sizeof(copy));
    assert_memory_equal(copy, x, sizeof(copy));
    assert_int_equal(ggml_quantize_chunk(GGML_TYPE_F16, x, halves, 0, 1,
                                         N_COLUMNS, NULL),
                     sizeof(halves));
    for (int i = 0; i < N_COLUMNS; i++)
        assert_int_equal(halves[i], ggml_fp32_to_fp16(x[i]));
}

/* A few of the values become SPECIAL. */
static void
sprinkle(float *values, int n, int stride, float special)
{
    for (int i = stride / 2; i < n; i += stride)
        values[i] = special;
}

/* Nothing is said about the codes, but that there are some; the sanitizers
 * watch, and the bytes behind. */
static void
values_that_are_none_do_no_harm(void **state)
{
    static const float specials[] = { NAN,    -NAN,    INFINITY, -INFINITY,
                                      3e38f,  -3e38f,  1e-42f,   -1e-42f,
                                      1e-20f, 5e-13f,  0.0f,     -0.0f };
    static const int strides[] = { 1, 3, 40, 300 };

    (void)state;
    for (int t = -1; next_type(&t);) {
        const enum ggml_type type = (enum ggml_type)t;
        const size_t size = ggml_row_size(type, N_COLUMNS);
        uint8_t blocks[MAX_BYTES + 8];
        float values[N_COLUMNS], weights[N_COLUMNS];

        for (int i = 0; i < 4 * 12 * 3; i++) {
            const float special = specials[i / 4 % 12];
            const struct ggml_type_traits *traits = ggml_get_type_traits(type);

            memcpy(values, x, sizeof(values));
            memcpy(weights, importance, sizeof(weights));
            if (i / 48 != 1)
                sprinkle(values, N_COLUMNS, strides[i % 4], special);
            if (i / 48 != 0)
                sprinkle(weights, N_COLUMNS, strides[i % 4], special);
            blocks[size] = 0xA5;
            assert_int_equal(ggml_quantize_chunk(type, values, blocks, 0, 1,
                                                 N_COLUMNS, weights),
                             size);
            assert_int_equal(blocks[size], 0xA5);
            if (!ggml_quantize_requires_imatrix(type))
                ggml_quantize_chunk(type, values, blocks, 0, 1, N_COLUMNS,
                                    NULL);
            if (traits->from_float_ref != NULL)
                traits->from_float_ref(values, blocks, N_COLUMNS);
            assert_int_equal(blocks[size], 0xA5);
            if (traits->to_float != NULL)
                traits->to_float(blocks, values, N_COLUMNS);
        }
    }
}

static void
what_was_freed_is_made_again(void **state)
{
    static uint8_t before[MAX_BYTES], after[MAX_BYTES];

    (void)state;
    ggml_quantize_chunk(GGML_TYPE_IQ3_S, x, before, 0, 1, N_COLUMNS, NULL);
    ggml_quantize_free();
    ggml_quantize_free();
    ggml_quantize_chunk(GGML_TYPE_IQ3_S, x, after, 0, 1, N_COLUMNS, NULL);
    assert_memory_equal(before, after, sizeof(before));
    ggml_quantize_free();
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_give_the_bytes_of_the_whole),
        cmocka_unit_test(wrong_arguments_write_nothing),
        cmocka_unit_test(plain_types_are_copied_or_converted),
        cmocka_unit_test(values_that_are_none_do_no_harm),
        cmocka_unit_test(what_was_freed_is_made_again),
    };

    return cmocka_run_group_tests_name("quantising rows", tests, make_data,
                                       NULL);
}
