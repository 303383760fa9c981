/* SPDX-License-Identifier: MIT */
/*
 * loader/sim-loaded.c - the simulated device's functions, out of the module.
 *
 * A test of the simulated device that is linked with this instead of the device
 * is a test of the module.
 */
#include "backends/sim/sim.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ISO C has no conversion between the two kinds of pointers. */
union function {
    void *address;
    gb_sim_default_fn get_default;
    gb_sim_parse_fn parse;
    gb_sim_configure_fn configure;
    gb_sim_fail_fn fail;
    gb_sim_count_fn count;
};

ggml_backend_reg_t
ggml_backend_sim_reg(void)
{
    const char *top = getenv("top_builddir");
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/.libs/libggml-sim.so",
             top == NULL ? "." : top);
    return ggml_backend_load(path);
}

static union function
find(const char *name)
{
    ggml_backend_reg_t reg = ggml_backend_sim_reg();
    union function function = { NULL };

    if (reg != NULL)
        function.address = ggml_backend_reg_get_proc_address(reg, name);
    if (function.address == NULL) {
        fprintf(stderr, "the module has no %s\n", name);
        abort();
    }
    return function;
}

void
gb_sim_default(struct gb_sim_config *out)
{
    find("ggml_backend_sim_default").get_default(out);
}

bool
gb_sim_parse(
    const char *settings, int *n_devices, struct gb_sim_config *config)
{
    return find("ggml_backend_sim_parse").parse(settings, n_devices, config);
}

bool
gb_sim_configure(int first, int n, const struct gb_sim_config *config)
{
    return find("ggml_backend_sim_configure").configure(first, n, config);
}

void
gb_sim_fail(enum gb_sim_fault fault, uint64_t nth)
{
    find("ggml_backend_sim_fail").fail(fault, nth);
}

void
gb_sim_count(struct gb_sim_counters *out)
{
    find("ggml_backend_sim_count").count(out);
}
