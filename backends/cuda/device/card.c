/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/card.c - what a card is; nothing here takes a context.
 */
#include "backends/cuda/device/card.h"

#include "backends/cuda/device/context.h"
#include "backends/cuda/device/settings.h"
#include "backends/cuda/driver/errors.h"
#include "backends/cuda/driver/monitor.h"
#include "backends/cuda/driver/platform.h"
#include "backends/cuda/images.h"

#include "ggml-impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PROHIBITED = 2 }; /* a compute mode */

/* Why a card cannot be used, for whoever lists it. */
struct refusal {
    char *text;
    size_t size;
};

GGML_ATTRIBUTE_FORMAT(2, 3)
static bool
refuse(const struct refusal *refusal, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(refusal->text, refusal->size, fmt, args);
    va_end(args);
    return false;
}

static bool
answered(const struct refusal *refusal, int result, enum gb_cuda_call call)
{
    return result == GB_CUDA_SUCCESS ||
           refuse(refusal, "%s: %s", gb_cuda_call_name(call),
                  gb_cuda_error(result));
}

/* An attribute that a driver does not know is 0. */
static bool
read_attribute(
    const struct gb_cuda_card *card, enum gb_cuda_attribute which, int *value,
    const struct refusal *refusal)
{
    const int result =
        card->driver->device_attribute(value, which, card->handle);

    if (result == GB_CUDA_INVALID_VALUE)
        *value = 0;
    return result == GB_CUDA_INVALID_VALUE ||
           answered(refusal, result, GB_CUDA_CALL_device_attribute);
}

static bool
read_attributes(struct gb_cuda_card *card, const struct refusal *refusal)
{
    int shared, optin, is_integrated, reads_pageable, mode;
    const struct {
        enum gb_cuda_attribute which;
        int *value;
    } rows[] = {
        { GB_CUDA_INTEGRATED, &is_integrated },
        { GB_CUDA_PAGEABLE_BY_HOST_TABLES, &reads_pageable },
        { GB_CUDA_MAX_SHARED_PER_BLOCK, &shared },
        { GB_CUDA_MAX_SHARED_OPTIN, &optin },
        { GB_CUDA_MULTIPROCESSORS, &card->limits.n_sms },
        { GB_CUDA_WARP_SIZE, &card->limits.warp },
        { GB_CUDA_COMPUTE_MODE, &mode },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!read_attribute(card, rows[i].which, rows[i].value, refusal))
            return false;
    }
    if (!answered(refusal,
                  gb_cuda_platform_arch(card->driver, card->handle,
                                        &card->arch),
                  GB_CUDA_CALL_device_attribute))
        return false;
    card->is_integrated = is_integrated != 0;
    card->reads_pageable = reads_pageable != 0;
    card->limits.shared = (size_t)(optin > shared ? optin : shared);
    return mode != PROHIBITED ||
           refuse(refusal, "%s may be used by nobody (compute mode)",
                  card->name);
}

/* Cards that the driver knows no number of go by their address. */
static void
read_uuid(struct gb_cuda_card *card)
{
    struct gb_cuda_uuid uuid;

    if (card->driver->device_uuid == NULL ||
        card->driver->device_uuid(&uuid, card->handle) != GB_CUDA_SUCCESS)
        return;
    gb_cuda_platform_uuid(&uuid, card->uuid_text, sizeof(card->uuid_text));
}

static bool
read_names(struct gb_cuda_card *card, const struct refusal *refusal)
{
    const struct gb_cuda_driver *driver = card->driver;
    const int handle = card->handle;

    read_uuid(card);
    return answered(refusal,
                    driver->device_name(card->name, sizeof(card->name),
                                        handle),
                    GB_CUDA_CALL_device_name) &&
           answered(refusal,
                    driver->device_pci(card->pci, sizeof(card->pci), handle),
                    GB_CUDA_CALL_device_pci) &&
           answered(refusal, driver->device_memory(&card->memory, handle),
                    GB_CUDA_CALL_device_memory);
}

/* The variant that the environment allows at most. */
static enum gb_cuda_variant
highest_variant(void)
{
    const char *variable = "GGMLBACKEND_GPU_VARIANT";
    const char *name = gb_cuda_setting_if_on(variable);
    enum gb_cuda_variant variant = GB_CUDA_WGMMA;

    if (name != NULL && !gb_cuda_variant_of_name(name, &variant))
        gb_cuda_setting_refuse(variable, "no kernel variant");
    return variant;
}

/* A wait rests after a time in which short work is done; asking all the time
 * takes a whole core. */
static int64_t
spin_time(void)
{
    const char *variable = "GGMLBACKEND_GPU_WAIT";
    const char *wait = gb_cuda_setting_if_on(variable);

    if (wait != NULL && strcmp(wait, "spin") == 0)
        return -1;
    if (wait != NULL && strcmp(wait, "sleep") != 0)
        gb_cuda_setting_refuse(variable, "neither sleep nor spin");
    return 200;
}

static bool
is_blas_wanted(void)
{
    const char *variable = "GGMLBACKEND_GPU_BLAS";
    const char *value = gb_cuda_setting_if_on(variable);

    if (value == NULL || strcmp(value, "off") == 0)
        return false;
    if (strcmp(value, "auto") == 0)
        return true;
    gb_cuda_setting_refuse(variable, "neither off nor auto");
    return false;
}

