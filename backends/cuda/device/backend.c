/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/backend.c - backends: each has a stream, and what is asked of it
 * is put there in the order of the calls.
 */
#include "backends/cuda/device/between.h"
#include "backends/cuda/device/blas.h"
#include "backends/cuda/device/buffer.h"
#include "backends/cuda/device/check.h"
#include "backends/cuda/device/event.h"
#include "backends/cuda/device/graph.h"
#include "backends/cuda/device/live.h"
#include "backends/cuda/device/ring.h"
#include "backends/cuda/device/span.h"
#include "backends/cuda/device/split.h"
#include "backends/cuda/device/stream.h"

#include "lib/node/node.h"

#include <stdlib.h>

struct cuda_backend {
    struct ggml_backend base;
    struct gb_cuda_device *device;
    struct gb_cuda_hold hold;
    struct gb_cuda_queue queue;
    struct gb_cuda_scratch scratch;
    struct gb_cuda_plan plan;
    struct gb_cuda_recordings recordings;
    struct gb_cuda_ring ring;   /* long copies of pageable memory */
    struct gb_cuda_stage stage; /* copies from cards that it does not reach */
    struct gb_cuda_split split; /* products of weights on several cards */
    struct gb_cuda_blas blas;   /* products by the vendor's BLAS */
    struct gb_cuda_abort abort;
    struct gb_cuda_live live;
    bool has_received; /* from another card, whose stream did it */
    bool has_failed;   /* its last graph did, and told it */
};

/* What a client's handle for a plan points to; it has memory of its own. */
struct graph_plan {
    struct gb_cuda_hold hold;
    struct gb_cuda_plan plan;
    struct gb_cuda_scratch scratch;
    struct gb_cuda_recordings recordings;
};

/* The interface tells backends apart by this: clients compare it. */
static const uint8_t guid[16] = {
    0x2c, 0xdd, 0xe8, 0x1c, 0x65, 0xb3, 0x65, 0x73,
    0x6a, 0x12, 0x88, 0x61, 0x1c, 0xc9, 0xdc, 0x25
};

static const char *
backend_get_name(ggml_backend_t backend)
{
    const struct cuda_backend *own = backend->context;

    return own->device->name;
}

/*
 * Memory that queued work uses may go when a call has failed, or the card by
 * another's: wait for it all the same, without a word.
 */
static void
drain(struct cuda_backend *own)
{
    if (gb_cuda_enter_cleanup(&own->hold)) {
        gb_cuda_queue_drain(own->hold.card, &own->queue);
        gb_cuda_leave(&own->hold);
    }
    if (own->has_received)
        gb_cuda_live_drain();
}

static void
backend_free(ggml_backend_t backend)
{
    struct cuda_backend *own = backend->context;
    struct gb_cuda_card *card = own->hold.card;

    drain(own);
    gb_cuda_live_remove(&own->live);
    if (gb_cuda_enter_cleanup(&own->hold)) {
        gb_cuda_recordings_clear(&own->recordings, card);
        gb_cuda_split_clear(&own->split, card);
        gb_cuda_blas_clear(&own->blas, card);
        gb_cuda_scratch_clear(&own->scratch, card);
        gb_cuda_stage_clear(&own->stage, card);
        gb_cuda_ring_clear(&own->ring, card);
        gb_cuda_queue_clear(card, &own->queue);
        gb_cuda_leave(&own->hold);
    }
    gb_cuda_recordings_forget(&own->recordings);
    gb_cuda_split_release(&own->split);
    gb_cuda_plan_clear(&own->plan);
    gb_cuda_release(&own->hold);
    free(own);
}

/* Did a graph of this backend tell that the card has failed? */
static bool
is_failure_told(const struct cuda_backend *own)
{
    return own->has_failed &&
           atomic_load_explicit(&own->hold.card->has_failed,
                                memory_order_acquire);
}

static void
backend_synchronize(ggml_backend_t backend)
{
    struct cuda_backend *own = backend->context;
    const struct gb_cuda_span span = gb_cuda_span_begin(own->device->name);
    enum ggml_status status = GGML_STATUS_FAILED;

    if (!is_failure_told(own) && gb_cuda_enter(&own->hold)) {
        status = gb_cuda_queue_wait(own->hold.card, &own->queue);
        gb_cuda_leave(&own->hold);
    }
    if (status != GGML_STATUS_SUCCESS)
        drain(own);
    gb_cuda_span_end(&span, "wait");
    if (span.track != 0)
        ggmlbackend_trace_flush();
}

