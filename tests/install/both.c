/* SPDX-License-Identifier: MIT */
/*
 * install/both.c - a program whose halves use two libraries: each computes, and
 * neither hears of the other's failures.  The second is ours.
 */
#include "half.h"

#include <stdio.h>

static int
is_wrong(int wrong, const char *what)
{
    if (wrong)
        fprintf(stderr, "both: %s\n", what);
    return wrong;
}

int
main(void)
{
    int bad = 0;
    int before;

    bad |= is_wrong(first_function() == second_function(), "one library");
    bad |= is_wrong(first_sum() != 5.0f, "the first half is wrong");
    bad |= is_wrong(second_sum() != 5.0f, "the second half is wrong");

    before = first_messages();
    second_fail();
    bad |= is_wrong(second_messages() == 0, "the second half is silent");
    bad |= is_wrong(first_messages() != before, "the first half was told");
    before = second_messages();
    first_fail();
    bad |= is_wrong(second_messages() != before, "the second half was told");
    return bad;
}
