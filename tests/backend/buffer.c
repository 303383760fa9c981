/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/buffer.c - buffers, and tensors' places in them.
 */
#include "tests/backend/fake.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "tests/util/fault.h"

static void
a_buffer_answers_for_itself_and_its_type(void **state)
{
    ggml_backend_buffer_t buffer;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 1000);
    assert_string_equal(ggml_backend_buffer_name(buffer), "Fake0");
    assert_int_equal(ggml_backend_buffer_get_size(buffer), 1000);
    assert_int_equal(ggml_backend_buffer_get_alignment(buffer), 64);
    assert_int_equal(ggml_backend_buffer_get_max_size(buffer), 1 << 30);
    assert_false(ggml_backend_buffer_is_host(buffer));
    assert_non_null(ggml_backend_buffer_get_base(buffer));
    assert_int_equal(ggml_backend_buffer_get_usage(buffer),
                     GGML_BACKEND_BUFFER_USAGE_ANY);
    ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    assert_int_equal(ggml_backend_buffer_get_usage(buffer),
                     GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_buffer_clear(buffer, 3);
    ggml_backend_buffer_reset(buffer);
    assert_int_equal(fake.calls.clear, 1);
    assert_int_equal(fake.calls.reset, 1);
    ggml_backend_buffer_free(buffer);
    assert_int_equal(fake.calls.free, 1);
    assert_false(fake_failed());
}

static void *
no_base(ggml_backend_buffer_t buffer)
{
    (void)buffer;
    return NULL;
}

static void
missing_members_do_no_harm(void **state)
{
    struct ggml_context *ctx = fake_context(2);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 7);
    ggml_backend_buffer_t buffer;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 1000);
    buffer->iface.init_tensor = NULL;
    buffer->iface.reset = NULL;
    assert_int_equal(ggml_backend_buffer_init_tensor(buffer, t),
                     GGML_STATUS_SUCCESS);
    ggml_backend_buffer_reset(buffer);
    assert_false(fake_failed());

    buffer->iface.clear = NULL;
    ggml_backend_buffer_clear(buffer, 1);
    assert_true(fake_failed());
    buffer->iface.get_base = no_base;
    assert_null(ggml_backend_buffer_get_base(buffer));
    assert_true(fake_failed());
    buffer->iface.get_base = NULL;
    assert_null(ggml_backend_buffer_get_base(buffer));
    assert_true(fake_failed());
    ggml_backend_buffer_free(buffer);

    fake.buffer_members.free_buffer = NULL;
    buffer = ggml_backend_buffer_init(&fake.buft, fake.buffer_members, NULL, 0);
    ggml_backend_buffer_free(buffer);
    ggml_backend_buffer_free(NULL);
    assert_false(fake_failed());
    ggml_free(ctx);
}

static void
without_a_buffer_every_question_fails(void **state)
{
    (void)state;
    assert_null(ggml_backend_buffer_name(NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_buffer_get_base(NULL));
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buffer_get_size(NULL), 0);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buffer_init_tensor(NULL, NULL),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buffer_get_alignment(NULL), 0);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buffer_get_max_size(NULL), 0);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buffer_get_alloc_size(NULL, NULL), 0);
    assert_true(fake_failed());
    ggml_backend_buffer_clear(NULL, 0);
    assert_true(fake_failed());
    assert_false(ggml_backend_buffer_is_host(NULL));
    assert_true(fake_failed());
    ggml_backend_buffer_set_usage(NULL, GGML_BACKEND_BUFFER_USAGE_ANY);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buffer_get_usage(NULL),
                     GGML_BACKEND_BUFFER_USAGE_ANY);
    assert_true(fake_failed());
    assert_null(ggml_backend_buffer_get_type(NULL));
    assert_true(fake_failed());
    ggml_backend_buffer_reset(NULL);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_tensor_alloc(NULL, NULL, NULL),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_view_init(NULL), GGML_STATUS_FAILED);
    assert_true(fake_failed());
}

