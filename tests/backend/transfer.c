/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/transfer.c - data into tensors, out of them, between them.
 */
#include "tests/backend/fake.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "tests/util/fault.h"

#define N 16

/* Two tensors of N floats on a device each, one in host memory, all placed. */
struct scene {
    struct fake fake0, fake1;
    ggml_backend_t backend0, backend1;
    struct ggml_context *ctx;
    struct ggml_tensor *t0, *t1, *host;
    ggml_backend_buffer_t buffer0, buffer1, host_buffer;
};

static struct ggml_tensor *
placed(struct ggml_context *ctx, ggml_backend_buffer_t buffer)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);

    assert_int_equal(ggml_backend_tensor_alloc(
                         buffer, t, ggml_backend_buffer_get_base(buffer)),
                     GGML_STATUS_SUCCESS);
    return t;
}

static void
scene_open(struct scene *s)
{
    fake_init(&s->fake0, "Fake0");
    fake_init(&s->fake1, "Fake1");
    s->ctx = fake_context(16);
    s->buffer0 = ggml_backend_buft_alloc_buffer(&s->fake0.buft, 64);
    s->buffer1 = ggml_backend_buft_alloc_buffer(&s->fake1.buft, 64);
    s->host_buffer =
        ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), 64);
    s->t0 = placed(s->ctx, s->buffer0);
    s->t1 = placed(s->ctx, s->buffer1);
    s->host = placed(s->ctx, s->host_buffer);
    s->backend0 = fake_backend(&s->fake0);
    s->backend1 = fake_backend(&s->fake1);
    memset(s->host->data, 0, 64);
    fake_failed();
}

static void
scene_close(struct scene *s)
{
    ggml_backend_free(s->backend0);
    ggml_backend_free(s->backend1);
    ggml_backend_buffer_free(s->buffer0);
    ggml_backend_buffer_free(s->buffer1);
    ggml_backend_buffer_free(s->host_buffer);
    ggml_free(s->ctx);
}

static void
fill_with_bytes(unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (unsigned char)(i * 7 + 1);
}

static void
a_range_is_set_filled_and_read(void **state)
{
    unsigned char in[64], out[64];
    struct scene s;

    (void)state;
    scene_open(&s);
    fill_with_bytes(in, sizeof(in));
    ggml_backend_tensor_set(s.t0, in, 0, 64);
    ggml_backend_tensor_set(s.t0, in, 60, 4);
    ggml_backend_tensor_memset(s.t0, 0xee, 8, 3);
    ggml_backend_tensor_get(s.t0, out, 4, 60);
    assert_memory_equal(out, in + 4, 4);
    assert_int_equal(out[4], 0xee);
    assert_int_equal(out[6], 0xee);
    assert_memory_equal(out + 7, in + 11, 49);
    assert_memory_equal(out + 56, in, 4);
    assert_false(fake_failed());
    scene_close(&s);
}

static void
a_view_is_reached_through_its_source(void **state)
{
    const float in[2] = { 3, 4 };
    struct ggml_tensor *view;
    float out[2];
    struct scene s;

    (void)state;
    scene_open(&s);
    view = ggml_view_1d(s.ctx, s.t0, 2, 8);
    assert_null(view->buffer);
    ggml_backend_tensor_set(view, in, 0, sizeof(in));
    ggml_backend_tensor_get(s.t0, out, 8, sizeof(out));
    assert_memory_equal(out, in, sizeof(in));
    ggml_backend_tensor_get(view, out, 4, 4);
    assert_true(out[0] == 4);
    assert_false(fake_failed());
    scene_close(&s);
}

static void
no_bytes_are_no_work_even_without_a_buffer(void **state)
{
    struct ggml_tensor *t;
    struct scene s;

    (void)state;
    scene_open(&s);
    t = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, N);
    ggml_backend_tensor_set(t, NULL, 0, 0);
    ggml_backend_tensor_get(t, NULL, 0, 0);
    ggml_backend_tensor_memset(t, 0, 0, 0);
    assert_false(fake_failed());
    scene_close(&s);
}

