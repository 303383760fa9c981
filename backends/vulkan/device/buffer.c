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
    FILE_ALIGNMENT = 32, /* of data in files that are mapped; enough for shaders */
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

const struct gb_vk_memory *
gb_vk_find_memory(
    const struct gb_vk_buffer *own, size_t *offset, size_t size)
{
    const size_t at = own->before + *offset;
    const size_t i = own->n_windows > 1 ? at / own->step : 0;
    const size_t last = (size_t)own->n_windows - 1;
    const size_t window = i < last ? i : last;
    const size_t in_window = at - window * own->step;

    if (*offset > own->size || size > own->windows[window].size ||
        in_window > own->windows[window].size - size)
        return NULL;
    *offset = in_window;
    return &own->windows[window];
}

/* The memory of TENSOR's SIZE bytes from *OFFSET on, which becomes theirs in it;
 * NULL, with the reason told, where the card cannot be used. */
static const struct gb_vk_memory *
memory_for(const struct gb_vk_buffer *own, const struct ggml_tensor *tensor,
           size_t *offset, size_t size)
{
    const struct gb_vk_memory *memory;

    if (!gb_vk_is_usable(own->hold.context))
        return NULL;
    *offset += offset_of(own, tensor);
    memory = gb_vk_find_memory(own, offset, size);
    if (memory == NULL)
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: tensor %s is larger than was said",
                         own->hold.context->card->label, tensor->name);
    return memory;
}

static void
free_memory(struct gb_vk_buffer *own)
{
    for (int i = 0; i < own->n_windows; i++)
        if (own->windows[i].size > 0)
            gb_vk_memory_free(own->hold.context, &own->windows[i]);
    if (own->windows != &own->memory)
        free(own->windows);
    if (!own->is_clients)
        munmap(own->base, own->size);
}

/* ---- members of buffers ---- */

static void
buffer_free(ggml_backend_buffer_t buffer)
{
    struct gb_vk_buffer *own = buffer->context;
    struct gb_vk_context *context = own->hold.context;

    /* What was asked for and not waited for may use it. */
    gb_vk_drain(context);
    free_memory(own);
    gb_vk_release(&own->hold);
    free(own);
}

static void *
buffer_get_base(ggml_backend_buffer_t buffer)
{
    const struct gb_vk_buffer *own = buffer->context;

    return own->base;
}

/* A write of SIZE bytes from *OFFSET on into what window I has of them, from byte
 * *FIRST of them on; false: it has none. */
static bool
clip_to_window(const struct gb_vk_buffer *own, int i, size_t *offset,
               size_t *first, size_t *size)
{
    const size_t begin = (size_t)i * own->step;
    const size_t end = begin + own->windows[i].size;
    const size_t from = *offset > begin ? *offset : begin;
    const size_t to = *offset + *size < end ? *offset + *size : end;

    if (from >= to)
        return false;
    *first = from - *offset;
    *offset = from - begin;
    *size = to - from;
    return true;
}

/* Each copy of the bytes gets them. */
static enum ggml_status
write_copies(struct gb_vk_buffer *own, size_t offset, const char *data,
             size_t size)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (int i = 0; i < own->n_windows && status == GGML_STATUS_SUCCESS; i++) {
        size_t at = offset, n = size, first;

        if (clip_to_window(own, i, &at, &first, &n))
            status = gb_vk_copy_in(own->hold.context, &own->windows[i], at,
                                   data + first, n);
    }
    return status;
}

static void
fill_copies(struct gb_vk_buffer *own, size_t offset, uint8_t value, size_t size)
{
    for (int i = 0; i < own->n_windows; i++) {
        size_t at = offset, n = size, first;

        if (clip_to_window(own, i, &at, &first, &n))
            gb_vk_fill(own->hold.context, &own->windows[i], at, value, n);
    }
}

static void
buffer_memset_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
    size_t offset, size_t size)
{
    struct gb_vk_buffer *own = buffer->context;
    const size_t at = offset_of(own, tensor) + offset;
    const struct gb_vk_memory *memory =
        memory_for(own, tensor, &offset, size);

    if (memory != NULL && own->is_copied)
        fill_copies(own, at, value, size);
    else if (memory != NULL)
        gb_vk_fill(own->hold.context, memory, offset, value, size);
}

