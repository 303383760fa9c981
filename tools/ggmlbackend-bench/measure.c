/* SPDX-License-Identifier: MIT */
/*
 * bench/measure.c - time one case.
 */
#include "tools/ggmlbackend-bench/measure.h"

#include "tools/common/tool.h"
#include "tools/ggmlbackend-bench/clock.h"

#include <stdio.h>
#include <string.h>

/* What a sample takes at least: the clock's step is nothing to it. */
#define SAMPLE_SECONDS 0.0005

/* Samples between two looks at how a card is, which take time as well. */
#define NOTE_EACH 8

/* More samples say no more. */
#define MAX_SAMPLES 200

static bool
wait_for(const struct device *device)
{
    tool_forget_reason();
    ggml_backend_synchronize(device->backend);
    return device_has_copied(device);
}

/* Seconds of one of N runs, or a negative number after a message. */
static double
time_runs(struct measured *m, unsigned n)
{
    const struct case_kind *kind = m->c->kind;
    const double began = seconds_now();

    for (unsigned i = 0; i < n; i++)
        if (!(kind->queue != NULL ? kind->queue : kind->run)(&m->job))
            return -1.0;
    if (kind->queue != NULL && !wait_for(m->job.device))
        return -1.0;
    return (seconds_now() - began) / n;
}

/* Runs in a sample, by trying; the first run is not looked at. */
static bool
calibrate(struct measured *m)
{
    double seconds = time_runs(m, 1);

    m->n_inner = 1;
    while (seconds >= 0.0 && seconds * m->n_inner < SAMPLE_SECONDS) {
        m->n_inner *= 2;
        seconds = time_runs(m, m->n_inner);
    }
    return seconds >= 0.0;
}

bool
measure_open(struct measured *m, const struct bench *bench,
             const struct bench_case *c)
{
    memset(m, 0, sizeof(*m));
    m->c = c;
    m->card = &bench->card;
    m->is_supported = true;
    if (c->kind->open(&m->job, bench, c, &m->is_supported) &&
        (!m->is_supported || calibrate(m)))
        return true;
    measure_close(m);
    return false;
}

void
measure_close(struct measured *m)
{
    job_end(&m->job);
    memset(m, 0, sizeof(*m));
}

bool
measure_samples(struct measured *m, double seconds, size_t n_least,
                struct result *r)
{
    const double end = seconds_now() + seconds;

    snprintf(r->name, sizeof(r->name), "%s", m->c->name);
    r->unit = m->c->kind->unit;
    r->is_supported = m->is_supported;
    r->work = m->job.work;
    r->demand = m->job.demand;
    for (size_t i = 0; m->is_supported && i < MAX_SAMPLES; i++) {
        double sample;

        if (i >= n_least && seconds_now() >= end)
            break;
        sample = time_runs(m, m->n_inner);
        if (i % NOTE_EACH == 0)
            card_note(m->card, r);
        if (sample < 0.0 || !samples_push(&r->seconds, sample))
            return false;
    }
    return true;
}