/* ---- copies ---- */

/* True if all of TENSOR is in the backend's GPU memory; else logs the reason. */
static bool
reaches(const struct cuda_backend *own, const struct ggml_tensor *tensor)
{
    const char *why = gb_cuda_place_fault(&own->hold, tensor);

    if (why == NULL)
        return true;
    ggmlbackend_fail(GGML_STATUS_FAILED, "%s: tensor %.*s %s",
                     own->device->name, GB_NODE_NAME(tensor), why);
    return false;
}

static void
queue_set(struct cuda_backend *own, gb_cuda_address to, const void *data,
          size_t size)
{
    struct gb_cuda_card *card = own->hold.card;

    if (gb_cuda_ring_takes(&own->ring, card, data, size))
        gb_cuda_ring_send(&own->ring, card, &own->queue, to, data, size);
    else
        GB_CUDA(card, copy_to_device, (to, data, size, own->queue.stream));
}

/* The driver waits as well where memory is pageable. */
static void
queue_get(struct cuda_backend *own, void *data, gb_cuda_address from,
          size_t size)
{
    struct gb_cuda_card *card = own->hold.card;

    if (gb_cuda_ring_takes(&own->ring, card, data, size))
        gb_cuda_ring_receive(&own->ring, card, &own->queue, data, from, size);
    else
        GB_CUDA(card, copy_to_host, (data, from, size, own->queue.stream));
}

static void
backend_set_tensor_async(
    ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    struct cuda_backend *own = backend->context;
    const struct gb_cuda_span span = gb_cuda_span_begin(own->device->name);

    if (!reaches(own, tensor) || !gb_cuda_enter(&own->hold))
        return;
    queue_set(own, gb_cuda_address_of(tensor) + offset, data, size);
    gb_cuda_leave(&own->hold);
    gb_cuda_span_end(&span, "queue set");
}

static void
backend_get_tensor_async(
    ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    struct cuda_backend *own = backend->context;
    const struct gb_cuda_span span = gb_cuda_span_begin(own->device->name);

    if (!reaches(own, tensor) || !gb_cuda_enter(&own->hold))
        return;
    queue_get(own, data, gb_cuda_address_of(tensor) + offset, size);
    gb_cuda_leave(&own->hold);
    gb_cuda_span_end(&span, "queue get");
}

static bool
backend_cpy_tensor_async(
    ggml_backend_t backend_src, ggml_backend_t backend_dst,
    const struct ggml_tensor *src, struct ggml_tensor *dst)
{
    const struct gb_cuda_span span =
        gb_cuda_span_begin(ggml_backend_name(backend_dst));
    struct cuda_backend *from, *to = backend_dst->context;
    bool is_queued;

    if (!gb_cuda_is_backend(backend_src))
        return false;
    from = backend_src->context;
    if (!gb_cuda_lies_on(&from->hold, src) ||
        !gb_cuda_lies_on(&to->hold, dst))
        return false;
    to->has_received |= from->hold.card != to->hold.card;
    is_queued = gb_cuda_copy_between(
        &to->stage,
        &(struct gb_cuda_stage_end){ &from->hold, &from->queue,
                                     gb_cuda_address_of(src) },
        &(struct gb_cuda_stage_end){ &to->hold, &to->queue,
                                     gb_cuda_address_of(dst) },
        ggml_nbytes(src));
    if (is_queued)
        gb_cuda_span_end(&span, "queue copy");
    return is_queued;
}

/* ---- graphs ---- */

/* What STEP is, and how many of the launches behind it belong to it. */
static enum ggml_status
run_step(struct cuda_backend *own, const struct gb_cuda_plan *plan,
         const struct gb_cuda_step *step, size_t *n_launches)
{
    *n_launches = 0;
    if (step->weights != NULL) {
        own->has_received = true;
        return gb_cuda_split_run(&own->split, &own->hold, &own->queue, step);
    }
    *n_launches = (size_t)(step->gemm.n_own + step->gemm.n_after);
    return gb_cuda_blas_run(&own->blas, own->hold.card, &own->queue, plan,
                            step);
}

