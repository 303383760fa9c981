/* SPDX-License-Identifier: MIT */
/*
 * tests/type/iq.c - quantising the formats that point into grids.
 *
 * How large their errors are is seen in quantize.c.
 */
#include "lib/base/mem.h"
#include "lib/type/grid.h"
#include "lib/type/type.h"
#include "tests/util/random.h"
#include "tests/util/sink.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define N         256 /* values in a block */
#define MAX_BYTES 110 /* of one */

static const enum ggml_type types[] = {
    GGML_TYPE_IQ1_S, GGML_TYPE_IQ1_M,   GGML_TYPE_IQ2_XXS, GGML_TYPE_IQ2_XS,
    GGML_TYPE_IQ2_S, GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ3_S,
};

#define N_TYPES (sizeof(types) / sizeof(types[0]))

static float ones[N], zeros[N];

static int
make_weights(void **state)
{
    (void)state;
    ggml_log_set(gb_sink_ignore, NULL);
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    return 0;
}

static int
free_maps(void **state)
{
    (void)state;
    ggml_quantize_free();
    return 0;
}

/* None of them is zero. */
static void
make_values(struct gb_random *random, float *x)
{
    for (int i = 0; i < N; i++) {
        x[i] = gb_random_float(random, 0.01f, 1);
        if (gb_random_u64(random) >> 63)
            x[i] = -x[i];
    }
}

static void
there_and_back(enum ggml_type type, const float *x, const float *importance,
               float *y)
{
    uint8_t block[MAX_BYTES];

    gb_type_get(type)->quantize(x, block, N, importance);
    gb_type_get(type)->to_float(block, y, N);
}

static void
signs_are_kept_where_there_is_room_for_them(void **state)
{
    static const struct {
        enum ggml_type type;
        bool is_even; /* of eight signs the last is what makes it so */
    } rows[] = {
        { GGML_TYPE_IQ2_XXS, true },  { GGML_TYPE_IQ2_XS, true },
        { GGML_TYPE_IQ2_S, false },   { GGML_TYPE_IQ3_XXS, true },
        { GGML_TYPE_IQ3_S, false },
    };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(1));
    for (int i = 0; i < 100; i++) {
        const enum ggml_type type = rows[i % 5].type;
        float x[N], y[N];

        make_values(&random, x);
        there_and_back(type, x, ones, y);
        for (int g = 0; g < N; g += 8) {
            int n_negative = 0, n_wrong = 0;

            for (int j = g; j < g + 8; j++) {
                n_negative += x[j] < 0;
                n_wrong += (x[j] < 0) != (y[j] < 0);
            }
            if (n_wrong != (rows[i % 5].is_even && n_negative % 2 != 0))
                fail_msg("%s: %d signs of eight with %d negative are wrong",
                         ggml_type_name(type), n_wrong, n_negative);
        }
    }
}

/* Without importance nothing that sub-blocks of iq3 hold depends on others but
 * on the largest. */
static void
an_empty_sub_block_of_iq3_changes_no_other(void **state)
{
    static const enum ggml_type iq3[] = { GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ3_S };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(2));
    for (int i = 0; i < 16; i++) {
        const enum ggml_type type = iq3[i / 8];
        const int hole = i % 8, largest = (hole + 3) % 8;
        float x[N], whole[N], y[N];

        make_values(&random, x);
        for (int j = 0; j < 32; j++)
            x[32 * largest + j] *= 3;
        there_and_back(type, x, NULL, whole);
        memset(x + 32 * hole, 0, 32 * sizeof(*x));
        there_and_back(type, x, NULL, y);
        memcpy(y + 32 * hole, whole + 32 * hole, 32 * sizeof(*y));
        if (memcmp(whole, y, sizeof(y)) != 0)
            fail_msg("%s, sub-block %d", ggml_type_name(type), hole);
    }
}

/*
 * There is no code for zero; the least is a shift of 1/8 times a fifteenth of
 * the largest scale, and that scale is no more than 8/7 of the largest value,
 * but for what the block's own scale is stretched by.
 */
static void
an_empty_sub_block_of_iq1_is_nearly_zero(void **state)
{
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(3));
    for (int i = 0; i < 16; i++) {
        const int hole = i / 2;
        float x[N], y[N];

        make_values(&random, x);
        memset(x + 32 * hole, 0, 32 * sizeof(*x));
        there_and_back(types[i % 2], x, ones, y);
        for (int j = 32 * hole; j < 32 * hole + 32; j++)
            if (!(fabsf(y[j]) <= 1.0f / 64))
                fail_msg("%s: value %d is %g", ggml_type_name(types[i % 2]), j,
                         (double)y[j]);
    }
}

static void
a_block_without_weight_is_a_good_one(void **state)
{
    struct gb_random random;
    float x[N];

    (void)state;
    gb_random_init(&random, gb_test_seed(4));
    make_values(&random, x);
    for (size_t t = 0; t < N_TYPES; t++) {
        const size_t size = ggml_type_size(types[t]);
        uint8_t block[MAX_BYTES];
        float y[N];

        gb_type_get(types[t])->quantize(x, block, N, zeros);
        assert_true(ggml_validate_row_data(types[t], block, size));
        gb_type_get(types[t])->to_float(block, y, N);
        for (int i = 0; i < N; i++)
            assert_true(fabsf(y[i]) <= 4);
    }
}

