/* SPDX-License-Identifier: MIT */
/*
 * bench/stats.c - what samples of one quantity say.
 */
#include "tools/ggmlbackend-bench/stats.h"

#include "tools/common/tool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Most samples a side for which probabilities are counted out. */
#define EXACT_MAX 25

bool
samples_push(struct samples *s, double value)
{
    if (s->n == s->room) {
        const size_t room = s->room == 0 ? 16 : s->room * 2;
        double *at = realloc(s->at, room * sizeof(*at));

        if (at == NULL)
            return tool_error("no memory for samples");
        s->at = at;
        s->room = room;
    }
    s->at[s->n++] = value;
    return true;
}

void
samples_clear(struct samples *s)
{
    free(s->at);
    memset(s, 0, sizeof(*s));
}

/*
 * How many samples are below X, plus half of those that are X.
 */
static double
count_below(const struct samples *s, double x)
{
    double n = 0.0;

    for (size_t i = 0; i < s->n; i++)
        n += s->at[i] < x ? 1.0 : s->at[i] == x ? 0.5 : 0.0;
    return n;
}

/* The sample of rank K, from 0 on; there are few, so nothing is sorted. */
static double
sample_of_rank(const struct samples *s, size_t k)
{
    double found = s->at[0];

    for (size_t i = 0; i < s->n; i++) {
        size_t below = 0, equal = 0;

        for (size_t j = 0; j < s->n; j++) {
            below += s->at[j] < s->at[i];
            equal += s->at[j] == s->at[i];
        }
        if (below <= k && k < below + equal)
            found = s->at[i];
    }
    return found;
}

double
samples_quantile(const struct samples *s, double q)
{
    const double place = s->n == 0 ? 0.0 : q * (double)(s->n - 1);
    const size_t rank = (size_t)place;
    double low, high;

    if (s->n == 0)
        return 0.0;
    low = sample_of_rank(s, rank);
    high = rank + 1 < s->n ? sample_of_rank(s, rank + 1) : low;
    return low + (high - low) * (place - (double)rank);
}

double
samples_median(const struct samples *s)
{
    return samples_quantile(s, 0.5);
}

double
samples_spread(const struct samples *s)
{
    const double median = samples_median(s);

    return median == 0.0 ? 0.0
                         : (samples_quantile(s, 0.75) -
                            samples_quantile(s, 0.25)) / 2.0 / median;
}

/* The sum of t^3 - t over all groups of t equal values in A and B together. */
static double
sum_of_ties(const struct samples *a, const struct samples *b)
{
    const struct samples *sides[] = { a, b };
    double sum = 0.0;

    /* Each of a group's t members brings t^2 - 1. */
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < sides[side]->n; i++) {
            const double x = sides[side]->at[i];
            double t = 0.0;

            for (size_t j = 0; j < a->n; j++)
                t += a->at[j] == x;
            for (size_t j = 0; j < b->n; j++)
                t += b->at[j] == x;
            sum += t * t - 1.0;
        }
    return sum;
}

/*
 * The probability of at most U, by counting: of all ways to choose N of the
 * ranks 0 to N + M - 1, how many have a sum that exceeds the smallest one by at
 * most U?  NaN, after a message, without memory.
 */
static double
exact_probability(size_t n, size_t m, double u)
{
    const size_t width = n * m + n * (n - 1) / 2 + 1;
    const size_t least = n * (n - 1) / 2;
    double *ways = calloc((n + 1) * width, sizeof(*ways));
    double below = 0.0, all = 0.0;

    if (ways == NULL) {
        tool_error("no memory for a test of ranks");
        return NAN;
    }
    ways[0] = 1.0;
    for (size_t rank = 0; rank < n + m; rank++)
        for (size_t k = n; k > 0; k--)
            for (size_t sum = rank; sum < width; sum++)
                ways[k * width + sum] += ways[(k - 1) * width + sum - rank];
    for (size_t sum = least; sum < width; sum++) {
        all += ways[n * width + sum];
        if ((double)(sum - least) <= u)
            below += ways[n * width + sum];
    }
    free(ways);
    return below / all;
}

static double
normal_probability(double n, double m, double u, double ties)
{
    const double all = n + m;
    const double variance =
        n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    const double distance = fabs(u - n * m / 2.0) - 0.5;

    if (variance <= 0.0 || distance <= 0.0)
        return 1.0;
    return erfc(distance / sqrt(2.0 * variance));
}

struct rank_test
samples_compare(const struct samples *a, const struct samples *b)
{
    const double n = (double)a->n, m = (double)b->n;
    struct rank_test test = { 0.0, 1.0 };
    double ties, least, p;

    if (a->n == 0 || b->n == 0)
        return test;
    for (size_t i = 0; i < a->n; i++)
        test.u += count_below(b, a->at[i]);
    ties = sum_of_ties(a, b);
    least = fmin(test.u, n * m - test.u);
    if (ties == 0.0 && a->n <= EXACT_MAX && b->n <= EXACT_MAX)
        p = 2.0 * exact_probability(a->n, b->n, least);
    else
        p = normal_probability(n, m, test.u, ties);
    test.p = p > 1.0 ? 1.0 : p; /* not fmin, which takes 1 for NaN */
    return test;
}
