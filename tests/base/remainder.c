/* SPDX-License-Identifier: MIT */
/*
 * tests/base/remainder.c - remainders without a division are remainders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/remainder.h"

#include "tests/util/random.h"

static void
check(uint64_t n, uint64_t by)
{
    const uint64_t got = gb_remainder(n, gb_divisor(by));

    if (got != n % by)
        fail_msg("%llu modulo %llu gives %llu", (unsigned long long)n,
                 (unsigned long long)by, (unsigned long long)got);
}

/* Quotients are rounded wrongly beside multiples, if anywhere. */
static void
multiples_and_their_neighbours_are_right(void **state)
{
    static const uint64_t divisors[] = {
        1, 2, 3, 5, 7, 4099, 8209, 2147483659u, UINT64_C(1) << 63,
        UINT64_MAX - 1, UINT64_MAX
    };

    (void)state;
    for (size_t i = 0; i < sizeof(divisors) / sizeof(divisors[0]); i++) {
        const uint64_t by = divisors[i], last = UINT64_MAX / by * by;

        for (uint64_t k = 0; k < 3; k++) {
            check(k, by);
            check(by - 1 + k, by);
            check(last - 1 + k, by);
            check(UINT64_MAX - k, by);
        }
    }
}

static void
any_number_is_right(void **state)
{
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(1));
    for (int i = 0; i < 1000000; i++) {
        const uint64_t n = gb_random_u64(&random) >> i % 64;
        const uint64_t by = gb_random_u64(&random) >> i / 64 % 64;

        check(n, by > 0 ? by : 1);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiples_and_their_neighbours_are_right),
        cmocka_unit_test(any_number_is_right),
    };

    return cmocka_run_group_tests_name("remainders", tests, NULL, NULL);
}
