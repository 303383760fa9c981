/* SPDX-License-Identifier: MIT */
/*
 * bench/against.h - the same cases on two libraries, in turns.
 *
 * Each library has a process of this same program, which takes cases from its
 * standard input; the other library's is started with LD_PRELOAD, so that all
 * functions of the interface are its own.  Loading both into one process was
 * not chosen: they have symbols of the same names, and what one calls inside
 * itself must not reach the other.
 */
#ifndef TOOLS_BENCH_AGAINST_H
#define TOOLS_BENCH_AGAINST_H

#include "tools/ggmlbackend-bench/case.h"
#include "tools/ggmlbackend-bench/machine.h"
#include "tools/ggmlbackend-bench/report.h"

#include <stdbool.h>

/*
 * Measure all of LIST on both libraries; ARGV is the command line.  FILES are
 * those of the other library, see library_files.  False after a message.
 */
bool against_run(const struct case_list *list, const struct options *options,
                 char **argv, const char *files, struct machine *machine,
                 struct report *report);

/*
 * Take lines of "case seconds samples" from standard input, and answer each
 * with a result; the first line of all says which library this is.  False after
 * a message.
 */
bool against_serve(const struct case_list *list, const struct bench *bench);

#endif
