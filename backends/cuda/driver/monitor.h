/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/monitor.h - what is known of a card besides what its driver says:
 * by the vendor's management library, or by files of the kernel's.
 *
 * Cards go by their PCI address, and no context is taken.  Any thread.
 */
#ifndef GB_CUDA_DRIVER_MONITOR_H
#define GB_CUDA_DRIVER_MONITOR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Bytes of memory that are free.  False, with *FREE untouched, where nobody
 * knows.
 */
bool gb_cuda_monitor_free_memory(const char *pci_address, size_t *free);

/* Why clocks are low: bits of the vendor's. */
enum {
    GB_CUDA_MONITOR_IDLE = 0x1,
    GB_CUDA_MONITOR_CLOCKS_SET = 0x2,
    GB_CUDA_MONITOR_POWER_CAP = 0x4,
    GB_CUDA_MONITOR_HARDWARE = 0x8, /* with a reason of its own beside it, mostly */
    GB_CUDA_MONITOR_HEAT = 0x20,
    GB_CUDA_MONITOR_HARDWARE_HEAT = 0x40,
    GB_CUDA_MONITOR_POWER_BRAKE = 0x80,
};

/* A member is 0 where it is not known. */
struct gb_cuda_monitor_state {
    unsigned clock, max_clock, memory_clock; /* MHz */
    unsigned power, max_power;               /* milliwatts */
    unsigned temperature;                    /* degrees Celsius */
    unsigned n_processes;                    /* that compute there */
    unsigned long long reasons;              /* bits as above */
};

/* False, with *STATE untouched, where nothing is known of the card. */
bool gb_cuda_monitor_state(
    const char *pci_address, struct gb_cuda_monitor_state *state);

#endif
