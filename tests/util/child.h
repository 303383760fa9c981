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
#include <stdio.h>
#include <stdlib.h>

struct gb_child {
    bool is_done;      /* RUN returned */
    bool is_aborted;   /* the child ended itself with abort */
    char errors[8192]; /* what it wrote to stderr, terminated; cut if longer */
};

/* Instead of assertions there: says what does not hold, and ends the child. */
#define CHECK(cond)                                                    \
    do {                                                               \
        if (!(cond)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
            exit(1);                                                   \
        }                                                              \
    } while (0)

/* Call RUN in a child, where no failed assertion is seen, and wait for it. */
void gb_child_run(void (*run)(void), struct gb_child *out);

/*
 * The same with VARIABLES in the child's environment, "NAME=value NAME=value";
 * names that begin with PREFIX get GGMLBACKEND_TEST_ in front.  The test fails
 * unless RUN returns.  *ERRORS, where ERRORS is not NULL, is what it wrote, until
 * the next call.
 */
void gb_child_case(void (*run)(void), const char *variables, const char *prefix,
                   const char **errors);

#endif
