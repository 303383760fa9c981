/* SPDX-License-Identifier: MIT */
/*
 * bench/plot.h - results as a drawing.
 */
#ifndef TOOLS_BENCH_PLOT_H
#define TOOLS_BENCH_PLOT_H

#include "tools/ggmlbackend-bench/report.h"

#include <stdbool.h>
#include <stdio.h>

/* TEXT as XML has it. */
void plot_text(FILE *out, const char *text);

/*
 * Write PATH, an SVG file with a bar for each result of A and, where B has the
 * same case, one of B beside it; B may be empty.  Rows of by-op.h are parts of one bar
 * (stack.h).  The bars of a unit have one scale; a line on a bar goes from the lower quartile to the upper one.  False
 * after a message.
 */
bool plot_write(const char *path, const struct result_list *a,
                const struct result_list *b, const char *const labels[2]);

#endif
