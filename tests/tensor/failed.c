/* SPDX-License-Identifier: MIT */
/*
 * tests/tensor/failed.c - failed nodes: real tensors that know why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/tensor/context.h"

#include "tests/util/sink.h"

#include <string.h>

static struct gb_sink sink;
static struct ggml_context *ctx;

static int
begin(void **state)
{
    const struct ggml_init_params params = { 1000, NULL, false };

    (void)state;
    gb_sink_begin(&sink);
    ctx = ggml_init(params);
    return ctx == NULL;
}

static int
end(void **state)
{
    (void)state;
    gb_sink_end();
    ggml_free(ctx);
    return 0;
}

static void
a_failed_node_is_a_real_tensor(void **state)
{
    struct ggml_tensor *t = gb_context_failed(ctx, "no %d", 7);

    (void)state;
    assert_true(gb_tensor_is_failed(t));
    assert_int_equal(t->type, GGML_TYPE_F32);
    assert_int_equal(ggml_nelements(t), 1);
    assert_int_equal(ggml_nbytes(t), 4);
    assert_true(ggml_is_contiguous(t));
    assert_int_equal(t->op, GGML_OP_NONE);
    assert_null(t->data);
    assert_null(t->buffer);
    assert_string_equal(gb_tensor_failure(t), "no 7");
    ggml_set_name(t, "mine");
    ggml_set_input(t);
    ggml_set_zero(t);
    assert_true(gb_tensor_is_failed(t));
    assert_string_equal(gb_tensor_failure(t), "no 7");
}

static void
a_full_context_has_a_failed_node(void **state)
{
    struct ggml_tensor *t;

    (void)state;
    assert_non_null(ggml_new_buffer(ctx, ggml_get_mem_size(ctx) -
                                             sizeof(struct ggml_object)));
    assert_int_equal(ggml_used_mem(ctx), ggml_get_mem_size(ctx));
    t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    assert_true(gb_tensor_is_failed(t));
    assert_int_equal(sink.n, 1);
    assert_string_equal(gb_tensor_failure(t),
                        SIZE_MAX > UINT32_MAX
                            ? "context: 340 bytes are wanted, 0 of 1008 left"
                            : "context: 260 bytes are wanted, 0 of 1000 left");
}

static void
the_first_reason_is_kept_and_all_are_logged(void **state)
{
    struct ggml_tensor *t;

    (void)state;
    gb_context_failed(ctx, "first");
    t = gb_context_failed(ctx, "second");
    assert_string_equal(gb_tensor_failure(t), "first");
    assert_string_equal(sink.text, "first\nsecond\n");
}

static void
room_that_is_wanted_later_is_no_failure(void **state)
{
    (void)state;
    assert_true(gb_tensor_is_failed(
        ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1000)));
    assert_false(gb_tensor_is_failed(
        ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1)));
}

static void
a_reason_goes_with_the_node_into_other_contexts(void **state)
{
    const struct ggml_init_params params = { 1000, NULL, false };
    struct ggml_context *other = ggml_init(params);
    struct ggml_tensor *a = gb_context_failed(ctx, "here");
    struct ggml_tensor *b = gb_context_pass_failed(other, a);

    (void)state;
    assert_ptr_not_equal(a, b);
    assert_true(gb_tensor_is_failed(b));
    assert_string_equal(gb_tensor_failure(b), "here");
    assert_int_equal(sink.n, 1);
    gb_context_failed(other, "there");
    gb_context_pass_failed(ctx, b);
    assert_string_equal(gb_tensor_failure(b), "here");
    ggml_free(other);
}

static void
a_copy_of_the_struct_has_failed_too(void **state)
{
    const struct ggml_tensor copy = *gb_context_failed(ctx, "here");

    (void)state;
    assert_true(gb_tensor_is_failed(&copy));
    assert_string_equal(gb_tensor_failure(&copy), "here");
}

static void
nothing_counts_as_failed(void **state)
{
    (void)state;
    assert_true(gb_tensor_is_failed(NULL));
    assert_string_not_equal(gb_tensor_failure(NULL), "");
    assert_null(gb_context_failed(NULL, "without context"));
    assert_null(gb_context_pass_failed(NULL, gb_context_failed(ctx, "x")));
    assert_string_equal(sink.text, "without context\nx\n");
}

static void
whole_tensors_have_not_failed(void **state)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);

    (void)state;
    assert_false(gb_tensor_is_failed(t));
    assert_string_equal(gb_tensor_failure(t), "");
    t->extra = t;
    assert_false(gb_tensor_is_failed(t));
}

static void
a_missing_tensor_is_said(void **state)
{
    (void)state;
    assert_null(ggml_get_data(NULL));
    assert_null(ggml_get_data_f32(NULL));
    assert_null(ggml_set_zero(NULL));
    ggml_set_input(NULL);
    ggml_set_param(ctx, NULL);
    ggml_set_loss(NULL);
    assert_int_equal(sink.n, 6);
    assert_true(gb_tensor_is_failed(ggml_dup_tensor(ctx, NULL)));
    assert_true(gb_tensor_is_failed(ggml_view_tensor(ctx, NULL)));
    assert_int_equal(sink.n, 8);
    assert_non_null(strstr(sink.text, "set_flag: the tensor is NULL"));
    assert_non_null(strstr(sink.text, "set_loss: the tensor is NULL"));
}

static void
views_need_a_context(void **state)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);

    (void)state;
    assert_null(ggml_view_tensor(NULL, t));
    assert_null(ggml_dup_tensor(NULL, t));
    assert_int_equal(sink.n, 2);
}

/* Sizes that become too large with what stands before or behind them. */
static void
objects_of_all_addresses_do_not_fit(void **state)
{
    (void)state;
    assert_null(ggml_new_buffer(ctx, SIZE_MAX));
    assert_null(ggml_new_buffer(ctx, SIZE_MAX - 20));
    assert_int_equal(sink.n, 2);
    assert_non_null(ggml_new_buffer(ctx, 16));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_failed_node_is_a_real_tensor, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_full_context_has_a_failed_node, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            the_first_reason_is_kept_and_all_are_logged, begin, end),
        cmocka_unit_test_setup_teardown(room_that_is_wanted_later_is_no_failure,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            a_reason_goes_with_the_node_into_other_contexts, begin, end),
        cmocka_unit_test_setup_teardown(a_copy_of_the_struct_has_failed_too,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_missing_tensor_is_said, begin, end),
        cmocka_unit_test_setup_teardown(views_need_a_context, begin, end),
        cmocka_unit_test_setup_teardown(objects_of_all_addresses_do_not_fit,
                                        begin, end),
        cmocka_unit_test_setup_teardown(nothing_counts_as_failed, begin, end),
        cmocka_unit_test_setup_teardown(whole_tensors_have_not_failed, begin,
                                        end),
    };

    return cmocka_run_group_tests_name("failed nodes", tests, NULL, NULL);
}
