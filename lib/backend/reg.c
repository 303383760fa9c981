/* SPDX-License-Identifier: MIT */
/*
 * backend/reg.c - one backend's registration: its devices and functions by
 * name.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/base/status.h"

const char *
ggml_backend_reg_name(ggml_backend_reg_t reg)
{
    GB_NEED_OR(NULL, reg != NULL, "registration name: no registration");
    return reg->iface.get_name(reg);
}

size_t
ggml_backend_reg_dev_count(ggml_backend_reg_t reg)
{
    GB_NEED_OR(0, reg != NULL, "devices: no registration");
    return reg->iface.get_device_count(reg);
}

ggml_backend_dev_t
ggml_backend_reg_dev_get(ggml_backend_reg_t reg, size_t index)
{
    GB_NEED_OR(NULL, reg != NULL, "device %zu: no registration", index);
    GB_NEED_OR(NULL, index < reg->iface.get_device_count(reg),
               "device %zu: %s has %zu", index, ggml_backend_reg_name(reg),
               reg->iface.get_device_count(reg));
    return reg->iface.get_device(reg, index);
}

void *
ggml_backend_reg_get_proc_address(ggml_backend_reg_t reg, const char *name)
{
    GB_NEED_OR(NULL, reg != NULL, "function by name: no registration");
    GB_NEED_OR(NULL, name != NULL, "function by name: no name");
    if (reg->iface.get_proc_address == NULL)
        return NULL;
    return reg->iface.get_proc_address(reg, name);
}
