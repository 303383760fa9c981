/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/layout-2023.c - the layout of level 2023's structs.
 */
#include "layout.h"

#include "ggml-backend-impl.h"

#define AT(type, member) { #type "." #member, offsetof(struct type, member) }
#define SIZE(type)       { #type, sizeof(struct type) }

const struct layout layout_2023[] = {
    AT(ggml_backend_buffer_i, free_buffer),
    AT(ggml_backend_buffer_i, get_base),
    AT(ggml_backend_buffer_i, get_alloc_size),
    AT(ggml_backend_buffer_i, init_tensor),
    AT(ggml_backend_buffer_i, free_tensor),
    SIZE(ggml_backend_buffer_i),
    AT(ggml_backend_buffer, iface),
    AT(ggml_backend_buffer, backend),
    AT(ggml_backend_buffer, context),
    AT(ggml_backend_buffer, size),
    AT(ggml_backend_i, get_name),
    AT(ggml_backend_i, free),
    AT(ggml_backend_i, alloc_buffer),
    AT(ggml_backend_i, get_alignment),
    AT(ggml_backend_i, set_tensor_async),
    AT(ggml_backend_i, get_tensor_async),
    AT(ggml_backend_i, synchronize),
    AT(ggml_backend_i, cpy_tensor_from),
    AT(ggml_backend_i, cpy_tensor_to),
    AT(ggml_backend_i, graph_plan_create),
    AT(ggml_backend_i, graph_plan_free),
    AT(ggml_backend_i, graph_plan_compute),
    AT(ggml_backend_i, graph_compute),
    AT(ggml_backend_i, supports_op),
    SIZE(ggml_backend_i),
    AT(ggml_backend, iface),
    AT(ggml_backend, context),
    SIZE(ggml_backend),
    AT(ggml_tensor, extra),
    SIZE(ggml_tensor),
    AT(ggml_cgraph, nodes),
    SIZE(ggml_cgraph),
    { NULL, 0 },
};
