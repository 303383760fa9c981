/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/cache.c - compiled pipelines, kept for later processes where
 * the driver keeps none.
 *
 * The last process that ends writes what it has: what another added meanwhile
 * is compiled once more.
 */
#include "backends/vulkan/device/cache.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Folders' names are shorter. */
enum { PATH_SIZE = 1024, REASON_SIZE = 160 };

/* Those that have files of their own: all of Mesa, and makers' for PCs. */
static const VkDriverId keepers[] = {
    VK_DRIVER_ID_AMD_PROPRIETARY,
    VK_DRIVER_ID_AMD_OPEN_SOURCE,
    VK_DRIVER_ID_NVIDIA_PROPRIETARY,
    VK_DRIVER_ID_INTEL_PROPRIETARY_WINDOWS,
    VK_DRIVER_ID_MOLTENVK,
    VK_DRIVER_ID_MESA_RADV,
    VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA,
    VK_DRIVER_ID_MESA_LLVMPIPE,
    VK_DRIVER_ID_MESA_TURNIP,
    VK_DRIVER_ID_MESA_V3DV,
    VK_DRIVER_ID_MESA_PANVK,
    VK_DRIVER_ID_MESA_VENUS,
    VK_DRIVER_ID_MESA_DOZEN,
    VK_DRIVER_ID_MESA_NVK,
    VK_DRIVER_ID_IMAGINATION_OPEN_SOURCE_MESA,
    (VkDriverId)26, /* Honeykrisp, of Mesa */
};

static bool
keeps_its_own(const struct gb_vk_card *card)
{
    for (size_t i = 0; i < sizeof(keepers) / sizeof(keepers[0]); i++)
        if (card->driver == keepers[i])
            return true;
    return false;
}

/* ---- where the file is ---- */

/* Both in one; false: that is too long. */
static bool
join(char *folder, const char *first, const char *below)
{
    const int length = snprintf(folder, PATH_SIZE, "%s%s", first, below);

    return length > 0 && length < PATH_SIZE;
}

/* What the system's variables say of the user's folder for caches; false:
 * nothing, or not of this user. */
static bool
find_user_folder(char *folder)
{
    const char *value;

    if (getuid() != geteuid() || getgid() != getegid())
        return false;
    value = getenv("XDG_CACHE_HOME");
    if (value != NULL && value[0] == '/')
        return join(folder, value, "/ggmlbackend");
    value = getenv("HOME");
    return value != NULL && value[0] == '/' &&
        join(folder, value, "/.cache/ggmlbackend");
}

/* The folder; false: there shall be no file. */
static bool
find_folder(const struct gb_vk_card *card, char *folder)
{
    const char *value = ggmlbackend_env_value("GGMLBACKEND_VULKAN_CACHE");

    if (value == NULL || value[0] == '\0')
        return !keeps_its_own(card) && find_user_folder(folder);
    return strcmp(value, "0") != 0 && strcmp(value, "off") != 0 &&
        join(folder, value, "");
}

/* The UUID, or what else tells models of GPUs apart. */
static void
write_identity(const struct gb_vk_card *card, char *text, size_t size)
{
    if (card->uuid_text[0] != '\0')
        snprintf(text, size, "%s", card->uuid_text + strlen("GPU-"));
    else
        snprintf(text, size, "%08x-%08x", (unsigned)card->cache_key.vendor,
                 (unsigned)card->cache_key.device);
}

/* "FOLDER/vulkan-UUID-VERSION.cache" */
static bool
find_path(const struct gb_vk_card *card, char *path, size_t size)
{
    char identity[sizeof(card->uuid_text)];
    char folder[PATH_SIZE];
    int length;

    if (!find_folder(card, folder))
        return false;
    write_identity(card, identity, sizeof(identity));
    length = snprintf(path, size, "%s/vulkan-%s-%08x.cache", folder, identity,
                      (unsigned)card->cache_key.driver);
    return length > 0 && (size_t)length < size;
}

/* ---- the driver's part ---- */

/* Its own header, which begins its data: a driver that is given another's
 * should refuse it, and need not. */
