/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/change.h - a plan that is used again.
 */
#ifndef GB_CUDA_DEVICE_CHANGE_H
#define GB_CUDA_DEVICE_CHANGE_H

#include "backends/cuda/device/plan.h"

/*
 * Let PLAN, whose scratch lies at MEMORY, compute CGRAPH, if that takes no more
 * than other arguments.  False: it has to be made anew, whatever is in it now.
 */
bool gb_cuda_plan_change(
    struct gb_cuda_plan *plan, const struct gb_cuda_hold *hold,
    gb_cuda_address memory, const struct ggml_cgraph *cgraph);

#endif
