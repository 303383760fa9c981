/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/model-failures.c - a model is loaded and run while each call of
 * Vulkan fails once, while the device is lost with each one that can tell it, and
 * while a submission never ends.
 *
 * What a user sees is tested: the answer, or one line with the reason.  Nothing is
 * left then, and a fresh backend answers.  The null driver has all of that at once,
 * but for the answer, which lavapipe has.
 */
#include "config.h"

#include "tests/cuda/outcome.h"
#include "tests/vulkan/shimmed.h"

#include "ggmlbackend.h"
#include "tools/common/tool.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* ---- time ---- */

static bool is_fast; /* each look at the clock is a second later */

/* The C library's, for the module too: the program's own comes first. */
__attribute__((visibility("default"))) time_t
time(time_t *out)
{
    static time_t later;
    struct timespec at = { 0 };

    clock_gettime(CLOCK_REALTIME, &at);
    later += is_fast;
    if (out != NULL)
        *out = at.tv_sec + later;
    return at.tv_sec + later;
}

/* ---- memory ---- */

/* gcc and clang say differently that a sanitizer has it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED
#endif
#endif

#if defined(__GLIBC__) && !defined(IS_SANITIZED)
#define HAS_OWN_CALLOC

void *__libc_calloc(size_t n, size_t size);

static uint64_t n_of_module, fail_at; /* 0: none fails */

/* Count the module's allocations anew, and let the N-th fail. */
static void
watch_module(uint64_t n)
{
    n_of_module = 0;
    fail_at = n;
}

/* The C library's, as with time. */
__attribute__((visibility("default"))) void *
calloc(size_t n, size_t size)
{
    Dl_info info;

    if (dladdr(__builtin_return_address(0), &info) != 0 &&
        strstr(info.dli_fname, "libggml-vulkan") != NULL &&
        ++n_of_module == fail_at)
        return NULL;
    return __libc_calloc(n, size);
}
#endif

static void
run(int n_tokens, struct outcome *out)
{
    const struct tiny_run run = { .devices = "Vulkan0", .n_tokens = n_tokens };

    outcome_of(&run, out);
}

static void
nothing_is_left(void)
{
    size_t free_bytes, total;

    outcome_case.n_wrong += vk_is_left(outcome_case.name, outcome_case.n);
    ggml_backend_dev_memory(vk_device("Vulkan0"), &free_bytes, &total);
    if (free_bytes != total)
        outcome_is_wrong("not all memory is free", "");
}

static void
a_fresh_backend_answers(void)
{
    struct outcome out;

    shim.reset();
    run(1, &out);
    if (!out.is_done || !outcome_is_right(&out, 1) || out.said[0] != '\0')
        outcome_is_wrong("a fresh backend does not answer right", out.said);
    nothing_is_left();
}

static void
begin(void)
{
    struct outcome out;

    tool_begin("test");
    CHECK(vk_load() != NULL);
    shim.reset();
    run(TINY_TOKENS, &out);
    if (!out.is_done || out.said[0] != '\0')
        fprintf(stderr, "%s", out.said);
    CHECK(out.is_done && out.said[0] == '\0');
    outcome_case.right = out.answer;
    nothing_is_left();
}

/* ---- failing calls ---- */

/* Every n, or a few of many: the first, the last, and STEP apart between. */
static struct {
    uint64_t first, last, step;
} sample;

static uint64_t
next(uint64_t n, uint64_t count)
{
    const uint64_t last = count > sample.last ? count - sample.last : 0;

    if (n < sample.first || n >= last)
        return n + 1;
    return n + sample.step < last ? n + sample.step : last + 1;
}

/* Calls of NAME in their turn; how many of them failed. */
static int
fail_calls_of(const char *name, uint64_t count, int result)
{
    struct outcome out;
    int n_failed = 0;

    outcome_case.name = name;
    for (uint64_t n = 1; n <= count; n = next(n, count)) {
        outcome_case.n = n;
        shim.reset();
        shim.fail_call(name, n, result);
        run(TINY_TOKENS, &out);
        n_failed += shim.failures() != 0;
        outcome_check(&out, vk_result_name(result));
        nothing_is_left();
        a_fresh_backend_answers();
    }
    return n_failed;
}

