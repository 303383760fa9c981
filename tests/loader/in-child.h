/* SPDX-License-Identifier: MIT */
/*
 * loader/in-child.h - cases that each begin with a new registry.
 */
#ifndef GB_TESTS_LOADER_IN_CHILD_H
#define GB_TESTS_LOADER_IN_CHILD_H

#include "tests/util/child.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

/* In a child: a broken claim ends it. */
#define check(claim)                                               \
    do {                                                           \
        if (!(claim)) {                                            \
            fprintf(stderr, "line %d: not %s\n", __LINE__, #claim); \
            abort();                                               \
        }                                                          \
    } while (0)

/* Fails when the child does not come to its end. */
static inline void
run_in_child(void (*run)(void))
{
    static struct gb_child child;

    gb_child_run(run, &child);
    if (!child.is_done)
        fail_msg("the child ended early: %s", child.errors);
}

#endif
