/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/reg.h - the registration.
 */
#ifndef GB_VULKAN_DEVICE_REG_H
#define GB_VULKAN_DEVICE_REG_H

#include "ggml-backend-impl.h"

/* The same for all callers; NULL where there is no device, which is told as
 * ggmlbackend_not_here does.  Any thread. */
ggml_backend_reg_t gb_vk_reg(void);

#endif
