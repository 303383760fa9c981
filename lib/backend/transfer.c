/* SPDX-License-Identifier: MIT */
/*
 * backend/transfer.c - data into tensors, out of them, from one to another.
 *
 * Every call checks the whole range first, so that what does not fit is not
 * copied in part.  Members that copy return nothing; that one failed is seen
 * from the thread's failures.
 */
#include "config.h"

#include "lib/backend/transfer.h"

#include "ggml-backend-impl.h"

#include "lib/base/attr.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/tensor/bytes.h"

#include <string.h>

static inline bool
range_fits(const struct ggml_tensor *tensor, size_t offset, size_t size)
{
    const size_t bytes = gb_tensor_bytes(tensor);

    return offset <= bytes && size <= bytes - offset;
}

/*
 * The buffer through which the tensor's data can be reached, NULL where it
 * cannot.  DOING begins the reason.
 */
static ggml_backend_buffer_t
reach_any(const struct ggml_tensor *tensor, const char *doing)
{
    ggml_backend_buffer_t buffer = gb_transfer_home(tensor);

    GB_NEED_OR(NULL, buffer != NULL, "%s tensor %s: it lies in no buffer",
               doing, tensor->name);
    GB_NEED_OR(NULL, tensor->data != NULL, "%s tensor %s: it has no data",
               doing, tensor->name);
    return buffer;
}

/* The same for SIZE bytes at OFFSET. */
static ggml_backend_buffer_t
reach(const struct ggml_tensor *tensor, size_t offset, size_t size,
      const char *doing)
{
    ggml_backend_buffer_t buffer = reach_any(tensor, doing);

    if (buffer == NULL)
        return NULL;
    GB_NEED_OR(NULL, range_fits(tensor, offset, size),
               "%s tensor %s: %zu bytes at %zu do not fit into its %zu", doing,
               tensor->name, size, offset, ggml_nbytes(tensor));
    return buffer;
}

/*
 * Can SIZE bytes at OFFSET be copied from or to DATA?  Clients set and get a few
 * bytes for each token, so that is asked without a call, and only what cannot be
 * is looked at again, for the reason.
 */
static inline bool
can_copy(const struct ggml_tensor *tensor, const void *data, size_t offset,
         size_t size)
{
    return GB_LIKELY(size > 0 && tensor != NULL && data != NULL &&
                     tensor->data != NULL && gb_transfer_home(tensor) != NULL &&
                     range_fits(tensor, offset, size));
}

/* Say why not, unless there is nothing to copy. */
static void
refuse_copy(const struct ggml_tensor *tensor, const void *data, size_t offset,
            size_t size, const char *doing)
{
    GB_NEED_VOID(tensor != NULL, "%s tensor: no tensor", doing);
    if (size == 0)
        return;
    GB_NEED_VOID(data != NULL, "%s tensor %s: no memory of the host", doing,
                 tensor->name);
    reach(tensor, offset, size, doing);
}

void
ggml_backend_tensor_set(
    struct ggml_tensor *tensor, const void *data, size_t offset, size_t size)
{
    if (can_copy(tensor, data, offset, size)) {
        ggml_backend_buffer_t buffer = gb_transfer_home(tensor);

        buffer->iface.set_tensor(buffer, tensor, data, offset, size);
    } else {
        refuse_copy(tensor, data, offset, size, "set");
    }
}

void
ggml_backend_tensor_get(
    const struct ggml_tensor *tensor, void *data, size_t offset, size_t size)
{
    if (can_copy(tensor, data, offset, size)) {
        ggml_backend_buffer_t buffer = gb_transfer_home(tensor);

        GB_NEED_VOID(buffer->iface.get_tensor != NULL,
                     "get tensor %s: a buffer of %s cannot be read",
                     tensor->name, ggml_backend_buffer_name(buffer));
        buffer->iface.get_tensor(buffer, tensor, data, offset, size);
    } else {
        refuse_copy(tensor, data, offset, size, "get");
    }
}

void
ggml_backend_tensor_memset(
    struct ggml_tensor *tensor, uint8_t value, size_t offset, size_t size)
{
    ggml_backend_buffer_t buffer;

    GB_NEED_VOID(tensor != NULL, "fill tensor: no tensor");
    if (size == 0)
        return;
    buffer = reach(tensor, offset, size, "fill");
    if (buffer == NULL)
        return;
    GB_NEED_VOID(buffer->iface.memset_tensor != NULL,
                 "fill tensor %s: a buffer of %s cannot", tensor->name,
                 ggml_backend_buffer_name(buffer));
    buffer->iface.memset_tensor(buffer, tensor, value, offset, size);
}

void
ggml_backend_tensor_set_async(
    ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    GB_NEED_VOID(backend != NULL, "set tensor: no backend");
    GB_NEED_VOID(tensor != NULL, "set tensor: no tensor");
    GB_NEED_VOID(data != NULL || size == 0, "set tensor %s: no source",
                 tensor->name);
    if (reach(tensor, offset, size, "set") == NULL)
        return;
    if (backend->iface.set_tensor_async != NULL) {
        backend->iface.set_tensor_async(backend, tensor, data, offset, size);
    } else {
        /* What is queued so far may still read the old contents. */
        ggml_backend_synchronize(backend);
        ggml_backend_tensor_set(tensor, data, offset, size);
    }
}

