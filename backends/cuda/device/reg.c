/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/reg.c - the registration: which cards are there, as which
 * devices.
 *
 * Cards are asked once, when somebody first wants the registration.  Nothing of
 * a card is taken by that: no context, no memory.
 */
#include "backends/cuda/device/reg.h"

#include "backends/cuda/device/context.h"
#include "backends/cuda/device/device.h"
#include "backends/cuda/device/proc.h"
#include "backends/cuda/device/settings.h"
#include "backends/cuda/driver/errors.h"
#include "backends/cuda/driver/platform.h"

#include "ggml-impl.h"

#include <stdio.h>

static struct {
    pthread_once_t once;
    struct gb_cuda_card cards[GB_CUDA_MAX_DEVICES];
    int ordinals[GB_CUDA_MAX_DEVICES]; /* the driver's index of each */
    int n_cards;
    struct gb_cuda_device devices[GB_CUDA_MAX_DEVICES];
    int n_devices;
    struct gb_cuda_host_type host_type;
    struct gb_cuda_features features;
    char reason[320]; /* why there is no device */
} state = { .once = PTHREAD_ONCE_INIT };

/* ---- members ---- */

static const char *
reg_get_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return gb_cuda_platform.name;
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

static struct ggml_backend_reg cuda_reg = {
    .api_version = GGML_BACKEND_API_VERSION,
    .iface = {
        .get_name = reg_get_name,
        .get_device_count = reg_get_device_count,
        .get_device = reg_get_device,
        .get_proc_address = gb_cuda_proc_address,
    },
};

/* ---- listing ---- */

static void
tell_refusal(void)
{
    if (state.reason[0] != '\0')
        GGML_LOG_WARN("%s: not used: %s\n", gb_cuda_platform.log_name,
                      state.reason);
}

/* The last one is told by who finds no card, and else when all were asked. */
static void
refuse_card(const struct gb_cuda_card *card, int ordinal, const char *reason)
{
    tell_refusal();
    snprintf(state.reason, sizeof(state.reason), "card %d%s%s: %s", ordinal,
             card->name[0] != '\0' ? ", " : "", card->name, reason);
}

/* The card of ORDINAL, which may be listed already; NULL: not to be used. */
static struct gb_cuda_card *
card_of(const struct gb_cuda_driver *driver, int ordinal)
{
    struct gb_cuda_card *card = &state.cards[state.n_cards];
    char label[16], reason[256] = "";

    for (int i = 0; i < state.n_cards; i++) {
        if (state.ordinals[i] == ordinal)
            return &state.cards[i];
    }
    snprintf(label, sizeof(label), "%s%d", gb_cuda_platform.name,
             state.n_devices);
    if (!gb_cuda_card_init(card, driver, ordinal, label, reason,
                           sizeof(reason))) {
        refuse_card(card, ordinal, reason);
        return NULL;
    }
    state.ordinals[state.n_cards++] = ordinal;
    return card;
}

static void
tell(const struct gb_cuda_device *device)
{
    struct gb_cuda_card *card = device->card;

    GGML_LOG_INFO("%s: %s, %s %s, %zu MiB, kernel variant %s\n",
                  device->name, device->description,
                  gb_cuda_platform.arch_word, card->arch.text,
                  card->memory >> 20,
                  gb_cuda_variant_name(gb_cuda_card_limits(card).variant));
}

static void
add_device(const struct gb_cuda_driver *driver, int ordinal)
{
    struct gb_cuda_device *device = &state.devices[state.n_devices];

    device->card = card_of(driver, ordinal);
    if (device->card == NULL)
        return;
    gb_cuda_device_init(device, &cuda_reg, state.n_devices++);
    tell(device);
}

/* Not told where the driver does not answer: who lists the card finds that. */
static bool
is_listed_last(const struct gb_cuda_driver *driver, int ordinal)
{
    int handle, is_integrated = 0;

    return gb_cuda_platform.discrete_first &&
           driver->device_get(&handle, ordinal) == GB_CUDA_SUCCESS &&
           driver->device_attribute(&is_integrated, GB_CUDA_INTEGRATED,
                                    handle) == GB_CUDA_SUCCESS &&
           is_integrated != 0;
}

