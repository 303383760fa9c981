/* SPDX-License-Identifier: MIT */
/*
 * tests/alloc/context.c - memory for all tensors of a context.
 */
#include "tests/backend/fake.h"
#include "tests/util/fault.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static struct ggml_tensor *
bytes(struct ggml_context *ctx, int64_t n)
{
    return ggml_new_tensor_1d(ctx, GGML_TYPE_I8, n);
}

static void
one_buffer_has_exactly_what_is_needed(void **state)
{
    struct ggml_context *ctx = fake_context(16);
    struct ggml_tensor *a, *b, *view, *ready, *empty;
    ggml_backend_buffer_t buffer;
    ggml_backend_t backend;
    struct fake fake;
    char outside[64];
    char *base;

    (void)state;
    fake_init(&fake, "Fake0");
    backend = fake_backend(&fake);
    a = bytes(ctx, 100);
    view = ggml_view_1d(ctx, a, 10, 20);
    ready = bytes(ctx, 64);
    ready->data = outside;
    empty = bytes(ctx, 0);
    b = bytes(ctx, 1);

    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    assert_non_null(buffer);
    assert_int_equal(ggml_backend_buffer_get_size(buffer), 128 + 64);
    assert_int_equal(ggml_backend_buffer_get_usage(buffer),
                     GGML_BACKEND_BUFFER_USAGE_ANY);
    base = ggml_backend_buffer_get_base(buffer);
    assert_ptr_equal(a->data, base);
    assert_ptr_equal(b->data, base + 128);
    assert_ptr_equal(view->data, base + 20);
    assert_ptr_equal(view->buffer, buffer);
    assert_ptr_equal(ready->data, outside);
    assert_null(ready->buffer);
    assert_ptr_equal(empty->buffer, buffer);
    assert_int_equal(fake.calls.init_tensor, 4);
    assert_false(fake_failed());
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

static void
what_is_larger_than_a_buffer_is_spread_over_several(void **state)
{
    struct ggml_context *ctx = fake_context(16);
    struct ggml_tensor *t[5], *view;
    ggml_backend_buffer_t buffer;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.max_size = 256;
    t[0] = bytes(ctx, 100);
    t[1] = bytes(ctx, 100);
    t[2] = bytes(ctx, 1);
    t[3] = bytes(ctx, 256);
    t[4] = bytes(ctx, 64);
    view = ggml_view_1d(ctx, t[3], 1, 1);
    buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx, &fake.buft);
    assert_non_null(buffer);
    assert_true(ggml_backend_buffer_is_multi_buffer(buffer));
    assert_int_equal(ggml_backend_buffer_get_size(buffer), 256 + 64 + 256 + 64);
    assert_int_equal(fake.calls.alloc, 4);
    assert_ptr_equal(t[0]->buffer, t[1]->buffer);
    assert_ptr_not_equal(t[1]->buffer, t[2]->buffer);
    assert_ptr_not_equal(t[2]->buffer, t[3]->buffer);
    assert_ptr_not_equal(t[3]->buffer, t[4]->buffer);
    assert_ptr_equal(view->buffer, t[3]->buffer);
    ggml_backend_buffer_free(buffer);
    assert_int_equal(fake.calls.free, 4);
    ggml_free(ctx);
}

static void
a_context_that_needs_nothing_gives_null_and_places_its_views(void **state)
{
    struct ggml_context *ctx = fake_context(16);
    struct ggml_tensor *a = bytes(ctx, 10), *view;
    ggml_backend_buffer_t buffer;
    struct ggml_context *empty = fake_context(4);
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    assert_null(ggml_backend_alloc_ctx_tensors_from_buft(empty, &fake.buft));
    bytes(empty, 0);
    assert_null(ggml_backend_alloc_ctx_tensors_from_buft(empty, &fake.buft));

    buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx, &fake.buft);
    view = ggml_view_1d(ctx, a, 1, 1);
    assert_null(view->buffer);
    assert_null(ggml_backend_alloc_ctx_tensors_from_buft(ctx, &fake.buft));
    assert_ptr_equal(view->buffer, buffer);
    assert_false(fake_failed());
    ggml_backend_buffer_free(buffer);
    ggml_free(empty);
    ggml_free(ctx);
}

