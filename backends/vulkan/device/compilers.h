/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/compilers.h - threads that make the pipelines of a graph while
 * it is recorded.
 */
#ifndef GB_VULKAN_DEVICE_COMPILERS_H
#define GB_VULKAN_DEVICE_COMPILERS_H

#include "backends/vulkan/device/context.h"
#include "backends/vulkan/ops/collect.h"

enum { GB_VK_MOST_COMPILERS = 7 };

struct gb_vk_compilers {
    struct gb_vk_context *context;
    uint16_t list[GB_VK_PIPELINE_COUNT]; /* what is to be made, in order */
    int n;
    atomic_int next; /* of the list; beyond it when nothing is to be begun */
    pthread_t threads[GB_VK_MOST_COMPILERS];
    int n_threads;
};

/*
 * Start threads, as many as there are CPUs for this process beside the caller's, for
 * those of WANTED that are not made.  None for one pipeline, or where none can be
 * started: who wants a pipeline makes it then.  COMPILERS stays where it is
 * until gb_vk_compilers_end.
 */
void gb_vk_compilers_begin(
    struct gb_vk_compilers *compilers, struct gb_vk_context *context,
    const struct gb_vk_collection *wanted);

/* Wait until what was begun is made; the rest is left.  Nothing for those that
 * are all zero. */
void gb_vk_compilers_end(struct gb_vk_compilers *compilers);

#endif
