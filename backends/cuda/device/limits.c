/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/limits.c - what a card can do at most, measured.
 *
 * Each figure is that of some work in a stream of its own, timed by the card
 * between two events.  The work is repeated until a sample lasts as long as it
 * should, and the best of a few samples counts: whatever else the card does
 * only makes them worse.
 */
#include "backends/cuda/device/limits.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/context.h"
#include "backends/cuda/device/kernel.h"
#include "backends/cuda/device/pinned.h"
#include "backends/cuda/device/state.h"
#include "backends/cuda/device/stream.h"
#include "backends/cuda/kernels/args-limits.h"

#include <stddef.h>
#include <string.h>

enum {
    SAMPLES = 5,
    THREADS = 256,      /* of most kernels' blocks */
    BLOCKS = 8,         /* for each multiprocessor */
    CACHES = 16,        /* an array is so many times the last cache */
    LEAST_CACHES = 4,   /* below that, reads are not beyond the cache */
    NODES = 64,         /* of a recorded graph */
    MAX_STALLS = 4,     /* doublings of work that took no longer */
};

#define MAX_LINK  ((size_t)32 << 20) /* bytes of a copy from the host */
#define MAX_ARRAY ((size_t)1 << 30)
#define UNKNOWN_CACHE ((size_t)16 << 20)

/* What all figures need. */
struct run {
    struct gb_cuda_hold hold;
    struct gb_cuda_card *card;
    struct gb_cuda_queue queue;
    gb_cuda_event begin, end; /* which time */
    gb_cuda_address arrays[2];
    size_t array_size;
    void *host;               /* pinned; NULL where there is none */
    size_t host_size;
    gb_cuda_graph graph;
    gb_cuda_graph_exec exec;
    double seconds;           /* that a sample lasts */
    uint32_t slowed;
};

/* What is repeated, and with what. */
struct work {
    enum ggml_status (*queue)(struct run *run, const struct work *work,
                              int64_t rounds);
    enum gb_cuda_kernel kernel;
    size_t shared;
    int blocks; /* for each multiprocessor; 0: one */
};

/* ---- samples ---- */

static enum ggml_status
time_once(struct run *run, const struct work *work, int64_t rounds,
          double *seconds)
{
    struct gb_cuda_card *card = run->card;
    enum ggml_status status;
    float ms = 0.0f;

    GB_CUDA_TRY(card, event_record, (run->begin, run->queue.stream));
    status = work->queue(run, work, rounds);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    GB_CUDA_TRY(card, event_record, (run->end, run->queue.stream));
    /* Asked while it runs: a card that waits has other clocks. */
    run->slowed |= gb_cuda_slowed_by(card);
    status = gb_cuda_event_await(card, run->end);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    GB_CUDA_TRY(card, event_elapsed, (&ms, run->begin, run->end));
    *seconds = (double)ms * 1e-3;
    return GGML_STATUS_SUCCESS;
}

/*
 * As many rounds as last long enough.  Where more of them take no longer the
 * clock is none, or too coarse, and no number of rounds would do.
 */
static enum ggml_status
find_rounds(struct run *run, const struct work *work, int64_t *rounds)
{
    double before = 0.0;
    int stalls = 0;

    for (*rounds = 1; stalls < MAX_STALLS; *rounds *= 2) {
        double seconds = 0.0;
        const enum ggml_status status =
            time_once(run, work, *rounds, &seconds);

        if (status != GGML_STATUS_SUCCESS || seconds >= run->seconds)
            return status;
        stalls = seconds > before * 1.25 ? 0 : stalls + 1;
        before = seconds;
    }
    return GGML_STATUS_SUCCESS;
}

/* *SECONDS is that of a round, at best; 0 where the clock does not tell. */
static enum ggml_status
measure(struct run *run, const struct work *work, double *seconds)
{
    int64_t rounds;
    double best = 0.0;
    enum ggml_status status = find_rounds(run, work, &rounds);

    for (int i = 0; i < SAMPLES && status == GGML_STATUS_SUCCESS; i++) {
        double sample = 0.0;

        status = time_once(run, work, rounds, &sample);
        if (sample > 0.0 && (best == 0.0 || sample < best))
            best = sample;
    }
    *seconds = best / (double)rounds;
    return status;
}

