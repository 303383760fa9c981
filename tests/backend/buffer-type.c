/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/buffer-type.c - kinds of memory, with and without their
 * members.
 */
#include "tests/backend/fake.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

static void
all_members_are_passed_on(void **state)
{
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    assert_string_equal(ggml_backend_buft_name(&fake.buft), "Fake0");
    assert_int_equal(ggml_backend_buft_get_alignment(&fake.buft), 64);
    assert_int_equal(ggml_backend_buft_get_max_size(&fake.buft), 1 << 30);
    assert_false(ggml_backend_buft_is_host(&fake.buft));
    assert_ptr_equal(ggml_backend_buft_get_device(&fake.buft), &fake.device);
}

static void
missing_members_mean_no_limit_no_extra_no_host(void **state)
{
    struct ggml_context *ctx = fake_context(2);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 7);
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.buft.iface.get_max_size = NULL;
    fake.buft.iface.get_alloc_size = NULL;
    fake.buft.iface.is_host = NULL;
    fake.buft.device = NULL;
    assert_true(ggml_backend_buft_get_max_size(&fake.buft) == SIZE_MAX);
    assert_int_equal(ggml_backend_buft_get_alloc_size(&fake.buft, t), 28);
    assert_false(ggml_backend_buft_is_host(&fake.buft));
    assert_null(ggml_backend_buft_get_device(&fake.buft));
    ggml_free(ctx);
}

static size_t
too_little(ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    (void)buft;
    (void)tensor;
    return 1;
}

static void
a_tensor_gets_what_the_type_asks_and_never_less_than_its_data(void **state)
{
    struct ggml_context *ctx = fake_context(2);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 7);
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.padding = 100;
    assert_int_equal(ggml_backend_buft_get_alloc_size(&fake.buft, t), 128);
    fake.buft.iface.get_alloc_size = too_little;
    assert_int_equal(ggml_backend_buft_get_alloc_size(&fake.buft, t), 28);
    ggml_free(ctx);
}

static void
a_buffer_of_no_bytes_does_not_reach_the_backend(void **state)
{
    ggml_backend_buffer_t buffer;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    buffer = ggml_backend_buft_alloc_buffer(&fake.buft, 0);
    assert_non_null(buffer);
    assert_int_equal(fake.calls.alloc, 0);
    assert_ptr_equal(ggml_backend_buffer_get_type(buffer), &fake.buft);
    assert_int_equal(ggml_backend_buffer_get_size(buffer), 0);
    assert_null(ggml_backend_buffer_get_base(buffer));
    ggml_backend_buffer_clear(buffer, 1);
    ggml_backend_buffer_reset(buffer);
    assert_false(fake_failed());
    ggml_backend_buffer_free(buffer);
}

static void
a_buffer_that_cannot_be_had_is_null_with_a_reason(void **state)
{
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake.allocs_left = 0;
    assert_null(ggml_backend_buft_alloc_buffer(&fake.buft, 100));
    assert_true(fake_failed());
}

static void
without_a_type_every_question_fails(void **state)
{
    (void)state;
    assert_null(ggml_backend_buft_name(NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_buft_alloc_buffer(NULL, 1));
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buft_get_alignment(NULL), 0);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buft_get_max_size(NULL), 0);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buft_get_alloc_size(NULL, NULL), 0);
    assert_true(fake_failed());
    assert_false(ggml_backend_buft_is_host(NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_buft_get_device(NULL));
    assert_true(fake_failed());
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_members_are_passed_on),
        cmocka_unit_test(missing_members_mean_no_limit_no_extra_no_host),
        cmocka_unit_test(
            a_tensor_gets_what_the_type_asks_and_never_less_than_its_data),
        cmocka_unit_test(a_buffer_of_no_bytes_does_not_reach_the_backend),
        cmocka_unit_test(a_buffer_that_cannot_be_had_is_null_with_a_reason),
        cmocka_unit_test(without_a_type_every_question_fails),
    };

    return cmocka_run_group_tests_name("buffer types", tests, NULL, NULL);
}
