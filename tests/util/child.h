/* SPDX-License-Identifier: MIT */
/*
 * tests/util/child.h - running a function in a process of its own.
 *
 * For what happens once in a process, what ends it, and what it writes to
 * stderr.
 */
#ifndef GB_TESTS_UTIL_CHILD_H
#define GB_TESTS_UTIL_CHILD_H

#include <stdbool.h>

struct gb_child {
    bool is_done;      /* RUN returned */
    bool is_aborted;   /* the child ended itself with abort */
    char errors[8192]; /* what it wrote to stderr, terminated; cut if longer */
};

/* Call RUN in a child, where no failed assertion is seen, and wait for it. */
void gb_child_run(void (*run)(void), struct gb_child *out);

#endif
