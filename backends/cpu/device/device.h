/* SPDX-License-Identifier: MIT */
/*
 * cpu/device/device.h - the CPU's registration, its one device and its
 * backends.
 *
 * All objects are constant: they hold functions, not state.
 */
#ifndef GB_CPU_DEVICE_DEVICE_H
#define GB_CPU_DEVICE_DEVICE_H

#include "ggml-backend-impl.h"

extern const struct ggml_backend_reg gb_cpu_reg;
extern const struct ggml_backend_device gb_cpu_device;

/* Memory in which weights lie repacked. */
extern const struct ggml_backend_buffer_type gb_cpu_repack_buffer_type;

/* The interface's handles are not const, though nobody writes through them. */
#define GB_CPU_REG    ((ggml_backend_reg_t)&gb_cpu_reg)
#define GB_CPU_DEVICE ((ggml_backend_dev_t)&gb_cpu_device)
#define GB_CPU_REPACK_BUFFER_TYPE \
    ((ggml_backend_buffer_type_t)&gb_cpu_repack_buffer_type)

#endif
