/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/wrap.c - the functions that clients get.
 *
 * The null driver leaves out what it has nothing to do for.
 */
#include "tests/vulkan/shim/faults.h"
#include "tests/vulkan/shim/live.h"

#include <string.h>

/* The first argument of a row: what the call belongs to. */
#define FIRST_OF(...) FIRST_IN(__VA_ARGS__, 0)
#define FIRST_IN(first, ...) ((const void *)(uintptr_t)(first))

#define BEGIN(name, arguments)                                               \
    VkResult result;                                                         \
                                                                             \
    if (shim_fails(SHIM_##name, FIRST_OF arguments, &result))                \
        return result;                                                       \
    result = shim_inner.name != NULL ? shim_inner.name arguments : VK_SUCCESS

#define GB_SHIM_MAKE(name, kind, made, parameters, arguments) \
    static VkResult VKAPI_PTR wrap_##name parameters          \
    {                                                         \
        BEGIN(name, arguments);                               \
        if (result == VK_SUCCESS)                             \
            shim_made(SHIM_##kind, SHIM_NUMBER(*made));       \
        return result;                                        \
    }
#define GB_SHIM_MANY(name, kind, n, made, parameters, arguments) \
    static VkResult VKAPI_PTR wrap_##name parameters             \
    {                                                            \
        memset(made, 0, (n) * sizeof(*made));                    \
        BEGIN(name, arguments);                                  \
        for (uint32_t i = 0; i < n; i++)                         \
            shim_made(SHIM_##kind, SHIM_NUMBER(made[i]));        \
        return result;                                           \
    }
#define GB_SHIM_DROP(name, kind, dropped, parameters, arguments) \
    static void VKAPI_PTR wrap_##name parameters                 \
    {                                                            \
        shim_passes(SHIM_##name);                                \
        shim_dropped(SHIM_##kind, SHIM_NUMBER(dropped));         \
        if (shim_inner.name != NULL)                             \
            shim_inner.name arguments;                           \
    }
#define GB_SHIM_CALL(name, parameters, arguments)    \
    static VkResult VKAPI_PTR wrap_##name parameters \
    {                                                \
        BEGIN(name, arguments);                      \
        return result;                               \
    }
#define GB_SHIM_TELL(name, parameters, arguments) \
    GB_SHIM_CALL(name, parameters, arguments)
#define GB_SHIM_VOID(name, parameters, arguments) \
    static void VKAPI_PTR wrap_##name parameters  \
    {                                             \
        shim_passes(SHIM_##name);                 \
        if (shim_inner.name != NULL)              \
            shim_inner.name arguments;            \
    }
#include "tests/vulkan/shim/calls.def"

#define ROW(name, has_result, tells)                              \
    [SHIM_##name] = { #name, (PFN_vkVoidFunction)wrap_##name,     \
                      offsetof(struct shim_table, name), has_result, tells },

const struct shim_row shim_rows[SHIM_CALLS] = {
#define GB_SHIM_MAKE(name, kind, made, parameters, arguments) ROW(name, true, false)
#define GB_SHIM_MANY(name, kind, n, made, parameters, arguments) ROW(name, true, false)
#define GB_SHIM_DROP(name, kind, dropped, parameters, arguments) ROW(name, false, false)
#define GB_SHIM_CALL(name, parameters, arguments) ROW(name, true, false)
#define GB_SHIM_TELL(name, parameters, arguments) ROW(name, true, true)
#define GB_SHIM_VOID(name, parameters, arguments) ROW(name, false, false)
#include "tests/vulkan/shim/calls.def"
};

enum shim_call
shim_find(const char *name)
{
    int i = 0;

    while (i < SHIM_CALLS && strcmp(shim_rows[i].name, name) != 0)
        i++;
    return (enum shim_call)i;
}
