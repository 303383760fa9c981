/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/blas.h - the vendor's BLAS, opened at run time.
 *
 * Types and numbers are those of cuBLAS (the vendor's reference manual),
 * declared here so that neither building nor testing needs its header.  But for
 * the first, statuses are each vendor's own.
 */
#ifndef GB_CUDA_DRIVER_BLAS_H
#define GB_CUDA_DRIVER_BLAS_H

#include "backends/cuda/driver/driver.h"

typedef struct gb_cuda_blas_object *gb_cuda_blas_handle;

enum gb_cuda_blas_status {
    GB_CUDA_BLAS_SUCCESS = 0,
    GB_CUDA_BLAS_NOT_INITIALIZED = 1,
    GB_CUDA_BLAS_ALLOC_FAILED = 3,
    GB_CUDA_BLAS_INVALID_VALUE = 7,
    GB_CUDA_BLAS_ARCH_MISMATCH = 8,
    GB_CUDA_BLAS_MAPPING_ERROR = 11,
    GB_CUDA_BLAS_EXECUTION_FAILED = 13,
    GB_CUDA_BLAS_INTERNAL_ERROR = 14,
    GB_CUDA_BLAS_NOT_SUPPORTED = 15,
};

enum {
    GB_CUDA_BLAS_NO_ATOMICS = 0,
    GB_CUDA_BLAS_AS_IT_IS = 0,   /* of a matrix, stored by columns */
    GB_CUDA_BLAS_TRANSPOSED = 1,
    GB_CUDA_BLAS_F32 = 0,        /* types */
    GB_CUDA_BLAS_F16 = 2,
    GB_CUDA_BLAS_BF16 = 14,
    GB_CUDA_BLAS_COMPUTE_F32 = 68, /* sums are F32 */
    GB_CUDA_BLAS_ANY_ALGORITHM = -1,
};

struct gb_cuda_blas_library {
#define GB_BLAS_CALL(id, cuda, hip, parameters) int (*id) parameters;
#include "backends/cuda/driver/blas.def"
#undef GB_BLAS_CALL
};

enum gb_cuda_blas_call {
#define GB_BLAS_CALL(id, cuda, hip, parameters) GB_CUDA_BLAS_CALL_##id,
#include "backends/cuda/driver/blas.def"
#undef GB_BLAS_CALL
};

/*
 * The library, opened by the first call; it stays open.  NULL, with *REASON
 * (static) saying why, where there is none that has all of it.  Any thread.
 */
const struct gb_cuda_blas_library *gb_cuda_blas_library(const char **reason);

/* The vendor's name of an entry point: "cublasCreate_v2". */
const char *gb_cuda_blas_call_name(enum gb_cuda_blas_call call);

/* "CUBLAS_STATUS_ALLOC_FAILED", for messages; never NULL. */
const char *gb_cuda_blas_error(int status);

#endif
