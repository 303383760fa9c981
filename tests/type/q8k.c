/* SPDX-License-Identifier: MIT */
/*
 * tests/type/q8k.c - rows of activations, which the interface does not show.
 */
#include "lib/base/byte-order.h"
#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "tests/type/tsv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void
read_input(float *x)
{
    struct tsv tsv;

    assert_true(tsv_open(&tsv, "quant_input.tsv"));
    for (int i = 0; i < GB_QK_K; i++) {
        uint32_t bits;

        assert_true(tsv_next(&tsv));
        bits = tsv_hex(tsv.columns[1], 8);
        memcpy(&x[i], &bits, sizeof(bits));
    }
    tsv_close(&tsv);
}

static void
a_row_has_the_published_bytes(void **state)
{
    struct gb_block_q8_k block;
    uint8_t expected[1024];
    float x[GB_QK_K];
    struct tsv tsv;

    (void)state;
    read_input(x);
    gb_q8_k_from_float(x, &block, GB_QK_K);
    assert_true(tsv_open(&tsv, "quant_vectors.tsv"));
    do
        assert_true(tsv_next(&tsv));
    while (strcmp(tsv.columns[0], "q8_K") != 0);
    assert_int_equal(tsv_bytes(tsv.columns[2], expected), sizeof(block));
    assert_memory_equal(&block, expected, sizeof(block));
    tsv_close(&tsv);
}

static void
sums_are_those_of_the_codes(void **state)
{
    struct gb_block_q8_k blocks[2];
    float x[2 * GB_QK_K];

    (void)state;
    for (int i = 0; i < 2 * GB_QK_K; i++)
        x[i] = sinf((float)i) * (float)(1 + i / 100);
    gb_q8_k_from_float(x, blocks, 2 * GB_QK_K);
    for (int b = 0; b < 2; b++) {
        for (int g = 0; g < 16; g++) {
            int sum = 0;

            for (int j = 0; j < 16; j++)
                sum += blocks[b].qs[16 * g + j];
            assert_int_equal((int16_t)gb_le16((uint16_t)blocks[b].bsums[g]),
                             sum);
        }
    }
}

static void
zeros_leave_nothing_behind(void **state)
{
    static const float x[GB_QK_K];
    struct gb_block_q8_k block, zero;

    (void)state;
    memset(&block, 0xA5, sizeof(block));
    memset(&zero, 0, sizeof(zero));
    gb_q8_k_from_float(x, &block, GB_QK_K);
    assert_memory_equal(&block, &zero, sizeof(block));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_has_the_published_bytes),
        cmocka_unit_test(sums_are_those_of_the_codes),
        cmocka_unit_test(zeros_leave_nothing_behind),
    };

    return cmocka_run_group_tests_name("q8_K", tests, NULL, NULL);
}
