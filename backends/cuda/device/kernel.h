/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/kernel.h - kernels on a card, loaded when they are first needed.
 */
#ifndef GB_CUDA_DEVICE_KERNEL_H
#define GB_CUDA_DEVICE_KERNEL_H

#include "backends/cuda/device/card.h"

enum gb_cuda_found {
    GB_CUDA_FOUND,
    GB_CUDA_LOWERED, /* it is missing, and the card's variant lower now */
    GB_CUDA_MISSING, /* it is missing, and told */
};

/*
 * The kernel's function on CARD, whose context is current; written when it was
 * found.  Any thread.
 */
enum gb_cuda_found gb_cuda_kernel_find(
    struct gb_cuda_card *card, enum gb_cuda_kernel kernel,
    gb_cuda_function *function);

/* Threads of a block. */
unsigned gb_cuda_kernel_threads(enum gb_cuda_kernel kernel);

/* Unload all, before the context goes. */
void gb_cuda_kernels_clear(struct gb_cuda_card *card);

#endif
