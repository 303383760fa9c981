/* SPDX-License-Identifier: MIT */
/*
 * own-backend/plain.c - a whole backend, made outside of the library.
 *
 * One device with memory of its own that computes ADD, MUL and MUL_MAT of F32
 * tensors, in loops that anybody can read.  A scheduler gives everything else to
 * the CPU.  ggml-backend-module(7) explains the parts; they are in its order.
 */
#include <ggml-backend-impl.h>
#include <ggmlbackend.h>

#include <stdlib.h>
#include <string.h>

#define PLAIN_NAME "Plain"
#define ALIGNMENT  64

static struct ggml_backend_reg plain_reg;
static struct ggml_backend_device plain_device;
static struct ggml_backend_buffer_type plain_buffer_type;

/* ---- buffers: the context is the memory ---- */

static void
buffer_free(ggml_backend_buffer_t buffer)
{
    free(buffer->context);
}

static void *
buffer_get_base(ggml_backend_buffer_t buffer)
{
    return buffer->context;
}

static void
buffer_memset_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
    size_t offset, size_t size)
{
    (void)buffer;
    memset((char *)tensor->data + offset, value, size);
}

static void
buffer_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    memcpy((char *)tensor->data + offset, data, size);
}

static void
buffer_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    memcpy(data, (const char *)tensor->data + offset, size);
}

static void
buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    memset(buffer->context, value, buffer->size);
}

/* What is not here may be missing: the core finds another way. */
static const struct ggml_backend_buffer_i buffer_members = {
    .free_buffer = buffer_free,
    .get_base = buffer_get_base,
    .memset_tensor = buffer_memset_tensor,
    .set_tensor = buffer_set_tensor,
    .get_tensor = buffer_get_tensor,
    .clear = buffer_clear,
};

/* ---- the kind of memory ---- */

static const char *
buft_get_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return PLAIN_NAME;
}

static ggml_backend_buffer_t
buft_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer;
    void *memory;

    if (posix_memalign(&memory, ALIGNMENT, size) != 0)
        return NULL;
    buffer = ggml_backend_buffer_init(buft, buffer_members, memory, size);
    if (buffer == NULL)
        free(memory);
    return buffer;
}

static size_t
buft_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return ALIGNMENT;
}

static struct ggml_backend_buffer_type plain_buffer_type = {
    .iface = {
        .get_name = buft_get_name,
        .alloc_buffer = buft_alloc_buffer,
        .get_alignment = buft_get_alignment,
    },
    .device = &plain_device,
};

/* ---- operations ---- */

/* The element of T at these indices, each modulo T's own size. */
static float *
at(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    const size_t offset = (size_t)(i0 % t->ne[0]) * t->nb[0] +
                          (size_t)(i1 % t->ne[1]) * t->nb[1] +
                          (size_t)(i2 % t->ne[2]) * t->nb[2] +
                          (size_t)(i3 % t->ne[3]) * t->nb[3];

    return (float *)((char *)t->data + offset);
}

/* One element of a result. */
typedef float (*element_fn)(
    const struct ggml_tensor *dst, int64_t i0, int64_t i1, int64_t i2,
    int64_t i3);

static float
add(const struct ggml_tensor *dst, int64_t i0, int64_t i1, int64_t i2,
    int64_t i3)
{
    return *at(dst->src[0], i0, i1, i2, i3) + *at(dst->src[1], i0, i1, i2, i3);
}

static float
mul(const struct ggml_tensor *dst, int64_t i0, int64_t i1, int64_t i2,
    int64_t i3)
{
    return *at(dst->src[0], i0, i1, i2, i3) * *at(dst->src[1], i0, i1, i2, i3);
}

/*
 * Row i0 of the first source times row i1 of the second.  Matrices of the first
 * are used by several neighbours of the second where it has more of them.
 */
static float
mul_mat(
    const struct ggml_tensor *dst, int64_t i0, int64_t i1, int64_t i2,
    int64_t i3)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    const int64_t a2 = i2 / (b->ne[2] / a->ne[2]);
    const int64_t a3 = i3 / (b->ne[3] / a->ne[3]);
    double sum = 0.0;

    for (int64_t k = 0; k < a->ne[0]; k++)
        sum += (double)*at(a, k, i0, a2, a3) * *at(b, k, i1, i2, i3);
    return (float)sum;
}

static const struct {
    enum ggml_op op;
    element_fn element;
} operations[] = {
    { GGML_OP_ADD, add },
    { GGML_OP_MUL, mul },
    { GGML_OP_MUL_MAT, mul_mat },
};

/* NULL for what this device cannot compute. */
static element_fn
find_operation(enum ggml_op op)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
        if (operations[i].op == op)
            return operations[i].element;
    return NULL;
}

static void
compute(const struct ggml_tensor *dst, element_fn element)
{
    for (int64_t i3 = 0; i3 < dst->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < dst->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < dst->ne[1]; i1++)
                for (int64_t i0 = 0; i0 < dst->ne[0]; i0++)
                    *at(dst, i0, i1, i2, i3) = element(dst, i0, i1, i2, i3);
}

/* ---- backends: all work is done when a call returns ---- */

static const char *
backend_get_name(ggml_backend_t backend)
{
    (void)backend;
    return PLAIN_NAME;
}

static void
backend_free(ggml_backend_t backend)
{
    free(backend);
}

