/* SPDX-License-Identifier: MIT */
/*
 * model/device.h - a device that computes.
 */
#ifndef TOOLS_MODEL_DEVICE_H
#define TOOLS_MODEL_DEVICE_H

#include "ggml-backend.h"

#include <stdbool.h>

struct device {
    ggml_backend_dev_t dev;
    ggml_backend_t backend;
    ggml_backend_buffer_type_t buft;
};

/* Open DEV; N_THREADS 0 leaves the number to the device.  False after a
 * message. */
bool device_open_dev(struct device *device, ggml_backend_dev_t dev,
                     int n_threads);

/* Find and open the device NAME, as tools/common/device.h says. */
bool device_open(struct device *device, const char *name, int n_threads);

void device_close(struct device *device);

/*
 * Did all copies to and from DEVICE since tool_forget_reason come about?  They
 * tell by the reason alone.  False after a message.
 */
bool device_has_copied(const struct device *device);

#endif
