/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/blas.c - open the vendor's BLAS and look its functions up.
 *
 * It is half a gigabyte, and few machines have it: nothing of it is needed to
 * build or to run.
 */
#include "backends/cuda/driver/blas.h"

#include "backends/cuda/driver/platform.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset; /* of the member in struct gb_cuda_blas_library */
} entry_points[] = {
#define GB_BLAS_CALL(id, name, parameters) \
    { name, offsetof(struct gb_cuda_blas_library, id) },
#include "backends/cuda/driver/blas.def"
#undef GB_BLAS_CALL
};

static struct {
    pthread_once_t once;
    struct gb_cuda_blas_library library;
    char reason[128]; /* "" where the library can be used */
} state = { .once = PTHREAD_ONCE_INIT };

/* The first library of the list that can be opened. */
static void *
open_library(void)
{
    const char *const *name = gb_cuda_platform.blas;
    void *library = NULL;

    for (; library == NULL && *name != NULL; name++)
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
    return library;
}

static void
open_blas(void)
{
    const size_t n = sizeof(entry_points) / sizeof(entry_points[0]);
    void *library = open_library();

    if (gb_cuda_platform.blas[0] == NULL) {
        snprintf(state.reason, sizeof(state.reason),
                 "the backend uses none of %s", gb_cuda_platform.name);
        return;
    }
    if (library == NULL) {
        snprintf(state.reason, sizeof(state.reason),
                 "neither %s nor an older one can be opened",
                 gb_cuda_platform.blas[0]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        void *address = dlsym(library, entry_points[i].name);

        if (address == NULL)
            snprintf(state.reason, sizeof(state.reason),
                     "the library has no %s", entry_points[i].name);
        memcpy((char *)&state.library + entry_points[i].offset, &address,
               sizeof(address));
    }
}

const struct gb_cuda_blas_library *
gb_cuda_blas_library(const char **reason)
{
    pthread_once(&state.once, open_blas);
    if (state.reason[0] == '\0')
        return &state.library;
    *reason = state.reason;
    return NULL;
}

const char *
gb_cuda_blas_error(int status)
{
    static const char *const names[] = {
        [GB_CUDA_BLAS_NOT_INITIALIZED] = "CUBLAS_STATUS_NOT_INITIALIZED",
        [GB_CUDA_BLAS_ALLOC_FAILED] = "CUBLAS_STATUS_ALLOC_FAILED",
        [GB_CUDA_BLAS_INVALID_VALUE] = "CUBLAS_STATUS_INVALID_VALUE",
        [GB_CUDA_BLAS_ARCH_MISMATCH] = "CUBLAS_STATUS_ARCH_MISMATCH",
        [GB_CUDA_BLAS_MAPPING_ERROR] = "CUBLAS_STATUS_MAPPING_ERROR",
        [GB_CUDA_BLAS_EXECUTION_FAILED] = "CUBLAS_STATUS_EXECUTION_FAILED",
        [GB_CUDA_BLAS_INTERNAL_ERROR] = "CUBLAS_STATUS_INTERNAL_ERROR",
        [GB_CUDA_BLAS_NOT_SUPPORTED] = "CUBLAS_STATUS_NOT_SUPPORTED",
    };
    const int n = (int)(sizeof(names) / sizeof(names[0]));

    return status > 0 && status < n && names[status] != NULL
               ? names[status] : "unknown status";
}
