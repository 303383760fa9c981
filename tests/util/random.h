/* SPDX-License-Identifier: MIT */
/*
 * tests/util/random.h - random numbers that are the same on every machine.
 */
#ifndef GB_TESTS_UTIL_RANDOM_H
#define GB_TESTS_UTIL_RANDOM_H

#include <stdint.h>

struct gb_random {
    uint64_t state;
};

/* Equal seeds give equal numbers. */
void gb_random_init(struct gb_random *r, uint64_t seed);

uint64_t gb_random_u64(struct gb_random *r);

/* Even over [LO, HI), in steps of 2^-24 of its width. */
float gb_random_float(struct gb_random *r, float lo, float hi);

/*
 * The seed of a test: GGMLBACKEND_TEST_SEED if it is set, else DEFAULT_SEED.
 * It is written to stderr, for the log of a test that fails.
 */
uint64_t gb_test_seed(uint64_t default_seed);

#endif
