/* SPDX-License-Identifier: MIT */
/*
 * loader/direct-cuda.c - the functions of ggml-cuda.h.
 *
 * What devices have anyway is asked of them, the rest are functions that the
 * registration has for a name.
 */
#include "config.h"

#include "ggml-cuda.h"

#include "lib/loader/direct.h"

/* Those that answer to these functions, best first. */
static struct gb_direct kinds[] = {
    { .name = "CUDA", .module = "cuda" },
    { .name = "ROCm", .module = "hip" },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

ggml_backend_reg_t
ggml_backend_cuda_reg(void)
{
    ggml_backend_reg_t reg = NULL;

    for (size_t kind = 0; kind < N_KINDS && reg == NULL; kind++)
        reg = gb_direct_reg(&kinds[kind]);
    return reg;
}

int
ggml_backend_cuda_get_device_count(void)
{
    return gb_direct_count(ggml_backend_cuda_reg());
}

ggml_backend_t
ggml_backend_cuda_init(int device)
{
    return gb_direct_init(ggml_backend_cuda_reg(), "cuda", device);
}

bool
ggml_backend_is_cuda(ggml_backend_t backend)
{
    for (size_t kind = 0; kind < N_KINDS; kind++)
        if (gb_direct_is(&kinds[kind], backend))
            return true;
    return false;
}

void
ggml_backend_cuda_get_device_description(
    int device, char *description, size_t description_size)
{
    gb_direct_description(ggml_backend_cuda_reg(), "cuda", device, description,
                          description_size);
}

void
ggml_backend_cuda_get_device_memory(int device, size_t *free, size_t *total)
{
    gb_direct_memory(ggml_backend_cuda_reg(), "cuda", device, free, total);
}

ggml_backend_buffer_type_t
ggml_backend_cuda_buffer_type(int device)
{
    return gb_direct_buffer_type(ggml_backend_cuda_reg(), device);
}

ggml_backend_buffer_type_t
ggml_backend_cuda_host_buffer_type(void)
{
    return gb_direct_host_buffer_type(ggml_backend_cuda_reg());
}

/* ---- functions that a registration has for a name ---- */

union function {
    void *object;
    ggml_backend_split_buffer_type_t split_buffer_type;
    bool (*register_host_buffer)(void *buffer, size_t size);
    void (*unregister_host_buffer)(void *buffer);
};

/* The object is NULL where there is none. */
static union function
find_function(const char *name)
{
    ggml_backend_reg_t reg = ggml_backend_cuda_reg();
    union function function = { .object = NULL };

    if (reg != NULL)
        function.object = ggml_backend_reg_get_proc_address(reg, name);
    return function;
}

ggml_backend_buffer_type_t
ggml_backend_cuda_split_buffer_type(int main_device, const float *tensor_split)
{
    const union function function =
        find_function("ggml_backend_split_buffer_type");

    return function.object != NULL
               ? function.split_buffer_type(main_device, tensor_split)
               : NULL;
}

bool
ggml_backend_cuda_register_host_buffer(void *buffer, size_t size)
{
    const union function function =
        find_function("ggml_backend_register_host_buffer");

    return function.object != NULL &&
           function.register_host_buffer(buffer, size);
}

void
ggml_backend_cuda_unregister_host_buffer(void *buffer)
{
    const union function function =
        find_function("ggml_backend_unregister_host_buffer");

    if (function.object != NULL)
        function.unregister_host_buffer(buffer);
}
