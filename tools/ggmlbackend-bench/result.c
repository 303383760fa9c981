/* SPDX-License-Identifier: MIT */
/*
 * bench/result.c - what was measured of one case, as a line of JSON and back.
 */
#include "tools/ggmlbackend-bench/result.h"

#include "tools/common/tool.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    double per; /* seconds for which a rate is, and what it is divided by */
} units[N_UNITS] = {
    [UNIT_OPS] = { "GOP/s", 1e-9 },
    [UNIT_BYTES] = { "GB/s", 1e-9 },
    [UNIT_TOKENS] = { "tokens/s", 1.0 },
    [UNIT_LATENCY] = { "ns", 1e9 },
    [UNIT_TIME] = { "ms", 1e3 },
};

void
result_clear(struct result *r)
{
    samples_clear(&r->seconds);
    memset(r, 0, sizeof(*r));
}

const char *
unit_name(enum unit unit)
{
    return units[unit].name;
}

bool
unit_is_time(enum unit unit)
{
    return unit == UNIT_LATENCY || unit == UNIT_TIME;
}

double
result_value(const struct result *r, double seconds)
{
    if (seconds <= 0.0 || r->work <= 0.0)
        return 0.0;
    return unit_is_time(r->unit) ? seconds / r->work * units[r->unit].per
                                 : r->work / seconds * units[r->unit].per;
}

double
result_median(const struct result *r)
{
    return result_value(r, samples_median(&r->seconds));
}

double
result_share(const struct result *r)
{
    const double median = samples_median(&r->seconds);

    return median <= 0.0 ? 0.0 : r->bound_seconds / median;
}

static json_t *
samples_to_json(const struct samples *samples)
{
    json_t *array = json_array();

    for (size_t i = 0; i < samples->n; i++)
        tool_json_add(array, tool_json_real(samples->at[i]));
    return array;
}

json_t *
result_to_json(const struct result *r)
{
    json_t *root = json_object(), *ops = json_object();

    for (int i = 0; i < N_PEAKS; i++)
        if (r->demand.ops[i] > 0.0)
            tool_json_put(ops, peak_name((enum peak)i),
                          tool_json_real(r->demand.ops[i]));
    tool_json_put(root, "name", tool_json_text(r->name));
    tool_json_put(root, "threads", json_integer(r->n_threads));
    tool_json_put(root, "supported", json_boolean(r->is_supported));
    tool_json_put(root, "unit", tool_json_text(unit_name(r->unit)));
    tool_json_put(root, "value", tool_json_real(result_median(r)));
    tool_json_put(root, "spread", tool_json_real(samples_spread(&r->seconds)));
    tool_json_put(root, "work", tool_json_real(r->work));
    tool_json_put(root, "operations", ops);
    tool_json_put(root, "bytes", tool_json_real(r->demand.bytes));
    tool_json_put(root, "from_file", json_boolean(r->demand.is_file));
    if (r->bound_seconds > 0.0) {
        tool_json_put(root, "limit", tool_json_text(r->bound));
        tool_json_put(root, "limit_value",
                      tool_json_real(result_value(r, r->bound_seconds)));
        tool_json_put(root, "share", tool_json_real(result_share(r)));
    }
    if (r->calls > 0.0)
        tool_json_put(root, "calls", tool_json_real(r->calls));
    if (r->without > 0.0)
        tool_json_put(root, "without_profile", tool_json_real(r->without));
    if (r->clock > 0.0)
        tool_json_put(root, "clock_mhz", tool_json_real(r->clock * 1e-6));
    if (r->power > 0.0)
        tool_json_put(root, "power_w", tool_json_real(r->power));
    if (r->n_processes > 1)
        tool_json_put(root, "processes", json_integer(r->n_processes));
    if (r->slowed[0] != '\0')
        tool_json_put(root, "slowed_by", tool_json_text(r->slowed));
    tool_json_put(root, "seconds", samples_to_json(&r->seconds));
    return root;
}

static bool
unit_from_name(const char *name, enum unit *out)
{
    for (int i = 0; i < N_UNITS; i++)
        if (strcmp(units[i].name, name) == 0) {
            *out = (enum unit)i;
            return true;
        }
    return false;
}

static bool
samples_from_json(struct samples *samples, json_t *array)
{
    size_t i;
    json_t *item;

    json_array_foreach(array, i, item)
        if (json_number_value(item) <= 0.0 ||
            !samples_push(samples, json_number_value(item)))
            return false;
    return true;
}

/* How the card was: nothing where it was none. */
static void
state_from_json(struct result *r, json_t *json)
{
    const char *slowed = json_string_value(json_object_get(json, "slowed_by"));

    r->calls = json_number_value(json_object_get(json, "calls"));
    r->without = json_number_value(json_object_get(json, "without_profile"));
    r->clock = json_number_value(json_object_get(json, "clock_mhz")) * 1e6;
    r->power = json_number_value(json_object_get(json, "power_w"));
    r->n_processes =
        (unsigned)json_integer_value(json_object_get(json, "processes"));
    if (slowed != NULL)
        snprintf(r->slowed, sizeof(r->slowed), "%s", slowed);
}

static void
demand_from_json(struct demand *demand, json_t *json)
{
    json_t *ops = json_object_get(json, "operations");

    for (int i = 0; i < N_PEAKS; i++)
        demand->ops[i] = json_number_value(
            json_object_get(ops, peak_name((enum peak)i)));
    demand->bytes = json_number_value(json_object_get(json, "bytes"));
    demand->is_file = json_is_true(json_object_get(json, "from_file"));
}

bool
result_from_json(struct result *r, json_t *json, const char *where)
{
    const char *name, *unit, *bound;
    double limit;

    memset(r, 0, sizeof(*r));
    name = json_string_value(json_object_get(json, "name"));
    unit = json_string_value(json_object_get(json, "unit"));
    bound = json_string_value(json_object_get(json, "limit"));
    if (name == NULL || strlen(name) >= NAME_SIZE || unit == NULL ||
        !unit_from_name(unit, &r->unit))
        return tool_error("%s: is no result of this program", where);
    snprintf(r->name, sizeof(r->name), "%s", name);
    r->n_threads =
        (int)json_integer_value(json_object_get(json, "threads"));
    r->is_supported = json_is_true(json_object_get(json, "supported"));
    r->work = json_number_value(json_object_get(json, "work"));
    demand_from_json(&r->demand, json);
    state_from_json(r, json);
    limit = json_number_value(json_object_get(json, "limit_value"));
    if (bound != NULL && limit > 0.0) {
        snprintf(r->bound, sizeof(r->bound), "%s", bound);
        /* A value's seconds are the seconds' value: both are ratios. */
        r->bound_seconds = unit_is_time(r->unit)
                               ? limit * r->work / units[r->unit].per
                               : r->work / limit * units[r->unit].per;
    }
    if (samples_from_json(&r->seconds, json_object_get(json, "seconds")) &&
        (!r->is_supported || (r->seconds.n > 0 && r->work > 0.0)))
        return true;
    result_clear(r);
    return tool_error("%s: the samples of %s are not usable", where, name);
}
