/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/layers.h - the tiny model by layers on one device or several,
 * through the scheduler.
 */
#ifndef GB_TESTS_CUDA_LAYERS_H
#define GB_TESTS_CUDA_LAYERS_H

#include "tests/cuda/emulated.h"

#include <stdint.h>

enum { LAYERS_TOKENS = 4, LAYERS_MAX_VOCAB = 512 };

/* How the model is run. */
struct layers_way {
    const char *devices[2];
    int n_devices;    /* each has as many layers as the other */
    int n_computes;   /* of each graph, one after the other */
    bool is_parallel; /* the scheduler works ahead */
    bool is_fresh;    /* backends and scheduler are made anew for each token */
};

struct layers_answer {
    int n_vocab;
    int32_t tokens[LAYERS_TOKENS];
    float logits[LAYERS_TOKENS][LAYERS_MAX_VOCAB]; /* before each token */
    /* In calls of the scheduler that compute what was computed before. */
    uint64_t n_waits, n_allocations;
    uint64_t n_kernels, n_launches; /* in the last such call */
};

/* Ends the case where something fails. */
void layers_run(const struct layers_way *way, struct layers_answer *out);

#endif
