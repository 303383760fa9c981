/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/model-failures.c - a model is loaded and run while each call of
 * the driver fails once, and while the card is lost with each one.
 *
 * What a user sees is tested: an answer that is right to the bit, or one line
 * with the driver's reason.  Nothing is left then, and a fresh backend answers.
 */
#include "config.h"

#include "tests/cuda/emulated.h"
#include "tests/cuda/outcome.h"

#include "ggmlbackend.h"
#include "tools/common/tool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/*
 * Of calls that one entry point has many of, these fail: the first ones, the
 * last ones, and each STEP-th between; all with GGMLBACKEND_TEST_ALL.  HIP has
 * fewer, since the code behind the calls is CUDA's.
 */
enum { FIRST = ON_HIP(50, 25), LAST = ON_HIP(10, 5), STEP = 16 };

static void
run(int n_tokens, struct outcome *out)
{
    const struct tiny_run run = { .devices = DEVICES "0",
                                  .n_tokens = n_tokens };

    outcome_of(&run, out);
}

static void
nothing_is_left(const char *said, bool may_report)
{
    static uint64_t n_reports;
    const uint64_t n_new = emulator.reports() - n_reports;

    n_reports += n_new;
    if (emulator.live() != 0 || emulator.memory_used(0) != 0)
        outcome_is_wrong("something is left", said);
    if (n_new != 0 && !may_report)
        outcome_is_wrong("the emulated driver has reports", said);
}

static void
a_fresh_backend_answers(void)
{
    struct outcome out;

    emulator.reset();
    run(1, &out);
    if (!out.is_done || !outcome_is_right(&out, 1) || out.said[0] != '\0')
        outcome_is_wrong("a fresh backend does not answer right", out.said);
    nothing_is_left(out.said, false);
}

/* ---- failing calls ---- */

static void
begin(void)
{
    struct outcome out;

    tool_begin("test");
    CHECK(cuda_load() != NULL);
    emulator.reset();
    run(TINY_TOKENS, &out);
    CHECK(out.is_done && out.said[0] == '\0');
    outcome_case.right = out.answer;
}

/* The next call to fail behind N, of COUNT. */
static uint64_t
next(uint64_t n, uint64_t count)
{
    const uint64_t last = count > LAST ? count - LAST : 0;

    if (n < FIRST || n >= last || getenv("GGMLBACKEND_TEST_ALL") != NULL)
        return n + 1;
    return n + STEP < last ? n + STEP : last + 1;
}

struct fault {
    int result;
    const char *reason;
};

/* Calls of NAME in their turn; how many of them failed. */
static int
fail_calls_of(const char *name, uint64_t count, const struct fault *fault)
{
    struct outcome out;
    int n_failed = 0;

    outcome_case.name = name;
    for (uint64_t n = next(0, count);; n = next(n, count)) {
        outcome_case.n = n;
        emulator.reset();
        emulator.fail_call(name, n, fault->result);
        run(TINY_TOKENS, &out);
        /* How often an event is asked depends on time. */
        if (emulator.failures() == 0 && n > count)
            return n_failed;
        n_failed += emulator.failures() != 0;
        outcome_check(&out, fault->reason);
        nothing_is_left(out.said, cuda_is_entry(name));
        a_fresh_backend_answers();
    }
}

static void
fail_each_call(const struct fault *fault)
{
    static const char *const names[] = {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) cuda,
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
    };
    enum { N = sizeof(names) / sizeof(names[0]) };
    uint64_t counts[N], n_calls = 0;
    int n_failed = 0;

    begin();
    for (int i = 0; i < N; i++)
        n_calls += counts[i] = emulator.calls(names[i]);
    for (int i = 0; i < N; i++)
        n_failed += counts[i] > 0 ? fail_calls_of(names[i], counts[i], fault)
                                  : 0;
    fprintf(stderr, "%d of %d calls failed, %d findings\n", n_failed,
            (int)n_calls, outcome_case.n_wrong);
    CHECK(n_failed > ON_HIP(300, 250) && outcome_case.n_wrong == 0);
}

static void
fail_by_memory(void)
{
    fail_each_call(&(struct fault){ 2, OUT_OF_MEMORY });
}

static void
fail_by_a_fault(void)
{
    fail_each_call(&(struct fault){ 700, ILLEGAL_ADDRESS });
}

