/* SPDX-License-Identifier: MIT */
/*
 * run/converse.h - a conversation on a terminal.
 */
#ifndef TOOLS_RUN_CONVERSE_H
#define TOOLS_RUN_CONVERSE_H

#include "tools/ggmlbackend-run/chat.h"
#include "tools/ggmlbackend-run/sample.h"
#include "tools/model/engine.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Read messages, a line each, and answer them with at most N_PREDICT tokens (-1:
 * no limit), until the input ends.  All that was said is the context of what is
 * said next; when it is too long, the oldest messages and answers are forgotten.
 * An interrupt ends an answer.  False after a message.
 */
bool converse(const struct chat *chat, struct engine *engine,
              struct sampler *sampler, int64_t n_predict);

#endif
