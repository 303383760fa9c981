// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/nvml.cpp - the vendor's management library, as far as free
 * memory goes: it asks the emulated driver.
 *
 * Functions return nvmlReturn_t, a device is a pointer that nobody looks into.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_FOUND = 6,
    DRIVER_NOT_LOADED = 9,
};

struct memory {
    unsigned long long total, free, used;
};

uint64_t (*memory_of)(int card);
uint64_t (*used_of)(int card);
int users;

/* A card's number is in its address: the bus is 0x10 and that number. */
int
card_at(const char *address)
{
    const char *colon = strchr(address, ':');

    return colon == nullptr ? -1 : (int)strtol(colon + 1, nullptr, 16) - 0x10;
}

} // namespace

EXPORTED int
nvmlInit_v2()
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

    if (driver == nullptr)
        return DRIVER_NOT_LOADED;
    memory_of = (uint64_t (*)(int))dlsym(driver, "emu_memory_total");
    used_of = (uint64_t (*)(int))dlsym(driver, "emu_memory_used");
    if (memory_of == nullptr || used_of == nullptr)
        return DRIVER_NOT_LOADED;
    users++;
    return SUCCESS;
}

EXPORTED int
nvmlShutdown()
{
    if (users == 0)
        return UNINITIALIZED;
    users--;
    return SUCCESS;
}

EXPORTED int
nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device)
{
    if (users == 0)
        return UNINITIALIZED;
    if (address == nullptr || device == nullptr)
        return INVALID_ARGUMENT;
    if (memory_of(card_at(address)) == 0)
        return NOT_FOUND;
    *device = (void *)(intptr_t)(card_at(address) + 1);
    return SUCCESS;
}

EXPORTED int
nvmlDeviceGetMemoryInfo(void *device, struct memory *out)
{
    const int card = (int)(intptr_t)device - 1;

    if (users == 0)
        return UNINITIALIZED;
    if (device == nullptr || out == nullptr)
        return INVALID_ARGUMENT;
    out->total = memory_of(card);
    out->used = used_of(card);
    out->free = out->total - out->used;
    return SUCCESS;
}
