/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/recorder.h - backends of older levels that say yes to all
 * that they are asked, and write down what they get.  It suits all levels.
 */
#ifndef GB_TESTS_LEVELS_RECORDER_H
#define GB_TESTS_LEVELS_RECORDER_H

#include <stdbool.h>

struct ggml_backend;
struct ggml_backend_reg;

struct recorded {
    int n_asked, n_computed; /* nodes, since it was set to 0 */
    int op;                  /* of the last one; today's number */
    const void *node;
    const void *src[3];
    int n_freed_plans;
};

extern struct recorded recorded;

/* The function that a registration of 2023 names; without supports_op if so. */
extern bool recorder_2023_is_silent;
struct ggml_backend *recorder_2023_init(void);

/*
 * The registration of 2024-10, of that level, put into the registry.  Its
 * devices answer that they are CPU, GPU, ACCEL, CPU_FULL and GPU_FULL.
 */
struct ggml_backend_reg *recorder_2024_reg(void);
void recorder_2024_register(void);

#endif
