/* SPDX-License-Identifier: MIT */
/*
 * tests/tensor/shape.c - questions about shapes, strides and sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/tensor/shape.h"

#include "tests/util/sink.h"

#include <string.h>

/* A tensor of F32 that is in no context. */
static struct ggml_tensor
shaped(int64_t n0, int64_t n1, int64_t n2, int64_t n3)
{
    struct ggml_tensor t;

    memset(&t, 0, sizeof(t));
    t.type = GGML_TYPE_F32;
    t.ne[0] = n0;
    t.ne[1] = n1;
    t.ne[2] = n2;
    t.ne[3] = n3;
    t.nb[0] = 4;
    for (int i = 1; i < 4; i++)
        t.nb[i] = t.nb[i - 1] * (size_t)t.ne[i - 1];
    return t;
}

static void
counts_multiply(void **state)
{
    const struct ggml_tensor t = shaped(5, 3, 2, 7);
    const struct ggml_tensor empty = shaped(5, 0, 2, 7);
    const struct ggml_tensor huge = shaped(0, 6, INT64_MAX, 1);

    (void)state;
    assert_int_equal(ggml_nelements(&t), 210);
    assert_int_equal(ggml_nrows(&t), 42);
    assert_int_equal(ggml_nbytes(&t), 840);
    assert_int_equal(ggml_element_size(&t), 4);
    assert_int_equal(ggml_nelements(&empty), 0);
    assert_int_equal(ggml_nelements(&huge), 0);
    ggml_nrows(&huge); /* too many to be counted */
    assert_int_equal(ggml_nbytes(&empty), 0);
}

static void
bytes_are_padded_to_the_pools_alignment(void **state)
{
    const struct ggml_tensor t = shaped(5, 1, 1, 1);

    (void)state;
    assert_int_equal(ggml_nbytes(&t), 20);
    assert_int_equal(ggml_nbytes_pad(&t), GGML_MEM_ALIGN == 16 ? 32 : 20);
}

static void
bytes_of_strided_tensors_reach_the_last_element(void **state)
{
    struct ggml_tensor t = shaped(5, 3, 1, 1);

    (void)state;
    t.nb[1] = 100;
    assert_int_equal(ggml_nbytes(&t), 220);
    t.nb[0] = 8;
    assert_int_equal(ggml_nbytes(&t), 236);

    t = shaped(64, 3, 1, 1);
    t.type = GGML_TYPE_Q4_0;
    t.nb[0] = 18;
    t.nb[1] = 100;
    assert_int_equal(ggml_nbytes(&t), 236);
}

static void
bytes_of_empty_views_do_not_wrap(void **state)
{
    struct ggml_tensor t = shaped(5, 0, 2, 7);

    (void)state;
    t.nb[1] = 1000000;
    assert_int_equal(ggml_nbytes(&t), 0);
    t.ne[1] = -3;
    assert_int_equal(ggml_nbytes(&t), 0);
}

