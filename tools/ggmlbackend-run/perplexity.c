/* SPDX-License-Identifier: MIT */
/*
 * run/perplexity.c - how well a model foresees a text.
 */
#include "tools/ggmlbackend-run/perplexity.h"

#include "tools/common/tool.h"
#include "tools/ggmlbackend-run/interrupt.h"
#include "tools/model/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one window after another adds to. */
struct sum {
    struct engine *engine;
    float *logits; /* n_rows rows */
    double total;  /* of -log p */
    size_t n;      /* tokens scored */
};

/* -log of the probability of ID. */
static double
surprise(const float *logits, int64_t n_vocab, int32_t id)
{
    float best = -INFINITY;
    double all = 0.0;

    for (int64_t i = 0; i < n_vocab; i++)
        if (logits[i] > best)
            best = logits[i];
    for (int64_t i = 0; i < n_vocab; i++)
        all += exp((double)logits[i] - best);
    return log(all) - ((double)logits[id] - best);
}

/* Score what follows the last batch's first N rows of those that may be asked
 * for; IDS is the token of the first one. */
static bool
score_rows(struct sum *sum, const int32_t *ids, int64_t n_rows)
{
    const int64_t n_vocab = sum->engine->model->n_vocab;
    const int64_t most = sum->engine->n_rows;
    const int64_t n_blocks = (n_rows + most - 1) / most;
    int64_t first = 0;

    /* Equal blocks where that is possible: each size is another graph. */
    for (int64_t left = n_blocks; left > 0; left--) {
        const int64_t n = (n_rows - first + left - 1) / left;

        if (!engine_logits(sum->engine, first, n, sum->logits))
            return false;
        for (int64_t i = 0; i < n; i++)
            sum->total += surprise(sum->logits + i * n_vocab, n_vocab,
                                   ids[first + i + 1]);
        /* One that is NaN makes the sum NaN. */
        if (isnan(sum->total))
            return tool_error("the model's logits are not numbers");
        sum->n += (size_t)n;
        first += n;
    }
    return true;
}

static bool
score_window(struct sum *sum, const int32_t *ids)
{
    struct engine *e = sum->engine;
    const int64_t first = e->n_ctx / 2, end = e->n_ctx - 1;

    engine_reset(e);
    for (int64_t at = 0; at < e->n_ctx; at += e->n_batch) {
        const int64_t left = e->n_ctx - at;
        const int64_t n = left < e->n_batch ? left : e->n_batch;
        const int64_t from = first > at ? first - at : 0;
        const int64_t to = end < at + n ? end - at : n;

        if (!engine_append(e, ids + at, n, from < to ? n - from : 0))
            return false;
        if (from < to && !score_rows(sum, ids + at + from, to - from))
            return false;
    }
    return true;
}

static bool
score_windows(struct perplexity *p, struct sum *sum, const int32_t *ids)
{
    const int64_t began = ggml_time_us();

    for (size_t i = 0; i < p->n_windows; i++) {
        const struct sum before = *sum;

        if (!score_window(sum, ids + i * (size_t)sum->engine->n_ctx)) {
            if (!interrupt_is_noted())
                return false;
            *sum = before;
            p->n_windows = i;
            p->is_interrupted = true;
            break;
        }
        p->running[i] = exp(sum->total / (double)sum->n);
        fprintf(stderr, "window %zu of %zu: perplexity %.4f\n", i + 1,
                p->n_windows, p->running[i]);
    }
    p->n_scored = sum->n;
    p->n_tokens = p->n_windows * (size_t)sum->engine->n_ctx;
    p->seconds = (double)(ggml_time_us() - began) * 1e-6;
    return true;
}

bool
perplexity_measure(struct perplexity *p, struct engine *engine,
                   const int32_t *ids, size_t n, size_t max_windows)
{
    const size_t n_ctx = (size_t)engine->n_ctx;
    struct sum sum = { .engine = engine };
    bool is_measured;

    memset(p, 0, sizeof(*p));
    if (n_ctx < 3)
        return tool_error("a window of %zu tokens scores none", n_ctx);
    if (n < n_ctx)
        return tool_error("the text has %zu tokens, less than a window of %zu",
                          n, n_ctx);
    p->n_windows = n / n_ctx;
    if (max_windows > 0 && max_windows < p->n_windows)
        p->n_windows = max_windows;
    p->running = new_zeroed(p->n_windows, sizeof(*p->running));
    sum.logits = new_zeroed((size_t)engine->n_rows *
                                (size_t)engine->model->n_vocab,
                            sizeof(*sum.logits));
    is_measured = p->running != NULL && sum.logits != NULL &&
        score_windows(p, &sum, ids);
    free(sum.logits);
    return is_measured;
}

void
perplexity_clear(struct perplexity *p)
{
    free(p->running);
    memset(p, 0, sizeof(*p));
}
