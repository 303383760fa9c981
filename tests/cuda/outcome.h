/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/outcome.h - what a user sees of a tiny model's run: the answer, or
 * one line with the reason.  For children that run cases of CUDA and Vulkan.
 */
#ifndef GB_TESTS_CUDA_OUTCOME_H
#define GB_TESTS_CUDA_OUTCOME_H

#include "tests/cuda/tiny-model.h"

#include <stdbool.h>
#include <stdint.h>

struct outcome {
    bool is_done;
    struct tiny_answer answer;
    char said[8192]; /* on stderr */
};

/* What is going on, for messages: the N-th call of NAME fails, for example. */
extern struct outcome_case {
    const char *name;
    uint64_t n;
    int n_wrong;              /* of outcomes so far */
    struct tiny_answer right; /* of all runs that come to one */
} outcome_case;

/* Ends the process after a message where the run takes more than a minute. */
void outcome_of(const struct tiny_run *run, struct outcome *out);

/* Say WHAT is wrong, with what was SAID, and count it. */
void outcome_is_wrong(const char *what, const char *said);

/* Are the first N_TOKENS the right ones, with all bits of their logits? */
bool outcome_is_right(const struct outcome *out, int n_tokens);

/* The answer of TINY_TOKENS is right, or one line has REASON. */
void outcome_check(const struct outcome *out, const char *reason);

#endif
