/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/devices.c - a model that is divided over devices computes what
 * it computes on one.
 *
 * The devices do their work only when somebody waits for it, so what is not
 * waited for, or is overwritten too early, is seen.
 */
#include "config.h"

#include "tests/sim/sim.h"
#include "tools/common/tool.h"
#include "tools/model/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { N_PROMPT = 700, N_BATCH = 128, N_ANSWER = 3, N_CTX = 1024 };

static char path[64];

static void
make_model(const char *options)
{
    const char *top = getenv("top_builddir");
    char command[256];

    snprintf(path, sizeof(path), "devices-%ld.gguf", (long)getpid());
    snprintf(command, sizeof(command), "%s/examples/make-tiny-model %s %s",
             top == NULL ? "." : top, options, path);
    assert_int_equal(system(command), 0);
}

/* What a run is made of. */
struct run {
    const char *devices;
    struct shares shares;
    int64_t n_prompt;
    bool may_fuse;
};

/* Logits after the prompt and after each token behind it; NULL after a
 * message. */
static float *
answer(const struct run *run, struct engine *e)
{
    const int64_t n_vocab = e->model->n_vocab;
    float *logits =
        calloc((size_t)((N_ANSWER + 1) * n_vocab), sizeof(*logits));
    int32_t ids[N_PROMPT];
    bool is_done;

    assert_non_null(logits);
    for (int32_t i = 0; i < N_PROMPT; i++)
        ids[i] = (i * 37 + i / 7 + 5) % (int32_t)n_vocab;
    e->n_batch = N_BATCH;
    is_done = engine_append_all(e, ids, run->n_prompt) &&
        engine_logits(e, 0, 1, logits);
    for (int i = 1; is_done && i <= N_ANSWER; i++)
        is_done = engine_append(e, &ids[i], 1, 1) &&
            engine_logits(e, 0, 1, logits + i * n_vocab);
    if (is_done)
        return logits;
    free(logits);
    return NULL;
}

/* The same from the file to the end. */
static float *
run_model(const struct run *run, size_t *size)
{
    struct devices devices;
    struct engine engine;
    struct model model;
    float *logits = NULL;

    if (!devices_open(&devices, run->devices, &run->shares, 0))
        return NULL;
    if (model_open(&model, path, &devices, false)) {
        *size = (N_ANSWER + 1) * (size_t)model.n_vocab * sizeof(*logits);
        if (engine_open(&engine, &model, N_CTX, run->may_fuse)) {
            logits = answer(run, &engine);
            engine_close(&engine);
        }
        model_close(&model);
    }
    devices_close(&devices);
    return logits;
}

static void
check_same(const struct run *one, const struct run *run)
{
    size_t size = 0;
    float *right = run_model(one, &size);
    float *logits = run_model(run, &size);

    assert_non_null(right);
    if (logits == NULL)
        fail_msg("%s: no answer", run->devices);
    if (memcmp(right, logits, size) != 0)
        fail_msg("%s, %d tokens: other logits than %s", run->devices,
                 (int)run->n_prompt, one->devices);
    /* There is something to compare. */
    assert_true(memcmp(right, right + size / sizeof(*right) / 4, size / 4) !=
                0);
    free(right);
    free(logits);
    assert_true(sim_is_clean());
}

/* Everything that RUN may be, beside one device. */
static void
check_all(const char *devices, const char *settings)
{
    static const int64_t lengths[] = { 1, 17, 256, N_PROMPT };
    static const struct shares shares[] = {
        { .n = 0 }, { { 3, 1 }, 2 }, { { 1, 3 }, 2 }, { { 0, 1 }, 2 },
    };

    sim_reset();
    assert_true(sim_configure(0, 2, settings));
    for (int fused = 0; fused < 2; fused++)
        for (size_t n = 0; n < sizeof(lengths) / sizeof(lengths[0]); n++)
            for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++) {
                const struct run one = { "Sim0", { .n = 0 }, lengths[n],
                                         fused != 0 };
                const struct run two = { devices, shares[s], lengths[n],
                                         fused != 0 };

                check_same(&one, &two);
            }
}

static void
several_devices_say_what_one_says(void **state)
{
    static const char *const models[] = {
        "-a llama", "-a llama -r freqs -t q8_0", "-a gemma3 -p default",
        "-a qwen2",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
        make_model(models[i]);
        check_all("Sim0,Sim1", "delay=never");
        check_all("Sim1,Sim0", "delay=0");
        check_all("Sim0,CPU", "delay=never");
        check_all("CPU,Sim1", "delay=never");
        check_all("Sim0,Sim1", "without=events+cpy_async");
    }
}

/* How often somebody waits for all of a backend's work in N batches. */
static uint64_t
count_waits(struct engine *e, int64_t n)
{
    const int64_t n_tokens = n * N_BATCH;
    struct gb_sim_counters before, after;
    int32_t *ids = calloc((size_t)n_tokens, sizeof(*ids));

    assert_non_null(ids);
    e->n_batch = N_BATCH;
    engine_reset(e);
    gb_sim_count(&before);
    assert_true(engine_append_all(e, ids, n_tokens));
    gb_sim_count(&after);
    assert_true(after.copy_async > before.copy_async);
    free(ids);
    return after.synchronize - before.synchronize;
}

