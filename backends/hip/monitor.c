/* SPDX-License-Identifier: MIT */
/*
 * hip/monitor.c - what the kernel's driver says of a card, in files below
 * /sys/bus/pci/devices (Linux, "AMDGPU driver information").
 */
#include "backends/cuda/driver/monitor.h"

#include <stdio.h>

#define FOLDER "/sys/bus/pci/devices"

static bool
read_number(const char *pci_address, const char *name, size_t *out)
{
    char path[128];
    unsigned long long number;
    FILE *file;
    bool is_read;

    snprintf(path, sizeof(path), FOLDER "/%s/%s", pci_address, name);
    file = fopen(path, "r");
    if (file == NULL)
        return false;
    is_read = fscanf(file, "%llu", &number) == 1;
    fclose(file);
    if (is_read)
        *out = (size_t)number;
    return is_read;
}

bool
gb_cuda_monitor_free_memory(const char *pci_address, size_t *free)
{
    size_t total, used;

    if (!read_number(pci_address, "mem_info_vram_total", &total) ||
        !read_number(pci_address, "mem_info_vram_used", &used) ||
        used > total)
        return false;
    *free = total - used;
    return true;
}

/* Clocks and power have other names from one kind of card to the next. */
bool
gb_cuda_monitor_state(
    const char *pci_address, struct gb_cuda_monitor_state *state)
{
    (void)pci_address;
    (void)state;
    return false;
}
