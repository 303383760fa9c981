/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/card.c - what a program does with a card beside computing on it:
 * it begins anew again and again, takes all memory, divides its work, and has
 * CUDA of its own.
 *
 * By public headers alone, and the same on a real card as on the emulated one.
 * With GGML_BACKEND_PATH it is about the cards that the module there finds, and
 * nobody else may use their memory meanwhile; without, about an emulated card.
 */
#include "config.h"

#include "tests/cuda/card.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_the_same_after_100_rounds),
        cmocka_unit_test(too_large_is_told_and_goes_on),
        cmocka_unit_test(rows_over_two_devices),
        cmocka_unit_test(layers_over_two_devices),
        cmocka_unit_test(copies_between_devices_are_right),
        cmocka_unit_test(a_programs_own_cuda_goes_on),
    };

    return cmocka_run_group_tests_name("a card and a program", tests, NULL,
                                       NULL);
}
