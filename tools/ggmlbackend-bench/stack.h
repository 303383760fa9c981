/* SPDX-License-Identifier: MIT */
/*
 * bench/stack.h - where time went, as bars of parts that lie behind each other.
 */
#ifndef TOOLS_BENCH_STACK_H
#define TOOLS_BENCH_STACK_H

#include "tools/ggmlbackend-bench/report.h"

#include <stdio.h>

/* What stack_put takes at most. */
int stack_height(const struct result_list *list);

/*
 * For each case of A's rows of by-op.h a bar, of B's rows one below it where B has
 * the case, in one scale; and what the colours are, with milliseconds.  Elements of
 * SVG from (X, *Y) on, with *Y behind them.
 */
void stack_put(FILE *out, const struct result_list *a,
               const struct result_list *b, int x, int *y);

#endif
