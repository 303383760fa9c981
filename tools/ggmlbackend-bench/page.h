/* SPDX-License-Identifier: MIT */
/*
 * bench/page.h - results as one page for people.
 */
#ifndef TOOLS_BENCH_PAGE_H
#define TOOLS_BENCH_PAGE_H

#include "tools/ggmlbackend-bench/report.h"

#include <stdbool.h>

/*
 * Write PATH, or report.html in it where it is a folder: HTML that needs no other
 * file, with the machine, its limits, a bar for each result beside its limit, and
 * where time went, of A and, where it has something, of B.  False after a message.
 */
bool page_write(const char *path, const struct result_list *a,
                const struct result_list *b, const char *const labels[2]);

#endif
