/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/fake.c - a device that is not there.
 *
 * It computes ADD and SCALE of contiguous F32, at once; "asynchronous" only
 * means that the backend counts as busy until it is synchronised.
 */
#include "tests/backend/fake.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <stdlib.h>
#include <string.h>

/* Memory of one buffer. */
struct memory {
    struct fake *fake;
    uintptr_t base;
    unsigned char *shadow;
};

/* ---- buffers ---- */

static struct memory *
memory_of(ggml_backend_buffer_t buffer)
{
    return buffer->context;
}

unsigned char *
fake_shadow(const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home =
        tensor->view_src != NULL ? tensor->view_src->buffer : tensor->buffer;
    const struct memory *memory = memory_of(home);

    return memory->shadow + ((uintptr_t)tensor->data - memory->base);
}

/* Blocking access must not overtake what is queued. */
static void
touch(ggml_backend_buffer_t buffer)
{
    struct fake *fake = memory_of(buffer)->fake;

    fake->calls.while_busy += fake->is_busy;
}

static void
fake_free_buffer(ggml_backend_buffer_t buffer)
{
    memory_of(buffer)->fake->calls.free++;
    free(memory_of(buffer)->shadow);
    free(buffer->context);
}

static void *
fake_get_base(ggml_backend_buffer_t buffer)
{
    return (void *)memory_of(buffer)->base;
}

static enum ggml_status
fake_init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    struct fake *fake = memory_of(buffer)->fake;

    (void)tensor;
    fake->calls.init_tensor++;
    if (fake->inits_left == 0)
        return GGML_STATUS_FAILED;
    if (fake->inits_left > 0)
        fake->inits_left--;
    return GGML_STATUS_SUCCESS;
}

static void
fake_memset_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
    size_t offset, size_t size)
{
    touch(buffer);
    memory_of(buffer)->fake->calls.fill++;
    memset(fake_shadow(tensor) + offset, value, size);
}

static void
fake_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    touch(buffer);
    memory_of(buffer)->fake->calls.set++;
    memcpy(fake_shadow(tensor) + offset, data, size);
}

static void
fake_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    touch(buffer);
    memory_of(buffer)->fake->calls.get++;
    memcpy(data, fake_shadow(tensor) + offset, size);
}

static bool
fake_cpy_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *src,
    struct ggml_tensor *dst)
{
    struct fake *fake = memory_of(buffer)->fake;

    touch(buffer);
    if (!fake->is_friend)
        return false;
    fake->calls.copy++;
    memcpy(fake_shadow(dst), fake_shadow(src), ggml_nbytes(src));
    return true;
}

static void
fake_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    memory_of(buffer)->fake->calls.clear++;
    memset(memory_of(buffer)->shadow, value, buffer->size);
}

static void
fake_reset(ggml_backend_buffer_t buffer)
{
    memory_of(buffer)->fake->calls.reset++;
}

static const struct ggml_backend_buffer_i buffer_members = {
    .free_buffer = fake_free_buffer,
    .get_base = fake_get_base,
    .init_tensor = fake_init_tensor,
    .memset_tensor = fake_memset_tensor,
    .set_tensor = fake_set_tensor,
    .get_tensor = fake_get_tensor,
    .cpy_tensor = fake_cpy_tensor,
    .clear = fake_clear,
    .reset = fake_reset,
};

/* ---- buffer type ---- */

static struct fake *
fake_of_type(ggml_backend_buffer_type_t buft)
{
    return buft->context;
}

static const char *
fake_buft_name(ggml_backend_buffer_type_t buft)
{
    return fake_of_type(buft)->name;
}

static ggml_backend_buffer_t
fake_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    static uintptr_t next_base = FAKE_ADDRESS(0);
    struct fake *fake = fake_of_type(buft);
    ggml_backend_buffer_t buffer;
    struct memory *memory;

    if (fake->allocs_left == 0 || size > fake->max_size)
        return NULL;
    if (fake->allocs_left > 0)
        fake->allocs_left--;
    memory = malloc(sizeof(*memory));
    memory->fake = fake;
    memory->shadow = calloc(1, size);
    memory->base = next_base;
    next_base += FAKE_ADDRESS(1) - FAKE_ADDRESS(0);
    if (next_base < FAKE_ADDRESS(0))
        next_base = FAKE_ADDRESS(0);
    buffer =
        ggml_backend_buffer_init(buft, fake->buffer_members, memory, size);
    if (buffer == NULL) {
        free(memory->shadow);
        free(memory);
        return NULL;
    }
    fake->calls.alloc++;
    return buffer;
}

static size_t
fake_get_alignment(ggml_backend_buffer_type_t buft)
{
    return fake_of_type(buft)->alignment;
}

static size_t
fake_get_max_size(ggml_backend_buffer_type_t buft)
{
    return fake_of_type(buft)->max_size;
}

