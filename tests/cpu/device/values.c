/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/device/values.c - reading and writing single elements.
 */
#include "config.h"

#include "ggml-backend-impl.h"
#include "ggml-cpu.h"

#include "tests/util/sink.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const enum ggml_type types[] = {
    GGML_TYPE_I8, GGML_TYPE_I16, GGML_TYPE_I32, GGML_TYPE_F16, GGML_TYPE_BF16,
    GGML_TYPE_F32
};

#define N_TYPES ((int)(sizeof(types) / sizeof(types[0])))

static struct ggml_context *
new_context(void)
{
    struct ggml_context *ctx =
        ggml_init((struct ggml_init_params){ .mem_size = 1 << 16 });

    assert_non_null(ctx);
    return ctx;
}

static void
what_is_set_is_read_again(void **state)
{
    struct ggml_context *ctx = new_context();

    (void)state;
    for (int t = 0; t < N_TYPES; t++) {
        struct ggml_tensor *x = ggml_new_tensor_2d(ctx, types[t], 3, 4);

        for (int i = 0; i < 12; i++)
            ggml_set_i32_1d(x, i, 2 * i - 7);
        for (int i = 0; i < 12; i++) {
            assert_int_equal(ggml_get_i32_1d(x, i), 2 * i - 7);
            assert_true(ggml_get_f32_1d(x, i) == (float)(2 * i - 7));
            assert_int_equal(
                ggml_get_i32_nd(x, i % 3, i / 3, 0, 0), 2 * i - 7);
        }
        ggml_set_f32_nd(x, 2, 3, 0, 0, 5.0f);
        assert_true(ggml_get_f32_1d(x, 11) == 5.0f);
        assert_true(ggml_get_f32_nd(x, 2, 3, 0, 0) == 5.0f);
        ggml_set_f32_1d(x, 0, -6.0f);
        ggml_set_i32_nd(x, 1, 0, 0, 0, 4);
        assert_int_equal(ggml_get_i32_1d(x, 0), -6);
        assert_int_equal(ggml_get_i32_1d(x, 1), 4);
    }
    ggml_free(ctx);
}

static void
a_whole_tensor_can_be_set(void **state)
{
    struct ggml_context *ctx = new_context();

    (void)state;
    for (int t = 0; t < N_TYPES; t++) {
        struct ggml_tensor *x = ggml_new_tensor_4d(ctx, types[t], 3, 2, 2, 2);

        assert_ptr_equal(ggml_set_i32(x, 7), x);
        for (int i = 0; i < 24; i++)
            assert_int_equal(ggml_get_i32_1d(x, i), 7);
        assert_ptr_equal(ggml_set_f32(x, -2.0f), x);
        for (int i = 0; i < 24; i++)
            assert_int_equal(ggml_get_i32_1d(x, i), -2);
    }
    ggml_free(ctx);
}

/* Elements of a transposed view are counted in the view's order, and those of a
 * part of a tensor leave the rest alone. */
static void
strides_are_followed(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 3);
    struct ggml_tensor *turned = ggml_transpose(ctx, x);
    struct ggml_tensor *part =
        ggml_view_2d(ctx, x, 2, 2, x->nb[1], x->nb[1] + x->nb[0]);

    (void)state;
    for (int i = 0; i < 12; i++)
        ((float *)x->data)[i] = (float)i;
    for (int i = 0; i < 12; i++)
        assert_true(ggml_get_f32_1d(turned, i) == (float)(i % 3 * 4 + i / 3));
    assert_true(ggml_get_f32_nd(turned, 2, 1, 0, 0) == 9.0f);
    ggml_set_f32(part, -1.0f);
    for (int i = 0; i < 12; i++) {
        const bool is_in = i / 4 >= 1 && i % 4 >= 1 && i % 4 <= 2;

        assert_true(((float *)x->data)[i] == (is_in ? -1.0f : (float)i));
    }
    ggml_free(ctx);
}

