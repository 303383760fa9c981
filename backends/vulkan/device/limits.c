/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/limits.c - what a device can do at most, measured.
 *
 * Each figure is that of some work, timed by the host from its submission to its
 * end.  The work is repeated until a sample lasts as long as it should, and the
 * best of a few samples counts: whatever else the device does only makes them
 * worse.  No device tells what its last cache has, so arrays are as large as
 * memory and bindings allow.
 */
#include "backends/vulkan/device/limits.h"

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/memory.h"
#include "backends/vulkan/device/recording.h"
#include "backends/vulkan/device/transfer.h"
#include "backends/vulkan/shaders/params-limits.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SAMPLES = 5,
    GROUPS = 2048,      /* of a dispatch: enough for any device */
    SOFTWARE_GROUPS = 16,
    MAX_STALLS = 4,     /* doublings of work that took no longer */
};

#define THREADS   GB_VK_LIMIT_THREADS
#define MAX_LINK  ((size_t)32 << 20) /* bytes of a copy from the host */
#define MAX_ARRAY ((size_t)1 << 30)

/* What all figures need. */
struct run {
    struct gb_vk_hold hold;
    struct gb_vk_recordings recordings;
    unsigned turn;
    struct gb_vk_memory arrays[2], host;
    uint32_t groups;
    double seconds; /* that a sample lasts */
};

/* What is repeated, and with what. */
struct work {
    enum ggml_status (*submit)(struct run *run, const struct work *work,
                               uint32_t rounds);
    enum gb_vk_pipeline pipeline;
};

/* ---- work ---- */

/* N dispatches that wait for each other. */
static enum ggml_status
submit(struct run *run, enum gb_vk_pipeline pipeline, int to, uint32_t groups,
       uint32_t rounds, uint32_t n)
{
    /* In turn: one that runs is waited for before it is recorded again. */
    struct gb_vk_recording *recording =
        &run->recordings.items[run->turn++ % GB_VK_RECORDINGS];
    /* No rounds touch nothing. */
    const size_t size = rounds > 0 ? run->arrays[to].size : 16;
    const struct gb_vk_limits_params params = {
        .n = (uint32_t)(run->arrays[0].size / 16),
        .threads = groups * THREADS,
        .rounds = rounds,
    };
    struct gb_vk_dispatch dispatch = {
        .pipeline = pipeline,
        .n_groups = groups,
        .ranges = { { run->arrays[to].buffer, 0, size, true },
                    { run->arrays[!to].buffer, 0, size, false } },
        .n_ranges = 2,
        .params_size = sizeof(params),
        .ns = 1,
    };

    memcpy(dispatch.params, &params, sizeof(params));
    recording->plan.n_dispatches = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!gb_vk_plan_add(&recording->plan, &dispatch))
            return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                    "%s: no memory for %u dispatches",
                                    run->hold.context->card->label,
                                    (unsigned)n);
    return gb_vk_recording_run(&run->recordings, recording);
}

/* One dispatch, which repeats the work by itself. */
static enum ggml_status
submit_rounds(struct run *run, const struct work *work, uint32_t rounds)
{
    return submit(run, work->pipeline, 1, run->groups, rounds, 1);
}

/* Dispatches that wait for each other, each submitted alone. */
static enum ggml_status
submit_launches(struct run *run, const struct work *work, uint32_t rounds)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (uint32_t i = 0; i < rounds && status == GGML_STATUS_SUCCESS; i++)
        status = submit(run, work->pipeline, 1, 1, 0, 1);
    return status;
}

/* The same, as many together as there may be. */
static enum ggml_status
submit_recorded(struct run *run, const struct work *work, uint32_t rounds)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (uint32_t left = rounds, n;
         left > 0 && status == GGML_STATUS_SUCCESS; left -= n) {
        n = left < GB_VK_CHUNK ? left : GB_VK_CHUNK;
        status = submit(run, work->pipeline, 1, 1, 0, n);
    }
    return status;
}

static enum ggml_status
copy_to_device(struct run *run, const struct work *work, uint32_t rounds)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    (void)work;
    for (uint32_t i = 0; i < rounds && status == GGML_STATUS_SUCCESS; i++)
        status = gb_vk_copy_within(run->hold.context, &run->arrays[1], 0,
                                   &run->host, 0, run->host.size);
    return status;
}

static enum ggml_status
copy_to_host(struct run *run, const struct work *work, uint32_t rounds)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    (void)work;
    for (uint32_t i = 0; i < rounds && status == GGML_STATUS_SUCCESS; i++)
        status = gb_vk_copy_within(run->hold.context, &run->host, 0,
                                   &run->arrays[0], 0, run->host.size);
    return status;
}

/* ---- samples ---- */

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum ggml_status
time_once(struct run *run, const struct work *work, uint32_t rounds,
          double *seconds)
{
    const double begin = now();
    enum ggml_status status = work->submit(run, work, rounds);

    if (status == GGML_STATUS_SUCCESS)
        status = gb_vk_wait(run->hold.context, run->recordings.number);
    *seconds = now() - begin;
    return status;
}