static void
lose_the_card(void)
{
    uint64_t n_calls;
    struct outcome out;

    begin();
    n_calls = emulator.count(EMU_CALLS);
    outcome_case.name = "lost with call";
    for (uint64_t n = 1; n <= n_calls; n = next(n, n_calls)) {
        outcome_case.n = n;
        emulator.reset();
        emulator.lose_card(n, 0);
        run(TINY_TOKENS, &out);
        emulator.reset();
        outcome_check(&out, LAUNCH_FAILED);
        nothing_is_left(out.said, false);
        a_fresh_backend_answers();
    }
    fprintf(stderr, "lost with calls of %d, %d findings\n", (int)n_calls,
            outcome_case.n_wrong);
    CHECK(outcome_case.n_wrong == 0);
}

/* ---- failing while cards are listed ---- */

/* Without a card the driver's reason is there, and the CPU answers. */
static void
without_a_card(const char *reason)
{
    struct ggmlbackend_refused_module refused;
    const struct tiny_run on_cpu = { .devices = "CPU",
                                     .n_tokens = TINY_TOKENS };
    struct tiny_answer answer;

    CHECK(ggmlbackend_refused_get(0, &refused));
    fprintf(stderr, "reason: %s\n", refused.reason);
    CHECK(strstr(refused.reason, reason) != NULL);
    CHECK(tiny_model_run(&on_cpu, &answer));
    CHECK(memcmp(answer.tokens, outcome_case.right.tokens,
                 sizeof(answer.tokens)) == 0);
}

static const char *listing_reason;
static int n_listing_calls;

static void
list_and_run(void)
{
    struct outcome out;

    tool_begin("test");
    if (cuda_load() == NULL) {
        without_a_card(listing_reason);
    } else {
        emulator.reset();
        run(TINY_TOKENS, &out);
        CHECK(out.is_done && out.said[0] == '\0');
        CHECK(outcome_is_right(&out, TINY_TOKENS));
    }
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
count_listing(void)
{
    struct outcome out;

    tool_begin("test");
    CHECK(cuda_load() != NULL);
    fprintf(stderr, "%d ", (int)emulator.count(EMU_CALLS));
    emulator.reset();
    run(TINY_TOKENS, &out);
    for (size_t i = 0; i < sizeof(out.answer); i++)
        fprintf(stderr, "%02x", ((unsigned char *)&out.answer)[i]);
}

/* The count of calls, and the answer, come from a process of their own. */
static void
learn_from_a_listing(void)
{
    const char *text;
    int length;

    cuda_case(count_listing, "", &text);
    assert_int_equal(sscanf(text, "%d %n", &n_listing_calls, &length), 1);
    for (size_t i = 0; i < sizeof(outcome_case.right); i++) {
        unsigned byte;

        assert_int_equal(sscanf(text + length + 2 * i, "%2x", &byte), 1);
        ((unsigned char *)&outcome_case.right)[i] = (unsigned char)byte;
    }
}

static void
any_call_of_the_listing_may_fail(void **state)
{
    static const struct fault faults[] = {
        { 2, OUT_OF_MEMORY }, { 999, UNKNOWN },
    };

    (void)state;
    learn_from_a_listing();
    assert_true(n_listing_calls > 10);
    for (int i = 0; i < 2; i++) {
        listing_reason = faults[i].reason;
        for (int n = 1; n <= n_listing_calls; n++) {
            char variables[64];

            snprintf(variables, sizeof(variables), "EMU_FAIL=any:%d:%d", n,
                     faults[i].result);
            cuda_case(list_and_run, variables, NULL);
        }
    }
}

/* ---- tests ---- */

/* Its summary is printed.  Accesses to memory are other tests' business. */
static void
run_case(void (*function)(void))
{
    const char *errors;

    cuda_case(function, "EMU_CHECK=0 EMU_THREADS=1", &errors);
    print_message("# %s", errors);
}

static void
any_call_may_run_out_of_memory(void **state)
{
    (void)state;
    run_case(fail_by_memory);
}

static void
any_call_may_fail(void **state)
{
    (void)state;
    run_case(fail_by_a_fault);
}

static void
the_card_may_be_lost_with_any_call(void **state)
{
    (void)state;
    run_case(lose_the_card);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_of_the_listing_may_fail),
        cmocka_unit_test(any_call_may_run_out_of_memory),
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(the_card_may_be_lost_with_any_call),
    };

    return cmocka_run_group_tests_name("a model on failing drivers", tests,
                                       tiny_model_make, tiny_model_remove);
}
