/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/platform.h - what differs between the two vendors' drivers.
 *
 * platform.c answers for CUDA.  Where the same files are compiled for HIP,
 * GB_USE_HIP is defined and backends/hip has an answer of its own.
 */
#ifndef GB_CUDA_DRIVER_PLATFORM_H
#define GB_CUDA_DRIVER_PLATFORM_H

#include "backends/cuda/driver/driver.h"

/* Which of an entry point's two names is its own. */
#ifdef GB_USE_HIP
#define GB_CUDA_NAME_OF(cuda, hip) hip
#else
#define GB_CUDA_NAME_OF(cuda, hip) cuda
#endif

struct gb_cuda_platform {
    const char *name;             /* of the registration; devices' begin so */
    const char *log_name;         /* begins a message about no single device */
    const char *const *libraries; /* the driver's, tried in turn; NULL ends */
    const char *const *blas;      /* the BLAS', in the same way */
    int least_version;            /* of a driver: 1000 * major + 10 * minor */
};

extern const struct gb_cuda_platform gb_cuda_platform;

#endif
