/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/driver.c - open the vendor's driver and look its functions up.
 *
 * The library stays open as long as the process: its threads and its exit
 * handlers live as long.
 */
#include "backends/cuda/driver/errors.h"
#include "backends/cuda/driver/platform.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { OPTIONAL, NEEDED };

/* Where the address of an entry point goes. */
struct entry_point {
    const char *name;
    int need;
    size_t offset; /* of the member in struct gb_cuda_driver */
};

static const struct entry_point entry_points[] = {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    { GB_CUDA_NAME_OF(cuda, hip), need, offsetof(struct gb_cuda_driver, id) },
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
};

static struct {
    pthread_once_t once;
    struct gb_cuda_driver driver;
    char reason[256]; /* "" where the driver can be used */
} state = { .once = PTHREAD_ONCE_INIT };

__attribute__((format(printf, 1, 2)))
static bool
refuse(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(state.reason, sizeof(state.reason), fmt, args);
    va_end(args);
    return false;
}

/* ERROR is gone with the next call of dlopen. */
static void
keep_reason(const char *error)
{
    refuse("no driver: %s", error != NULL ? error : "it cannot be opened");
}

/* The first library of the list that can be opened; where there is none, the
 * first one's failure is the reason. */
static void *
open_library(void)
{
    const char *const *name = gb_cuda_platform.libraries;
    void *library = NULL;

    for (; library == NULL && *name != NULL; name++) {
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL && state.reason[0] == '\0')
            keep_reason(dlerror());
    }
    if (library != NULL)
        state.reason[0] = '\0';
    return library;
}

/* POSIX lets a data pointer stand for a function's, of the same size. */
static bool
look_up(void *library)
{
    const size_t n = sizeof(entry_points) / sizeof(entry_points[0]);
    const char *reason;

    for (size_t i = 0; i < n; i++) {
        const struct entry_point *entry = &entry_points[i];
        void *address =
            entry->name[0] != '\0' ? dlsym(library, entry->name) : NULL;

        if (address == NULL && entry->need == NEEDED)
            return refuse("the driver is too old: it has no %s", entry->name);
        memcpy((char *)&state.driver + entry->offset, &address,
               sizeof(address));
    }
    reason = gb_cuda_platform_adapt(&state.driver, library);
    return reason == NULL || refuse("%s", reason);
}

static bool
start(void)
{
    const int result = state.driver.init(0);
    const char *hint;

    if (result == GB_CUDA_SUCCESS)
        return true;
    hint = gb_cuda_platform_hint();
    return refuse("%s: %s%s%s", gb_cuda_call_name(GB_CUDA_CALL_init),
                  gb_cuda_error(result), hint != NULL ? "; " : "",
                  hint != NULL ? hint : "");
}

static bool
is_new_enough(void)
{
    const int least = gb_cuda_platform.least_version;
    int version = 0;
    const int result = state.driver.version(&version);

    if (result != GB_CUDA_SUCCESS)
        return refuse("%s: %s", gb_cuda_call_name(GB_CUDA_CALL_version),
                      gb_cuda_error(result));
    if (version >= least)
        return true;
    return refuse("the driver is too old: it is of %s %d.%d, needed is %d.%d",
                  gb_cuda_platform.name, version / 1000, version % 1000 / 10,
                  least / 1000, least % 1000 / 10);
}

static void
open_driver(void)
{
    void *library = open_library();

    if (library == NULL || !look_up(library))
        return;
    gb_cuda_errors_use(&state.driver);
    if (is_new_enough())
        start();
}

const struct gb_cuda_driver *
gb_cuda_driver(const char **reason)
{
    pthread_once(&state.once, open_driver);
    if (state.reason[0] == '\0')
        return &state.driver;
    *reason = state.reason;
    return NULL;
}
