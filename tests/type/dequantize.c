/* SPDX-License-Identifier: MIT */
/*
 * tests/type/dequantize.c - what blocks mean, by published vectors.
 */
#include "tests/type/tsv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MAX_BLOCK 512
#define MAX_VALUES 256

/* One published block. */
struct vector {
    enum ggml_type type;
    uint8_t block[MAX_BLOCK];
    float values[MAX_VALUES];
};

static void
read_vector(const struct tsv *tsv, struct vector *vector)
{
    const struct ggml_type_traits *traits;

    vector->type = tsv_type(tsv->columns[0]);
    assert_int_not_equal(vector->type, GGML_TYPE_COUNT);
    traits = ggml_get_type_traits(vector->type);
    assert_int_equal(strlen(tsv->columns[1]), 2 * traits->type_size);
    assert_int_equal(strlen(tsv->columns[2]), 8 * traits->blck_size);
    tsv_bytes(tsv->columns[1], vector->block);
    for (int64_t i = 0; i < traits->blck_size; i++) {
        const uint32_t bits = tsv_hex(tsv->columns[2] + 8 * i, 8);

        memcpy(&vector->values[i], &bits, sizeof(bits));
    }
}

static void
published_blocks_have_their_values_to_the_bit(void **state)
{
    bool is_published[GGML_TYPE_COUNT] = { false };
    struct tsv tsv;

    (void)state;
    assert_true(tsv_open(&tsv, "dequant_vectors.tsv"));
    while (tsv_next(&tsv)) {
        struct vector vector;
        const struct ggml_type_traits *traits;
        float values[MAX_VALUES];

        read_vector(&tsv, &vector);
        is_published[vector.type] = true;
        traits = ggml_get_type_traits(vector.type);
        if (traits->to_float == NULL)
            continue; /* q8_1 and q8_K: the interface has no reader */
        traits->to_float(vector.block, values, traits->blck_size);
        for (int64_t i = 0; i < traits->blck_size; i++)
            if (memcmp(&values[i], &vector.values[i], sizeof(float)) != 0)
                fail_msg("%s, value %d: %.9g, not %.9g", traits->type_name,
                         (int)i, (double)values[i], (double)vector.values[i]);
    }
    tsv_close(&tsv);
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const struct ggml_type_traits *traits =
            ggml_get_type_traits((enum ggml_type)t);

        if (traits->is_quantized && traits->to_float != NULL &&
            !is_published[t])
            fail_msg("there is no block of %s", traits->type_name);
    }
}

static void
rows_are_blocks_one_after_another(void **state)
{
    struct tsv tsv;

    (void)state;
    assert_true(tsv_open(&tsv, "dequant_vectors.tsv"));
    while (tsv_next(&tsv)) {
        struct vector vector;
        const struct ggml_type_traits *traits;
        /* Blocks of two bytes' alignment begin at an odd multiple of it. */
        _Alignas(4) uint8_t row[2 + 3 * MAX_BLOCK];
        uint8_t *first;
        float values[3 * MAX_VALUES + 1];

        read_vector(&tsv, &vector);
        traits = ggml_get_type_traits(vector.type);
        if (traits->to_float == NULL)
            continue;
        first = row + 2;
        for (int b = 0; b < 3; b++)
            memcpy(first + b * traits->type_size, vector.block,
                   traits->type_size);
        values[3 * traits->blck_size] = 1.5f;
        traits->to_float(first, values, 3 * traits->blck_size);
        for (int b = 0; b < 3; b++)
            assert_memory_equal(values + b * traits->blck_size, vector.values,
                                traits->blck_size * sizeof(float));
        assert_true(values[3 * traits->blck_size] == 1.5f);
    }
    tsv_close(&tsv);
}

static void
any_bytes_can_be_read(void **state)
{
    uint8_t block[MAX_BLOCK];
    float values[MAX_VALUES];
    uint32_t seed = 1;

    (void)state;
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        const struct ggml_type_traits *traits =
            ggml_get_type_traits((enum ggml_type)type);

        if (traits->to_float == NULL)
            continue;
        for (int round = 0; round < 200; round++) {
            for (size_t i = 0; i < traits->type_size; i++) {
                seed = seed * 1664525 + 1013904223;
                block[i] = round == 0 ? 0xFF : (uint8_t)(seed >> 24);
            }
            traits->to_float(block, values, traits->blck_size);
        }
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_blocks_have_their_values_to_the_bit),
        cmocka_unit_test(rows_are_blocks_one_after_another),
        cmocka_unit_test(any_bytes_can_be_read),
    };

    return cmocka_run_group_tests_name("reading blocks", tests, NULL, NULL);
}