static void
values_are_converted_as_in_c(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *i8 = ggml_new_tensor_1d(ctx, GGML_TYPE_I8, 1);
    struct ggml_tensor *i32 = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1);
    struct ggml_tensor *f32 = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    struct ggml_tensor *f16 = ggml_new_tensor_1d(ctx, GGML_TYPE_F16, 1);

    (void)state;
    ggml_set_i32_1d(i8, 0, 300);
    assert_int_equal(ggml_get_i32_1d(i8, 0), 44);
    ggml_set_f32_1d(i32, 0, -2.9f);
    assert_int_equal(ggml_get_i32_1d(i32, 0), -2);
    ggml_set_i32_1d(i32, 0, INT32_MIN);
    assert_int_equal(ggml_get_i32_1d(i32, 0), INT32_MIN);
    ggml_set_f32_1d(f32, 0, 1e20f);
    assert_int_equal(ggml_get_i32_1d(f32, 0), INT32_MAX);
    ggml_set_f32_1d(f32, 0, -INFINITY);
    assert_int_equal(ggml_get_i32_1d(f32, 0), INT32_MIN);
    ggml_set_f32_1d(f32, 0, NAN);
    assert_int_equal(ggml_get_i32_1d(f32, 0), 0);
    assert_true(isnan(ggml_get_f32_1d(f32, 0)));
    ggml_set_f32_1d(f16, 0, 65519.0f);
    assert_true(ggml_get_f32_1d(f16, 0) == 65504.0f);
    ggml_free(ctx);
}

static void
scalars_are_tensors_of_one_element(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *i = ggml_new_i32(ctx, -5);
    struct ggml_tensor *f = ggml_new_f32(ctx, 1.5f);

    (void)state;
    assert_int_equal(i->type, GGML_TYPE_I32);
    assert_int_equal(ggml_nelements(i), 1);
    assert_int_equal(*(int32_t *)i->data, -5);
    assert_int_equal(f->type, GGML_TYPE_F32);
    assert_true(*(float *)f->data == 1.5f);
    ggml_free(ctx);
}

static void
a_context_without_memory_gives_a_failed_scalar(void **state)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 1 << 16, .no_alloc = true });
    struct ggml_tensor *scalar;
    struct gb_sink sink;

    (void)state;
    gb_sink_begin(&sink);
    scalar = ggml_new_f32(ctx, 1.0f);
    assert_non_null(scalar);
    assert_null(scalar->data);
    assert_null(ggml_new_i32(NULL, 1));
    gb_sink_end();
    assert_non_null(strstr(sink.text, "gives no memory"));
    ggml_free(ctx);
}

static void
what_has_no_such_element_is_left_alone(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 3, 2);
    struct ggml_tensor *q = ggml_new_tensor_1d(ctx, GGML_TYPE_Q4_0, 32);
    struct ggml_tensor *f64 = ggml_new_tensor_1d(ctx, GGML_TYPE_F64, 1);
    struct ggml_tensor *empty = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 0);
    struct gb_sink sink;

    (void)state;
    ggml_set_f32(x, 1.0f);
    memset(q->data, 0x11, ggml_nbytes(q));
    gb_sink_begin(&sink);
    ggml_set_f32_1d(x, 6, 9.0f);
    ggml_set_f32_1d(x, -1, 9.0f);
    ggml_set_i32_nd(x, 0, 2, 0, 0, 9);
    ggml_set_i32_nd(x, 0, 0, 0, 1, 9);
    ggml_set_f32(q, 9.0f);
    ggml_set_i32_1d(f64, 0, 9);
    assert_int_equal(ggml_get_i32_1d(x, 6), 0);
    assert_true(ggml_get_f32_nd(x, 3, 0, 0, 0) == 0.0f);
    assert_true(ggml_get_f32_1d(q, 0) == 0.0f);
    assert_true(ggml_get_f32_1d(NULL, 0) == 0.0f);
    assert_null(ggml_set_f32(NULL, 1.0f));
    assert_int_equal(sink.n, 11);
    assert_ptr_equal(ggml_set_f32(empty, 1.0f), empty);
    gb_sink_end();
    for (int i = 0; i < 6; i++)
        assert_true(ggml_get_f32_1d(x, i) == 1.0f);
    for (size_t i = 0; i < ggml_nbytes(q); i++)
        assert_int_equal(((char *)q->data)[i], 0x11);
    ggml_free(ctx);
}

