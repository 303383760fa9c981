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

#include "lib/node/node.h"

#include "ggml-impl.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_PADDING = 512 }; /* as in buffer.c */

struct split_buffer {
    struct gb_cuda_split_tensor *tensors;
};

/* ---- parts ---- */

static int64_t
rows_of(ggml_backend_buffer_type_t buft, int device, int64_t n_rows)
{
    return gb_cuda_split_first_row(buft, device + 1, n_rows) -
           gb_cuda_split_first_row(buft, device, n_rows);
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
make_parts(struct gb_cuda_split_tensor *own, ggml_backend_buffer_type_t buft,
           const struct ggml_tensor *tensor)
{
    const int n_devices = gb_cuda_device_count();

    for (int i = 0; i < n_devices; i++) {
        struct gb_cuda_split_part *part = &own->parts[own->n_parts];
        enum ggml_status status;

        part->device = gb_cuda_device_at(i);
        part->first = gb_cuda_split_first_row(buft, i, tensor->ne[1]);
        part->n = rows_of(buft, i, tensor->ne[1]);
        if (part->n == 0)
            continue;
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

static struct gb_cuda_split_tensor *
new_tensor(const struct ggml_tensor *like)
{
    struct gb_cuda_split_tensor *own = calloc(1, sizeof(*own));

    if (own == NULL)
        return NULL;
    own->type = like->type;
    memcpy(own->ne, like->ne, sizeof(own->ne));
    own->row_size = like->nb[1];
    own->size = ggml_nbytes(like);
    return own;
}

/* A view has the memory of what it is a view of. */
static enum ggml_status
buffer_init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    struct split_buffer *own = buffer->context;
    struct gb_cuda_split_tensor *parts;
    enum ggml_status status;

    if (tensor->view_src != NULL)
        return GGML_STATUS_SUCCESS;
    if (!ggml_is_contiguous(tensor))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "tensor %s: only contiguous weights can be "
                                "split by rows", tensor->name);
    parts = new_tensor(tensor);
    if (parts == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "tensor %s: no memory to split it",
                                tensor->name);
    status = make_parts(parts, buffer->buft, tensor);
    if (status != GGML_STATUS_SUCCESS) {
        free_tensor(parts);
        return status;
    }
    parts->next = own->tensors;
    own->tensors = parts;
    tensor->extra = parts;
    return GGML_STATUS_SUCCESS;
}

/* ---- ranges of bytes of a tensor ---- */

/* Bytes of a tensor, as it was when it got its memory. */
struct range {
    const struct gb_cuda_split_tensor *tensor;
    size_t offset, size;
};

/*
 * SIZE bytes at OFFSET of TENSOR or, of a view, of what it is a view of.  False,
 * and the reason is logged, if there are none.
 */
static bool
find_range(const struct ggml_tensor *tensor, size_t offset, size_t size,
           struct range *range)
{
    const bool is_view = tensor->view_src != NULL;
    const struct ggml_tensor *whole = is_view ? tensor->view_src : tensor;
    const size_t before = is_view ? tensor->view_offs : 0;
    const struct gb_cuda_split_tensor *own = gb_cuda_split_of(whole);

    if (own == NULL || before > own->size || offset > own->size - before ||
        size > own->size - before - offset) {
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "tensor %.*s: %zu bytes at %zu are not in the split "
                         "weights %.*s", GB_NODE_NAME(tensor), size, offset,
                         GB_NODE_NAME(whole));
        return false;
    }
    *range = (struct range){ own, before + offset, size };
    return true;
}

/* Neighbouring bytes of a tensor that are neighbours on one card. */
struct run {
    const struct gb_cuda_split_part *part;
    gb_cuda_address address;
    size_t size;
};

static const struct gb_cuda_split_part *
part_with(const struct gb_cuda_split_tensor *own, int64_t row)
{
    const struct gb_cuda_split_part *part = own->parts;

    while (row >= part->first + part->n)
        part++;
    return part;
}

