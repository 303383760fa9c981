/* SPDX-License-Identifier: MIT */
/*
 * tests/tensor/context.c - the pool: what fits, what does not, what is lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/tensor/context.h"

#include "tests/util/fault.h"
#include "tests/util/sink.h"

#include <string.h>

static struct gb_sink sink;

static int
begin(void **state)
{
    (void)state;
    gb_sink_begin(&sink);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    gb_sink_end();
    return 0;
}

static struct ggml_context *
new_context(size_t size, bool no_alloc)
{
    const struct ggml_init_params params = { size, NULL, no_alloc };
    struct ggml_context *ctx = ggml_init(params);

    assert_non_null(ctx);
    return ctx;
}

static void
the_overhead_is_what_a_tensor_takes(void **state)
{
    struct ggml_context *ctx = new_context(10 * ggml_tensor_overhead(), true);

    (void)state;
    assert_int_equal(ggml_tensor_overhead(), SIZE_MAX > UINT32_MAX ? 368 : 280);
    assert_int_equal(ggml_used_mem(ctx), 0);
    for (int i = 1; i <= 10; i++) {
        assert_false(gb_tensor_is_failed(
            ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1000000)));
        assert_int_equal(ggml_used_mem(ctx), i * ggml_tensor_overhead());
    }
    assert_true(gb_tensor_is_failed(ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1)));
    assert_int_equal(ggml_used_mem(ctx), ggml_get_mem_size(ctx));
    ggml_free(ctx);
}

static void
sizes_are_padded_only_in_pools_of_the_library(void **state)
{
    static _Alignas(16) char pool[1000];
    struct ggml_init_params params = { 1, NULL, false };
    struct ggml_context *ctx = ggml_init(params);

    (void)state;
    assert_int_equal(ggml_get_mem_size(ctx), GGML_MEM_ALIGN);
    ggml_free(ctx);

    params.mem_size = 0;
    ctx = ggml_init(params);
    assert_int_equal(ggml_get_mem_size(ctx), GGML_MEM_ALIGN);
    assert_int_equal((uintptr_t)ggml_get_mem_buffer(ctx) % 64, 0);
    ggml_free(ctx);

    params.mem_size = 999;
    params.mem_buffer = pool;
    ctx = ggml_init(params);
    assert_int_equal(ggml_get_mem_size(ctx), 999);
    assert_ptr_equal(ggml_get_mem_buffer(ctx), pool);
    assert_non_null(ggml_new_buffer(ctx, 999 - 999 % 16 - 32));
    assert_null(ggml_new_buffer(ctx, 0));
    ggml_free(ctx);
}

static void
memory_off_the_alignment_is_refused(void **state)
{
    static _Alignas(16) char pool[1000];
    const struct ggml_init_params params = { 900, pool + GGML_MEM_ALIGN / 2,
                                             false };

    (void)state;
    assert_null(ggml_init(params));
    assert_int_equal(sink.n, 1);
}

static void
a_size_that_no_memory_has_is_refused(void **state)
{
    struct ggml_init_params params = { SIZE_MAX, NULL, false };

    (void)state;
    assert_null(ggml_init(params));
    params.mem_size = SIZE_MAX / 2;
    assert_null(ggml_init(params));
    assert_int_equal(sink.n, 2);
}

static void
init_and_free(void *data)
{
    const struct ggml_init_params params = { 1000, data, false };
    struct ggml_context *ctx = ggml_init(params);

    assert_int_equal(ctx == NULL, gb_fault_happened());
    ggml_free(ctx);
}

static void
init_without_memory_gives_null(void **state)
{
    static _Alignas(16) char pool[1000];

    (void)state;
    assert_int_equal(gb_fault_each(init_and_free, NULL), 2);
    assert_int_equal(gb_fault_each(init_and_free, pool), 1);
}

static void
nothing_overwrites_anything(void **state)
{
    struct ggml_context *ctx = new_context(100000, false);
    struct ggml_tensor *t[20];
    char *buffer = ggml_new_buffer(ctx, 33);

    (void)state;
    memset(buffer, 0xee, 33);
    for (int i = 0; i < 20; i++) {
        t[i] = ggml_new_tensor_1d(ctx, GGML_TYPE_I8, 2 * i + 1);
        memset(t[i]->data, i, ggml_nbytes(t[i]));
        assert_int_equal((uintptr_t)t[i]->data % GGML_MEM_ALIGN, 0);
    }
    for (int i = 0; i < 20; i++) {
        assert_int_equal(t[i]->ne[0], 2 * i + 1);
        for (int k = 0; k < 2 * i + 1; k++)
            assert_int_equal(((char *)t[i]->data)[k], i);
    }
    for (int k = 0; k < 33; k++)
        assert_int_equal((unsigned char)buffer[k], 0xee);
    ggml_free(ctx);
}

static void
no_alloc_acts_on_later_tensors(void **state)
{
    struct ggml_context *ctx = new_context(10000, true);

    (void)state;
    assert_true(ggml_get_no_alloc(ctx));
    assert_null(ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1)->data);
    ggml_set_no_alloc(ctx, false);
    assert_false(ggml_get_no_alloc(ctx));
    assert_non_null(ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1)->data);
    assert_non_null(ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 0)->data);
    ggml_free(ctx);
}

static void
tensors_are_walked_in_the_order_of_making(void **state)
{
    struct ggml_context *ctx = new_context(200000, true);
    struct ggml_tensor *a, *b;

    (void)state;
    assert_null(ggml_get_first_tensor(ctx));
    ggml_new_buffer(ctx, 100);
    a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    ggml_new_graph(ctx);
    b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 5);
    ggml_new_buffer(ctx, 1);
    assert_ptr_equal(ggml_get_first_tensor(ctx), a);
    assert_ptr_equal(ggml_get_next_tensor(ctx, a), b);
    assert_null(ggml_get_next_tensor(ctx, b));
    assert_int_equal(ggml_get_max_tensor_size(ctx), 20);
    ggml_free(ctx);
}

static void
a_stranger_has_no_next_tensor(void **state)
{
    struct ggml_context *one = new_context(1000, true);
    struct ggml_context *other = new_context(1000, true);
    struct ggml_tensor *t = ggml_new_tensor_1d(other, GGML_TYPE_F32, 3);

    (void)state;
    assert_null(ggml_get_next_tensor(one, t));
    assert_null(ggml_get_next_tensor(one, NULL));
    assert_null(ggml_get_next_tensor(
        one, ggml_new_tensor_1d(one, GGML_TYPE_F32, -1)));
    ggml_free(one);
    ggml_free(other);
}

static void
reset_keeps_the_pool_and_forgets_the_rest(void **state)
{
    struct ggml_context *ctx = new_context(1000, true);
    void *pool = ggml_get_mem_buffer(ctx);
    struct ggml_tensor *failed;

    (void)state;
    ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    failed = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, -7);
    assert_string_not_equal(gb_tensor_failure(failed), "");
    ggml_reset(ctx);
    assert_int_equal(ggml_used_mem(ctx), 0);
    assert_null(ggml_get_first_tensor(ctx));
    assert_ptr_equal(ggml_get_mem_buffer(ctx), pool);
    failed = ggml_new_tensor_1d(ctx, GGML_TYPE_COUNT, 1);
    assert_non_null(strstr(gb_tensor_failure(failed), "type"));
    ggml_free(ctx);
}

static void
null_is_answered_and_not_read(void **state)
{
    (void)state;
    ggml_free(NULL);
    ggml_reset(NULL);
    assert_int_equal(sink.n, 0);
    assert_int_equal(ggml_used_mem(NULL), 0);
    assert_int_equal(ggml_get_mem_size(NULL), 0);
    assert_int_equal(ggml_get_max_tensor_size(NULL), 0);
    assert_null(ggml_get_mem_buffer(NULL));
    assert_false(ggml_get_no_alloc(NULL));
    ggml_set_no_alloc(NULL, true);
    assert_null(ggml_new_buffer(NULL, 1));
    assert_null(ggml_get_first_tensor(NULL));
    assert_null(ggml_get_next_tensor(NULL, NULL));
    assert_null(ggml_new_tensor_1d(NULL, GGML_TYPE_F32, 1));
    ggml_print_object(NULL);
    ggml_print_objects(NULL);
    assert_int_equal(sink.n, 12);
}

static void
each_object_is_printed_in_a_line(void **state)
{
    struct ggml_context *ctx = new_context(200000, true);

    (void)state;
    ggml_new_buffer(ctx, 100);
    ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    ggml_new_graph(ctx);
    ggml_print_objects(ctx);
    assert_int_equal(sink.n, 4);
    assert_int_equal(sink.level, GGML_LOG_LEVEL_INFO);
    if (SIZE_MAX > UINT32_MAX) {
        assert_non_null(strstr(sink.text, "buffer at 32, 112 bytes\n"));
        assert_non_null(strstr(sink.text, "tensor at 176, 336 bytes\n"));
        assert_non_null(strstr(sink.text, "graph  at 544, 66160 bytes\n"));
    } else {
        assert_non_null(strstr(sink.text, "buffer at 24, 100 bytes\n"));
        assert_non_null(strstr(sink.text, "tensor at 148, 256 bytes\n"));
        assert_non_null(strstr(sink.text, "graph  at 428, 33340 bytes\n"));
    }
    ggml_free(ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_overhead_is_what_a_tensor_takes,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            sizes_are_padded_only_in_pools_of_the_library, begin, end),
        cmocka_unit_test_setup_teardown(memory_off_the_alignment_is_refused,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_size_that_no_memory_has_is_refused,
                                        begin, end),
        cmocka_unit_test_setup_teardown(init_without_memory_gives_null, begin,
                                        end),
        cmocka_unit_test_setup_teardown(nothing_overwrites_anything, begin,
                                        end),
        cmocka_unit_test_setup_teardown(no_alloc_acts_on_later_tensors, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            tensors_are_walked_in_the_order_of_making, begin, end),
        cmocka_unit_test_setup_teardown(a_stranger_has_no_next_tensor, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            reset_keeps_the_pool_and_forgets_the_rest, begin, end),
        cmocka_unit_test_setup_teardown(null_is_answered_and_not_read, begin,
                                        end),
        cmocka_unit_test_setup_teardown(each_object_is_printed_in_a_line, begin,
                                        end),
    };

    return cmocka_run_group_tests_name("contexts", tests, NULL, NULL);
}
