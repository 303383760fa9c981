/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/device.c - what a device says of itself.
 */
#include "backends/cuda/device/device.h"

#include "backends/cuda/device/buffer.h"
#include "backends/cuda/device/settings.h"
#include "backends/cuda/device/split-buffer.h"
#include "backends/cuda/driver/platform.h"
#include "backends/cuda/ops/op.h"

#include <stdio.h>

/* Rows that make an operation worth copying its weights to the card. */
enum { MIN_OFFLOAD_ROWS = 32 };

static const char *
dev_get_name(ggml_backend_dev_t dev)
{
    return gb_cuda_device_of(dev)->name;
}

static const char *
dev_get_description(ggml_backend_dev_t dev)
{
    return gb_cuda_device_of(dev)->description;
}

static void
dev_get_memory(ggml_backend_dev_t dev, size_t *free, size_t *total)
{
    gb_cuda_card_memory(gb_cuda_device_of(dev)->card, free, total);
}

static enum ggml_backend_dev_type
dev_get_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return GGML_BACKEND_DEVICE_TYPE_GPU;
}

static bool
reads_host(const struct gb_cuda_card *card)
{
    return card->is_integrated || card->reads_pageable;
}

static void
dev_get_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props *props)
{
    const struct gb_cuda_device *device = gb_cuda_device_of(dev);

    props->name = device->name;
    props->description = device->description;
    props->type = dev_get_type(dev);
    dev_get_memory(dev, &props->memory_free, &props->memory_total);
    props->caps = (struct ggml_backend_dev_caps){
        .async = true,
        .host_buffer = !gb_cuda_setting_is_on("GGML_CUDA_NO_PINNED"),
        .buffer_from_host_ptr = reads_host(device->card),
        .events = true,
    };
}

static ggml_backend_t
dev_init_backend(ggml_backend_dev_t dev, const char *params)
{
    (void)params;
    return gb_cuda_backend_new(gb_cuda_device_of(dev));
}

static ggml_backend_buffer_type_t
dev_get_buffer_type(ggml_backend_dev_t dev)
{
    return &gb_cuda_device_of(dev)->buft;
}

static ggml_backend_buffer_type_t
dev_get_host_buffer_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return gb_cuda_setting_is_on("GGML_CUDA_NO_PINNED")
               ? NULL : gb_cuda_host_buffer_type();
}

/* ---- operations ---- */

/* Two devices may be one card, and reach the same memory. */
static bool
is_own(const struct gb_cuda_device *device, ggml_backend_buffer_type_t buft)
{
    const struct gb_cuda_device *owner;

    if (!gb_cuda_is_buffer_type(buft))
        return false;
    owner = buft->context;
    return owner->card == device->card;
}

/* True if source SOURCE of OP is a split weight of a product whose parts this device
 * gathers.  Views of split weights are not supported. */
static bool
is_split_weight(
    const struct gb_cuda_device *device, ggml_backend_buffer_type_t buft,
    const struct ggml_tensor *op, int source)
{
    return gb_cuda_is_split_type(buft) && gb_cuda_split_main(buft) == device &&
           source == 0 && op->src[0]->view_src == NULL &&
           ggml_is_contiguous(op->src[0]) &&
           (op->op == GGML_OP_MUL_MAT || op->op == GGML_OP_MUL_MAT_ID);
}

/* What lies in memory of the host can be copied to the card first. */
static bool
is_within_reach(
    const struct gb_cuda_device *device, const struct ggml_tensor *op,
    int source)
{
    const ggml_backend_buffer_t home = gb_cuda_home(op->src[source]);

    return home == NULL || is_own(device, home->buft) ||
           is_split_weight(device, home->buft, op, source) ||
           ggml_backend_buft_is_host(home->buft);
}

static bool
dev_supports_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    const struct gb_cuda_device *device = gb_cuda_device_of(dev);
    const struct gb_cuda_limits limits = gb_cuda_card_limits(device->card);

    if (!gb_cuda_supports(&limits, op))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (op->src[i] != NULL && !is_within_reach(device, op, i))
            return false;
    }
    return true;
}

static bool
dev_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft)
{
    struct gb_cuda_device *device = gb_cuda_device_of(dev);

    return is_own(device, buft) ||
           (gb_cuda_is_split_type(buft) && gb_cuda_split_main(buft) == device);
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
    .event_new = gb_cuda_event_new,
    .event_free = gb_cuda_event_free,
    .event_synchronize = gb_cuda_event_synchronize,
};

/* The variant may become lower later; this is what the card was listed with. */
static void
set_properties(struct gb_cuda_device *device)
{
    struct gb_cuda_card *card = device->card;
    const struct ggml_backend_feature rows[] = {
        { "PCI", card->pci },
        { "UUID", card->uuid_text[0] != '\0' ? card->uuid_text : NULL },
        { gb_cuda_platform.arch_word, card->arch.text },
        { "image", card->image.name },
        { "variant",
          gb_cuda_variant_name(gb_cuda_card_limits(card).variant) },
        { "driver", card->driver_text },
        { "BLAS", card->blas.is_wanted ? "auto" : NULL },
    };
    int n = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].value != NULL)
            device->properties[n++] = rows[i];
    }
}

void
gb_cuda_device_init(
    struct gb_cuda_device *device, ggml_backend_reg_t reg, int index)
{
    struct gb_cuda_card *card = device->card;

    device->index = index;
    snprintf(device->name, sizeof(device->name), "%s%d", gb_cuda_platform.name,
             index);
    snprintf(device->description, sizeof(device->description), "%s%s",
             card->name, card->is_integrated ? " (integrated)" : "");
    device->handle.iface = dev_members;
    if (reads_host(card))
        device->handle.iface.buffer_from_host_ptr = gb_cuda_buffer_from_host;
    device->handle.reg = reg;
    device->handle.context = device;
    gb_cuda_buffer_type_init(device);
    set_properties(device);
}
