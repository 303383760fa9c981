/* SPDX-License-Identifier: MIT */
/*
 * tests/util/fault.h - running a function with each of its allocations failing.
 */
#ifndef GB_TESTS_UTIL_FAULT_H
#define GB_TESTS_UTIL_FAULT_H

#include <stdbool.h>

typedef void (*gb_fault_fn)(void *data);

/*
 * Call RUN(DATA) with the first allocation of the library failing, then with
 * the second, and so on, up to the first call in which none had to fail; gives
 * the number of calls with a failure.  RUN checks what came back and frees what
 * it got.
 */
int gb_fault_each(gb_fault_fn run, void *data);

/* Has an allocation failed since RUN was called? */
bool gb_fault_happened(void);

#endif
