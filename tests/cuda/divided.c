/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/divided.c - a model divided over two emulated cards.
 */
#include "config.h"

#include "tests/cuda/emulated.h"
#include "tests/cuda/outcome.h"

#include "tools/common/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BOTH DEVICES "0," DEVICES "1"

/* Several batches are queued one after another, on both cards. */
static const struct tiny_run on_both = { .devices = BOTH,
                                         .n_tokens = TINY_TOKENS,
                                         .n_batches = TINY_BATCHES };

static void
nothing_is_left(const char *said)
{
    if (emulator.live() != 0 || emulator.memory_used(0) != 0 ||
        emulator.memory_used(1) != 0)
        outcome_is_wrong("something is left", said);
}

/* What is right is one card's answer. */
static void
begin(void)
{
    struct tiny_run on_one = on_both;
    struct outcome out;

    tool_begin("test");
    CHECK(cuda_load() != NULL);
    on_one.devices = DEVICES "0";
    CHECK(tiny_model_run(&on_one, &outcome_case.right));
    emulator.reset();
    outcome_of(&on_both, &out);
    if (!out.is_done || out.said[0] != '\0')
        fprintf(stderr, "%s", out.said);
    CHECK(out.is_done && out.said[0] == '\0');
    CHECK(outcome_is_right(&out, TINY_TOKENS));
    nothing_is_left("");
}

/* ---- the same answer ---- */

static void
answer_on_one_and_two(void)
{
    static const int n_batches[] = { 0, 1, TINY_BATCHES };

    tool_begin("test");
    CHECK(cuda_load() != NULL);
    for (int i = 0; i < 3; i++) {
        struct tiny_run run = { .n_tokens = TINY_TOKENS,
                                .n_batches = n_batches[i] };
        struct tiny_answer one, two;

        run.devices = DEVICES "0";
        CHECK(tiny_model_run(&run, &one));
        run.devices = BOTH;
        CHECK(tiny_model_run(&run, &two));
        CHECK(memcmp(&one, &two, sizeof(one)) == 0);
        nothing_is_left("");
    }
    CHECK(emulator.reports() == 0 && outcome_case.n_wrong == 0);
}

static void
two_cards_say_what_one_says(void **state)
{
    (void)state;
    cuda_case(answer_on_one_and_two, "EMU_DEVICES=2", NULL);
    cuda_case(answer_on_one_and_two, "EMU_DEVICES=2 EMU_PEER=refused", NULL);
}

/* ---- failures: one line, and the next run is right ---- */

enum { N_FAILURES = 24 };

static void
both_answer_again(void)
{
    struct outcome out;

    emulator.reset();
    outcome_of(&on_both, &out);
    if (!out.is_done || !outcome_is_right(&out, TINY_TOKENS) ||
        out.said[0] != '\0')
        outcome_is_wrong("both do not answer right again", out.said);
    nothing_is_left(out.said);
}

/* Calls of NAME, one in each run; how many runs had no answer. */
static int
fail_calls_of(const char *name, uint64_t count)
{
    struct outcome out;
    int n_failed = 0;

    outcome_case.name = name;
    for (uint64_t n = 1; n <= count; n += 1 + count / N_FAILURES) {
        outcome_case.n = n;
        emulator.reset();
        emulator.fail_call(name, n, 700);
        outcome_of(&on_both, &out);
        n_failed += !out.is_done;
        outcome_check(&out, ILLEGAL_ADDRESS);
        nothing_is_left(out.said);
    }
    both_answer_again();
    return n_failed;
}

/* Kernels on their own, with what they may run beside, and as graphs. */
static void
fail_launches(void)
{
    static const char *const names[] = { "cuLaunchKernel", "cuLaunchKernelEx",
                                         "cuGraphLaunch" };
    int n_failed = 0;

    begin();
    for (int i = 0; i < 3; i++)
        n_failed += fail_calls_of(names[i], emulator.calls(names[i]));
    CHECK(n_failed > N_FAILURES && outcome_case.n_wrong == 0);
}

/* One of the two: whose context the N-th call has. */
static void
lose_a_card(void)
{
    struct outcome out;
    uint64_t n_calls;
    int n_failed = 0;

    begin();
    n_calls = emulator.count(EMU_CALLS);
    outcome_case.name = "lost with call";
    for (uint64_t n = 1; n <= n_calls; n += 1 + n_calls / N_FAILURES) {
        outcome_case.n = n;
        emulator.reset();
        emulator.lose_card(n, 0);
        outcome_of(&on_both, &out);
        n_failed += !out.is_done;
        emulator.reset();
        outcome_check(&out, LAUNCH_FAILED);
        nothing_is_left(out.said);
        both_answer_again();
    }
    CHECK(n_failed > N_FAILURES / 2 && outcome_case.n_wrong == 0);
}

static void
a_launch_may_fail_in_any_batch(void **state)
{
    (void)state;
    cuda_case(fail_launches, "EMU_DEVICES=2 EMU_CHECK=0", NULL);
}

static void
a_card_may_be_lost_in_any_batch(void **state)
{
    (void)state;
    cuda_case(lose_a_card, "EMU_DEVICES=2 EMU_CHECK=0", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_cards_say_what_one_says),
        cmocka_unit_test(a_launch_may_fail_in_any_batch),
        cmocka_unit_test(a_card_may_be_lost_in_any_batch),
    };

    return cmocka_run_group_tests_name("a model on two cards", tests,
                                       tiny_model_make, tiny_model_remove);
}
