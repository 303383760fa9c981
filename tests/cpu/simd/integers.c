/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/integers.c - every word for small integers on every level.
 */
#include "config.h"

#include "tests/cpu/simd/check-levels.h"
#include "tests/cpu/simd/integers.h"

#define ROW(variant, floats) \
    { #variant, GB_CPU_NAME(variant, check_integers) },
static const struct level_check built[] = {
    GB_CPU_VARIANTS(ROW)
};

static void
every_word_does_what_it_says(void **state)
{
    (void)state;
    assert_true(check_levels(built, sizeof(built) / sizeof(built[0])) > 0);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_does_what_it_says),
    };

    return cmocka_run_group_tests_name("small integers", tests, NULL, NULL);
}
