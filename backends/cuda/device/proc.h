/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/proc.h - functions that only this backend has, by name.
 */
#ifndef GB_CUDA_DEVICE_PROC_H
#define GB_CUDA_DEVICE_PROC_H

#include "backends/cuda/device/device.h"

/* What all devices have in common, and their variants, "wgmma,mma8". */
struct gb_cuda_features {
    struct ggml_backend_feature rows[5]; /* the last one ends it */
    char variants[GB_CUDA_MAX_DEVICES * 8];
};

/* The devices are known. */
void gb_cuda_features_init(struct gb_cuda_features *features);
/* The registration's. */
struct gb_cuda_features *gb_cuda_features(void);

/* NULL for a name that is not known. */
void *gb_cuda_proc_address(ggml_backend_reg_t reg, const char *name);

#endif
