/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/multi-buffer.c - several buffers that are owned as one.
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
the_whole_frees_clears_and_marks_its_parts(void **state)
{
    ggml_backend_buffer_t parts[3], whole;
    struct fake fake, other;

    (void)state;
    fake_init(&fake, "Fake0");
    fake_init(&other, "Fake1");
    parts[0] = ggml_backend_buft_alloc_buffer(&fake.buft, 100);
    parts[1] = ggml_backend_buft_alloc_buffer(&other.buft, 50);
    parts[2] = ggml_backend_buft_alloc_buffer(&other.buft, 0);
    whole = ggml_backend_multi_buffer_alloc_buffer(parts, 3);
    assert_non_null(whole);

    assert_true(ggml_backend_buffer_is_multi_buffer(whole));
    assert_false(ggml_backend_buffer_is_multi_buffer(parts[0]));
    assert_ptr_equal(ggml_backend_buffer_get_type(whole), &fake.buft);
    assert_int_equal(ggml_backend_buffer_get_size(whole), 150);

    ggml_backend_buffer_clear(whole, 1);
    assert_int_equal(fake.calls.clear, 1);
    assert_int_equal(other.calls.clear, 1);
    ggml_backend_buffer_set_usage(whole, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    assert_int_equal(ggml_backend_buffer_get_usage(whole),
                     GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ggml_backend_buffer_get_usage(parts[i]),
                         GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_buffer_reset(whole);
    assert_int_equal(fake.calls.reset, 0);
    assert_false(fake_failed());

    ggml_backend_buffer_free(whole);
    assert_int_equal(fake.calls.free, 1);
    assert_int_equal(other.calls.free, 1);
}

static void
the_whole_has_no_address_and_takes_no_tensor(void **state)
{
    struct ggml_context *ctx = fake_context(2);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 8);
    ggml_backend_buffer_t part, whole;
    struct fake fake;
    void *addr;

    (void)state;
    fake_init(&fake, "Fake0");
    part = ggml_backend_buft_alloc_buffer(&fake.buft, 100);
    addr = ggml_backend_buffer_get_base(part);
    whole = ggml_backend_multi_buffer_alloc_buffer(&part, 1);
    assert_null(ggml_backend_buffer_get_base(whole));
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_tensor_alloc(whole, t, addr),
                     GGML_STATUS_FAILED);
    assert_null(t->buffer);
    ggml_backend_buffer_free(whole);
    ggml_free(ctx);
}

static void
bad_parts_are_refused(void **state)
{
    struct ggml_backend_buffer huge = { .size = SIZE_MAX };
    ggml_backend_buffer_t parts[2] = { NULL, NULL };
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake_failed();
    assert_null(ggml_backend_multi_buffer_alloc_buffer(NULL, 1));
    assert_true(fake_failed());
    assert_null(ggml_backend_multi_buffer_alloc_buffer(parts, 0));
    assert_true(fake_failed());
    assert_null(ggml_backend_multi_buffer_alloc_buffer(parts, 1));
    assert_true(fake_failed());
    parts[0] = &huge;
    parts[1] = &huge;
    assert_null(ggml_backend_multi_buffer_alloc_buffer(parts, 2));
    assert_true(fake_failed());

    parts[0] = ggml_backend_buft_alloc_buffer(&fake.buft, 100);
    ggml_backend_multi_buffer_set_usage(parts[0],
                                        GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_buffer_get_usage(parts[0]),
                     GGML_BACKEND_BUFFER_USAGE_ANY);
    ggml_backend_multi_buffer_set_usage(NULL, GGML_BACKEND_BUFFER_USAGE_ANY);
    assert_true(fake_failed());
    assert_false(ggml_backend_buffer_is_multi_buffer(NULL));
    assert_true(fake_failed());
    ggml_backend_buffer_free(parts[0]);
}

static void
join_one(void *data)
{
    ggml_backend_buffer_t part = data;
    ggml_backend_buffer_t whole =
        ggml_backend_multi_buffer_alloc_buffer(&part, 1);

    assert_int_equal(whole == NULL, gb_fault_happened());
    assert_int_equal(fake_failed(), gb_fault_happened());
    ggml_backend_buffer_free(whole);
}

static void
without_memory_the_parts_stay_the_callers(void **state)
{
    ggml_backend_buffer_t part;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    part = ggml_backend_buft_alloc_buffer(&fake.buft, 100);
    assert_int_equal(gb_fault_each(join_one, part), 2);
    assert_int_equal(fake.calls.free, 1);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_whole_frees_clears_and_marks_its_parts),
        cmocka_unit_test(the_whole_has_no_address_and_takes_no_tensor),
        cmocka_unit_test(bad_parts_are_refused),
        cmocka_unit_test(without_memory_the_parts_stay_the_callers),
    };

    return cmocka_run_group_tests_name("multi-buffers", tests, NULL, NULL);
}