/* Also where a scale is beyond what a half can hold, or is no number. */
static void
blocks_are_valid_whatever_the_values(void **state)
{
    static const float specials[] = { NAN,     INFINITY, -INFINITY, FLT_MAX,
                                      -1e30f,  1e20f,    1e8f,      0,
                                      1e-20f,  1e-42f,   -1e-10f };
    static const int n_specials = sizeof(specials) / sizeof(specials[0]);
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(5));
    for (int i = 0; i < 3 * 4 * n_specials; i++) {
        const float special = specials[i % n_specials];
        const int stride = 1 << 3 * (i / n_specials % 4);
        float x[N], weights[N];

        make_values(&random, x);
        memcpy(weights, ones, sizeof(weights));
        for (int j = stride - 1; j < N; j += stride) {
            if (i % 3 != 0)
                x[j] = special;
            if (i % 3 != 1)
                weights[j] = special;
        }
        for (size_t t = 0; t < N_TYPES; t++) {
            const size_t size = ggml_type_size(types[t]);
            uint8_t block[MAX_BYTES];

            gb_type_get(types[t])->quantize(x, block, N, weights);
            if (!ggml_validate_row_data(types[t], block, size))
                fail_msg("%s with %g", ggml_type_name(types[t]),
                         (double)special);
            gb_type_get(types[t])->quantize(x, block, N, NULL);
            if (!ggml_validate_row_data(types[t], block, size))
                fail_msg("%s with %g, no importance", ggml_type_name(types[t]),
                         (double)special);
        }
    }
}

static void
the_row_quantiser_is_the_one_without_importance(void **state)
{
    struct gb_random random;
    float x[N];

    (void)state;
    gb_random_init(&random, gb_test_seed(6));
    make_values(&random, x);
    for (size_t t = 0; t < N_TYPES; t++) {
        const struct gb_type *type = gb_type_get(types[t]);
        uint8_t a[MAX_BYTES], b[MAX_BYTES];

        if (type->from_float == NULL)
            continue;
        type->from_float(x, a, N);
        type->quantize(x, b, N, NULL);
        assert_memory_equal(a, b, type->bytes);
    }
}

static bool
fail_always(void *data)
{
    (void)data;
    return true;
}

static void
without_memory_for_a_map_a_row_is_zeros(void **state)
{
    struct gb_random random;
    float x[N];

    (void)state;
    gb_random_init(&random, gb_test_seed(7));
    make_values(&random, x);
    for (size_t t = 0; t < N_TYPES; t++) {
        static const uint8_t nothing[MAX_BYTES];
        const struct gb_type *type = gb_type_get(types[t]);
        uint8_t block[MAX_BYTES];

        ggml_quantize_free();
        gb_mem_set_fault(fail_always, NULL);
        memset(block, 0xA5, sizeof(block));
        type->quantize(x, block, N, ones);
        gb_mem_set_fault(NULL, NULL);
        assert_memory_equal(block, nothing, type->bytes);
    }
}

static unsigned
level(const struct gb_grid_map *map, unsigned point, int j)
{
    return point >> map->bits * j & ((1u << map->bits) - 1);
}

static double
cost(const struct gb_grid_map *map, int row, const float *x, const float *w,
     const float *value)
{
    double sum = 0;

    for (int j = 0; j < map->group; j++) {
        const double diff =
            (double)value[level(map, map->points[row], j)] - (double)x[j];

        sum += (double)w[j] * diff * diff;
    }
    return sum;
}

/* Its terms are rounded ten times or so, each by 2^-24 of it at most. */
static void
the_nearest_row_of_a_list_costs_least(void **state)
{
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(8));
    for (int i = 0; i < 7000; i++) {
        const enum ggml_type type = types[i % (int)N_TYPES];
        const struct gb_grid_map *map = gb_grid_map(type);
        const uint16_t *neighbours;
        float x[8], w[8], value[8];
        unsigned point = 0;
        double least = DBL_MAX;
        int best;

        assert_non_null(map);
        for (int j = 0; j < 8; j++) {
            x[j] = gb_random_float(&random, -1, 16);
            w[j] = gb_random_float(&random, 0.1f, 1);
            value[j] = (float)(2 * j + 1) * (map->group == 8 ? 3 : 1);
        }
        for (int j = 0; j < map->group; j++)
            point |= (unsigned)(gb_random_u64(&random) >> 33) %
                     (unsigned)map->n_levels << map->bits * j;
        if (gb_grid_find(map, point, &neighbours) >= 0)
            continue;
        best = gb_grid_nearest(map, neighbours, x, w, value);
        for (int k = 1; k <= neighbours[0]; k++)
            least = fmin(least, cost(map, neighbours[k], x, w, value));
        if (cost(map, best, x, w, value) > least * (1 + 20 * 0x1p-24))
            fail_msg("%s: row %d for point %u", ggml_type_name(type), best,
                     point);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_are_kept_where_there_is_room_for_them),
        cmocka_unit_test(an_empty_sub_block_of_iq3_changes_no_other),
        cmocka_unit_test(an_empty_sub_block_of_iq1_is_nearly_zero),
        cmocka_unit_test(a_block_without_weight_is_a_good_one),
        cmocka_unit_test(blocks_are_valid_whatever_the_values),
        cmocka_unit_test(the_row_quantiser_is_the_one_without_importance),
        cmocka_unit_test(without_memory_for_a_map_a_row_is_zeros),
        cmocka_unit_test(the_nearest_row_of_a_list_costs_least),
    };

    return cmocka_run_group_tests_name("formats with grids", tests,
                                       make_weights, free_maps);
}
