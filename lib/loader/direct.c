/* SPDX-License-Identifier: MIT */
/*
 * loader/direct.c - functions that name a backend, by what its registration offers.
 */
#include "config.h"

#include "lib/loader/direct.h"

#include "lib/base/status.h"
#include "lib/loader/search.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A search that ends at once, in a thread that is loading a module, is none. */
ggml_backend_reg_t
gb_direct_reg(struct gb_direct *direct)
{
    ggml_backend_reg_t reg = ggml_backend_reg_by_name(direct->name);

    if (reg != NULL ||
        atomic_load_explicit(&direct->is_searched, memory_order_relaxed))
        return reg;
    if (gb_search_load(direct->module))
        atomic_store_explicit(&direct->is_searched, true, memory_order_relaxed);
    return ggml_backend_reg_by_name(direct->name);
}

bool
gb_direct_is(const struct gb_direct *direct, ggml_backend_t backend)
{
    ggml_backend_dev_t dev =
        backend != NULL ? ggml_backend_get_device(backend) : NULL;
    ggml_backend_reg_t reg =
        dev != NULL ? ggml_backend_dev_backend_reg(dev) : NULL;

    return reg != NULL &&
           strcmp(ggml_backend_reg_name(reg), direct->name) == 0;
}

int
gb_direct_count(ggml_backend_reg_t reg)
{
    const size_t count = reg != NULL ? ggml_backend_reg_dev_count(reg) : 0;

    return count > INT_MAX ? INT_MAX : (int)count;
}

ggml_backend_dev_t
gb_direct_device(ggml_backend_reg_t reg, int device)
{
    if (device < 0 || device >= gb_direct_count(reg))
        return NULL;
    return ggml_backend_reg_dev_get(reg, (size_t)device);
}

ggml_backend_t
gb_direct_init(ggml_backend_reg_t reg, const char *what, int device)
{
    ggml_backend_dev_t dev = gb_direct_device(reg, device);

    if (dev != NULL)
        return ggml_backend_dev_init(dev, NULL);
    gb_fail(GGML_STATUS_FAILED, "%s: there is no device %d, of %d", what,
            device, gb_direct_count(reg));
    return NULL;
}

void
gb_direct_description(
    ggml_backend_reg_t reg, const char *what, int device, char *description,
    size_t description_size)
{
    ggml_backend_dev_t dev = gb_direct_device(reg, device);

    GB_NEED_VOID(description != NULL || description_size == 0,
                 "%s: nowhere to write a description", what);
    if (description_size > 0)
        snprintf(description, description_size, "%s",
                 dev != NULL ? ggml_backend_dev_description(dev) : "");
}

void
gb_direct_memory(
    ggml_backend_reg_t reg, const char *what, int device, size_t *free,
    size_t *total)
{
    ggml_backend_dev_t dev = gb_direct_device(reg, device);

    GB_NEED_VOID(free != NULL && total != NULL,
                 "%s: nowhere to write a device's memory", what);
    *free = *total = 0;
    if (dev != NULL)
        ggml_backend_dev_memory(dev, free, total);
}

ggml_backend_buffer_type_t
gb_direct_buffer_type(ggml_backend_reg_t reg, int device)
{
    ggml_backend_dev_t dev = gb_direct_device(reg, device);

    return dev != NULL ? ggml_backend_dev_buffer_type(dev) : NULL;
}

ggml_backend_buffer_type_t
gb_direct_host_buffer_type(ggml_backend_reg_t reg)
{
    ggml_backend_dev_t dev = gb_direct_device(reg, 0);

    return dev != NULL ? ggml_backend_dev_host_buffer_type(dev) : NULL;
}