/* What makes a pipeline is not tried again where it fails for good. */
static bool
breaks_a_pipeline(const char *name, int result)
{
    return result == UNKNOWN && (strcmp(name, "CreateShaderModule") == 0 ||
                                 strcmp(name, "CreateComputePipelines") == 0);
}

/* Each function in its turn, so that a sample has a few calls of each. */
static int
fail_each_call(int result)
{
    static const char *const names[] = {
#define GB_VK_CALL(level, name) #name,
#include "backends/vulkan/driver/calls.def"
#undef GB_VK_CALL
    };
    enum { N = sizeof(names) / sizeof(names[0]) };
    uint64_t counts[N];
    struct outcome out;
    int n_failed = 0;

    shim.reset();
    run(TINY_TOKENS, &out);
    for (int i = 0; i < N; i++)
        counts[i] = shim.calls(names[i]);
    for (int i = 0; i < N; i++)
        if (!breaks_a_pipeline(names[i], result))
            n_failed += fail_calls_of(names[i], counts[i], result);
    fprintf(stderr, "%d calls failed with %s, %d findings\n", n_failed,
            vk_result_name(result), outcome_case.n_wrong);
    return n_failed;
}

static void
fail_calls(void)
{
    static const int results[] = { OUT_OF_DEVICE_MEMORY, UNKNOWN, DEVICE_LOST };
    int n_failed = 0;

    begin();
    for (int i = 0; i < 3; i++)
        n_failed += fail_each_call(results[i]);
    CHECK(n_failed > 90 && outcome_case.n_wrong == 0);
}

static void
fail_calls_by_memory(void)
{
    begin();
    CHECK(fail_each_call(OUT_OF_HOST_MEMORY) > 20 && outcome_case.n_wrong == 0);
}

/*
 * In each process one pipeline: from then on the model is refused, which takes
 * the device alone, but where the pipeline is one of groups, which come apart.  One
 * with wide reads, or one that stores halves, has another in its place, and the
 * model is computed.
 */
static int broken_call;

static bool
has_another(const char *said)
{
    static const char *const shaders[] = {
        "shader gemvwide_", "shader attentionwide_",
        "shader convert_halves", "shader rope_halves",
    };

    for (size_t i = 0; i < sizeof(shaders) / sizeof(shaders[0]); i++)
        if (strstr(said, shaders[i]) != NULL)
            return true;
    return false;
}

static void
break_a_pipeline(void)
{
    struct outcome out;
    bool is_replaced;

    begin();
    outcome_case.name = broken_call % 2 == 0 ? "CreateShaderModule"
                                    : "CreateComputePipelines";
    outcome_case.n = (uint64_t)broken_call;
    shim.reset();
    shim.fail_call(outcome_case.name, outcome_case.n, UNKNOWN);
    run(TINY_TOKENS, &out);
    CHECK(shim.failures() == 1 && !out.is_done);
    outcome_check(&out, vk_result_name(UNKNOWN));
    is_replaced = has_another(out.said);
    fprintf(stderr, "%s\n", is_replaced ? "replaced" : "the only one");
    nothing_is_left();
    shim.reset();
    run(TINY_TOKENS, &out);
    CHECK(out.is_done ? is_replaced || broken_call > 4 : !is_replaced);
    outcome_check(&out, "cannot compute");
    nothing_is_left();
    CHECK(outcome_case.n_wrong == 0);
}

static void
lose_the_device(void)
{
    struct outcome out;
    uint64_t n_calls;

    begin();
    n_calls = shim.calls("tell");
    CHECK(n_calls > 5);
    outcome_case.name = "lost with call";
    for (uint64_t n = 1; n <= n_calls; n = next(n, n_calls)) {
        outcome_case.n = n;
        shim.reset();
        shim.lose(n);
        run(TINY_TOKENS, &out);
        shim.reset();
        outcome_check(&out, vk_result_name(DEVICE_LOST));
        nothing_is_left();
        a_fresh_backend_answers();
    }
    CHECK(outcome_case.n_wrong == 0);
}

/* A submission and all behind it are worked on for ever: a card of software is
 * given up after ten minutes of the program's clock. */
