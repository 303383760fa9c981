/* SPDX-License-Identifier: MIT */
/*
 * run/perplexity.h - how well a model foresees a text.
 */
#ifndef TOOLS_RUN_PERPLEXITY_H
#define TOOLS_RUN_PERPLEXITY_H

#include "tools/model/engine.h"

#include <stdbool.h>
#include <stddef.h>

struct perplexity {
    size_t n_windows;
    size_t n_tokens; /* computed */
    size_t n_scored;
    double *running; /* after each window; freed by perplexity_clear */
    double seconds;
    bool is_interrupted; /* the windows are those that were done before */
};

/*
 * exp of the mean of -log p over the scored tokens.  The N tokens are cut into
 * windows of the engine's n_ctx, one after another, the rest is left out; in
 * each the tokens from n_ctx / 2 + 1 on are scored, given all before them in
 * the window.  At most MAX_WINDOWS (0: all).  Running values go to stderr.
 * False after a message.
 */
bool perplexity_measure(struct perplexity *perplexity, struct engine *engine,
                        const int32_t *ids, size_t n, size_t max_windows);

void perplexity_clear(struct perplexity *perplexity);

#endif