/* UNITS of a round each second. */
static enum ggml_status
measure_rate(struct run *run, const struct work *work, double units,
             double *rate)
{
    double seconds;
    const enum ggml_status status = measure(run, work, &seconds);

    *rate = seconds > 0.0 ? units / seconds : 0.0;
    return status;
}

/* ---- work ---- */

static unsigned
blocks_of(const struct run *run, const struct work *work)
{
    const int n = run->card->limits.n_sms * work->blocks;

    return n > 0 ? (unsigned)n : 1;
}

/* In STATUS_SUCCESS with NULL the card's variant has become a lower one. */
static enum ggml_status
launch(struct run *run, const struct work *work,
       const struct gb_cuda_limits_args *args)
{
    struct gb_cuda_card *card = run->card;
    gb_cuda_function function = NULL;
    const enum ggml_status status =
        gb_cuda_kernel_find(card, work->kernel, &function);
    void *params[] = { (void *)args };

    if (status != GGML_STATUS_SUCCESS || function == NULL)
        return status;
    return GB_CUDA(card, launch,
                   (function, blocks_of(run, work), 1, 1,
                    gb_cuda_kernel_threads(work->kernel), 1, 1,
                    (unsigned)work->shared, run->queue.stream, params, NULL));
}

/* From the first array to the second. */
static struct gb_cuda_limits_args
args_of(const struct run *run, int64_t rounds)
{
    return (struct gb_cuda_limits_args){
        .from = (const char *)(uintptr_t)run->arrays[0],
        .to = (char *)(uintptr_t)run->arrays[1],
        .n = (int64_t)(run->array_size / 16),
        .rounds = rounds,
    };
}

static enum ggml_status
queue_rounds(struct run *run, const struct work *work, int64_t rounds)
{
    const struct gb_cuda_limits_args args = args_of(run, rounds);

    return launch(run, work, &args);
}

static enum ggml_status
queue_launches(struct run *run, const struct work *work, int64_t rounds)
{
    const struct gb_cuda_limits_args args = args_of(run, 0);
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (int64_t i = 0; i < rounds && status == GGML_STATUS_SUCCESS; i++)
        status = launch(run, work, &args);
    return status;
}

static enum ggml_status
queue_graphs(struct run *run, const struct work *work, int64_t rounds)
{
    (void)work;
    for (int64_t i = 0; i < rounds; i++)
        GB_CUDA_TRY(run->card, graph_launch, (run->exec, run->queue.stream));
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
queue_to_device(struct run *run, const struct work *work, int64_t rounds)
{
    (void)work;
    for (int64_t i = 0; i < rounds; i++)
        GB_CUDA_TRY(run->card, copy_to_device,
                    (run->arrays[1], run->host, run->host_size,
                     run->queue.stream));
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
queue_to_host(struct run *run, const struct work *work, int64_t rounds)
{
    (void)work;
    for (int64_t i = 0; i < rounds; i++)
        GB_CUDA_TRY(run->card, copy_to_host,
                    (run->host, run->arrays[0], run->host_size,
                     run->queue.stream));
    return GGML_STATUS_SUCCESS;
}

/* ---- figures ---- */

static enum ggml_status
measure_memory(struct run *run, struct ggmlbackend_dev_limits *limits)
{
    static const struct work
        read = { queue_rounds, GB_CUDA_KERNEL_gb_limit_read, 0, BLOCKS },
        copy = { queue_rounds, GB_CUDA_KERNEL_gb_limit_copy, 0, BLOCKS };
    const double size = (double)run->array_size;
    enum ggml_status status;

    if (run->array_size < LEAST_CACHES * limits->cache)
        return GGML_STATUS_SUCCESS;
    status = measure_rate(run, &read, size, &limits->read);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    return measure_rate(run, &copy, 2.0 * size, &limits->copy);
}

/* Kernels that compute, of a figure the best first. */
#define SHARED GB_CUDA_LIMITS_SHARED
#define FIGURE(name) offsetof(struct ggmlbackend_dev_limits, name)
static const struct peak {
    size_t figure;
    enum gb_cuda_variant variant; /* the lowest that has it */
    struct work work;
    double ops; /* of a thread block's round */
} peaks[] = {
    { FIGURE(f16), GB_CUDA_WGMMA,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_wgmma_f16, SHARED, BLOCKS },
      2.0 * 64 * 128 * 16 * 8 },
    { FIGURE(f16), GB_CUDA_MFMA,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_matrix_f16, 0, BLOCKS },
      2.0 * 16 * 16 * 32 * 8 * 8 },
    { FIGURE(f16), GB_CUDA_MMA8,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_mma8_f16, 0, BLOCKS },
      2.0 * 16 * 8 * 16 * 8 * 8 },
    { FIGURE(f16), GB_CUDA_MMA,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_mma_f16, 0, BLOCKS },
      2.0 * 16 * 8 * 8 * 8 * 8 },
    { FIGURE(bf16), GB_CUDA_WGMMA,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_wgmma_bf16, SHARED, BLOCKS },
      2.0 * 64 * 128 * 16 * 8 },
    { FIGURE(bf16), GB_CUDA_MFMA,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_matrix_bf16, 0, BLOCKS },
      2.0 * 16 * 16 * 32 * 8 * 8 },
    { FIGURE(bf16), GB_CUDA_MMA8,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_mma8_bf16, 0, BLOCKS },
      2.0 * 16 * 8 * 16 * 8 * 8 },
    { FIGURE(int8), GB_CUDA_MMA8,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_mma8_int8, 0, BLOCKS },
      2.0 * 16 * 8 * 32 * 8 * 8 },
    { FIGURE(int8), GB_CUDA_MMA,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_mma_int8, 0, BLOCKS },
      2.0 * 8 * 8 * 16 * 8 * 8 },
    { FIGURE(int8), GB_CUDA_PLAIN,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_int8, 0, BLOCKS },
      2.0 * 4 * 8 * 16 * THREADS },
    { FIGURE(f32), GB_CUDA_PLAIN,
      { queue_rounds, GB_CUDA_KERNEL_gb_limit_f32, 0, BLOCKS },
      2.0 * 8 * 16 * THREADS },
};