/* Nodes without an operation here are views, which need no work. */
static enum ggml_status
backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    const int track = ggmlbackend_trace_track(PLAIN_NAME);
    const int64_t start = track != 0 ? ggmlbackend_trace_now() : 0;

    (void)backend;
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const struct ggml_tensor *node = ggml_graph_node(graph, i);
        const element_fn element = find_operation(node->op);

        if (element != NULL)
            compute(node, element);
    }
    if (track != 0) {
        ggmlbackend_trace_span(track, "loops", start,
                               ggmlbackend_trace_now() - start);
        ggmlbackend_trace_flush();
    }
    return GGML_STATUS_SUCCESS;
}

static ggml_backend_t
device_init_backend(ggml_backend_dev_t device, const char *params)
{
    static ggml_guid guid = { 0x1d, 0x5c, 0x0e, 0x3b, 0x6a, 0x95, 0x47, 0x0f,
                              0x9a, 0x41, 0xd2, 0x77, 0x8c, 0x13, 0xe6, 0x58 };
    ggml_backend_t backend = calloc(1, sizeof(*backend));

    (void)params;
    if (backend == NULL)
        return NULL;
    backend->guid = &guid;
    backend->iface.get_name = backend_get_name;
    backend->iface.free = backend_free;
    backend->iface.graph_compute = backend_graph_compute;
    backend->device = device;
    return backend;
}

/* ---- the device ---- */

static const char *
device_get_name(ggml_backend_dev_t device)
{
    (void)device;
    return PLAIN_NAME;
}

static const char *
device_get_description(ggml_backend_dev_t device)
{
    (void)device;
    return "plain loops in C";
}

static void
device_get_memory(ggml_backend_dev_t device, size_t *free, size_t *total)
{
    (void)device;
    *free = 0;
    *total = 0;
}

static enum ggml_backend_dev_type
device_get_type(ggml_backend_dev_t device)
{
    (void)device;
    return GGML_BACKEND_DEVICE_TYPE_ACCEL;
}

static void
device_get_props(
    ggml_backend_dev_t device, struct ggml_backend_dev_props *props)
{
    props->name = device_get_name(device);
    props->description = device_get_description(device);
    props->type = device_get_type(device);
    device_get_memory(device, &props->memory_free, &props->memory_total);
}

static ggml_backend_buffer_type_t
device_get_buffer_type(ggml_backend_dev_t device)
{
    (void)device;
    return &plain_buffer_type;
}

static bool
device_supports_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    (void)device;
    switch (op->op) {
    case GGML_OP_NONE:
    case GGML_OP_VIEW:
    case GGML_OP_RESHAPE:
    case GGML_OP_PERMUTE:
    case GGML_OP_TRANSPOSE:
        return true;
    default:
        return find_operation(op->op) != NULL && op->type == GGML_TYPE_F32 &&
               op->src[0]->type == GGML_TYPE_F32 &&
               op->src[1]->type == GGML_TYPE_F32;
    }
}

static bool
device_supports_buft(ggml_backend_dev_t device, ggml_backend_buffer_type_t buft)
{
    (void)device;
    return buft == &plain_buffer_type;
}

static struct ggml_backend_device plain_device = {
    .iface = {
        .get_name = device_get_name,
        .get_description = device_get_description,
        .get_memory = device_get_memory,
        .get_type = device_get_type,
        .get_props = device_get_props,
        .init_backend = device_init_backend,
        .get_buffer_type = device_get_buffer_type,
        .supports_op = device_supports_op,
        .supports_buft = device_supports_buft,
    },
    .reg = &plain_reg,
};

/* ---- the registration, which is what a module gives ---- */

static const char *
reg_get_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return PLAIN_NAME;
}

static size_t
reg_get_device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return 1;
}

static ggml_backend_dev_t
reg_get_device(ggml_backend_reg_t reg, size_t index)
{
    (void)reg;
    return index == 0 ? &plain_device : NULL;
}

/* There is one such device, wherever it is met. */
static const struct ggml_backend_feature *
get_properties(ggml_backend_dev_t device)
{
    static const struct ggml_backend_feature properties[] = {
        { "UUID", "1d5c0e3b-6a95-470f-9a41-d2778c13e658" },
        { NULL, NULL },
    };

    (void)device;
    return properties;
}

static void *
reg_get_proc_address(ggml_backend_reg_t reg, const char *name)
{
    (void)reg;
    if (strcmp(name, "ggmlbackend_dev_get_properties") == 0)
        return (void *)get_properties;
    return NULL;
}

static struct ggml_backend_reg plain_reg = {
    .api_version = GGML_BACKEND_API_VERSION,
    .iface = {
        .get_name = reg_get_name,
        .get_device_count = reg_get_device_count,
        .get_device = reg_get_device,
        .get_proc_address = reg_get_proc_address,
    },
};

/* A backend of a real device looks for its driver here. */
static ggml_backend_reg_t
get_reg(void)
{
    const char *devices = ggmlbackend_env_value("GGMLBACKEND_GPU_DEVICES");

    if (devices != NULL && devices[0] != '\0' && strchr(devices, '0') == NULL)
        return ggmlbackend_not_here(
            "GGMLBACKEND_GPU_DEVICES has %s, and the only device is 0",
            devices);
    return &plain_reg;
}

GGML_BACKEND_DL_IMPL(get_reg)
