/* SPDX-License-Identifier: MIT */
/*
 * loader/direct.c - the functions of ggml-cuda.h, by what a registration offers.
 *
 * Clients of old name the backend in their code and never load modules, so the
 * first call does it for them.  Nothing here knows the backend: what devices have
 * anyway is asked of them, the rest are functions that the registration has for a
 * name.
 */
#include "config.h"

#include "ggml-cuda.h"

#include "lib/base/status.h"
#include "lib/loader/search.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Those that answer to these functions, best first. */
static const struct {
    const char *name;   /* of the registration */
    const char *module; /* libggml-<module>.so */
} kinds[] = {
    { "CUDA", "cuda" },
    { "ROCm", "hip" },
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Was each looked for in the folders?  Relaxed: nothing else hangs on it. */
static atomic_bool is_searched[N_KINDS];

/* A search that ends at once, in a thread that is loading a module, is none. */
static ggml_backend_reg_t
find_kind(size_t kind)
{
    ggml_backend_reg_t reg = ggml_backend_reg_by_name(kinds[kind].name);

    if (reg != NULL ||
        atomic_load_explicit(&is_searched[kind], memory_order_relaxed))
        return reg;
    if (gb_search_load(kinds[kind].module))
        atomic_store_explicit(&is_searched[kind], true, memory_order_relaxed);
    return ggml_backend_reg_by_name(kinds[kind].name);
}

ggml_backend_reg_t
ggml_backend_cuda_reg(void)
{
    ggml_backend_reg_t reg = NULL;

    for (size_t kind = 0; kind < N_KINDS && reg == NULL; kind++)
        reg = find_kind(kind);
    return reg;
}

int
ggml_backend_cuda_get_device_count(void)
{
    ggml_backend_reg_t reg = ggml_backend_cuda_reg();
    const size_t count = reg != NULL ? ggml_backend_reg_dev_count(reg) : 0;

    return count > INT_MAX ? INT_MAX : (int)count;
}

/* NULL, and nothing said, where there is no such card. */
static ggml_backend_dev_t
find_device(int device)
{
    ggml_backend_reg_t reg = ggml_backend_cuda_reg();

    if (reg == NULL || device < 0 ||
        (size_t)device >= ggml_backend_reg_dev_count(reg))
        return NULL;
    return ggml_backend_reg_dev_get(reg, (size_t)device);
}

ggml_backend_t
ggml_backend_cuda_init(int device)
{
    ggml_backend_dev_t dev = find_device(device);

    if (dev != NULL)
        return ggml_backend_dev_init(dev, NULL);
    gb_fail(GGML_STATUS_FAILED, "cuda: there is no device %d, of %d", device,
            ggml_backend_cuda_get_device_count());
    return NULL;
}

bool
ggml_backend_is_cuda(ggml_backend_t backend)
{
    ggml_backend_dev_t dev =
        backend != NULL ? ggml_backend_get_device(backend) : NULL;
    ggml_backend_reg_t reg =
        dev != NULL ? ggml_backend_dev_backend_reg(dev) : NULL;

    for (size_t kind = 0; kind < N_KINDS && reg != NULL; kind++)
        if (strcmp(ggml_backend_reg_name(reg), kinds[kind].name) == 0)
            return true;
    return false;
}

void
ggml_backend_cuda_get_device_description(
    int device, char *description, size_t description_size)
{
    ggml_backend_dev_t dev = find_device(device);

    GB_NEED_VOID(description != NULL || description_size == 0,
                 "cuda: nowhere to write a description");
    if (description_size > 0)
        snprintf(description, description_size, "%s",
                 dev != NULL ? ggml_backend_dev_description(dev) : "");
}

void
ggml_backend_cuda_get_device_memory(int device, size_t *free, size_t *total)
{
    ggml_backend_dev_t dev = find_device(device);

    GB_NEED_VOID(free != NULL && total != NULL,
                 "cuda: nowhere to write a device's memory");
    *free = *total = 0;
    if (dev != NULL)
        ggml_backend_dev_memory(dev, free, total);
}

ggml_backend_buffer_type_t
ggml_backend_cuda_buffer_type(int device)
{
    ggml_backend_dev_t dev = find_device(device);

    return dev != NULL ? ggml_backend_dev_buffer_type(dev) : NULL;
}

ggml_backend_buffer_type_t
ggml_backend_cuda_host_buffer_type(void)
{
    ggml_backend_dev_t dev = find_device(0);

    return dev != NULL ? ggml_backend_dev_host_buffer_type(dev) : NULL;
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
