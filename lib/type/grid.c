/* SPDX-License-Identifier: MIT */
/*
 * type/grid.c - neighbours of a point in a grid, made on first use.
 *
 * Quantisers round values to the nearest levels first.  Where these are no row
 * of the grid they look among the rows at the few smallest distances.  These
 * are squared, and between points whose level L lies at 2 L + 1, whatever
 * magnitude it stands for.
 */
#include "config.h"

#include "lib/type/grid.h"

#include "lib/base/lock.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <string.h>

#define MAX_ROWS     2048
#define MAX_GROUP    8
#define MAX_NEAREST  3
#define MAX_DISTANCE (4 * 14 * 14) /* four levels 0 against four levels 7 */

struct grid {
    enum ggml_type types[2]; /* whose grid it is */
    const void *rows;
    int n_rows;
    int group;   /* values in a row */
    int bits;    /* of a level in a point's number */
    int nearest; /* how many distances count as near */
    int8_t levels[8]; /* magnitude of each level */
    int n_levels;
};

#define MAGNITUDES_IQ2 { 8, 25, 43 }

static const struct grid grids[] = {
    { { GGML_TYPE_IQ1_S, GGML_TYPE_IQ1_M }, gb_grid_iq1, 2048, 8, 2, 3,
      { -1, 0, 1 }, 3 },
    { { GGML_TYPE_IQ2_XXS, GGML_TYPE_IQ2_XXS }, gb_grid_iq2_xxs, 256, 8, 2, 2,
      MAGNITUDES_IQ2, 3 },
    { { GGML_TYPE_IQ2_XS, GGML_TYPE_IQ2_XS }, gb_grid_iq2_xs, 512, 8, 2, 2,
      MAGNITUDES_IQ2, 3 },
    { { GGML_TYPE_IQ2_S, GGML_TYPE_IQ2_S }, gb_grid_iq2_s, 1024, 8, 2, 1,
      MAGNITUDES_IQ2, 3 },
    { { GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ3_XXS }, gb_grid_iq3_xxs, 256, 4, 3, 2,
      { 4, 12, 20, 28, 36, 44, 52, 62 }, 8 },
    { { GGML_TYPE_IQ3_S, GGML_TYPE_IQ3_S }, gb_grid_iq3_s, 512, 4, 3, 3,
      { 1, 3, 5, 7, 9, 11, 13, 15 }, 8 },
};

#define N_GRIDS (int)(sizeof(grids) / sizeof(grids[0]))

static struct gb_grid_map maps[N_GRIDS]; /* under GB_LOCK_GRIDS */

/* The grid's index, -1 for a type without. */
static int
index_of(enum ggml_type type)
{
    for (int i = 0; i < N_GRIDS; i++)
        if (grids[i].types[0] == type || grids[i].types[1] == type)
            return i;
    return -1;
}

/* Levels of each row, GRID->group a row. */
static void
read_rows(const struct grid *grid, uint8_t *levels)
{
    /* No magnitude is above 62, so signed bytes hold those of every grid. */
    const int8_t *rows = grid->rows;

    for (int i = 0; i < grid->n_rows * grid->group; i++) {
        levels[i] = 0;
        while (grid->levels[levels[i]] != rows[i])
            levels[i]++;
    }
}

static int
n_points(const struct grid *grid)
{
    int n = 1;

    for (int i = 0; i < grid->group; i++)
        n *= grid->n_levels;
    return n;
}

/* The Ith of all points: its levels; its number. */
static unsigned
point_at(const struct grid *grid, int i, uint8_t *levels)
{
    unsigned number = 0;

    for (int j = 0; j < grid->group; j++) {
        levels[j] = (uint8_t)(i % grid->n_levels);
        number |= (unsigned)levels[j] << grid->bits * j;
        i /= grid->n_levels;
    }
    return number;
}

static int
distance(int n, const uint8_t *a, const uint8_t *b)
{
    int sum = 0;

    for (int j = 0; j < n; j++)
        sum += 4 * (a[j] - b[j]) * (a[j] - b[j]);
    return sum;
}

/*
 * The list of rows near a point: their number, then the rows.  A distance of 0
 * gives a list of one, the row that the point is.  Returns its length.
 */
