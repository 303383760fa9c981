/* SPDX-License-Identifier: MIT */
/*
 * bench/plot.h - results as a drawing.
 */
#ifndef TOOLS_BENCH_PLOT_H
#define TOOLS_BENCH_PLOT_H

#include "tools/ggmlbackend-bench/report.h"

#include <stdbool.h>

/*
 * Write PATH, an SVG file with a bar for each result of A and, where B has the
 * same case, one of B beside it; B may be empty.  The bars of a unit have one
 * scale; a line on a bar goes from the lower quartile to the upper one.  False
 * after a message.
 */
bool plot_write(const char *path, const struct result_list *a,
                const struct result_list *b, const char *const labels[2]);

#endif
