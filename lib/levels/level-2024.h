/* SPDX-License-Identifier: MIT */
/*
 * levels/level-2024.h - the functions that are others at level 2024-10; their
 * names are given to backends by include/ggml/level.h.
 *
 * A registration of that level is gb_2024_reg.  Where one is taken, one of
 * today is accepted too, if it is in the registry: what the registry gave out.
 */
#ifndef GB_LEVELS_LEVEL_2024_H
#define GB_LEVELS_LEVEL_2024_H

#include "ggml-backend-impl.h"
#include "ggmlbackend-2024.h"

/* A registration of 2024-10: without a version. */
struct gb_2024_reg {
    struct ggml_backend_reg_i iface;
    void *context;
};

/* What a device may answer besides; its numbers are those of level.h. */
enum {
    GB_2024_DEVICE_TYPE_CPU_FULL = 1000,
    GB_2024_DEVICE_TYPE_GPU_FULL = 1001
};

/* IFACE's init_tensor returns nothing. */
GGML_API ggml_backend_buffer_t ggmlbackend_l202410_backend_buffer_init(
    ggml_backend_buffer_type_t buft, struct ggml_backend_buffer_i iface,
    void *context, size_t size);

GGML_API void ggmlbackend_l202410_backend_register(ggml_backend_reg_t reg);
GGML_API void ggmlbackend_l202410_backend_device_register(
    ggml_backend_dev_t device);

GGML_API const char *ggmlbackend_l202410_backend_reg_name(
    ggml_backend_reg_t reg);
GGML_API size_t ggmlbackend_l202410_backend_reg_dev_count(
    ggml_backend_reg_t reg);
GGML_API ggml_backend_dev_t ggmlbackend_l202410_backend_reg_dev_get(
    ggml_backend_reg_t reg, size_t index);
GGML_API void *ggmlbackend_l202410_backend_reg_get_proc_address(
    ggml_backend_reg_t reg, const char *name);

#endif
