/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/proc.h - functions that only this backend has, by name.
 */
#ifndef GB_CUDA_DEVICE_PROC_H
#define GB_CUDA_DEVICE_PROC_H

#include "ggml-backend-impl.h"

/* NULL for a name that is not known. */
void *gb_cuda_proc_address(ggml_backend_reg_t reg, const char *name);

#endif
