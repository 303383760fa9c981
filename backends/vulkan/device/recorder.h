/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/recorder.h - dispatches into a command buffer, with the barriers
 * that they need.
 *
 * A dispatch waits for those before it that wrote what it reads or writes, or
 * read what it writes: told by the ranges of buffers that bindings show.  One
 * barrier serves all that came before it, so few are needed.
 */
#ifndef GB_VULKAN_DEVICE_RECORDER_H
#define GB_VULKAN_DEVICE_RECORDER_H

#include "backends/vulkan/device/plan.h"

enum { GB_VK_ACCESSES = 256 }; /* ranges remembered between two barriers */

/* A command buffer, which is recorded again and again. */
struct gb_vk_commands {
    VkCommandBuffer handle;
    VkDescriptorPool sets; /* without push descriptors */
    int room;              /* dispatches that the sets are for */
    uint64_t number;       /* of its last submission; 0: none */
    int n_barriers;
    bool is_recorded;      /* with what it is to do now */
};

/* What a command buffer does: dispatches that follow each other in a plan, or
 * part PART of N_PARTS of one. */
struct gb_vk_chunk {
    size_t first;
    int n;
    int part, n_parts; /* 1: nothing is cut */
    uint64_t ns;       /* estimated */
};

/* What a dispatch does to memory. */
struct gb_vk_access {
    const struct gb_vk_range *range;
    const struct gb_vk_dispatch *dispatch;
};

struct gb_vk_recorder {
    struct gb_vk_context *context;
    VkCommandPool pool;
    bool is_listing; /* barriers, for people */

    /* Of the command buffer that is recorded. */
    struct gb_vk_commands *commands;
    VkPipeline bound;
    struct gb_vk_access accesses[GB_VK_ACCESSES]; /* since the last barrier */
    int n_accesses;
};

/* All zero before; after a failure it can be cleared. */
enum ggml_status gb_vk_recorder_init(
    struct gb_vk_recorder *recorder, struct gb_vk_context *context);

/* Make COMMANDS, which are all zero or have less room, for N dispatches; nothing
 * of them runs any more. */
enum ggml_status gb_vk_commands_make(
    struct gb_vk_recorder *recorder, struct gb_vk_commands *commands, int n);

/* The pool of sets goes; the rest goes with the recorder. */
void gb_vk_commands_clear(
    struct gb_vk_recorder *recorder, struct gb_vk_commands *commands);

/*
 * Record CHUNK of PLAN into COMMANDS, which have the room, and of which nothing
 * runs.  They begin with a barrier for what was submitted before them: with
 * IS_FIRST for all of it, by whomever, and else for dispatches.
 */
enum ggml_status gb_vk_record(
    struct gb_vk_recorder *recorder, struct gb_vk_commands *commands,
    const struct gb_vk_plan *plan, const struct gb_vk_chunk *chunk,
    bool is_first);

/* Nothing of it runs any more. */
void gb_vk_recorder_clear(struct gb_vk_recorder *recorder);

#endif
