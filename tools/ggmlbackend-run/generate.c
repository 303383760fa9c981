/* SPDX-License-Identifier: MIT */
/*
 * run/generate.c - continuing a prompt token by token.
 */
#include "tools/ggmlbackend-run/generate.h"

#include "tools/common/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double
seconds_since(int64_t began_us)
{
    return (double)(ggml_time_us() - began_us) * 1e-6;
}

static bool
compute_prompt(struct answer *a, struct engine *e, const struct ids *prompt)
{
    const int64_t began = ggml_time_us();

    a->logits = new_zeroed((size_t)e->model->n_vocab, sizeof(*a->logits));
    if (a->logits == NULL || 
        !engine_append_all(e, prompt->at, (int64_t)prompt->n) ||
        !engine_logits(e, 0, 1, a->logits))
        return false;
    a->prompt_seconds = seconds_since(began);
    return true;
}

/* Take ID into the answer. */
static bool
add(struct answer *a, struct tokenizer *t, int32_t id, bool is_streamed)
{
    const size_t n = a->text.n;

    if (!ids_push(&a->ids, id) || !tokenizer_decode(t, id, &a->text))
        return false;
    if (is_streamed && a->text.n > n) {
        fwrite(a->text.at + n, 1, a->text.n - n, stdout);
        fflush(stdout);
    }
    return true;
}

/* Pick tokens by LOGITS, which are those after the prompt to begin with. */
static bool
continue_prompt(struct answer *a, struct engine *e, struct tokenizer *t,
                struct sampler *s, float *logits, int64_t n_predict,
                bool is_streamed)
{
    a->stop = "length";
    while (n_predict < 0 || (int64_t)a->ids.n < n_predict) {
        int32_t id;

        if (!sampler_pick(s, logits, &id))
            return false;
        if (vocab_is_end(tokenizer_vocab(t), id)) {
            a->stop = "end";
            break;
        }
        if (!add(a, t, id, is_streamed))
            return false;
        if (n_predict >= 0 && (int64_t)a->ids.n == n_predict)
            break;
        if (e->n_past == e->n_ctx) {
            a->stop = "context";
            break;
        }
        if (!engine_append(e, &id, 1, 1) ||
            !engine_logits(e, 0, 1, logits))
            return false;
        a->n_computed++;
    }
    return true;
}

bool
generate(struct answer *a, struct engine *e, struct tokenizer *t,
         struct sampler *s, const struct ids *prompt, int64_t n_predict,
         bool is_streamed)
{
    const size_t size = (size_t)e->model->n_vocab * sizeof(float);
    float *logits;
    int64_t began;
    bool is_done;

    memset(a, 0, sizeof(*a));
    if (!compute_prompt(a, e, prompt))
        return false;
    logits = new_zeroed(1, size);
    if (logits == NULL)
        return false;
    memcpy(logits, a->logits, size);
    began = ggml_time_us();
    is_done = continue_prompt(a, e, t, s, logits, n_predict, is_streamed);
    a->seconds = seconds_since(began);
    free(logits);
    return is_done;
}

void
answer_clear(struct answer *a)
{
    ids_clear(&a->ids);
    bytes_clear(&a->text);
    free(a->logits);
    memset(a, 0, sizeof(*a));
}