/* What is wrong with the call: T's range, or T itself. */
static void
assert_refused(
    struct scene *s, struct ggml_tensor *t, size_t offset, size_t size)
{
    unsigned char data[128];
    unsigned char untouched[128];

    memset(data, 0x33, sizeof(data));
    memcpy(untouched, data, sizeof(data));
    memset(&s->fake0.calls, 0, sizeof(s->fake0.calls));

    ggml_backend_tensor_set(t, data, offset, size);
    assert_true(fake_failed());
    ggml_backend_tensor_get(t, data, offset, size);
    assert_true(fake_failed());
    ggml_backend_tensor_memset(t, 1, offset, size);
    assert_true(fake_failed());
    ggml_backend_tensor_set_async(s->backend0, t, data, offset, size);
    assert_true(fake_failed());
    ggml_backend_tensor_get_async(s->backend0, t, data, offset, size);
    assert_true(fake_failed());
    assert_memory_equal(data, untouched, sizeof(data));
    assert_int_equal(s->fake0.calls.set + s->fake0.calls.get +
                         s->fake0.calls.fill + s->fake0.calls.set_async +
                         s->fake0.calls.get_async,
                     0);
}

static void
what_does_not_fit_is_not_copied_at_all(void **state)
{
    struct ggml_tensor *t;
    struct scene s;
    void *data;

    (void)state;
    scene_open(&s);
    assert_refused(&s, NULL, 0, 4);
    assert_refused(&s, s.t0, 0, 65);
    assert_refused(&s, s.t0, 64, 1);
    assert_refused(&s, s.t0, 65, 1);
    assert_refused(&s, s.t0, SIZE_MAX, 2);
    assert_refused(&s, s.t0, 2, SIZE_MAX);
    t = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, N);
    assert_refused(&s, t, 0, 4);
    assert_refused(&s, ggml_view_1d(s.ctx, t, 2, 8), 0, 4);
    data = s.t0->data;
    s.t0->data = NULL;
    assert_refused(&s, s.t0, 0, 4);
    s.t0->data = data;
    scene_close(&s);
}

static void
the_other_side_must_be_there(void **state)
{
    unsigned char data[4] = { 0 };
    struct scene s;

    (void)state;
    scene_open(&s);
    ggml_backend_tensor_set(s.t0, NULL, 0, 4);
    assert_true(fake_failed());
    ggml_backend_tensor_get(s.t0, NULL, 0, 4);
    assert_true(fake_failed());
    ggml_backend_tensor_set_async(s.backend0, s.t0, NULL, 0, 4);
    assert_true(fake_failed());
    ggml_backend_tensor_get_async(s.backend0, s.t0, NULL, 0, 4);
    assert_true(fake_failed());
    ggml_backend_tensor_set_async(NULL, s.t0, data, 0, 4);
    assert_true(fake_failed());
    ggml_backend_tensor_get_async(NULL, s.t0, data, 0, 4);
    assert_true(fake_failed());
    scene_close(&s);
}

static void
a_buffer_without_memset_is_left_alone(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.buffer0->iface.memset_tensor = NULL;
    ggml_backend_tensor_memset(s.t0, 1, 0, 64);
    assert_true(fake_failed());
    assert_int_equal(fake_shadow(s.t0)[0], 0);
    scene_close(&s);
}

static void
queued_access_uses_the_backend(void **state)
{
    unsigned char in[64], out[64];
    struct scene s;

    (void)state;
    scene_open(&s);
    fill_with_bytes(in, sizeof(in));
    ggml_backend_tensor_set_async(s.backend0, s.t0, in, 0, 64);
    ggml_backend_tensor_get_async(s.backend0, s.t0, out, 0, 64);
    ggml_backend_synchronize(s.backend0);
    assert_memory_equal(out, in, 64);
    assert_int_equal(s.fake0.calls.set_async, 1);
    assert_int_equal(s.fake0.calls.get_async, 1);
    assert_int_equal(s.fake0.calls.set, 0);
    scene_close(&s);
}

