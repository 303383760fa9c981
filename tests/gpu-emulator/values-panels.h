/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values-panels.h - how panels of halves lie in shared memory, and
 * the descriptors that tell an MMA of a warp group so (PTX ISA, "Shared Memory
 * Matrix Layout", "Matrix Descriptor Format").
 */
#ifndef GB_GPU_EMULATOR_VALUES_PANELS_H
#define GB_GPU_EMULATOR_VALUES_PANELS_H

#include <stddef.h>
#include <stdint.h>

struct panel_layout {
    unsigned mode; /* of the descriptor; 0: no swizzling */
    int width;     /* bytes of a row that lie together */
    int per;       /* rows of eight between two xors of the piece's place */
};

static const panel_layout panel_layouts[] = {
    { 0, 16, 0 }, { 1, 128, 1 }, { 2, 64, 2 }, { 3, 32, 4 },
};

/*
 * K-major: where half K of row ROW is in a panel of N_ROWS; of a panel that
 * begins AT bytes behind the address that is added later, from FIRST_K on.
 */
size_t byte_of(const panel_layout &l, int n_rows, int row, int k);
uint64_t descriptor_of(
    const panel_layout &l, int n_rows, int first_k, int at);

/*
 * By columns, swizzled alone: panels of as many columns as are swizzled
 * together, one line for each K, 24 lines apart.
 */
size_t byte_by_columns(const panel_layout &l, int k, int column);
uint64_t descriptor_by_columns(const panel_layout &l, int at);

#endif
