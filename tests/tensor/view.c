/* SPDX-License-Identifier: MIT */
/*
 * tests/tensor/view.c - views share data, and do not reach beyond it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/tensor/context.h"
#include "lib/tensor/view.h"

#include "tests/util/sink.h"

#include <string.h>

static struct gb_sink sink;
static struct ggml_context *ctx;

static int
begin(void **state)
{
    const struct ggml_init_params params = { 100000, NULL, false };

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
a_whole_view_has_shape_strides_and_data(void **state)
{
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 3), *v;

    (void)state;
    ggml_set_name(a, "a");
    a->nb[1] = 32;
    v = ggml_view_tensor(ctx, a);
    assert_string_equal(v->name, "a (view)");
    assert_ptr_equal(v->view_src, a);
    assert_int_equal(v->view_offs, 0);
    assert_ptr_equal(v->data, a->data);
    assert_int_equal(v->type, a->type);
    assert_memory_equal(v->ne, a->ne, sizeof(a->ne));
    assert_memory_equal(v->nb, a->nb, sizeof(a->nb));
    assert_int_equal(v->op, GGML_OP_NONE);
    assert_null(v->src[0]);
}

static void
a_view_takes_no_room_for_data(void **state)
{
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1000);
    const size_t used = ggml_used_mem(ctx);

    (void)state;
    ggml_view_tensor(ctx, a);
    assert_int_equal(ggml_used_mem(ctx) - used, ggml_tensor_overhead());
}

static struct ggml_tensor *
view_1d(struct ggml_tensor *src, int64_t n, size_t offset)
{
    return gb_tensor_view(ctx, src, (const int64_t[]){ n, 1, 1, 1 }, offset);
}

static void
a_view_of_a_view_sees_the_root(void **state)
{
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 10);
    struct ggml_tensor *v = view_1d(a, 5, 8);
    struct ggml_tensor *w = view_1d(v, 2, 12);
    struct ggml_tensor *x = ggml_view_tensor(ctx, w);

    (void)state;
    assert_ptr_equal(w->view_src, a);
    assert_int_equal(w->view_offs, 20);
    assert_ptr_equal(w->data, (char *)a->data + 20);
    assert_ptr_equal(x->view_src, a);
    assert_int_equal(x->view_offs, 20);
    assert_string_equal(x->name, " (view)");
}

static void
a_view_without_data_gets_none(void **state)
{
    struct ggml_tensor *a, *v;

    (void)state;
    ggml_set_no_alloc(ctx, true);
    a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 10);
    v = view_1d(a, 2, 8);
    assert_null(v->data);
    assert_int_equal(v->view_offs, 8);
}

static void
a_view_ends_where_its_source_ends(void **state)
{
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 10);
    const size_t used = ggml_used_mem(ctx);

    (void)state;
    assert_true(gb_tensor_is_failed(view_1d(a, 11, 0)));
    assert_true(gb_tensor_is_failed(view_1d(a, 10, 4)));
    assert_true(gb_tensor_is_failed(view_1d(a, 2, 36)));
    assert_true(gb_tensor_is_failed(view_1d(a, 2, 41)));
    assert_true(gb_tensor_is_failed(view_1d(a, 2, SIZE_MAX)));
    assert_true(gb_tensor_is_failed(view_1d(a, -1, 0)));
    assert_int_equal(sink.n, 6);
    assert_int_equal(ggml_used_mem(ctx), used);
    assert_false(gb_tensor_is_failed(view_1d(a, 2, 32)));
    assert_false(gb_tensor_is_failed(view_1d(a, 0, 400)));
    assert_ptr_equal(view_1d(a, 0, 400)->data, (char *)a->data + 400);
    assert_false(gb_tensor_is_failed(view_1d(a, 0, SIZE_MAX)));
    assert_int_equal(sink.n, 6);
}

static void
a_view_of_a_failed_node_is_one_without_a_word(void **state)
{
    struct ggml_tensor *failed = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, -1);

    (void)state;
    assert_int_equal(sink.n, 1);
    assert_true(gb_tensor_is_failed(ggml_view_tensor(ctx, failed)));
    assert_true(gb_tensor_is_failed(ggml_dup_tensor(ctx, failed)));
    assert_int_equal(sink.n, 1);
    assert_true(gb_tensor_is_failed(ggml_view_tensor(ctx, NULL)));
    assert_int_equal(sink.n, 2);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_view_has_shape_strides_and_data,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_view_takes_no_room_for_data, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_view_of_a_view_sees_the_root, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_view_without_data_gets_none, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_view_ends_where_its_source_ends,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            a_view_of_a_failed_node_is_one_without_a_word, begin, end),
    };

    return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
