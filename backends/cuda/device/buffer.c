/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/buffer.c - memory of a card.
 *
 * Addresses are the card's, and mean nothing to the host.
 */
#include "backends/cuda/device/buffer.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/peer.h"
#include "backends/cuda/device/settings.h"
#include "backends/cuda/device/transfer.h"

#include "lib/node/node.h"
#include "lib/node/sound.h"

#include "ggml-impl.h"

#include <stdlib.h>

enum {
    ALIGNMENT = 128,
    ROW_PADDING = 512, /* values: quantised rows are completed to it */
};

/* ---- members of buffers ---- */

static void
buffer_free(ggml_backend_buffer_t buffer)
{
    struct gb_cuda_buffer *own = buffer->context;
    struct gb_cuda_card *card = own->hold.card;

    if (gb_cuda_enter_cleanup(&own->hold)) {
        if (own->host == NULL)
            gb_cuda_memory_free(card, own->address, own->size,
                                own->is_managed);
        else if (!card->reads_pageable)
            GB_CUDA_CLEANUP(card, host_unregister, (own->host));
        gb_cuda_leave(&own->hold);
    }
    gb_cuda_release(&own->hold);
    free(own);
}

static void *
buffer_get_base(ggml_backend_buffer_t buffer)
{
    const struct gb_cuda_buffer *own = buffer->context;

    return (void *)(uintptr_t)own->address;
}

/* Bytes behind a tensor's data that complete its last row. */
static size_t
padding_of(const struct ggml_tensor *tensor)
{
    const int64_t rest = tensor->ne[0] % ROW_PADDING;

    if (!ggml_is_quantized(tensor->type) || rest == 0)
        return 0;
    return ggml_row_size(tensor->type, ROW_PADDING - rest);
}

/*
 * The interface has zeros there; our kernels read no row beyond its end.  In
 * compute buffers results come and go, and memory of the client's, such as a
 * mapped file, has something else behind the tensor.
 */
static enum ggml_status
buffer_init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    struct gb_cuda_buffer *own = buffer->context;
    const size_t padding = padding_of(tensor);
    enum ggml_status status;

    if (tensor->view_src != NULL || padding == 0 || own->host != NULL ||
        buffer->usage == GGML_BACKEND_BUFFER_USAGE_COMPUTE)
        return GGML_STATUS_SUCCESS;
    if (!gb_cuda_enter(&own->hold))
        return GGML_STATUS_FAILED;
    status = gb_cuda_fill(own->hold.card,
                          gb_cuda_address_of(tensor) + ggml_nbytes(tensor), 0,
                          padding);
    gb_cuda_leave(&own->hold);
    return status;
}

/* Are SIZE bytes at OFFSET of TENSOR in the buffer?  The reason why not is
 * logged. */
static bool
is_inside(const struct gb_cuda_buffer *own, const struct ggml_tensor *tensor,
          size_t offset, size_t size)
{
    const gb_cuda_address at =
        gb_cuda_address_of(tensor) + offset - own->address;

    if (at <= own->size && size <= own->size - at)
        return true;
    ggmlbackend_fail(GGML_STATUS_FAILED,
                     "%s: tensor %.*s: %zu bytes at %zu are outside its buffer",
                     own->device->name, GB_NODE_NAME(tensor), size, offset);
    return false;
}

static void
buffer_memset_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
    size_t offset, size_t size)
{
    struct gb_cuda_buffer *own = buffer->context;

    if (!is_inside(own, tensor, offset, size) || !gb_cuda_enter(&own->hold))
        return;
    gb_cuda_fill(own->hold.card, gb_cuda_address_of(tensor) + offset, value,
                 size);
    gb_cuda_leave(&own->hold);
}

static void
buffer_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    struct gb_cuda_buffer *own = buffer->context;

    if (!is_inside(own, tensor, offset, size) || !gb_cuda_enter(&own->hold))
        return;
    gb_cuda_copy_to_card(own->hold.card, gb_cuda_address_of(tensor) + offset,
                         data, size);
    gb_cuda_leave(&own->hold);
}

