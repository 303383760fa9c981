/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/entry.c - the loader's one entry point that clients look up, and the
 * real loader behind it, which is opened by its full path.
 */
#include "tests/vulkan/shim/changes.h"
#include "tests/vulkan/shim/faults.h"
#include "tests/vulkan/shim/live.h"
#include "tests/vulkan/shim/settings.h"

#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct shim_table shim_driver, shim_inner;

static bool is_overridden[SHIM_CALLS];
static PFN_vkGetInstanceProcAddr get_real; /* NULL: the null driver */
static PFN_vkGetDeviceProcAddr get_real_of_device;

/* A row is missing in the shim's calls.def where this does not compile. */
enum { SHIM_GetDeviceProcAddr = 0 };
#define GB_VK_CALL(level, name) _Static_assert(SHIM_##name >= 0, "a row");
#include "backends/vulkan/driver/calls.def"
#undef GB_VK_CALL

/* ---- tables ---- */

static void
put(struct shim_table *table, const struct shim_row *row,
    PFN_vkVoidFunction function)
{
    memcpy((char *)table + row->offset, &function, sizeof(function));
}

static PFN_vkVoidFunction
get(const struct shim_table *table, const struct shim_row *row)
{
    PFN_vkVoidFunction function;

    memcpy(&function, (const char *)table + row->offset, sizeof(function));
    return function;
}

void
shim_override(enum shim_call call, PFN_vkVoidFunction function)
{
    is_overridden[call] = true;
    put(&shim_inner, &shim_rows[call], function);
}

/* INSTANCE may be NULL: what is there without one. */
static void
fill(VkInstance instance)
{
    for (int i = 0; i < SHIM_CALLS; i++) {
        const struct shim_row *row = &shim_rows[i];
        PFN_vkVoidFunction function = get(&shim_driver, row);
        char name[80];

        snprintf(name, sizeof(name), "vk%s", row->name);
        if (function == NULL && get_real != NULL)
            function = get_real(instance, name);
        put(&shim_driver, row, function);
        if (!is_overridden[i])
            put(&shim_inner, row, function);
    }
}

static VkResult VKAPI_PTR
create_instance(const VkInstanceCreateInfo *info,
                const VkAllocationCallbacks *own, VkInstance *out)
{
    const VkResult result = shim_driver.CreateInstance(info, own, out);
    PFN_vkVoidFunction function;

    if (result != VK_SUCCESS)
        return result;
    fill(*out);
    if (get_real != NULL) {
        function = get_real(*out, "vkGetDeviceProcAddr");
        memcpy(&get_real_of_device, &function, sizeof(function));
    }
    return result;
}

/* ---- the real loader ---- */

static void *
open_loader(void)
{
    static const char *const patterns[] = {
        "/usr/lib/*/libvulkan.so.1", "/usr/lib*/libvulkan.so.1",
        "/usr/local/lib*/libvulkan.so.1"
    };
    const char *named = shim_setting("LOADER");
    void *library = named != NULL ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;

    for (size_t i = 0; i < 3 && library == NULL && named == NULL; i++) {
        glob_t found;

        if (glob(patterns[i], 0, NULL, &found) == 0) {
            library = dlopen(found.gl_pathv[0], RTLD_NOW | RTLD_LOCAL);
            globfree(&found);
        }
    }
    return library;
}

bool
shim_is_null(void)
{
    return shim_setting("NULL") != NULL;
}

static void
init(void)
{
    void *library = shim_is_null() ? NULL : open_loader();
    void *address =
        library != NULL ? dlsym(library, "vkGetInstanceProcAddr") : NULL;

    memcpy(&get_real, &address, sizeof(address));
    if (shim_is_null())
        shim_null_init();
    shim_override(SHIM_CreateInstance, (PFN_vkVoidFunction)create_instance);
    shim_cards_init();
    shim_late_init();
    shim_limits_init();
    shim_memory_init();
    shim_queues_init();
    shim_wrongs_init();
    fill(NULL);
    shim_faults_init();
}

/* ---- what clients look up ---- */

/* What is not in the table is the driver's; NULL where it has none. */
static PFN_vkVoidFunction
look_up(const char *name, PFN_vkVoidFunction real)
{
    const enum shim_call call =
        strncmp(name, "vk", 2) == 0 ? shim_find(name + 2) : SHIM_CALLS;

    if (call == SHIM_CALLS)
        return real;
    if (shim_is_without(name + 2) || (real == NULL && !shim_is_null()))
        return NULL;
    return shim_rows[call].wrapping;
}

static PFN_vkVoidFunction VKAPI_PTR
get_device_proc_addr(VkDevice device, const char *name)
{
    return look_up(name, get_real_of_device != NULL
                             ? get_real_of_device(device, name) : NULL);
}

/* Declared here, since the header's prototypes are left out. */
__attribute__((visibility("default"))) PFN_vkVoidFunction VKAPI_PTR
vkGetInstanceProcAddr(VkInstance instance, const char *name);

PFN_vkVoidFunction VKAPI_PTR
vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, init);
    if (strcmp(name, "vkGetDeviceProcAddr") == 0)
        return shim_is_without(name + 2)
                   ? NULL : (PFN_vkVoidFunction)get_device_proc_addr;
    if (strcmp(name, "vkGetInstanceProcAddr") == 0)
        return (PFN_vkVoidFunction)vkGetInstanceProcAddr;
    return look_up(name, get_real != NULL ? get_real(instance, name) : NULL);
}
