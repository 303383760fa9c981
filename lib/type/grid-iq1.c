/* SPDX-License-Identifier: MIT */
/*
 * type/grid-iq1.c - the grid of iq1_s and iq1_m.
 */
#include "config.h"

#include "lib/type/grid.h"

/* Two bits a level, the first value's lowest: 0, 1, 2 for -1, 0, 1. */
#define L(row, i) ((row) >> 2 * (i) & 3) - 1
#define R(row)                                                          \
    { L(row, 0), L(row, 1), L(row, 2), L(row, 3), L(row, 4), L(row, 5), \
      L(row, 6), L(row, 7) }

_Alignas(8) const int8_t gb_grid_iq1[2048][8] = {
#include "lib/type/grid-iq1.def"
};