static void
buffer_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    struct gb_vk_buffer *own = buffer->context;
    const size_t at = offset_of(own, tensor) + offset;
    const struct gb_vk_memory *memory =
        memory_for(own, tensor, &offset, size);

    if (memory != NULL && own->is_copied)
        write_copies(own, at, data, size);
    else if (memory != NULL)
        gb_vk_copy_in(own->hold.context, memory, offset, data, size);
}

static void
buffer_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    struct gb_vk_buffer *own = buffer->context;
    const struct gb_vk_memory *memory =
        memory_for(own, tensor, &offset, size);

    if (memory != NULL)
        gb_vk_copy_out(own->hold.context, memory, offset, data, size);
}

/* The core copies through the host what this does not. */
static bool
buffer_cpy_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *src,
    struct ggml_tensor *dst)
{
    struct gb_vk_buffer *own = buffer->context;
    const struct gb_vk_buffer *from = gb_vk_buffer_of(src);
    const size_t size = ggml_nbytes(src);
    const struct gb_vk_memory *to_memory, *from_memory;
    size_t to_offset = 0, from_offset = 0;

    if (from == NULL || from->hold.context != own->hold.context ||
        gb_vk_has_copies(own))
        return false;
    to_memory = memory_for(own, dst, &to_offset, size);
    from_memory = memory_for(from, src, &from_offset, size);
    return to_memory != NULL && from_memory != NULL &&
           gb_vk_copy_within(own->hold.context, to_memory, to_offset,
                             from_memory, from_offset, size) ==
               GGML_STATUS_SUCCESS;
}

static void
buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    struct gb_vk_buffer *own = buffer->context;

    if (!gb_vk_is_usable(own->hold.context))
        return;
    for (int i = 0; i < own->n_windows; i++) {
        const size_t begin = (size_t)i * own->step;
        const size_t first = i == 0 ? own->before : 0;
        const size_t left = own->before + own->size - begin;
        const size_t end =
            left < own->windows[i].size ? left : own->windows[i].size;

        gb_vk_fill(own->hold.context, &own->windows[i], first, value,
                   end - first);
    }
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
    return gb_vk_uses_clients_memory(buft->context) ? FILE_ALIGNMENT
                                                    : ALIGNMENT;
}

static size_t
buft_get_max_size(ggml_backend_buffer_type_t buft)
{
    const struct gb_vk_device *device = buft->context;

    return device->card.most_buffer - ROOM;
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
    if (status != GGML_STATUS_SUCCESS) {
        munmap(own->base, own->size);
        return status;
    }
    own->windows = &own->memory;
    own->n_windows = 1;
    return status;
}

/* SIZE bytes on DEVICE, which is held, without memory yet; NULL with the reason
 * told. */
static struct gb_vk_buffer *
own_new(struct gb_vk_device *device, size_t size)
{
    struct gb_vk_buffer *own = calloc(1, sizeof(*own));

    if (own == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                         "%s: no memory for a buffer", device->name);
        return NULL;
    }
    own->size = size > 0 ? size : 1;
    if (gb_vk_hold(&device->card, &own->hold) == GGML_STATUS_SUCCESS)
        return own;
    free(own);
    return NULL;
}

static void
own_free(struct gb_vk_buffer *own)
{
    gb_vk_release(&own->hold);
    free(own);
}

/* OWN, which has its memory, as a buffer; else it is freed. */
static ggml_backend_buffer_t
as_buffer(ggml_backend_buffer_type_t buft, struct gb_vk_buffer *own, size_t size)
{
    ggml_backend_buffer_t buffer =
        ggml_backend_buffer_init(buft, buffer_members, own, size);

    if (buffer != NULL)
        return buffer;
    free_memory(own);
    own_free(own);
    return NULL;
}

static ggml_backend_buffer_t
buft_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    struct gb_vk_device *device = buft->context;
    struct gb_vk_buffer *own = own_new(device, size);

    if (own == NULL)
        return NULL;
    if (make_memory(own, device) == GGML_STATUS_SUCCESS)
        return as_buffer(buft, own, size);
    own_free(own);
    return NULL;
}

/* ---- over the client's memory ---- */

bool
gb_vk_uses_clients_memory(const struct gb_vk_device *device)
{
    return device->card.import_unit > 0 && gb_vk_card_is_shared(&device->card);
}

/* Bytes that a window shares with the next, for tensors of so many. */
static size_t
shared_by(size_t tensor, size_t unit)
{
    return (tensor + 2 * unit - 1) & ~(unit - 1);
}

