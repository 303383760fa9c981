/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/divided.c - a model divided over two emulated cards.
 */
#include "config.h"

#include "tests/cuda/emulated.h"
#include "tests/cuda/tiny-model.h"

#include "tools/common/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BOTH DEVICES "0," DEVICES "1"

static void
nothing_is_left(void)
{
    CHECK(emulator.live() == 0);
    CHECK(emulator.memory_used(0) == 0 && emulator.memory_used(1) == 0);
}

static void
answer_on_one_and_two(void)
{
    struct tiny_answer one, two;

    tool_begin("test");
    CHECK(cuda_load() != NULL);
    CHECK(tiny_model_run(DEVICES "0", TINY_TOKENS, &one));
    CHECK(tiny_model_run(BOTH, TINY_TOKENS, &two));
    CHECK(memcmp(&one, &two, sizeof(one)) == 0);
    CHECK(emulator.reports() == 0);
    nothing_is_left();
}

static void
two_cards_say_what_one_says(void **state)
{
    (void)state;
    cuda_case(answer_on_one_and_two, "EMU_DEVICES=2", NULL);
    cuda_case(answer_on_one_and_two, "EMU_DEVICES=2 EMU_PEER=refused", NULL);
}

/* A launch in mid-run fails: no answer, and the next run is right. */
static void
fail_launches(void)
{
    struct tiny_answer right, other;
    uint64_t n_launches;
    int n_failed = 0;

    tool_begin("test");
    CHECK(cuda_load() != NULL);
    emulator.reset();
    CHECK(tiny_model_run(BOTH, TINY_TOKENS, &right));
    n_launches = emulator.calls("cuLaunchKernel");
    for (uint64_t n = 1; n <= n_launches; n += 1 + n_launches / 8) {
        emulator.reset();
        emulator.fail_call("cuLaunchKernel", n, 700);
        if (tiny_model_run(BOTH, TINY_TOKENS, &other))
            CHECK(memcmp(&right, &other, sizeof(right)) == 0);
        else
            n_failed++;
        nothing_is_left();
    }
    CHECK(n_failed > 2);
    emulator.reset();
    CHECK(tiny_model_run(BOTH, TINY_TOKENS, &other));
    CHECK(memcmp(&right, &other, sizeof(right)) == 0);
    nothing_is_left();
}

static void
a_card_that_fails_is_an_error(void **state)
{
    const char *said;

    (void)state;
    cuda_case(fail_launches, "EMU_DEVICES=2 EMU_CHECK=0", &said);
    assert_non_null(strstr(said, ILLEGAL_ADDRESS));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_cards_say_what_one_says),
        cmocka_unit_test(a_card_that_fails_is_an_error),
    };

    return cmocka_run_group_tests_name("a model on two cards", tests,
                                       tiny_model_make, tiny_model_remove);
}
