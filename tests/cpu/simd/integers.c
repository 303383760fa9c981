/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/integers.c - every word for small integers on every level.
 */
#include "config.h"

#include "tests/cpu/simd/integers.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define ROW(variant, floats) { #variant, gb_cpu_##variant##_check_integers },
static const struct {
    const char *level;
    check_integers_fn check;
} built[] = {
    GB_CPU_VARIANTS(ROW)
};

static void
every_word_does_what_it_says(void **state)
{
    int checked = 0;

    (void)state;
    for (size_t i = 0; ggmlbackend_cpu_level_at(i) != NULL; i++) {
        for (size_t k = 0; k < sizeof(built) / sizeof(built[0]); k++) {
            const char *word;

            if (strcmp(built[k].level, ggmlbackend_cpu_level_at(i)) != 0)
                continue;
            word = built[k].check();
            if (word != NULL)
                fail_msg("%s: %s", built[k].level, word);
            checked++;
        }
    }
    assert_true(checked > 0);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_does_what_it_says),
    };

    return cmocka_run_group_tests_name("small integers", tests, NULL, NULL);
}