/* Bytes of window I, of whole units. */
static size_t
window_size(const struct gb_vk_buffer *own, int i, size_t unit, size_t tensor)
{
    const size_t all = (own->before + own->size + unit - 1) & ~(unit - 1);
    const size_t left = all - (size_t)i * own->step;
    const size_t most = own->step + shared_by(tensor, unit);

    return left < most ? left : most;
}

/* How OWN's memory is cut into windows of whole units, which have MOST bytes at
 * most; false where a tensor has more. */
static bool
plan_windows(struct gb_vk_buffer *own, size_t unit, size_t most, size_t tensor)
{
    const size_t all = (own->before + own->size + unit - 1) & ~(unit - 1);
    const size_t shared = shared_by(tensor, unit);

    most &= ~(unit - 1);
    own->n_windows = 1;
    own->step = all;
    if (all > most) {
        if (tensor > most || shared >= most)
            return false;
        own->step = most - shared;
        own->n_windows = (int)((all - shared + own->step - 1) / own->step);
    }
    own->windows = calloc((size_t)own->n_windows, sizeof(*own->windows));
    return own->windows != NULL;
}

static void
drop_windows(struct gb_vk_buffer *own)
{
    if (own->windows != NULL)
        free_memory(own);
    own->windows = NULL;
    own->n_windows = 0;
}

static VkResult
import_windows(struct gb_vk_buffer *own, size_t unit, size_t tensor)
{
    VkResult result = VK_SUCCESS;

    for (int i = 0; i < own->n_windows && result == VK_SUCCESS; i++)
        result = gb_vk_memory_import(
            own->hold.context,
            own->base - own->before + (size_t)i * own->step,
            window_size(own, i, unit, tensor), &own->windows[i]);
    return result;
}

/* A copy on the card, where the memory cannot be used itself. */
static enum ggml_status
copy_clients(struct gb_vk_buffer *own, size_t most, size_t tensor)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    own->before = 0;
    own->is_copied = true;
    if (!plan_windows(own, ROOM, most, tensor))
        status = ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                  "%s: no memory for tensors of %zu bytes",
                                  own->hold.context->card->label, tensor);
    for (int i = 0; i < own->n_windows && status == GGML_STATUS_SUCCESS; i++)
        status = gb_vk_memory_new(own->hold.context, GB_VK_MEMORY_DEVICE,
                                  window_size(own, i, ROOM, tensor),
                                  &own->windows[i]);
    if (status == GGML_STATUS_SUCCESS)
        status = write_copies(own, 0, own->base, own->size);
    if (status != GGML_STATUS_SUCCESS)
        drop_windows(own);
    return status;
}

static enum ggml_status
use_clients(struct gb_vk_buffer *own, const struct gb_vk_device *device,
            size_t tensor)
{
    const size_t unit = device->card.import_unit;
    const size_t most = device->card.most_allocation;
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;

    own->before = (uintptr_t)own->base & (unit - 1);
    if (plan_windows(own, unit, most, tensor))
        result = import_windows(own, unit, tensor);
    if (result == VK_SUCCESS) {
        GGML_LOG_INFO("%s: %zu bytes of the program's memory are used where "
                      "they are\n", device->name, own->size);
        return GGML_STATUS_SUCCESS;
    }
    GGML_LOG_WARN("%s: %zu bytes of the program's memory cannot be used where "
                  "they are, and are copied: %s\n", device->name, own->size,
                  gb_vk_result(result));
    drop_windows(own);
    return copy_clients(own, most, tensor);
}

ggml_backend_buffer_t
gb_vk_buffer_from_host(
    ggml_backend_dev_t dev, void *ptr, size_t size, size_t max_tensor_size)
{
    struct gb_vk_device *device = gb_vk_device_of(dev);
    struct gb_vk_buffer *own;

    if (ptr == NULL || size == 0 || size > SIZE_MAX / 2) {
        ggmlbackend_fail(GGML_STATUS_FAILED, "%s: no memory of the program's",
                         device->name);
        return NULL;
    }
    own = own_new(device, size);
    if (own == NULL)
        return NULL;
    own->is_clients = true;
    own->base = ptr;
    if (use_clients(own, device, max_tensor_size) == GGML_STATUS_SUCCESS)
        return as_buffer(&device->buft, own, size);
    own_free(own);
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