static void
batches_of_a_prompt_are_queued_one_after_another(void **state)
{
    const struct shares any = { .n = 0 };
    struct devices devices;
    struct engine engine;
    struct model model;
    uint64_t few;

    (void)state;
    make_model("-a llama");
    sim_reset();
    assert_true(sim_configure(0, 2, "delay=never"));
    assert_true(devices_open(&devices, "Sim0,Sim1", &any, 0));
    assert_true(devices.is_pipelined);
    assert_true(model_open(&model, path, &devices, false));
    assert_true(engine_open(&engine, &model, N_CTX, true));
    assert_int_equal(engine.n_batch, 256);
    few = count_waits(&engine, 2);
    assert_int_equal(count_waits(&engine, 8), few);
    engine_close(&engine);
    model_close(&model);
    devices_close(&devices);
    assert_true(sim_is_clean());
}

static void
layers_are_divided_by_shares(void **state)
{
    static const struct {
        double share[3];
        int ends[3]; /* of 10 layers */
    } rows[] = {
        { { 1, 1, 1 }, { 3, 7, 10 } }, { { 8, 1, 1 }, { 8, 9, 10 } },
        { { 0, 1, 1 }, { 0, 5, 10 } }, { { 1, 1, 0 }, { 5, 10, 10 } },
        { { 1, 0, 1 }, { 5, 5, 10 } }, { { 1e9, 1, 1 }, { 10, 10, 10 } },
    };
    struct devices devices = { .n = 3 };

    (void)state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        memcpy(devices.share, rows[r].share, sizeof(rows[r].share));
        for (int il = 0; il < 10; il++) {
            const int device = devices_of_layer(&devices, il, 10);

            assert_in_range(device, 0, 2);
            assert_true(il < rows[r].ends[device]);
            assert_true(device == 0 || il >= rows[r].ends[device - 1]);
        }
    }
}

static void
free_memory_divides_them_otherwise(void **state)
{
    const struct shares any = { .n = 0 };
    struct devices devices;

    (void)state;
    sim_reset();
    assert_true(sim_configure(0, 1, "memory=24M"));
    assert_true(sim_configure(1, 1, "memory=8M"));
    assert_true(devices_open(&devices, "Sim0,Sim1", &any, 0));
    assert_int_equal(devices_of_layer(&devices, 2, 4), 0);
    assert_int_equal(devices_of_layer(&devices, 3, 4), 1);
    devices_close(&devices);
}

/* The second device has room for less and less. */
static void
memory_that_is_not_there_is_an_error(void **state)
{
    const struct run run = { "Sim0,Sim1", { { 1, 1 }, 2 }, N_PROMPT, true };
    int n_failed = 0;

    (void)state;
    make_model("-a llama");
    for (size_t memory = 1 << 13; memory <= 1 << 22; memory += memory / 2) {
        struct gb_sim_config config;
        float *logits;
        size_t size;

        sim_reset();
        gb_sim_default(&config);
        config.memory = memory;
        assert_true(gb_sim_configure(1, 1, &config));
        logits = run_model(&run, &size);
        n_failed += logits == NULL;
        free(logits);
        assert_true(sim_is_clean());
    }
    assert_in_range(n_failed, 3, 14);
    sim_reset();
}

/* Any call of a kind fails once: a message, or an answer that is right. */
static void
fail_each(enum gb_sim_fault fault, uint64_t step)
{
    const struct run run = { "Sim0,Sim1", { { 1, 1 }, 2 }, N_PROMPT, true };
    size_t size;
    float *right, *logits;
    int n_failed = 0;

    sim_reset();
    right = run_model(&run, &size);
    assert_non_null(right);
    for (uint64_t nth = 1;; nth += step) {
        struct gb_sim_counters before, after;

        gb_sim_count(&before);
        gb_sim_fail(fault, nth);
        logits = run_model(&run, &size);
        gb_sim_count(&after);
        gb_sim_fail(fault, 0);
        assert_true(sim_is_clean());
        if (logits != NULL && memcmp(logits, right, size) != 0)
            fail_msg("fault %d, call %d: the answer is wrong", (int)fault,
                     (int)nth);
        n_failed += logits == NULL;
        free(logits);
        if (after.failed == before.failed)
            break;
    }
    assert_true(n_failed > 2);
    free(right);
}

static void
a_device_that_fails_is_an_error(void **state)
{
    (void)state;
    make_model("-a llama");
    fail_each(GB_SIM_FAULT_ALLOC, 1);
    fail_each(GB_SIM_FAULT_COPY, 3);
    fail_each(GB_SIM_FAULT_COMPUTE, 1);
    fail_each(GB_SIM_FAULT_RUN, 1);
}

static int
begin(void **state)
{
    (void)state;
    sim_reset();
    if (!sim_configure(0, 2, "delay=never"))
        return 1;
    ggml_backend_register(ggml_backend_sim_reg());
    return 0;
}

static int
end(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_divided_by_shares),
        cmocka_unit_test(free_memory_divides_them_otherwise),
        cmocka_unit_test(several_devices_say_what_one_says),
        cmocka_unit_test(batches_of_a_prompt_are_queued_one_after_another),
        cmocka_unit_test(memory_that_is_not_there_is_an_error),
        cmocka_unit_test(a_device_that_fails_is_an_error),
    };

    tool_begin("devices");
    return cmocka_run_group_tests_name("devices", tests, begin, end);
}
