/* SPDX-License-Identifier: MIT */
/*
 * type/grid.h - the grids that the IQ formats point into.
 *
 * A row is the magnitudes (iq1: the levels -1, 0, 1) of neighbouring values,
 * the first value first.  Rows are aligned, so that one is read as one word.
 */
#ifndef GB_TYPE_GRID_H
#define GB_TYPE_GRID_H

#include "ggml.h"

#include <stdint.h>

extern const int8_t gb_grid_iq1[2048][8];
extern const uint8_t gb_grid_iq2_xxs[256][8];
extern const uint8_t gb_grid_iq2_xs[512][8];
extern const uint8_t gb_grid_iq2_s[1024][8];
extern const uint8_t gb_grid_iq3_xxs[256][4];
extern const uint8_t gb_grid_iq3_s[512][4];

/* Signs of eight values, bit set for negative, from the seven that are stored:
 * the number of negative ones is always even. */
static inline unsigned
gb_grid_signs(unsigned seven)
{
    const unsigned folded = (seven ^ seven >> 4) & 15;

    /* 0x6996 has the bits of those below 16 with an odd number of ones. */
    return seven | (0x6996u >> folded & 1) << 7;
}

/*
 * A grid as quantisers see it.  A point is some values' levels: 0, 1, 2 for the
 * magnitudes (iq1: the levels) of iq1 and iq2, 0 to 7 for those of iq3, all in
 * ascending order; its number has two (iq3: three) bits a level, the first
 * value's lowest.
 */
struct gb_grid_map {
    int group;            /* values in a row: 8, or 4 */
    int bits;             /* of a level in a point's number: 2, or 3 */
    int n_levels;         /* 3, or 8 */
    uint16_t *points;     /* which point a row is */
    int32_t *places;      /* by number of a point; see gb_grid_find */
    uint16_t *neighbours; /* lists: how many, then rows, the nearest first */
};

/*
 * The map of TYPE's grid, which is made on first use.  NULL when there is no
 * memory, which is logged, or when the type has no grid.  It lives until
 * ggml_quantize_free.  Any thread.
 */
const struct gb_grid_map *gb_grid_map(enum ggml_type type);

bool gb_grid_has_map(enum ggml_type type);

/* The row that POINT is; -1 when it is none, and then *neighbours_out is the
 * list of the rows about it, as in the struct. */
static inline int
gb_grid_find(const struct gb_grid_map *map, unsigned point,
             const uint16_t **neighbours_out)
{
    const int32_t place = map->places[point];

    if (place >= 0)
        return place;
    *neighbours_out = map->neighbours + (-1 - place);
    return -1;
}

/*
 * Of the rows in a list of neighbours the one that tells X best, the first of
 * equals: that with the least sum(w (value[level] - x)^2).
 *
 *   x, w   of the group
 *   value  what each level stands for
 */
int gb_grid_nearest(const struct gb_grid_map *map, const uint16_t *neighbours,
                    const float *x, const float *w, const float *value);

#endif