void
ggml_backend_tensor_get_async(
    ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    GB_NEED_VOID(backend != NULL, "get tensor: no backend");
    GB_NEED_VOID(tensor != NULL, "get tensor: no tensor");
    GB_NEED_VOID(data != NULL || size == 0, "get tensor %s: no destination",
                 tensor->name);
    if (reach(tensor, offset, size, "get") == NULL)
        return;
    if (backend->iface.get_tensor_async != NULL) {
        backend->iface.get_tensor_async(backend, tensor, data, offset, size);
    } else {
        /* What is queued so far may not have written the contents yet. */
        ggml_backend_synchronize(backend);
        ggml_backend_tensor_get(tensor, data, offset, size);
    }
}

static bool
same_layout(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->type == b->type && ggml_are_same_shape(a, b) &&
           ggml_are_same_stride(a, b);
}

/*
 * May SRC be copied to DST?  GGML_STATUS_SUCCESS, with *bytes 0 where there is
 * nothing to do.
 */
static enum ggml_status
check_copy(
    const struct ggml_tensor *src, const struct ggml_tensor *dst, size_t *bytes)
{
    size_t n;

    GB_NEED_OR(GGML_STATUS_FAILED, src != NULL && dst != NULL,
               "copy tensor: no tensor");
    *bytes = 0;
    if (src == dst)
        return GGML_STATUS_SUCCESS;
    GB_NEED_OR(GGML_STATUS_FAILED, same_layout(src, dst),
               "copy tensor %s to %s: their layouts differ", src->name,
               dst->name);
    n = ggml_nbytes(src);
    if (n > 0 && (reach_any(src, "copy from") == NULL ||
                  reach_any(dst, "copy to") == NULL))
        return GGML_STATUS_FAILED;
    *bytes = n;
    return GGML_STATUS_SUCCESS;
}

bool
ggml_backend_buffer_copy_tensor(
    const struct ggml_tensor *src, struct ggml_tensor *dst)
{
    ggml_backend_buffer_t to;

    GB_NEED_OR(false, src != NULL && dst != NULL, "copy tensor: no tensor");
    to = gb_transfer_home(dst);
    GB_NEED_OR(false, to != NULL, "copy to tensor %s: it lies in no buffer",
               dst->name);
    return to->iface.cpy_tensor != NULL && to->iface.cpy_tensor(to, src, dst);
}

/* Between two memories that cannot reach each other. */
static enum ggml_status
copy_through_host(
    const struct ggml_tensor *src, struct ggml_tensor *dst, size_t bytes)
{
    const uint64_t n_failures = gb_failure_count();
    void *data = gb_mem_alloc(bytes);

    if (data == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "copy tensor %s to %s: no memory for %zu bytes between",
                       src->name, dst->name, bytes);
    ggml_backend_tensor_get(src, data, 0, bytes);
    if (gb_failure_count() == n_failures)
        ggml_backend_tensor_set(dst, data, 0, bytes);
    gb_mem_free(data);
    return gb_status_since(n_failures);
}

/* Copy what may be copied.  That a member failed is not among the answers. */
static enum ggml_status
copy_bytes(const struct ggml_tensor *src, struct ggml_tensor *dst, size_t bytes)
{
    ggml_backend_buffer_t from = gb_transfer_home(src);
    ggml_backend_buffer_t to = gb_transfer_home(dst);

    if (ggml_backend_buffer_is_host(from))
        to->iface.set_tensor(to, dst, src->data, 0, bytes);
    else if (ggml_backend_buffer_is_host(to))
        ggml_backend_tensor_get(src, dst->data, 0, bytes);
    else if (!ggml_backend_buffer_copy_tensor(src, dst))
        return copy_through_host(src, dst, bytes);
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_transfer_copy(const struct ggml_tensor *src, struct ggml_tensor *dst)
{
    const uint64_t n_failures = gb_failure_count();
    size_t bytes;

    GB_TRY(check_copy(src, dst, &bytes));
    if (bytes > 0)
        GB_TRY(copy_bytes(src, dst, bytes));
    return gb_status_since(n_failures);
}

void
ggml_backend_tensor_copy(struct ggml_tensor *src, struct ggml_tensor *dst)
{
    size_t bytes;

    if (check_copy(src, dst, &bytes) == GGML_STATUS_SUCCESS && bytes > 0)
        copy_bytes(src, dst, bytes);
}

void
ggml_backend_tensor_copy_async(
    ggml_backend_t backend_src, ggml_backend_t backend_dst,
    struct ggml_tensor *src, struct ggml_tensor *dst)
{
    uint64_t n_failures;
    size_t bytes;

    GB_NEED_VOID(backend_src != NULL && backend_dst != NULL,
                 "copy tensor: no backend");
    if (check_copy(src, dst, &bytes) != GGML_STATUS_SUCCESS || bytes == 0)
        return;
    if (backend_dst->iface.cpy_tensor_async != NULL &&
        backend_dst->iface.cpy_tensor_async(backend_src, backend_dst, src, dst))
        return;

    /*
     * After all that is queued on either side, and before anything later.
     * Where that failed there may be nothing to copy.
     */
    n_failures = gb_failure_count();
    ggml_backend_synchronize(backend_src);
    ggml_backend_synchronize(backend_dst);
    if (gb_failure_count() == n_failures)
        gb_transfer_copy(src, dst);
}
