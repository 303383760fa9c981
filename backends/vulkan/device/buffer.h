/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/buffer.h - buffers as the interface knows them.
 *
 * A card's memory has no address in the host, but tensors are told apart by
 * theirs, by lib/fuse and by clients: so a buffer reserves as many bytes of the
 * process's addresses, which nobody can read or write.
 */
#ifndef GB_VULKAN_DEVICE_BUFFER_H
#define GB_VULKAN_DEVICE_BUFFER_H

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/memory.h"

struct gb_vk_buffer {
    struct gb_vk_hold hold;
    struct gb_vk_memory memory;
    char *base; /* reserved addresses */
    size_t size;
};

void gb_vk_buffer_type_init(struct gb_vk_device *device);

bool gb_vk_is_buffer_type(ggml_backend_buffer_type_t buft);

/* The buffer that TENSOR's data lies in; NULL for one of another backend, and for
 * a tensor without memory. */
const struct gb_vk_buffer *gb_vk_buffer_of(const struct ggml_tensor *tensor);

#endif
