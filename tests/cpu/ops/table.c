/* SPDX-License-Identifier: MIT */
/*
 * The table of operations is whole.
 */
#include "tests/cpu/ops/driver.h"

static bool
moves_nothing(int op)
{
    return op == GGML_OP_NONE || op == GGML_OP_RESHAPE || op == GGML_OP_VIEW ||
           op == GGML_OP_PERMUTE || op == GGML_OP_TRANSPOSE;
}

static void
every_operation_that_computes_has_a_row(void **state)
{
    (void)state;
    for (int op = 0; op < GGML_OP_COUNT; op++) {
        const struct ggml_tensor node = { .op = (enum ggml_op)op };
        const struct gb_cpu_op *row = gb_cpu_op_find(&node);

        /* It never reached this level of the interface: its builder fails. */
        if (moves_nothing(op) || op == GGML_OP_FLASH_ATTN_BACK) {
            assert_null(row);
            continue;
        }
        if (row == NULL)
            fail_msg("%s has no row", ggml_op_name((enum ggml_op)op));
        assert_non_null(row->can_run);
        assert_non_null(row->run);
        if (row->tile != NULL) {
            assert_null(row->tiles);
            assert_null(row->scratch);
            assert_null(row->shared);
            assert_null(row->prepare_tiles);
            assert_true(GGML_PAD(row->tiling_size, 8) <= GB_CPU_TILING_MAX);
            continue;
        }
        assert_int_equal(row->tiling_size, 0);
        assert_non_null(row->tiles);
        assert_true((row->prepare == NULL) == (row->prepare_tiles == NULL));
    }
}

static void
an_unknown_operation_has_no_row(void **state)
{
    const struct ggml_tensor node = { .op = GGML_OP_COUNT };

    (void)state;
    assert_null(gb_cpu_op_find(&node));
}

/* A variant's kernels are there by the compiler's word: a name without a
 * function does not link.  What a table says of types and variants is not. */
static void
every_variant_has_every_type(void **state)
{
    const struct gb_cpu_kernels *const *variants = gb_cpu_kernels_all();

    (void)state;
    for (; *variants != NULL; variants++) {
        for (int t = 0; t < GGML_TYPE_COUNT; t++) {
            const enum ggml_type type = (enum ggml_type)t;
            const struct ggml_type_traits_cpu *traits =
                ggml_get_type_traits_cpu(type);
            const struct gb_format_kernels *weight =
                (*variants)->format(type);

            assert_true((weight != NULL) == (traits->vec_dot != NULL));
            if (weight == NULL)
                continue;
            assert_int_equal(weight->format->block, ggml_blck_size(type));
            assert_int_equal(weight->format->bytes, ggml_type_size(type));
            assert_int_equal(weight->format->activation, traits->vec_dot_type);
        }
    }
}

static void
every_variant_has_a_name_of_its_own(void **state)
{
    const struct gb_cpu_kernels *const *variants = gb_cpu_kernels_all();

    (void)state;
    assert_string_equal(variants[0]->variant, "generic");
    for (int i = 0; variants[i] != NULL; i++)
        for (int j = 0; j < i; j++)
            assert_string_not_equal(variants[i]->variant, variants[j]->variant);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_that_computes_has_a_row),
        cmocka_unit_test(an_unknown_operation_has_no_row),
        cmocka_unit_test(every_variant_has_every_type),
        cmocka_unit_test(every_variant_has_a_name_of_its_own),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
