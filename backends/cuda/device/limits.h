/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/limits.h - what a card can do at most, measured.
 */
#ifndef GB_CUDA_DEVICE_LIMITS_H
#define GB_CUDA_DEVICE_LIMITS_H

#include "backends/cuda/device/device.h"

#include "ggmlbackend.h"

/* "ggmlbackend_dev_measure_limits".  Any thread. */
enum ggml_status gb_cuda_measure_limits(
    ggml_backend_dev_t dev, struct ggmlbackend_dev_limits *limits);

#endif