static size_t
fake_get_alloc_size(
    ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    return ggml_nbytes(tensor) + fake_of_type(buft)->padding;
}

static bool
fake_is_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return false;
}

static const struct ggml_backend_buffer_type_i buft_members = {
    .get_name = fake_buft_name,
    .alloc_buffer = fake_alloc_buffer,
    .get_alignment = fake_get_alignment,
    .get_max_size = fake_get_max_size,
    .get_alloc_size = fake_get_alloc_size,
    .is_host = fake_is_host,
};

/* ---- backend ---- */

static struct fake *
fake_of(ggml_backend_t backend)
{
    return backend->context;
}

static const char *
fake_backend_name(ggml_backend_t backend)
{
    return fake_of(backend)->name;
}

static void
fake_backend_free(ggml_backend_t backend)
{
    free(backend);
}

static void
fake_set_tensor_async(
    ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    fake_of(backend)->calls.set_async++;
    fake_of(backend)->is_busy = true;
    memcpy(fake_shadow(tensor) + offset, data, size);
}

static void
fake_get_tensor_async(
    ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    fake_of(backend)->calls.get_async++;
    fake_of(backend)->is_busy = true;
    memcpy(data, fake_shadow(tensor) + offset, size);
}

static bool
fake_cpy_tensor_async(
    ggml_backend_t backend_src, ggml_backend_t backend_dst,
    const struct ggml_tensor *src, struct ggml_tensor *dst)
{
    (void)backend_src;
    if (!fake_of(backend_dst)->is_friend)
        return false;
    fake_of(backend_dst)->calls.copy_async++;
    fake_of(backend_dst)->is_busy = true;
    memcpy(fake_shadow(dst), fake_shadow(src), ggml_nbytes(src));
    return true;
}

static void
fake_synchronize(ggml_backend_t backend)
{
    fake_of(backend)->calls.synchronize++;
    fake_of(backend)->is_busy = false;
}

static ggml_backend_graph_plan_t
fake_plan_create(ggml_backend_t backend, const struct ggml_cgraph *graph)
{
    (void)backend;
    return (ggml_backend_graph_plan_t)graph;
}

static void
fake_plan_free(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    (void)backend;
    (void)plan;
}

static void
compute_node(const struct fake *fake, struct ggml_tensor *node)
{
    const bool is_sum = node->op == GGML_OP_ADD;
    const float *a, *b;
    float *dst;

    if (!is_sum && node->op != GGML_OP_SCALE)
        return;
    dst = (float *)fake_shadow(node);
    a = (const float *)fake_shadow(node->src[0]);
    b = is_sum ? (const float *)fake_shadow(node->src[1]) : NULL;
    for (int64_t i = 0; i < ggml_nelements(node); i++)
        dst[i] = is_sum ? a[i] + b[i] + fake->error
                        : a[i] * ggml_get_op_params_f32(node, 0);
}

static enum ggml_status
fake_graph_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    fake_of(backend)->calls.compute++;
    fake_of(backend)->is_busy = true;
    for (int i = 0; i < graph->n_nodes; i++)
        compute_node(fake_of(backend), graph->nodes[i]);
    return fake_of(backend)->compute_status;
}

static enum ggml_status
fake_plan_compute(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    fake_of(backend)->calls.plan_compute++;
    return fake_graph_compute(backend, plan);
}

static void
fake_event_record(ggml_backend_t backend, ggml_backend_event_t event)
{
    (void)event;
    fake_of(backend)->calls.event_record++;
}

static void
fake_event_wait(ggml_backend_t backend, ggml_backend_event_t event)
{
    (void)event;
    fake_of(backend)->calls.event_wait++;
}

static const struct ggml_backend_i backend_members = {
    .get_name = fake_backend_name,
    .free = fake_backend_free,
    .set_tensor_async = fake_set_tensor_async,
    .get_tensor_async = fake_get_tensor_async,
    .cpy_tensor_async = fake_cpy_tensor_async,
    .synchronize = fake_synchronize,
    .graph_plan_create = fake_plan_create,
    .graph_plan_free = fake_plan_free,
    .graph_plan_compute = fake_plan_compute,
    .graph_compute = fake_graph_compute,
    .event_record = fake_event_record,
    .event_wait = fake_event_wait,
};

/* ---- device and registration ---- */

static struct fake *
fake_of_device(ggml_backend_dev_t device)
{
    return device->context;
}

static const char *
fake_device_name(ggml_backend_dev_t device)
{
    return fake_of_device(device)->name;
}

static const char *
fake_device_description(ggml_backend_dev_t device)
{
    (void)device;
    return "a device that is not there";
}

static void
fake_device_memory(ggml_backend_dev_t device, size_t *free, size_t *total)
{
    (void)device;
    *free = 1000;
    *total = 2000;
}

