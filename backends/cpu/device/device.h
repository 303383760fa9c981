/* SPDX-License-Identifier: MIT */
/*
 * cpu/device/device.h - the CPU's registration, its one device and its
 * backends.
 *
 * Both objects are constant: they hold functions, not state.
 */
#ifndef GB_CPU_DEVICE_DEVICE_H
#define GB_CPU_DEVICE_DEVICE_H

#include "ggml-backend-impl.h"

extern const struct ggml_backend_reg gb_cpu_reg;
extern const struct ggml_backend_device gb_cpu_device;

/* The interface's handles are not const, though nobody writes through them. */
#define GB_CPU_REG    ((ggml_backend_reg_t)&gb_cpu_reg)
#define GB_CPU_DEVICE ((ggml_backend_dev_t)&gb_cpu_device)

#endif
