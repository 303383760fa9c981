/* SPDX-License-Identifier: MIT */
/*
 * type/grid-iq2.c - the grids of iq2_xxs, iq2_xs and iq2_s.
 */
#include "config.h"

#include "lib/type/grid.h"

/* Two bits a magnitude, the first value's lowest: 0, 1, 2 for 8, 25, 43. */
#define L(row, i)                         \
    ((row) >> 2 * (i) & 3) == 0   ? 8     \
    : ((row) >> 2 * (i) & 3) == 1 ? 25    \
                                  : 43
#define R(row)                                                          \
    { L(row, 0), L(row, 1), L(row, 2), L(row, 3), L(row, 4), L(row, 5), \
      L(row, 6), L(row, 7) }

_Alignas(8) const uint8_t gb_grid_iq2_xxs[256][8] = {
#include "lib/type/grid-iq2-xxs.def"
};

_Alignas(8) const uint8_t gb_grid_iq2_xs[512][8] = {
#include "lib/type/grid-iq2-xs.def"
};

_Alignas(8) const uint8_t gb_grid_iq2_s[1024][8] = {
#include "lib/type/grid-iq2-s.def"
};
