/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/estimate.c - how long a dispatch takes: longer on a card of few
 * cores, and never so short that a submission is a watchdog's matter.
 */
#include "backends/vulkan/device/estimate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct gb_vk_card card = {
    .type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
};

static uint64_t
on(uint32_t cores, uint64_t bytes, uint64_t operations)
{
    card.cores = cores;
    return gb_vk_estimate(&card, bytes, operations, 100000);
}

/* A product of 4096 by 14336 by 2048, at 240,518,168,576 operations, takes a card
 * of 132 cores 10 ms: it is not cut.  Where nobody knows the cores it is. */
static void
a_large_card_does_a_product_at_once(void **state)
{
    const uint64_t operations = UINT64_C(2) * 4096 * 14336 * 2048;

    (void)state;
    assert_true(on(132, 0, operations) < GB_VK_MOST_NS / 2);
    assert_true(on(132, 0, operations) > 20 * 1000 * 1000);
    assert_true(on(0, 0, operations) > 5 * GB_VK_MOST_NS);
}

static void
a_card_of_few_cores_is_as_slow_as_one_without_a_number(void **state)
{
    (void)state;
    for (uint32_t cores = 1; cores <= 8; cores++)
        assert_int_equal(on(cores, 1 << 30, UINT64_C(1) << 36),
                         on(0, 1 << 30, UINT64_C(1) << 36));
    assert_true(on(9, 0, UINT64_C(1) << 36) < on(8, 0, UINT64_C(1) << 36));
    assert_true(on(9, 1 << 30, 0) < on(8, 1 << 30, 0));
}

/* Few work groups have few cores. */
static void
one_work_group_has_one_core(void **state)
{
    const uint64_t operations = UINT64_C(1) << 34;

    (void)state;
    card.cores = 132;
    assert_true(gb_vk_estimate(&card, 0, operations, 1) >
                gb_vk_estimate(&card, 0, operations, 188) * 100);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_card_does_a_product_at_once),
        cmocka_unit_test(a_card_of_few_cores_is_as_slow_as_one_without_a_number),
        cmocka_unit_test(one_work_group_has_one_core),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
