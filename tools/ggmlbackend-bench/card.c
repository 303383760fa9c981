/* SPDX-License-Identifier: MIT */
/*
 * bench/card.c - a device whose backend measures its limits.
 */
#include "tools/ggmlbackend-bench/card.h"

#include "tools/common/tool.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A limit needs no longer samples, however long cases are measured. */
#define MOST_SECONDS 0.02

/* The function NAME of DEV's backend into MEMBER; ISO C has no conversion
 * between pointers of both kinds. */
static void
look_up(ggml_backend_dev_t dev, const char *name, void *member)
{
    ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(dev);
    void *address = reg != NULL ? ggml_backend_reg_get_proc_address(reg, name)
                                : NULL;

    memcpy(member, &address, sizeof(address));
}

bool
card_is(ggml_backend_dev_t dev)
{
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(dev, &props);
    return props.type == GGML_BACKEND_DEVICE_TYPE_GPU;
}

void
card_watch(struct card *card, ggml_backend_dev_t dev)
{
    card->dev = dev;
    look_up(dev, "ggmlbackend_dev_get_state", &card->get_state);
}

bool
card_measure(struct card *card, ggml_backend_dev_t dev, double seconds)
{
    ggmlbackend_dev_measure_limits_t measure;

    card->dev = dev;
    look_up(dev, "ggmlbackend_dev_measure_limits", &measure);
    if (measure == NULL)
        return true;
    card->limits = (struct ggmlbackend_dev_limits){
        .size = sizeof(card->limits),
        .seconds = seconds < MOST_SECONDS ? seconds : MOST_SECONDS,
    };
    tool_forget_reason();
    if (measure(dev, &card->limits) != GGML_STATUS_SUCCESS)
        return tool_error("device %s: its limits were not measured: %s",
                          ggml_backend_dev_name(dev), tool_reason());
    card->has_limits = true;
    return true;
}

/* ---- as results ---- */

#define FIGURE(name) offsetof(struct ggmlbackend_dev_limits, name)
static const struct {
    const char *name;
    enum unit unit;
    size_t figure;
} rows[] = {
    { "limit/read", UNIT_BYTES, FIGURE(read) },
    { "limit/copy", UNIT_BYTES, FIGURE(copy) },
    { "limit/f16", UNIT_OPS, FIGURE(f16) },
    { "limit/bf16", UNIT_OPS, FIGURE(bf16) },
    { "limit/int8", UNIT_OPS, FIGURE(int8) },
    { "limit/fp32", UNIT_OPS, FIGURE(f32) },
    { "limit/launch", UNIT_LATENCY, FIGURE(launch) },
    { "limit/recorded_launch", UNIT_LATENCY, FIGURE(recorded_launch) },
    { "limit/to_device", UNIT_BYTES, FIGURE(to_device) },
    { "limit/to_host", UNIT_BYTES, FIGURE(to_host) },
};

static void
note_slowed(struct result *r, uint32_t slowed)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } reasons[] = {
        { GGMLBACKEND_SLOWED_BY_POWER, "power" },
        { GGMLBACKEND_SLOWED_BY_HEAT, "heat" },
        { GGMLBACKEND_SLOWED_BY_SETTING, "setting" },
        { GGMLBACKEND_SLOWED_BY_OTHER, "other" },
    };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if ((slowed & reasons[i].bit) != 0 &&
            strstr(r->slowed, reasons[i].name) == NULL)
            snprintf(r->slowed + strlen(r->slowed),
                     sizeof(r->slowed) - strlen(r->slowed), "%s%s",
                     r->slowed[0] != '\0' ? "," : "", reasons[i].name);
}