static void
shapes_have_names(void **state)
{
    static const struct {
        int64_t ne[4];
        int n_dims;
        bool is_scalar, is_vector, is_matrix, is_3d;
    } cases[] = {
        { { 1, 1, 1, 1 }, 1, true, true, true, true },
        { { 5, 1, 1, 1 }, 1, false, true, true, true },
        { { 5, 2, 1, 1 }, 2, false, false, true, true },
        { { 1, 2, 1, 1 }, 2, false, false, true, true },
        { { 5, 2, 3, 1 }, 3, false, false, false, true },
        { { 1, 1, 1, 9 }, 4, false, false, false, false },
        { { 0, 1, 1, 1 }, 1, false, true, true, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t *n = cases[i].ne;
        const struct ggml_tensor t = shaped(n[0], n[1], n[2], n[3]);

        assert_int_equal(ggml_n_dims(&t), cases[i].n_dims);
        assert_int_equal(ggml_is_scalar(&t), cases[i].is_scalar);
        assert_int_equal(ggml_is_vector(&t), cases[i].is_vector);
        assert_int_equal(ggml_is_matrix(&t), cases[i].is_matrix);
        assert_int_equal(ggml_is_3d(&t), cases[i].is_3d);
        assert_int_equal(ggml_is_empty(&t), n[0] == 0);
    }
}

static void
order_of_strides_tells_what_was_permuted(void **state)
{
    struct ggml_tensor t = shaped(5, 3, 2, 7);

    (void)state;
    assert_false(ggml_is_transposed(&t));
    assert_false(ggml_is_permuted(&t));
    t.nb[2] = 1000;
    assert_false(ggml_is_transposed(&t));
    assert_true(ggml_is_permuted(&t));
    t = shaped(5, 3, 2, 7);
    t.nb[0] = 12;
    t.nb[1] = 4;
    assert_true(ggml_is_transposed(&t));
    assert_true(ggml_is_permuted(&t));
}

static void
expect_contiguous(const struct ggml_tensor *t, bool c0, bool c1, bool c2)
{
    assert_int_equal(ggml_is_contiguous(t), c0);
    assert_int_equal(ggml_is_contiguous_0(t), c0);
    assert_int_equal(ggml_is_contiguous_1(t), c1);
    assert_int_equal(ggml_is_contiguous_2(t), c2);
}

static void
gaps_are_allowed_up_to_a_dimension(void **state)
{
    struct ggml_tensor t = shaped(5, 3, 2, 7);

    (void)state;
    expect_contiguous(&t, true, true, true);
    t.nb[3] *= 2;
    expect_contiguous(&t, false, false, false);

    t = shaped(5, 3, 2, 7);
    t.nb[1] = 100;
    t.nb[2] = 300;
    t.nb[3] = 600;
    expect_contiguous(&t, false, true, true);

    t = shaped(5, 3, 2, 7);
    t.nb[2] = 100;
    t.nb[3] = 200;
    expect_contiguous(&t, false, false, true);

    t = shaped(5, 3, 2, 7);
    t.nb[0] = 8;
    expect_contiguous(&t, false, false, false);
}

static void
strides_of_single_elements_do_not_matter(void **state)
{
    struct ggml_tensor t = shaped(1, 3, 1, 7);

    (void)state;
    t.nb[0] = 99;
    t.nb[2] = 77;
    assert_true(ggml_is_contiguous(&t));
    t.nb[3] = 13;
    assert_false(ggml_is_contiguous(&t));
}

static void
blocks_count_as_elements_do(void **state)
{
    struct ggml_tensor t = shaped(64, 3, 1, 1);

    (void)state;
    t.type = GGML_TYPE_Q4_0;
    t.nb[0] = 18;
    t.nb[1] = 36;
    assert_true(ggml_is_contiguous(&t));
    t.nb[1] = 54;
    assert_false(ggml_is_contiguous(&t));
    t.ne[0] = 32;
    t.nb[0] = 5; /* one block */
    t.nb[1] = 18;
    assert_true(ggml_is_contiguous(&t));
}

static void
a_type_without_values_is_no_layout(void **state)
{
    struct ggml_tensor t = shaped(64, 1, 1, 1);

    (void)state;
    t.type = (enum ggml_type)31;
    assert_false(ggml_is_contiguous(&t));
    assert_int_equal(ggml_nbytes(&t), 0);
}

static void
repeating_needs_whole_multiples(void **state)
{
    static const struct {
        int64_t a[4], b[4];
        bool can;
    } cases[] = {
        { { 1, 1, 1, 1 }, { 5, 3, 2, 7 }, true },
        { { 5, 1, 2, 1 }, { 5, 3, 4, 7 }, true },
        { { 5, 3, 2, 7 }, { 5, 3, 2, 7 }, true },
        { { 5, 2, 1, 1 }, { 5, 3, 1, 1 }, false },
        { { 10, 3, 1, 1 }, { 5, 3, 1, 1 }, false },
        { { 0, 3, 1, 1 }, { 5, 0, 1, 1 }, true },
        { { 5, 0, 1, 1 }, { 5, 3, 1, 1 }, false },
        { { 1, 1, 1, 1 }, { 5, 0, 1, 1 }, true },
        { { 5, 1, 1, 1 }, { 5, 0, 1, 1 }, true },
        { { 2, 1, 1, 1 }, { 5, 0, 1, 1 }, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t *m = cases[i].a, *n = cases[i].b;
        const struct ggml_tensor a = shaped(m[0], m[1], m[2], m[3]);
        const struct ggml_tensor b = shaped(n[0], n[1], n[2], n[3]);

        assert_int_equal(ggml_can_repeat(&a, &b), cases[i].can);
    }
}

static void
shapes_and_strides_are_compared_apart(void **state)
{
    struct ggml_tensor a = shaped(5, 3, 2, 7), b = shaped(5, 3, 2, 7);

    (void)state;
    b.nb[3] = 500;
    assert_true(ggml_are_same_shape(&a, &b));
    assert_false(ggml_are_same_stride(&a, &b));
    b = shaped(5, 3, 2, 8);
    assert_false(ggml_are_same_shape(&a, &b));
    assert_true(ggml_are_same_stride(&a, &b));
}

static void
rows_at_one_distance_are_padded(void **state)
{
    struct ggml_tensor t = shaped(5, 3, 2, 7);

    (void)state;
    assert_true(gb_is_padded_1d(&t));
    t.nb[1] = 32;
    t.nb[2] = 96;
    t.nb[3] = 192;
    assert_true(gb_is_padded_1d(&t));
    t.nb[2] = 128;
    assert_false(gb_is_padded_1d(&t));
}

static void
single_rows_and_elements_are_at_any_distance(void **state)
{
    struct ggml_tensor t = shaped(1, 3, 1, 7);

    (void)state;
    t.nb[0] = 13;
    t.nb[1] = 8;
    t.nb[2] = 5;
    t.nb[3] = 24;
    assert_true(gb_is_padded_1d(&t));
    t.nb[3] = 28;
    assert_false(gb_is_padded_1d(&t));
    t = shaped(5, 1, 1, 1);
    t.nb[1] = t.nb[2] = t.nb[3] = 1;
    assert_true(gb_is_padded_1d(&t));
    t.nb[0] = 8;
    assert_false(gb_is_padded_1d(&t));
}

static void
one_block_ends_where_it_ends_whatever_its_stride_is(void **state)
{
    struct ggml_tensor t = shaped(32, 3, 1, 1);

    (void)state;
    t.type = GGML_TYPE_Q8_0;
    t.nb[0] = 1000;
    t.nb[1] = 34;
    assert_true(gb_is_dense(&t));
    assert_int_equal(ggml_nbytes(&t), 3 * 34);
    t.ne[0] = 64;
    assert_false(gb_is_dense(&t));
}

static void
transposed_vectors_are_not_truly_transposed(void **state)
{
    struct ggml_tensor t = shaped(1, 5, 1, 1);

    (void)state;
    t.nb[0] = 20;
    t.nb[1] = 4;
    assert_true(ggml_is_transposed(&t));
    assert_false(gb_is_truly_transposed(&t));
    t.ne[0] = 2;
    assert_true(gb_is_truly_transposed(&t));
    t.ne[1] = 1;
    assert_false(gb_is_truly_transposed(&t));
}

static void
indices_unravel_in_the_order_of_dimensions(void **state)
{
    const struct ggml_tensor t = shaped(5, 3, 2, 7);
    int64_t i0 = 9, i1 = 9, i2 = 9, i3 = 9;

    (void)state;
    ggml_unravel_index(&t, 4 + 5 * (2 + 3 * (1 + 2 * 6)), &i0, &i1, &i2, &i3);
    assert_int_equal(i0, 4);
    assert_int_equal(i1, 2);
    assert_int_equal(i2, 1);
    assert_int_equal(i3, 6);
    ggml_unravel_index(&t, 5, NULL, &i1, NULL, NULL);
    assert_int_equal(i1, 1);
}

static void
an_index_beyond_the_end_writes_nothing(void **state)
{
    static struct gb_sink sink;
    const struct ggml_tensor t = shaped(5, 3, 2, 7);
    const struct ggml_tensor empty = shaped(0, 3, 2, 7);
    int64_t i0 = 9;

    (void)state;
    gb_sink_begin(&sink);
    ggml_unravel_index(&t, 210, &i0, NULL, NULL, NULL);
    ggml_unravel_index(&t, -1, &i0, NULL, NULL, NULL);
    ggml_unravel_index(&empty, 0, &i0, NULL, NULL, NULL);
    ggml_unravel_index(NULL, 0, &i0, NULL, NULL, NULL);
    gb_sink_end();
    assert_int_equal(i0, 9);
    assert_int_equal(sink.n, 4);
}

static void
null_has_no_shape(void **state)
{
    static struct gb_sink sink;

    (void)state;
    gb_sink_begin(&sink);
    assert_int_equal(ggml_nelements(NULL), 0);
    assert_int_equal(ggml_nrows(NULL), 0);
    assert_int_equal(ggml_nbytes(NULL), 0);
    assert_int_equal(ggml_nbytes_pad(NULL), 0);
    assert_int_equal(ggml_element_size(NULL), 0);
    assert_int_equal(ggml_n_dims(NULL), 0);
    assert_false(ggml_is_contiguous(NULL));
    assert_false(ggml_is_transposed(NULL));
    assert_false(ggml_is_permuted(NULL));
    assert_false(ggml_is_empty(NULL));
    assert_false(ggml_is_scalar(NULL));
    assert_false(ggml_are_same_shape(NULL, NULL));
    assert_false(ggml_are_same_stride(NULL, NULL));
    assert_false(ggml_can_repeat(NULL, NULL));
    gb_sink_end();
    assert_int_equal(sink.n, 14);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_multiply),
        cmocka_unit_test(bytes_are_padded_to_the_pools_alignment),
        cmocka_unit_test(bytes_of_strided_tensors_reach_the_last_element),
        cmocka_unit_test(bytes_of_empty_views_do_not_wrap),
        cmocka_unit_test(shapes_have_names),
        cmocka_unit_test(order_of_strides_tells_what_was_permuted),
        cmocka_unit_test(gaps_are_allowed_up_to_a_dimension),
        cmocka_unit_test(strides_of_single_elements_do_not_matter),
        cmocka_unit_test(blocks_count_as_elements_do),
        cmocka_unit_test(a_type_without_values_is_no_layout),
        cmocka_unit_test(repeating_needs_whole_multiples),
        cmocka_unit_test(shapes_and_strides_are_compared_apart),
        cmocka_unit_test(rows_at_one_distance_are_padded),
        cmocka_unit_test(single_rows_and_elements_are_at_any_distance),
        cmocka_unit_test(one_block_ends_where_it_ends_whatever_its_stride_is),
        cmocka_unit_test(transposed_vectors_are_not_truly_transposed),
        cmocka_unit_test(indices_unravel_in_the_order_of_dimensions),
        cmocka_unit_test(an_index_beyond_the_end_writes_nothing),
        cmocka_unit_test(null_has_no_shape),
    };

    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