static double *
figure_of(struct ggmlbackend_dev_limits *limits, const struct peak *peak)
{
    return (double *)((char *)limits + peak->figure);
}

/* Can the card have PEAK's kernel?  Asked before it is measured, since one that
 * is missing lowers the card's variant. */
static enum ggml_status
find_kernel(struct run *run, const struct peak *peak, bool *is_there)
{
    const struct gb_cuda_limits limits = gb_cuda_card_limits(run->card);
    gb_cuda_function function = NULL;
    enum ggml_status status = GGML_STATUS_SUCCESS;

    if (gb_cuda_has_variant(&limits, peak->variant))
        status = gb_cuda_kernel_find(run->card, peak->work.kernel, &function);
    *is_there = function != NULL;
    return status;
}

static enum ggml_status
measure_peaks(struct run *run, struct ggmlbackend_dev_limits *limits)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++) {
        double *figure = figure_of(limits, &peaks[i]);
        bool is_there;

        if (*figure > 0.0)
            continue;
        status = find_kernel(run, &peaks[i], &is_there);
        if (status == GGML_STATUS_SUCCESS && is_there)
            status = measure_rate(
                run, &peaks[i].work,
                peaks[i].ops * blocks_of(run, &peaks[i].work), figure);
        if (status != GGML_STATUS_SUCCESS)
            break;
    }
    return status;
}

/* A graph of kernels that do nothing; without one RUN->exec stays NULL. */
static enum ggml_status
record(struct run *run)
{
    struct gb_cuda_card *card = run->card;
    struct gb_cuda_limits_args args = args_of(run, 0);
    void *params[] = { &args };
    struct gb_cuda_kernel_node node = {
        .grid = { 1, 1, 1 },
        .block = { gb_cuda_kernel_threads(GB_CUDA_KERNEL_gb_limit_nothing), 1,
                   1 },
        .params = params,
    };
    gb_cuda_graph_node last = NULL;
    const enum ggml_status status = gb_cuda_kernel_find(
        card, GB_CUDA_KERNEL_gb_limit_nothing, &node.function);

