/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/features.c - what a device can do beyond what each can: the
 * rows of ops/features.def.
 */
#include "backends/vulkan/device/features.h"

#include "backends/vulkan/device/matrices.h"
#include "backends/vulkan/device/settings.h"
#include "backends/vulkan/shaders.h"

#include <stdio.h>
#include <string.h>

/* Work groups of shaders that use subgroups are multiples of the last; the
 * vectors of a processor are not above the second. */
enum { LEAST_SUBGROUP = 4, MOST_NARROW = 16, MOST_SUBGROUP = 64 };

static const struct {
    const char *name, *variable;
} rows[GB_VK_FEATURE_COUNT] = {
#define GB_VK_FEATURE(id, name, variable, capabilities) \
    [GB_VK_FEATURE_##id] = { name, variable },
#include "backends/vulkan/ops/features.def"
#undef GB_VK_FEATURE
};

/* ---- structs of Vulkan's, one behind the other ---- */

static void
link_struct(struct gb_vk_features *features, void *item)
{
    VkBaseOutStructure *base = item;

    base->pNext = features->chain;
    features->chain = base;
}

static void
link_extension(struct gb_vk_features *features, void *item, const char *name)
{
    link_struct(features, item);
    features->extensions[features->n_extensions++] = name;
}

/* All zero, but for types. */
static void
clear(struct gb_vk_features *features)
{
    *features = (struct gb_vk_features){
        .v12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES,
        .v11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES,
        .subgroups.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES,
        .dot.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES,
        .matrices.sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR,
    };
    link_struct(features, &features->v12);
    link_struct(features, &features->v11);
}

/* ---- asking ---- */

static void
ask(const struct gb_vk_card *card, const struct gb_vk_extensions *extensions,
    struct gb_vk_features *features)
{
    VkPhysicalDeviceFeatures2 all = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
    };
    const struct {
        void *item;
        const char *name;
    } optional[] = {
        { &features->subgroups, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME },
        { &features->dot, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME },
        { &features->matrices, VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME },
    };

    clear(features);
    for (size_t i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
        if (gb_vk_extensions_have(extensions, optional[i].name))
            link_struct(features, optional[i].item);
    all.pNext = features->chain;
    card->instance->calls.GetPhysicalDeviceFeatures2(card->physical, &all);
}

/* Invocations of a subgroup that a pipeline can ask for, and that sum; 0: there
 * is no such size.  *OPERATIONS is what they can do. */
static uint32_t
subgroup_of(const struct gb_vk_card *card,
            const struct gb_vk_features *features,
            VkSubgroupFeatureFlags *operations)
{
    const VkSubgroupFeatureFlags needed =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT;
    VkPhysicalDeviceSubgroupSizeControlProperties control = {
        .sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
    };
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES,
        .pNext = &control,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &subgroup,
    };
    uint32_t size;

    *operations = 0;
    if (!features->subgroups.subgroupSizeControl ||
        !features->subgroups.computeFullSubgroups)
        return 0;
    card->instance->calls.GetPhysicalDeviceProperties2(card->physical,
                                                       &properties);
    *operations = subgroup.supportedOperations;
    size = subgroup.subgroupSize > MOST_SUBGROUP ? MOST_SUBGROUP
                                                 : subgroup.subgroupSize;
    if ((subgroup.supportedOperations & needed) != needed ||
        (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0 ||
        (control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) == 0)
        return 0;
    return size >= LEAST_SUBGROUP && (size & (size - 1)) == 0 &&
                   size >= control.minSubgroupSize &&
                   size <= control.maxSubgroupSize &&
                   control.maxComputeWorkgroupSubgroups >= 256 / size
               ? size : 0;
}

/* Are CARD's subgroups, which can do OPERATIONS, vectors of a processor? */
static bool
is_narrow(const struct gb_vk_card *card, VkSubgroupFeatureFlags operations)
{
    return card->type == VK_PHYSICAL_DEVICE_TYPE_CPU &&
           card->limits.subgroup > 0 && card->limits.subgroup <= MOST_NARROW &&
           (operations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
}

/* Shaders with matrices have the memory model of Vulkan, and then others use its
 * scope of a device. */
static bool
has_matrices(
    struct gb_vk_card *card, const struct gb_vk_features *features)
{
    return features->matrices.cooperativeMatrix &&
           features->v12.vulkanMemoryModel &&
           features->v12.vulkanMemoryModelDeviceScope &&
           card->limits.subgroup > 0 && gb_vk_matrices_read(card);
}

/* Are dot products of bytes an instruction, and not several? */
static bool
dots_are_fast(const struct gb_vk_card *card)
{
    VkPhysicalDeviceShaderIntegerDotProductProperties dots = {
        .sType =
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &dots,
    };

    if ((card->features & GB_VK_HAS_INT_DOT) == 0)
        return false;
    card->instance->calls.GetPhysicalDeviceProperties2(card->physical,
                                                       &properties);
    return dots.integerDotProduct4x8BitPackedSignedAccelerated;
}

/* Those that somebody wants to do without, and those that the compiler of shaders did
 * not know; matrices where a processor would only act as if it had some, and dot
 * products that are not fast. */
static uint32_t
taken_away(const struct gb_vk_card *card)
{
    const bool is_cpu = card->type == VK_PHYSICAL_DEVICE_TYPE_CPU;
    uint32_t features = 0;

    if (gb_vk_spirv_of(GB_VK_SPIRV_gemmcoop_f16).size == 0 ||
        (is_cpu && !gb_vk_test_has("coopmat")))
        features |= GB_VK_HAS_COOPMAT;
    if (gb_vk_spirv_of(GB_VK_SPIRV_gemmdot_q8_0).size == 0 ||
        (!dots_are_fast(card) && !gb_vk_test_has("int-dot")))
        features |= GB_VK_HAS_INT_DOT;
    for (int i = 0; i < GB_VK_FEATURE_COUNT; i++) {
        char word[32];

        snprintf(word, sizeof(word), "no-%s", rows[i].name);
        if (gb_vk_test_has(word) || gb_vk_setting(rows[i].variable) != NULL)
            features |= UINT32_C(1) << i;
    }
    return features;
}

bool
gb_vk_features_read(
    struct gb_vk_card *card, const struct gb_vk_extensions *extensions)
{
    struct gb_vk_features features;
    VkSubgroupFeatureFlags operations;

    ask(card, extensions, &features);
    card->limits.subgroup = subgroup_of(card, &features, &operations);
    card->features =
        GB_VK_HAS_WIDE | (card->limits.subgroup > 0 ? GB_VK_HAS_SUBGROUP : 0) |
        (is_narrow(card, operations) ? GB_VK_HAS_NARROW : 0) |
        (features.dot.shaderIntegerDotProduct ? GB_VK_HAS_INT_DOT : 0) |
        (features.v12.shaderFloat16 ? GB_VK_HAS_F16 : 0) |
        (features.v11.storageBuffer16BitAccess ? GB_VK_HAS_STORAGE16 : 0) |
        (has_matrices(card, &features) ? GB_VK_HAS_COOPMAT : 0);
    card->limits.features = card->features & ~taken_away(card);
    if ((card->limits.features & GB_VK_HAS_SUBGROUP) == 0)
        card->limits.features &= ~(uint32_t)GB_VK_HAS_NARROW;
    return features.v12.timelineSemaphore;
}

void
gb_vk_features_want(
    const struct gb_vk_card *card, struct gb_vk_features *wanted)
{
    const uint32_t features = card->limits.features;

    clear(wanted);
    wanted->v12.timelineSemaphore = VK_TRUE;
    wanted->v12.shaderFloat16 = (features & GB_VK_HAS_F16) != 0;
    wanted->v12.vulkanMemoryModel = (features & GB_VK_HAS_COOPMAT) != 0;
    wanted->v12.vulkanMemoryModelDeviceScope =
        wanted->v12.vulkanMemoryModel;
    wanted->v11.storageBuffer16BitAccess =
        (features & GB_VK_HAS_STORAGE16) != 0;
    if ((features & GB_VK_HAS_SUBGROUP) != 0) {
        wanted->subgroups.subgroupSizeControl = VK_TRUE;
        wanted->subgroups.computeFullSubgroups = VK_TRUE;
        link_extension(wanted, &wanted->subgroups,
                       VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    }
    if ((features & GB_VK_HAS_INT_DOT) != 0) {
        wanted->dot.shaderIntegerDotProduct = VK_TRUE;
        link_extension(wanted, &wanted->dot,
                       VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);
    }
    if ((features & GB_VK_HAS_COOPMAT) != 0) {
        wanted->matrices.cooperativeMatrix = VK_TRUE;
        link_extension(wanted, &wanted->matrices,
                       VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    }
}

void
gb_vk_features_write(
    const struct gb_vk_card *card, uint32_t features, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (int i = 0; i < GB_VK_FEATURE_COUNT && at < size; i++) {
        if ((features >> i & 1) == 0)
            continue;
        at += (size_t)snprintf(text + at, size - at, "%s%s",
                               at > 0 ? ", " : "", rows[i].name);
        if (i == GB_VK_FEATURE_SUBGROUP && at < size)
            at += (size_t)snprintf(text + at, size - at, " %u",
                                   card->limits.subgroup);
        if (i == GB_VK_FEATURE_COOPMAT && at < size)
            at += (size_t)snprintf(text + at, size - at, " %ux%ux%u",
                                   card->limits.matrix[0],
                                   card->limits.matrix[1],
                                   card->limits.matrix[2]);
    }
}
