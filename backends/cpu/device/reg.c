/* SPDX-License-Identifier: MIT */
/*
 * cpu/device/reg.c - the CPU's registration: one device, and functions by name.
 *
 * The names are for programs that load a backend at run time and cannot link
 * its functions: the interface says which there are.
 */
#include "config.h"

#include "backends/cpu/device/device.h"

#include "backends/cpu/isa/machine.h"
#include "backends/cpu/plan/profile.h"

#include "ggml-cpu.h"

#include <string.h>

static const char *
reg_get_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return "CPU";
}

static size_t
reg_get_device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return 1;
}

static ggml_backend_dev_t
reg_get_device(ggml_backend_reg_t reg, size_t index)
{
    (void)reg;
    return index == 0 ? GB_CPU_DEVICE : NULL;
}

/* What the machine has; a row without a name is the last.  The interface's type
 * is not const, here and below. */
static struct ggml_backend_feature *
get_features(ggml_backend_reg_t reg)
{
    (void)reg;
    return (struct ggml_backend_feature *)gb_cpu_machine()->list;
}

/* Buffer types that keep weights packed; NULL ends the list. */
static ggml_backend_buffer_type_t *
get_extra_bufts(ggml_backend_dev_t dev)
{
    static const ggml_backend_buffer_type_t types[] = {
        GB_CPU_REPACK_BUFFER_TYPE, NULL
    };

    (void)dev;
    return (ggml_backend_buffer_type_t *)types;
}

struct named_function {
    const char *name;
    void *function;
};

static void *
reg_get_proc_address(ggml_backend_reg_t reg, const char *name)
{
    static const struct named_function functions[] = {
        { "ggml_backend_set_n_threads",
          (void *)ggml_backend_cpu_set_n_threads },
        { "ggml_backend_dev_get_extra_bufts", (void *)get_extra_bufts },
        { "ggml_backend_get_features", (void *)get_features },
        { "ggml_backend_set_abort_callback",
          (void *)ggml_backend_cpu_set_abort_callback },
        { "ggml_backend_cpu_numa_init", (void *)ggml_numa_init },
        { "ggml_backend_cpu_is_numa", (void *)ggml_is_numa },
        { "ggml_threadpool_new", (void *)ggml_threadpool_new },
        { "ggml_threadpool_free", (void *)ggml_threadpool_free },
        { "ggml_backend_cpu_set_threadpool",
          (void *)ggml_backend_cpu_set_threadpool },
        { "ggmlbackend_set_profile", (void *)gb_cpu_set_profile },
    };

    (void)reg;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    }
    return NULL;
}

const struct ggml_backend_reg gb_cpu_reg = {
    .api_version = GGML_BACKEND_API_VERSION,
    .iface = {
        .get_name = reg_get_name,
        .get_device_count = reg_get_device_count,
        .get_device = reg_get_device,
        .get_proc_address = reg_get_proc_address,
    },
};

ggml_backend_reg_t
ggml_backend_cpu_reg(void)
{
    return GB_CPU_REG;
}
