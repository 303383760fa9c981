/* SPDX-License-Identifier: MIT */
/*
 * tests/tensor/new.c - new tensors: shapes, strides, sizes that do not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/tensor/context.h"
#include "lib/tensor/shape.h"

#include "tests/util/sink.h"

#include <string.h>

static struct gb_sink sink;
static struct ggml_context *ctx;

static int
begin(void **state)
{
    const struct ggml_init_params params = { 100000, NULL, true };

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
strides_are_those_of_dense_rows(void **state)
{
    static const struct {
        enum ggml_type type;
        int64_t ne[4];
        size_t nb[4];
        size_t bytes;
    } cases[] = {
        { GGML_TYPE_F32, { 5, 3, 2, 7 }, { 4, 20, 60, 120 }, 840 },
        { GGML_TYPE_F16, { 5, 3, 2, 7 }, { 2, 10, 30, 60 }, 420 },
        { GGML_TYPE_I64, { 1, 1, 1, 1 }, { 8, 8, 8, 8 }, 8 },
        { GGML_TYPE_Q4_0, { 64, 3, 2, 7 }, { 18, 36, 108, 216 }, 1512 },
        { GGML_TYPE_Q4_K, { 256, 3, 1, 1 }, { 144, 144, 432, 432 }, 432 },
        { GGML_TYPE_F32, { 5, 0, 2, 7 }, { 4, 20, 0, 0 }, 0 },
        { GGML_TYPE_Q4_0, { 0, 3, 2, 7 }, { 18, 0, 0, 0 }, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct ggml_tensor *t =
            ggml_new_tensor(ctx, cases[i].type, 4, cases[i].ne);

        assert_false(gb_tensor_is_failed(t));
        assert_int_equal(t->type, cases[i].type);
        assert_memory_equal(t->ne, cases[i].ne, sizeof(t->ne));
        assert_memory_equal(t->nb, cases[i].nb, sizeof(t->nb));
        assert_int_equal(ggml_nbytes(t), cases[i].bytes);
        assert_true(ggml_is_contiguous(t));
        assert_int_equal(t->op, GGML_OP_NONE);
        assert_int_equal(t->flags, 0);
        assert_null(t->buffer);
        assert_null(t->data);
        assert_null(t->view_src);
        assert_null(t->extra);
        assert_string_equal(t->name, "");
    }
}

static void
missing_dimensions_are_one(void **state)
{
    static const int64_t one[] = { 7, 1, 1, 1 }, two[] = { 7, 5, 1, 1 };
    static const int64_t three[] = { 7, 5, 3, 1 }, four[] = { 7, 5, 3, 2 };

    (void)state;
    assert_memory_equal(ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 7)->ne, one,
                        sizeof(one));
    assert_memory_equal(ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 7, 5)->ne, two,
                        sizeof(two));
    assert_memory_equal(ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 7, 5, 3)->ne,
                        three, sizeof(three));
    assert_memory_equal(ggml_new_tensor_4d(ctx, GGML_TYPE_F32, 7, 5, 3, 2)->ne,
                        four, sizeof(four));
    assert_memory_equal(ggml_new_tensor(ctx, GGML_TYPE_F32, 2, four)->ne, two,
                        sizeof(two));
}

static void
what_cannot_be_is_a_failed_node(void **state)
{
    static const struct {
        int type;
        int n_dims;
        int64_t ne[4];
    } cases[] = {
        { GGML_TYPE_F32, 0, { 1 } },
        { GGML_TYPE_F32, 5, { 1, 1, 1, 1 } },
        { GGML_TYPE_F32, 1, { -1 } },
        { GGML_TYPE_F32, 4, { 1, 1, 1, -1 } },
        { GGML_TYPE_F32, 4, { -1, -1, 1, 1 } },
        { GGML_TYPE_F32, 1, { INT64_MIN } },
        { GGML_TYPE_Q4_0, 1, { 33 } },
        { GGML_TYPE_Q4_0, 1, { -32 } },
        { GGML_TYPE_Q6_K, 1, { 128 } },
        { -1, 1, { 1 } },
        { 4, 1, { 32 } },
        { 31, 1, { 32 } },
        { 38, 1, { 32 } },
        { GGML_TYPE_COUNT, 1, { 1 } },
        /* Elements, or bytes, that do not fit; with an empty dimension too. */
        { GGML_TYPE_F32, 1, { INT64_MAX } },
        { GGML_TYPE_I8, 2, { INT64_MAX, 2 } },
        { GGML_TYPE_F64, 2, { INT64_C(1) << 31, INT64_C(1) << 30 } },
        { GGML_TYPE_F32, 1, { (INT64_C(1) << 62) - 1 } }, /* padded only */
        { GGML_TYPE_F32, 4, { INT64_C(1) << 32, INT64_C(1) << 32, 1, 1 } },
        { GGML_TYPE_F32, 4, { INT64_C(1) << 32, INT64_C(1) << 32, 0, 1 } },
        { GGML_TYPE_Q4_0, 2, { INT64_C(1) << 62, 4 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        gb_sink_begin(&sink);
        assert_true(gb_tensor_is_failed(
            ggml_new_tensor(ctx, (enum ggml_type)cases[i].type, cases[i].n_dims,
                            cases[i].ne)));
        assert_int_equal(sink.n, 1);
        assert_int_equal(ggml_used_mem(ctx), 0);
    }
    assert_true(gb_tensor_is_failed(
        ggml_new_tensor(ctx, GGML_TYPE_F32, 1, NULL)));
}