static void
what_no_buffer_can_hold_fails_and_leaves_no_trace(void **state)
{
    struct ggml_context *ctx = fake_context(16);
    struct ggml_tensor *a = bytes(ctx, 200), *view, *large;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.max_size = 256;
    view = ggml_view_1d(ctx, a, 1, 1);
    large = bytes(ctx, 300);
    assert_null(ggml_backend_alloc_ctx_tensors_from_buft(ctx, &fake.buft));
    assert_true(fake_failed());
    assert_null(a->buffer);
    assert_null(a->data);
    assert_null(view->buffer);
    assert_null(large->data);
    assert_int_equal(fake.calls.alloc, fake.calls.free);

    fake.max_size = SIZE_MAX;
    fake.padding = SIZE_MAX - 10 - 300;
    assert_null(ggml_backend_alloc_ctx_tensors_from_buft(ctx, &fake.buft));
    assert_true(fake_failed());
    ggml_free(ctx);
}

static void
a_refused_tensor_fails_the_whole(void **state)
{
    struct fake fake;

    (void)state;
    for (int n = 0; n < 3; n++) {
        struct ggml_context *ctx = fake_context(16);
        struct ggml_tensor *a = bytes(ctx, 200);
        struct ggml_tensor *b = bytes(ctx, 200);
        struct ggml_tensor *view = ggml_view_1d(ctx, b, 1, 1);

        fake_init(&fake, "Fake0");
        fake.inits_left = n;
        assert_null(ggml_backend_alloc_ctx_tensors_from_buft(ctx, &fake.buft));
        assert_null(a->data);
        assert_null(b->data);
        assert_null(b->buffer);
        assert_null(view->buffer);
        assert_int_equal(fake.calls.alloc, fake.calls.free);
        ggml_free(ctx);
    }
}

static void
contexts_with_data_and_missing_arguments_are_refused(void **state)
{
    const struct ggml_init_params params = { .mem_size = 10000 };
    struct ggml_context *ctx = ggml_init(params);
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    assert_null(ggml_backend_alloc_ctx_tensors_from_buft(ctx, &fake.buft));
    assert_true(fake_failed());
    assert_null(ggml_backend_alloc_ctx_tensors_from_buft(NULL, &fake.buft));
    assert_true(fake_failed());
    assert_null(ggml_backend_alloc_ctx_tensors_from_buft(ctx, NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_alloc_ctx_tensors(ctx, NULL));
    assert_true(fake_failed());
    ggml_free(ctx);
}

static void
allocate_three(void *data)
{
    struct fake *fake = data;
    struct ggml_context *ctx = fake_context(8);
    ggml_backend_buffer_t buffer;

    if (ctx == NULL)
        return;
    bytes(ctx, 200);
    bytes(ctx, 200);
    bytes(ctx, 200);
    buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx, &fake->buft);
    assert_int_equal(buffer == NULL, gb_fault_happened());
    for (struct ggml_tensor *t = ggml_get_first_tensor(ctx); t != NULL;
         t = ggml_get_next_tensor(ctx, t))
        assert_int_equal(t->data == NULL, gb_fault_happened());
    ggml_backend_buffer_free(buffer);
    assert_int_equal(fake->calls.alloc, fake->calls.free);
    ggml_free(ctx);
}

static void
every_allocation_may_fail(void **state)
{
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.max_size = 256;
    assert_true(gb_fault_each(allocate_three, &fake) >= 8);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_buffer_has_exactly_what_is_needed),
        cmocka_unit_test(what_is_larger_than_a_buffer_is_spread_over_several),
        cmocka_unit_test(
            a_context_that_needs_nothing_gives_null_and_places_its_views),
        cmocka_unit_test(what_no_buffer_can_hold_fails_and_leaves_no_trace),
        cmocka_unit_test(a_refused_tensor_fails_the_whole),
        cmocka_unit_test(contexts_with_data_and_missing_arguments_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests_name("context buffers", tests, NULL, NULL);
}
