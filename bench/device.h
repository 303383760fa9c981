/* SPDX-License-Identifier: MIT */
/*
 * bench/device.h - a device that takes every operation and computes none.
 *
 * Its memory is not the host's as far as anybody can tell, so that what passes
 * between it and the CPU has to be copied.
 */
#ifndef GB_BENCH_DEVICE_H
#define GB_BENCH_DEVICE_H

#include "ggml-backend.h"

/* A backend of it, for ggml_backend_free; NULL without memory. */
ggml_backend_t bench_device_init(void);

#endif
