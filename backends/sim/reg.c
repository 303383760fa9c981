/* SPDX-License-Identifier: MIT */
/*
 * sim/reg.c - the devices that there are, what is to fail, and the lock of it
 * all.
 */
#include "backends/sim/state.h"

#include "ggmlbackend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct gb_sim_state state = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Due times are of this clock, which nobody sets. */
static void
init_condition(void)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&state.changed, &attr);
    pthread_condattr_destroy(&attr);
}

struct gb_sim_state *
gb_sim_lock(void)
{
    pthread_once(&once, init_condition);
    pthread_mutex_lock(&state.lock);
    return &state;
}

void
gb_sim_unlock(void)
{
    pthread_mutex_unlock(&state.lock);
}

/* ---- failures and counters ---- */

/* Is it the turn of a call of this kind? */
static bool
is_its_turn(enum gb_sim_fault fault)
{
    return state.faults[fault] > 0 && --state.faults[fault] == 0;
}

bool
gb_sim_begin(
    struct gb_sim_device *device, enum gb_sim_fault fault, uint64_t *counter)
{
    bool fails;

    gb_sim_lock();
    ++*counter;
    if (is_its_turn(GB_SIM_FAULT_LOST))
        device->is_lost = true;
    fails = is_its_turn(fault) || device->is_lost;
    if (fails)
        device->counters.failed++;
    gb_sim_unlock();
    return !fails;
}

bool
gb_sim_is_lost(const struct gb_sim_device *device)
{
    bool is_lost;

    gb_sim_lock();
    is_lost = device->is_lost;
    gb_sim_unlock();
    return is_lost;
}

void
gb_sim_add(uint64_t *counter, int64_t n)
{
    gb_sim_lock();
    *counter += (uint64_t)n;
    gb_sim_unlock();
}

void *
gb_sim_alloc(struct gb_sim_device *device, size_t size)
{
    uint64_t n_allocs = 0;

    if (!gb_sim_begin(device, GB_SIM_FAULT_ALLOC, &n_allocs))
        return NULL;
    return calloc(1, size);
}

void
gb_sim_fail(enum gb_sim_fault fault, uint64_t nth)
{
    if ((unsigned)fault >= GB_SIM_FAULT_COUNT)
        return;
    gb_sim_lock();
    state.faults[fault] = nth;
    gb_sim_unlock();
}

void
gb_sim_count(struct gb_sim_counters *out)
{
    uint64_t *sums = (uint64_t *)out;

    memset(out, 0, sizeof(*out));
    gb_sim_lock();
    for (int i = 0; i < state.n_devices; i++) {
        const uint64_t *counters = (uint64_t *)&state.devices[i]->counters;

        for (size_t c = 0; c < sizeof(*out) / sizeof(*sums); c++)
            sums[c] += counters[c];
    }
    gb_sim_unlock();
}

/* ---- devices ---- */

static struct gb_sim_device *
device_new(int index)
{
    struct gb_sim_device *device = calloc(1, sizeof(*device));

    if (device == NULL)
        return NULL;
    snprintf(device->name, sizeof(device->name), "Sim%d", index);
    snprintf(device->description, sizeof(device->description),
             "simulated device %d", index);
    snprintf(device->pci, sizeof(device->pci), "ffff:%02x:00.0", index);
    snprintf(device->uuid, sizeof(device->uuid),
             "53696d00-0000-4000-8000-%012x", index);
    device->properties[0] = (struct ggml_backend_feature){ "PCI", device->pci };
    device->properties[1] =
        (struct ggml_backend_feature){ "UUID", device->uuid };
    device->handle.context = device;
    return device;
}

/* "ggmlbackend_dev_get_properties" */
static const struct ggml_backend_feature *
get_properties(ggml_backend_dev_t dev)
{
    struct gb_sim_device *device = gb_sim_device_of(dev);

    return device != NULL ? device->properties : NULL;
}

static const char *
reg_get_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return "Sim";
}

static size_t
reg_get_device_count(ggml_backend_reg_t reg)
{
    size_t n_devices;

    (void)reg;
    gb_sim_lock();
    n_devices = (size_t)state.n_devices;
    gb_sim_unlock();
    return n_devices;
}

