/* SPDX-License-Identifier: MIT */
/*
 * abi/macros.c - macros of the public headers mean what the interface says.
 */
#include "tests/abi/uses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Digits, so that each sum tells which of the numbers are in it. */
static const struct ggml_tensor a = {
    .ne = { 1, 20, 300, 4000 }, .nb = { 50000, 600000, 7000000, 80000000 }
};
static const struct ggml_tensor b = {
    .ne = { 2, 30, 400, 5000 }, .nb = { 10000, 200000, 1000000, 10000000 }
};
static const struct ggml_tensor c = {
    .ne = { 3, 40, 100, 0 }, .nb = { 20000, 100000, 1000000, 1000000 }
};

static void
locals_have_the_numbers_of_their_tensor(void **state)
{
    (void)state;
    assert_int_equal(use_locals_by_number(&a),
                     1 + 20 + 300 + 4000 + 87650000);
    assert_int_equal(use_locals_of_expressions(&a, &b), 5000 + 30 + 1);
}

static void
locals_of_operations_need_no_semicolon_and_take_one(void **state)
{
    (void)state;
    assert_int_equal(use_unary_locals(&a, &c), 87650000 + 4321 + 2120000 + 143);
    assert_int_equal(use_unary_locals_with_semicolon(&a, &c),
                     use_unary_locals(&a, &c));
    assert_int_equal(use_binary_locals01(&a, &b),
                     87650000 + 4321 + 11210000 + 5432);
    assert_int_equal(use_binary_locals01_with_semicolon(&a, &b),
                     use_binary_locals01(&a, &b));
    assert_int_equal(use_binary_locals(&a, &b, &c),
                     use_binary_locals01(&a, &b) + 2120000 + 143);
    assert_int_equal(use_binary_locals_with_semicolon(&a, &b, &c),
                     use_binary_locals(&a, &b, &c));
}

static void
an_else_behind_an_assertion_is_the_clients(void **state)
{
    static const int values[] = { 1, 2, 4 };

    (void)state;
    assert_int_equal(use_assert_between_branches(0, 0), 1);
    assert_int_equal(use_assert_between_branches(5, 9), 1);
    assert_int_equal(use_assert_between_branches(-1, 0), 2);
    assert_int_equal(use_assert_in_a_loop(values, 3), 7);
}

static void
what_ends_the_process_is_not_reached_by_others(void **state)
{
    (void)state;
    assert_int_equal(use_what_ends_the_process(-7), -1);
    assert_int_equal(use_what_ends_the_process(0), 0);
    assert_int_equal(use_what_ends_the_process(7), 1);
}

static void
expressions_keep_to_themselves(void **state)
{
    const ggml_fp16_t halves[] = { 0x3c00, 0x4000, 0x4200 }; /* 1, 2, 3 */

    (void)state;
    assert_int_equal(use_pad(1, 0), 96);
    assert_int_equal(use_pad(32, 1), 192);
    assert_int_equal(use_min_and_max(3, 8), 5);
    assert_int_equal(use_log(3), 3);
    assert_int_equal(use_marks(4), 4);
    assert_true(use_halves(halves) == 6.0f);
    /* 1 + 2^-9: a half has it, a BF16 has 1. */
    assert_true(use_rounding(1.001953125f) == 2.001953125f);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(locals_have_the_numbers_of_their_tensor),
        cmocka_unit_test(locals_of_operations_need_no_semicolon_and_take_one),
        cmocka_unit_test(an_else_behind_an_assertion_is_the_clients),
        cmocka_unit_test(what_ends_the_process_is_not_reached_by_others),
        cmocka_unit_test(expressions_keep_to_themselves),
    };

    return cmocka_run_group_tests_name("macros", tests, NULL, NULL);
}
