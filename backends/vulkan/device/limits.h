/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/limits.h - what a device can do at most, measured.
 */
#ifndef GB_VULKAN_DEVICE_LIMITS_H
#define GB_VULKAN_DEVICE_LIMITS_H

#include "ggmlbackend.h"

/* "ggmlbackend_dev_measure_limits", see ggmlbackend.h. */
enum ggml_status gb_vk_measure_limits(
    struct ggml_backend_device *dev, struct ggmlbackend_dev_limits *limits);

#endif
