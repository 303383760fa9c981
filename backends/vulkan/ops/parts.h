/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/parts.h - nodes whose operands are larger than a binding, computed
 * in parts: views of the node and of its sources, one dispatch after another.
 *
 * Offsets of a part's operands have 64 bits, and are in the bindings; shaders see
 * small tensors.
 */
#ifndef GB_VULKAN_OPS_PARTS_H
#define GB_VULKAN_OPS_PARTS_H

#include "backends/vulkan/ops/limits.h"

#include "ggml.h"

enum { GB_VK_PART_SOURCES = 4 };

/*
 * How a node is cut.  Source I is cut with dimension D of the node along its own
 * dimension sources[I][D] - 1; 0: all of it is needed, as it is of the sources
 * behind.  Where it has fewer elements than the node it is repeated; where it has
 * more, the first are meant.
 */
struct gb_vk_parts {
    bool dims[GGML_MAX_DIMS]; /* of the node, along which it may be cut */
    uint8_t sources[GB_VK_PART_SOURCES][GGML_MAX_DIMS];
    /* May NODE be cut along DIM?  NULL: wherever dims says so. */
    bool (*may)(const struct ggml_tensor *node, int dim);
};

/* A source that goes with the node in each dimension; one that does in none. */
#define GB_VK_ALIKE { 1, 2, 3, 4 }
#define GB_VK_WHOLE { 0 }
#define GB_VK_ALL_ALIKE { GB_VK_ALIKE, GB_VK_ALIKE, GB_VK_ALIKE, GB_VK_ALIKE }

/* Operations element by element, and row by row. */
extern const struct gb_vk_parts gb_vk_parts_of_elements;
extern const struct gb_vk_parts gb_vk_parts_of_rows;

/* What a binding shows of an operand, which begins up to 255 bytes behind it. */
static inline size_t
gb_vk_room(const struct gb_vk_limits *limits)
{
    return limits->range - 256;
}

/* Are the operands of NODE, itself and its first two sources, more than bindings
 * show? */
bool gb_vk_is_cut(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node);

/* How many rows of T, dense ones, a binding shows; at most all of a matrix. */
int64_t gb_vk_rows_shown(
    const struct gb_vk_limits *limits, const struct ggml_tensor *t);

/* Has the first source as many elements along DIM as NODE?  For may. */
bool gb_vk_is_as_long(const struct ggml_tensor *node, int dim);

/* A part of a node, as a node. */
struct gb_vk_part {
    struct ggml_tensor node;
    struct ggml_tensor sources[GB_VK_PART_SOURCES];
};

/* Elements of a part along each dimension. */
struct gb_vk_part_size {
    int64_t ne[GGML_MAX_DIMS];
};

/* Elements from FIRST on, SIZE of them or as many as are left along each
 * dimension. */
void gb_vk_make_part(
    const struct gb_vk_parts *parts, const struct ggml_tensor *node,
    const int64_t first[GGML_MAX_DIMS], const struct gb_vk_part_size *size,
    struct gb_vk_part *part);

/*
 * The size of parts that IS_GOOD says yes to; false: there is none, or there
 * would be a great many.
 */
bool gb_vk_choose_parts(
    const struct gb_vk_parts *parts, const struct gb_vk_limits *limits,
    const struct ggml_tensor *node,
    bool (*is_good)(const struct gb_vk_limits *limits,
                    const struct ggml_tensor *part),
    struct gb_vk_part_size *size);

#endif
