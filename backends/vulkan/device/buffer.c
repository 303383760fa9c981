/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/buffer.c - memory of a card as a buffer.
 */
#include "backends/vulkan/device/buffer.h"

#include "backends/vulkan/device/transfer.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    ALIGNMENT = 256, /* no device wants more of what a binding shows */
    ROOM = 256,      /* bytes behind a buffer's last: a binding shows words */
};

/* Whose memory it is: of a view, that of what it shows. */
static ggml_backend_buffer_t
home_of(const struct ggml_tensor *tensor)
{
    return tensor->view_src != NULL && tensor->view_src->buffer != NULL
               ? tensor->view_src->buffer : tensor->buffer;
}

static size_t
offset_of(const struct gb_vk_buffer *own, const struct ggml_tensor *tensor)
{
    return (size_t)((char *)tensor->data - own->base);
}

/* ---- members of buffers ---- */

static void
buffer_free(ggml_backend_buffer_t buffer)
{
    struct gb_vk_buffer *own = buffer->context;
    struct gb_vk_context *context = own->hold.context;

    /* What was asked for and not waited for may use it. */
    gb_vk_drain(context);
    gb_vk_memory_free(context, &own->memory);
    munmap(own->base, own->size);
    gb_vk_release(&own->hold);
    free(own);
}

static void *
buffer_get_base(ggml_backend_buffer_t buffer)
{
    const struct gb_vk_buffer *own = buffer->context;

    return own->base;
}

static void
buffer_memset_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
    size_t offset, size_t size)
{
    struct gb_vk_buffer *own = buffer->context;

    if (gb_vk_is_usable(own->hold.context))
        gb_vk_fill(own->hold.context, &own->memory,
                   offset_of(own, tensor) + offset, value, size);
}

static void
buffer_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    struct gb_vk_buffer *own = buffer->context;

    if (gb_vk_is_usable(own->hold.context))
        gb_vk_copy_in(own->hold.context, &own->memory,
                       offset_of(own, tensor) + offset, data, size);
}

static void
buffer_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    struct gb_vk_buffer *own = buffer->context;

    if (gb_vk_is_usable(own->hold.context))
        gb_vk_copy_out(own->hold.context, &own->memory,
                       offset_of(own, tensor) + offset, data, size);
}

/* The core copies through the host what this does not. */
static bool
buffer_cpy_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *src,
    struct ggml_tensor *dst)
{
    struct gb_vk_buffer *own = buffer->context;
    const struct gb_vk_buffer *from = gb_vk_buffer_of(src);

    if (from == NULL || from->hold.context != own->hold.context ||
        !gb_vk_is_usable(own->hold.context))
        return false;
    return gb_vk_copy_within(own->hold.context, &own->memory,
                             offset_of(own, dst), &from->memory,
                             offset_of(from, src), ggml_nbytes(src)) ==
           GGML_STATUS_SUCCESS;
}

static void
buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    struct gb_vk_buffer *own = buffer->context;

    if (gb_vk_is_usable(own->hold.context))
        gb_vk_fill(own->hold.context, &own->memory, 0, value, own->size);
}

static const struct ggml_backend_buffer_i buffer_members = {
    .free_buffer = buffer_free,
    .get_base = buffer_get_base,
    .memset_tensor = buffer_memset_tensor,
    .set_tensor = buffer_set_tensor,
    .get_tensor = buffer_get_tensor,
    .cpy_tensor = buffer_cpy_tensor,
    .clear = buffer_clear,
};

const struct gb_vk_buffer *
gb_vk_buffer_of(const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = home_of(tensor);

    if (home == NULL || home->iface.free_buffer != buffer_free ||
        tensor->data == NULL)
        return NULL;
    return home->context;
}

/* ---- members of the type ---- */

static const char *
buft_get_name(ggml_backend_buffer_type_t buft)
{
    const struct gb_vk_device *device = buft->context;

    return device->name;
}

static size_t
buft_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return ALIGNMENT;
}

static size_t
buft_get_max_size(ggml_backend_buffer_type_t buft)
{
    const struct gb_vk_device *device = buft->context;

    return device->card.most_allocation - ROOM;
}

/* The memory of OWN, which holds the card; on failure it is as before. */
static enum ggml_status
make_memory(struct gb_vk_buffer *own, const struct gb_vk_device *device)
{
    enum ggml_status status;

    if (own->size > SIZE_MAX / 2)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for %zu bytes", device->name,
                                own->size);
    own->base = mmap(NULL, own->size, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (own->base == MAP_FAILED)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no addresses for %zu bytes", device->name,
                                own->size);
    status = gb_vk_memory_new(own->hold.context, GB_VK_MEMORY_DEVICE,
                              ((own->size + 3) & ~(size_t)3) + ROOM,
                              &own->memory);
    if (status != GGML_STATUS_SUCCESS)
        munmap(own->base, own->size);
    return status;
}

static ggml_backend_buffer_t
buft_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    struct gb_vk_device *device = buft->context;
    struct gb_vk_buffer *own = calloc(1, sizeof(*own));
    ggml_backend_buffer_t buffer;

    if (own == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                         "%s: no memory for a buffer", device->name);
        return NULL;
    }
    own->size = size > 0 ? size : 1;
    if (gb_vk_hold(&device->card, &own->hold) != GGML_STATUS_SUCCESS)
        goto free_own;
    if (make_memory(own, device) != GGML_STATUS_SUCCESS)
        goto release;
    buffer = ggml_backend_buffer_init(buft, buffer_members, own, size);
    if (buffer != NULL)
        return buffer;
    gb_vk_memory_free(own->hold.context, &own->memory);
    munmap(own->base, own->size);
release:
    gb_vk_release(&own->hold);
free_own:
    free(own);
    return NULL;
}

bool
gb_vk_is_buffer_type(ggml_backend_buffer_type_t buft)
{
    return buft->iface.alloc_buffer == buft_alloc_buffer;
}

void
gb_vk_buffer_type_init(struct gb_vk_device *device)
{
    device->buft.iface = (struct ggml_backend_buffer_type_i){
        .get_name = buft_get_name,
        .alloc_buffer = buft_alloc_buffer,
        .get_alignment = buft_get_alignment,
        .get_max_size = buft_get_max_size,
    };
    device->buft.device = &device->handle;
    device->buft.context = device;
}
