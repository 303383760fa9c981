/* SPDX-License-Identifier: MIT */
/*
 * vulkan/driver/driver.c - open the loader and look its functions up.
 */
#include "backends/vulkan/driver/driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct row {
    const char *name;
    size_t offset; /* of the member in its table */
    bool is_optional;
};

#define ROW(table, name, optional) { "vk" #name, offsetof(struct table, name), optional },

static const struct row global_rows[] = {
#define GB_VK_ROW_GLOBAL(name) ROW(gb_vk_global, name, false)
#define GB_VK_ROW_INSTANCE(name)
#define GB_VK_ROW_DEVICE(name)
#define GB_VK_ROW_OPTIONAL(name)
#define GB_VK_ROW_DEBUG(name)
#define GB_VK_CALL(level, name) GB_VK_ROW_##level(name)
#include "backends/vulkan/driver/calls.def"
#undef GB_VK_ROW_GLOBAL
#undef GB_VK_ROW_INSTANCE
#undef GB_VK_ROW_DEBUG
};

static const struct row instance_rows[] = {
#define GB_VK_ROW_GLOBAL(name)
#define GB_VK_ROW_INSTANCE(name) ROW(gb_vk_instance_calls, name, false)
#define GB_VK_ROW_DEBUG(name) ROW(gb_vk_instance_calls, name, true)
#include "backends/vulkan/driver/calls.def"
#undef GB_VK_ROW_INSTANCE
#undef GB_VK_ROW_DEVICE
#undef GB_VK_ROW_OPTIONAL
#undef GB_VK_ROW_DEBUG
};

static const struct row device_rows[] = {
#define GB_VK_ROW_INSTANCE(name)
#define GB_VK_ROW_DEVICE(name) ROW(gb_vk_device_calls, name, false)
#define GB_VK_ROW_OPTIONAL(name) ROW(gb_vk_device_calls, name, true)
#define GB_VK_ROW_DEBUG(name)
#include "backends/vulkan/driver/calls.def"
#undef GB_VK_ROW_GLOBAL
#undef GB_VK_ROW_INSTANCE
#undef GB_VK_ROW_DEVICE
#undef GB_VK_ROW_OPTIONAL
#undef GB_VK_ROW_DEBUG
#undef GB_VK_CALL
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

static struct {
    pthread_once_t once;
    struct gb_vk_global calls;
    char reason[160]; /* "" where there is a loader */
} state = { .once = PTHREAD_ONCE_INIT };

static void
put(void *table, const struct row *row, PFN_vkVoidFunction function)
{
    memcpy((char *)table + row->offset, &function, sizeof(function));
}

static void
open_loader(void)
{
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    void *address;

    if (library == NULL) {
        snprintf(state.reason, sizeof(state.reason),
                 "the loader libvulkan.so.1 cannot be opened (Debian: "
                 "libvulkan1)");
        return;
    }
    address = dlsym(library, "vkGetInstanceProcAddr");
    if (address == NULL) {
        snprintf(state.reason, sizeof(state.reason),
                 "libvulkan.so.1 has no vkGetInstanceProcAddr");
        return;
    }
    memcpy(&state.calls.GetInstanceProcAddr, &address, sizeof(address));
    for (size_t i = 0; i < COUNT(global_rows); i++) {
        const PFN_vkVoidFunction function =
            state.calls.GetInstanceProcAddr(NULL, global_rows[i].name);

        if (function == NULL)
            snprintf(state.reason, sizeof(state.reason),
                     "libvulkan.so.1 has no %s: it is of Vulkan 1.0",
                     global_rows[i].name);
        put(&state.calls, &global_rows[i], function);
    }
}

const struct gb_vk_global *
gb_vk_global(const char **reason)
{
    pthread_once(&state.once, open_loader);
    if (state.reason[0] == '\0')
        return &state.calls;
    *reason = state.reason;
    return NULL;
}

bool
gb_vk_look_up_instance(
    const struct gb_vk_global *global, VkInstance instance,
    struct gb_vk_instance_calls *calls, const char **missing)
{
    for (size_t i = 0; i < COUNT(instance_rows); i++) {
        const struct row *row = &instance_rows[i];
        const PFN_vkVoidFunction function =
            global->GetInstanceProcAddr(instance, row->name);

        if (function == NULL && !row->is_optional) {
            *missing = row->name;
            return false;
        }
        put(calls, row, function);
    }
    return true;
}

bool
gb_vk_look_up_device(
    const struct gb_vk_instance_calls *instance, VkDevice device,
    struct gb_vk_device_calls *calls, const char **missing)
{
    for (size_t i = 0; i < COUNT(device_rows); i++) {
        const struct row *row = &device_rows[i];
        const PFN_vkVoidFunction function =
            instance->GetDeviceProcAddr(device, row->name);

        if (function == NULL && !row->is_optional) {
            *missing = row->name;
            return false;
        }
        put(calls, row, function);
    }
    return true;
}
