/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/pinned.h - memory of the host that the driver has pinned for us:
 * cards copy it by themselves, other memory goes through a pinned ring.
 *
 * Any thread.
 */
#ifndef GB_CUDA_DEVICE_PINNED_H
#define GB_CUDA_DEVICE_PINNED_H

#include <stdbool.h>
#include <stddef.h>

/* SIZE bytes for all cards; NULL where the driver does not give them. */
void *gb_cuda_pinned_new(size_t size);

/* Of gb_cuda_pinned_new. */
void gb_cuda_pinned_free(void *memory);

/* Pin memory of the client's, if the environment lets it; false: it is not. */
bool gb_cuda_register_host(void *memory, size_t size);

/* Of gb_cuda_register_host; nothing for other memory. */
void gb_cuda_unregister_host(void *memory);

/* Does all of it lie in one range of either kind? */
bool gb_cuda_is_pinned(const void *memory, size_t size);

#endif
