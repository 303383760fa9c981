/* SPDX-License-Identifier: MIT */
/*
 * loader/builtin.c - the backends that are part of this library.
 */
#include "config.h"

#include "lib/loader/registry.h"

#include "ggml-cpu.h"
#ifdef GB_BUILTIN_CUDA
#include "backends/cuda/device/reg.h"
#endif
#ifdef GB_BUILTIN_HIP
#include "backends/hip/reg.h"
#endif
#ifdef GB_BUILTIN_VULKAN
#include "backends/vulkan/device/reg.h"
#endif

/* Best first; the CPU, which can do everything, comes last. */
static const struct {
    const char *name;
    ggml_backend_reg_t (*get_reg)(void);
} builtin[] = {
#ifdef GB_BUILTIN_CUDA
    { "cuda", gb_cuda_reg },
#endif
#ifdef GB_BUILTIN_HIP
    { "hip", gb_hip_reg },
#endif
#ifdef GB_BUILTIN_VULKAN
    { "vulkan", gb_vk_reg },
#endif
    { "cpu", ggml_backend_cpu_reg },
};

size_t
gb_builtin_count(void)
{
    return sizeof(builtin) / sizeof(builtin[0]);
}

ggml_backend_reg_t
gb_builtin_reg(size_t index)
{
    return builtin[index].get_reg();
}

const char *
gb_builtin_name(size_t index)
{
    return builtin[index].name;
}
