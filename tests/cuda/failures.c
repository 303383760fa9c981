/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/failures.c - every call of the driver fails once, and a card is
 * lost with every one: statuses, nothing left behind, and the same again
 * afterwards.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { K = 3 };

static bool
compute(ggml_backend_t backend, struct sums *sums)
{
    return ggml_backend_graph_compute(backend, sums->graph) ==
           GGML_STATUS_SUCCESS;
}

/* A copy that failed tells by the reason alone. */
static bool
sets(struct sums *sums, int seed)
{
    ggmlbackend_clear_failure();
    sums_set(sums, seed);
    return ggmlbackend_last_failure()[0] == '\0';
}

/* Several times, so that the graph is recorded, run again and changed. */
static bool
computes(ggml_backend_t backend, struct sums *sums)
{
    for (int seed = 0; seed < 3; seed++) {
        if (!sets(sums, seed) || !compute(backend, sums))
            return false;
        if (!sums_are_right(sums, K, seed))
            return false;
    }
    return true;
}

static bool
computes_by_plan(ggml_backend_t backend, struct sums *sums)
{
    ggml_backend_graph_plan_t plan =
        ggml_backend_graph_plan_create(backend, sums->graph);
    bool is_right = plan != NULL;

    for (int i = 0; i < 2 && is_right; i++)
        is_right = ggml_backend_graph_plan_compute(backend, plan) ==
                   GGML_STATUS_SUCCESS;
    if (plan != NULL)
        ggml_backend_graph_plan_free(backend, plan);
    ggml_backend_synchronize(backend);
    return is_right;
}

/* What a program does with two cards; were all results right? */
static bool
run_program(void)
{
    ggml_backend_dev_t dev0 = cuda_device("CUDA0");
    ggml_backend_dev_t dev1 = cuda_device("CUDA1");
    ggml_backend_t one = ggml_backend_dev_init(dev0, NULL);
    ggml_backend_t two = ggml_backend_dev_init(dev1, NULL);
    ggml_backend_event_t event = ggml_backend_event_new(dev0);
    struct sums a = sums_make(ggml_backend_dev_buffer_type(dev0), K);
    struct sums b = sums_make(ggml_backend_dev_buffer_type(dev1), K);
    ggml_backend_buffer_t pinned = ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_host_buffer_type(dev0), 4096);
    bool is_right = one != NULL && two != NULL && event != NULL &&
                    a.buffer != NULL && b.buffer != NULL && pinned != NULL;

    is_right = is_right && computes(one, &a) && computes_by_plan(one, &a);
    if (is_right) {
        ggml_backend_event_record(event, one);
        ggml_backend_event_wait(two, event);
        is_right = sets(&b, 7);
        ggml_backend_tensor_copy_async(one, two, a.result, b.x);
        is_right = is_right && compute(two, &b);
        ggml_backend_event_synchronize(event);
    }
    ggml_backend_event_free(event);
    ggml_backend_free(one);
    ggml_backend_free(two);
    ggml_backend_buffer_free(pinned);
    sums_free(&a);
    sums_free(&b);
    return is_right;
}

/* Objects, bytes, and faults that the emulated driver found since the last. */
static void
nothing_is_left(const char *what, uint64_t n)
{
    static uint64_t n_reports;
    const uint64_t n_new = emulator.reports() - n_reports;

    n_reports += n_new;
    if (emulator.live() == 0 && emulator.memory_used(0) == 0 &&
        emulator.memory_used(1) == 0 && n_new == 0)
        return;
    fprintf(stderr, "%s %d: %d objects, %d bytes, %d reports\n", what, (int)n,
            (int)emulator.live(), (int)emulator.memory_used(0), (int)n_new);
    exit(1);
}

/* Every call of NAME in its turn; how many there were. */
static uint64_t
fail_calls_of(const char *name, int result)
{
    uint64_t n = 0;

    for (;;) {
        emulator.reset();
        emulator.fail_call(name, ++n, result);
        /* A way around a failure is right, too: no peers, no recording. */
        run_program();
        nothing_is_left(name, n);
        if (emulator.failures() == 0)
            return n - 1;
        CHECK(run_program());
        nothing_is_left("afterwards", n);
    }
}

