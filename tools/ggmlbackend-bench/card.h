/* SPDX-License-Identifier: MIT */
/*
 * bench/card.h - a device whose backend measures its limits, and tells how it is
 * while cases run.
 */
#ifndef TOOLS_BENCH_CARD_H
#define TOOLS_BENCH_CARD_H

#include "tools/ggmlbackend-bench/result.h"

#include "ggml-backend.h"
#include "ggmlbackend.h"

#include <stdbool.h>

/* Zeroed is a device that does neither. */
struct card {
    ggml_backend_dev_t dev;
    bool has_limits;
    struct ggmlbackend_dev_limits limits;
    ggmlbackend_dev_get_state_t get_state; /* NULL without */
};

/* Is DEV no CPU, so that what it does is not bounded by what a CPU can? */
bool card_is(ggml_backend_dev_t dev);

/* Can somebody tell how DEV is while it works? */
void card_watch(struct card *card, ggml_backend_dev_t dev);

/*
 * Measure the limits of DEV by samples of SECONDS, if it has a function for
 * that.  False after a message.
 */
bool card_measure(struct card *card, ggml_backend_dev_t dev, double seconds);

/* The limits, as results called "limit/…".  False after a message. */
bool card_limits(const struct card *card, take_result_fn take, void *arg);

/* Set the bound of RESULT by the limits. */
void card_bound(const struct card *card, struct result *result);

/* Note in RESULT how the card is just now: the lowest clock is kept, and each
 * reason for it. */
void card_note(const struct card *card, struct result *result);

#endif
