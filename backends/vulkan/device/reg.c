/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/reg.c - the registration: which cards are there, as which
 * devices.
 *
 * Cards are asked once, when somebody first wants the registration, which takes
 * an instance and nothing on a card.  This backend is loaded last: a card that
 * another one lists already is left to that.
 */
#include "backends/vulkan/device/reg.h"

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/limits.h"
#include "backends/vulkan/device/settings.h"

#include "ggml-impl.h"
#include "ggml-vulkan.h"
#include "ggmlbackend.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PHYSICAL = 64 };

static struct {
    pthread_once_t once;
    struct gb_vk_instance instance;
    struct gb_vk_device devices[GGML_VK_MAX_DEVICES];
    int n_devices;
    char reason[512]; /* why there is no device, or why the last one is none */
} state = { .once = PTHREAD_ONCE_INIT };

/* ---- members ---- */

static const char *
reg_get_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return GGML_VK_NAME;
}

static size_t
reg_get_device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return (size_t)state.n_devices;
}

static ggml_backend_dev_t
reg_get_device(ggml_backend_reg_t reg, size_t index)
{
    (void)reg;
    return index < (size_t)state.n_devices ? &state.devices[index].handle
                                           : NULL;
}

static const struct ggml_backend_feature *
get_properties(ggml_backend_dev_t dev)
{
    const struct gb_vk_device *device = gb_vk_device_of(dev);

    return device != NULL ? device->properties : NULL;
}

static void *
reg_get_proc_address(ggml_backend_reg_t reg, const char *name)
{
    (void)reg;
    if (strcmp(name, "ggmlbackend_dev_get_properties") == 0)
        return (void *)get_properties;
    if (strcmp(name, "ggmlbackend_dev_measure_limits") == 0)
        return (void *)gb_vk_measure_limits;
    if (strcmp(name, "ggml_backend_set_abort_callback") == 0)
        return (void *)gb_vk_set_abort_callback;
    return NULL;
}

static struct ggml_backend_reg vulkan_reg = {
    .api_version = GGML_BACKEND_API_VERSION,
    .iface = {
        .get_name = reg_get_name,
        .get_device_count = reg_get_device_count,
        .get_device = reg_get_device,
        .get_proc_address = reg_get_proc_address,
    },
};

struct gb_vk_device *
gb_vk_device_of(ggml_backend_dev_t dev)
{
    return dev != NULL && dev->reg == &vulkan_reg ? dev->context : NULL;
}

/* ---- cards of other backends ---- */

/* Is the value of a row called NAME the text VALUE? */
static bool
has_row(const struct ggml_backend_feature *rows, const char *name,
        const char *value)
{
    for (; rows != NULL && rows->name != NULL && value[0] != '\0'; rows++)
        if (strcmp(rows->name, name) == 0 && strcmp(rows->value, value) == 0)
            return true;
    return false;
}

static bool
is_device(ggml_backend_dev_t dev, const struct gb_vk_card *card)
{
    union {
        void *object;
        ggmlbackend_dev_get_properties_t function;
    } get;
    const struct ggml_backend_feature *rows;

    get.object = ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(dev), "ggmlbackend_dev_get_properties");
    if (get.object == NULL)
        return false;
    rows = get.function(dev);
    return has_row(rows, "UUID", card->uuid_text) ||
           has_row(rows, "PCI", card->pci);
}

/* The device of another backend that is this card; NULL: none. */
static ggml_backend_dev_t
find_duplicate(const struct gb_vk_card *card)
{
    if (gb_vk_setting("GGMLBACKEND_VULKAN_DUPLICATES") != NULL)
        return NULL;
    for (size_t i = 0; i < ggml_backend_dev_count(); i++) {
        ggml_backend_dev_t dev = ggml_backend_dev_get(i);

        if (gb_vk_device_of(dev) == NULL && is_device(dev, card))
            return dev;
    }
    return NULL;
}

/* ---- listing ---- */

/* The last one is told by who finds no card, else in the log. */
static void
refuse(int index, const char *reason)
{
    if (state.reason[0] != '\0')
        GGML_LOG_INFO("vulkan: not used: %s\n", state.reason);
    snprintf(state.reason, sizeof(state.reason), "device %d, %s", index,
             reason);
}

/* By their UUIDs, or, where one has none, by where they are plugged in.  Without
 * either they are two. */
static bool
are_same(const struct gb_vk_card *a, const struct gb_vk_card *b)
{
    if (a->uuid_text[0] != '\0' && b->uuid_text[0] != '\0')
        return strcmp(a->uuid_text, b->uuid_text) == 0;
    return a->pci[0] != '\0' && strcmp(a->pci, b->pci) == 0;
}

