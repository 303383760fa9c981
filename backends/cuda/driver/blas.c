/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/blas.c - open the vendor's BLAS and look its functions up.
 *
 * It is half a gigabyte, and few machines have it: nothing of it is needed to
 * build or to run.  One that could end the process is not opened.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "backends/cuda/driver/blas.h"

#include "backends/cuda/driver/platform.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PATH = 4096 };

/* By enum gb_cuda_blas_call. */
static const struct {
    const char *name;
    size_t offset; /* of the member in struct gb_cuda_blas_library */
} entry_points[] = {
#define GB_BLAS_CALL(id, cuda, hip, parameters) \
    { GB_CUDA_NAME_OF(cuda, hip), offsetof(struct gb_cuda_blas_library, id) },
#include "backends/cuda/driver/blas.def"
#undef GB_BLAS_CALL
};

static struct {
    pthread_once_t once;
    struct gb_cuda_blas_library library;
    char reason[512]; /* "" where the library can be used */
} state = { .once = PTHREAD_ONCE_INIT };

/* The driver's folder, with a "/" behind it, as the loader has it. */
static bool
find_beside(const struct gb_cuda_driver *driver, char *folder, size_t size)
{
    const char *slash;
    void *address;
    Dl_info info;
    int length;

    memcpy(&address, &driver->init, sizeof(address));
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return false;
    slash = strrchr(info.dli_fname, '/');
    if (slash == NULL)
        return false;
    length = (int)(slash + 1 - info.dli_fname);
    return snprintf(folder, size, "%.*s", length, info.dli_fname) < (int)size;
}

static bool
serves(const char *folder, struct gb_cuda_arch arch)
{
    char files[MOST_PATH];

    arch.text[strcspn(arch.text, ":")] = '\0';
    if (gb_cuda_blas_platform.serves(folder, arch.text, files, sizeof(files)))
        return true;
    snprintf(state.reason, sizeof(state.reason), "%.400s has no files for %s",
             files, arch.text);
    return false;
}

/* Each card that the driver shows, whoever uses it. */
static bool
serves_all(const struct gb_cuda_driver *driver, const char *folder)
{
    int n = 0, result = driver->device_count(&n);

    for (int i = 0; i < n && result == GB_CUDA_SUCCESS; i++) {
        struct gb_cuda_arch arch;

        result = gb_cuda_platform_arch(driver, i, &arch);
        if (result == GB_CUDA_SUCCESS && !serves(folder, arch))
            return false;
    }
    if (result == GB_CUDA_SUCCESS)
        return true;
    snprintf(state.reason, sizeof(state.reason), "not all cards are known");
    return false;
}

/* What stands before its name; false where it must not be opened. */
static bool
find_folder(char *folder, size_t size)
{
    const char *unused;
    const struct gb_cuda_driver *driver = gb_cuda_driver(&unused);

    *folder = '\0';
    if (gb_cuda_blas_platform.serves == NULL)
        return true;
    if (driver != NULL && find_beside(driver, folder, size))
        return serves_all(driver, folder);
    snprintf(state.reason, sizeof(state.reason),
             "the folder of the driver is not known");
    return false;
}

/* The first library of the list that can be opened. */
static void *
open_library(void)
{
    const char *const *name = gb_cuda_blas_platform.names;
    char folder[MOST_PATH];
    void *library = NULL;

    if (!find_folder(folder, sizeof(folder)))
        return NULL;
    for (; library == NULL && *name != NULL; name++) {
        char path[MOST_PATH + 32];

        snprintf(path, sizeof(path), "%s%s", folder, *name);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (library == NULL)
        snprintf(state.reason, sizeof(state.reason),
                 "neither %.400s%s nor an older one can be opened", folder,
                 gb_cuda_blas_platform.names[0]);
    return library;
}

static void
open_blas(void)
{
    const size_t n = sizeof(entry_points) / sizeof(entry_points[0]);
    void *library = open_library();
    bool has_all = library != NULL;

    for (size_t i = 0; i < n && has_all; i++) {
        void *address = dlsym(library, entry_points[i].name);

        has_all = address != NULL;
        if (!has_all)
            snprintf(state.reason, sizeof(state.reason),
                     "the library has no %s", entry_points[i].name);
        memcpy((char *)&state.library + entry_points[i].offset, &address,
               sizeof(address));
    }
    if (has_all && gb_cuda_blas_platform.adapt != NULL)
        gb_cuda_blas_platform.adapt(&state.library);
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
gb_cuda_blas_call_name(enum gb_cuda_blas_call call)
{
    return entry_points[call].name;
}

const char *
gb_cuda_blas_error(int status)
{
    const char *const *names = gb_cuda_blas_platform.statuses;

    return status > 0 && status < gb_cuda_blas_platform.n_statuses &&
                   names[status] != NULL
               ? names[status] : "unknown status";
}