static void
without_queued_access_the_backend_is_waited_for_first(void **state)
{
    unsigned char in[64], out[64];
    struct scene s;

    (void)state;
    scene_open(&s);
    fill_with_bytes(in, sizeof(in));
    s.backend0->iface.set_tensor_async = NULL;
    s.backend0->iface.get_tensor_async = NULL;
    s.fake0.is_busy = true;
    ggml_backend_tensor_set_async(s.backend0, s.t0, in, 0, 64);
    s.fake0.is_busy = true;
    ggml_backend_tensor_get_async(s.backend0, s.t0, out, 0, 64);
    assert_memory_equal(out, in, 64);
    assert_int_equal(s.fake0.calls.while_busy, 0);
    assert_int_equal(s.fake0.calls.synchronize, 2);
    scene_close(&s);
}

static void
a_copy_takes_the_shortest_way(void **state)
{
    unsigned char in[64], out[64];
    struct scene s;

    (void)state;
    scene_open(&s);
    fill_with_bytes(in, sizeof(in));
    memcpy(s.host->data, in, 64);

    ggml_backend_tensor_copy(s.host, s.t0); /* set */
    assert_int_equal(s.fake0.calls.set, 1);
    s.fake1.is_friend = true;
    ggml_backend_tensor_copy(s.t0, s.t1); /* the destination's own way */
    assert_int_equal(s.fake1.calls.copy, 1);
    memset(s.host->data, 0, 64);
    ggml_backend_tensor_copy(s.t1, s.host); /* get */
    assert_int_equal(s.fake1.calls.get, 1);
    assert_memory_equal(s.host->data, in, 64);

    /* Through the host: refused, and without the member. */
    ggml_backend_tensor_copy(s.t1, s.t0);
    assert_int_equal(s.fake1.calls.get, 2);
    assert_int_equal(s.fake0.calls.set, 2);
    s.buffer1->iface.cpy_tensor = NULL;
    memset(fake_shadow(s.t1), 0, 64);
    ggml_backend_tensor_copy(s.t0, s.t1);
    ggml_backend_tensor_get(s.t1, out, 0, 64);
    assert_memory_equal(out, in, 64);
    assert_false(fake_failed());
    scene_close(&s);
}

static void
a_tensor_is_its_own_copy_and_empty_ones_are_alike(void **state)
{
    struct ggml_tensor *a, *b;
    struct scene s;

    (void)state;
    scene_open(&s);
    ggml_backend_tensor_copy(s.t0, s.t0);
    a = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, 0);
    b = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, 0);
    ggml_backend_tensor_copy(a, b);
    ggml_backend_tensor_copy_async(s.backend0, s.backend0, s.t0, s.t0);
    assert_int_equal(s.fake0.calls.get, 0);
    assert_int_equal(s.fake0.calls.copy_async, 0);
    assert_false(fake_failed());
    scene_close(&s);
}

static void
different_layouts_or_places_missing_are_not_copied(void **state)
{
    struct ggml_tensor *other;
    struct scene s;

    (void)state;
    scene_open(&s);
    memset(s.host->data, 0x44, 64);
    other = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, N);
    ggml_backend_tensor_copy(s.host, other);
    assert_true(fake_failed());
    ggml_backend_tensor_copy(other, s.t0);
    assert_true(fake_failed());
    ggml_backend_tensor_copy(NULL, s.t0);
    assert_true(fake_failed());
    ggml_backend_tensor_copy(s.host, NULL);
    assert_true(fake_failed());

    other = ggml_view_2d(s.ctx, s.host, 4, 4, 16, 0);
    ggml_backend_tensor_copy(other, s.t0);
    assert_true(fake_failed());
    ggml_backend_tensor_copy_async(s.backend0, s.backend1, other, s.t0);
    assert_true(fake_failed());
    ggml_backend_tensor_copy_async(NULL, s.backend1, s.t0, s.t1);
    assert_true(fake_failed());
    ggml_backend_tensor_copy_async(s.backend0, NULL, s.t0, s.t1);
    assert_true(fake_failed());
    assert_int_equal(fake_shadow(s.t0)[0], 0);
    assert_int_equal(fake_shadow(s.t1)[0], 0);

    other = ggml_new_tensor_1d(s.ctx, GGML_TYPE_I32, N);
    ggml_backend_tensor_copy(s.host, other);
    assert_true(fake_failed());
    other = ggml_transpose(s.ctx, ggml_view_2d(s.ctx, s.host, 4, 4, 16, 0));
    ggml_backend_tensor_copy(other, ggml_view_2d(s.ctx, s.t0, 4, 4, 16, 0));
    assert_true(fake_failed());
    assert_int_equal(fake_shadow(s.t0)[0], 0);

    /* The host does not reach what a device has. */
    assert_false(ggml_backend_buffer_copy_tensor(s.t0, s.host));
    assert_int_equal(((const unsigned char *)s.host->data)[0], 0x44);

    assert_false(ggml_backend_buffer_copy_tensor(NULL, s.t0));
    assert_true(fake_failed());
    other = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, N);
    assert_false(ggml_backend_buffer_copy_tensor(s.t0, other));
    assert_true(fake_failed());
    scene_close(&s);
}