/* As many rounds as last long enough. */
static enum ggml_status
find_rounds(struct run *run, const struct work *work, uint32_t *rounds)
{
    double before = 0.0;
    int stalls = 0;

    for (*rounds = 1; stalls < MAX_STALLS && *rounds < 1u << 30;
         *rounds *= 2) {
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

/* *SECONDS is that of a round, at best.  The first run makes the pipeline. */
static enum ggml_status
measure(struct run *run, const struct work *work, double *seconds)
{
    uint32_t rounds = 1;
    double best = 0.0, sample = 0.0;
    enum ggml_status status = time_once(run, work, 1, &sample);

    if (status == GGML_STATUS_SUCCESS)
        status = find_rounds(run, work, &rounds);
    for (int i = 0; i < SAMPLES && status == GGML_STATUS_SUCCESS; i++) {
        status = time_once(run, work, rounds, &sample);
        if (best == 0.0 || sample < best)
            best = sample;
    }
    *seconds = best / (double)rounds;
    return status;
}

/* ---- figures ---- */

static enum ggml_status
measure_all(struct run *run, struct ggmlbackend_dev_limits *limits)
{
    const double size = (double)run->arrays[0].size;
    const double ops = (double)GB_VK_LIMIT_OPS * run->groups * THREADS;
    const struct {
        struct work work;
        double units; /* of a round each second; 0: seconds of a round */
        double *figure;
    } rows[] = {
        { { submit_rounds, GB_VK_limit_read }, size, &limits->read },
        { { submit_rounds, GB_VK_limit_copy }, 2.0 * size, &limits->copy },
        { { submit_rounds, GB_VK_limit_f32 }, ops, &limits->f32 },
        { { submit_launches, GB_VK_limit_nothing }, 0.0, &limits->launch },
        { { submit_recorded, GB_VK_limit_nothing }, 0.0,
          &limits->recorded_launch },
        { { copy_to_device, GB_VK_limit_nothing }, (double)run->host.size,
          &limits->to_device },
        { { copy_to_host, GB_VK_limit_nothing }, (double)run->host.size,
          &limits->to_host },
    };
    enum ggml_status status = GGML_STATUS_SUCCESS;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double seconds = 0.0;

        if (status == GGML_STATUS_SUCCESS)
            status = measure(run, &rows[i].work, &seconds);
        if (status == GGML_STATUS_SUCCESS && seconds > 0.0)
            *rows[i].figure =
                rows[i].units > 0.0 ? rows[i].units / seconds : seconds;
    }
    return status;
}

/* ---- what they need ---- */

static size_t
smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Bytes of each of the two arrays. */
static size_t
choose_size(struct gb_vk_card *card,
            const struct ggmlbackend_dev_limits *limits)
{
    size_t free, total, most = limits->max_memory;

    gb_vk_card_memory(card, &free, &total);
    if (most == 0 || most > free)
        most = free / 4;
    most = smaller(smaller(most / 2, MAX_ARRAY), card->limits.range);
    return smaller(most, card->most_allocation) & ~(size_t)4095;
}

static enum ggml_status
take(struct run *run, size_t size)
{
    struct gb_vk_context *context = run->hold.context;
    enum ggml_status status = gb_vk_recordings_init(&run->recordings, context);

    for (int i = 0; i < 2 && status == GGML_STATUS_SUCCESS; i++)
        status = gb_vk_memory_new(context, GB_VK_MEMORY_DEVICE, size,
                                  &run->arrays[i]);
    if (status == GGML_STATUS_SUCCESS)
        status = gb_vk_memory_new(context, GB_VK_MEMORY_HOST,
                                  smaller(size, MAX_LINK), &run->host);
    for (int i = 0; i < 2 && status == GGML_STATUS_SUCCESS; i++)
        status = submit(run, GB_VK_limit_fill, i, run->groups, 1, 1);
    return status;
}

static void
give_back(struct run *run)
{
    struct gb_vk_context *context = run->hold.context;

    gb_vk_drain(context);
    gb_vk_memory_free(context, &run->host);
    gb_vk_memory_free(context, &run->arrays[1]);
    gb_vk_memory_free(context, &run->arrays[0]);
    gb_vk_recordings_clear(&run->recordings);
    gb_vk_release(&run->hold);
}

/* What is asked for is set in LIMITS. */
static enum ggml_status
measure_card(struct gb_vk_card *card, struct run *run,
             struct ggmlbackend_dev_limits *limits)
{
    const size_t size = choose_size(card, limits);
    const uint32_t groups = card->type == VK_PHYSICAL_DEVICE_TYPE_CPU
                                ? SOFTWARE_GROUPS : GROUPS;
    const size_t least = (size_t)groups * THREADS * 16; /* results have room */
    enum ggml_status status;

    if (size < least)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: arrays of %zu bytes are too small to "
                                "measure by, at least %zu are needed",
                                card->label, size, least);
    status = gb_vk_hold(card, &run->hold);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    limits->array = size;
    run->seconds = limits->seconds;
    run->groups = groups;
    status = take(run, size);
    if (status == GGML_STATUS_SUCCESS)
        status = measure_all(run, limits);
    give_back(run);
    return status;
}

/* Bytes of the members that a caller sets, which each version has. */
enum { LEAST_SIZE = offsetof(struct ggmlbackend_dev_limits, cache) };

enum ggml_status
gb_vk_measure_limits(
    ggml_backend_dev_t dev, struct ggmlbackend_dev_limits *limits)
{
    struct gb_vk_device *device = gb_vk_device_of(dev);
    struct ggmlbackend_dev_limits found = { .size = sizeof(found) };
    struct run *run;
    enum ggml_status status;

    if (device == NULL || limits->size < LEAST_SIZE)
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "the device belongs to another backend, or the "
                                "size of the limits is too small");
    run = calloc(1, sizeof(*run));
    if (run == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory to measure with", device->name);
    found.max_memory = limits->max_memory;
    found.seconds = limits->seconds > 0.0 ? limits->seconds : 0.02;
    status = measure_card(&device->card, run, &found);
    free(run);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    found.size = limits->size;
    found.seconds = limits->seconds;
    memcpy(limits, &found, smaller(limits->size, sizeof(found)));
    return status;
}
