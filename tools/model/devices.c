/* SPDX-License-Identifier: MIT */
/*
 * model/devices.c - the devices that a model's layers are divided over.
 */
#include "tools/model/devices.h"

#include "tools/common/device.h"
#include "tools/common/tool.h"
#include "tools/model/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names and numbers between commas are shorter than this. */
#define ITEM_SIZE 64

/* The largest number of a share. */
#define SHARE_MAX 1e9

/* Is ITEM one of so many characters that the rest was cut? */
static bool
is_cut(const char item[ITEM_SIZE])
{
    return strlen(item) == ITEM_SIZE - 1;
}

/* Copy the characters before the next comma of *TEXT, cut where they are too
 * many, and go behind it; false when there is nothing any more. */
static bool
next_item(const char **text, char item[ITEM_SIZE])
{
    size_t n;

    if (*text == NULL)
        return false;
    n = strcspn(*text, ",");
    snprintf(item, ITEM_SIZE, "%.*s",
             (int)(n < ITEM_SIZE ? n : ITEM_SIZE - 1), *text);
    *text = (*text)[n] == ',' ? *text + n + 1 : NULL;
    return true;
}

/* ---- shares ---- */

bool
shares_read(const char *option, const char *text, struct shares *shares)
{
    char item[ITEM_SIZE];
    double sum = 0.0;

    shares->n = 0;
    while (next_item(&text, item)) {
        double *share = &shares->at[shares->n];

        if (shares->n == DEVICES_MAX)
            return tool_error("%s: more than %d numbers", option, DEVICES_MAX);
        if (is_cut(item))
            return tool_error("%s: '%s...' is too long", option, item);
        if (!tool_parse_real(option, item, 0, SHARE_MAX, share))
            return false;
        sum += *share;
        shares->n++;
    }
    if (sum <= 0.0)
        return tool_error("%s: no device gets a layer", option);
    return true;
}

/* By free memory, or equal where a device says nothing of it. */
static void
share_by_memory(struct devices *devices)
{
    bool is_known = true;

    for (int i = 0; i < devices->n; i++) {
        size_t free_bytes = 0, total = 0;

        ggml_backend_dev_memory(devices->at[i].dev, &free_bytes, &total);
        devices->share[i] = (double)free_bytes;
        is_known = is_known && free_bytes > 0;
    }
    for (int i = 0; !is_known && i < devices->n; i++)
        devices->share[i] = 1.0;
}

/* A layer belongs to the device that has its middle. */
int
devices_of_layer(const struct devices *devices, int64_t il, int64_t n)
{
    double sum = 0.0, end = 0.0;
    int last = 0;

    for (int i = 0; i < devices->n; i++)
        sum += devices->share[i];
    for (int i = 0; i < devices->n; i++) {
        end += devices->share[i];
        if (devices->share[i] > 0.0)
            last = i;
        if (((double)il + 0.5) * sum < (double)n * end)
            return i;
    }
    return last;
}

/* ---- opening ---- */

int
devices_count(const char *names)
{
    int n = 1;

    for (; names != NULL && *names != '\0'; names++)
        n += *names == ',';
    return n;
}

bool
devices_are_named(const char *option, const char *names)
{
    char name[ITEM_SIZE];
    const char *rest = names;

    while (next_item(&rest, name)) {
        if (name[0] == '\0')
            return tool_error("%s: '%s' has an empty name", option, names);
        if (is_cut(name))
            return tool_error("%s: '%s...' is too long", option, name);
    }
    return devices_count(names) <= DEVICES_MAX ||
        tool_error("%s: more than %d devices", option, DEVICES_MAX);
}

static bool
is_cpu(ggml_backend_dev_t dev)
{
    return ggml_backend_dev_type(dev) == GGML_BACKEND_DEVICE_TYPE_CPU;
}

/* Look all names up before a device is opened: that may take long. */
static bool
find_all(const char *names, ggml_backend_dev_t found[DEVICES_MAX])
{
    char name[ITEM_SIZE];
    int n = 0;

    while (next_item(&names, name)) {
        if (n == DEVICES_MAX)
            return tool_error("more than %d devices", DEVICES_MAX);
        found[n] = tool_device_find(name);
        if (found[n] == NULL)
            return false;
        /* It would have the same memory, and work for one half only. */
        for (int i = 0; i < n; i++)
            if (found[i] == found[n])
                return tool_error("device %s is named twice", name);
        n++;
    }
    return true;
}