/* Steps with the launches between them. */
static enum ggml_status
run_steps(struct cuda_backend *own, const struct gb_cuda_plan *plan)
{
    struct gb_cuda_card *card = own->hold.card;
    enum ggml_status status =
        gb_cuda_split_prepare(&own->split, &own->hold, &own->queue, plan);
    size_t first = 0;

    gb_cuda_blas_prepare(&own->blas, card, &own->queue, plan);
    for (size_t i = 0; i < plan->n_steps && status == GGML_STATUS_SUCCESS;
         i++) {
        const struct gb_cuda_step *step = &plan->steps[i];
        size_t n_launches = 0;

        if (gb_cuda_is_aborted(&own->abort))
            return GGML_STATUS_ABORTED;
        status = gb_cuda_launch_all(card, own->queue.stream, plan, first,
                                    step->before - first);
        if (status == GGML_STATUS_SUCCESS)
            status = run_step(own, plan, step, &n_launches);
        first = step->before + n_launches;
    }
    if (status != GGML_STATUS_SUCCESS)
        return status;
    return gb_cuda_launch_all(card, own->queue.stream, plan, first,
                              plan->n_launches - first);
}

static enum ggml_status
run(struct cuda_backend *own, struct gb_cuda_recordings *recordings,
    struct gb_cuda_plan *plan)
{
    if (plan->n_steps > 0)
        return run_steps(own, plan);
    return gb_cuda_run(recordings, own->hold.card, own->queue.stream, plan,
                       &own->abort);
}

static enum ggml_status
compute(struct cuda_backend *own, const struct ggml_cgraph *cgraph)
{
    const enum ggml_status status = gb_cuda_plan_make(
        &own->plan, &own->hold, &own->scratch, &own->queue, cgraph);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    return run(own, &own->recordings, &own->plan);
}

static enum ggml_status
end_graph(struct cuda_backend *own, enum ggml_status status)
{
    own->has_failed = status != GGML_STATUS_SUCCESS;
    if (own->has_failed)
        drain(own);
    return status;
}

static enum ggml_status
backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    struct cuda_backend *own = backend->context;
    const struct gb_cuda_span span = gb_cuda_span_begin(own->device->name);
    enum ggml_status status;

    if (!gb_cuda_enter(&own->hold))
        return end_graph(own, GGML_STATUS_FAILED);
    status = compute(own, cgraph);
    gb_cuda_leave(&own->hold);
    gb_cuda_span_end(&span, "queue graph");
    return end_graph(own, status);
}

static void
backend_graph_plan_free(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct graph_plan *own = plan;

    (void)backend;
    if (gb_cuda_enter_cleanup(&own->hold)) {
        gb_cuda_recordings_clear(&own->recordings, own->hold.card);
        gb_cuda_scratch_clear(&own->scratch, own->hold.card);
        gb_cuda_leave(&own->hold);
    }
    gb_cuda_recordings_forget(&own->recordings);
    gb_cuda_plan_clear(&own->plan);
    gb_cuda_release(&own->hold);
    free(own);
}

static enum ggml_status
make_plan(struct graph_plan *plan, struct cuda_backend *own,
          const struct ggml_cgraph *cgraph)
{
    enum ggml_status status;

    if (!gb_cuda_enter(&own->hold))
        return GGML_STATUS_FAILED;
    status = gb_cuda_plan_make(&plan->plan, &plan->hold, &plan->scratch,
                               &own->queue, cgraph);
    gb_cuda_leave(&own->hold);
    return status;
}

static ggml_backend_graph_plan_t
backend_graph_plan_create(
    ggml_backend_t backend, const struct ggml_cgraph *cgraph)
{
    struct cuda_backend *own = backend->context;
    struct graph_plan *plan = calloc(1, sizeof(*plan));

    if (plan == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for a plan",
                         own->device->name);
        return NULL;
    }
    if (gb_cuda_hold(own->hold.card, false, &plan->hold) !=
        GGML_STATUS_SUCCESS) {
        free(plan);
        return NULL;
    }
    if (make_plan(plan, own, cgraph) == GGML_STATUS_SUCCESS)
        return plan;
    backend_graph_plan_free(backend, plan);
    return NULL;
}

