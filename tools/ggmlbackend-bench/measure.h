/* SPDX-License-Identifier: MIT */
/*
 * bench/measure.h - time one case.
 */
#ifndef TOOLS_BENCH_MEASURE_H
#define TOOLS_BENCH_MEASURE_H

#include "tools/ggmlbackend-bench/case.h"
#include "tools/ggmlbackend-bench/result.h"

#include <stdbool.h>

/* A case that is open; zeroed is none. */
struct measured {
    const struct bench_case *c; /* NULL for none */
    const struct card *card;    /* the bench's */
    struct job job;
    bool is_supported;
    unsigned n_inner; /* runs in one sample */
};

/* Open C, run it once to warm up, and find out how long it takes. */
bool measure_open(struct measured *m, const struct bench *bench,
                  const struct bench_case *c);

/*
 * Add samples of the open case to RESULT for SECONDS, N_LEAST at least, and set
 * the rest of it but for the bound.  False after a message.
 */
bool measure_samples(struct measured *m, double seconds, size_t n_least,
                     struct result *result);

void measure_close(struct measured *m);

#endif
