/* SPDX-License-Identifier: MIT */
/*
 * tests/type/grid.c - the grids, and the neighbours of their points.
 */
#include "lib/type/grid.h"

#include "lib/base/mem.h"

#include "tests/util/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

struct grid {
    enum ggml_type type;
    const void *rows;
    size_t n_rows;
    size_t group;
    unsigned bits;
    unsigned n_levels;
    int nearest;
    uint64_t hash; /* of the published table */
};

static const struct grid grids[] = {
    { GGML_TYPE_IQ1_S, gb_grid_iq1, 2048, 8, 2, 3, 3,
      UINT64_C(0x6703ed863501ae2e) },
    { GGML_TYPE_IQ2_XXS, gb_grid_iq2_xxs, 256, 8, 2, 3, 2,
      UINT64_C(0xbb4ee025b5ac6e8e) },
    { GGML_TYPE_IQ2_XS, gb_grid_iq2_xs, 512, 8, 2, 3, 2,
      UINT64_C(0xc9b1ee61e79909bd) },
    { GGML_TYPE_IQ2_S, gb_grid_iq2_s, 1024, 8, 2, 3, 1,
      UINT64_C(0x123edd38a3b62b90) },
    { GGML_TYPE_IQ3_XXS, gb_grid_iq3_xxs, 256, 4, 3, 8, 2,
      UINT64_C(0xdfa5dc83d6a155d5) },
    { GGML_TYPE_IQ3_S, gb_grid_iq3_s, 512, 4, 3, 8, 3,
      UINT64_C(0xfa37020c25b44829) },
};

#define N_GRIDS (sizeof(grids) / sizeof(grids[0]))

/* FNV-1a over a table's bytes. */
static uint64_t
hash(const uint8_t *bytes, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
    return h;
}

static void
the_tables_are_the_published_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_GRIDS; i++)
        if (hash(grids[i].rows, grids[i].n_rows * grids[i].group) !=
            grids[i].hash)
            fail_msg("%s", ggml_type_name(grids[i].type));
}

static void
the_eighth_sign_makes_their_number_even(void **state)
{
    (void)state;
    for (unsigned seven = 0; seven < 128; seven++) {
        const unsigned signs = gb_grid_signs(seven);
        int n = 0;

        for (int j = 0; j < 8; j++)
            n += signs >> j & 1;
        assert_int_equal(signs & 127, seven);
        assert_int_equal(signs >> 8, 0);
        assert_int_equal(n % 2, 0);
    }
}

static unsigned
level(const struct grid *grid, unsigned point, size_t j)
{
    return point >> grid->bits * j & ((1u << grid->bits) - 1);
}

/* The point of a row: a level is how many of the magnitudes are smaller. */
static unsigned
row_point(const struct grid *grid, size_t row)
{
    const int8_t *all = grid->rows;
    unsigned point = 0;

    for (size_t j = 0; j < grid->group; j++) {
        const int8_t own = all[row * grid->group + j];
        bool smaller[256] = { false };
        unsigned n = 0;

        for (size_t i = 0; i < grid->n_rows * grid->group; i++)
            if (all[i] < own)
                smaller[all[i] + 128] = true;
        for (int i = 0; i < 256; i++)
            n += smaller[i];
        point |= n << grid->bits * j;
    }
    return point;
}

static void
each_row_is_found_by_its_point(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_GRIDS; i++) {
        const struct gb_grid_map *map = gb_grid_map(grids[i].type);
        const uint16_t *neighbours;

        assert_non_null(map);
        for (size_t row = 0; row < grids[i].n_rows; row += 5)
            assert_int_equal(gb_grid_find(map, row_point(&grids[i], row),
                                          &neighbours),
                             row);
    }
}

static int
distance(const struct grid *grid, unsigned a, unsigned b)
{
    int sum = 0;

    for (size_t j = 0; j < grid->group; j++) {
        const int diff =
            2 * ((int)level(grid, a, j) - (int)level(grid, b, j));

        sum += diff * diff;
    }
    return sum;
}

