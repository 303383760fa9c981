/* SPDX-License-Identifier: MIT */
/*
 * bench/report.h - results as they come, as lines for people or as JSON, and
 * kept for a drawing.
 */
#ifndef TOOLS_BENCH_REPORT_H
#define TOOLS_BENCH_REPORT_H

#include "tools/common/progress.h"
#include "tools/ggmlbackend-bench/machine.h"
#include "tools/ggmlbackend-bench/result.h"

#include <stdbool.h>
#include <stddef.h>

/* What results are of: the last that a line said. */
struct about {
    char cpu[128], placement[96], device[64], library[512];
};

/* Results of one side; zeroed is none. */
struct result_list {
    struct about about;
    struct result *at;
    size_t n;
    size_t room;
};

/* Append, taking what RESULT has; false, after a message, without memory. */
bool result_list_take(struct result_list *list, struct result *result);
void result_list_clear(struct result_list *list);

struct report {
    bool is_json;
    bool has_heading;
    char labels[2][512];           /* of the libraries */
    const char *device;            /* its name */
    struct progress bar;           /* wiped before anything is written */
    struct result_list results[2];
    size_t n_shown; /* results of the first side that stand in a table already */
};

/* Measure the machine's limits and write them.  False after a message. */
bool report_limits(struct report *report, struct machine *machine);

/*
 * Write RESULT and keep it; it is empty afterwards.  PARTNER is the same case
 * on the other library, NULL without.  False after a message.
 */
bool report_case(struct report *report, struct result *result,
                 struct result *partner);

/* Write a row of by-op.h and keep it; those of a case come together, the whole
   last.  False after a message. */
bool report_row(struct report *report, struct result *row);

void report_clear(struct report *report);

/*
 * What the samples say about B beside A: "faster", "slower", or "same" where
 * chance may have made the difference, which it does once in a hundred cases.
 * *RATIO is how many times as fast B is, *P the rank test's.  NULL, after a
 * message, without memory.
 */
const char *report_verdict(const struct result *a, const struct result *b,
                           double *ratio, double *p);

/*
 * A line of two results of one case, false after a message, and the heading
 * above such lines.
 */
void report_pair_heading(const char *a, const char *b);
bool report_pair(const struct result *a, const struct result *b);

#endif