/* The first bytes of RANGE. */
static struct run
first_run(const struct range *range)
{
    const struct gb_cuda_split_tensor *own = range->tensor;
    const size_t row_size = own->row_size;
    const int64_t rows = (int64_t)(range->offset / row_size);
    const int64_t matrix = rows / own->ne[1];
    const int64_t row = rows % own->ne[1];
    const struct gb_cuda_split_part *part = part_with(own, row);
    const size_t in_row = range->offset % row_size;
    const size_t left =
        (size_t)(part->first + part->n - row) * row_size - in_row;

    return (struct run){
        .part = part,
        .address = part->address + in_row +
                   (size_t)(matrix * part->n + row - part->first) * row_size,
        .size = range->size < left ? range->size : left,
    };
}

/* What becomes of a run; DATA is of the host, or the value to fill it with. */
typedef enum ggml_status (*run_fn)(const struct run *run, char *data);

static enum ggml_status
copy_in(const struct run *run, char *data)
{
    return gb_cuda_copy_to_card(run->part->hold.card, run->address, data,
                                run->size);
}

static enum ggml_status
copy_out(const struct run *run, char *data)
{
    return gb_cuda_copy_to_host(run->part->hold.card, data, run->address,
                                run->size);
}

static enum ggml_status
fill_in(const struct run *run, char *data)
{
    return gb_cuda_fill(run->part->hold.card, run->address, (uint8_t)*data,
                        run->size);
}

/* STEP is 1 where DATA goes along with the bytes, and else 0. */
static void
for_range(const struct ggml_tensor *tensor, size_t offset, size_t size,
          char *data, int step, run_fn act)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;
    struct range range;

    if (!find_range(tensor, offset, size, &range))
        return;
    while (range.size > 0 && status == GGML_STATUS_SUCCESS) {
        const struct run run = first_run(&range);

        if (!gb_cuda_enter(&run.part->hold))
            return;
        status = act(&run, data);
        gb_cuda_leave(&run.part->hold);
        range.offset += run.size;
        range.size -= run.size;
        data += (size_t)step * run.size;
    }
}

static void
buffer_memset_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
    size_t offset, size_t size)
{
    (void)buffer;
    for_range(tensor, offset, size, (char *)&value, 0, fill_in);
}

/* The copy only reads where it is. */
static void
buffer_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    for_range(tensor, offset, size, (char *)(uintptr_t)data, 1, copy_in);
}

static void
buffer_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    for_range(tensor, offset, size, data, 1, copy_out);
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
    .memset_tensor = buffer_memset_tensor,
    .set_tensor = buffer_set_tensor,
    .get_tensor = buffer_get_tensor,
    .clear = buffer_clear,
    .reset = buffer_reset,
};

const struct gb_cuda_split_tensor *
gb_cuda_split_of(const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = tensor->buffer;

    if (home == NULL || home->iface.free_buffer != buffer_free ||
        tensor->view_src != NULL)
        return NULL;
    return tensor->extra;
}

bool
gb_cuda_split_is_product(const struct ggml_tensor *node)
{
    return (node->op == GGML_OP_MUL_MAT || node->op == GGML_OP_MUL_MAT_ID) &&
           node->src[0] != NULL && gb_cuda_split_of(node->src[0]) != NULL;
}

const char *
gb_cuda_split_fault(const struct ggml_tensor *tensor)
{
    const struct gb_cuda_split_tensor *own = gb_cuda_split_of(tensor);

    if (tensor->type != own->type || !ggml_is_contiguous(tensor) ||
        memcmp(tensor->ne, own->ne, sizeof(own->ne)) != 0)
        return "are not what they were when they were split";
    for (int i = 0; i < own->n_parts; i++) {
        if (!gb_cuda_is_held(&own->parts[i].hold))
            return "went in part with a GPU that failed";
    }
    return NULL;
}

ggml_backend_buffer_t
gb_cuda_split_buffer_new(ggml_backend_buffer_type_t buft, size_t size)
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

size_t
gb_cuda_split_alloc_size(
    ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    const int n_devices = gb_cuda_device_count();
    size_t size = 0;

    for (int i = 0; i < n_devices; i++) {
        const int64_t n = rows_of(buft, i, tensor->ne[1]);

        if (n > 0)
            size += part_size(tensor, n);
    }
    return size > ggml_nbytes(tensor) ? size : ggml_nbytes(tensor);
}