/* All cards, as many as can be devices; the count. */
static int
all_cards(const struct gb_cuda_driver *driver, int n_cards, int *ordinals)
{
    int last[GB_CUDA_MAX_DEVICES];
    int n = 0, n_last = 0;

    for (int i = 0; i < n_cards && n < GB_CUDA_MAX_DEVICES; i++) {
        if (n_cards == 1 || !is_listed_last(driver, i))
            ordinals[n++] = i;
        else if (n_last < GB_CUDA_MAX_DEVICES)
            last[n_last++] = i;
    }
    for (int i = 0; i < n_last && n < GB_CUDA_MAX_DEVICES; i++)
        ordinals[n++] = last[i];
    return n;
}

/* The driver's indices of what shall be shown; the count. */
static int
wanted_cards(const struct gb_cuda_driver *driver, int n_cards, int *ordinals)
{
    const char *list = gb_cuda_setting("GGMLBACKEND_GPU_DEVICES");
    int n = -1;

    if (list != NULL) {
        n = gb_cuda_read_list(list, n_cards, GB_CUDA_MAX_DEVICES, ordinals);
        if (n < 0)
            gb_cuda_setting_refuse("GGMLBACKEND_GPU_DEVICES",
                                   "no list of the cards that there are");
    }
    if (n >= 0)
        return n;
    if (n_cards > GB_CUDA_MAX_DEVICES)
        GGML_LOG_WARN("%s: %d cards, of which the first %d are used\n",
                      gb_cuda_platform.log_name, n_cards, GB_CUDA_MAX_DEVICES);
    return all_cards(driver, n_cards, ordinals);
}

static void
list_devices(void)
{
    int ordinals[GB_CUDA_MAX_DEVICES];
    const struct gb_cuda_driver *driver;
    const char *reason;
    int n_cards = 0, n, result;

    driver = gb_cuda_driver(&reason);
    if (driver == NULL) {
        snprintf(state.reason, sizeof(state.reason), "%s", reason);
        return;
    }
    result = driver->device_count(&n_cards);
    if (result != GB_CUDA_SUCCESS || n_cards == 0) {
        snprintf(state.reason, sizeof(state.reason), "%s: %s",
                 gb_cuda_call_name(GB_CUDA_CALL_device_count),
                 result == GB_CUDA_SUCCESS ? "there is no card"
                                           : gb_cuda_error(result));
        return;
    }
    n = wanted_cards(driver, n_cards, ordinals);
    for (int i = 0; i < n; i++)
        add_device(driver, ordinals[i]);
    if (state.n_devices == 0)
        return;
    tell_refusal();
    gb_cuda_host_type_init(&state.host_type, &state.devices[0]);
    gb_cuda_features_init(&state.features);
}

/* ---- what others ask ---- */

ggml_backend_reg_t
gb_cuda_reg(void)
{
    pthread_once(&state.once, list_devices);
    if (state.n_devices > 0)
        return &cuda_reg;
    return ggmlbackend_not_here("%s", state.reason);
}

struct gb_cuda_device *
gb_cuda_device_of(ggml_backend_dev_t dev)
{
    return dev != NULL && dev->reg == &cuda_reg ? dev->context : NULL;
}

struct gb_cuda_device *
gb_cuda_device_at(int index)
{
    return index >= 0 && index < state.n_devices ? &state.devices[index]
                                                 : NULL;
}

int
gb_cuda_device_count(void)
{
    return state.n_devices;
}

ggml_backend_buffer_type_t
gb_cuda_host_buffer_type(void)
{
    return &state.host_type.buft;
}

struct gb_cuda_features *
gb_cuda_features(void)
{
    return &state.features;
}

struct gb_cuda_card *
gb_cuda_card_for_host(void)
{
    for (int i = 0; i < state.n_cards; i++) {
        if (gb_cuda_has_context(&state.cards[i]))
            return &state.cards[i];
    }
    return state.n_cards > 0 ? &state.cards[0] : NULL;
}
