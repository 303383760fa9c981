/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/matrices.c - the size of a device's cooperative matrices.
 */
#include "backends/vulkan/device/matrices.h"

#include <stdlib.h>

/* What shaders with matrices have of it, at most. */
enum { SHARED = 32 << 10 };

/* ---- does a size suit the shaders? ---- */

/* Work groups of gemmcoop.comp: a tile, and two invocations for each row. */
static bool
suits_products(const uint32_t matrix[3], uint32_t subgroup, uint32_t tile)
{
    const uint32_t n = 2 * tile / subgroup; /* subgroups */
    const uint32_t cols = n >= 16 ? 4 : n >= 4 ? 2 : 1;
    const uint32_t rows = n / cols;

    /* Sums leave through the memory of F16 rows of 40. */
    return n > 0 && tile % (rows * matrix[0]) == 0 &&
           tile % (cols * matrix[1]) == 0 && 32 % matrix[2] == 0 &&
           matrix[0] % 4 == 0 && n * matrix[0] * matrix[1] * 4 <= 2 * tile * 80;
}

/* Work groups of attentioncoop.comp: 128 invocations, 32 queries and 32 keys. */
static bool
suits_attention(const uint32_t matrix[3], uint32_t subgroup)
{
    const uint32_t n = 128 / subgroup;

    return n > 0 && 32 % matrix[0] == 0 && 32 % matrix[1] == 0 &&
           32 % matrix[2] == 0 && matrix[1] % 8 == 0 && matrix[2] % 8 == 0 &&
           n * matrix[0] * matrix[1] * 4 <= 32 * (144 + 144);
}

static bool
suits(const VkCooperativeMatrixPropertiesKHR *item, uint32_t subgroup)
{
    const uint32_t matrix[3] = { item->MSize, item->NSize, item->KSize };

    return item->AType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
           item->BType == VK_COMPONENT_TYPE_FLOAT16_KHR &&
           item->CType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
           item->ResultType == VK_COMPONENT_TYPE_FLOAT32_KHR &&
           item->scope == VK_SCOPE_SUBGROUP_KHR &&
           !item->saturatingAccumulation && matrix[0] > 0 && matrix[1] > 0 &&
           matrix[2] > 0 && suits_products(matrix, subgroup, 64) &&
           suits_products(matrix, subgroup, 128) &&
           suits_attention(matrix, subgroup);
}

/* ---- choosing ---- */

static uint32_t
shared_of(const struct gb_vk_card *card)
{
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
    };

    card->instance->calls.GetPhysicalDeviceProperties2(card->physical,
                                                       &properties);
    return properties.properties.limits.maxComputeSharedMemorySize;
}

static uint32_t
list(const struct gb_vk_card *card, VkCooperativeMatrixPropertiesKHR **items)
{
    const PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR ask =
        card->instance->calls.GetPhysicalDeviceCooperativeMatrixPropertiesKHR;
    uint32_t n = 0;

    *items = NULL;
    if (ask == NULL || ask(card->physical, &n, NULL) != VK_SUCCESS)
        return 0;
    *items = calloc(n, sizeof(**items));
    if (*items == NULL)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        (*items)[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    return ask(card->physical, &n, *items) < VK_SUCCESS ? 0 : n;
}

/* Large ones, of which each value that is read serves many products, up to 16 by
 * 16 by 16; the first of several. */
static uint32_t
worth(const VkCooperativeMatrixPropertiesKHR *item)
{
    const uint32_t size = item->MSize * item->NSize * item->KSize;

    return item->MSize > 16 || item->NSize > 16 || item->KSize > 16 ? 1 : size;
}

bool
gb_vk_matrices_read(struct gb_vk_card *card)
{
    VkCooperativeMatrixPropertiesKHR *items;
    const uint32_t n = list(card, &items);
    uint32_t best = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (!suits(&items[i], card->limits.subgroup) ||
            worth(&items[i]) <= best)
            continue;
        best = worth(&items[i]);
        card->limits.matrix[0] = items[i].MSize;
        card->limits.matrix[1] = items[i].NSize;
        card->limits.matrix[2] = items[i].KSize;
    }
    free(items);
    return best > 0 && shared_of(card) >= SHARED;
}
