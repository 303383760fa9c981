/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/layout-2024.c - the layout of level 2024-10's structs.
 */
#include "layout.h"

#include "ggml-backend-impl.h"
#include "ggml-impl.h"

#define AT(type, member) { #type "." #member, offsetof(struct type, member) }
#define SIZE(type)       { #type, sizeof(struct type) }

const struct layout layout_2024[] = {
    AT(ggml_backend_buffer_i, init_tensor),
    SIZE(ggml_backend_buffer_i),
    SIZE(ggml_backend_buffer_type_i),
    SIZE(ggml_backend_buffer_type),
    AT(ggml_backend_buffer, buft),
    SIZE(ggml_backend_buffer),
    SIZE(ggml_backend_i),
    SIZE(ggml_backend),
    SIZE(ggml_backend_event),
    SIZE(ggml_backend_device_i),
    AT(ggml_backend_device, reg),
    SIZE(ggml_backend_device),
    SIZE(ggml_backend_reg_i),
    AT(ggml_backend_reg, iface),
    AT(ggml_backend_reg, context),
    SIZE(ggml_backend_reg),
    SIZE(ggml_tensor),
    SIZE(ggml_cgraph),
    { NULL, 0 },
};
