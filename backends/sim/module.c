/* SPDX-License-Identifier: MIT */
/*
 * sim/module.c - the simulated device as a module that can be loaded.
 */
#define GGML_BACKEND_DL
#include "backends/sim/sim.h"

/* It is there for those who ask for it, on any machine. */
static int
score(void)
{
    return 1;
}

GGML_BACKEND_DL_IMPL(ggml_backend_sim_reg)
GGML_BACKEND_DL_SCORE_IMPL(score)
