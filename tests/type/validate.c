/* SPDX-License-Identifier: MIT */
/*
 * tests/type/validate.c - which rows are good.
 */
#include "lib/base/byte-order.h"

#include "ggml.h"

#include "tests/util/sink.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define N_BLOCKS  3
#define MAX_BYTES 1024

/* Where a type's blocks have halves that must be finite; -1 for none. */
static const struct {
    enum ggml_type type;
    int at[2];
} halves[] = {
    { GGML_TYPE_F16, { 0, -1 } },      { GGML_TYPE_Q4_0, { 0, -1 } },
    { GGML_TYPE_Q4_1, { 0, 2 } },      { GGML_TYPE_Q5_0, { 0, -1 } },
    { GGML_TYPE_Q5_1, { 0, 2 } },      { GGML_TYPE_Q8_0, { 0, -1 } },
    { GGML_TYPE_Q2_K, { 80, 82 } },    { GGML_TYPE_Q3_K, { 108, -1 } },
    { GGML_TYPE_Q4_K, { 0, 2 } },      { GGML_TYPE_Q5_K, { 0, 2 } },
    { GGML_TYPE_Q6_K, { 208, -1 } },   { GGML_TYPE_IQ1_S, { 0, -1 } },
    { GGML_TYPE_IQ2_XXS, { 0, -1 } },  { GGML_TYPE_IQ2_XS, { 0, -1 } },
    { GGML_TYPE_IQ2_S, { 0, -1 } },    { GGML_TYPE_IQ3_XXS, { 0, -1 } },
    { GGML_TYPE_IQ3_S, { 0, -1 } },    { GGML_TYPE_IQ4_NL, { 0, -1 } },
    { GGML_TYPE_IQ4_XS, { 0, -1 } },   { GGML_TYPE_TQ1_0, { 52, -1 } },
    { GGML_TYPE_TQ2_0, { 64, -1 } },
};

#define N_HALVES (sizeof(halves) / sizeof(halves[0]))

static int
silence(void **state)
{
    (void)state;
    ggml_log_set(gb_sink_ignore, NULL);
    return 0;
}

/* Little-endian in blocks, as the machine has it by itself. */
static void
put_half(enum ggml_type type, uint8_t *row, size_t at, uint16_t half)
{
    if (type != GGML_TYPE_F16)
        half = gb_le16(half);
    memcpy(row + at, &half, sizeof(half));
}

static void
a_half_that_is_not_finite_is_found_in_any_block(void **state)
{
    static const uint16_t bad[] = { 0x7C00, 0xFC00, 0x7E00, 0xFC01 };

    (void)state;
    for (size_t i = 0; i < N_HALVES; i++) {
        const enum ggml_type type = halves[i].type;
        const size_t size = ggml_type_size(type);
        uint8_t row[MAX_BYTES];

        for (int k = 0; k < 2 && halves[i].at[k] >= 0; k++) {
            for (int b = 0; b < N_BLOCKS; b++) {
                const size_t at = (size_t)b * size + (size_t)halves[i].at[k];

                for (int v = 0; v < 4; v++) {
                    memset(row, 0, sizeof(row));
                    put_half(type, row, at, bad[v]);
                    if (ggml_validate_row_data(type, row, N_BLOCKS * size))
                        fail_msg("%s, block %d", ggml_type_name(type), b);
                }
                put_half(type, row, at, 0x7BFF);
                assert_true(
                    ggml_validate_row_data(type, row, N_BLOCKS * size));
            }
        }
    }
}

static void
all_other_bytes_may_be_anything(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_HALVES; i++) {
        const size_t size = ggml_type_size(halves[i].type);
        /* A row in a file may begin at an odd address. */
        uint8_t row[MAX_BYTES + 1];

        memset(row, 0xFF, sizeof(row));
        for (int k = 0; k < 2 && halves[i].at[k] >= 0; k++)
            for (size_t b = 0; b < N_BLOCKS; b++)
                put_half(halves[i].type, row + 1,
                         b * size + (size_t)halves[i].at[k], 0x8001);
        if (!ggml_validate_row_data(halves[i].type, row + 1, N_BLOCKS * size))
            fail_msg("%s", ggml_type_name(halves[i].type));
    }
}

