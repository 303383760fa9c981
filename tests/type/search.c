/* SPDX-License-Identifier: MIT */
/*
 * tests/type/search.c - what the searches for scales promise.
 */
#include "lib/type/search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define N       32
#define N_CASES 200

static void
rounding_is_to_nearest_even_within_bounds(void **state)
{
    static const struct {
        float v;
        int rounded;
    } cases[] = {
        { 0.0f, 0 },     { 0.5f, 0 },     { 1.5f, 2 },     { 2.5f, 2 },
        { -0.5f, 0 },    { -1.5f, -2 },   { -2.5f, -2 },   { 0.50000006f, 1 },
        { 63.4f, 63 },   { 64.0f, 63 },   { 1e30f, 63 },   { -64.6f, -64 },
        { -1e30f, -64 }, { INFINITY, 63 }, { -INFINITY, -64 }, { NAN, -64 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(gb_round(cases[i].v, -64, 63), cases[i].rounded);
}

static void
rounding_away_takes_halves_outwards(void **state)
{
    static const struct {
        float v;
        int rounded;
    } cases[] = {
        { 0.5f, 1 },          { -0.5f, -1 },   { 1.5f, 2 },     { 2.5f, 3 },
        { -2.5f, -3 },        { 126.5f, 127 }, { 127.4f, 127 }, { 1e9f, 127 },
        { 0.49999997f, 0 },   { -0.49999997f, 0 },
        { -INFINITY, -127 },  { NAN, -127 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(gb_round_away(cases[i].v, 127), cases[i].rounded);
}

/* Values and weights of case NUMBER; the sign of some weights' values turns. */
static void
make_case(int number, float *x, float *w)
{
    for (int i = 0; i < N; i++) {
        const double angle = 0.37 * i * (number + 1) + number;

        x[i] = (float)(sin(angle) + 0.5 * sin(angle * angle));
        w[i] = (float)(1.1 + cos(3 * angle));
    }
}

/* sum(w (x - scale * (code - first) + min)^2) */
static double
squared_error(const float *x, const float *w, const uint8_t *codes,
              double scale, int first, double min)
{
    double sum = 0;

    for (int i = 0; i < N; i++) {
        const double diff = (double)x[i] - scale * (codes[i] - first) + min;

        sum += (double)w[i] * diff * diff;
    }
    return sum;
}

/* Is SCALE the best there is for these codes?  The bound is that of float sums
 * of 32 terms. */
static void
expect_least_squares(const float *x, const float *w, const uint8_t *codes,
                     int first, float scale)
{
    double xq = 0, qq = 0;

    for (int i = 0; i < N; i++) {
        const double q = codes[i] - first;

        xq += (double)w[i] * (double)x[i] * q;
        qq += (double)w[i] * q * q;
    }
    assert_true(fabs((double)scale - xq / qq) <= 4e-6 * fabs(xq / qq));
}

static void
a_symmetric_scale_is_the_best_of_its_codes(void **state)
{
    static const int tops[] = { 4, 8, 16, 32 };

    (void)state;
    for (int number = 0; number < N_CASES; number++) {
        const int top = tops[number % 4];
        float x[N], w[N], scale;
        uint8_t codes[N], plain[N];
        double d;

        make_case(number, x, w);
        scale = gb_search_sym(N, top, x, w, codes);
        expect_least_squares(x, w, codes, top, scale);
        for (int i = 0; i < N; i++)
            assert_in_range(codes[i], 0, 2 * top - 1);

        /* And no worse than to make the largest value the last code. */
        d = (double)gb_search_largest(N, x) / -top;
        for (int i = 0; i < N; i++)
            plain[i] =
                (uint8_t)(gb_round((float)(x[i] / d), -top, top - 1) + top);
        assert_true(squared_error(x, w, codes, (double)scale, top, 0) <=
                    squared_error(x, w, plain, d, top, 0) * 1.00001);
    }
}

static void
moves_end_with_the_best_scale_of_their_codes(void **state)
{
    (void)state;
    for (int number = 0; number < N_CASES; number++) {
        float x[N], w[N], scale;
        uint8_t codes[N];

        make_case(number, x, w);
        for (int i = 0; i < N; i++)
            w[i] = x[i] * x[i];
        scale = gb_search_sym_by_moves(N, 4, x, codes);
        expect_least_squares(x, w, codes, 4, scale);

        make_case(number, x, w);
        for (int i = 0; i < N; i++)
            x[i] = fabsf(x[i]);
        scale = gb_search_pos(N, 15, x, w, codes);
        expect_least_squares(x, w, codes, 0, scale);
        for (int i = 0; i < N; i++)
            assert_in_range(codes[i], 0, 15);
    }
}

static void
values_on_a_raster_are_found_exactly(void **state)
{
    (void)state;
    for (int number = 1; number < N_CASES; number++) {
        const float step = ldexpf(1.0f + (float)(number % 8) / 8, number % 9);
        float x[N], w[N], min;
        uint8_t codes[N], expected[N];

        for (int i = 0; i < N; i++) {
            expected[i] = (uint8_t)((i * 7 + number) % 16);
            w[i] = 1;
            x[i] = step * (float)(expected[i] - 8);
        }
        assert_true(gb_search_sym(N, 8, x, w, codes) == step);
        assert_memory_equal(codes, expected, N);

        assert_true(
            gb_search_asym(&gb_steps_fine, N, 15, x, w, codes, &min) == step);
        assert_true(min == 8 * step);
        assert_memory_equal(codes, expected, N);

        for (int i = 0; i < N; i++)
            x[i] = step * (float)expected[i];
        assert_true(gb_search_pos(N, 15, x, w, codes) == step);
        assert_memory_equal(codes, expected, N);
    }
}

static void
a_line_is_no_worse_than_that_through_the_ends(void **state)
{
    (void)state;
    for (int number = 0; number < N_CASES; number++) {
        float x[N], w[N], scale, min;
        uint8_t codes[N], plain[N];
        struct gb_range range;
        double low, d;

        make_case(number, x, w);
        for (int i = 0; i < N; i++)
            x[i] += (float)(number % 5 - 2);
        scale = gb_search_asym(&gb_steps_fine, N, 15, x, w, codes, &min);
        assert_true(min >= 0 && scale > 0);

        range = gb_search_range(N, x);
        low = range.min < 0 ? (double)range.min : 0;
        d = ((double)range.max - low) / 15;
        for (int i = 0; i < N; i++)
            plain[i] = (uint8_t)gb_round((float)((x[i] - low) / d), 0, 15);
        assert_true(squared_error(x, w, codes, (double)scale, 0, (double)min) <=
                    squared_error(x, w, plain, d, 0, -low) * 1.00001);
    }
}

static void
zeros_have_neither_scale_nor_codes(void **state)
{
    static const float x[N], w[N];
    uint8_t codes[N], zeros[N] = { 0 };
    float min = 1;

    (void)state;
    memset(codes, 0xA5, N);
    assert_true(gb_search_sym(N, 8, x, NULL, codes) == 0);
    assert_memory_equal(codes, zeros, N);
    memset(codes, 0xA5, N);
    assert_true(gb_search_sym_by_moves(N, 4, x, codes) == 0);
    assert_memory_equal(codes, zeros, N);
    memset(codes, 0xA5, N);
    assert_true(gb_search_asym(&gb_steps_fine, N, 15, x, w, codes, &min) == 0);
    assert_true(min == 0);
    assert_memory_equal(codes, zeros, N);
    memset(codes, 0xA5, N);
    assert_true(gb_search_pos(N, 15, x, w, codes) == 0);
    assert_memory_equal(codes, zeros, N);
}

static void
values_that_are_all_alike_become_a_minimum(void **state)
{
    float x[N], w[N], min;
    uint8_t codes[N], zeros[N] = { 0 };

    (void)state;
    for (int i = 0; i < N; i++) {
        x[i] = -1.25f;
        w[i] = 1;
    }
    assert_true(gb_search_asym(&gb_steps_fine, N, 15, x, w, codes, &min) == 0);
    assert_true(min == 1.25f);
    assert_memory_equal(codes, zeros, N);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_is_to_nearest_even_within_bounds),
        cmocka_unit_test(rounding_away_takes_halves_outwards),
        cmocka_unit_test(a_symmetric_scale_is_the_best_of_its_codes),
        cmocka_unit_test(moves_end_with_the_best_scale_of_their_codes),
        cmocka_unit_test(values_on_a_raster_are_found_exactly),
        cmocka_unit_test(a_line_is_no_worse_than_that_through_the_ends),
        cmocka_unit_test(zeros_have_neither_scale_nor_codes),
        cmocka_unit_test(values_that_are_all_alike_become_a_minimum),
    };

    return cmocka_run_group_tests_name("searches", tests, NULL, NULL);
}
