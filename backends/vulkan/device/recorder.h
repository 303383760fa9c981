/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/recorder.h - dispatches into command buffers, with the barriers
 * that they need, submitted as they become many.
 *
 * A dispatch waits for those before it that wrote what it reads or writes, or
 * read what it writes: told by the ranges of buffers that bindings show.  One
 * barrier serves all that came before it, so few are needed.
 */
#ifndef GB_VULKAN_DEVICE_RECORDER_H
#define GB_VULKAN_DEVICE_RECORDER_H

#include "backends/vulkan/device/memory.h"

enum {
    GB_VK_CHUNK = 128,  /* dispatches of a command buffer at most */
    GB_VK_CHUNKS = 4,   /* command buffers that take turns */
    GB_VK_SPANS = 256,  /* ranges that are remembered between two barriers */
};

/* A binding: a range of a buffer, in whole words, and what is done to it. */
struct gb_vk_range {
    VkBuffer buffer;
    VkDeviceSize begin, end;
    bool is_written;
};

struct gb_vk_chunk {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkDescriptorPool sets; /* without push descriptors */
    uint64_t number;       /* of its last submission */
};

struct gb_vk_recorder {
    struct gb_vk_context *context;
    struct gb_vk_chunk chunks[GB_VK_CHUNKS];
    int next;              /* chunk that is recorded, or will be */
    bool is_recording;
    int n_dispatches;      /* of the chunk */
    uint64_t work;         /* of the chunk: bytes that its bindings show */
    VkPipeline bound;
    struct gb_vk_range spans[GB_VK_SPANS]; /* since the last barrier */
    int n_spans;
    uint64_t number;       /* of the last submission; 0: none */
};

/* What a dispatch is. */
struct gb_vk_dispatch {
    enum gb_vk_pipeline pipeline;
    int64_t n_groups;
    const struct gb_vk_range *ranges; /* as many as the pipeline has bindings */
    int n_ranges;
    const void *params;
    size_t params_size;
};

enum ggml_status gb_vk_recorder_init(
    struct gb_vk_recorder *recorder, struct gb_vk_context *context);

/* Record a dispatch; what came before may be submitted. */
enum ggml_status gb_vk_record(
    struct gb_vk_recorder *recorder, const struct gb_vk_dispatch *dispatch);

/* Submit what is recorded. */
enum ggml_status gb_vk_flush(struct gb_vk_recorder *recorder);

/* What is recorded is forgotten. */
void gb_vk_recorder_drop(struct gb_vk_recorder *recorder);

/* Nothing of it runs any more. */
void gb_vk_recorder_clear(struct gb_vk_recorder *recorder);

#endif