static void
buffer_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    struct gb_cuda_buffer *own = buffer->context;

    if (!is_inside(own, tensor, offset, size) || !gb_cuda_enter(&own->hold))
        return;
    gb_cuda_copy_to_host(own->hold.card, data,
                         gb_cuda_address_of(tensor) + offset, size);
    gb_cuda_leave(&own->hold);
}

/*
 * Through the host, which the core does, where cards do not reach each other.
 */
static bool
buffer_cpy_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *src,
    struct ggml_tensor *dst)
{
    struct gb_cuda_buffer *own = buffer->context;
    const struct gb_cuda_buffer *from = gb_cuda_buffer_of(src);
    enum ggml_status status;

    if (from == NULL || !gb_cuda_is_held(&from->hold) ||
        !is_inside(from, src, 0, ggml_nbytes(src)) ||
        !is_inside(own, dst, 0, ggml_nbytes(src)))
        return false;
    if (from->hold.card != own->hold.card)
        return gb_cuda_peer_copy(&own->hold, gb_cuda_address_of(dst),
                                 &from->hold, gb_cuda_address_of(src),
                                 ggml_nbytes(src));
    if (!gb_cuda_enter(&own->hold))
        return false;
    status = gb_cuda_copy_on_card(own->hold.card, gb_cuda_address_of(dst),
                                  gb_cuda_address_of(src), ggml_nbytes(src));
    gb_cuda_leave(&own->hold);
    return status == GGML_STATUS_SUCCESS;
}

static void
buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    struct gb_cuda_buffer *own = buffer->context;

    if (!gb_cuda_enter(&own->hold))
        return;
    gb_cuda_fill(own->hold.card, own->address, value, own->size);
    gb_cuda_leave(&own->hold);
}

static const struct ggml_backend_buffer_i buffer_members = {
    .free_buffer = buffer_free,
    .get_base = buffer_get_base,
    .init_tensor = buffer_init_tensor,
    .memset_tensor = buffer_memset_tensor,
    .set_tensor = buffer_set_tensor,
    .get_tensor = buffer_get_tensor,
    .cpy_tensor = buffer_cpy_tensor,
    .clear = buffer_clear,
};

const struct gb_cuda_buffer *
gb_cuda_buffer_of(const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = gb_cuda_home(tensor);

    if (home == NULL || home->iface.free_buffer != buffer_free)
        return NULL;
    return home->context;
}

const char *
gb_cuda_place_fault(
    const struct gb_cuda_hold *hold, const struct ggml_tensor *tensor)
{
    const struct gb_cuda_buffer *buffer = gb_cuda_buffer_of(tensor);

    if (buffer == NULL || buffer->hold.card != hold->card)
        return "is not in this GPU's memory";
    if (!gb_cuda_is_held(&buffer->hold))
        return "went with a GPU that failed";
    if (!gb_node_is_within(tensor, buffer->address, buffer->size))
        return "has no address in its buffer, or ends outside it";
    return NULL;
}

/* ---- buffers ---- */

/* A buffer that nobody has taken memory for yet; NULL, with the reason told. */
static struct gb_cuda_buffer *
buffer_new(struct gb_cuda_device *device, size_t size)
{
    struct gb_cuda_buffer *own = calloc(1, sizeof(*own));

    if (own == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for a buffer",
                         device->name);
        return NULL;
    }
    own->device = device;
    own->size = size;
    if (gb_cuda_hold(device->card, false, &own->hold) == GGML_STATUS_SUCCESS)
        return own;
    free(own);
    return NULL;
}

/* What the interface owns then; OWN is the caller's still where it fails. */
static ggml_backend_buffer_t
buffer_over(struct gb_cuda_buffer *own)
{
    return ggml_backend_buffer_init(&own->device->buft, buffer_members, own,
                                    own->size);
}