/* Open one more, of SHARE. */
static bool
add(struct devices *devices, ggml_backend_dev_t dev, double share,
    int n_threads)
{
    struct device *device = &devices->at[devices->n];
    const size_t used = strlen(devices->names);

    if (!device_open_dev(device, dev, n_threads))
        return false;
    devices->share[devices->n++] = share;
    snprintf(devices->names + used, sizeof(devices->names) - used, "%s%s",
             used > 0 ? "," : "", ggml_backend_dev_name(dev));
    return true;
}

static bool
open_all(struct devices *devices, const char *names,
         const struct shares *shares, int n_threads)
{
    ggml_backend_dev_t found[DEVICES_MAX];
    const int n = devices_count(names);

    if (!find_all(names, found))
        return false;
    for (int i = 0; i < n; i++) {
        const double share = shares->n > 0 ? shares->at[i] : 1.0;
        /* Of several, cards have no threads that could be set. */
        const int threads = n == 1 || is_cpu(found[i]) ? n_threads : 0;

        if (share > 0.0 && !add(devices, found[i], share, threads))
            return false;
    }
    return true;
}

/* What a scheduler of several needs beside them, and may do. */
static bool
prepare_several(struct devices *devices)
{
    bool has_cpu = false;

    devices->is_pipelined = true;
    for (int i = 0; i < devices->n; i++) {
        struct ggml_backend_dev_props props;

        ggml_backend_dev_get_props(devices->at[i].dev, &props);
        devices->is_pipelined = devices->is_pipelined && props.caps.async &&
            props.caps.events;
        has_cpu = has_cpu || is_cpu(devices->at[i].dev);
    }
    return has_cpu || device_open(&devices->cpu, "CPU", 0);
}

bool
devices_open(struct devices *devices, const char *names,
             const struct shares *shares, int n_threads)
{
    ggml_backend_dev_t best = names == NULL ? tool_device_find(NULL) : NULL;
    bool is_open;

    memset(devices, 0, sizeof(*devices));
    if (names == NULL)
        return best != NULL && add(devices, best, 1.0, n_threads);
    is_open = open_all(devices, names, shares, n_threads);
    if (is_open && devices->n > 1) {
        if (shares->n == 0)
            share_by_memory(devices);
        is_open = prepare_several(devices);
    }
    if (!is_open)
        devices_close(devices);
    return is_open;
}

void
devices_close(struct devices *devices)
{
    for (int i = 0; i < devices->n; i++)
        device_close(&devices->at[i]);
    device_close(&devices->cpu);
    memset(devices, 0, sizeof(*devices));
}

/* ---- what they do together ---- */

ggml_backend_sched_t
devices_new_sched(const struct devices *devices, size_t n_tensors)
{
    ggml_backend_t backends[DEVICES_MAX + 1];
    ggml_backend_t last = devices->cpu.backend;
    int n = 0;

    /* The last one has to be a CPU, whatever layers it has. */
    for (int i = 0; i < devices->n; i++) {
        if (last == NULL && is_cpu(devices->at[i].dev))
            last = devices->at[i].backend;
        else
            backends[n++] = devices->at[i].backend;
    }
    backends[n++] = last;
    return ggml_backend_sched_new(backends, NULL, n, n_tensors,
                                  devices->is_pipelined);
}

bool
devices_have_copied(const struct devices *devices)
{
    return !tool_has_reason() ||
           tool_error("copies to and from %s failed: %s", devices->names,
                      tool_reason());
}

/* ---- parts ---- */

struct part *
parts_new(const struct devices *devices, size_t n_tensors)
{
    struct part *parts = new_zeroed((size_t)devices->n, sizeof(*parts));

    if (parts == NULL)
        return NULL;
    for (int i = 0; i < devices->n; i++) {
        parts[i].ctx = ggml_init((struct ggml_init_params){
            .mem_size = n_tensors * ggml_tensor_overhead(),
            .no_alloc = true,
        });
        if (parts[i].ctx == NULL) {
            parts_free(parts, devices->n);
            tool_error("no memory for %zu tensors", n_tensors);
            return NULL;
        }
    }
    return parts;
}

bool
part_allocate(struct part *part, const struct device *device)
{
    if (ggml_get_first_tensor(part->ctx) == NULL)
        return true;
    part->buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(part->ctx, device->buft);
    return part->buffer != NULL;
}

void
parts_free(struct part *parts, int n)
{
    for (int i = 0; parts != NULL && i < n; i++) {
        ggml_backend_buffer_free(parts[i].buffer);
        ggml_free(parts[i].ctx);
    }
    free(parts);
}
