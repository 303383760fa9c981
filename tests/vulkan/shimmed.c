/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/shimmed.c - the module on the shim.
 */
#include "config.h"

#include "tests/vulkan/shimmed.h"

#include "tests/util/child.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct vk_shim shim;

static void (*current)(void);
static const char *current_variables;

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

/* "NAME=value …" */
static void
set_variables(const char *list)
{
    while (*list != '\0') {
        const size_t n = strcspn(list, " ");
        char one[512], name[sizeof(one) + 32];
        char *value;

        CHECK(n < sizeof(one));
        memcpy(one, list, n);
        one[n] = '\0';
        value = strchr(one, '=');
        CHECK(value != NULL);
        *value++ = '\0';
        snprintf(name, sizeof(name), "%s%s",
                 strncmp(one, "VK_", 3) == 0 ? "GGMLBACKEND_TEST_" : "", one);
        setenv(name, value, 1);
        list += n + strspn(list + n, " ");
    }
}

static void
run_current(void)
{
    set_variables(current_variables);
    current();
}

void
vk_case(void (*run)(void), const char *variables, const char **errors)
{
    static struct gb_child child;

    current = run;
    current_variables = variables;
    gb_child_run(run_current, &child);
    if (!child.is_done)
        fail_msg("[%s] %s", variables, child.errors);
    if (errors != NULL)
        *errors = child.errors;
}

/* ---- the module ---- */

static const char *
built(const char *path)
{
    static char whole[4096];
    const char *top = getenv("top_builddir");

    snprintf(whole, sizeof(whole), "%s/%s", top != NULL ? top : ".", path);
    return whole;
}

static void
look_up(void *library, void *member, const char *name)
{
    void *address = dlsym(library, name);

    CHECK(address != NULL);
    memcpy(member, &address, sizeof(address));
}

/* It has the loader's name, by which the module finds it opened. */
ggml_backend_reg_t
vk_load(void)
{
    void *library = dlopen(built("tests/vulkan/shim/.libs/libvulkan.so.1"),
                           RTLD_NOW | RTLD_LOCAL);

    CHECK(library != NULL);
    look_up(library, &shim.reset, "shim_reset");
    look_up(library, &shim.calls, "shim_calls");
    look_up(library, &shim.fail_call, "shim_fail");
    look_up(library, &shim.failures, "shim_failures");
    look_up(library, &shim.lose, "shim_lose");
    look_up(library, &shim.hang, "shim_hang");
    look_up(library, &shim.live, "shim_live");
    look_up(library, &shim.bytes, "shim_bytes");
    look_up(library, &shim.describe, "shim_describe");
    look_up(library, &shim.reports, "shim_reports");
    return ggml_backend_load(
        built("backends/vulkan/.libs/libggml-vulkan.so"));
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
