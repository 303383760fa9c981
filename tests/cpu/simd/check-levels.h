/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/check-levels.h - a check that is compiled once a level, on every
 * level that this machine has.
 */
#ifndef TESTS_CPU_SIMD_CHECK_LEVELS_H
#define TESTS_CPU_SIMD_CHECK_LEVELS_H

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct level_check {
    const char *level;
    /* What is wrong, NULL for nothing, "" where there is nothing to check. */
    const char *(*check)(void);
};

static inline const struct level_check *
find_level_check(const struct level_check *built, size_t n, const char *level)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(built[i].level, level) == 0)
            return &built[i];
    return NULL;
}

/* The test fails where a level of the machine is not among the N that are BUILT,
 * or something is wrong with it.  Gives the number of levels checked. */
static inline int
check_levels(const struct level_check *built, size_t n)
{
    const char *level;
    int n_checked = 0;

    for (size_t i = 0; (level = ggmlbackend_cpu_level_at(i)) != NULL; i++) {
        const struct level_check *row = find_level_check(built, n, level);
        const char *wrong;

        if (row == NULL)
            fail_msg("%s: nobody checks its words", level);
        wrong = row->check();
        if (wrong != NULL && wrong[0] != '\0')
            fail_msg("%s: %s", level, wrong);
        n_checked += wrong == NULL;
    }
    return n_checked;
}

#endif
