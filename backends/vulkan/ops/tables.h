/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/tables.h - tables that shaders read, by their numbers.
 *
 * The device puts one into a buffer when a binding first shows it.
 */
#ifndef GB_VULKAN_OPS_TABLES_H
#define GB_VULKAN_OPS_TABLES_H

#include "backends/vulkan/ops/emit.h"

#include <stddef.h>
#include <stdint.h>

/* Rows of the IQ formats, a byte a value, the first value lowest. */
enum gb_vk_table {
    GB_VK_TABLE_NONE,
    GB_VK_TABLE_IQ1,
    GB_VK_TABLE_IQ2_XXS,
    GB_VK_TABLE_IQ2_XS,
    GB_VK_TABLE_IQ2_S,
    GB_VK_TABLE_IQ3_XXS,
    GB_VK_TABLE_IQ3_S,
    GB_VK_TABLE_COUNT
};

/* The words of TABLE, which is not GB_VK_TABLE_NONE, and how many. */
const uint32_t *gb_vk_table_data(int table, size_t *n_words);

/* TABLE, read. */
static inline struct gb_vk_bind
gb_vk_read_table(enum gb_vk_table table)
{
    return (struct gb_vk_bind){ .table = table };
}

#endif
