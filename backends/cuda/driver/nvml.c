/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/nvml.c - free memory by the management library.
 *
 * The driver itself tells it in a context only, and a context takes hundreds of
 * megabytes of the card.  The library is opened on first use and stays.
 */
#include "backends/cuda/driver/nvml.h"

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
}

bool
gb_cuda_nvml_free_memory(const char *pci_address, size_t *free)
{
    struct nvml_memory memory;
    nvml_device device;

    pthread_once(&state.once, open_nvml);
    if (!state.is_open ||
        state.nvml.device_by_pci(pci_address, &device) != 0 ||
        state.nvml.memory(device, &memory) != 0)
        return false;
    *free = (size_t)memory.free;
    return true;
}
