/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/device.c - what a device says of itself.
 */
#include "backends/vulkan/device/device.h"

#include "backends/vulkan/device/buffer.h"
#include "backends/vulkan/device/event.h"
#include "backends/vulkan/device/features.h"
#include "backends/vulkan/device/pinned.h"
#include "backends/vulkan/ops/op.h"

#include <stdio.h>

/* Rows that make an operation worth copying its weights to the card. */
enum { MIN_OFFLOAD_ROWS = 32 };

static const char *
dev_get_name(ggml_backend_dev_t dev)
{
    return gb_vk_device_of(dev)->name;
}

static const char *
dev_get_description(ggml_backend_dev_t dev)
{
    return gb_vk_device_of(dev)->card.name;
}

static void
dev_get_memory(ggml_backend_dev_t dev, size_t *free, size_t *total)
{
    gb_vk_card_memory(&gb_vk_device_of(dev)->card, free, total);
}

/* Of a software device too: clients look for what is no CPU backend. */
static enum ggml_backend_dev_type
dev_get_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return GGML_BACKEND_DEVICE_TYPE_GPU;
}

static void
dev_get_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props *props)
{
    props->name = dev_get_name(dev);
    props->description = dev_get_description(dev);
    props->type = dev_get_type(dev);
    dev_get_memory(dev, &props->memory_free, &props->memory_total);
    props->caps = (struct ggml_backend_dev_caps){
        .async = true,
        .host_buffer = true,
        .buffer_from_host_ptr =
            gb_vk_uses_clients_memory(gb_vk_device_of(dev)),
        .events = true,
    };
}

static ggml_backend_t
dev_init_backend(ggml_backend_dev_t dev, const char *params)
{
    (void)params;
    return gb_vk_backend_new(gb_vk_device_of(dev));
}

static ggml_backend_buffer_type_t
dev_get_buffer_type(ggml_backend_dev_t dev)
{
    return &gb_vk_device_of(dev)->buft;
}

static ggml_backend_buffer_type_t
dev_get_host_buffer_type(ggml_backend_dev_t dev)
{
    return &gb_vk_device_of(dev)->host_buft;
}

static bool
dev_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft)
{
    return gb_vk_is_buffer_type(buft) && buft->context == gb_vk_device_of(dev);
}

/* What lies in memory of the host can be copied to the card first. */
static bool
is_within_reach(ggml_backend_dev_t dev, const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home =
        tensor->view_src != NULL && tensor->view_src->buffer != NULL
            ? tensor->view_src->buffer : tensor->buffer;

    return home == NULL || dev_supports_buft(dev, home->buft) ||
           ggml_backend_buft_is_host(home->buft);
}

static bool
dev_supports_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    const struct gb_vk_limits limits =
        gb_vk_card_limits(&gb_vk_device_of(dev)->card);

    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (op->src[i] != NULL && !is_within_reach(dev, op->src[i]))
            return false;
    }
    return gb_vk_supports(&limits, op);
}

/* Rows that the operation works on with the same weights. */
static int64_t
batch_of(const struct ggml_tensor *op)
{
    switch ((int)op->op) {
    case GGML_OP_GET_ROWS:
        return 0;
    case GGML_OP_MUL_MAT:
        return op->ne[1];
    case GGML_OP_MUL_MAT_ID:
    case GGML_OP_ROPE:
    case GGML_OP_ROPE_BACK:
        return op->ne[2];
    }
    return ggml_nrows(op);
}

static bool
dev_offload_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    (void)dev;
    return batch_of(op) >= MIN_OFFLOAD_ROWS;
}

static const struct ggml_backend_device_i dev_members = {
    .get_name = dev_get_name,
    .get_description = dev_get_description,
    .get_memory = dev_get_memory,
    .get_type = dev_get_type,
    .get_props = dev_get_props,
    .init_backend = dev_init_backend,
    .get_buffer_type = dev_get_buffer_type,
    .get_host_buffer_type = dev_get_host_buffer_type,
    .supports_op = dev_supports_op,
    .supports_buft = dev_supports_buft,
    .offload_op = dev_offload_op,
    .event_new = gb_vk_event_new,
    .event_free = gb_vk_event_free,
    .event_synchronize = gb_vk_event_synchronize,
};

static void
set_properties(struct gb_vk_device *device)
{
    const struct gb_vk_card *card = &device->card;
    const uint32_t used = card->limits.features;
    const uint32_t unused = card->features & ~used;
    const struct ggml_backend_feature rows[GB_VK_MAX_PROPERTIES] = {
        { "PCI", card->pci[0] != '\0' ? card->pci : NULL },
        { "UUID", card->uuid_text[0] != '\0' ? card->uuid_text : NULL },
        { "driver", card->driver_text },
        { "descriptors", card->has_push ? "pushed" : "from pools" },
        { "features", used != 0 ? device->used : "none" },
        { "not used", unused != 0 ? device->unused : NULL },
    };
    int n = 0;

    gb_vk_features_write(card, used, device->used, sizeof(device->used));
    gb_vk_features_write(card, unused, device->unused,
                         sizeof(device->unused));
    for (int i = 0; i < GB_VK_MAX_PROPERTIES; i++) {
        if (rows[i].name != NULL && rows[i].value != NULL)
            device->properties[n++] = rows[i];
    }
}

void
gb_vk_device_init(
    struct gb_vk_device *device, ggml_backend_reg_t reg, int index)
{
    device->index = index;
    snprintf(device->name, sizeof(device->name), "Vulkan%d", index);
    snprintf(device->card.label, sizeof(device->card.label), "Vulkan%d", index);
    device->handle.iface = dev_members;
    device->handle.reg = reg;
    device->handle.context = device;
    if (gb_vk_uses_clients_memory(device))
        device->handle.iface.buffer_from_host_ptr = gb_vk_buffer_from_host;
    gb_vk_buffer_type_init(device);
    gb_vk_host_type_init(device);
    set_properties(device);
}