/*
 * A context that cannot be made current cannot be left clean either, so that is
 * left out here; it happens with a card that is lost.
 */
static void
fail_each_call(int result)
{
    static const char *const names[] = {
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) cuda,
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
    };
    uint64_t n_calls = 0;

    CHECK(cuda_load() != NULL);
    CHECK(run_program());
    nothing_is_left("before", 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!cuda_is_entry(names[i]))
            n_calls += fail_calls_of(names[i], result);
    }
    CHECK(n_calls > 100);
}

static void
fail_each_call_by_memory(void)
{
    fail_each_call(2);
}

static void
fail_each_call_by_a_fault(void)
{
    fail_each_call(700);
}

static void
any_call_may_run_out_of_memory(void **state)
{
    (void)state;
    cuda_case(fail_each_call_by_memory, "EMU_DEVICES=2 GGMLBACKEND_LOG=none",
              NULL);
}

static void
any_call_may_fail(void **state)
{
    (void)state;
    cuda_case(fail_each_call_by_a_fault, "EMU_DEVICES=2 GGMLBACKEND_LOG=none",
              NULL);
}

static void
lose_the_card_with_each_call(void)
{
    uint64_t n_calls;

    CHECK(cuda_load() != NULL);
    emulator.reset();
    CHECK(run_program());
    n_calls = emulator.count(EMU_CALLS);
    CHECK(n_calls > 100);
    for (uint64_t n = 1; n < n_calls; n++) {
        emulator.reset();
        emulator.lose_card(n, 0);
        run_program();
        emulator.reset();
        nothing_is_left("lost at call", n);
        CHECK(run_program());
        nothing_is_left("lost at call, then anew", n);
    }
}

static void
a_card_may_be_lost_with_any_call(void **state)
{
    (void)state;
    cuda_case(lose_the_card_with_each_call,
              "EMU_DEVICES=2 GGMLBACKEND_LOG=none", NULL);
}

/* ---- what lives on ---- */

static void
lose_with_weights(void)
{
    ggml_backend_dev_t dev;
    ggml_backend_t backend;
    struct sums sums, fresh;
    float value = 0.0f;

    CHECK(cuda_load() != NULL);
    dev = cuda_device("CUDA0");
    sums = sums_make(ggml_backend_dev_buffer_type(dev), K);
    backend = ggml_backend_dev_init(dev, NULL);
    CHECK(computes(backend, &sums));
    emulator.lose_card(1, 0);
    CHECK(!compute(backend, &sums));
    CHECK(ggml_backend_dev_init(dev, NULL) == NULL);
    CHECK(strstr(ggmlbackend_last_failure(), "has failed") != NULL);
    ggml_backend_free(backend);

    /* The weights went with the context; the card works again without them. */
    backend = ggml_backend_dev_init(dev, NULL);
    CHECK(backend != NULL);
    CHECK(!compute(backend, &sums));
    ggml_backend_tensor_set_async(backend, sums.x, &value, 0, sizeof(value));
    CHECK(strstr(ggmlbackend_last_failure(), "went with a GPU that failed") != NULL);
    ggmlbackend_clear_failure();
    ggml_backend_tensor_get_async(backend, sums.x, &value, 0, sizeof(value));
    CHECK(strstr(ggmlbackend_last_failure(), "went with a GPU that failed") != NULL);
    fresh = sums_make(ggml_backend_dev_buffer_type(dev), K);
    CHECK(computes(backend, &fresh));
    sums_free(&sums);
    CHECK(computes(backend, &fresh));
    sums_free(&fresh);
    ggml_backend_free(backend);
    nothing_is_left("weights", 0);
}

static void
a_lost_card_is_fresh_when_its_backends_are_freed(void **state)
{
    (void)state;
    cuda_case(lose_with_weights, "GGMLBACKEND_LOG=none", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_call_may_run_out_of_memory),
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(a_card_may_be_lost_with_any_call),
        cmocka_unit_test(a_lost_card_is_fresh_when_its_backends_are_freed),
    };

    return cmocka_run_group_tests_name("failing drivers", tests, NULL, NULL);
}