static ggml_backend_dev_t
reg_get_device(ggml_backend_reg_t reg, size_t index)
{
    ggml_backend_dev_t dev = NULL;

    (void)reg;
    gb_sim_lock();
    if (index < (size_t)state.n_devices)
        dev = &state.devices[index]->handle;
    gb_sim_unlock();
    return dev;
}

struct named_function {
    const char *name;
    void *function;
};

static void *
reg_get_proc_address(ggml_backend_reg_t reg, const char *name)
{
    static const struct named_function functions[] = {
        { "ggml_backend_sim_configure", (void *)gb_sim_configure },
        { "ggml_backend_sim_count", (void *)gb_sim_count },
        { "ggml_backend_sim_default", (void *)gb_sim_default },
        { "ggml_backend_sim_fail", (void *)gb_sim_fail },
        { "ggml_backend_sim_parse", (void *)gb_sim_parse },
        { "ggmlbackend_dev_get_properties", (void *)get_properties },
    };

    (void)reg;
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].function;
    }
    return NULL;
}

static const struct ggml_backend_reg sim_reg = {
    .api_version = GGML_BACKEND_API_VERSION,
    .iface = {
        .get_name = reg_get_name,
        .get_device_count = reg_get_device_count,
        .get_device = reg_get_device,
        .get_proc_address = reg_get_proc_address,
    },
};

#define SIM_REG ((ggml_backend_reg_t)&sim_reg)

struct gb_sim_device *
gb_sim_device_of(ggml_backend_dev_t dev)
{
    return dev->reg == SIM_REG ? dev->context : NULL;
}

/* With the lock: N devices there are at least; false without memory. */
static bool
make_devices(int n)
{
    while (state.n_devices < n) {
        struct gb_sim_device *device = device_new(state.n_devices);

        if (device == NULL)
            return false;
        device->handle.reg = SIM_REG;
        gb_sim_default(&device->config);
        gb_sim_device_init(device);
        state.devices[state.n_devices++] = device;
    }
    return true;
}

bool
gb_sim_configure(int first, int n, const struct gb_sim_config *config)
{
    bool is_made;

    if (first < 0 || n < 0 || first > GB_SIM_MAX_DEVICES - n ||
        !gb_sim_config_is_good(config))
        return false;
    gb_sim_lock();
    is_made = make_devices(first + n);
    for (int i = first; is_made && i < first + n; i++) {
        state.devices[i]->config = *config;
        gb_sim_device_init(state.devices[i]);
    }
    gb_sim_unlock();
    return is_made;
}

/* As much memory as the environment lets cards have; false for nonsense. */
static bool
read_memory(int *n_devices, struct gb_sim_config *config)
{
    const char *bytes = ggmlbackend_env_value("GGMLBACKEND_GPU_MEMORY");
    char setting[64];

    if (bytes == NULL || bytes[0] == '\0' || strcmp(bytes, "0") == 0)
        return true;
    snprintf(setting, sizeof(setting), "memory=%s", bytes);
    return gb_sim_parse(setting, n_devices, config);
}

/* The devices that the environment asks for; two without it. */
static bool
configure_from_environment(const char *text)
{
    struct gb_sim_config config;
    int n_devices = 2;

    gb_sim_default(&config);
    if (!read_memory(&n_devices, &config) ||
        (text != NULL && !gb_sim_parse(text, &n_devices, &config))) {
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "sim: GGMLBACKEND_SIM has what no device can be: %s",
                         text != NULL ? text : "GGMLBACKEND_GPU_MEMORY");
        return false;
    }
    return gb_sim_configure(0, n_devices, &config);
}

ggml_backend_reg_t
ggml_backend_sim_reg(void)
{
    const char *set = getenv("GGMLBACKEND_SIM");
    char *text = set != NULL ? strdup(set) : NULL;
    ggml_backend_reg_t reg;
    bool has_devices;

    if (set != NULL && text == NULL)
        return NULL;
    gb_sim_lock();
    has_devices = state.n_devices > 0;
    gb_sim_unlock();
    if (!has_devices && text != NULL && strcmp(text, "none") == 0)
        reg = ggmlbackend_not_here("GGMLBACKEND_SIM is none");
    else
        reg = has_devices || configure_from_environment(text) ? SIM_REG : NULL;
    free(text);
    return reg;
}
