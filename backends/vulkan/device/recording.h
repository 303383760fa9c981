/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/recording.h - a plan as command buffers, which are submitted
 * again when the graph comes again.
 *
 * What is the same as last time is not recorded anew: dispatches that were
 * others once (those that write to a KV cache, one token further each time) get
 * command buffers of their own, so that only these few are.
 */
#ifndef GB_VULKAN_DEVICE_RECORDING_H
#define GB_VULKAN_DEVICE_RECORDING_H

#include "backends/vulkan/device/recorder.h"

enum {
    GB_VK_CHUNK = 128,        /* dispatches of a command buffer at most */
    GB_VK_FIRST_CHUNK = 16,   /* of a graph's first one */
    GB_VK_MAX_COMMANDS = 256, /* command buffers of a recording */
    GB_VK_BATCH = 64,         /* of a submission */
    GB_VK_RECORDINGS = 8,     /* of a backend */
};

/* All zero: empty. */
struct gb_vk_recording {
    struct gb_vk_plan plan;
    struct gb_vk_chunk *chunks;
    size_t n_chunks, room_chunks;
    /* Chunk I is in command buffer I; where there are more chunks they take
     * turns, and nothing is kept. */
    struct gb_vk_commands *commands;
    size_t n_commands;
    bool is_laid; /* dispatches are in chunks, those that move on in their own */
    bool is_open; /* or with others, since there would be too many chunks */
    uint64_t last_use;
};

/* Asked between submissions; NULL: nobody to ask. */
struct gb_vk_abort {
    ggml_abort_callback callback;
    void *data;
};

/* How submissions are made, but for tests. */
struct gb_vk_pace {
    int first, chunk, batch; /* see above */
    uint64_t most_ns;
    int parts; /* that each dispatch is cut into at least, where it can be */
    bool is_reusing;
};

struct gb_vk_recordings {
    struct gb_vk_recorder recorder;
    struct gb_vk_recording items[GB_VK_RECORDINGS];
    struct gb_vk_memory scratch;
    struct gb_vk_pace pace;
    uint64_t n_uses;
    uint64_t number;  /* of the last submission; 0: none */
    uint64_t reached; /* the timeline has, when it was looked at last */
};

enum ggml_status gb_vk_recordings_init(
    struct gb_vk_recordings *recordings, struct gb_vk_context *context);

/* Submit CGRAPH, which nobody has to wait for.  GGML_STATUS_ABORTED when ABORT
 * says so: what came before is submitted then. */
enum ggml_status gb_vk_graph_run(
    struct gb_vk_recordings *recordings, const struct ggml_cgraph *cgraph,
    const struct gb_vk_abort *abort);

/* Submit the dispatches of RECORDING, which is one of them and has a plan that
 * was written by hand. */
enum ggml_status gb_vk_recording_run(
    struct gb_vk_recordings *recordings, struct gb_vk_recording *recording);

/* Nothing of them runs any more. */
void gb_vk_recordings_clear(struct gb_vk_recordings *recordings);

#endif
