/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/kernel.c - kernels on a card, loaded when they are first needed.
 *
 * The kernels of one .cu file are one embedded image, a bundle of which the
 * driver takes what fits the card.  A file is loaded with the first of its
 * kernels; one that cannot be loaded is not tried again.
 */
#include "backends/cuda/device/kernel.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/unpack.h"
#include "backends/cuda/images.h"

#include "ggml-impl.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *name;
    const char *file; /* the .cu file that has it */
    unsigned threads;
    size_t shared; /* most dynamic shared memory of a launch */
    enum gb_cuda_variant variant;
};

static const struct row rows[GB_CUDA_KERNEL_COUNT] = {
#define GB_CUDA_KERNEL(file, name, args, threads, shared, variant) \
    [GB_CUDA_KERNEL_##name] = {                                    \
        #name, #file, threads, shared, GB_CUDA_##variant },
#include "backends/cuda/kernels/kernels.def"
#undef GB_CUDA_KERNEL
};

unsigned
gb_cuda_kernel_threads(enum gb_cuda_kernel kernel)
{
    return rows[kernel].threads;
}

/* ---- with the lock ---- */

static void
tell_of_compiling(const struct gb_cuda_card *card)
{
    if (card->n_modules == 0 && card->image.is_ptx)
        GGML_LOG_INFO("%s: no code for %s %s: the driver compiles PTX of "
                      "%d.%d now, and keeps what it made\n",
                      card->label, gb_cuda_platform.arch_word,
                      card->arch.text, card->image.arch / 10,
                      card->image.arch % 10);
}

/*
 * Did a call about a kernel give what it was asked for?  *STATUS is success as
 * well where the kernel does not fit the card: there are others.
 */
static bool
is_had(struct gb_cuda_card *card, int result, enum gb_cuda_call call,
       enum ggml_status *status)
{
    *status = gb_cuda_is_misfit(result) ? GGML_STATUS_SUCCESS
                                        : gb_cuda_check(card, result, call);
    return result == GB_CUDA_SUCCESS;
}

/* What a packed image gives, which the caller frees; NULL: it is not packed. */
static enum ggml_status
unpack(const struct gb_cuda_card *card, struct gb_cuda_image_data image,
       unsigned char **out)
{
    const size_t size = gb_cuda_unpacked_size(image.bytes, image.size);
    const char *reason;

    *out = NULL;
    if (size == 0)
        return GGML_STATUS_SUCCESS;
    *out = malloc(size);
    if (*out == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for %zu bytes of kernels",
                                card->label, size);
    reason = gb_cuda_unpack(image.bytes, image.size, *out);
    if (reason == NULL)
        return GGML_STATUS_SUCCESS;
    free(*out);
    return ggmlbackend_fail(GGML_STATUS_FAILED,
                            "%s: an image of kernels is damaged: %s",
                            card->label, reason);
}

/* *OUT is NULL where the image does not fit; it is not tried again. */
static enum ggml_status
load(struct gb_cuda_card *card, struct gb_cuda_image_data image,
     gb_cuda_module *out)
{
    struct gb_cuda_card_module *module = &card->modules[card->n_modules];
    unsigned char *unpacked;
    enum ggml_status status = unpack(card, image, &unpacked);
    int result;

    if (status != GGML_STATUS_SUCCESS)
        return status;
    tell_of_compiling(card);
    result = card->driver->module_load(
        out, unpacked != NULL ? unpacked : image.bytes);
    free(unpacked);
    if (!is_had(card, result, GB_CUDA_CALL_module_load, &status)) {
        *out = NULL;
        if (status != GGML_STATUS_SUCCESS)
            return status;
        GGML_LOG_WARN("%s: %s: %s\n", card->label,
                      gb_cuda_call_name(GB_CUDA_CALL_module_load),
                      gb_cuda_error(result));
    }
    *module = (struct gb_cuda_card_module){ image.bytes, *out };
    card->n_modules++;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
module_of(struct gb_cuda_card *card, struct gb_cuda_image_data image,
          gb_cuda_module *out)
{
    for (int i = 0; i < card->n_modules; i++) {
        if (card->modules[i].image == image.bytes) {
            *out = card->modules[i].handle;
            return GGML_STATUS_SUCCESS;
        }
    }
    return load(card, image, out);
}

/*
 * More shared memory than every card has must be asked for, kernel by kernel.
 */
static bool
allow_shared(
    struct gb_cuda_card *card, const struct row *row, gb_cuda_function function,
    enum ggml_status *status)
{
    const struct gb_cuda_driver *driver = card->driver;
    size_t most = row->shared;
    int own = 0;

    if (most == 0)
        return true;
    if (!is_had(card,
                driver->function_attribute(
                    &own, GB_CUDA_FUNCTION_STATIC_SHARED, function),
                GB_CUDA_CALL_function_attribute, status))
        return false;
    if (most + (size_t)own > card->limits.shared)
        most = card->limits.shared - (size_t)own;
    return is_had(card,
                  driver->function_set(function,
                                       GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED,
                                       (int)most),
                  GB_CUDA_CALL_function_set, status);
}

/* *OUT is NULL where the card cannot have the kernel. */
static enum ggml_status
look_up(struct gb_cuda_card *card, const struct row *row,
        gb_cuda_function *out)
{
    gb_cuda_function function;
    gb_cuda_module module;
    const struct gb_cuda_image_data image =
        gb_cuda_image_data(row->file, card->image.name);
    enum ggml_status status;

    *out = NULL;
    if (image.bytes == NULL)
        return GGML_STATUS_SUCCESS;
    status = module_of(card, image, &module);
    if (status != GGML_STATUS_SUCCESS || module == NULL)
        return status;
    if (is_had(card,
               card->driver->module_function(&function, module, row->name),
               GB_CUDA_CALL_module_function, &status) &&
        allow_shared(card, row, function, &status))
        *out = function;
    return status;
}

/*
 * Kernels of the row's variant are not used any more; there is nothing below
 * the lowest one.
 */
static enum ggml_status
lower(struct gb_cuda_card *card, const struct row *row)
{
    const int next = gb_cuda_variant_below(row->variant);

    if (next < 0)
        return ggmlbackend_fail(GGML_STATUS_FAILED, "%s: kernel %s is missing",
                                card->label, row->name);
    if (next < atomic_load_explicit(&card->variant, memory_order_relaxed)) {
        GGML_LOG_WARN("%s: kernel %s is missing: kernel variant %s instead of "
                      "%s\n", card->label, row->name,
                      gb_cuda_variant_name((enum gb_cuda_variant)next),
                      gb_cuda_variant_name(row->variant));
        atomic_store_explicit(&card->variant, next, memory_order_relaxed);
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
find(struct gb_cuda_card *card, enum gb_cuda_kernel kernel,
     gb_cuda_function *out)
{
    const enum ggml_status status = look_up(card, &rows[kernel], out);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    if (*out == NULL)
        return lower(card, &rows[kernel]);
    atomic_store_explicit(&card->functions[kernel], *out,
                          memory_order_release);
    return GGML_STATUS_SUCCESS;
}

/* ---- without ---- */

enum ggml_status
gb_cuda_kernel_find(
    struct gb_cuda_card *card, enum gb_cuda_kernel kernel,
    gb_cuda_function *function)
{
    gb_cuda_function known = atomic_load_explicit(&card->functions[kernel],
                                                  memory_order_acquire);
    enum ggml_status status;

    if (known != NULL) {
        *function = known;
        return GGML_STATUS_SUCCESS;
    }
    pthread_mutex_lock(&card->kernel_lock);
    status = find(card, kernel, function);
    pthread_mutex_unlock(&card->kernel_lock);
    return status;
}

/* With the lock. */
static void
forget(struct gb_cuda_card *card)
{
    card->n_modules = 0;
    for (int i = 0; i < GB_CUDA_KERNEL_COUNT; i++)
        atomic_store_explicit(&card->functions[i], NULL, memory_order_release);
}

void
gb_cuda_kernels_forget(struct gb_cuda_card *card)
{
    pthread_mutex_lock(&card->kernel_lock);
    forget(card);
    pthread_mutex_unlock(&card->kernel_lock);
}

void
gb_cuda_kernels_clear(struct gb_cuda_card *card)
{
    pthread_mutex_lock(&card->kernel_lock);
    for (int i = 0; i < card->n_modules; i++) {
        if (card->modules[i].handle != NULL)
            GB_CUDA_CLEANUP(card, module_unload, (card->modules[i].handle));
    }
    forget(card);
    pthread_mutex_unlock(&card->kernel_lock);
}
