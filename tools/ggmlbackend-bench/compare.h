/* SPDX-License-Identifier: MIT */
/*
 * bench/compare.h - results that were written as JSON, read and compared.
 */
#ifndef TOOLS_BENCH_COMPARE_H
#define TOOLS_BENCH_COMPARE_H

#include "tools/ggmlbackend-bench/report.h"

#include <stdbool.h>

/*
 * Read all results of PATH ("-" is stdin).  Samples of the same case, threads
 * and library are put together.  False after a message that names the line.
 */
bool compare_read(struct result_list *list, const char *path);

/*
 * Print a line for each case that A and B both have, whose names are at
 * LABELS, as JSON or for people.  False after a message, when there is none as
 * well.
 */
bool compare_print(const struct result_list *a, const struct result_list *b,
                   const char *const labels[2], bool is_json);

#endif