    if (status != GGML_STATUS_SUCCESS || node.function == NULL)
        return status;
    GB_CUDA_TRY(card, graph_create, (&run->graph, 0));
    for (int i = 0; i < NODES; i++) {
        const gb_cuda_graph_node before = last;

        GB_CUDA_TRY(card, graph_add_kernel,
                    (&last, run->graph, &before, i > 0, &node));
    }
    return GB_CUDA(card, graph_instantiate, (&run->exec, run->graph, 0));
}

static bool
can_record(const struct gb_cuda_card *card)
{
    const struct gb_cuda_driver *driver = card->driver;

    return card->records_graphs && driver->graph_create != NULL &&
           driver->graph_destroy != NULL && driver->graph_add_kernel != NULL &&
           driver->graph_instantiate != NULL &&
           driver->graph_exec_destroy != NULL && driver->graph_launch != NULL;
}

static enum ggml_status
measure_launches(struct run *run, struct ggmlbackend_dev_limits *limits)
{
    static const struct work
        single = { queue_launches, GB_CUDA_KERNEL_gb_limit_nothing, 0, 0 },
        recorded = { queue_graphs, GB_CUDA_KERNEL_gb_limit_nothing, 0, 0 };
    enum ggml_status status = measure(run, &single, &limits->launch);

    if (status != GGML_STATUS_SUCCESS || !can_record(run->card))
        return status;
    status = record(run);
    if (status != GGML_STATUS_SUCCESS || run->exec == NULL)
        return status;
    status = measure(run, &recorded, &limits->recorded_launch);
    limits->recorded_launch /= NODES;
    return status;
}

static enum ggml_status
measure_link(struct run *run, struct ggmlbackend_dev_limits *limits)
{
    static const struct work to_device = { .queue = queue_to_device };
    static const struct work to_host = { .queue = queue_to_host };
    const double size = (double)run->host_size;
    enum ggml_status status;

    if (run->host == NULL)
        return GGML_STATUS_SUCCESS;
    memset(run->host, 0x5a, run->host_size);
    status = measure_rate(run, &to_device, size, &limits->to_device);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    return measure_rate(run, &to_host, size, &limits->to_host);
}

static enum ggml_status
measure_all(struct run *run, struct ggmlbackend_dev_limits *limits)
{
    static enum ggml_status (*const parts[])(
        struct run *run, struct ggmlbackend_dev_limits *limits) = {
        measure_memory, measure_peaks, measure_launches, measure_link,
    };
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (status == GGML_STATUS_SUCCESS)
            status = parts[i](run, limits);
    }
    return status;
}

/* ---- what they need ---- */

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t
cache_of(const struct gb_cuda_card *card)
{
    int bytes = 0;

    if (card->driver->device_attribute(&bytes, GB_CUDA_L2_BYTES,
                                       card->handle) != GB_CUDA_SUCCESS)
        return 0;
    return bytes > 0 ? (size_t)bytes : 0;
}

/* Bytes of each of the two arrays. */
static size_t
choose_size(struct gb_cuda_card *card,
            const struct ggmlbackend_dev_limits *limits)
{
    const size_t cache = limits->cache > 0 ? limits->cache : UNKNOWN_CACHE;
    size_t free, total, most = limits->max_memory;

    gb_cuda_card_memory(card, &free, &total);
    if (most == 0 || most > free)
        most = free / 4;
    return smaller(smaller(most / 2, CACHES * cache), MAX_ARRAY) &
           ~(size_t)4095;
}

/* Results of a word a thread have room in the second array. */
static size_t
least_size(const struct run *run)
{
    const size_t results =
        (size_t)run->card->limits.n_sms * BLOCKS * THREADS * 4;

    return results > GB_CUDA_LIMITS_OPERANDS ? results
                                             : GB_CUDA_LIMITS_OPERANDS;
}

static enum ggml_status
take_arrays(struct run *run)
{
    static const struct work fill = {
        queue_rounds, GB_CUDA_KERNEL_gb_limit_fill, 0, BLOCKS
    };
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (int i = 0; i < 2 && status == GGML_STATUS_SUCCESS; i++) {
        struct gb_cuda_limits_args args = { .rounds = 1 };

        status = gb_cuda_memory_new(run->card, run->array_size, false,
                                    &run->arrays[i]);
        args.to = (char *)(uintptr_t)run->arrays[i];
        args.n = (int64_t)(run->array_size / 16);
        if (status == GGML_STATUS_SUCCESS)
            status = launch(run, &fill, &args);
    }
    return status;
}

