/* SPDX-License-Identifier: MIT */
/*
 * tests/alloc/linear.c - tensors one after another in a buffer.
 */
#include "tests/backend/fake.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

static void
tensors_lie_behind_each_other_on_the_alignment(void **state)
{
    struct ggml_context *ctx = fake_context(8);
    struct ggml_tallocr talloc;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *t[3];
    struct fake fake;
    char *base;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.padding = 1;
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 256);
    base = ggml_backend_buffer_get_base(buffer);
    talloc = ggml_tallocr_new(buffer);
    assert_ptr_equal(talloc.base, base);
    assert_int_equal(talloc.alignment, 64);
    assert_int_equal(talloc.offset, 0);

    t[0] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 15);
    t[1] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 16);
    t[2] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 15);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ggml_tallocr_alloc(&talloc, t[i]),
                         GGML_STATUS_SUCCESS);
    assert_ptr_equal(t[0]->data, base);
    assert_ptr_equal(t[1]->data, base + 64);
    assert_ptr_equal(t[2]->data, base + 192);
    assert_int_equal(talloc.offset, 256);
    assert_false(fake_failed());
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void *
odd_base(ggml_backend_buffer_t buffer)
{
    (void)buffer;
    return (void *)(FAKE_ADDRESS(1) + 40);
}

static void
a_base_off_the_alignment_costs_the_bytes_to_the_first_aligned_one(void **state)
{
    ggml_backend_buffer_t buffer;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.buffer_members.get_base = odd_base;
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 256);
    assert_int_equal(ggml_tallocr_new(buffer).offset, 24);
    ggml_backend_buffer_free(buffer);
}

static void
what_does_not_fit_changes_nothing(void **state)
{
    struct ggml_context *ctx = fake_context(8);
    struct ggml_tensor *large = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 65);
    struct ggml_tensor *small = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 16);
    struct ggml_tallocr talloc;
    ggml_backend_buffer_t buffer;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 256);
    talloc = ggml_tallocr_new(buffer);
    assert_int_equal(ggml_tallocr_alloc(&talloc, large),
                     GGML_STATUS_ALLOC_FAILED);
    assert_true(fake_failed());
    assert_null(large->buffer);
    assert_null(large->data);
    assert_int_equal(talloc.offset, 0);

    fake.padding = SIZE_MAX - 100;
    assert_int_equal(ggml_tallocr_alloc(&talloc, small),
                     GGML_STATUS_ALLOC_FAILED);
    fake.padding = SIZE_MAX - 64 - 64; /* fits a size, but not with an offset */
    talloc.offset = 128;
    assert_int_equal(ggml_tallocr_alloc(&talloc, small),
                     GGML_STATUS_ALLOC_FAILED);
    assert_int_equal(talloc.offset, 128);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
what_has_a_place_gets_no_other(void **state)
{
    struct ggml_context *ctx = fake_context(8);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 16);
    struct ggml_tensor *view = ggml_view_1d(ctx, t, 4, 0);
    struct ggml_tallocr talloc;
    ggml_backend_buffer_t buffer;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 256);
    talloc = ggml_tallocr_new(buffer);
    assert_int_equal(ggml_tallocr_alloc(&talloc, t), GGML_STATUS_SUCCESS);
    assert_int_equal(ggml_tallocr_alloc(&talloc, t), GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_int_equal(ggml_tallocr_alloc(&talloc, view), GGML_STATUS_FAILED);
    assert_int_equal(ggml_tallocr_alloc(&talloc, NULL), GGML_STATUS_FAILED);
    assert_int_equal(ggml_tallocr_alloc(NULL, t), GGML_STATUS_FAILED);
    assert_int_equal(talloc.offset, 64);
    talloc = ggml_tallocr_new(NULL);
    assert_null(talloc.buffer);
    assert_int_equal(ggml_tallocr_alloc(&talloc, t), GGML_STATUS_FAILED);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
a_refusal_by_the_backend_comes_back(void **state)
{
    struct ggml_context *ctx = fake_context(8);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 16);
    struct ggml_tallocr talloc;
    ggml_backend_buffer_t buffer;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.inits_left = 0;
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 256);
    talloc = ggml_tallocr_new(buffer);
    assert_int_equal(ggml_tallocr_alloc(&talloc, t), GGML_STATUS_FAILED);
    assert_ptr_equal(t->buffer, buffer);
    assert_int_equal(talloc.offset, 64);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_lie_behind_each_other_on_the_alignment),
        cmocka_unit_test(
            a_base_off_the_alignment_costs_the_bytes_to_the_first_aligned_one),
        cmocka_unit_test(what_does_not_fit_changes_nothing),
        cmocka_unit_test(what_has_a_place_gets_no_other),
        cmocka_unit_test(a_refusal_by_the_backend_comes_back),
    };

    return cmocka_run_group_tests_name("linear allocator", tests, NULL, NULL);
}
