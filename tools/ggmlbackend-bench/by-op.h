/* SPDX-License-Identifier: MIT */
/*
 * bench/by-op.h - where the time of a case goes, by operation.
 *
 * The device's backend tells it (ggmlbackend_set_profile_t): what each thread spent
 * on each step, with fused chains and waves as they are at all times.  Rows are in
 * milliseconds of the run: the time of all threads divided by their number, so that
 * rows add up to the run.  A row "(waiting)" has the time in which threads found
 * nothing to do or waited for each other, "(outside)" what the program does between
 * graphs, "(profile)" what taking the profile does there, and "(all)" the run.
 */
#ifndef TOOLS_BENCH_BY_OP_H
#define TOOLS_BENCH_BY_OP_H

#include "tools/ggmlbackend-bench/case.h"
#include "tools/ggmlbackend-bench/result.h"

#include <stdbool.h>

/* Names of such results begin so: by-op/<case>/<row>. */
#define BY_OP "by-op/"
#define BY_OP_ALL "(all)"

/* Run C again and again, and hand its rows to TAKE, the largest first and BY_OP_ALL
 * last.  False after a message, as where the device tells no profile. */
bool by_op_run(const struct bench *bench, const struct bench_case *c,
               take_result_fn take, void *arg);

/* A row's own name, and in *size how long that of its case is; NULL for results
 * that are no rows. */
const char *by_op_row(const struct result *result, size_t *size);

#endif