static void
hang(void)
{
    struct outcome out;
    uint64_t n_submissions;

    begin();
    n_submissions = shim.calls("QueueSubmit");
    CHECK(n_submissions > 2);
    outcome_case.name = "never ends from submission";
    is_fast = true;
    for (uint64_t n = 1; n <= n_submissions; n = next(n, n_submissions)) {
        outcome_case.n = n;
        shim.reset();
        shim.hang(n);
        run(TINY_TOKENS, &out);
        outcome_check(&out, vk_result_name(DEVICE_LOST));
        if (strstr(out.said, "works on and on") == NULL)
            outcome_is_wrong("nothing is said of what is left", out.said);
        if (shim.live() == 0)
            outcome_is_wrong("what is worked on was destroyed", out.said);
        shim.reset();
        run(1, &out);
        if (!out.is_done || !outcome_is_right(&out, 1))
            outcome_is_wrong("a fresh backend does not answer right", out.said);
    }
    CHECK(outcome_case.n_wrong == 0);
}

/* ---- the host's memory ---- */

#ifdef HAS_OWN_CALLOC
/* All that the module takes of the host. */
static void
fail_allocations(void)
{
    struct outcome out;
    uint64_t n_allocations;

    begin();
    watch_module(0);
    run(TINY_TOKENS, &out);
    n_allocations = n_of_module;
    CHECK(n_allocations > 3);
    outcome_case.name = "no memory at allocation";
    for (uint64_t n = 1; n <= n_allocations; n++) {
        outcome_case.n = n;
        watch_module(n);
        run(TINY_TOKENS, &out);
        watch_module(0);
        outcome_check(&out, "no memory for");
        nothing_is_left();
        a_fresh_backend_answers();
    }
    fprintf(stderr, "%d allocations failed\n", (int)n_allocations);
    CHECK(outcome_case.n_wrong == 0);
}
#endif

/* ---- failing while devices are listed ---- */

static const char *listing_reason;

/* Without a device the reason is there, and the CPU answers. */
static void
without_a_device(void)
{
    struct ggmlbackend_refused_module refused;
    const struct tiny_run on_cpu = { .devices = "CPU", .n_tokens = 1 };
    struct tiny_answer answer;

    CHECK(ggmlbackend_refused_get(0, &refused));
    fprintf(stderr, "reason: %s\n", refused.reason);
    CHECK(strstr(refused.reason, listing_reason) != NULL);
    CHECK(tiny_model_run(&on_cpu, &answer));
}

static void
list_and_run(void)
{
    struct outcome out;

    tool_begin("test");
    if (vk_load() == NULL) {
        without_a_device();
    } else {
        shim.reset();
        run(1, &out);
        CHECK(out.is_done && out.said[0] == '\0');
    }
    CHECK(!vk_is_left("listing", 0));
}

static void
count_listing(void)
{
    CHECK(vk_load() != NULL);
    fprintf(stderr, "%d", (int)shim.calls("any"));
}

/* ---- tests ---- */

static bool has_all; /* every n is asked for */

static void
run_case(void (*function)(void), const char *variables)
{
    const char *errors;

    sample.first = 6;
    sample.last = 3;
    sample.step = has_all ? 1 : 16;
    vk_case(function, variables, &errors);
    if (errors[0] != '\0')
        print_message("# %s", errors);
}

/* Where answers are right or wrong, and each run takes a while.  Below a limit what is
 * free is what this process has not taken, whatever the driver says of the system. */
static void
run_on_lavapipe(void (*function)(void))
{
    const char *errors;

    sample.first = sample.last = 1;
    sample.step = has_all ? 8 : 100;
    vk_case(function, ON_LAVAPIPE "GGMLBACKEND_VULKAN_VALIDATE=1 "
                                  "GGMLBACKEND_GPU_MEMORY=200M", &errors);
    if (errors[0] != '\0')
        print_message("# %s", errors);
    if (strstr(errors, "vulkan validation:") != NULL)
        fail_msg("%s", errors);
}

static void
any_call_may_fail(void **state)
{
    (void)state;
    run_case(fail_calls, ON_NULL);
    run_case(fail_calls, ON_NULL "VK_WITHOUT=VK_KHR_push_descriptor,"
                                 "VK_EXT_memory_budget");
}

/* Is it a pipeline that has another in its place? */
static bool
breaks_a_replaced_one(const char *variables)
{
    const char *errors;

    vk_case(break_a_pipeline, variables, &errors);
    return strncmp(errors, "replaced", 8) == 0;
}