static bool
is_drivers(const struct gb_vk_card *card, const void *data, size_t size)
{
    const struct gb_vk_cache_key *key = &card->cache_key;
    VkPipelineCacheHeaderVersionOne header;

    if (size < sizeof(header))
        return false;
    memcpy(&header, data, sizeof(header));
    return header.headerSize >= sizeof(header) &&
           header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           header.vendorID == key->vendor && header.deviceID == key->device &&
           memcmp(header.pipelineCacheUUID, key->cache_uuid, GB_VK_UUID) == 0;
}

/* VK_NULL_HANDLE where the driver makes none. */
static VkPipelineCache
make(struct gb_vk_context *context, const void *data, size_t size)
{
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
        .initialDataSize = size,
        .pInitialData = data,
    };
    VkPipelineCache cache = VK_NULL_HANDLE;

    return context->calls.CreatePipelineCache(context->device, &info, NULL,
                                              &cache) == VK_SUCCESS
               ? cache : VK_NULL_HANDLE;
}

void
gb_vk_cache_open(struct gb_vk_context *context)
{
    const struct gb_vk_card *card = context->card;
    char path[PATH_SIZE], reason[REASON_SIZE] = "";
    void *data = NULL;
    size_t size = 0;

    if (!find_path(card, path, sizeof(path)))
        return;
    if (!gb_vk_cache_read(path, &card->cache_key, &data, &size, reason,
                          sizeof(reason)))
        size = 0;
    else if (!is_drivers(card, data, size))
        snprintf(reason, sizeof(reason), "the driver did not write it");
    else
        context->cache = make(context, data, size);
    free(data);
    if (size > 0 && reason[0] == '\0' && context->cache == VK_NULL_HANDLE)
        snprintf(reason, sizeof(reason), "the driver does not take it");
    if (reason[0] != '\0')
        GGML_LOG_WARN("%s: %s: not used: %s\n", card->label, path, reason);
    else if (size > 0)
        GGML_LOG_DEBUG("%s: %s: %zu bytes of pipelines\n", card->label, path,
                       size);
    if (context->cache != VK_NULL_HANDLE)
        context->cache_size = size;
    else
        context->cache = make(context, NULL, 0);
}

/* What the driver has to say; NULL, with the reason. */
static void *
get_data(struct gb_vk_context *context, size_t *size, char *reason,
         size_t reason_size)
{
    const PFN_vkGetPipelineCacheData get =
        context->calls.GetPipelineCacheData;
    void *data = NULL;
    VkResult result = get(context->device, context->cache, size, NULL);

    if (result == VK_SUCCESS && *size <= GB_VK_CACHE_MOST)
        data = malloc(*size > 0 ? *size : 1);
    if (data != NULL)
        result = get(context->device, context->cache, size, data);
    if (data != NULL && result == VK_SUCCESS)
        return data;
    free(data);
    if (result != VK_SUCCESS)
        snprintf(reason, reason_size, "vkGetPipelineCacheData: %s",
                 gb_vk_result(result));
    else if (*size > GB_VK_CACHE_MOST)
        snprintf(reason, reason_size, "%zu bytes are too many", *size);
    else
        snprintf(reason, reason_size, "there is no memory for it");
    return NULL;
}

static void
save(struct gb_vk_context *context)
{
    const struct gb_vk_card *card = context->card;
    char path[PATH_SIZE], reason[REASON_SIZE] = "";
    size_t size = 0;
    void *data;

    if (!find_path(card, path, sizeof(path)))
        return;
    data = get_data(context, &size, reason, sizeof(reason));
    /* Pipelines that are added make it larger. */
    if (data == NULL ||
        (size != context->cache_size &&
         !gb_vk_cache_write(path, &card->cache_key, data, size, reason,
                            sizeof(reason))))
        GGML_LOG_WARN("%s: %s: not written: %s\n", card->label, path, reason);
    free(data);
}

void
gb_vk_cache_close(struct gb_vk_context *context)
{
    if (context->cache == VK_NULL_HANDLE)
        return;
    if (context->n_made > 0 &&
        !atomic_load_explicit(&context->card->has_failed,
                              memory_order_acquire))
        save(context);
    context->calls.DestroyPipelineCache(context->device, context->cache, NULL);
}
