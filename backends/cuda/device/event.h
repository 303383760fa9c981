/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/event.h - events of devices, for backends that record them.
 */
#ifndef GB_CUDA_DEVICE_EVENT_H
#define GB_CUDA_DEVICE_EVENT_H

#include "backends/cuda/device/context.h"
#include "backends/cuda/device/device.h"

struct gb_cuda_event_of_device {
    struct ggml_backend_event event;
    struct gb_cuda_hold hold;
    gb_cuda_event handle;
};

/* NULL for another backend's. */
struct gb_cuda_event_of_device *gb_cuda_event_of(ggml_backend_event_t event);

#endif
