/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/tiles.c - every word for tiles on every level that has them.
 */
#include "config.h"

#include "tests/cpu/simd/check-levels.h"
#include "tests/cpu/simd/tiles.h"

#define ROW(variant, floats) { #variant, GB_CPU_NAME(variant, check_tiles) },
static const struct level_check built[] = {
    GB_CPU_VARIANTS(ROW)
};

static void
every_word_does_what_it_says(void **state)
{
    (void)state;
    /* In plain C any machine has them. */
    assert_true(check_levels(built, sizeof(built) / sizeof(built[0])) > 0);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_does_what_it_says),
    };

    return cmocka_run_group_tests_name("tiles", tests, NULL, NULL);
}