static bool
take_memory(struct gb_cuda_buffer *own)
{
    enum ggml_status status;

    if (!gb_cuda_enter(&own->hold))
        return false;
    status = gb_cuda_memory_new(own->hold.card, own->size, own->is_managed,
                                &own->address);
    gb_cuda_leave(&own->hold);
    return status == GGML_STATUS_SUCCESS;
}

static void
give_memory(struct gb_cuda_buffer *own)
{
    if (!gb_cuda_enter_cleanup(&own->hold))
        return;
    gb_cuda_memory_free(own->hold.card, own->address, own->size,
                        own->is_managed);
    gb_cuda_leave(&own->hold);
}

static ggml_backend_buffer_t
type_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    struct gb_cuda_buffer *own = buffer_new(buft->context, size);
    ggml_backend_buffer_t buffer;

    if (own == NULL)
        return NULL;
    own->is_managed =
        gb_cuda_setting_is_on("GGML_CUDA_ENABLE_UNIFIED_MEMORY");
    if (!take_memory(own))
        goto release;
    buffer = buffer_over(own);
    if (buffer != NULL)
        return buffer;

    give_memory(own);
release:
    gb_cuda_release(&own->hold);
    free(own);
    return NULL;
}

/* The card's address of OWN->host, which is pinned for it where it must be. */
static bool
map_host(struct gb_cuda_buffer *own)
{
    struct gb_cuda_card *card = own->hold.card;

    if (card->reads_pageable) {
        own->address = (gb_cuda_address)(uintptr_t)own->host;
        return true;
    }
    if (GB_CUDA(card, host_register,
                (own->host, own->size, GB_CUDA_HOST_MAPPED)) !=
        GGML_STATUS_SUCCESS)
        return false;
    if (GB_CUDA(card, host_address, (&own->address, own->host, 0)) ==
        GGML_STATUS_SUCCESS)
        return true;
    GB_CUDA_CLEANUP(card, host_unregister, (own->host));
    return false;
}

ggml_backend_buffer_t
gb_cuda_buffer_from_host(
    ggml_backend_dev_t dev, void *memory, size_t size, size_t max_tensor_size)
{
    struct gb_cuda_buffer *own = buffer_new(gb_cuda_device_of(dev), size);
    ggml_backend_buffer_t buffer = NULL;

    (void)max_tensor_size;
    if (own == NULL)
        return NULL;
    own->host = memory;
    if (!gb_cuda_enter(&own->hold))
        goto release;
    if (map_host(own)) {
        buffer = buffer_over(own);
        if (buffer == NULL && !own->hold.card->reads_pageable)
            GB_CUDA_CLEANUP(own->hold.card, host_unregister, (memory));
    }
    gb_cuda_leave(&own->hold);
    if (buffer != NULL)
        return buffer;

release:
    gb_cuda_release(&own->hold);
    free(own);
    return NULL;
}

/* ---- types of memory ---- */

static const char *
type_get_name(ggml_backend_buffer_type_t buft)
{
    const struct gb_cuda_device *device = buft->context;

    return device->name;
}

static size_t
type_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return ALIGNMENT;
}

static size_t
type_get_alloc_size(
    ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    (void)buft;
    return ggml_nbytes(tensor) + padding_of(tensor);
}

bool
gb_cuda_is_buffer_type(ggml_backend_buffer_type_t buft)
{
    return buft->iface.get_name == type_get_name;
}

void
gb_cuda_buffer_type_init(struct gb_cuda_device *device)
{
    device->buft = (struct ggml_backend_buffer_type){
        .iface = {
            .get_name = type_get_name,
            .alloc_buffer = type_alloc_buffer,
            .get_alignment = type_get_alignment,
            .get_alloc_size = type_get_alloc_size,
        },
        .device = &device->handle,
        .context = device,
    };
}
