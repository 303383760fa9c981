/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/bench/stats.c - the statistics of ggmlbackend-bench against
 * published examples.
 */
#include "tools/ggmlbackend-bench/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* The array ITEMS as samples, which nobody grows or frees. */
#define SAMPLES(items) \
    { (items), sizeof(items) / sizeof((items)[0]), 0 }

static void
assert_near(double value, double wanted, double bound)
{
    if (!(fabs(value - wanted) <= bound))
        fail_msg("%.9g is not %.9g within %g", value, wanted, bound);
}

/* By definition 7: (n - 1) q + 1 is the place. */
static void
quantiles_are_interpolated(void **state)
{
    double items[] = { 4.0, 1.0, 3.0, 2.0 };
    const struct samples s = SAMPLES(items);

    (void)state;
    assert_near(samples_quantile(&s, 0.0), 1.0, 0.0);
    assert_near(samples_quantile(&s, 0.25), 1.75, 1e-15);
    assert_near(samples_median(&s), 2.5, 1e-15);
    assert_near(samples_quantile(&s, 1.0), 4.0, 0.0);
    assert_near(samples_spread(&s), 0.3, 1e-15);
}

static void
equal_samples_have_their_value_and_no_spread(void **state)
{
    double items[] = { 7.0, 7.0, 7.0 };
    const struct samples s = SAMPLES(items), none = { 0 };

    (void)state;
    assert_near(samples_median(&s), 7.0, 0.0);
    assert_near(samples_spread(&s), 0.0, 0.0);
    assert_near(samples_median(&none), 0.0, 0.0);
}

/*
 * Hollander and Wolfe, "Nonparametric Statistical Methods" (1973), page 69:
 * permeability of a membrane at term and at 12 to 26 weeks.  35 pairs, and a
 * one-sided P of 0.1272.
 */
static void
small_samples_are_counted_out(void **state)
{
    double term[] = { 0.80, 0.83, 1.89, 1.04, 1.45,
                      1.38, 1.91, 1.64, 0.73, 1.46 };
    double early[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
    const struct samples a = SAMPLES(term), b = SAMPLES(early);

    (void)state;
    assert_near(samples_compare(&a, &b).u, 35.0, 0.0);
    assert_near(samples_compare(&a, &b).p, 2.0 * 0.1272, 0.0001);
    assert_near(samples_compare(&b, &a).u, 15.0, 0.0);
    assert_near(samples_compare(&b, &a).p, 2.0 * 0.1272, 0.0001);
}

/*
 * Chambers, Cleveland, Kleiner and Tukey, "Graphical Methods for Data Analysis"
 * (1983), ozone in New York in May and in August, with ties.  127.5 pairs, P =
 * 0.0001208 by the normal distribution, as R's manual of this test has it.
 */
static void
ties_are_corrected_for(void **state)
{
    double may[] = { 41, 36, 12, 18, 28, 23, 19, 8,  7,  16, 11, 14, 18,
                     14, 34, 6,  30, 11, 1,  11, 4,  32, 23, 45, 115, 37 };
    double august[] = { 39, 9,  16, 78, 35, 66,  122, 89,  110,
                        44, 28, 65, 22, 59, 23,  31,  44,  21,
                        9,  45, 168, 73, 76, 118, 84,  85 };
    const struct samples a = SAMPLES(may), b = SAMPLES(august);

    (void)state;
    assert_near(samples_compare(&a, &b).u, 127.5, 0.0);
    assert_near(samples_compare(&a, &b).p, 0.0001208, 5e-8);
}

/* The most that five against five can say: 2 of the 252 ways to choose. */
static void
apart_samples_have_the_smallest_probability(void **state)
{
    double low[] = { 1, 2, 3, 4, 5 }, high[] = { 6, 7, 8, 9, 10 };
    const struct samples a = SAMPLES(low), b = SAMPLES(high), none = { 0 };

    (void)state;
    assert_near(samples_compare(&a, &b).p, 2.0 / 252.0, 1e-15);
    assert_near(samples_compare(&a, &none).p, 1.0, 0.0);
    assert_near(samples_compare(&none, &a).p, 1.0, 0.0);
}

static void
what_is_the_same_is_no_difference(void **state)
{
    double items[] = { 1, 2, 3, 4, 5 }, one[] = { 2, 2, 2 };
    const struct samples a = SAMPLES(items), b = SAMPLES(one);

    (void)state;
    assert_near(samples_compare(&a, &a).p, 1.0, 0.0);
    assert_near(samples_compare(&b, &b).p, 1.0, 0.0);
}

/*
 * 26 below 26: no pair, where 338 are expected with a variance of 26 * 26 * 53 /
 * 12; with half a pair for the steps that is 6.177 deviations.
 */
static void
many_samples_are_normally_distributed(void **state)
{
    double low[26], high[26];
    const struct samples a = SAMPLES(low), b = SAMPLES(high);

    (void)state;
    for (int i = 0; i < 26; i++) {
        low[i] = i;
        high[i] = 26 + i;
    }
    assert_near(samples_compare(&a, &b).u, 0.0, 0.0);
    assert_near(samples_compare(&a, &b).p, 6.548e-10, 1e-12);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_interpolated),
        cmocka_unit_test(equal_samples_have_their_value_and_no_spread),
        cmocka_unit_test(small_samples_are_counted_out),
        cmocka_unit_test(ties_are_corrected_for),
        cmocka_unit_test(apart_samples_have_the_smallest_probability),
        cmocka_unit_test(what_is_the_same_is_no_difference),
        cmocka_unit_test(many_samples_are_normally_distributed),
    };

    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
