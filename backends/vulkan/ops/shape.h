/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/shape.h - what supports functions ask about types, shapes and
 * strides, and how tensors become push constants.
 */
#ifndef GB_VULKAN_OPS_SHAPE_H
#define GB_VULKAN_OPS_SHAPE_H

#include "backends/vulkan/shaders/params.h"

#include "ggml.h"

#include <stdint.h>
#include <string.h>

/* Parameters are 32-bit words: integers as they are, floats as their bits. */
static inline int32_t
gb_vk_param_i32(const struct ggml_tensor *node, int word)
{
    return node->op_params[word];
}

static inline float
gb_vk_param_f32(const struct ggml_tensor *node, int word)
{
    float value;

    memcpy(&value, &node->op_params[word], sizeof(value));
    return value;
}

/* Are the first N sources of NODE there? */
static inline bool
gb_vk_has_sources(const struct ggml_tensor *node, int n)
{
    for (int i = 0; i < n; i++)
        if (node->src[i] == NULL)
            return false;
    return true;
}

static inline bool
gb_vk_is_float(enum ggml_type type)
{
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 ||
           type == GGML_TYPE_BF16;
}

/* The number by which shaders know a floating-point type. */
static inline uint32_t
gb_vk_float_of(enum ggml_type type)
{
    if (type == GGML_TYPE_F32)
        return GB_VK_F32;
    return type == GGML_TYPE_F16 ? GB_VK_F16 : GB_VK_BF16;
}

/* F32, one element behind the other? */
static inline bool
gb_vk_is_flat(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && ggml_is_contiguous(t);
}

/* Are the elements of a row of T, which has a type without blocks, next to each
 * other?  The stride of a single element means nothing. */
static inline bool
gb_vk_is_dense(const struct ggml_tensor *t)
{
    return t->nb[0] == ggml_type_size(t->type) || t->ne[0] == 1;
}

/* F32 with dense rows. */
static inline bool
gb_vk_has_f32_rows(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && gb_vk_is_dense(t);
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
