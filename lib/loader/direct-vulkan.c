/* SPDX-License-Identifier: MIT */
/*
 * loader/direct-vulkan.c - the functions of ggml-vulkan.h.
 */
#include "config.h"

#include "ggml-vulkan.h"

#include "lib/loader/direct.h"

#include <limits.h>

static struct gb_direct vulkan = { .name = "Vulkan", .module = "vulkan" };

/* Devices are counted in int everywhere else; INT_MAX is none. */
static int
number_of(size_t dev_num)
{
    return dev_num > INT_MAX ? INT_MAX : (int)dev_num;
}

ggml_backend_reg_t
ggml_backend_vk_reg(void)
{
    return gb_direct_reg(&vulkan);
}

int
ggml_backend_vk_get_device_count(void)
{
    return gb_direct_count(ggml_backend_vk_reg());
}

ggml_backend_t
ggml_backend_vk_init(size_t dev_num)
{
    return gb_direct_init(ggml_backend_vk_reg(), "vulkan", number_of(dev_num));
}

bool
ggml_backend_is_vk(ggml_backend_t backend)
{
    return gb_direct_is(&vulkan, backend);
}

void
ggml_backend_vk_get_device_description(
    int device, char *description, size_t description_size)
{
    gb_direct_description(ggml_backend_vk_reg(), "vulkan", device, description,
                          description_size);
}

void
ggml_backend_vk_get_device_memory(int device, size_t *free, size_t *total)
{
    gb_direct_memory(ggml_backend_vk_reg(), "vulkan", device, free, total);
}

ggml_backend_buffer_type_t
ggml_backend_vk_buffer_type(size_t dev_num)
{
    return gb_direct_buffer_type(ggml_backend_vk_reg(), number_of(dev_num));
}

ggml_backend_buffer_type_t
ggml_backend_vk_host_buffer_type(void)
{
    return gb_direct_host_buffer_type(ggml_backend_vk_reg());
}
