/* SPDX-License-Identifier: MIT */
/*
 * run/report.h - results as lines for people and as JSON.
 */
#ifndef TOOLS_RUN_REPORT_H
#define TOOLS_RUN_REPORT_H

#include "tools/ggmlbackend-run/generate.h"
#include "tools/ggmlbackend-run/options.h"
#include "tools/ggmlbackend-run/perplexity.h"

#include <stdbool.h>

/* Timings to stderr, and with --json the object to stdout.  False after a
   message. */
bool report_answer(const struct options *options, const struct engine *engine,
                   const struct ids *prompt, const struct answer *answer);
bool report_perplexity(const struct options *options,
                       const struct engine *engine,
                       const struct perplexity *perplexity);

#endif
