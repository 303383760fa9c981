/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/layout.h - which dispatches share a command buffer.
 */
#ifndef GB_VULKAN_DEVICE_LAYOUT_H
#define GB_VULKAN_DEVICE_LAYOUT_H

#include "backends/vulkan/device/recording.h"

/*
 * Put the dispatches of RECORDING's plan into chunks, in their order.  A
 * dispatch that takes longer than a submission may is cut.
 */
enum ggml_status gb_vk_lay_out(
    struct gb_vk_recording *recording, const struct gb_vk_context *context,
    const struct gb_vk_pace *pace);

#endif
