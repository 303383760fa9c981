/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/tiles.c - every word for tiles on every level that has them.
 */
#include "config.h"

#include "tests/cpu/simd/tiles.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ROW(variant, floats) { #variant, GB_CPU_NAME(variant, check_tiles) },
static const struct {
    const char *level;
    check_tiles_fn check;
} built[] = {
    GB_CPU_VARIANTS(ROW)
};

static check_tiles_fn
check_of(const char *level)
{
    for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); i++)
        if (strcmp(built[i].level, level) == 0)
            return built[i].check;
    return NULL;
}

static void
every_word_does_what_it_says(void **state)
{
    const char *level;
    int n = 0;

    (void)state;
    for (size_t i = 0; (level = ggmlbackend_cpu_level_at(i)) != NULL; i++) {
        const check_tiles_fn check = check_of(level);
        const char *wrong;

        if (check == NULL)
            fail_msg("%s: nobody checks its words", level);
        wrong = check();
        if (wrong != NULL && wrong[0] != '\0')
            fail_msg("%s: %s", level, wrong);
        n += wrong == NULL;
    }
    /* In plain C any machine has them. */
    assert_true(n > 0);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_does_what_it_says),
    };

    return cmocka_run_group_tests_name("tiles", tests, NULL, NULL);
}
