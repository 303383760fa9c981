/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/tiny-model.c - a model of random weights, run by the code that
 * ggmlbackend-run has.
 */
#include "config.h"

#include "tests/cuda/tiny-model.h"

#include "tools/model/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POSITIONS = 64 };

static char path[64];

const char *
tiny_model_path(void)
{
    return path;
}

int
tiny_model_make(void **state)
{
    const char *top = getenv("top_builddir");
    char command[4096 + 128];
    int file;

    (void)state;
    strcpy(path, "tiny-model-XXXXXX");
    file = mkstemp(path);
    if (file < 0 || close(file) != 0)
        return 1;
    snprintf(command, sizeof(command), "'%.4096s'/examples/make-tiny-model %s",
             top != NULL ? top : ".", path);
    return system(command);
}

int
tiny_model_remove(void **state)
{
    (void)state;
    return unlink(path);
}

uint64_t
tiny_hash(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    uint64_t hash = 0;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u + 1;
    return hash;
}

int32_t
tiny_best_of(const float *logits, int64_t n)
{
    int32_t best = 0;

    for (int32_t i = 1; i < n; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

static bool
append_prompt(struct engine *engine, int n_batches)
{
    static const int32_t prompt[TINY_PROMPT] = { 119, 260, 269 };
    const int n = n_batches * TINY_BATCH;
    int32_t tokens[TINY_BATCHES * TINY_BATCH];

    if (n_batches == 0)
        return engine_append_all(engine, prompt, TINY_PROMPT);
    for (int i = 0; i < n; i++)
        tokens[i] = prompt[i % TINY_PROMPT] - i;
    engine->n_batch = TINY_BATCH;
    return engine_append_all(engine, tokens, n);
}

static bool
answer(struct engine *engine, float *logits, const struct tiny_run *run,
       struct tiny_answer *out)
{
    const int64_t n_vocab = engine->model->n_vocab;

    if (!append_prompt(engine, run->n_batches))
        return false;
    for (int i = 0; i < run->n_tokens; i++) {
        if (i > 0 && !engine_append(engine, &out->tokens[i - 1], 1, 1))
            return false;
        if (!engine_logits(engine, 0, 1, logits))
            return false;
        out->tokens[i] = tiny_best_of(logits, n_vocab);
        out->logits[i] =
            tiny_hash(logits, (size_t)n_vocab * sizeof(*logits));
    }
    return true;
}

static bool
run_engine(const struct model *model, const struct tiny_run *run,
           struct tiny_answer *out)
{
    float *logits = calloc((size_t)model->n_vocab, sizeof(*logits));
    struct engine engine;
    bool is_done = false;

    if (logits != NULL &&
        engine_open(&engine, model, POSITIONS, true)) {
        is_done = answer(&engine, logits, run, out);
        engine_close(&engine);
    }
    free(logits);
    return is_done;
}

bool
tiny_model_run(const struct tiny_run *run, struct tiny_answer *out)
{
    const struct shares equal = { .at = { 1, 1 },
                                  .n = devices_count(run->devices) };
    struct devices devices;
    struct model model;
    bool is_done = false;

    memset(out, 0, sizeof(*out));
    if (!devices_open(&devices, run->devices, &equal, 0))
        return false;
    if (model_open(&model, path, &devices, false)) {
        is_done = run_engine(&model, run, out);
        model_close(&model);
    }
    devices_close(&devices);
    return is_done;
}
