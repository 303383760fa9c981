/* SPDX-License-Identifier: MIT */
/*
 * type/grid-snap.c - which of the rows about a point tells values best.
 *
 * The lists are longer than the points are wide, so what the levels cost is
 * found out first, for a quarter of the point at a time: two levels of two
 * bits, or one of three.  A row's cost is then the sum of four table entries:
 * of three bits, the terms of the values in their order, so that ties are those
 * of a plain sum.
 */
#include "config.h"

#include "lib/type/grid.h"

#include <math.h>
#include <stdbool.h>

#define PARTS      4
#define PART_SIZE  16 /* room for the numbers that a part can be */
#define TWO_LEVELS 3  /* how many there are of two bits */
#define ALL_LEVELS 8  /* and of three */

static float
cost(float x, float w, float value)
{
    const float diff = value - x;

    return w * diff * diff;
}

/* The costs of a part of two neighbouring values with levels of two bits. */
static void
price_pair(const float *x, const float *w, const float *value, float *costs)
{
    for (int second = 0; second < TWO_LEVELS; second++) {
        const float c = cost(x[1], w[1], value[second]);

        for (int first = 0; first < TWO_LEVELS; first++)
            costs[first | second << 2] = cost(x[0], w[0], value[first]) + c;
    }
}

static void
price_single(float x, float w, const float *value, float *costs)
{
    for (int level = 0; level < ALL_LEVELS; level++)
        costs[level] = cost(x, w, value[level]);
}

int
gb_grid_nearest(const struct gb_grid_map *map, const uint16_t *neighbours,
                const float *x, const float *w, const float *value)
{
    const bool has_pairs = map->group == 2 * PARTS;
    const int bits = has_pairs ? 2 * map->bits : map->bits;
    const unsigned mask = (1u << bits) - 1;
    float costs[PARTS][PART_SIZE], least;
    int best;

    for (int p = 0; p < PARTS; p++) {
        if (has_pairs)
            price_pair(x + 2 * p, w + 2 * p, value, costs[p]);
        else
            price_single(x[p], w[p], value, costs[p]);
    }

    best = neighbours[1];
    least = INFINITY;
    for (int i = 1; i <= neighbours[0]; i++) {
        const unsigned point = map->points[neighbours[i]];
        const float sum = costs[0][point & mask] +
                          costs[1][point >> bits & mask] +
                          costs[2][point >> 2 * bits & mask] +
                          costs[3][point >> 3 * bits];

        if (sum < least) {
            least = sum;
            best = neighbours[i];
        }
    }
    return best;
}