static void
without_a_tensor_nothing_gets_a_place(void **state)
{
    ggml_backend_buffer_t buffer;
    struct ggml_context *ctx = fake_context(2);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 7);
    struct ggml_tensor *view = ggml_view_1d(ctx, t, 1, 0);
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 64);
    assert_int_equal(ggml_backend_buffer_init_tensor(buffer, NULL),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_tensor_alloc(buffer, NULL, NULL),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buft_get_alloc_size(&fake.buft, NULL), 0);
    assert_true(fake_failed());
    assert_false(ggml_backend_dev_supports_buft(NULL, &fake.buft));
    assert_true(fake_failed());
    assert_false(ggml_backend_dev_offload_op(NULL, t));
    assert_true(fake_failed());
    /* One with data of its own, and a source with a buffer but without data. */
    t->data = &fake;
    assert_int_equal(ggml_backend_tensor_alloc(
                         buffer, t, ggml_backend_buffer_get_base(buffer)),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_null(t->buffer);
    t->data = NULL;
    t->buffer = buffer;
    assert_int_equal(ggml_backend_view_init(view), GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_null(view->buffer);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
a_place_must_lie_inside_the_buffer(void **state)
{
    struct ggml_context *ctx = fake_context(4);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 25);
    ggml_backend_buffer_t buffer;
    struct fake fake;
    char *base;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.padding = 28;
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 256);
    base = ggml_backend_buffer_get_base(buffer);

    assert_int_equal(ggml_backend_tensor_alloc(buffer, t, base - 64),
                     GGML_STATUS_FAILED);
    assert_int_equal(ggml_backend_tensor_alloc(buffer, t, base + 129),
                     GGML_STATUS_FAILED);
    assert_int_equal(ggml_backend_tensor_alloc(buffer, t, base + 512),
                     GGML_STATUS_FAILED);
    assert_int_equal(ggml_backend_tensor_alloc(buffer, t, (void *)UINTPTR_MAX),
                     GGML_STATUS_FAILED);
    assert_null(t->buffer);
    assert_null(t->data);
    assert_int_equal(fake.calls.init_tensor, 0);

    assert_int_equal(ggml_backend_tensor_alloc(buffer, t, base + 128),
                     GGML_STATUS_SUCCESS);
    assert_ptr_equal(t->buffer, buffer);
    assert_ptr_equal(t->data, base + 128);
    assert_int_equal(fake.calls.init_tensor, 1);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
what_has_a_place_gets_no_other(void **state)
{
    struct ggml_context *ctx = fake_context(8);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
    struct ggml_tensor *view = ggml_view_1d(ctx, t, 4, 16);
    ggml_backend_buffer_t buffer;
    struct fake fake;
    char *base;

    (void)state;
    fake_init(&fake, "Fake0");
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 256);
    base = ggml_backend_buffer_get_base(buffer);

    assert_int_equal(ggml_backend_tensor_alloc(buffer, view, base),
                     GGML_STATUS_FAILED);
    assert_int_equal(ggml_backend_view_init(view), GGML_STATUS_FAILED);
    assert_int_equal(ggml_backend_view_init(t), GGML_STATUS_FAILED);
    assert_null(view->buffer);

    assert_int_equal(ggml_backend_tensor_alloc(buffer, t, base),
                     GGML_STATUS_SUCCESS);
    assert_int_equal(ggml_backend_tensor_alloc(buffer, t, base + 64),
                     GGML_STATUS_FAILED);
    assert_ptr_equal(t->data, base);

    assert_int_equal(ggml_backend_view_init(view), GGML_STATUS_SUCCESS);
    assert_ptr_equal(view->buffer, buffer);
    assert_ptr_equal(view->data, base + 16);
    assert_int_equal(fake.calls.init_tensor, 2);
    assert_int_equal(ggml_backend_view_init(view), GGML_STATUS_FAILED);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
a_backend_may_refuse_a_tensor(void **state)
{
    struct ggml_context *ctx = fake_context(4);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
    ggml_backend_buffer_t buffer;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.inits_left = 0;
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 256);
    assert_int_equal(ggml_backend_tensor_alloc(
                         buffer, t, ggml_backend_buffer_get_base(buffer)),
                     GGML_STATUS_FAILED);
    assert_ptr_equal(t->buffer, buffer);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
take_a_buffer(void *data)
{
    struct fake *fake = data;
    ggml_backend_buffer_t buffer =
        ggml_backend_buft_alloc_buffer(&fake->buft, 10);

    assert_int_equal(buffer == NULL, gb_fault_happened());
    assert_int_equal(fake_failed(), gb_fault_happened());
    ggml_backend_buffer_free(buffer);
}

static void
without_memory_there_is_no_buffer(void **state)
{
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    assert_int_equal(gb_fault_each(take_a_buffer, &fake), 1);
    assert_int_equal(fake.calls.alloc, fake.calls.free);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_answers_for_itself_and_its_type),
        cmocka_unit_test(missing_members_do_no_harm),
        cmocka_unit_test(without_a_buffer_every_question_fails),
        cmocka_unit_test(without_a_tensor_nothing_gets_a_place),
        cmocka_unit_test(a_place_must_lie_inside_the_buffer),
        cmocka_unit_test(what_has_a_place_gets_no_other),
        cmocka_unit_test(a_backend_may_refuse_a_tensor),
        cmocka_unit_test(without_memory_there_is_no_buffer),
    };

    return cmocka_run_group_tests_name("buffers", tests, NULL, NULL);
}
