/* SPDX-License-Identifier: MIT */
/*
 * alloc/context.c - memory for all tensors of a context.
 *
 * The tensors are laid out in the order of their creation, in as few buffers as
 * the buffer type's largest size allows.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/base/checked.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

/* The buffers made so far for the tensors of one context. */
struct chunks {
    struct ggml_context *ctx;
    ggml_backend_buffer_type_t buft;
    ggml_backend_buffer_t *buffers;
    size_t n_buffers;
};

static bool
needs_place(const struct ggml_tensor *tensor)
{
    return tensor->data == NULL && tensor->view_src == NULL;
}

/* Take back what place_tensors and place_views did with BUFFER. */
static void
forget_places(const struct chunks *c, ggml_backend_buffer_t buffer)
{
    for (struct ggml_tensor *t = ggml_get_first_tensor(c->ctx); t != NULL;
         t = ggml_get_next_tensor(c->ctx, t)) {
        if (t->buffer == buffer) {
            t->buffer = NULL;
            t->data = NULL;
        }
    }
}

static void
free_chunks(struct chunks *c)
{
    for (size_t i = 0; i < c->n_buffers; i++) {
        forget_places(c, c->buffers[i]);
        ggml_backend_buffer_free(c->buffers[i]);
    }
    gb_mem_free(c->buffers);
}

/* Place the tensors from FIRST up to END, without it, in one new buffer. */
static enum ggml_status
place_tensors(
    struct chunks *c, struct ggml_tensor *first, const struct ggml_tensor *end,
    size_t size)
{
    ggml_backend_buffer_t *buffers;
    struct ggml_tallocr talloc;

    buffers =
        gb_mem_realloc(c->buffers, c->n_buffers + 1, sizeof(*c->buffers));
    if (buffers == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "context buffers: no memory");
    c->buffers = buffers;
    buffers[c->n_buffers] = ggml_backend_buft_alloc_buffer(c->buft, size);
    if (buffers[c->n_buffers] == NULL)
        return GGML_STATUS_ALLOC_FAILED;
    talloc = ggml_tallocr_new(buffers[c->n_buffers]);
    c->n_buffers++;

    for (struct ggml_tensor *t = first; t != end;
         t = ggml_get_next_tensor(c->ctx, t))
        if (needs_place(t))
            GB_TRY(ggml_tallocr_alloc(&talloc, t));
    return GGML_STATUS_SUCCESS;
}

/* Bytes that the tensor takes in a buffer, with those up to the next one. */
static enum ggml_status
room_of(const struct chunks *c, struct ggml_tensor *tensor, size_t *size)
{
    *size = 0;
    if (needs_place(tensor) &&
        !gb_pad_size(ggml_backend_buft_get_alloc_size(c->buft, tensor),
                     ggml_backend_buft_get_alignment(c->buft), size))
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "tensor %s: its size does not fit", tensor->name);
    return GGML_STATUS_SUCCESS;
}

/* Cut the context into chunks; a new one begins where the old one is full. */
static enum ggml_status
place_all(struct chunks *c)
{
    const size_t max_size = ggml_backend_buft_get_max_size(c->buft);
    struct ggml_tensor *first = ggml_get_first_tensor(c->ctx);
    size_t sum = 0;

    for (struct ggml_tensor *t = first; t != NULL;
         t = ggml_get_next_tensor(c->ctx, t)) {
        size_t size, larger;

        GB_TRY(room_of(c, t, &size));
        if (!gb_add_size(sum, size, &larger) || larger > max_size) {
            if (sum > 0)
                GB_TRY(place_tensors(c, first, t, sum));
            first = sum > 0 ? t : first;
            larger = size;
        }
        sum = larger;
    }
    return sum > 0 ? place_tensors(c, first, NULL, sum) : GGML_STATUS_SUCCESS;
}

/*
 * Views come last: what they look at has its place by now, or never gets one.
 */
static enum ggml_status
place_views(const struct chunks *c)
{
    for (struct ggml_tensor *t = ggml_get_first_tensor(c->ctx); t != NULL;
         t = ggml_get_next_tensor(c->ctx, t))
        if (t->view_src != NULL && t->buffer == NULL &&
            t->view_src->buffer != NULL)
            GB_TRY(ggml_backend_view_init(t));
    return GGML_STATUS_SUCCESS;
}

/* The one buffer, or all of them as one; C no longer owns them then. */
static ggml_backend_buffer_t
join_chunks(struct chunks *c)
{
    ggml_backend_buffer_t buffer =
        c->n_buffers == 1
            ? c->buffers[0]
            : ggml_backend_multi_buffer_alloc_buffer(c->buffers, c->n_buffers);

    if (buffer != NULL)
        c->n_buffers = 0;
    return buffer;
}

struct ggml_backend_buffer *
ggml_backend_alloc_ctx_tensors_from_buft(
    struct ggml_context *ctx, ggml_backend_buffer_type_t buft)
{
    struct chunks c = { .ctx = ctx, .buft = buft };
    ggml_backend_buffer_t buffer = NULL;

    GB_NEED_OR(NULL, ctx != NULL, "context buffers: no context");
    GB_NEED_OR(NULL, buft != NULL, "context buffers: no buffer type");
    GB_NEED_OR(NULL, ggml_get_no_alloc(ctx),
               "context buffers: the context allocates its tensors itself");

    if (place_all(&c) == GGML_STATUS_SUCCESS &&
        place_views(&c) == GGML_STATUS_SUCCESS && c.n_buffers > 0)
        buffer = join_chunks(&c);
    free_chunks(&c);
    return buffer;
}

struct ggml_backend_buffer *
ggml_backend_alloc_ctx_tensors(struct ggml_context *ctx, ggml_backend_t backend)
{
    GB_NEED_OR(NULL, backend != NULL, "context buffers: no backend");
    return ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_get_default_buffer_type(backend));
}
