/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/split-type.c - kinds of memory that is split by rows: which
 * device has which rows.
 *
 * There is one for each set of shares that was asked for; they stay.
 */
#include "backends/cuda/device/split-buffer.h"

#include "ggmlbackend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 128,
    ROW_UNIT = 64, /* rows of a part are a multiple, but for the last */
};

struct split_type {
    struct split_type *next;
    struct ggml_backend_buffer_type buft;
    struct gb_cuda_device *main;
    float starts[GB_CUDA_MAX_DEVICES + 1]; /* from 0 to 1 */
    char name[32];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct split_type *types;

static const char *
type_get_name(ggml_backend_buffer_type_t buft)
{
    const struct split_type *type = buft->context;

    return type->name;
}

static size_t
type_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return ALIGNMENT;
}

int64_t
gb_cuda_split_first_row(
    ggml_backend_buffer_type_t buft, int device, int64_t n_rows)
{
    const struct split_type *type = buft->context;
    const double row = (double)type->starts[device] * (double)n_rows;

    return device >= gb_cuda_device_count()
               ? n_rows : (int64_t)row / ROW_UNIT * ROW_UNIT;
}

bool
gb_cuda_is_split_type(ggml_backend_buffer_type_t buft)
{
    return buft->iface.get_name == type_get_name;
}

struct gb_cuda_device *
gb_cuda_split_main(ggml_backend_buffer_type_t buft)
{
    const struct split_type *type = buft->context;

    return type->main;
}

/* Is each share a number that is not negative, as far as there are devices?  The
 * reason why not is logged. */
static bool
are_shares(const float *shares)
{
    for (int i = 0; i < gb_cuda_device_count(); i++) {
        if (isfinite(shares[i]) && shares[i] >= 0.0f)
            continue;
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "the share %g of %s is no part of a whole; give each "
                         "device 0 or more", (double)shares[i],
                         gb_cuda_device_at(i)->name);
        return false;
    }
    return true;
}

static double
sum_of(const float *shares)
{
    double sum = 0.0;

    for (int i = 0; i < gb_cuda_device_count() && shares != NULL; i++)
        sum += (double)shares[i];
    return sum;
}

/* Shares as sums of those before, from 0 to 1. */
static void
read_shares(struct split_type *type, const float *shares)
{
    const int n = gb_cuda_device_count();
    const bool by_memory = sum_of(shares) == 0.0;
    double sums[GB_CUDA_MAX_DEVICES + 1] = { 0.0 };

    for (int i = 0; i < n; i++)
        sums[i + 1] =
            sums[i] + (by_memory
                           ? (double)gb_cuda_device_at(i)->card->most_memory
                           : (double)shares[i]);
    for (int i = 0; i < n; i++)
        type->starts[i] = sums[n] > 0.0 ? (float)(sums[i] / sums[n]) : 0.0f;
    type->starts[n] = 1.0f;
}

/* With the lock. */
static struct split_type *
find_type(const struct split_type *like)
{
    struct split_type *type = types;

    while (type != NULL &&
           (type->main != like->main ||
            memcmp(type->starts, like->starts, sizeof(type->starts)) != 0))
        type = type->next;
    return type;
}

static struct split_type *
add_type(const struct split_type *like)
{
    struct split_type *type = malloc(sizeof(*type));

    if (type == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                         "no memory for a type of buffer");
        return NULL;
    }
    *type = *like;
    snprintf(type->name, sizeof(type->name), "%s_Split", like->main->name);
    type->buft = (struct ggml_backend_buffer_type){
        .iface = {
            .get_name = type_get_name,
            .alloc_buffer = gb_cuda_split_buffer_new,
            .get_alignment = type_get_alignment,
            .get_alloc_size = gb_cuda_split_alloc_size,
        },
        .device = &like->main->handle,
        .context = type,
    };
    type->next = types;
    types = type;
    return type;
}

ggml_backend_buffer_type_t
gb_cuda_split_buffer_type(int main_device, const float *shares)
{
    struct split_type like = { .main = gb_cuda_device_at(main_device) };
    struct split_type *type;

    if (like.main == NULL) {
        ggmlbackend_fail(GGML_STATUS_FAILED, "there is no device %d",
                         main_device);
        return NULL;
    }
    if (shares != NULL && !are_shares(shares))
        return NULL;
    read_shares(&like, shares);
    pthread_mutex_lock(&lock);
    type = find_type(&like);
    if (type == NULL)
        type = add_type(&like);
    pthread_mutex_unlock(&lock);
    return type != NULL ? &type->buft : NULL;
}