static void
the_largest_shapes_are_possible_without_data(void **state)
{
    /* With 64 bits 2^20, 2^20 and 2^19 elements. */
    const int bits = 8 * (int)sizeof(size_t), side = bits / 3 - 1;
    const struct ggml_tensor *t = ggml_new_tensor_4d(
        ctx, GGML_TYPE_F32, INT64_C(1) << side, INT64_C(1) << side,
        INT64_C(1) << (bits - 5 - 2 * side), 1);

    (void)state;
    assert_false(gb_tensor_is_failed(t));
    assert_true(ggml_nbytes(t) == (size_t)1 << (bits - 3));
    t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, INT64_C(1) << (bits - 3));
    assert_false(gb_tensor_is_failed(t));
    assert_true(ggml_nbytes(t) == (size_t)1 << (bits - 1));
    assert_true(ggml_nbytes_pad(t) == (size_t)1 << (bits - 1));
}

static void
no_pool_has_room_for_the_data_of_the_largest(void **state)
{
    (void)state;
    ggml_set_no_alloc(ctx, false);
    for (int64_t last = 4; last <= 1024; last *= 2) {
        /* Up to the last bytes of a size_t: the tensor itself wraps there. */
        const int64_t n = (INT64_C(1) << 62) - last;

        assert_true(gb_tensor_is_failed(
            ggml_new_tensor_1d(ctx, GGML_TYPE_F32, n)));
        assert_int_equal(ggml_used_mem(ctx), 0);
    }
}

static void
sizes_are_written_only_when_they_fit(void **state)
{
    const int64_t bad[] = { -1 }, good[] = { 3, 2 };
    size_t nb[GGML_MAX_DIMS] = { 9, 9, 9, 9 }, bytes = 9;

    (void)state;
    assert_false(gb_tensor_sizes(GGML_TYPE_F32, 1, bad, nb, &bytes));
    assert_int_equal(nb[0] + nb[3] + bytes, 27);
    assert_true(gb_tensor_sizes(GGML_TYPE_F32, 2, good, nb, &bytes));
    assert_int_equal(bytes, 24);
}

static void
a_duplicate_is_new_and_contiguous(void **state)
{
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 6, 4), *b;

    (void)state;
    ggml_set_name(a, "a");
    ggml_set_output(a);
    a->nb[1] = 100;
    b = ggml_dup_tensor(ctx, a);
    assert_int_equal(b->type, GGML_TYPE_F16);
    assert_true(ggml_are_same_shape(a, b));
    assert_int_equal(b->nb[1], 12);
    assert_string_equal(b->name, "");
    assert_int_equal(b->flags, 0);
    assert_null(b->src[0]);
    assert_null(b->view_src);
}

