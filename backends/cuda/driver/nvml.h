/* SPDX-License-Identifier: MIT */
/*
 * cuda/driver/nvml.h - what the vendor's management library knows.
 */
#ifndef GB_CUDA_DRIVER_NVML_H
#define GB_CUDA_DRIVER_NVML_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Bytes of memory that are free on the card at a PCI address, which takes no
 * context.  False, with *FREE untouched, where the library is missing or does
 * not know.  Any thread.
 */
bool gb_cuda_nvml_free_memory(const char *pci_address, size_t *free);

#endif
