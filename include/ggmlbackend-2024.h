/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-2024.h - bringing in a backend that was written for 2024-10.
 *
 * The backend's source is compiled with the folder level-2024 in front (flags
 * of pkg-config ggmlbackend-2024).  There ggml_backend_register,
 * ggml_backend_device_register and the functions that ask a registration take
 * the registrations of that level, so that most need nothing of this header.
 *
 * Devices get no node that meant something else in 2024-10, whatever they say.
 * One that says CPU is listed as ACCEL: at first that was the word for one that
 * helps the CPU, which is CPU_FULL there.
 */
#ifndef GGMLBACKEND_2024_H
#define GGMLBACKEND_2024_H

/* The one of the level that the source is compiled for. */
#include <ggml.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ggml_backend_reg;

/* ---- registrations ---- */

/*
 * The registration of today that stands for REG, one of level 2024-10: what a
 * module's ggml_backend_init returns.  It is not put into the registry, and
 * REG's devices belong to it from now on, so they must be writable.  Both live
 * as long as the process.
 *
 * The same again for a REG with devices.  NULL for NULL, or without memory.
 * Any thread, but one REG by one thread at a time.
 */
GGML_API struct ggml_backend_reg *ggmlbackend_reg_2024(
    struct ggml_backend_reg *reg);

#ifdef __cplusplus
}
#endif

#endif
