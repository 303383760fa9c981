/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/tiny-model.h - a model of random weights, run by the code that
 * ggmlbackend-run has.
 */
#ifndef GB_TESTS_CUDA_TINY_MODEL_H
#define GB_TESTS_CUDA_TINY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Make the model's file, and remove it: a group's setup and teardown. */
int tiny_model_make(void **state);
int tiny_model_remove(void **state);

/* Where it is. */
const char *tiny_model_path(void);

enum { TINY_PROMPT = 3, TINY_TOKENS = 4, TINY_BATCH = 8, TINY_BATCHES = 6 };

struct tiny_answer {
    int32_t tokens[TINY_TOKENS];
    uint64_t logits[TINY_TOKENS]; /* a hash of all bits before each */
};

struct tiny_run {
    const char *devices; /* one, or two that have equal parts */
    int n_tokens;        /* of the answer */
    int n_batches;       /* of the prompt, TINY_BATCH tokens each, at most
                            TINY_BATCHES; 0: TINY_PROMPT tokens at once */
};

/* Load the model, let it answer, and close everything.  False after a message
 * on stderr. */
bool tiny_model_run(const struct tiny_run *run, struct tiny_answer *out);

uint64_t tiny_hash(const void *bytes, size_t size);

/* The token with the largest of N logits, the first of several. */
int32_t tiny_best_of(const float *logits, int64_t n);

#endif
