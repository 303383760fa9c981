/* SPDX-License-Identifier: MIT */
/*
 * vulkan/module.c - the backend as a module that can be loaded.
 */
#define GGML_BACKEND_DL
#include "backends/vulkan/device/reg.h"

/* There is one file of it, so all that counts is that it is not 0. */
static int
score(void)
{
    return 1;
}

GGML_BACKEND_DL_IMPL(gb_vk_reg)
GGML_BACKEND_DL_SCORE_IMPL(score)
