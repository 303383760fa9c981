/* SPDX-License-Identifier: MIT */
/*
 * model/device.c - a device that computes.
 */
#include "tools/model/device.h"

#include "tools/common/device.h"
#include "tools/common/tool.h"

#include <string.h>

/* How a client reaches the thread count of a backend it does not link. */
static void
set_threads(const struct device *device, int n_threads)
{
    ggml_backend_set_n_threads_t set;
    ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(device->dev);
    void *address = NULL;

    if (reg != NULL)
        address = ggml_backend_reg_get_proc_address(
            reg, "ggml_backend_set_n_threads");
    if (address == NULL) {
        tool_warning("device %s: has no thread count to set",
                     ggml_backend_dev_name(device->dev));
        return;
    }
    /* ISO C has no conversion between the two kinds of pointers. */
    memcpy(&set, &address, sizeof(set));
    set(device->backend, n_threads);
}

bool
device_open_dev(struct device *device, ggml_backend_dev_t dev, int n_threads)
{
    memset(device, 0, sizeof(*device));
    device->dev = dev;
    tool_forget_reason();
    device->backend = ggml_backend_dev_init(device->dev, NULL);
    if (device->backend == NULL)
        return tool_error("device %s: %s", ggml_backend_dev_name(device->dev),
                          tool_reason());
    device->buft = ggml_backend_get_default_buffer_type(device->backend);
    if (n_threads > 0)
        set_threads(device, n_threads);
    return true;
}

bool
device_open(struct device *device, const char *name, int n_threads)
{
    ggml_backend_dev_t dev = tool_device_find(name);

    return dev != NULL && device_open_dev(device, dev, n_threads);
}

void
device_close(struct device *device)
{
    ggml_backend_free(device->backend);
    memset(device, 0, sizeof(*device));
}

bool
device_has_copied(const struct device *device)
{
    return !tool_has_reason() ||
           tool_error("copies to and from %s failed: %s",
                      ggml_backend_dev_name(device->dev), tool_reason());
}
