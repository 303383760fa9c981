/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/move.h - values moved to other places, bit by bit.
 */
#ifndef GB_VULKAN_OPS_MOVE_H
#define GB_VULKAN_OPS_MOVE_H

#include "backends/vulkan/ops/emit.h"
#include "backends/vulkan/shaders/params-move.h"

#include "ggml.h"

#include <stdbool.h>

/* What a move is to do; what is not told is 0. */
struct gb_vk_move {
    uint32_t kind; /* GB_VK_MOVE_SAME … */
    uint32_t dim, before;
    float factors[4]; /* GB_VK_MOVE_UPSCALE */
};

/* Can T be moved: is it of a type with values and any strides, or of one in
 * blocks with dense rows; aligned? */
bool gb_vk_can_be_moved(const struct ggml_tensor *t);

/*
 * Fill DST, of at least one element, with what MOVE takes of A, and of B, NULL
 * unless it is GB_VK_MOVE_CONCAT.  All are of one type and can be moved; for
 * kinds from GB_VK_MOVE_PAD on it is one without blocks.
 */
void gb_vk_emit_move(struct gb_vk_emit *emit, const struct gb_vk_move *move,
                     const struct ggml_tensor *dst,
                     const struct ggml_tensor *a,
                     const struct ggml_tensor *b);

/* Copy SRC's elements to DST's, both in row-major order; of one type, with the
 * same number of elements, at least one. */
void gb_vk_emit_copy(
    struct gb_vk_emit *emit, const struct ggml_tensor *dst,
    const struct ggml_tensor *src);

#endif
