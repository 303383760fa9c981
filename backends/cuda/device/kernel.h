/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/kernel.h - kernels on a card, loaded when they are first needed.
 */
#ifndef GB_CUDA_DEVICE_KERNEL_H
#define GB_CUDA_DEVICE_KERNEL_H

#include "backends/cuda/device/card.h"

#include "ggml.h"

/*
 * *FUNCTION is the kernel's on CARD, whose context is current; NULL where it
 * does not fit, and the card's variant is lower now.  The failure, told, where
 * there is no lower one, and for all that has another reason.  Any thread.
 */
enum ggml_status gb_cuda_kernel_find(
    struct gb_cuda_card *card, enum gb_cuda_kernel kernel,
    gb_cuda_function *function);

/* Threads of a block. */
unsigned gb_cuda_kernel_threads(enum gb_cuda_kernel kernel);

/* Unload all, before the context goes; or let them go with it. */
void gb_cuda_kernels_clear(struct gb_cuda_card *card);
void gb_cuda_kernels_forget(struct gb_cuda_card *card);

#endif
