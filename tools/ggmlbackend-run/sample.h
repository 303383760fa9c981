/* SPDX-License-Identifier: MIT */
/*
 * run/sample.h - choosing the next token.
 */
#ifndef TOOLS_RUN_SAMPLE_H
#define TOOLS_RUN_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct candidate {
    int32_t id;
    float logit;
};

struct sampler {
    double temperature; /* 0: the best token, always */
    size_t top_k;       /* only so many of the best, 0: all */
    double top_p;       /* only the best that have this much together */
    uint64_t state;     /* of the random numbers */
    struct candidate *candidates;
    size_t n_vocab;
};

/* The same numbers for the same SEED everywhere.  False after a message. */
bool sampler_open(struct sampler *sampler, size_t n_vocab, double temperature,
                  size_t top_k, double top_p, uint64_t seed);
void sampler_close(struct sampler *sampler);

/*
 * A token, by n_vocab logits; NaN is taken for -infinity.  False, after a
 * message, when no logit is more than that.
 */
bool sampler_pick(struct sampler *sampler, const float *logits, int32_t *id);

#endif