static void
the_spread_half_of_iq1_m_is_put_together(void **state)
{
    uint8_t block[56];

    (void)state;
    memset(block, 0xFF, sizeof(block));
    assert_false(ggml_validate_row_data(GGML_TYPE_IQ1_M, block, sizeof(block)));
    /* The top four bits of the last word are the half's sign and exponent. */
    put_half(GGML_TYPE_IQ1_M, block, 54, 0x3FFF);
    assert_true(ggml_validate_row_data(GGML_TYPE_IQ1_M, block, sizeof(block)));
    put_half(GGML_TYPE_IQ1_M, block, 54, 0x7FFF);
    assert_false(ggml_validate_row_data(GGML_TYPE_IQ1_M, block, sizeof(block)));
    put_half(GGML_TYPE_IQ1_M, block, 52, 0x0FFF);
    assert_true(ggml_validate_row_data(GGML_TYPE_IQ1_M, block, sizeof(block)));
}

static void
floats_are_finite(void **state)
{
    float f32[4] = { 0, -FLT_MAX, 1e-45f, 1 };
    double f64[2] = { DBL_MAX, -1e-310 };
    uint16_t bf16[3] = { 0x7F7F, 0x8001, 0 };
    uint8_t q8_k[292];

    (void)state;
    assert_true(ggml_validate_row_data(GGML_TYPE_F32, f32, sizeof(f32)));
    f32[3] = NAN;
    assert_false(ggml_validate_row_data(GGML_TYPE_F32, f32, sizeof(f32)));
    f32[3] = -INFINITY;
    assert_false(ggml_validate_row_data(GGML_TYPE_F32, f32, sizeof(f32)));

    assert_true(ggml_validate_row_data(GGML_TYPE_F64, f64, sizeof(f64)));
    f64[1] = INFINITY;
    assert_false(ggml_validate_row_data(GGML_TYPE_F64, f64, sizeof(f64)));

    assert_true(ggml_validate_row_data(GGML_TYPE_BF16, bf16, sizeof(bf16)));
    bf16[2] = 0xFF80;
    assert_false(ggml_validate_row_data(GGML_TYPE_BF16, bf16, sizeof(bf16)));

    memset(q8_k, 0, sizeof(q8_k));
    assert_true(ggml_validate_row_data(GGML_TYPE_Q8_K, q8_k, sizeof(q8_k)));
    memcpy(q8_k, &f32[3], sizeof(float));
    gb_le_bytes(q8_k, sizeof(float), sizeof(float));
    assert_false(ggml_validate_row_data(GGML_TYPE_Q8_K, q8_k, sizeof(q8_k)));
}

static void
integers_are_always_good(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_I8, GGML_TYPE_I16,
                                            GGML_TYPE_I32, GGML_TYPE_I64 };
    uint8_t row[64];

    (void)state;
    memset(row, 0xFF, sizeof(row));
    for (int i = 0; i < 4; i++)
        assert_true(ggml_validate_row_data(types[i], row, sizeof(row)));
}

static void
what_is_no_row_is_refused(void **state)
{
    static const int none[] = { 4, 5, 31, 38, GGML_TYPE_COUNT, 77, -1,
                                GGML_TYPE_Q8_1 };
    static const uint8_t row[144];

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_false(ggml_validate_row_data((enum ggml_type)none[i], row, 0));
    assert_false(ggml_validate_row_data(GGML_TYPE_Q4_0, row, 17));
    assert_false(ggml_validate_row_data(GGML_TYPE_F32, row, 7));
    assert_true(ggml_validate_row_data(GGML_TYPE_Q4_0, row, 36));
    assert_true(ggml_validate_row_data(GGML_TYPE_Q4_0, row, 0));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_half_that_is_not_finite_is_found_in_any_block),
        cmocka_unit_test(all_other_bytes_may_be_anything),
        cmocka_unit_test(the_spread_half_of_iq1_m_is_put_together),
        cmocka_unit_test(floats_are_finite),
        cmocka_unit_test(integers_are_always_good),
        cmocka_unit_test(what_is_no_row_is_refused),
    };

    return cmocka_run_group_tests_name("checking rows", tests, silence, NULL);
}
