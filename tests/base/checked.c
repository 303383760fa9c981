/* SPDX-License-Identifier: MIT */
/*
 * tests/base/checked.c - sizes that do not fit are noticed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/checked.h"

static void
a_sum_that_does_not_fit_is_noticed(void **state)
{
    size_t size = 7;

    (void)state;
    assert_false(gb_add_size(SIZE_MAX, 1, &size));
    assert_int_equal(size, 7);
    assert_true(gb_add_size(SIZE_MAX - 1, 1, &size));
    assert_true(size == SIZE_MAX);
}

static void
a_product_that_does_not_fit_is_noticed(void **state)
{
    size_t size = 7;

    (void)state;
    assert_false(gb_mul_size(SIZE_MAX / 2, 3, &size));
    assert_int_equal(size, 7);
    assert_true(gb_mul_size(6, 7, &size));
    assert_int_equal(size, 42);
    assert_true(gb_mul_size(SIZE_MAX, 0, &size));
    assert_int_equal(size, 0);
    assert_true(gb_mul_size(0, SIZE_MAX, &size));
    assert_int_equal(size, 0);
}

static void
counts_are_never_negative(void **state)
{
    int64_t count = 7;

    (void)state;
    assert_false(gb_mul_count(-1, 2, &count));
    assert_false(gb_mul_count(2, -1, &count));
    assert_false(gb_mul_count(INT64_MAX / 2, 3, &count));
    assert_int_equal(count, 7);
    assert_true(gb_mul_count(INT64_MAX, 1, &count));
    assert_true(count == INT64_MAX);
    assert_true(gb_mul_count(0, INT64_MAX, &count));
    assert_int_equal(count, 0);
}

static void
padding_at_the_end_of_the_range_is_noticed(void **state)
{
    size_t size = 7;

    (void)state;
    assert_false(gb_pad_size(SIZE_MAX - 14, 16, &size));
    assert_int_equal(size, 7);
    assert_true(gb_pad_size(SIZE_MAX - 15, 16, &size));
    assert_true(size == SIZE_MAX - 15);
    assert_true(gb_pad_size(1, 16, &size));
    assert_int_equal(size, 16);
    assert_true(gb_pad_size(0, 16, &size));
    assert_int_equal(size, 0);
}

static void
sums_of_parts_stay_at_the_most(void **state)
{
    (void)state;
    assert_int_equal(gb_add_or_max(6, 7), 13);
    assert_true(gb_add_or_max(SIZE_MAX, 1) == SIZE_MAX);
    assert_int_equal(gb_mul_or_max(6, 7), 42);
    assert_int_equal(gb_mul_or_max(SIZE_MAX, 0), 0);
    assert_true(gb_mul_or_max(SIZE_MAX / 2, 3) == SIZE_MAX);
    assert_int_equal(gb_pad_or_max(65, 64), 128);
    assert_true(gb_pad_or_max(SIZE_MAX - 5, 64) == SIZE_MAX);
    assert_true(gb_pad_or_max(gb_mul_or_max(SIZE_MAX, 2), 64) == SIZE_MAX);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_that_does_not_fit_is_noticed),
        cmocka_unit_test(a_product_that_does_not_fit_is_noticed),
        cmocka_unit_test(counts_are_never_negative),
        cmocka_unit_test(padding_at_the_end_of_the_range_is_noticed),
        cmocka_unit_test(sums_of_parts_stay_at_the_most),
    };

    return cmocka_run_group_tests_name("checked sizes", tests, NULL, NULL);
}
