/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-sort.h - the order of rows: dst, src or from, to.
 */
#ifndef GB_VULKAN_SHADERS_PARAMS_SORT_H
#define GB_VULKAN_SHADERS_PARAMS_SORT_H

#include "params.h"

/* Rows from FIRST_ROW on.  Keys of a row are N numbers of 64 bits at the row's
 * place in from and to. */
GB_PARAMS(gb_vk_sort_params, 3)
    uint32_t ne[3];     /* of dimensions 1 to 3 */
    uint32_t dst_nb[3]; /* the same; rows are dense */
    uint32_t src_nb[4];
    uint32_t n;         /* elements of a row */
    uint32_t n_runs;    /* of a row, each of RUN elements but the last */
    uint32_t run;
    uint32_t n_rows;
    uint32_t first_row;
    uint32_t src_type;  /* GB_VK_F32 … */
    uint32_t is_descending;
    uint32_t is_last;   /* indices go to dst, or else keys to TO */
GB_PARAMS_END

/* The most keys that one work group sorts, 16 KiB of shared memory, and where
 * few are enough. */
#define GB_VK_SORT_RUN 2048
#define GB_VK_SORT_SHORT_RUN 256

#endif