/* The earlier device that is the same GPU, as several drivers may serve one; NULL:
 * none. */
static const struct gb_vk_device *
find_same(const struct gb_vk_card *card)
{
    for (int i = 0; i < state.n_devices; i++)
        if (are_same(&state.devices[i].card, card))
            return &state.devices[i];
    return NULL;
}

/* Is the card one that is to be used?  Else the reason is written. */
static bool
is_wanted(const struct gb_vk_card *card, char *reason, size_t size)
{
    const struct gb_vk_device *same = find_same(card);
    ggml_backend_dev_t other;

    if (card->type == VK_PHYSICAL_DEVICE_TYPE_CPU &&
        gb_vk_setting("GGMLBACKEND_VULKAN_SOFTWARE") == NULL) {
        snprintf(reason, size, "%s: it is software, which "
                 "GGMLBACKEND_VULKAN_SOFTWARE=1 lists", card->name);
        return false;
    }
    if (same != NULL) {
        snprintf(reason, size, "%s: %s is the same card, by another driver "
                 "(%s)", card->name, same->name, same->card.driver_text);
        return false;
    }
    other = find_duplicate(card);
    if (other == NULL)
        return true;
    snprintf(reason, size, "%s: it is %s already; "
             "GGMLBACKEND_VULKAN_DUPLICATES=1 lists it too", card->name,
             ggml_backend_dev_name(other));
    return false;
}

static void
add_device(VkPhysicalDevice physical, int index)
{
    struct gb_vk_device *device = &state.devices[state.n_devices];
    char reason[384];

    if (state.n_devices == GGML_VK_MAX_DEVICES) {
        refuse(index, "there are as many as there may be already");
        return;
    }
    memset(device, 0, sizeof(*device));
    if (!gb_vk_card_init(&device->card, &state.instance, physical, reason,
                         sizeof(reason)) ||
        !is_wanted(&device->card, reason, sizeof(reason))) {
        refuse(index, reason);
        return;
    }
    gb_vk_device_init(device, &vulkan_reg, state.n_devices);
    state.n_devices++;
    GGML_LOG_INFO("%s: %s, %s\n", device->name, device->card.name,
                  device->card.driver_text);
}

/* Devices of PHYSICAL are asked in this order. */
static int
rank_of(VkPhysicalDevice physical)
{
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
    };

    state.instance.calls.GetPhysicalDeviceProperties2(physical, &properties);
    switch ((int)properties.properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
        return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
        return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
        return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
        return 3;
    }
    return 4;
}

/* Those that GGML_VK_VISIBLE_DEVICES names, in its order; false: it names none. */
static bool
add_visible(const VkPhysicalDevice *physical, int n)
{
    const char *text = ggmlbackend_env_value("GGML_VK_VISIBLE_DEVICES");
    int list[MAX_PHYSICAL];
    int n_listed;

    if (text == NULL || text[0] == '\0')
        return false;
    n_listed = gb_vk_read_list(text, n, MAX_PHYSICAL, list);
    if (n_listed < 0) {
        GGML_LOG_WARN("GGML_VK_VISIBLE_DEVICES: %s is no list of devices below "
                      "%d, and not used\n", text, n);
        return false;
    }
    for (int i = 0; i < n_listed; i++)
        add_device(physical[list[i]], list[i]);
    return true;
}

static void
add_all(const VkPhysicalDevice *physical, int n)
{
    for (int rank = 0; rank <= 4; rank++)
        for (int i = 0; i < n; i++)
            if (rank_of(physical[i]) == rank)
                add_device(physical[i], i);
}

static void
list_devices(void)
{
    VkPhysicalDevice physical[MAX_PHYSICAL];
    uint32_t n = MAX_PHYSICAL;
    VkResult result;

    if (!gb_vk_instance_init(&state.instance, state.reason,
                             sizeof(state.reason)))
        return;
    result = state.instance.calls.EnumeratePhysicalDevices(
        state.instance.handle, &n, physical);
    if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || n == 0)
        snprintf(state.reason, sizeof(state.reason),
                 "vkEnumeratePhysicalDevices: %s",
                 n == 0 ? "there is no device" : gb_vk_result(result));
    else if (!add_visible(physical, (int)n))
        add_all(physical, (int)n);
    if (state.n_devices == 0)
        gb_vk_instance_clear(&state.instance);
    else if (state.reason[0] != '\0')
        GGML_LOG_INFO("vulkan: not used: %s\n", state.reason);
}

ggml_backend_reg_t
gb_vk_reg(void)
{
    pthread_once(&state.once, list_devices);
    if (state.n_devices > 0)
        return &vulkan_reg;
    return ggmlbackend_not_here("%s", state.reason);
}