static void
a_pipeline_that_fails_is_not_tried_again(void **state)
{
    int n_replaced = 0;

    (void)state;
    for (broken_call = 1; broken_call <= 8; broken_call++) {
        n_replaced += breaks_a_replaced_one(ON_NULL);
        assert_false(breaks_a_replaced_one(
            ON_NULL "GGMLBACKEND_VULKAN_TEST=no-wide,no-storage16"));
    }
    assert_in_range(n_replaced, 1, 7);
}

static void
the_device_may_be_lost_with_any_call(void **state)
{
    (void)state;
    run_case(lose_the_device, ON_NULL);
}

static void
the_answer_is_right_or_not_given(void **state)
{
    (void)state;
    run_on_lavapipe(lose_the_device);
    if (has_all)
        run_on_lavapipe(fail_calls_by_memory);
}

static void
any_allocation_of_the_host_may_fail(void **state)
{
    (void)state;
#ifdef HAS_OWN_CALLOC
    run_case(fail_allocations, ON_NULL);
#else
    puts("# this C library, or a sanitizer, has its own way of allocating");
    skip();
#endif
}

static void
any_submission_may_hang(void **state)
{
    (void)state;
    run_case(hang, ON_NULL);
}

static void
any_call_of_the_listing_may_fail(void **state)
{
    static const int results[] = { OUT_OF_HOST_MEMORY, INITIALIZATION_FAILED };
    const char *text;
    int n_calls;

    (void)state;
    vk_case(count_listing, ON_NULL, &text);
    n_calls = atoi(text);
    assert_in_range(n_calls, 3, 100);
    for (int i = 0; i < 2; i++) {
        listing_reason = vk_result_name(results[i]);
        for (int n = 1; n <= n_calls; n++) {
            char variables[64];

            snprintf(variables, sizeof(variables), ON_NULL "VK_FAIL=any:%d:%d",
                     n, results[i]);
            vk_case(list_and_run, variables, NULL);
        }
    }
}

/* Of those that are looked up while devices are listed. */
static void
any_function_may_be_missing(void **state)
{
    static const char *const names[] = {
#define GB_VK_CALL(level, name) #level " " #name,
#include "backends/vulkan/driver/calls.def"
#undef GB_VK_CALL
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *name = strchr(names[i], ' ') + 1;
        char variables[128], reason[96];

        if (strncmp(names[i], "GLOBAL", 6) != 0 &&
            strncmp(names[i], "INSTANCE", 8) != 0)
            continue;
        snprintf(variables, sizeof(variables), ON_NULL "VK_WITHOUT=%s", name);
        snprintf(reason, sizeof(reason), "has no vk%s", name);
        listing_reason = reason;
        vk_case(list_and_run, variables, NULL);
    }
}

static void
list_twins(void)
{
    CHECK(vk_load() != NULL);
    CHECK(ggml_backend_dev_by_name("Vulkan1") == NULL);
}

static void
a_card_by_two_drivers_is_listed_once(void **state)
{
    const char *errors;

    (void)state;
    vk_case(list_twins,
            ON_NULL "VK_CARDS=2 VK_WITHOUT=uuid GGMLBACKEND_LOG=info", &errors);
    if (strstr(errors, "Vulkan0 is the same card, by another driver") == NULL)
        fail_msg("%s", errors);
}

/* "lavapipe": on that alone, which shim.sh looks for. */
int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(a_pipeline_that_fails_is_not_tried_again),
        cmocka_unit_test(the_device_may_be_lost_with_any_call),
        cmocka_unit_test(any_allocation_of_the_host_may_fail),
        cmocka_unit_test(any_submission_may_hang),
        cmocka_unit_test(any_call_of_the_listing_may_fail),
        cmocka_unit_test(any_function_may_be_missing),
        cmocka_unit_test(a_card_by_two_drivers_is_listed_once),
    };

    static const struct CMUnitTest on_lavapipe[] = {
        cmocka_unit_test(the_answer_is_right_or_not_given),
    };

    has_all = getenv("GGMLBACKEND_TEST_ALL") != NULL;
    if (argc > 1 && strcmp(argv[1], "lavapipe") == 0)
        return cmocka_run_group_tests_name("a model on lavapipe", on_lavapipe,
                                           tiny_model_make, tiny_model_remove);
    return cmocka_run_group_tests_name("a model on failing drivers", tests,
                                       tiny_model_make, tiny_model_remove);
}
