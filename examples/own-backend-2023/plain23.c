/* SPDX-License-Identifier: MIT */
/*
 * own-backend-2023/plain23.c - a small backend as one wrote it in 2023.
 *
 * It computes sums, products and matrix products of F32 in memory of its own.
 * Nothing here knows of devices, buffer types or registrations: use.c brings it
 * into today's library.
 */
#include "ggml-backend-impl.h"
#include "ggml-backend.h"
#include "ggml.h"

#include <stdlib.h>
#include <string.h>

ggml_backend_t plain23_init(void);

/* ---- memory ---- */

static void
plain23_free_buffer(ggml_backend_buffer_t buffer)
{
    free(buffer->context);
}

static void *
plain23_get_base(ggml_backend_buffer_t buffer)
{
    return buffer->context;
}

static struct ggml_backend_buffer_i plain23_buffer_i = {
    .free_buffer = plain23_free_buffer,
    .get_base = plain23_get_base,
    .get_alloc_size = NULL, /* ggml_nbytes */
    .init_tensor = NULL, /* nothing to prepare */
    .free_tensor = NULL,
};

static ggml_backend_buffer_t
plain23_alloc_buffer(ggml_backend_t backend, size_t size)
{
    void *data = malloc(size);
    ggml_backend_buffer_t buffer;

    if (data == NULL)
        return NULL;
    buffer = ggml_backend_buffer_init(backend, plain23_buffer_i, data, size);
    if (buffer == NULL)
        free(data);
    return buffer;
}

static size_t
plain23_get_alignment(ggml_backend_t backend)
{
    (void)backend;
    return 32;
}

/* ---- transfers: there is no queue, so all is done at once ---- */

static void
plain23_set_tensor_async(
    ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    (void)backend;
    memcpy((char *)tensor->data + offset, data, size);
}

static void
plain23_get_tensor_async(
    ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    (void)backend;
    memcpy(data, (const char *)tensor->data + offset, size);
}

static void
plain23_synchronize(ggml_backend_t backend)
{
    (void)backend;
}

/* ---- operations ---- */

static float *
row_of(const struct ggml_tensor *t, int64_t i1, int64_t i2, int64_t i3)
{
    return (float *)((char *)t->data + (size_t)(i1 % t->ne[1]) * t->nb[1] +
                     (size_t)(i2 % t->ne[2]) * t->nb[2] +
                     (size_t)(i3 % t->ne[3]) * t->nb[3]);
}

static void
add_row(struct ggml_tensor *dst, int64_t i1, int64_t i2, int64_t i3)
{
    const float *a = row_of(dst->src[0], i1, i2, i3);
    const float *b = row_of(dst->src[1], i1, i2, i3);
    float *y = row_of(dst, i1, i2, i3);

    for (int64_t i = 0; i < dst->ne[0]; i++)
        y[i] = a[i] + b[i % dst->src[1]->ne[0]];
}

static void
mul_row(struct ggml_tensor *dst, int64_t i1, int64_t i2, int64_t i3)
{
    const float *a = row_of(dst->src[0], i1, i2, i3);
    const float *b = row_of(dst->src[1], i1, i2, i3);
    float *y = row_of(dst, i1, i2, i3);

    for (int64_t i = 0; i < dst->ne[0]; i++)
        y[i] = a[i] * b[i % dst->src[1]->ne[0]];
}

/* Row i1 of the result: row i1 of b times each row of a. */
static void
mul_mat_row(struct ggml_tensor *dst, int64_t i1, int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    const float *x = row_of(b, i1, i2, i3);
    float *y = row_of(dst, i1, i2, i3);

    for (int64_t i = 0; i < dst->ne[0]; i++) {
        const float *w = row_of(a, i, i2 / (b->ne[2] / a->ne[2]),
                                i3 / (b->ne[3] / a->ne[3]));
        float sum = 0;

        for (int64_t k = 0; k < a->ne[0]; k++)
            sum += w[k] * x[k];
        y[i] = sum;
    }
}

static void
for_each_row(struct ggml_tensor *dst,
             void (*row)(struct ggml_tensor *, int64_t, int64_t, int64_t))
{
    for (int64_t i3 = 0; i3 < dst->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < dst->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < dst->ne[1]; i1++)
                row(dst, i1, i2, i3);
}

static void
plain23_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    (void)backend;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        struct ggml_tensor *node = cgraph->nodes[i];

        switch (node->op) {
        case GGML_OP_ADD:
            for_each_row(node, add_row);
            break;
        case GGML_OP_MUL:
            for_each_row(node, mul_row);
            break;
        case GGML_OP_MUL_MAT:
            for_each_row(node, mul_mat_row);
            break;
        default: /* views */
            break;
        }
    }
}

static bool
plain23_supports_op(ggml_backend_t backend, const struct ggml_tensor *op)
{
    const bool is_ours = op->op == GGML_OP_ADD || op->op == GGML_OP_MUL ||
                         op->op == GGML_OP_MUL_MAT;

    (void)backend;
    if (!is_ours || op->type != GGML_TYPE_F32 || op->nb[0] != sizeof(float))
        return false;
    for (int i = 0; i < 2; i++)
        if (op->src[i]->type != GGML_TYPE_F32 ||
            op->src[i]->nb[0] != sizeof(float))
            return false;
    return true;
}

/* ---- the backend ---- */

static const char *
plain23_get_name(ggml_backend_t backend)
{
    (void)backend;
    return "Plain23";
}

static void
plain23_free(ggml_backend_t backend)
{
    free(backend);
}

static struct ggml_backend_i plain23_backend_i = {
    .get_name = plain23_get_name,
    .free = plain23_free,
    .alloc_buffer = plain23_alloc_buffer,
    .get_alignment = plain23_get_alignment,
    .set_tensor_async = plain23_set_tensor_async,
    .get_tensor_async = plain23_get_tensor_async,
    .synchronize = plain23_synchronize,
    .cpy_tensor_from = NULL, /* through the host */
    .cpy_tensor_to = NULL,
    .graph_plan_create = NULL,
    .graph_plan_free = NULL,
    .graph_plan_compute = NULL,
    .graph_compute = plain23_graph_compute,
    .supports_op = plain23_supports_op,
};

ggml_backend_t
plain23_init(void)
{
    ggml_backend_t backend = malloc(sizeof(struct ggml_backend));

    if (backend != NULL) {
        backend->iface = plain23_backend_i;
        backend->context = NULL;
    }
    return backend;
}
