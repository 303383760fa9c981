// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-device.cpp - what is asked about cards.
 */
#include "tests/gpu-emulator/driver.h"

#include <stdio.h>
#include <string.h>

namespace emu {

namespace {

int
text_out(char *to, int size, const char *text)
{
    if (to == nullptr || size <= 0)
        return GB_CUDA_INVALID_VALUE;
    snprintf(to, (size_t)size, "%s", text);
    return 0;
}

/* -1: an attribute that is not known. */
int
attribute_of(const card &c, int attribute)
{
    switch (attribute) {
    case GB_CUDA_MAX_THREADS_PER_BLOCK:
        return 1024;
    case GB_CUDA_MAX_SHARED_PER_BLOCK:
        return shared_unasked();
    case GB_CUDA_WARP_SIZE:
        return lanes;
    case GB_CUDA_MULTIPROCESSORS:
        return c.sms;
    case GB_CUDA_INTEGRATED:
        return c.integrated;
    case GB_CUDA_COMPUTE_MODE:
        return c.compute_mode;
    case GB_CUDA_L2_BYTES:
        return 16 * 1024;
    case GB_CUDA_ASYNC_ENGINES:
        return 2;
    case GB_CUDA_UNIFIED_ADDRESSING:
    case GB_CUDA_MANAGED_MEMORY:
    case GB_CUDA_CONCURRENT_MANAGED:
        return 1;
    case GB_CUDA_MAJOR:
        return c.arch / 10;
    case GB_CUDA_MINOR:
        return c.arch % 10;
    case GB_CUDA_PAGEABLE_ACCESS:
        return c.pageable != 0;
    case GB_CUDA_PAGEABLE_BY_HOST_TABLES:
        return c.pageable == 2;
    case GB_CUDA_MAX_SHARED_OPTIN:
        return shared_limit(c.arch);
    default:
        return -1;
    }
}

} // namespace

int
api::device_count(int *count)
{
    if (count == nullptr)
        return GB_CUDA_INVALID_VALUE;
    *count = (int)cards.size();
    return 0;
}

int
api::device_get(int *device, int ordinal)
{
    if (device == nullptr)
        return GB_CUDA_INVALID_VALUE;
    if (card_of(ordinal) == nullptr)
        return GB_CUDA_INVALID_DEVICE;
    *device = ordinal;
    return 0;
}

int
api::device_name(char *name, int size, int device)
{
    const card *c = card_of(device);

    if (c == nullptr)
        return GB_CUDA_INVALID_DEVICE;
    return text_out(name, size, c->name.c_str());
}

int
api::device_attribute(int *value, int attribute, int device)
{
    const card *c = card_of(device);

    if (c == nullptr)
        return GB_CUDA_INVALID_DEVICE;
    if (value == nullptr || attribute_of(*c, attribute) < 0)
        return GB_CUDA_INVALID_VALUE;
    *value = attribute_of(*c, attribute);
    return 0;
}

int
api::device_memory(size_t *bytes, int device)
{
    const card *c = card_of(device);

    if (c == nullptr)
        return GB_CUDA_INVALID_DEVICE;
    if (bytes == nullptr)
        return GB_CUDA_INVALID_VALUE;
    *bytes = c->memory;
    return 0;
}

/* nvml.cpp reads the number back. */
int
api::device_pci(char *address, int size, int device)
{
    char text[32];

    if (card_of(device) == nullptr)
        return GB_CUDA_INVALID_DEVICE;
    snprintf(text, sizeof(text), "0000:%02X:00.0", 0x10 + device);
    return text_out(address, size, text);
}

int
api::device_uuid(struct gb_cuda_uuid *uuid, int device)
{
    if (card_of(device) == nullptr)
        return GB_CUDA_INVALID_DEVICE;
    if (uuid == nullptr)
        return GB_CUDA_INVALID_VALUE;
    *uuid = card_of(device)->uuid;
    return 0;
}

int
api::peer_possible(int *possible, int device, int peer)
{
    if (card_of(device) == nullptr || card_of(peer) == nullptr)
        return GB_CUDA_INVALID_DEVICE;
    if (possible == nullptr)
        return GB_CUDA_INVALID_VALUE;
    *possible = device != peer && set.peer != PEER_REFUSED;
    return 0;
}

} // namespace emu
