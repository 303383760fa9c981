/* SPDX-License-Identifier: MIT */
/*
 * alloc/linear.c - tensors one after another in a buffer.
 */
#include "config.h"

#include "ggml-backend.h"

#include "lib/base/checked.h"
#include "lib/base/status.h"

struct ggml_tallocr
ggml_tallocr_new(ggml_backend_buffer_t buffer)
{
    struct ggml_tallocr talloc = { 0 };
    size_t past;

    GB_NEED_OR(talloc, buffer != NULL, "linear allocator: no buffer");
    talloc.buffer = buffer;
    talloc.base = ggml_backend_buffer_get_base(buffer);
    talloc.alignment = ggml_backend_buffer_get_alignment(buffer);

    /* A base off the alignment costs the bytes up to the first aligned one. */
    past = (uintptr_t)talloc.base % talloc.alignment;
    talloc.offset = past > 0 ? talloc.alignment - past : 0;
    return talloc;
}

/* Is there room for SIZE bytes, rounded up?  *end is where they end then. */
static bool
has_room(const struct ggml_tallocr *talloc, size_t size, size_t *end)
{
    return gb_pad_size(size, talloc->alignment, &size) &&
           gb_add_size(talloc->offset, size, end) &&
           *end <= ggml_backend_buffer_get_size(talloc->buffer);
}

enum ggml_status
ggml_tallocr_alloc(struct ggml_tallocr *talloc, struct ggml_tensor *tensor)
{
    size_t size, end;
    char *addr;

    GB_NEED_OR(GGML_STATUS_FAILED, talloc != NULL && talloc->buffer != NULL,
               "linear allocator: no buffer");
    GB_NEED_OR(GGML_STATUS_FAILED, tensor != NULL,
               "linear allocator: no tensor");
    GB_NEED_OR(GGML_STATUS_FAILED,
               tensor->buffer == NULL && tensor->data == NULL &&
                   tensor->view_src == NULL,
               "tensor %s has a place already", tensor->name);

    size = ggml_backend_buffer_get_alloc_size(talloc->buffer, tensor);
    if (!has_room(talloc, size, &end))
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "tensor %s: no room for %zu bytes in a buffer of %zu, "
                       "%zu of them in use",
                       tensor->name, size,
                       ggml_backend_buffer_get_size(talloc->buffer),
                       talloc->offset);
    addr = (char *)talloc->base + talloc->offset;
    talloc->offset = end;
    return ggml_backend_tensor_alloc(talloc->buffer, tensor, addr);
}
