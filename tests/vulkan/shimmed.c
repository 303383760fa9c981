/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/shimmed.c - the module on the shim.
 */
#include "config.h"

#include "tests/vulkan/shimmed.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct vk_shim shim;

const char *
vk_result_name(int result)
{
    switch (result) {
    case OUT_OF_HOST_MEMORY:
        return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case OUT_OF_DEVICE_MEMORY:
        return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case INITIALIZATION_FAILED:
        return "VK_ERROR_INITIALIZATION_FAILED";
    case DEVICE_LOST:
        return "VK_ERROR_DEVICE_LOST";
    case INCOMPATIBLE_DRIVER:
        return "VK_ERROR_INCOMPATIBLE_DRIVER";
    }
    return "VK_ERROR_UNKNOWN";
}

/* ---- processes ---- */

void
vk_case(void (*run)(void), const char *variables, const char **errors)
{
    gb_child_case(run, variables, "VK_", errors);
}

/* ---- the module ---- */

/* It has the loader's name, by which the module finds it opened. */
ggml_backend_reg_t
vk_load(void)
{
    void *library = dlopen(gb_built("tests/vulkan/shim/.libs/libvulkan.so.1"),
                           RTLD_NOW | RTLD_LOCAL);

    CHECK(library != NULL);
    gb_look_up(library, &shim.reset, "shim_reset");
    gb_look_up(library, &shim.calls, "shim_calls");
    gb_look_up(library, &shim.fail_call, "shim_fail");
    gb_look_up(library, &shim.failures, "shim_failures");
    gb_look_up(library, &shim.lose, "shim_lose");
    gb_look_up(library, &shim.hang, "shim_hang");
    gb_look_up(library, &shim.live, "shim_live");
    gb_look_up(library, &shim.bytes, "shim_bytes");
    gb_look_up(library, &shim.describe, "shim_describe");
    gb_look_up(library, &shim.reports, "shim_reports");
    return ggml_backend_load(
        gb_built("backends/vulkan/.libs/libggml-vulkan.so"));
}

ggml_backend_dev_t
vk_device(const char *name)
{
    ggml_backend_dev_t dev = ggml_backend_dev_by_name(name);

    CHECK(dev != NULL);
    return dev;
}

bool
vk_is_left(const char *what, uint64_t n)
{
    static uint64_t n_reports;
    const uint64_t n_new = shim.reports() - n_reports;
    char text[512];

    n_reports += n_new;
    if (shim.live() == 0 && shim.bytes() == 0 && n_new == 0)
        return false;
    shim.describe(text, sizeof(text));
    fprintf(stderr, "%s %d: %s are left, %d bytes, %d reports\n", what, (int)n,
            text, (int)shim.bytes(), (int)n_new);
    return true;
}
