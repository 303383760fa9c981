/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/nvml.c - what the vendor's management library knows.
 *
 * The driver itself tells free memory in a context only, and a context takes
 * hundreds of megabytes of the card; clocks and power it does not know.  The
 * library is opened on first use and stays.
 */
#include "backends/cuda/driver/monitor.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef struct nvml_device_object *nvml_device;

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml {
    int (*init)(void);
    int (*device_by_pci)(const char *address, nvml_device *device);
    int (*memory)(nvml_device device, struct nvml_memory *memory);
    /* NULL where the library has no such function */
    int (*clock)(nvml_device device, int kind, unsigned *mhz);
    int (*max_clock)(nvml_device device, int kind, unsigned *mhz);
    int (*power)(nvml_device device, unsigned *milliwatts);
    int (*max_power)(nvml_device device, unsigned *milliwatts);
    int (*temperature)(nvml_device device, int sensor, unsigned *degrees);
    int (*reasons)(nvml_device device, unsigned long long *reasons);
    int (*processes)(nvml_device device, unsigned *n, void *infos);
};

/* Its numbers. */
enum {
    SM_CLOCK = 1,
    MEMORY_CLOCK = 2,
    ON_THE_CHIP = 0,
    MORE_ROOM_NEEDED = 7, /* a result: the count is right */
};

static struct {
    pthread_once_t once;
    struct nvml nvml;
    bool is_open;
} state = { .once = PTHREAD_ONCE_INIT };

static bool
look_up(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);

    memcpy(function, &address, sizeof(address));
    return address != NULL;
}

/* Functions that it may lack. */
static void
look_up_others(void *library, struct nvml *nvml)
{
    look_up(library, "nvmlDeviceGetClockInfo", &nvml->clock);
    look_up(library, "nvmlDeviceGetMaxClockInfo", &nvml->max_clock);
    look_up(library, "nvmlDeviceGetPowerUsage", &nvml->power);
    look_up(library, "nvmlDeviceGetEnforcedPowerLimit", &nvml->max_power);
    look_up(library, "nvmlDeviceGetTemperature", &nvml->temperature);
    look_up(library, "nvmlDeviceGetCurrentClocksThrottleReasons",
            &nvml->reasons);
    look_up(library, "nvmlDeviceGetComputeRunningProcesses_v3",
            &nvml->processes);
}

static void
open_nvml(void)
{
    struct nvml *nvml = &state.nvml;
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);

    state.is_open =
        library != NULL && look_up(library, "nvmlInit_v2", &nvml->init) &&
        look_up(library, "nvmlDeviceGetHandleByPciBusId_v2",
                &nvml->device_by_pci) &&
        look_up(library, "nvmlDeviceGetMemoryInfo", &nvml->memory) &&
        nvml->init() == 0;
    if (state.is_open)
        look_up_others(library, nvml);
}

static bool
find(const char *pci_address, nvml_device *device)
{
    pthread_once(&state.once, open_nvml);
    return state.is_open && state.nvml.device_by_pci(pci_address, device) == 0;
}

bool
gb_cuda_monitor_free_memory(const char *pci_address, size_t *free)
{
    struct nvml_memory memory;
    nvml_device device;

    if (!find(pci_address, &device) ||
        state.nvml.memory(device, &memory) != 0)
        return false;
    *free = (size_t)memory.free;
    return true;
}

/* A call that a library may lack, or a card not answer: *VALUE is then 0. */
#define ASK(function, value, ...)                                     \
    do {                                                              \
        if (nvml->function == NULL || nvml->function(__VA_ARGS__) != 0) \
            *(value) = 0;                                             \
    } while (0)

/* Without room for any the library gives their number alone. */
static unsigned
count_processes(const struct nvml *nvml, nvml_device device)
{
    unsigned n = 0;
    int result;

    if (nvml->processes == NULL)
        return 0;
    result = nvml->processes(device, &n, NULL);
    return result == 0 || result == MORE_ROOM_NEEDED ? n : 0;
}

bool
gb_cuda_monitor_state(const char *pci_address, struct gb_cuda_monitor_state *out)
{
    const struct nvml *nvml = &state.nvml;
    nvml_device device;

    if (!find(pci_address, &device))
        return false;
    ASK(clock, &out->clock, device, SM_CLOCK, &out->clock);
    ASK(max_clock, &out->max_clock, device, SM_CLOCK, &out->max_clock);
    ASK(clock, &out->memory_clock, device, MEMORY_CLOCK, &out->memory_clock);
    ASK(power, &out->power, device, &out->power);
    ASK(max_power, &out->max_power, device, &out->max_power);
    ASK(temperature, &out->temperature, device, ON_THE_CHIP,
        &out->temperature);
    ASK(reasons, &out->reasons, device, &out->reasons);
    out->n_processes = count_processes(nvml, device);
    return true;
}