static int
list_rows(const struct grid *grid, const uint8_t *row_levels,
          const uint8_t *point, uint16_t *list)
{
    uint16_t distances[MAX_ROWS];
    bool seen[MAX_DISTANCE + 1] = { false };
    int n = 0, found = 0;

    for (int i = 0; i < grid->n_rows; i++) {
        const int d =
            distance(grid->group, row_levels + i * grid->group, point);

        distances[i] = (uint16_t)d;
        seen[d] = true;
    }
    for (int d = 0; d <= MAX_DISTANCE && found < grid->nearest; d++) {
        if (!seen[d])
            continue;
        found++;
        for (int i = 0; i < grid->n_rows; i++)
            if (distances[i] == d)
                list[++n] = (uint16_t)i;
        if (d == 0)
            break;
    }
    list[0] = (uint16_t)n;
    return n + 1;
}

/* A buffer for lists that grows. */
struct lists {
    uint16_t *entries;
    size_t n;
    size_t room;
};

/* Room for the longest list there is. */
static bool
reserve(struct lists *lists)
{
    uint16_t *entries;

    if (lists->room - lists->n > MAX_ROWS)
        return true;
    entries = gb_mem_realloc(lists->entries, 2 * lists->room + 2 * MAX_ROWS,
                             sizeof(*entries));
    if (entries == NULL)
        return false;
    lists->entries = entries;
    lists->room = 2 * lists->room + 2 * MAX_ROWS;
    return true;
}

static bool
make_map(const struct grid *grid, struct gb_grid_map *out)
{
    const size_t n_numbers = (size_t)1 << grid->bits * grid->group;
    uint8_t row_levels[MAX_ROWS * MAX_GROUP], point[MAX_GROUP];
    struct lists lists = { NULL, 0, 0 };
    int32_t *places = gb_mem_zalloc(n_numbers, sizeof(*places));
    uint16_t *points = gb_mem_zalloc((size_t)grid->n_rows, sizeof(*points));

    if (places == NULL || points == NULL)
        goto no_memory;
    read_rows(grid, row_levels);
    for (int i = 0; i < n_points(grid); i++) {
        const unsigned number = point_at(grid, i, point);
        uint16_t *list;
        int length;

        if (!reserve(&lists))
            goto no_memory;
        list = lists.entries + lists.n;
        length = list_rows(grid, row_levels, point, list);
        if (distance(grid->group, row_levels + list[1] * grid->group, point) ==
            0) {
            places[number] = list[1];
            points[list[1]] = (uint16_t)number;
        } else {
            places[number] = -1 - (int32_t)lists.n;
            lists.n += (size_t)length;
        }
    }
    out->group = grid->group;
    out->bits = grid->bits;
    out->n_levels = grid->n_levels;
    out->points = points;
    out->places = places;
    out->neighbours = lists.entries;
    return true;

no_memory:
    gb_mem_free(points);
    gb_mem_free(places);
    gb_mem_free(lists.entries);
    return false;
}

bool
gb_grid_has_map(enum ggml_type type)
{
    return index_of(type) >= 0;
}

const struct gb_grid_map *
gb_grid_map(enum ggml_type type)
{
    const int i = index_of(type);
    bool is_there;

    if (i < 0)
        return NULL;
    gb_lock(GB_LOCK_GRIDS);
    is_there = maps[i].places != NULL || make_map(&grids[i], &maps[i]);
    gb_unlock(GB_LOCK_GRIDS);
    if (is_there)
        return &maps[i];
    /* Without the lock: the client's sink may quantise something. */
    gb_fail(GGML_STATUS_ALLOC_FAILED, "quantize: no memory for a grid");
    return NULL;
}

void
ggml_quantize_init(enum ggml_type type)
{
    /* A failure is logged, and found again by whoever quantises. */
    (void)gb_grid_map(type);
}

void
ggml_quantize_free(void)
{
    gb_lock(GB_LOCK_GRIDS);
    for (int i = 0; i < N_GRIDS; i++) {
        gb_mem_free(maps[i].points);
        gb_mem_free(maps[i].places);
        gb_mem_free(maps[i].neighbours);
    }
    memset(maps, 0, sizeof(maps));
    gb_unlock(GB_LOCK_GRIDS);
}
