/* SPDX-License-Identifier: MIT */
/*
 * tests/util/random.c - random numbers that are the same on every machine.
 *
 * SplitMix64, from Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators" (OOPSLA 2014), figure 16.
 */
#include "tests/util/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void
gb_random_init(struct gb_random *r, uint64_t seed)
{
    r->state = seed;
}

uint64_t
gb_random_u64(struct gb_random *r)
{
    uint64_t z;

    r->state += 0x9e3779b97f4a7c15u;
    z = r->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

float
gb_random_float(struct gb_random *r, float lo, float hi)
{
    const float unit = (float)(gb_random_u64(r) >> 40) / 16777216.0f;
    const float value = lo + (hi - lo) * unit;

    /* Rounding may reach the end that does not belong to the range. */
    return value < hi ? value : lo;
}

uint64_t
gb_test_seed(uint64_t default_seed)
{
    const char *text = getenv("GGMLBACKEND_TEST_SEED");
    const uint64_t seed = text != NULL && *text != '\0'
        ? strtoull(text, NULL, 0) : default_seed;

    fprintf(stderr, "# seed %" PRIu64 "\n", seed);
    return seed;
}
