/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/shape.h - what is asked about nodes, and how tensors become push
 * constants.
 */
#ifndef GB_VULKAN_OPS_SHAPE_H
#define GB_VULKAN_OPS_SHAPE_H

#include "backends/vulkan/shaders/params.h"

#include "lib/node/shape.h"

/* The number by which shaders know a floating-point type. */
static inline uint32_t
gb_vk_float_of(enum ggml_type type)
{
    if (type == GGML_TYPE_F32)
        return GB_VK_F32;
    return type == GGML_TYPE_F16 ? GB_VK_F16 : GB_VK_BF16;
}

/* Do the rows of T begin at multiples of SIZE bytes, a power of two? */
static inline bool
gb_vk_has_rows_at(const struct ggml_tensor *t, size_t size)
{
    size_t bytes = (size_t)(uintptr_t)t->data | t->view_offs;

    for (int i = 1; i < GGML_MAX_DIMS; i++)
        bytes |= t->ne[i] > 1 ? t->nb[i] : 0;
    return bytes % size == 0;
}

/* The four counts, or strides, of a tensor that fits into a binding. */
#define GB_VK_NE(t)                                      \
    { (uint32_t)(t)->ne[0], (uint32_t)(t)->ne[1],        \
      (uint32_t)(t)->ne[2], (uint32_t)(t)->ne[3] }
#define GB_VK_NB(t)                                      \
    { (uint32_t)(t)->nb[0], (uint32_t)(t)->nb[1],        \
      (uint32_t)(t)->nb[2], (uint32_t)(t)->nb[3] }

/* Strides of T, which is repeated along dimensions in which it has one element:
 * 0 there. */
#define GB_VK_NB_REPEATED(t)                             \
    { (t)->ne[0] == 1 ? 0 : (uint32_t)(t)->nb[0],        \
      (t)->ne[1] == 1 ? 0 : (uint32_t)(t)->nb[1],        \
      (t)->ne[2] == 1 ? 0 : (uint32_t)(t)->nb[2],        \
      (t)->ne[3] == 1 ? 0 : (uint32_t)(t)->nb[3] }

#endif
