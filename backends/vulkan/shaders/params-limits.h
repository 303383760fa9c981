/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shaders/params-limits.h - what a device does as fast as it can: to,
 * from.
 */
#include "params.h"

GB_PARAMS(gb_vk_limits_params, 2)
    uint32_t n;       /* vectors of 16 bytes of either operand */
    uint32_t threads; /* invocations in all */
    uint32_t rounds;  /* how often all is done */
GB_PARAMS_END

/* What WORK of limits.comp is. */
#define GB_VK_LIMIT_NOTHING 0
#define GB_VK_LIMIT_FILL    1
#define GB_VK_LIMIT_READ    2
#define GB_VK_LIMIT_COPY    3
#define GB_VK_LIMIT_F32     4

/* Invocations of a work group, and multiplications and additions of one in a
 * round. */
#define GB_VK_LIMIT_THREADS 256
#define GB_VK_LIMIT_OPS     (2 * 4 * 8 * 16)
