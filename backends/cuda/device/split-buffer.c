/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/split-buffer.c - matrices of weights whose rows lie on several
 * cards.
 *
 * A tensor gets its memory when it gets its place: its parts hang on its field
 * extra.  The addresses that the interface sees are of nothing.
 */
#include "backends/cuda/device/split-buffer.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/transfer.h"

#include "ggml-impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIGNMENT = 128,
    ROW_PADDING = 512, /* as in buffer.c */
    ROW_UNIT = 64,     /* rows of a part are a multiple, but for the last */
};

struct split_type {
    struct split_type *next;
    struct ggml_backend_buffer_type buft;
    struct gb_cuda_device *main;
    float starts[GB_CUDA_MAX_DEVICES + 1]; /* from 0 to 1 */
    char name[32];
};

struct split_buffer {
    struct gb_cuda_split_tensor *tensors;
};

/* ---- parts ---- */

static int64_t
first_row(const struct split_type *type, int device, int64_t n_rows)
{
    const double row = (double)type->starts[device] * (double)n_rows;

    return device >= gb_cuda_device_count()
               ? n_rows : (int64_t)row / ROW_UNIT * ROW_UNIT;
}

static size_t
part_size(const struct ggml_tensor *tensor, int64_t n_rows)
{
    const int64_t rest = tensor->ne[0] % ROW_PADDING;
    const size_t data = (size_t)(n_rows * tensor->ne[2] * tensor->ne[3]) *
                        tensor->nb[1];

    if (!ggml_is_quantized(tensor->type) || rest == 0)
        return data;
    return data + ggml_row_size(tensor->type, ROW_PADDING - rest);
}

static void
free_part(struct gb_cuda_split_part *part)
{
    if (gb_cuda_enter_cleanup(&part->hold)) {
        gb_cuda_memory_free(part->hold.card, part->address, part->size, false);
        gb_cuda_leave(&part->hold);
    }
    gb_cuda_release(&part->hold);
}

/* Memory for the part, all zeros. */
static enum ggml_status
fill_part(struct gb_cuda_split_part *part)
{
    struct gb_cuda_card *card = part->hold.card;
    enum ggml_status status =
        gb_cuda_memory_new(card, part->size, false, &part->address);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    status = gb_cuda_fill(card, part->address, 0, part->size);
    if (status != GGML_STATUS_SUCCESS)
        gb_cuda_memory_free(card, part->address, part->size, false);
    return status;
}

static enum ggml_status
make_part(struct gb_cuda_split_part *part)
{
    enum ggml_status status =
        gb_cuda_hold(part->device->card, false, &part->hold);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    status = GGML_STATUS_FAILED;
    if (gb_cuda_enter(&part->hold)) {
        status = fill_part(part);
        gb_cuda_leave(&part->hold);
    }
    if (status != GGML_STATUS_SUCCESS)
        gb_cuda_release(&part->hold);
    return status;
}

static enum ggml_status
make_parts(struct gb_cuda_split_tensor *own, const struct split_type *type,
           const struct ggml_tensor *tensor)
{
    const int n_devices = gb_cuda_device_count();

    for (int i = 0; i < n_devices; i++) {
        const int64_t first = first_row(type, i, tensor->ne[1]);
        const int64_t end = first_row(type, i + 1, tensor->ne[1]);
        struct gb_cuda_split_part *part = &own->parts[own->n_parts];
        enum ggml_status status;

        if (first >= end)
            continue;
        part->device = gb_cuda_device_at(i);
        part->first = first;
        part->n = end - first;
        part->size = part_size(tensor, part->n);
        status = make_part(part);
        if (status != GGML_STATUS_SUCCESS)
            return status;
        own->n_parts++;
    }
    return GGML_STATUS_SUCCESS;
}

static void
free_tensor(struct gb_cuda_split_tensor *own)
{
    for (int i = 0; i < own->n_parts; i++)
        free_part(&own->parts[i]);
    free(own);
}

/* ---- members of buffers ---- */

static void
buffer_reset(ggml_backend_buffer_t buffer)
{
    struct split_buffer *own = buffer->context;

    while (own->tensors != NULL) {
        struct gb_cuda_split_tensor *first = own->tensors;

        own->tensors = first->next;
        free_tensor(first);
    }
}

static void
buffer_free(ggml_backend_buffer_t buffer)
{
    buffer_reset(buffer);
    free(buffer->context);
}

static void *
buffer_get_base(ggml_backend_buffer_t buffer)
{
    (void)buffer;
    return (void *)(uintptr_t)4096;
}

static enum ggml_status
buffer_init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    struct split_buffer *own = buffer->context;
    struct gb_cuda_split_tensor *parts;
    enum ggml_status status;

    if (tensor->view_src != NULL || !ggml_is_contiguous(tensor))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "tensor %s: only whole weights can be split by "
                                "rows", tensor->name);
    parts = calloc(1, sizeof(*parts));
    if (parts == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "tensor %s: no memory to split it",
                                tensor->name);
    status = make_parts(parts, buffer->buft->context, tensor);
    if (status != GGML_STATUS_SUCCESS) {
        free_tensor(parts);
        return status;
    }
    parts->next = own->tensors;
    own->tensors = parts;
    tensor->extra = parts;
    return GGML_STATUS_SUCCESS;
}

/* SIZE bytes between IN_PART of the part and HOST, whichever way. */
typedef enum ggml_status (*copy_fn)(
    const struct gb_cuda_split_part *part, size_t in_part, char *host,
    size_t size);

static enum ggml_status
copy_in(const struct gb_cuda_split_part *part, size_t in_part, char *host,
        size_t size)
{
    return gb_cuda_copy_to_card(part->hold.card, part->address + in_part, host,
                                size);
}