static void
flags_add_up(void **state)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);

    (void)state;
    ggml_set_input(t);
    assert_int_equal(t->flags, 1);
    ggml_set_output(t);
    assert_int_equal(t->flags, 3);
    ggml_set_param(NULL, t);
    assert_int_equal(t->flags, 7);
    ggml_set_loss(t);
    assert_int_equal(t->flags, 15);
    assert_int_equal(sink.n, 0);
}

static void
only_a_single_float_can_be_a_loss(void **state)
{
    struct ggml_tensor *two = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct ggml_tensor *half = ggml_new_tensor_1d(ctx, GGML_TYPE_F16, 1);

    (void)state;
    ggml_set_loss(two);
    ggml_set_loss(half);
    assert_int_equal(two->flags | half->flags, 0);
    assert_int_equal(sink.n, 2);
}

static void
data_is_asked_for_by_type(void **state)
{
    struct ggml_tensor *f, *h;

    (void)state;
    ggml_set_no_alloc(ctx, false);
    f = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    h = ggml_new_tensor_1d(ctx, GGML_TYPE_F16, 2);
    assert_ptr_equal(ggml_get_data(f), f->data);
    assert_ptr_equal(ggml_get_data_f32(f), f->data);
    assert_null(ggml_get_data_f32(h));
    assert_int_equal(sink.n, 1);
}

static void
zero_reaches_the_last_byte_and_no_further(void **state)
{
    struct ggml_tensor *a, *row;
    const float *x;

    (void)state;
    ggml_set_no_alloc(ctx, false);
    a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 3);
    memset(a->data, 0xff, ggml_nbytes(a));
    row = ggml_view_tensor(ctx, a);
    row->ne[1] = 1;
    row->data = (char *)a->data + 16;
    assert_ptr_equal(ggml_set_zero(row), row);
    x = a->data;
    for (int i = 0; i < 12; i++)
        assert_int_equal(x[i] == 0.0f, i >= 4 && i < 8);
}

static void
zeroing_nothing_does_nothing(void **state)
{
    struct ggml_tensor *empty = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 0);
    struct ggml_tensor *bare = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);

    (void)state;
    assert_ptr_equal(ggml_set_zero(empty), empty);
    assert_int_equal(sink.n, 0);
    assert_ptr_equal(ggml_set_zero(bare), bare);
    assert_null(ggml_set_zero(NULL));
    assert_int_equal(sink.n, 2);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(strides_are_those_of_dense_rows, begin,
                                        end),
        cmocka_unit_test_setup_teardown(missing_dimensions_are_one, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_a_failed_node, begin,
                                        end),
        cmocka_unit_test_setup_teardown(
            the_largest_shapes_are_possible_without_data, begin, end),
        cmocka_unit_test_setup_teardown(
            no_pool_has_room_for_the_data_of_the_largest, begin, end),
        cmocka_unit_test_setup_teardown(sizes_are_written_only_when_they_fit,
                                        begin, end),
        cmocka_unit_test_setup_teardown(a_duplicate_is_new_and_contiguous,
                                        begin, end),
        cmocka_unit_test_setup_teardown(flags_add_up, begin, end),
        cmocka_unit_test_setup_teardown(only_a_single_float_can_be_a_loss,
                                        begin, end),
        cmocka_unit_test_setup_teardown(data_is_asked_for_by_type, begin, end),
        cmocka_unit_test_setup_teardown(
            zero_reaches_the_last_byte_and_no_further, begin, end),
        cmocka_unit_test_setup_teardown(zeroing_nothing_does_nothing, begin,
                                        end),
    };

    return cmocka_run_group_tests_name("new tensors", tests, NULL, NULL);
}
