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
        assert_non_null(row->tiles);
        assert_non_null(row->run);
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

static void
every_kernel_of_every_level_is_there(void **state)
{
    const struct gb_cpu_kernels *const *levels = gb_cpu_kernels_all();

    (void)state;
    for (; *levels != NULL; levels++) {
#define GB_KERNEL(group, result, name, parameters) \
    assert_true((*levels)->name != NULL);
#include "backends/cpu/kernels/api/kernels.def"
#undef GB_KERNEL
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_that_computes_has_a_row),
        cmocka_unit_test(an_unknown_operation_has_no_row),
        cmocka_unit_test(every_kernel_of_every_level_is_there),
    };

    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
