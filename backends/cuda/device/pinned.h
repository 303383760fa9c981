/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/pinned.h - which memory of the host the driver has pinned for us:
 * such memory is copied at once, other memory through a pinned ring.
 *
 * Any thread.
 */
#ifndef GB_CUDA_DEVICE_PINNED_H
#define GB_CUDA_DEVICE_PINNED_H

#include <stdbool.h>
#include <stddef.h>

/* False without memory: the range is not known then, which costs time only. */
bool gb_cuda_pinned_add(const void *memory, size_t size);
void gb_cuda_pinned_remove(const void *memory);

/* Does all of it lie in one range that was added? */
bool gb_cuda_is_pinned(const void *memory, size_t size);

#endif
