/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/blas-entry.h - the entry points of blas.c, each under the
 * vendor's name; those that GB_HIP_ADAPTED changes have another one, and
 * blas-hip.c has the vendor's before them.
 */
#ifndef GB_GPU_EMULATOR_BLAS_ENTRY_H
#define GB_GPU_EMULATOR_BLAS_ENTRY_H

#include "backends/cuda/driver/blas.h"

#define GB_BLAS_CALL(id, cuda, hip, parameters)                      \
    __attribute__((visibility("default"))) int entry_##id parameters \
        __asm__(GB_CUDA_NAME_OF(cuda, hip));
#include "backends/cuda/driver/blas.def"
#undef GB_BLAS_CALL

/* TEXT on stderr, and the status of what the vendor's manual forbids. */
int gb_emu_blas_fault(const char *text);

#endif
