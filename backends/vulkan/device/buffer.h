/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/buffer.h - buffers as the interface knows them.
 *
 * A card's memory has no address in the host, but tensors are told apart by
 * theirs, by lib/fuse and by clients: so a buffer reserves as many bytes of the
 * process's addresses, which nobody can read or write.  A buffer over memory of
 * the client's has that memory's.
 */
#ifndef GB_VULKAN_DEVICE_BUFFER_H
#define GB_VULKAN_DEVICE_BUFFER_H

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/memory.h"

struct gb_vk_buffer {
    struct gb_vk_hold hold;
    /* One, but over more of the client's memory than an allocation may have:
     * then each begins STEP bytes behind the one before, and shows as much more
     * as the largest tensor has.  They show the same bytes, or have copies of
     * them, which graphs may only read. */
    struct gb_vk_memory *windows;
    struct gb_vk_memory memory; /* where there is one */
    int n_windows;
    size_t step;
    size_t before; /* bytes of the first that are not the buffer's */
    char *base;    /* reserved addresses, or the client's memory */
    size_t size;
    bool is_clients, is_copied;
};

/* Does OWN have bytes more than once?  All copies have to be written. */
static inline bool
gb_vk_has_copies(const struct gb_vk_buffer *own)
{
    return own->is_copied && own->n_windows > 1;
}

void gb_vk_buffer_type_init(struct gb_vk_device *device);

/* Does DEVICE make buffers over the client's memory?  Those that have memory of
 * their own would read it by a slow link each time. */
bool gb_vk_uses_clients_memory(const struct gb_vk_device *device);

/* A member of devices. */
ggml_backend_buffer_t gb_vk_buffer_from_host(
    ggml_backend_dev_t dev, void *ptr, size_t size, size_t max_tensor_size);

bool gb_vk_is_buffer_type(ggml_backend_buffer_type_t buft);

/* The buffer that TENSOR's data lies in; NULL for one of another backend, and for
 * a tensor without memory. */
const struct gb_vk_buffer *gb_vk_buffer_of(const struct ggml_tensor *tensor);

/*
 * The memory that SIZE bytes from *OFFSET on of OWN lie in; *OFFSET becomes where
 * in it.  NULL: it has no such bytes.
 */
const struct gb_vk_memory *gb_vk_find_memory(
    const struct gb_vk_buffer *own, size_t *offset, size_t size);

#endif