static void
a_queued_copy_is_the_destinations_or_waits_for_both(void **state)
{
    unsigned char in[64];
    struct scene s;

    (void)state;
    scene_open(&s);
    fill_with_bytes(in, sizeof(in));
    ggml_backend_tensor_set(s.t0, in, 0, 64);

    s.fake1.is_friend = true;
    ggml_backend_tensor_copy_async(s.backend0, s.backend1, s.t0, s.t1);
    assert_int_equal(s.fake1.calls.copy_async, 1);
    assert_int_equal(s.fake1.calls.synchronize, 0);
    assert_memory_equal(fake_shadow(s.t1), in, 64);

    for (int has_member = 0; has_member < 2; has_member++) {
        memset(fake_shadow(s.t1), 0, 64);
        s.fake1.is_friend = false;
        s.fake0.is_busy = true;
        s.fake1.is_busy = true;
        if (has_member == 0)
            s.backend1->iface.cpy_tensor_async = NULL;
        ggml_backend_tensor_copy_async(s.backend0, s.backend1, s.t0, s.t1);
        assert_memory_equal(fake_shadow(s.t1), in, 64);
        assert_int_equal(s.fake0.calls.while_busy, 0);
        assert_int_equal(s.fake1.calls.while_busy, 0);
    }
    assert_false(fake_failed());
    scene_close(&s);
}

static void
copy_between_devices(void *data)
{
    struct scene *s = data;

    ggml_backend_tensor_copy(s->t0, s->t1);
    assert_int_equal(fake_failed(), gb_fault_happened());
    assert_int_equal(fake_shadow(s->t1)[0], gb_fault_happened() ? 0 : 1);
}

static void
without_memory_between_nothing_is_copied(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    memset(fake_shadow(s.t0), 1, 64);
    assert_int_equal(gb_fault_each(copy_between_devices, &s), 1);
    scene_close(&s);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_set_filled_and_read),
        cmocka_unit_test(a_view_is_reached_through_its_source),
        cmocka_unit_test(no_bytes_are_no_work_even_without_a_buffer),
        cmocka_unit_test(what_does_not_fit_is_not_copied_at_all),
        cmocka_unit_test(the_other_side_must_be_there),
        cmocka_unit_test(a_buffer_without_memset_is_left_alone),
        cmocka_unit_test(queued_access_uses_the_backend),
        cmocka_unit_test(without_queued_access_the_backend_is_waited_for_first),
        cmocka_unit_test(a_copy_takes_the_shortest_way),
        cmocka_unit_test(a_tensor_is_its_own_copy_and_empty_ones_are_alike),
        cmocka_unit_test(different_layouts_or_places_missing_are_not_copied),
        cmocka_unit_test(a_queued_copy_is_the_destinations_or_waits_for_both),
        cmocka_unit_test(without_memory_between_nothing_is_copied),
    };

    return cmocka_run_group_tests_name("transfers", tests, NULL, NULL);
}
