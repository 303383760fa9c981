/* SPDX-License-Identifier: MIT */
/*
 * bench/case-models.c - a model that reads a prompt, that answers, and that
 * answers several at once.
 */
#include "tools/ggmlbackend-bench/case.h"
#include "tools/model/array.h"

/* Steps of a run with several sequences. */
#define BATCH_STEPS 16

/* Tokens that a model may meet; which ones does not matter. */
static void
make_ids(int32_t *ids, int64_t n, int64_t n_vocab)
{
    for (int64_t i = 0; i < n; i++)
        ids[i] = (int32_t)((i * 7919 + 13) % n_vocab);
}

/* Are these weights behind the last layer's keys and values, so that only tokens
   whose logits are wanted meet them? */
static bool
is_behind(const struct model *model, const struct ggml_tensor *t)
{
    const struct layer *last = &model->layers[model->hparams.n_layer - 1];

    return t == model->output || t == last->wq || t == last->wo ||
        t == last->ffn_gate || t == last->ffn_up || t == last->ffn_down;
}

/* Products of all weights with N_TOKENS columns, or N_LOGITS. */
static void
count_products(struct job *job, const struct model *model, double n_tokens,
               double n_logits)
{
    struct ggml_tensor *t;

    for (t = ggml_get_first_tensor(model->tensors); t != NULL;
         t = ggml_get_next_tensor(model->tensors, t)) {
        const double n = is_behind(model, t)      ? n_logits
                       : t == model->token_embd ? 0.0
                                                : n_tokens;

        if (t->ne[1] > 1)
            job->demand.ops[job_peak(job, t->type)] +=
                2.0 * (double)ggml_nelements(t) * n;
    }
}

/* What one token must read: all weights, but of the embeddings one row. */
static double
bytes_of_token(const struct model *model)
{
    double bytes = 0.0;
    struct ggml_tensor *t;

    for (t = ggml_get_first_tensor(model->tensors); t != NULL;
         t = ggml_get_next_tensor(model->tensors, t))
        if (t != model->token_embd || t == model->output)
            bytes += (double)ggml_nbytes(t);
    return bytes;
}

/* An engine that has met DEPTH tokens, and room for N more. */
static bool
open_engine(struct job *job, const struct bench *bench, int64_t n,
            int64_t depth)
{
    const struct model *model = &bench->model;
    const int64_t most = n > depth ? n : depth;

    job->n_tokens = n;
    job->depth = depth;
    job->work = (double)n;
    job->demand.is_file = true;
    job->ids = new_zeroed((size_t)most, sizeof(*job->ids));
    job->logits = new_zeroed((size_t)model->n_vocab, sizeof(*job->logits));
    if (job->ids == NULL || job->logits == NULL)
        return false;
    make_ids(job->ids, most, model->n_vocab);
    return engine_open(&job->engine, model, depth + n, true) &&
        engine_append_all(&job->engine, job->ids, depth);
}

static bool
open_prompt(struct job *job, const struct bench *bench,
            const struct bench_case *c, bool *is_supported)
{
    (void)is_supported;
    job->device = bench->device;
    count_products(job, &bench->model, (double)c->size[0], 1.0);
    job->demand.bytes = bytes_of_token(&bench->model);
    return open_engine(job, bench, c->size[0], c->size[1]);
}

/* The whole prompt, and the logits that its last token asks for. */
static bool
run_prompt(struct job *job)
{
    struct engine *e = &job->engine;

    e->n_past = job->depth;
    return engine_append_all(e, job->ids, job->n_tokens) &&
        engine_last_logits(e, job->logits) != NULL;
}

static bool
open_answer(struct job *job, const struct bench *bench,
            const struct bench_case *c, bool *is_supported)
{
    const double n = (double)c->size[0];

    (void)is_supported;
    job->device = bench->device;
    count_products(job, &bench->model, n, n);
    job->demand.bytes = bytes_of_token(&bench->model) * n;
    return open_engine(job, bench, c->size[0], c->size[1]);
}

/* One token after the other, with the logits of each. */
static bool
run_answer(struct job *job)
{
    struct engine *e = &job->engine;

    e->n_past = job->depth;
    for (int64_t i = 0; i < job->n_tokens; i++)
        if (!engine_append(e, job->ids + i, 1, 1) ||
            engine_last_logits(e, job->logits) == NULL)
            return false;
    return true;
}

/* Sequences whose caches have met DEPTH tokens each: what those were does not
   matter, so they are zeros. */
static bool
open_batch(struct job *job, const struct bench *bench,
           const struct bench_case *c, bool *is_supported)
{
    const struct model *model = &bench->model;
    const int64_t n_seq = c->size[0], n = c->size[2];

    job->device = bench->device;
    job->n_tokens = n;
    job->n_seq = n_seq;
    job->depth = c->size[1];
    job->work = (double)(n * n_seq);
    job->demand.is_file = true;
    job->demand.bytes = bytes_of_token(model) * (double)n;
    count_products(job, model, job->work, job->work);
    job->ids = new_zeroed((size_t)n_seq, sizeof(*job->ids));
    job->logits =
        new_zeroed((size_t)(n_seq * model->n_vocab), sizeof(*job->logits));
    if (job->ids == NULL || job->logits == NULL)
        return false;
    make_ids(job->ids, n_seq, model->n_vocab);
    return engine_open_many(&job->engine, model, job->depth + n, n_seq,
                            is_supported);
}

/* Steps of a token of each sequence, with all logits. */
static bool
run_batch(struct job *job)
{
    struct engine *e = &job->engine;

    e->n_past = job->depth;
    for (int64_t i = 0; i < job->n_tokens; i++) {
        if (!engine_append(e, job->ids, job->n_seq, job->n_seq))
            return false;
        for (int64_t first = 0; first < job->n_seq; first += e->n_rows) {
            const int64_t left = job->n_seq - first;

            if (!engine_logits(e, first, left < e->n_rows ? left : e->n_rows,
                               job->logits))
                return false;
        }
    }
    return true;
}

static const struct case_kind batch = { UNIT_TOKENS, open_batch, run_batch,
                                        NULL };
static const struct case_kind prompt = { UNIT_TOKENS, open_prompt, run_prompt,
                                         NULL };
static const struct case_kind answer = { UNIT_TOKENS, open_answer, run_answer,
                                         NULL };

void
cases_models(struct case_list *list, const struct options *o)
{
    for (int d = 0; o->model != NULL && d < o->depths.n; d++) {
        const int64_t depth = o->depths.at[d];

        for (int i = 0; i < o->prompts.n; i++) {
            const int64_t n = o->prompts.at[i];

            case_add(list, (struct bench_case){ .kind = &prompt,
                                                .size = { n, depth } },
                     "model/prompt=%lld/depth=%lld", (long long)n,
                     (long long)depth);
        }
        for (int i = 0; i < o->batches.n; i++) {
            const int64_t n = o->batches.at[i];

            case_add(list, (struct bench_case){ .kind = &batch,
                                                .size = { n, depth,
                                                          BATCH_STEPS } },
                     "model/batch=%lld/depth=%lld", (long long)n,
                     (long long)depth);
        }
        for (int i = 0; i < o->answers.n; i++) {
            const int64_t n = o->answers.at[i];

            case_add(list, (struct bench_case){ .kind = &answer,
                                                .size = { n, depth } },
                     "model/generate=%lld/depth=%lld", (long long)n,
                     (long long)depth);
        }
    }
}
