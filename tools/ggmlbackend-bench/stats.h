/* SPDX-License-Identifier: MIT */
/*
 * bench/stats.h - what samples of one quantity say.
 */
#ifndef TOOLS_BENCH_STATS_H
#define TOOLS_BENCH_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* Values in the order in which they were taken; zeroed is none. */
struct samples {
    double *at;
    size_t n;
    size_t room;
};

/* Append; false, after a message, without memory. */
bool samples_push(struct samples *samples, double value);
void samples_clear(struct samples *samples);

/*
 * The value below which the part Q, 0 to 1, of the samples lies; between two of
 * them it is interpolated.  0 without samples.
 *
 * Source  "Sample Quantiles in Statistical Packages" (The American Statistician
 *         50, 1996), definition 7.
 */
double samples_quantile(const struct samples *samples, double q);
double samples_median(const struct samples *samples);

/* Half the distance of the quartiles, as a part of the median. */
double samples_spread(const struct samples *samples);

/* What a rank test found. */
struct rank_test {
    double u; /* pairs in which the first is larger, ties count one half */
    double p; /* how probable one as far from the middle is by chance alone */
};

/*
 * The two-sided test of Mann and Whitney: are A's values larger, or smaller,
 * than B's?  It compares ranks, so outliers weigh no more than others.  P is
 * exact up to 25 samples a side without ties, else that of a normal
 * distribution with corrections for ties and continuity; 1 where a side is
 * empty, and NaN, after a message, without memory.
 *
 * Source  "On a Test of Whether one of Two Random Variables is Stochastically
 *         Larger than the Other" (The Annals of Mathematical Statistics 18,
 *         1947).
 */
struct rank_test samples_compare(const struct samples *a,
                                 const struct samples *b);

#endif