/* Kernels of WGMMA use TMA, which wants maps of the driver's. */
static enum gb_cuda_variant
lower_without_maps(
    const struct gb_cuda_card *card, enum gb_cuda_variant variant)
{
    if (variant < GB_CUDA_WGMMA || card->driver->tensor_map != NULL)
        return variant;
    GGML_LOG_WARN("%s: the driver has no %s: kernel variant %s instead of %s\n",
                  card->label, gb_cuda_call_name(GB_CUDA_CALL_tensor_map),
                  gb_cuda_variant_name(GB_CUDA_MMA8),
                  gb_cuda_variant_name(variant));
    return GB_CUDA_MMA8;
}

/* An architecture's features, behind a colon, are none of its name. */
static bool
refuse_without_image(
    const struct gb_cuda_card *card, const struct refusal *refusal)
{
    const char *option = gb_cuda_platform.arch_option;
    const int length = (int)strcspn(card->arch.text, ":");

    return refuse(refusal,
                  "none of the images (%s) fits %s %s with a driver of %s "
                  "%s%s%s%s%.*s",
                  gb_cuda_image_archs, gb_cuda_platform.arch_word,
                  card->arch.text, gb_cuda_platform.name, card->driver_text,
                  option != NULL ? "; configure " : "",
                  option != NULL ? option : "", option != NULL ? "=" : "",
                  option != NULL ? length : 0, card->arch.text);
}

static void
choose_recording(struct gb_cuda_card *card, int version)
{
    const char *fault =
        gb_cuda_platform_graph_fault(version, card->arch.number);

    card->records_graphs = !gb_cuda_setting_is_on("GGML_CUDA_DISABLE_GRAPHS");
    if (!card->records_graphs || fault == NULL)
        return;
    card->records_graphs = false;
    GGML_LOG_WARN("%s: graphs are launched kernel by kernel, since that of %s "
                  "%s %s\n", card->label, gb_cuda_platform.name,
                  card->driver_text, fault);
}

static bool
choose_image(struct gb_cuda_card *card, const struct refusal *refusal)
{
    const enum gb_cuda_variant highest = highest_variant();
    struct gb_cuda_target target = {
        .arch = card->arch.number,
        .compiler = gb_cuda_image_compiler,
    };
    enum gb_cuda_variant variant;

    if (!answered(refusal, card->driver->version(&target.driver),
                  GB_CUDA_CALL_version))
        return false;
    snprintf(card->driver_text, sizeof(card->driver_text), "%d.%d",
             target.driver / 1000, target.driver % 1000 / 10);
    if (!gb_cuda_image_choose(gb_cuda_image_archs, &target, &card->image))
        return refuse_without_image(card, refusal);
    choose_recording(card, target.driver);
    variant = gb_cuda_image_variant(&card->image);
    variant = lower_without_maps(card, variant < highest ? variant : highest);
    atomic_init(&card->variant, variant);
    return true;
}

/* Kernels wait for those in front in images of 9.0 and later. */
static bool
can_overlap(const struct gb_cuda_card *card)
{
    return card->driver->launch_config != NULL &&
           card->driver->graph_add_edges != NULL && card->image.arch >= 90;
}

bool
gb_cuda_card_init(
    struct gb_cuda_card *card, const struct gb_cuda_driver *driver, int ordinal,
    const char *label, char *reason, size_t size)
{
    const struct refusal refusal = { reason, size };

    memset(card, 0, sizeof(*card));
    card->driver = driver;
    card->process = getpid();
    snprintf(card->label, sizeof(card->label), "%s", label);
    pthread_mutex_init(&card->failure_lock, NULL);
    pthread_mutex_init(&card->lock, NULL);
    pthread_mutex_init(&card->kernel_lock, NULL);
    pthread_mutex_init(&card->copy_lock, NULL);
    pthread_mutex_init(&card->blas.lock, NULL);
    if (!answered(&refusal, driver->device_get(&card->handle, ordinal),
                  GB_CUDA_CALL_device_get) ||
        !read_names(card, &refusal) || !read_attributes(card, &refusal))
        return false;
    card->most_memory =
        gb_cuda_setting_bytes("GGMLBACKEND_GPU_MEMORY", card->memory);
    card->spin_us = spin_time();
    card->blas.is_wanted = is_blas_wanted();
    card->fuses = gb_cuda_setting_is("GGMLBACKEND_GPU_FUSE", "on");
    if (card->most_memory > card->memory)
        card->most_memory = card->memory;
    if (!choose_image(card, &refusal))
        return false;
    card->overlaps = gb_cuda_setting_is("GGMLBACKEND_GPU_OVERLAP", "on") &&
                     can_overlap(card);
    return true;
}

struct gb_cuda_limits
gb_cuda_card_limits(struct gb_cuda_card *card)
{
    struct gb_cuda_limits limits = card->limits;

    limits.variant = (enum gb_cuda_variant)atomic_load_explicit(
        &card->variant, memory_order_relaxed);
    return limits;
}

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

void
gb_cuda_card_memory(struct gb_cuda_card *card, size_t *free, size_t *total)
{
    size_t n_bytes, found;

    *total = card->most_memory;
    n_bytes = gb_cuda_context_bytes(card);
    *free = *total - smaller(n_bytes, *total);
    if (gb_cuda_context_free_memory(card, &found) ||
        gb_cuda_monitor_free_memory(card->pci, &found))
        *free = smaller(*free, found);
}
