/* SPDX-License-Identifier: MIT */
/*
 * run/generate.h - continuing a prompt token by token.
 */
#ifndef TOOLS_RUN_GENERATE_H
#define TOOLS_RUN_GENERATE_H

#include "tools/ggmlbackend-run/sample.h"
#include "tools/ggmlbackend-run/tokenizer.h"
#include "tools/model/array.h"
#include "tools/model/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct answer {
    struct ids ids;     /* without the token that ended it */
    struct bytes text;
    size_t n_written;   /* of its bytes, where it is streamed */
    const char *stop;   /* "end", "length", "context" or "interrupt" */
    float *logits;      /* after the prompt, n_vocab of them; NULL where that was
                           interrupted */
    size_t n_prompt;    /* tokens of it that were computed */
    double prompt_seconds;
    double seconds;     /* of the answer's tokens that were computed */
    size_t n_computed;
};

/*
 * Compute the PROMPT, which has tokens and fits, but for those that are the
 * engine's positions, and then at most N_PREDICT tokens (-1: no limit), until
 * one that ends an answer, until the context is full or until an interrupt.
 * With IS_STREAMED each token's text goes to stdout at once.  False after a
 * message.
 */
bool generate(struct answer *answer, struct engine *engine,
              struct tokenizer *tokenizer, struct sampler *sampler,
              const struct ids *prompt, int64_t n_predict, bool is_streamed);

void answer_clear(struct answer *answer);

#endif
