/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/instance.c - the process's instance of Vulkan.
 *
 * A client's own instances are beside it, and know nothing of it.
 */
#include "backends/vulkan/device/instance.h"

#include "backends/vulkan/device/settings.h"

#include "ggml-impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char validation_layer[] = "VK_LAYER_KHRONOS_validation";

/* ---- validation ---- */

/* The call goes on, whatever the severity: programs take an error for the reason
 * of a failure, and would say nothing where none follows. */
static VkBool32 VKAPI_PTR
tell_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
             VkDebugUtilsMessageTypeFlagsEXT types,
             const VkDebugUtilsMessengerCallbackDataEXT *data, void *user_data)
{
    (void)severity;
    (void)types;
    (void)user_data;
    GGML_LOG_WARN("vulkan validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static VkDebugUtilsMessengerCreateInfoEXT
messenger_info(void)
{
    return (VkDebugUtilsMessengerCreateInfoEXT){
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = tell_message,
    };
}

static bool
has_layer(const struct gb_vk_global *global, const char *name)
{
    VkLayerProperties *layers;
    uint32_t n = 0;
    bool found = false;

    if (global->EnumerateInstanceLayerProperties(&n, NULL) != VK_SUCCESS ||
        n == 0)
        return false;
    layers = calloc(n, sizeof(*layers));
    if (layers == NULL ||
        global->EnumerateInstanceLayerProperties(&n, layers) < VK_SUCCESS)
        n = 0;
    for (uint32_t i = 0; i < n; i++)
        found |= strcmp(layers[i].layerName, name) == 0;
    free(layers);
    return found;
}

/* Is it asked for, and there? */
static bool
validates(const struct gb_vk_global *global)
{
    if (gb_vk_setting("GGMLBACKEND_VULKAN_VALIDATE") == NULL)
        return false;
    if (has_layer(global, validation_layer))
        return true;
    GGML_LOG_WARN("vulkan: nothing is validated, there is no %s\n",
                  validation_layer);
    return false;
}

/* ---- the instance ---- */

static VkResult
create(struct gb_vk_instance *instance, const struct gb_vk_global *global,
       bool with_validation)
{
    static const char *const layers[] = { validation_layer };
    static const char *const extensions[] = {
        VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
        VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME,
    };
    static const VkValidationFeatureEnableEXT enabled[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT,
    };
    const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
    const VkValidationFeaturesEXT features = {
        .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
        .pNext = &messenger,
        .enabledValidationFeatureCount = 1,
        .pEnabledValidationFeatures = enabled,
    };
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pEngineName = "libggmlbackend",
        .apiVersion = VK_API_VERSION_1_2,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = with_validation ? &features : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = with_validation ? 1 : 0,
        .ppEnabledLayerNames = layers,
        .enabledExtensionCount = with_validation ? 2 : 0,
        .ppEnabledExtensionNames = extensions,
    };

    return global->CreateInstance(&info, NULL, &instance->handle);
}

/* Why there is none, for people. */
static void
explain(VkResult result, char *reason, size_t size)
{
    snprintf(reason, size, "vkCreateInstance: %s%s", gb_vk_result(result),
             result == VK_ERROR_INCOMPATIBLE_DRIVER
                 ? "; no driver is installed (Debian: mesa-vulkan-drivers, or "
                   "the maker's)"
                 : "");
}

bool
gb_vk_instance_init(
    struct gb_vk_instance *instance, char *reason, size_t size)
{
    const char *missing = NULL;
    const struct gb_vk_global *global = gb_vk_global(&missing);
    const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
    bool with_validation;
    VkResult result;

    memset(instance, 0, sizeof(*instance));
    if (global == NULL) {
        snprintf(reason, size, "%s", missing);
        return false;
    }
    with_validation = validates(global);
    result = create(instance, global, with_validation);
    if (result != VK_SUCCESS) {
        explain(result, reason, size);
        return false;
    }
    if (!gb_vk_look_up_instance(global, instance->handle, &instance->calls,
                                &missing)) {
        snprintf(reason, size, "the loader has no %s", missing);
        if (instance->calls.DestroyInstance != NULL)
            instance->calls.DestroyInstance(instance->handle, NULL);
        return false;
    }
    if (with_validation &&
        instance->calls.CreateDebugUtilsMessengerEXT != NULL)
        instance->calls.CreateDebugUtilsMessengerEXT(
            instance->handle, &messenger, NULL, &instance->messenger);
    return true;
}

void
gb_vk_instance_clear(struct gb_vk_instance *instance)
{
    if (instance->messenger != VK_NULL_HANDLE)
        instance->calls.DestroyDebugUtilsMessengerEXT(
            instance->handle, instance->messenger, NULL);
    instance->calls.DestroyInstance(instance->handle, NULL);
}
