/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/emit.h - what an operation's row calls to put dispatches into a
 * command buffer.
 *
 * Dispatches run as if each came after those before it were done: barriers are
 * found by what their bindings read and write.
 */
#ifndef GB_VULKAN_OPS_EMIT_H
#define GB_VULKAN_OPS_EMIT_H

#include "backends/vulkan/ops/limits.h"

#include "ggml.h"

/* One name a row of pipelines.def: GB_VK_unary … */
enum gb_vk_pipeline {
#define GB_VK_PIPELINE(name, shader, n_bindings, params, ...) GB_VK_##name,
#include "backends/vulkan/shaders/pipelines.def"
#undef GB_VK_PIPELINE
    GB_VK_PIPELINE_COUNT
};

_Static_assert(GB_VK_PIPELINE_COUNT <= 32 * GB_VK_PIPELINE_WORDS,
               "there is a bit for each pipeline");

enum { GB_VK_MAX_BINDINGS = 8, GB_VK_MAX_PARAMS = 128 };

/* What a binding of a dispatch shows. */
struct gb_vk_bind {
    const struct ggml_tensor *tensor; /* NULL: of scratch; or a table */
    int table;     /* of gb_vk_tables where it is not 0, and nothing else */
    size_t offset; /* bytes behind the tensor's first, or of scratch */
    size_t size;   /* bytes; 0: all of the tensor */
    bool is_written; /* or else read alone */
};

struct gb_vk_emit {
    const struct gb_vk_limits *limits;
    /* Multiplications and sums of the next dispatch, where they are more than a
     * few for each byte that it shows: how long it takes is estimated by it. */
    uint64_t operations;
    /* See gb_vk_dispatch. */
    void (*add)(struct gb_vk_emit *emit, enum gb_vk_pipeline pipeline,
                int64_t n_groups, const struct gb_vk_bind *binds, int n_binds,
                void *params, size_t size);
};

/* Has the device what PIPELINE needs, and does its driver not fail to make it?
 * Asked where there is another to fall back on. */
bool gb_vk_can_use(
    const struct gb_vk_limits *limits, enum gb_vk_pipeline pipeline);

/* GB_VK_HAS_…: what PIPELINE needs of a device. */
uint32_t gb_vk_needs_of(enum gb_vk_pipeline pipeline);

/* All of TENSOR, read; written. */
static inline struct gb_vk_bind
gb_vk_read(const struct ggml_tensor *tensor)
{
    return (struct gb_vk_bind){ .tensor = tensor };
}

static inline struct gb_vk_bind
gb_vk_write(const struct ggml_tensor *tensor)
{
    return (struct gb_vk_bind){ .tensor = tensor, .is_written = true };
}

/* TENSOR read; if it is empty, and so has nothing to show, OTHER in its place. */
static inline struct gb_vk_bind
gb_vk_read_or(const struct ggml_tensor *tensor, const struct ggml_tensor *other)
{
    return gb_vk_read(ggml_is_empty(tensor) ? other : tensor);
}

/* SIZE bytes of scratch from OFFSET on, a multiple of 256. */
static inline struct gb_vk_bind
gb_vk_scratch(size_t offset, size_t size, bool is_written)
{
    return (struct gb_vk_bind){
        .offset = offset, .size = size, .is_written = is_written
    };
}

/*
 * Dispatch PIPELINE with N_GROUPS work groups (none for 0), which the shader
 * numbers by gb_group(), and the push constants PARAMS, a struct of the row's
 * whose member at is filled here.  BINDS are in the order of the shader's
 * bindings, as many as its row says.  A failure is kept, and the graph fails.
 */
#define GB_VK_DISPATCH(emit, pipeline, n_groups, params, ...)             \
    (emit)->add(emit, GB_VK_##pipeline, n_groups,                         \
                (const struct gb_vk_bind[]){ __VA_ARGS__ },               \
                (int)(sizeof((const struct gb_vk_bind[]){ __VA_ARGS__ }) / \
                      sizeof(struct gb_vk_bind)),                         \
                params, sizeof(*(params)))

/* The same, where PIPELINE is a value. */
#define GB_VK_DISPATCH_ONE_OF(emit, pipeline, n_groups, params, ...)      \
    (emit)->add(emit, pipeline, n_groups,                                 \
                (const struct gb_vk_bind[]){ __VA_ARGS__ },               \
                (int)(sizeof((const struct gb_vk_bind[]){ __VA_ARGS__ }) / \
                      sizeof(struct gb_vk_bind)),                         \
                params, sizeof(*(params)))

/* Work groups for N_ITEMS when each takes PER_GROUP. */
static inline int64_t
gb_vk_groups(int64_t n_items, int64_t per_group)
{
    return (n_items + per_group - 1) / per_group;
}

/* Bytes of a part of scratch, so that the next one begins at a multiple of
 * 256. */
static inline size_t
gb_vk_scratch_up(size_t size)
{
    return (size + 255) & ~(size_t)255;
}

#endif
