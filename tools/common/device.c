/* SPDX-License-Identifier: MIT */
/*
 * common/device.c - the device that a command line names.
 */
#include "tools/common/device.h"

#include "tools/common/tool.h"

#include <stdio.h>
#include <string.h>

static ggml_backend_dev_t
best_device(void)
{
    ggml_backend_dev_t dev =
        ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU);

    if (dev == NULL)
        dev = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU);
    return dev;
}

/* "CPU, CUDA0 and CUDA1", cut where that is too long. */
static void
list_devices(char *list, size_t size)
{
    const size_t n = ggml_backend_dev_count();
    size_t used = 0;

    list[0] = '\0';
    for (size_t i = 0; i < n && used < size; i++)
        used += (size_t)snprintf(
            list + used, size - used, "%s%s",
            i == 0 ? "" : i == n - 1 ? " and " : ", ",
            ggml_backend_dev_name(ggml_backend_dev_get(i)));
}

static void
refuse(const char *name)
{
    char list[512];

    list_devices(list, sizeof(list));
    if (list[0] == '\0')
        tool_error("there is no device; ggmlbackend-info says why");
    else
        tool_error("there is no device '%s', only %s; ggmlbackend-info shows "
                   "them, and modules that were refused", name, list);
}

ggml_backend_dev_t
tool_device_find(const char *name)
{
    ggml_backend_dev_t dev =
        name == NULL ? best_device() : ggml_backend_dev_by_name(name);

    if (dev == NULL)
        refuse(name == NULL ? "" : name);
    return dev;
}