static enum ggml_status
backend_graph_plan_compute(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct cuda_backend *own = backend->context;
    struct graph_plan *graph = plan;
    const struct gb_cuda_span span = gb_cuda_span_begin(own->device->name);
    enum ggml_status status;

    if (!gb_cuda_enter(&own->hold))
        return end_graph(own, GGML_STATUS_FAILED);
    status = run(own, &graph->recordings, &graph->plan);
    gb_cuda_leave(&own->hold);
    gb_cuda_span_end(&span, "queue graph");
    return end_graph(own, status);
}

/* ---- events ---- */

static void
backend_event_record(ggml_backend_t backend, ggml_backend_event_t event)
{
    struct cuda_backend *own = backend->context;
    const struct gb_cuda_event_of_device *recorded = gb_cuda_event_of(event);

    if (recorded == NULL || recorded->hold.card != own->hold.card) {
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: an event of %s cannot be recorded",
                         own->device->name,
                         ggml_backend_dev_name(event->device));
        return;
    }
    if (!gb_cuda_enter(&own->hold))
        return;
    GB_CUDA(own->hold.card, event_record,
            (recorded->handle, own->queue.stream));
    gb_cuda_leave(&own->hold);
}

/* The host waits for another backend's event, which no stream knows. */
static void
backend_event_wait(ggml_backend_t backend, ggml_backend_event_t event)
{
    struct cuda_backend *own = backend->context;
    const struct gb_cuda_event_of_device *recorded = gb_cuda_event_of(event);

    if (recorded == NULL) {
        ggml_backend_event_synchronize(event);
        return;
    }
    if (!gb_cuda_enter(&own->hold))
        return;
    GB_CUDA(own->hold.card, stream_wait_event,
            (own->queue.stream, recorded->handle, 0));
    gb_cuda_leave(&own->hold);
}

/* ---- the backend ---- */

static const struct ggml_backend_i backend_members = {
    .get_name = backend_get_name,
    .free = backend_free,
    .set_tensor_async = backend_set_tensor_async,
    .get_tensor_async = backend_get_tensor_async,
    .cpy_tensor_async = backend_cpy_tensor_async,
    .synchronize = backend_synchronize,
    .graph_plan_create = backend_graph_plan_create,
    .graph_plan_free = backend_graph_plan_free,
    .graph_plan_compute = backend_graph_plan_compute,
    .graph_compute = backend_graph_compute,
    .event_record = backend_event_record,
    .event_wait = backend_event_wait,
};

static bool
make_queue(struct cuda_backend *own)
{
    enum ggml_status status;

    if (!gb_cuda_enter(&own->hold))
        return false;
    status = gb_cuda_queue_init(own->hold.card, &own->queue);
    gb_cuda_leave(&own->hold);
    return status == GGML_STATUS_SUCCESS;
}

ggml_backend_t
gb_cuda_backend_new(struct gb_cuda_device *device)
{
    struct cuda_backend *own = calloc(1, sizeof(*own));

    if (own == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                         "%s: no memory for a backend", device->name);
        return NULL;
    }
    own->device = device;
    if (gb_cuda_hold(device->card, true, &own->hold) != GGML_STATUS_SUCCESS)
        goto free_own;
    if (!make_queue(own))
        goto release;
    own->base = (struct ggml_backend){
        .guid = (ggml_guid_t)&guid,
        .iface = backend_members,
        .device = &device->handle,
        .context = own,
    };
    own->live.hold = &own->hold;
    own->live.queue = &own->queue;
    gb_cuda_live_add(&own->live);
    return &own->base;

release:
    gb_cuda_release(&own->hold);
free_own:
    free(own);
    return NULL;
}

bool
gb_cuda_is_backend(ggml_backend_t backend)
{
    return backend != NULL && backend->iface.free == backend_free;
}

void
gb_cuda_set_abort_callback(
    ggml_backend_t backend, ggml_abort_callback callback, void *data)
{
    struct cuda_backend *own;

    if (!gb_cuda_is_backend(backend))
        return;
    own = backend->context;
    own->abort = (struct gb_cuda_abort){ callback, data };
}
