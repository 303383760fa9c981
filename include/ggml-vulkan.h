/* SPDX-License-Identifier: MIT */
/*
 * ggml-vulkan.h - functions of the backend for devices with a driver for Vulkan.
 *
 * They are there whether or not the library has such a backend: the first call of
 * one of them loads it from the folders of modules if it is not registered.  Where
 * there is none, they give NULL, 0 or false, or do nothing;
 * ggmlbackend_refused_get has the reason.  Any thread.
 */
#ifndef GGML_VULKAN_H
#define GGML_VULKAN_H

#include "ggml-backend.h"
#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What names of devices begin with. */
#define GGML_VK_NAME "Vulkan"

/* Devices that the backend has at most. */
#define GGML_VK_MAX_DEVICES 16

/* ---- devices ---- */

/* A backend on the DEV_NUM-th device; NULL without it, or without memory. */
GGML_BACKEND_API ggml_backend_t ggml_backend_vk_init(size_t dev_num);

/* Is it a backend on such a device, however it was made?  False for NULL. */
GGML_BACKEND_API bool ggml_backend_is_vk(ggml_backend_t backend);

/* How many devices there are. */
GGML_BACKEND_API int ggml_backend_vk_get_device_count(void);

/*
 * The DEVICE-th device's model, cut to DESCRIPTION_SIZE bytes with its terminator;
 * "" without that device.
 */
GGML_BACKEND_API void ggml_backend_vk_get_device_description(
    int device, char *description, size_t description_size);

/* Bytes of the DEVICE-th device's memory; both 0 without that device. */
GGML_BACKEND_API void ggml_backend_vk_get_device_memory(
    int device, size_t *free, size_t *total);

/* The registration. */
GGML_BACKEND_API ggml_backend_reg_t ggml_backend_vk_reg(void);

/* ---- memory of devices, and for them ---- */

/* The DEV_NUM-th device's memory. */
GGML_BACKEND_API ggml_backend_buffer_type_t ggml_backend_vk_buffer_type(
    size_t dev_num);

/* The host's memory that devices can read and write at the link's full speed. */
GGML_BACKEND_API ggml_backend_buffer_type_t ggml_backend_vk_host_buffer_type(
    void);

#ifdef __cplusplus
}
#endif

#endif