bool
card_limits(const struct card *card, take_result_fn take, void *arg)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const double figure =
            *(const double *)((const char *)&card->limits + rows[i].figure);
        const bool is_time = rows[i].unit == UNIT_LATENCY;
        struct result r = { .unit = rows[i].unit, .is_supported = figure > 0.0,
                            .n_threads = 1 };
        bool is_taken;

        snprintf(r.name, sizeof(r.name), "%s", rows[i].name);
        r.work = is_time ? 1.0 : figure;
        note_slowed(&r, card->limits.slowed);
        is_taken = (!r.is_supported ||
                    samples_push(&r.seconds, is_time ? figure : 1.0)) &&
            take(arg, &r);
        result_clear(&r);
        if (!is_taken)
            return false;
    }
    return true;
}

/* ---- bounds ---- */

/* Where a card has no instruction for numbers, it has that for floats. */
static double
peak_of(const struct card *card, enum peak peak)
{
    const double figures[N_PEAKS] = {
        [PEAK_INT8] = card->limits.int8,
        [PEAK_BF16] = card->limits.bf16,
        [PEAK_FP32] = card->limits.f32,
        [PEAK_F16] = card->limits.f16,
    };

    return figures[peak] > 0.0 ? figures[peak] : card->limits.f32;
}

static void
raise_bound(struct result *r, double work, double rate, const char *name)
{
    if (rate <= 0.0 || work / rate <= r->bound_seconds)
        return;
    r->bound_seconds = work / rate;
    snprintf(r->bound, sizeof(r->bound), "%s", name);
}

static void
bound_by_computing(const struct card *card, struct result *r)
{
    double seconds = 0.0, most = 0.0;
    const char *name = "";

    for (int i = 0; i < N_PEAKS; i++) {
        const double rate = peak_of(card, (enum peak)i);
        const double own = rate > 0.0 ? r->demand.ops[i] / rate : 0.0;

        seconds += own;
        if (own > most)
            name = peak_name((enum peak)i);
        most = own > most ? own : most;
    }
    raise_bound(r, seconds, 1.0, name);
}

/* Bytes over the link are counted on both sides of it. */
static void
bound_by_moving(const struct card *card, struct result *r)
{
    static const char to_device[] = "copy/set/", to_host[] = "copy/get/";
    static const char on_device[] = "copy/tensor/";
    const double bytes = r->demand.bytes;

    if (strncmp(r->name, to_device, sizeof(to_device) - 1) == 0)
        raise_bound(r, bytes / 2.0, card->limits.to_device, "to_device");
    else if (strncmp(r->name, to_host, sizeof(to_host) - 1) == 0)
        raise_bound(r, bytes / 2.0, card->limits.to_host, "to_host");
    else if (strncmp(r->name, on_device, sizeof(on_device) - 1) == 0)
        raise_bound(r, bytes, card->limits.copy, "copy");
    else if (bytes > (double)card->limits.cache)
        raise_bound(r, bytes, card->limits.read, "read");
}

void
card_bound(const struct card *card, struct result *r)
{
    const double launch = card->limits.recorded_launch > 0.0
                              ? card->limits.recorded_launch
                              : card->limits.launch;

    r->bound_seconds = 0.0;
    r->bound[0] = '\0';
    if (!r->is_supported)
        return;
    bound_by_computing(card, r);
    bound_by_moving(card, r);
    /* Views are no work for a card. */
    if (r->unit == UNIT_LATENCY && launch > 0.0 &&
        strcmp(r->name, "tiny/views") != 0)
        raise_bound(r, r->work, 1.0 / launch, "launch");
}

/* ---- how it is ---- */

void
card_note(const struct card *card, struct result *r)
{
    struct ggmlbackend_dev_state now = { .size = sizeof(now) };

    if (card->get_state == NULL || !card->get_state(card->dev, &now))
        return;
    if (now.clock > 0.0 && (r->clock == 0.0 || now.clock < r->clock))
        r->clock = now.clock;
    if (now.power > r->power)
        r->power = now.power;
    if (now.n_processes > r->n_processes)
        r->n_processes = now.n_processes;
    note_slowed(r, now.slowed);
}
