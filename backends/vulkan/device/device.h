/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/device.h - devices as the interface knows them.
 */
#ifndef GB_VULKAN_DEVICE_DEVICE_H
#define GB_VULKAN_DEVICE_DEVICE_H

#include "backends/vulkan/device/card.h"

#include "ggml-backend-impl.h"

/* Rows for people, and the end of them. */
enum { GB_VK_MAX_PROPERTIES = 8 };

struct gb_vk_device {
    struct ggml_backend_device handle;
    struct ggml_backend_buffer_type buft;
    struct gb_vk_card card;
    char name[16]; /* "Vulkan0" */
    int index;
    char used[96], unused[96]; /* features, for people */
    struct ggml_backend_feature properties[GB_VK_MAX_PROPERTIES + 1];
};

/* The card is filled in already. */
void gb_vk_device_init(
    struct gb_vk_device *device, ggml_backend_reg_t reg, int index);

/* NULL for a device of another backend. */
struct gb_vk_device *gb_vk_device_of(ggml_backend_dev_t dev);

/* A backend on DEVICE; NULL with the reason told. */
ggml_backend_t gb_vk_backend_new(struct gb_vk_device *device);

bool gb_vk_is_backend(ggml_backend_t backend);

/* Ask CALLBACK between submissions whether to go on; NULL: nobody. */
void gb_vk_set_abort_callback(
    ggml_backend_t backend, ggml_abort_callback callback, void *data);

#endif
