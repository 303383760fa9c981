/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/between.h - asynchronous copies from one stream's card to another's.
 */
#ifndef GB_CUDA_DEVICE_BETWEEN_H
#define GB_CUDA_DEVICE_BETWEEN_H

#include "backends/cuda/device/stage.h"

/*
 * Copy SIZE bytes: after what is in FROM's stream, before later work of either.
 * STAGE is the receiver's, for cards that do not reach each other.  The host does
 * not wait.  False: not possible, and TO's memory is what it was, or lost.
 */
bool gb_cuda_copy_between(
    struct gb_cuda_stage *stage, const struct gb_cuda_stage_end *from,
    const struct gb_cuda_stage_end *to, size_t size);

#endif
