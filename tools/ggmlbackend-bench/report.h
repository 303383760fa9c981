/* SPDX-License-Identifier: MIT */
/*
 * bench/report.h - results as they come, as lines for people or as JSON, and
 * kept for a drawing.
 */
#ifndef TOOLS_BENCH_REPORT_H
#define TOOLS_BENCH_REPORT_H

#include "tools/ggmlbackend-bench/result.h"

#include <stdbool.h>
#include <stddef.h>

/* Results of one side; zeroed is none. */
struct result_list {
    struct result *at;
    size_t n;
    size_t room;
};

/* Append, taking what RESULT has; false, after a message, without memory. */
bool result_list_take(struct result_list *list, struct result *result);
void result_list_clear(struct result_list *list);

struct report {
    bool is_json;
    bool has_pairs;                /* two libraries */
    bool has_heading;
    const char *labels[2];         /* of the libraries */
    const char *device;            /* its name */
    struct result_list results[2];
};

/*
 * Write RESULT and keep it; it is empty afterwards.  PARTNER is the same case
 * on the other library, NULL without.  False after a message.
 */
bool report_limit(struct report *report, struct result *result);
bool report_case(struct report *report, struct result *result,
                 struct result *partner);

void report_clear(struct report *report);

/*
 * "faster", "slower" or "same": what the samples of A say about B, and in *P
 * how probable a difference like theirs is where there is none.  Limits of
 * what is taken for a difference: see the manual.
 */
const char *report_verdict(const struct result *a, const struct result *b,
                           double *ratio, double *p);

/* A line of two results of one case, and the heading above such lines. */
void report_pair_heading(const char *a, const char *b);
void report_pair(const struct result *a, const struct result *b);

#endif
