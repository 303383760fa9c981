/* SPDX-License-Identifier: MIT */
/*
 * type/grid-iq3.c - the grids of iq3_xxs and iq3_s.
 */
#include "config.h"

#include "lib/type/grid.h"

/* One octal digit a level, the first value's last.  Magnitudes are 4, 12, …, 52
 * and then 62 in iq3_xxs, 1, 3, …, 15 in iq3_s. */
#define LEVEL(row, i)  ((row) >> 3 * (i) & 7)
#define ROW(row, L)    { L(row, 0), L(row, 1), L(row, 2), L(row, 3) }
#define BY_EIGHTS(row, i) \
    LEVEL(row, i) == 7 ? 62 : 8 * LEVEL(row, i) + 4
#define ODD(row, i) 2 * LEVEL(row, i) + 1

#define R(row) ROW(row, BY_EIGHTS)
_Alignas(4) const uint8_t gb_grid_iq3_xxs[256][4] = {
#include "lib/type/grid-iq3-xxs.def"
};
#undef R

#define R(row) ROW(row, ODD)
_Alignas(4) const uint8_t gb_grid_iq3_s[512][4] = {
#include "lib/type/grid-iq3-s.def"
};
