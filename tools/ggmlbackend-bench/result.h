/* SPDX-License-Identifier: MIT */
/*
 * bench/result.h - what was measured of one case, as a line of JSON and back.
 */
#ifndef TOOLS_BENCH_RESULT_H
#define TOOLS_BENCH_RESULT_H

#include "tools/common/json.h"
#include "tools/ggmlbackend-bench/peak.h"
#include "tools/ggmlbackend-bench/stats.h"

#include <stdbool.h>
#include <stddef.h>

#define NAME_SIZE 128

/* What one run has many of, which makes a rate; of the last two the value is better
   when it is smaller (unit_is_time). */
enum unit {
    UNIT_OPS,     /* GOP/s: multiplications and additions */
    UNIT_BYTES,   /* GB/s */
    UNIT_TOKENS,  /* tokens/s */
    UNIT_LATENCY, /* ns each */
    UNIT_TIME,    /* ms each */
    N_UNITS,
};

/* What a run takes from the machine at least. */
struct demand {
    double ops[N_PEAKS]; /* by the instructions that could do them best */
    double bytes;        /* read, or read and written */
    bool is_file;        /* the model's own file is what is read */
};

struct result {
    char name[NAME_SIZE];
    enum unit unit;
    int n_threads;
    bool is_supported;      /* else nothing was measured */
    double work;            /* of one run, in the unit's own count */
    struct demand demand;
    struct samples seconds; /* of one run each */

    /* Set where the machine was measured too: the least that the run would
       take, and what of. */
    double bound_seconds;
    char bound[32];

    /* Of a row of by-op.h: steps in a run; and of the whole the seconds of a run
       without a profile. */
    double calls;
    double without;

    /* Of a card while the samples were taken, where somebody tells; 0 and 
       else: its lowest clock, most power, and why it was slower. */
    double clock, power;
    unsigned n_processes;
    char slowed[40];
};

/* Takes RESULT, or what is in it; false ends it. */
typedef bool (*take_result_fn)(void *arg, struct result *result);

void result_clear(struct result *result);

const char *unit_name(enum unit unit);
bool unit_is_time(enum unit unit);

/* What one run of SECONDS is worth, in the unit. */
double result_value(const struct result *result, double seconds);

/* That of the median; 0 without samples. */
double result_median(const struct result *result);

/* How much of the machine's limit was used, 0 for not known. */
double result_share(const struct result *result);

/* All of it; NULL without memory. */
json_t *result_to_json(const struct result *result);

/*
 * Read what result_to_json wrote; WHERE is for messages.  False after one, and
 * RESULT is cleared.
 */
bool result_from_json(struct result *result, json_t *json, const char *where);

#endif
