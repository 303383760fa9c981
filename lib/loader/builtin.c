/* SPDX-License-Identifier: MIT */
/*
 * loader/builtin.c - the backends that are part of this library.
 */
#include "config.h"

#include "lib/loader/registry.h"

#include "ggml-cpu.h"

/* Best first; the CPU, which can do everything, comes last. */
static ggml_backend_reg_t (*const builtin[])(void) = {
    ggml_backend_cpu_reg,
};

size_t
gb_builtin_count(void)
{
    return sizeof(builtin) / sizeof(builtin[0]);
}

ggml_backend_reg_t
gb_builtin_reg(size_t index)
{
    return builtin[index]();
}
