/* SPDX-License-Identifier: MIT */
/*
 * backend/device.c - devices: what they are, and what they make.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/backend/members.h"
#include "lib/base/status.h"

#include <string.h>

const char *
ggml_backend_dev_name(ggml_backend_dev_t device)
{
    GB_NEED_OR(NULL, device != NULL, "device name: no device");
    return device->iface.get_name(device);
}

const char *
ggml_backend_dev_description(ggml_backend_dev_t device)
{
    const char *text;

    GB_NEED_OR(NULL, device != NULL, "device description: no device");
    text = device->iface.get_description(device);
    return text != NULL ? text : "";
}

void
ggml_backend_dev_memory(ggml_backend_dev_t device, size_t *free, size_t *total)
{
    GB_NEED_VOID(free != NULL && total != NULL,
                 "device memory: nowhere to write it");
    *free = 0;
    *total = 0;
    GB_NEED_VOID(device != NULL, "device memory: no device");
    device->iface.get_memory(device, free, total);
}

enum ggml_backend_dev_type
ggml_backend_dev_type(ggml_backend_dev_t device)
{
    GB_NEED_OR(GGML_BACKEND_DEVICE_TYPE_CPU, device != NULL,
               "device type: no device");
    return device->iface.get_type(device);
}

void
ggml_backend_dev_get_props(
    ggml_backend_dev_t device, struct ggml_backend_dev_props *props)
{
    GB_NEED_VOID(props != NULL, "device properties: nowhere to write them");
    memset(props, 0, sizeof(*props));
    GB_NEED_VOID(device != NULL, "device properties: no device");
    device->iface.get_props(device, props);
}

ggml_backend_reg_t
ggml_backend_dev_backend_reg(ggml_backend_dev_t device)
{
    GB_NEED_OR(NULL, device != NULL, "registration: no device");
    return device->reg;
}

/* Has BACKEND all it needs?  Else the reason is said. */
static bool
is_whole_backend(ggml_backend_dev_t device, ggml_backend_t backend)
{
    const char *missing =
        gb_missing_member(&gb_backend_members, &backend->iface);

    if (missing == NULL && backend->iface.get_name(backend) == NULL)
        missing = "name";
    if (missing == NULL)
        return true;
    gb_fail(GGML_STATUS_FAILED, "%s: its backend has no %s",
            ggml_backend_dev_name(device), missing);
    return false;
}

ggml_backend_t
ggml_backend_dev_init(ggml_backend_dev_t device, const char *params)
{
    ggml_backend_t backend;

    GB_NEED_OR(NULL, device != NULL, "new backend: no device");
    backend = device->iface.init_backend(device, params);
    if (backend == NULL || is_whole_backend(device, backend))
        return backend;
    if (backend->iface.free != NULL)
        backend->iface.free(backend);
    return NULL;
}

/* BUFT, if it is NULL or has all it needs; else NULL with the reason. */
static ggml_backend_buffer_type_t
whole_buffer_type(ggml_backend_dev_t device, ggml_backend_buffer_type_t buft)
{
    const char *missing;

    if (buft == NULL)
        return NULL;
    missing = gb_missing_member(&gb_buffer_type_members, &buft->iface);
    if (missing == NULL && buft->iface.get_name(buft) == NULL)
        missing = "name";
    if (missing == NULL)
        return buft;
    gb_fail(GGML_STATUS_FAILED, "%s: its buffer type has no %s",
            ggml_backend_dev_name(device), missing);
    return NULL;
}

ggml_backend_buffer_type_t
ggml_backend_dev_buffer_type(ggml_backend_dev_t device)
{
    GB_NEED_OR(NULL, device != NULL, "device memory: no device");
    return whole_buffer_type(device, device->iface.get_buffer_type(device));
}

ggml_backend_buffer_type_t
ggml_backend_dev_host_buffer_type(ggml_backend_dev_t device)
{
    GB_NEED_OR(NULL, device != NULL, "host memory: no device");
    if (device->iface.get_host_buffer_type == NULL)
        return NULL;
    return whole_buffer_type(device,
                             device->iface.get_host_buffer_type(device));
}

ggml_backend_buffer_t
ggml_backend_dev_buffer_from_host_ptr(
    ggml_backend_dev_t device, void *ptr, size_t size, size_t max_tensor_size)
{
    GB_NEED_OR(NULL, device != NULL, "buffer over host memory: no device");
    GB_NEED_OR(NULL, device->iface.buffer_from_host_ptr != NULL,
               "%s makes no buffers over host memory",
               ggml_backend_dev_name(device));
    return device->iface.buffer_from_host_ptr(device, ptr, size,
                                              max_tensor_size);
}

bool
ggml_backend_dev_supports_op(
    ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    GB_NEED_OR(false, device != NULL, "supported operation: no device");
    GB_NEED_OR(false, op != NULL, "supported operation: no tensor");
    return device->iface.supports_op(device, op);
}

bool
ggml_backend_dev_supports_buft(
    ggml_backend_dev_t device, ggml_backend_buffer_type_t buft)
{
    GB_NEED_OR(false, device != NULL, "supported memory: no device");
    GB_NEED_OR(false, buft != NULL, "supported memory: no buffer type");
    return device->iface.supports_buft(device, buft);
}

bool
ggml_backend_dev_offload_op(
    ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    GB_NEED_OR(false, device != NULL, "offload: no device");
    GB_NEED_OR(false, op != NULL, "offload: no tensor");
    return device->iface.offload_op != NULL &&
           device->iface.offload_op(device, op);
}