static enum ggml_backend_dev_type
fake_device_type(ggml_backend_dev_t device)
{
    (void)device;
    return GGML_BACKEND_DEVICE_TYPE_GPU;
}

static void
fake_device_props(
    ggml_backend_dev_t device, struct ggml_backend_dev_props *props)
{
    props->name = fake_device_name(device);
    props->memory_total = 2000;
    props->caps.async = true;
}

static ggml_backend_t
fake_device_backend(ggml_backend_dev_t device, const char *params)
{
    (void)params;
    return fake_backend(fake_of_device(device));
}

static ggml_backend_buffer_type_t
fake_device_buft(ggml_backend_dev_t device)
{
    return &fake_of_device(device)->buft;
}

static ggml_backend_buffer_t
fake_device_host_ptr(
    ggml_backend_dev_t device, void *ptr, size_t size, size_t max_tensor_size)
{
    (void)device;
    (void)max_tensor_size;
    return ggml_backend_cpu_buffer_from_ptr(ptr, size);
}

static bool
fake_supports_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    (void)device;
    return op->op == GGML_OP_ADD || op->op == GGML_OP_SCALE;
}

static bool
fake_supports_buft(ggml_backend_dev_t device, ggml_backend_buffer_type_t buft)
{
    return buft == &fake_of_device(device)->buft;
}

static bool
fake_offload_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    (void)device;
    return op->op == GGML_OP_ADD;
}

static ggml_backend_event_t
fake_event_new(ggml_backend_dev_t device)
{
    ggml_backend_event_t event = malloc(sizeof(*event));

    event->device = device;
    event->context = NULL;
    return event;
}

static void
fake_event_free(ggml_backend_dev_t device, ggml_backend_event_t event)
{
    (void)device;
    free(event);
}

static void
fake_event_synchronize(ggml_backend_dev_t device, ggml_backend_event_t event)
{
    (void)event;
    fake_of_device(device)->calls.event_synchronize++;
}

static const struct ggml_backend_device_i device_members = {
    .get_name = fake_device_name,
    .get_description = fake_device_description,
    .get_memory = fake_device_memory,
    .get_type = fake_device_type,
    .get_props = fake_device_props,
    .init_backend = fake_device_backend,
    .get_buffer_type = fake_device_buft,
    .get_host_buffer_type = fake_device_buft,
    .buffer_from_host_ptr = fake_device_host_ptr,
    .supports_op = fake_supports_op,
    .supports_buft = fake_supports_buft,
    .offload_op = fake_offload_op,
    .event_new = fake_event_new,
    .event_free = fake_event_free,
    .event_synchronize = fake_event_synchronize,
};

static const char *
fake_reg_name(ggml_backend_reg_t reg)
{
    const struct fake *fake = reg->context;

    return fake->name;
}

static size_t
fake_reg_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return 1;
}

static ggml_backend_dev_t
fake_reg_device(ggml_backend_reg_t reg, size_t index)
{
    struct fake *fake = reg->context;

    (void)index;
    return &fake->device;
}

static void *
fake_reg_proc(ggml_backend_reg_t reg, const char *name)
{
    return strcmp(name, "itself") == 0 ? reg : NULL;
}

void
fake_init(struct fake *fake, const char *name)
{
    ggmlbackend_clear_failure();
    memset(fake, 0, sizeof(*fake));
    fake->name = name;
    fake->reg = (struct ggml_backend_reg){
        .api_version = GGML_BACKEND_API_VERSION,
        .iface = { fake_reg_name, fake_reg_count, fake_reg_device,
                   fake_reg_proc },
        .context = fake,
    };
    fake->device = (struct ggml_backend_device){
        .iface = device_members, .reg = &fake->reg, .context = fake
    };
    fake->buft = (struct ggml_backend_buffer_type){
        .iface = buft_members, .device = &fake->device, .context = fake
    };
    fake->buffer_members = buffer_members;
    fake->backend_members = backend_members;
    fake->alignment = 64;
    fake->max_size = (size_t)1 << 30;
    fake->allocs_left = -1;
    fake->inits_left = -1;
    fake->compute_status = GGML_STATUS_SUCCESS;
}

ggml_backend_t
fake_backend(struct fake *fake)
{
    static uint8_t guid[16] = { 1, 2, 3 };
    ggml_backend_t backend = malloc(sizeof(*backend));

    backend->guid = &guid;
    backend->iface = fake->backend_members;
    backend->device = &fake->device;
    backend->context = fake;
    return backend;
}

struct ggml_context *
fake_context(size_t n)
{
    const struct ggml_init_params params = {
        .mem_size = n * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(n, false),
        .no_alloc = true,
    };

    return ggml_init(params);
}

bool
fake_failed(void)
{
    const bool failed = ggmlbackend_last_failure()[0] != '\0';

    ggmlbackend_clear_failure();
    return failed;
}
