/* SPDX-License-Identifier: MIT */
/*
 * tests/levels/level-2023-names.c - names of 2023 that no table has mean what
 * they did.
 */
#include "tests/levels/backends/old.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct ggml_context *
context_new(void)
{
    const struct ggml_init_params params = { .mem_size = 1 << 16 };

    return ggml_init(params);
}

static void
a_node_is_computed_once_by_the_first_thread(void **state)
{
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *sum =
        ggml_add(ctx, ggml_new_f32(ctx, 1.5f), ggml_new_f32(ctx, 2));

    (void)state;
    ggml_set_zero(sum);
    assert_true(old_2023_compute_forward(0, 0, sum));
    assert_true(old_2023_compute_forward(1, 1, sum));
    assert_true(old_2023_compute_forward(2, 0, sum));
    assert_true(ggml_get_f32_1d(sum, 0) == 0);
    assert_true(old_2023_compute_forward(1, 0, sum));
    assert_true(ggml_get_f32_1d(sum, 0) == 3.5f);
    assert_false(old_2023_compute_forward(1, 0, ggml_sin(ctx, sum)));
    ggml_free(ctx);
}

static void
rows_of_a_split_tensor_have_their_bytes(void **state)
{
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *f = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 10, 7);
    struct ggml_tensor *q = ggml_new_tensor_2d(ctx, GGML_TYPE_Q4_0, 64, 7);

    (void)state;
    assert_int_equal(old_2023_split_bytes(f, 3), 3 * 10 * 4);
    assert_int_equal(old_2023_split_bytes(q, 5), 5 * 2 * 18);
    assert_int_equal(old_2023_split_bytes(q, 0), 0);
    assert_int_equal(old_2023_split_bytes(q, 7), ggml_nbytes(q));
    /* A view's strides do not count. */
    assert_int_equal(
        old_2023_split_bytes(ggml_view_2d(ctx, f, 4, 7, f->nb[1], 0), 2),
        2 * 4 * 4);
    ggml_free(ctx);
}

static void
a_graph_is_planned_without_a_pool(void **state)
{
    float sum = 0;

    (void)state;
    assert_int_equal(old_2023_add(2, 0.25f, &sum), 0);
    assert_true(sum == 2.25f);
}

static void
a_types_functions_are_found_together(void **state)
{
    float from[64], to[64];

    (void)state;
    /* 127 steps of 1 are what a block of Q8_0 has exactly. */
    for (int i = 0; i < 64; i++)
        from[i] = (float)(i % 2 == 0 ? 127 - i : i - 127);
    from[32] = 127;
    assert_true(old_2023_round(GGML_TYPE_Q8_0, from, to, 64));
    assert_memory_equal(from, to, sizeof(from));
    assert_false(old_2023_round(GGML_TYPE_F32, from, to, 64));
}

static void
files_are_read_and_written_by_the_same_header(void **state)
{
    (void)state;
    assert_int_equal(old_2023_key(-41), -41);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_is_computed_once_by_the_first_thread),
        cmocka_unit_test(rows_of_a_split_tensor_have_their_bytes),
        cmocka_unit_test(a_graph_is_planned_without_a_pool),
        cmocka_unit_test(a_types_functions_are_found_together),
        cmocka_unit_test(files_are_read_and_written_by_the_same_header),
    };

    return cmocka_run_group_tests_name("names of 2023", tests, NULL, NULL);
}
