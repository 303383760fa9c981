/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/cards.c - a physical device as several.
 *
 * The first of them has the driver's handle.  The others have handles of the
 * shim's, which functions that it does not know would not understand.
 */
#include "tests/vulkan/shim/changes.h"

#include "tests/vulkan/shim/settings.h"

#include <string.h>

enum { MAX_REAL = 8, MAX_COPIES = 4 };

struct copy {
    VkPhysicalDevice real; /* NULL: it is not used */
    int number;
};

static struct copy copies[MAX_REAL * MAX_COPIES];

VkPhysicalDevice
shim_real(VkPhysicalDevice physical, int *copy)
{
    struct copy *own = (struct copy *)(void *)physical;

    *copy = 0;
    if ((uintptr_t)own < (uintptr_t)copies ||
        (uintptr_t)own >= (uintptr_t)(copies + MAX_REAL * MAX_COPIES))
        return physical;
    *copy = own->number;
    return own->real;
}

VkResult
shim_give(const void *all, uint32_t count, size_t size, uint32_t *n, void *out)
{
    const uint32_t given = out == NULL || *n > count ? count : *n;

    if (out != NULL)
        memcpy(out, all, given * size);
    *n = given;
    return given < count ? VK_INCOMPLETE : VK_SUCCESS;
}

static VkResult VKAPI_PTR
enumerate(VkInstance instance, uint32_t *n, VkPhysicalDevice *out)
{
    VkPhysicalDevice real[MAX_REAL], all[MAX_REAL * MAX_COPIES];
    uint32_t n_real = MAX_REAL, count = 0, n_copies;
    const VkResult result =
        shim_driver.EnumeratePhysicalDevices(instance, &n_real, real);

    if (result < VK_SUCCESS)
        return result;
    n_copies = (uint32_t)shim_setting_number("CARDS");
    n_copies = n_copies > MAX_COPIES ? MAX_COPIES : n_copies;
    for (uint32_t k = 0; k < n_copies; k++) {
        for (uint32_t i = 0; i < n_real; i++, count++) {
            copies[count] = (struct copy){ real[i], (int)k };
            all[count] = k == 0 ? real[i]
                                : (VkPhysicalDevice)(void *)&copies[count];
        }
    }
    return shim_give(all, count, sizeof(all[0]), n, out);
}

static void VKAPI_PTR
get_external_buffers(VkPhysicalDevice physical,
                     const VkPhysicalDeviceExternalBufferInfo *info,
                     VkExternalBufferProperties *out)
{
    int copy;

    shim_driver.GetPhysicalDeviceExternalBufferProperties(
        shim_real(physical, &copy), info, out);
}

static VkResult VKAPI_PTR
get_matrices(VkPhysicalDevice physical, uint32_t *n,
             VkCooperativeMatrixPropertiesKHR *out)
{
    int copy;

    return shim_driver.GetPhysicalDeviceCooperativeMatrixPropertiesKHR(
        shim_real(physical, &copy), n, out);
}

void
shim_cards_init(void)
{
    if (shim_setting_number("CARDS") <= 1)
        return;
    shim_override(SHIM_EnumeratePhysicalDevices,
                  (PFN_vkVoidFunction)enumerate);
    shim_override(SHIM_GetPhysicalDeviceExternalBufferProperties,
                  (PFN_vkVoidFunction)get_external_buffers);
    shim_override(SHIM_GetPhysicalDeviceCooperativeMatrixPropertiesKHR,
                  (PFN_vkVoidFunction)get_matrices);
}
