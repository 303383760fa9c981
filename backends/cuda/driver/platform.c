/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/platform.c - CUDA's own names, and what its driver says of a card.
 */
#include "backends/cuda/driver/platform.h"

#include "backends/cuda/driver/blas.h"

#include <stdio.h>

static const char *const libraries[] = { "libcuda.so.1", NULL };
/* Kernels' arguments are constants of the grid from 11.7's compiler on, whose
 * code every driver of 11.x takes. */
const struct gb_cuda_platform gb_cuda_platform = {
    .name = "CUDA",
    .log_name = "cuda",
    .libraries = libraries,
    .least_version = 11000,
    .arch_word = "compute",
};

static const char *const blas[] = { "libcublas.so.13", "libcublas.so.12",
                                    "libcublas.so.11", NULL };

static const char *const statuses[] = {
    [GB_CUDA_BLAS_NOT_INITIALIZED] = "CUBLAS_STATUS_NOT_INITIALIZED",
    [GB_CUDA_BLAS_ALLOC_FAILED] = "CUBLAS_STATUS_ALLOC_FAILED",
    [GB_CUDA_BLAS_INVALID_VALUE] = "CUBLAS_STATUS_INVALID_VALUE",
    [GB_CUDA_BLAS_ARCH_MISMATCH] = "CUBLAS_STATUS_ARCH_MISMATCH",
    [GB_CUDA_BLAS_MAPPING_ERROR] = "CUBLAS_STATUS_MAPPING_ERROR",
    [GB_CUDA_BLAS_EXECUTION_FAILED] = "CUBLAS_STATUS_EXECUTION_FAILED",
    [GB_CUDA_BLAS_INTERNAL_ERROR] = "CUBLAS_STATUS_INTERNAL_ERROR",
    [GB_CUDA_BLAS_NOT_SUPPORTED] = "CUBLAS_STATUS_NOT_SUPPORTED",
};

const struct gb_cuda_blas_platform gb_cuda_blas_platform = {
    .names = blas,
    .statuses = statuses,
    .n_statuses = sizeof(statuses) / sizeof(statuses[0]),
};

const char *
gb_cuda_platform_adapt(struct gb_cuda_driver *driver, void *library)
{
    (void)driver;
    (void)library;
    return NULL;
}

const char *
gb_cuda_platform_hint(void)
{
    return NULL;
}

const char *
gb_cuda_platform_graph_fault(int version, int arch)
{
    (void)version;
    (void)arch;
    return NULL;
}

int
gb_cuda_platform_arch(
    const struct gb_cuda_driver *driver, int handle, struct gb_cuda_arch *out)
{
    int major = 0, minor = 0;
    int result = driver->device_attribute(&major, GB_CUDA_MAJOR, handle);

    if (result == GB_CUDA_SUCCESS)
        result = driver->device_attribute(&minor, GB_CUDA_MINOR, handle);
    out->number = 10 * major + minor;
    snprintf(out->text, sizeof(out->text), "%d.%d", major, minor);
    return result;
}

void
gb_cuda_platform_uuid(
    const struct gb_cuda_uuid *uuid, char *text, size_t size)
{
    const uint8_t *b = uuid->bytes;

    snprintf(text, size,
             "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
             b[11], b[12], b[13], b[14], b[15]);
}