static enum ggml_status
copy_out(const struct gb_cuda_split_part *part, size_t in_part, char *host,
         size_t size)
{
    return gb_cuda_copy_to_host(part->hold.card, host, part->address + in_part,
                                size);
}

static enum ggml_status
copy_part(const struct gb_cuda_split_part *part,
          const struct ggml_tensor *tensor, char *host, copy_fn copy)
{
    const size_t size = (size_t)part->n * tensor->nb[1];
    const int64_t n_matrices = tensor->ne[2] * tensor->ne[3];
    enum ggml_status status = GGML_STATUS_SUCCESS;

    if (!gb_cuda_enter(&part->hold))
        return GGML_STATUS_FAILED;
    for (int64_t i = 0; i < n_matrices && status == GGML_STATUS_SUCCESS; i++)
        status = copy(part, (size_t)i * size,
                      host + (size_t)i * tensor->nb[2] +
                          (size_t)part->first * tensor->nb[1],
                      size);
    gb_cuda_leave(&part->hold);
    return status;
}

static void
copy_tensor(const struct ggml_tensor *tensor, char *host, size_t size,
            copy_fn copy)
{
    const struct gb_cuda_split_tensor *own = tensor->extra;

    if (size != ggml_nbytes(tensor)) {
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "tensor %s: what is split by rows is copied as a "
                         "whole", tensor->name);
        return;
    }
    for (int i = 0; i < own->n_parts; i++) {
        if (copy_part(&own->parts[i], tensor, host, copy) !=
            GGML_STATUS_SUCCESS)
            return;
    }
}

/* The copy only reads where it is. */
static void
buffer_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    (void)offset;
    copy_tensor(tensor, (char *)(uintptr_t)data, size, copy_in);
}

static void
buffer_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    (void)offset;
    copy_tensor(tensor, data, size, copy_out);
}

static void
buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    struct split_buffer *own = buffer->context;

    for (struct gb_cuda_split_tensor *t = own->tensors; t != NULL;
         t = t->next) {
        for (int i = 0; i < t->n_parts; i++) {
            if (!gb_cuda_enter(&t->parts[i].hold))
                return;
            gb_cuda_fill(t->parts[i].hold.card, t->parts[i].address, value,
                         t->parts[i].size);
            gb_cuda_leave(&t->parts[i].hold);
        }
    }
}

static const struct ggml_backend_buffer_i buffer_members = {
    .free_buffer = buffer_free,
    .get_base = buffer_get_base,
    .init_tensor = buffer_init_tensor,
    .set_tensor = buffer_set_tensor,
    .get_tensor = buffer_get_tensor,
    .clear = buffer_clear,
    .reset = buffer_reset,
};

const struct gb_cuda_split_tensor *
gb_cuda_split_of(const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = tensor->buffer;

    if (home == NULL || home->iface.free_buffer != buffer_free)
        return NULL;
    return tensor->extra;
}

bool
gb_cuda_split_is_product(const struct ggml_tensor *node)
{
    return (node->op == GGML_OP_MUL_MAT || node->op == GGML_OP_MUL_MAT_ID) &&
           gb_cuda_split_of(node->src[0]) != NULL;
}

bool
gb_cuda_split_is_whole(const struct gb_cuda_split_tensor *tensor)
{
    for (int i = 0; i < tensor->n_parts; i++) {
        if (!gb_cuda_is_held(&tensor->parts[i].hold))
            return false;
    }
    return true;
}

/* ---- types ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct split_type *types;

static const char *
type_get_name(ggml_backend_buffer_type_t buft)
{
    const struct split_type *type = buft->context;

    return type->name;
}

static ggml_backend_buffer_t
type_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    struct split_buffer *own = calloc(1, sizeof(*own));
    ggml_backend_buffer_t buffer;

    if (own == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "no memory for a buffer");
        return NULL;
    }
    buffer = ggml_backend_buffer_init(buft, buffer_members, own, size);
    if (buffer == NULL)
        free(own);
    return buffer;
}

static size_t
type_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return ALIGNMENT;
}

static size_t
type_get_alloc_size(
    ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    const int n = gb_cuda_device_count();
    size_t size = 0;

    for (int i = 0; i < n; i++) {
        const int64_t first = first_row(buft->context, i, tensor->ne[1]);
        const int64_t end = first_row(buft->context, i + 1, tensor->ne[1]);

        if (first < end)
            size += part_size(tensor, end - first);
    }
    return size > ggml_nbytes(tensor) ? size : ggml_nbytes(tensor);
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

/* Shares as sums of those before, from 0 to 1. */
static void
read_shares(struct split_type *type, const float *shares)
{
    const int n = gb_cuda_device_count();
    float sum = 0.0f;

    for (int i = 0; i < n && shares != NULL; i++)
        sum += shares[i];
    for (int i = 0; i < n; i++) {
        const float share =
            sum > 0.0f ? shares[i]
                       : (float)gb_cuda_device_at(i)->card->most_memory;

        type->starts[i + 1] = type->starts[i] + share;
    }
    for (int i = 0; i < n; i++)
        type->starts[i] /= type->starts[n];
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
            .alloc_buffer = type_alloc_buffer,
            .get_alignment = type_get_alignment,
            .get_alloc_size = type_get_alloc_size,
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
    read_shares(&like, shares);
    pthread_mutex_lock(&lock);
    type = find_type(&like);
    if (type == NULL)
        type = add_type(&like);
    pthread_mutex_unlock(&lock);
    return type != NULL ? &type->buft : NULL;
}
