/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/bench/batch.c - a model that answers several sequences at once says
 * to each what it says to it alone.
 */
#include "tools/model/engine.h"

#include "tools/common/tool.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define N_SEQ   5
#define N_STEPS 6

static char path[64];
static struct devices devices;
static struct model model;

static int32_t
token_of(int sequence, int step)
{
    return (int32_t)((sequence * 31 + step * 7 + 3) % model.n_vocab);
}

static int
open_model(void **state)
{
    const struct shares any = { .n = 0 };
    char command[256];
    const char *top = getenv("top_builddir");

    (void)state;
    snprintf(path, sizeof(path), "bench-batch-%ld.gguf", (long)getpid());
    snprintf(command, sizeof(command), "%s/examples/make-tiny-model %s",
             top == NULL ? "." : top, path);
    if (system(command) != 0 || !devices_open(&devices, "CPU", &any, 2))
        return 1;
    return !model_open(&model, path, &devices, false);
}

static int
close_model(void **state)
{
    (void)state;
    model_close(&model);
    devices_close(&devices);
    unlink(path);
    return 0;
}

/* Each sequence's logits after the last step, one sequence at a time. */
static void
answer_alone(int sequence, float *logits)
{
    struct engine engine;

    assert_true(engine_open(&engine, &model, N_STEPS, true));
    for (int i = 0; i < N_STEPS; i++) {
        const int32_t id = token_of(sequence, i);

        assert_true(engine_append(&engine, &id, 1, 1));
    }
    assert_true(engine_logits(&engine, 0, 1, logits));
    engine_close(&engine);
}

/* The sums are those of one token, but for the path that a product of several
 * columns takes. */
static void
each_sequence_has_its_own_keys_and_values(void **state)
{
    float *alone = calloc((size_t)model.n_vocab, sizeof(*alone));
    float *many = calloc(N_SEQ * (size_t)model.n_vocab, sizeof(*many));
    struct engine engine;
    bool is_supported = false;

    (void)state;
    assert_non_null(alone);
    assert_non_null(many);
    assert_true(engine_open_many(&engine, &model, N_STEPS, N_SEQ,
                                 &is_supported));
    assert_true(is_supported);
    for (int i = 0; i < N_STEPS; i++) {
        int32_t ids[N_SEQ];

        for (int s = 0; s < N_SEQ; s++)
            ids[s] = token_of(s, i);
        assert_true(engine_append(&engine, ids, N_SEQ, N_SEQ));
    }
    assert_int_equal(engine.n_past, N_STEPS);
    assert_true(engine_logits(&engine, 0, N_SEQ, many));
    engine_close(&engine);
    for (int s = 0; s < N_SEQ; s++) {
        answer_alone(s, alone);
        for (int64_t i = 0; i < model.n_vocab; i++)
            assert_true(fabsf(alone[i] - many[s * model.n_vocab + i]) <
                        1e-2f + 1e-2f * fabsf(alone[i]));
    }
    /* Sequences differ, or nothing was compared. */
    assert_true(fabsf(many[0] - many[model.n_vocab]) > 1e-2f ||
                fabsf(many[1] - many[model.n_vocab + 1]) > 1e-2f);
    free(alone);
    free(many);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sequence_has_its_own_keys_and_values),
    };

    tool_begin("batch");
    return cmocka_run_group_tests_name("batch", tests, open_model, close_model);
}
