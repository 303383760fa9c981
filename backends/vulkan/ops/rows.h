/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/rows.h - dispatches of shaders that compute row by row.
 *
 * Such a shader has two pipelines: one in which each team of 32 invocations has
 * a row, and one in which each work group has.  Which one runs follows from the
 * length of a row alone, so that a row's result does not depend on how many
 * there are.
 */
#ifndef GB_VULKAN_OPS_ROWS_H
#define GB_VULKAN_OPS_ROWS_H

#include "backends/vulkan/ops/emit.h"

/* The longest row that a team takes: 16 elements of each. */
#define GB_VK_TEAM_ROW 512

/* Rows of a work group of the pipeline whose teams have a row each. */
#define GB_VK_TEAMS 8

struct gb_vk_row_pipelines {
    enum gb_vk_pipeline team;
    enum gb_vk_pipeline group;
};

#define GB_VK_ROW_PIPELINES(name) { GB_VK_##name##_team, GB_VK_##name##_group }

/* The one for rows of N elements. */
static inline enum gb_vk_pipeline
gb_vk_row_pipeline(const struct gb_vk_row_pipelines *pipelines, int64_t n)
{
    return n > GB_VK_TEAM_ROW ? pipelines->group : pipelines->team;
}

/* Its work groups for N_ROWS of them. */
static inline int64_t
gb_vk_row_groups(int64_t n, int64_t n_rows)
{
    return gb_vk_groups(n_rows, n > GB_VK_TEAM_ROW ? 1 : GB_VK_TEAMS);
}

/* Counts, or strides, of dimensions 1 to 3. */
#define GB_VK_ROW_NE(t)                                  \
    { (uint32_t)(t)->ne[1], (uint32_t)(t)->ne[2],        \
      (uint32_t)(t)->ne[3] }
#define GB_VK_ROW_NB(t)                                  \
    { (uint32_t)(t)->nb[1], (uint32_t)(t)->nb[2],        \
      (uint32_t)(t)->nb[3] }

#endif