/* In the context; on failure the rest of RUN is zero, as give_back wants it. */
static enum ggml_status
take(struct run *run)
{
    struct gb_cuda_card *card = run->card;
    enum ggml_status status = gb_cuda_queue_init(card, &run->queue);

    if (status != GGML_STATUS_SUCCESS) {
        memset(&run->queue, 0, sizeof(run->queue));
        return status;
    }
    GB_CUDA_TRY(card, event_create,
                (&run->begin, GB_CUDA_EVENT_BLOCKING_SYNC));
    GB_CUDA_TRY(card, event_create, (&run->end, GB_CUDA_EVENT_BLOCKING_SYNC));
    return take_arrays(run);
}

static void
give_back(struct run *run)
{
    struct gb_cuda_card *card = run->card;

    if (run->queue.stream != NULL)
        gb_cuda_queue_drain(card, &run->queue);
    if (run->exec != NULL)
        GB_CUDA_CLEANUP(card, graph_exec_destroy, (run->exec));
    if (run->graph != NULL)
        GB_CUDA_CLEANUP(card, graph_destroy, (run->graph));
    for (int i = 0; i < 2; i++) {
        if (run->arrays[i] != 0)
            gb_cuda_memory_free(card, run->arrays[i], run->array_size, false);
    }
    if (run->end != NULL)
        GB_CUDA_CLEANUP(card, event_destroy, (run->end));
    if (run->begin != NULL)
        GB_CUDA_CLEANUP(card, event_destroy, (run->begin));
    if (run->queue.stream != NULL)
        gb_cuda_queue_clear(card, &run->queue);
}

static enum ggml_status
measure_in_context(struct run *run, struct ggmlbackend_dev_limits *limits)
{
    enum ggml_status status;

    run->array_size = choose_size(run->card, limits);
    if (run->array_size < least_size(run))
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: %zu bytes of memory are too few to "
                                "measure by, at least %zu are needed",
                                run->card->label, 2 * run->array_size,
                                2 * least_size(run));
    run->host_size = smaller(run->array_size, MAX_LINK);
    run->host = gb_cuda_pinned_new(run->host_size);
    limits->array = run->array_size;
    status = take(run);
    if (status == GGML_STATUS_SUCCESS)
        status = measure_all(run, limits);
    limits->slowed = run->slowed;
    return status;
}

/* What is asked for is set in LIMITS. */
static enum ggml_status
measure_card(struct gb_cuda_card *card, struct ggmlbackend_dev_limits *limits)
{
    struct run run = { .card = card, .seconds = limits->seconds };
    enum ggml_status status = gb_cuda_hold(card, false, &run.hold);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    limits->cache = cache_of(card);
    if (gb_cuda_enter(&run.hold)) {
        status = measure_in_context(&run, limits);
        gb_cuda_leave(&run.hold);
    } else {
        status = GGML_STATUS_FAILED;
    }
    if (gb_cuda_enter_cleanup(&run.hold)) {
        give_back(&run);
        gb_cuda_leave(&run.hold);
    }
    if (run.host != NULL)
        gb_cuda_pinned_free(run.host);
    gb_cuda_release(&run.hold);
    return status;
}

enum ggml_status
gb_cuda_measure_limits(
    ggml_backend_dev_t dev, struct ggmlbackend_dev_limits *limits)
{
    const struct gb_cuda_device *device = gb_cuda_device_of(dev);
    struct ggmlbackend_dev_limits found = { .size = sizeof(found) };
    enum ggml_status status;

    if (device == NULL)
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "the device belongs to another backend");
    if (limits->size < offsetof(struct ggmlbackend_dev_limits, cache))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: limits of %zu bytes have no room for what "
                                "the caller sets", device->name, limits->size);
    if (device->card->driver->event_elapsed == NULL)
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: the driver cannot time", device->name);
    found.max_memory = limits->max_memory;
    found.seconds = limits->seconds;
    if (!(found.seconds > 0.0))
        found.seconds = 0.02;
    status = measure_card(device->card, &found);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    found.size = limits->size;
    found.seconds = limits->seconds;
    memcpy(limits, &found, smaller(limits->size, sizeof(found)));
    return status;
}
