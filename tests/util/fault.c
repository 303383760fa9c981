/* SPDX-License-Identifier: MIT */
/*
 * tests/util/fault.c - running a function with each of its allocations failing.
 */
#include "tests/util/fault.h"

#include "lib/base/mem.h"

#include <stdatomic.h>
#include <stddef.h>

/*
 * Allocations before the one that fails.  Any thread may take the count down.
 */
static atomic_int left;
static atomic_bool happened;

static bool
is_its_turn(void *data)
{
    (void)data;
    if (atomic_fetch_sub(&left, 1) != 0)
        return false;
    atomic_store(&happened, true);
    return true;
}

bool
gb_fault_happened(void)
{
    return atomic_load(&happened);
}

int
gb_fault_each(gb_fault_fn run, void *data)
{
    int n = 0;

    for (;;) {
        atomic_store(&left, n);
        atomic_store(&happened, false);
        gb_mem_set_fault(is_its_turn, NULL);
        run(data);
        gb_mem_set_fault(NULL, NULL);
        if (!gb_fault_happened())
            return n;
        n++;
    }
}
