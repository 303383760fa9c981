// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/hip.cpp - what HIP's run time does otherwise than CUDA's driver:
 * the entry points that have other parameters, numbers or manners.
 */
#include "tests/gpu-emulator/hip.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace emu {

namespace {

static_assert(sizeof(gb_cuda_kernel_node) == 64 &&
                  offsetof(gb_cuda_kernel_node, grid) == 32,
              "as HIP has it");

/* hipDeviceAttribute_t, and the number that driver-device.cpp knows. */
const struct {
    int hip, cuda;
} attributes[] = {
    { 2, GB_CUDA_ASYNC_ENGINES },
    { 6, GB_CUDA_COMPUTE_MODE },
    { 9, GB_CUDA_CONCURRENT_MANAGED },
    { 16, GB_CUDA_INTEGRATED },
    { 19, GB_CUDA_L2_BYTES },
    { 24, GB_CUDA_MANAGED_MEMORY },
    { 56, GB_CUDA_MAX_THREADS_PER_BLOCK },
    { 63, GB_CUDA_MULTIPROCESSORS },
    { 65, GB_CUDA_PAGEABLE_ACCESS },
    { 66, GB_CUDA_PAGEABLE_BY_HOST_TABLES },
    { 74, GB_CUDA_MAX_SHARED_PER_BLOCK },
    { 75, GB_CUDA_MAX_SHARED_OPTIN },
    { 85, GB_CUDA_UNIFIED_ADDRESSING },
    { 87, GB_CUDA_WARP_SIZE },
};

const struct {
    int result;
    const char *name, *text;
} errors[] = {
    { 0, "hipSuccess", "no error" },
    { 1, "hipErrorInvalidValue", "invalid argument" },
    { 2, "hipErrorOutOfMemory", "out of memory" },
    { 3, "hipErrorNotInitialized", "initialization error" },
    { 100, "hipErrorNoDevice", "no ROCm-capable device is detected" },
    { 101, "hipErrorInvalidDevice", "invalid device ordinal" },
    { 200, "hipErrorInvalidImage", "device kernel image is invalid" },
    { 201, "hipErrorInvalidContext", "invalid device context" },
    { 209, "hipErrorNoBinaryForGpu",
      "no kernel image is available for execution on the device" },
    { 400, "hipErrorInvalidHandle", "invalid resource handle" },
    { 500, "hipErrorNotFound", "named symbol not found" },
    { 600, "hipErrorNotReady", "device not ready" },
    { 700, "hipErrorIllegalAddress",
      "an illegal memory access was encountered" },
    { 719, "hipErrorLaunchFailure", "unspecified launch failure" },
    { 801, "hipErrorNotSupported", "operation not supported" },
};

} // namespace

} // namespace emu

using namespace emu;

EXPORTED const char *
hipGetErrorName(int result)
{
    for (const auto &e : errors)
        if (e.result == result)
            return e.name;
    return "hipErrorUnknown";
}

EXPORTED const char *
hipGetErrorString(int result)
{
    for (const auto &e : errors)
        if (e.result == result)
            return e.text;
    return "unknown error";
}

EXPORTED int
hipDriverGetVersion(int *version)
{
    return emu_entry_version(version);
}

EXPORTED int
hipDeviceGetAttribute(int *value, int attribute, int device)
{
    for (const auto &row : attributes)
        if (row.hip == attribute)
            return emu_entry_device_attribute(value, row.cuda, device);
    return GB_CUDA_INVALID_VALUE;
}

/* "10.3.0" lets all cards be gfx1030. */
static int
arch_shown(int device)
{
    const char *claim = getenv("HSA_OVERRIDE_GFX_VERSION");
    int major, minor, step;

    if (claim == nullptr ||
        sscanf(claim, "%d.%d.%d", &major, &minor, &step) != 3)
        return hip_arch(device);
    return (major / 10 << 12) + (major % 10 << 8) + (minor << 4) + step;
}

/* As 5.x has the struct: 792 bytes, the architecture's name at 396. */
EXPORTED int
hipGetDeviceProperties(char *properties, int device)
{
    const int result =
        emu_entry_device_name(properties, 256, device);

    if (result != 0)
        return result;
    memset(properties + 256, 0, 792 - 256);
    snprintf(properties + 396, 256, "gfx%x%s", (unsigned)arch_shown(device),
             lanes == 64 ? ":sramecc+:xnack-" : "");
    return 0;
}

/* Sixteen digits, without an end. */
EXPORTED int
hipDeviceGetUuid(char *uuid, int device)
{
    struct gb_cuda_uuid unused;
    const int result = emu_entry_device_uuid(&unused, device);
    char text[32];

    if (result != 0)
        return result;
    snprintf(text, sizeof(text), "0123456789abcd%02x", (unsigned)device);
    memcpy(uuid, text, sizeof(unused.bytes));
    return 0;
}

EXPORTED int
hipDevicePrimaryCtxRetain(void **context, int device)
{
    return emu_entry_context_retain((gb_cuda_context *)context, device);
}

EXPORTED int
hipSetDevice(int device)
{
    return emu_entry_context_push(
        (gb_cuda_context)(uintptr_t)(device + 1));
}

EXPORTED int
hipGetDevice(int *device)
{
    gb_cuda_context context = nullptr;
    const int result = emu_entry_context_pop(&context);

    *device = (int)(uintptr_t)context - 1;
    return result;
}

EXPORTED int
hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return emu_entry_peer_enable(hip_context(peer), flags);
}

EXPORTED int
hipDeviceDisablePeerAccess(int peer)
{
    return emu_entry_peer_disable(hip_context(peer));
}

EXPORTED int
hipMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                   size_t size, gb_cuda_stream stream)
{
    return emu_entry_copy_to_peer(
        (gb_cuda_address)(uintptr_t)to, hip_context(to_device),
        (gb_cuda_address)(uintptr_t)from, hip_context(from_device), size,
        stream);
}

/* 8 would be memory that is not coherent. */
EXPORTED int
hipHostRegister(void *memory, size_t size, unsigned flags)
{
    if ((flags & 8) != 0) {
        report("hipHostRegister: flag 8 is none of CUDA's");
        return GB_CUDA_INVALID_VALUE;
    }
    return emu_entry_host_register(memory, size, flags);
}

/* It wants a kernel's function on the host, and kernels of modules have none. */
EXPORTED int
hipFuncSetAttribute(const void *, int, int)
{
    report("hipFuncSetAttribute: not for functions of modules");
    return GB_CUDA_INVALID_VALUE;
}