/* Each is refused once, and says why. */
static void
elements_that_cannot_be_reached_are_zero(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct ggml_tensor *q = ggml_new_tensor_1d(ctx, GGML_TYPE_Q4_0, 32);
    void *const data = x->data;
    struct gb_sink sink;

    (void)state;
    ggml_set_f32(x, 3.0f);
    memset(q->data, 0x11, ggml_nbytes(q));
    x->data = NULL;
    gb_sink_begin(&sink);
    assert_true(ggml_get_f32_1d(x, 0) == 0.0f);
    gb_sink_end();
    assert_non_null(strstr(sink.text, "has no memory"));
    x->data = data;

    x->type = GGML_TYPE_COUNT;
    gb_sink_begin(&sink);
    ggml_set_f32_nd(x, 0, 0, 0, 0, 9.0f);
    gb_sink_end();
    assert_non_null(strstr(sink.text, "cannot be reached"));
    x->type = GGML_TYPE_F32;

    gb_sink_begin(&sink);
    assert_true(ggml_get_f32_nd(q, 0, 0, 0, 0) == 0.0f);
    assert_int_equal(ggml_get_i32_nd(q, 0, 0, 0, 0), 0);
    ggml_set_f32_nd(q, 0, 0, 0, 0, 9.0f);
    gb_sink_end();
    assert_int_equal(sink.n, 3);

    gb_sink_begin(&sink);
    assert_true(ggml_get_f32_nd(x, -1, 0, 0, 0) == 0.0f);
    gb_sink_end();
    assert_non_null(strstr(sink.text, "no index -1 along dimension 0"));

    assert_true(ggml_get_f32_1d(x, 0) == 3.0f);
    assert_true(ggml_get_f32_1d(x, 1) == 3.0f);
    for (size_t i = 0; i < ggml_nbytes(q); i++)
        assert_int_equal(((char *)q->data)[i], 0x11);
    ggml_free(ctx);
}

static void
a_context_that_is_full_gives_no_scalar(void **state)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = ggml_tensor_overhead() });
    struct gb_sink sink;

    (void)state;
    gb_sink_begin(&sink);
    assert_null(ggml_new_f32(ctx, 1.0f)->data);
    gb_sink_end();
    assert_int_equal(sink.n, 1);
    ggml_free(ctx);
}

static bool
is_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return true;
}

static bool
not_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return false;
}

static void
memory_of_other_devices_is_not_touched(void **state)
{
    struct ggml_backend_buffer_type elsewhere = {
        .iface = { .is_host = not_host },
    };
    struct ggml_backend_buffer buffer = { .buft = &elsewhere };
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct ggml_tensor *view = ggml_view_1d(ctx, x, 1, 0);
    struct gb_sink sink;

    (void)state;
    ggml_set_f32(x, 1.0f);
    x->buffer = &buffer;
    gb_sink_begin(&sink);
    ggml_set_f32_1d(x, 0, 2.0f);
    assert_true(ggml_get_f32_1d(x, 0) == 0.0f);
    assert_true(ggml_get_f32_1d(view, 0) == 0.0f);
    gb_sink_end();
    assert_non_null(strstr(sink.text, "host memory"));
    elsewhere.iface.is_host = is_host;
    assert_true(ggml_get_f32_1d(x, 0) == 1.0f);
    assert_true(ggml_get_f32_1d(view, 0) == 1.0f);
    x->buffer = NULL;
    assert_true(ggml_get_f32_1d(x, 0) == 1.0f);
    ggml_free(ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_set_is_read_again),
        cmocka_unit_test(a_whole_tensor_can_be_set),
        cmocka_unit_test(strides_are_followed),
        cmocka_unit_test(values_are_converted_as_in_c),
        cmocka_unit_test(scalars_are_tensors_of_one_element),
        cmocka_unit_test(a_context_without_memory_gives_a_failed_scalar),
        cmocka_unit_test(what_has_no_such_element_is_left_alone),
        cmocka_unit_test(elements_that_cannot_be_reached_are_zero),
        cmocka_unit_test(a_context_that_is_full_gives_no_scalar),
        cmocka_unit_test(memory_of_other_devices_is_not_touched),
    };

    return cmocka_run_group_tests_name("elements", tests, NULL, NULL);
}
