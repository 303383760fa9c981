/* SPDX-License-Identifier: MIT */
/*
 * common/device.h - the device that a command line names.
 */
#ifndef TOOLS_COMMON_DEVICE_H
#define TOOLS_COMMON_DEVICE_H

#include "ggml-backend.h"

/* The device NAME, or the first GPU, or without one the CPU when NAME is NULL;
 * NULL after a message, which lists the devices. */
ggml_backend_dev_t tool_device_find(const char *name);

#endif
