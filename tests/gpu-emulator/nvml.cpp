// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/nvml.cpp - the vendor's management library: of free memory it
 * asks the emulated driver; clocks and power are always the same.
 *
 * Functions return nvmlReturn_t, a device is a pointer that nobody looks into.
 * GGMLBACKEND_TEST_EMU_SLOWED has the bits of why clocks are low (0), and
 * GGMLBACKEND_TEST_EMU_PROCESSES how many processes compute there (1).
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
    INSUFFICIENT_SIZE = 7,
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

unsigned long long
setting(const char *name, unsigned long long otherwise)
{
    const char *text = getenv(name);

    return text == nullptr || *text == '\0' ? otherwise
                                            : strtoull(text, nullptr, 0);
}

/* What both have to be given. */
int
tell(const void *device, unsigned *out, unsigned value)
{
    if (users == 0)
        return UNINITIALIZED;
    if (device == nullptr || out == nullptr)
        return INVALID_ARGUMENT;
    *out = value;
    return SUCCESS;
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

/* 1: the multiprocessors', 2: the memory's. */
EXPORTED int
nvmlDeviceGetClockInfo(void *device, int kind, unsigned *mhz)
{
    if (kind != 1 && kind != 2)
        return INVALID_ARGUMENT;
    return tell(device, mhz, kind == 1 ? 1500 : 2000);
}

EXPORTED int
nvmlDeviceGetMaxClockInfo(void *device, int kind, unsigned *mhz)
{
    if (kind != 1 && kind != 2)
        return INVALID_ARGUMENT;
    return tell(device, mhz, kind == 1 ? 1800 : 2000);
}

EXPORTED int
nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    return tell(device, milliwatts, 250500);
}

EXPORTED int
nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *milliwatts)
{
    return tell(device, milliwatts, 700000);
}

EXPORTED int
nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees)
{
    return sensor == 0 ? tell(device, degrees, 55) : INVALID_ARGUMENT;
}

EXPORTED int
nvmlDeviceGetCurrentClocksThrottleReasons(
    void *device, unsigned long long *reasons)
{
    if (users == 0)
        return UNINITIALIZED;
    if (device == nullptr || reasons == nullptr)
        return INVALID_ARGUMENT;
    *reasons = setting("GGMLBACKEND_TEST_EMU_SLOWED", 0);
    return SUCCESS;
}

/* Only the count is ever asked for. */
EXPORTED int
nvmlDeviceGetComputeRunningProcesses_v3(
    void *device, unsigned *count, void *infos)
{
    const unsigned n =
        (unsigned)setting("GGMLBACKEND_TEST_EMU_PROCESSES", 1);
    const int result = infos == nullptr ? tell(device, count, n)
                                        : (int)INVALID_ARGUMENT;

    return result == SUCCESS && n > 0 ? (int)INSUFFICIENT_SIZE : result;
}