/* Does LIST hold the rows at the nearest distances from POINT, all of them and
 * no others, in the order of distance and then of number? */
static void
check_neighbours(const struct grid *grid, const unsigned *points,
                 unsigned point, const uint16_t *list)
{
    int last_distance = 0, last_row = -1, n_distances = 0;
    size_t n_near = 0;

    assert_true(list[0] > 0);
    for (int i = 1; i <= list[0]; i++) {
        const int d = distance(grid, points[list[i]], point);

        if (d > last_distance) {
            n_distances++;
            last_row = -1;
        }
        assert_true(d >= last_distance);
        assert_true(list[i] > last_row);
        last_distance = d;
        last_row = list[i];
    }
    assert_int_equal(n_distances, grid->nearest);
    for (size_t row = 0; row < grid->n_rows; row++)
        n_near += distance(grid, points[row], point) <= last_distance;
    assert_int_equal(n_near, list[0]);
}

static void
neighbours_are_the_rows_at_the_nearest_distances(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_GRIDS; i++) {
        const struct grid *grid = &grids[i];
        const struct gb_grid_map *map = gb_grid_map(grid->type);
        unsigned points[2048];
        int n_rows = 0;

        for (size_t row = 0; row < grid->n_rows; row++)
            points[row] = row_point(grid, row);
        for (unsigned point = 0; point < 1u << grid->bits * grid->group;
             point++) {
            const uint16_t *list;
            bool is_point = true;
            int row;

            for (size_t j = 0; j < grid->group; j++)
                is_point &= level(grid, point, j) < grid->n_levels;
            if (!is_point)
                continue;
            row = gb_grid_find(map, point, &list);
            if (row >= 0) {
                assert_int_equal(points[row], point);
                n_rows++;
            } else if (point % 7 == 0) {
                check_neighbours(grid, points, point, list);
            }
        }
        assert_int_equal(n_rows, grid->n_rows);
    }
}

static void
types_without_a_grid_have_no_map(void **state)
{
    (void)state;
    assert_false(gb_grid_has_map(GGML_TYPE_Q4_0));
    assert_null(gb_grid_map(GGML_TYPE_Q4_0));
    assert_null(gb_grid_map(GGML_TYPE_COUNT));
    assert_ptr_equal(gb_grid_map(GGML_TYPE_IQ1_S),
                     gb_grid_map(GGML_TYPE_IQ1_M));
}

/* Fails the allocation after *DATA others. */
static bool
fail_after(void *data)
{
    int *left = data;

    return (*left)-- == 0;
}

static void
a_map_without_memory_is_not_there_and_made_later(void **state)
{
    static const float x[256], importance[256];
    uint8_t blocks[50];

    (void)state;
    ggml_quantize_free();
    ggml_log_set(gb_sink_ignore, NULL);
    for (int n = 0; n < 3; n++) {
        int left = n;

        gb_mem_set_fault(fail_after, &left);
        assert_null(gb_grid_map(GGML_TYPE_IQ1_S));
        left = n;
        assert_int_equal(ggml_quantize_chunk(GGML_TYPE_IQ1_S, x, blocks, 0, 1,
                                             256, importance),
                         0);
        gb_mem_set_fault(NULL, NULL);
    }
    ggml_log_set(NULL, NULL);
    assert_non_null(gb_grid_map(GGML_TYPE_IQ1_S));
}

static int
free_maps(void **state)
{
    (void)state;
    ggml_quantize_free();
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_are_the_published_ones),
        cmocka_unit_test(the_eighth_sign_makes_their_number_even),
        cmocka_unit_test(each_row_is_found_by_its_point),
        cmocka_unit_test(neighbours_are_the_rows_at_the_nearest_distances),
        cmocka_unit_test(types_without_a_grid_have_no_map),
        cmocka_unit_test(a_map_without_memory_is_not_there_and_made_later),
    };

    return cmocka_run_group_tests_name("grids", tests, NULL, free_maps);
}
