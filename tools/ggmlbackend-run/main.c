/* SPDX-License-Identifier: MIT */
/*
 * run/main.c - ggmlbackend-run: text from a language model.
 */
#include "tools/common/tool.h"
#include "tools/ggmlbackend-run/chat.h"
#include "tools/ggmlbackend-run/converse.h"
#include "tools/ggmlbackend-run/generate.h"
#include "tools/ggmlbackend-run/interrupt.h"
#include "tools/ggmlbackend-run/options.h"
#include "tools/ggmlbackend-run/perplexity.h"
#include "tools/ggmlbackend-run/report.h"
#include "tools/model/repack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Contexts where the command line names none. */
#define CTX_ANSWER     4096
#define CTX_PERPLEXITY 512

/* What is open while there is something to do. */
struct run {
    struct options options;
    struct devices devices;
    struct model model;
    struct tokenizer *tokenizer;
    struct chat chat; /* with --chat */
    struct ids ids; /* of the prompt, or of the text to measure */
};

/* The ids of a text that is continued or measured as it is. */
static bool
encode_as_it_is(struct run *run, const char *text, size_t size)
{
    const bool is_prompt = run->options.perplexity == NULL;
    const struct range all = { 0, size };
    const size_t n_plain = run->options.is_special ? 0 : 1;
    struct tokenizer *t = run->tokenizer;
    struct ids *ids = &run->ids;

    if (is_prompt && !tokenizer_begin(t, ids))
        return false;
    if (!tokenizer_encode(t, text, size, &all, n_plain, ids) ||
        (is_prompt && !tokenizer_end(t, ids)))
        return false;
    /* A prompt may have the token that is put in front of it anyway. */
    if (is_prompt && run->options.is_special && ids->n > 1 &&
        ids->at[0] == ids->at[1] && ids->at[0] == tokenizer_vocab(t)->bos)
        memmove(ids->at, ids->at + 1, --ids->n * sizeof(*ids->at));
    return true;
}

/* The ids of the text that the options name. */
static bool
encode_text(struct run *run, const char *text, size_t size)
{
    const struct chat_message message = { CHAT_USER, text, size };

    return run->options.is_chat
        ? chat_encode(&run->chat, &message, 1, &run->ids)
        : encode_as_it_is(run, text, size);
}

static bool
read_text(struct run *run)
{
    const struct options *o = &run->options;
    const char *path = o->perplexity != NULL ? o->perplexity : o->prompt_file;
    size_t size;
    char *text;
    bool is_encoded;

    if (o->is_conversation)
        return true;
    if (path == NULL)
        return encode_text(run, o->prompt, strlen(o->prompt));
    text = tool_read_file(path, &size);
    if (text == NULL)
        return false;
    is_encoded = encode_text(run, text, size);
    free(text);
    return is_encoded;
}

static bool
open_engine(const struct run *run, struct engine *engine)
{
    const int64_t n_train = run->model.hparams.n_ctx_train;
    int64_t n_ctx = run->options.n_ctx;

    if (n_ctx == 0) {
        n_ctx = run->options.perplexity == NULL ? CTX_ANSWER : CTX_PERPLEXITY;
        n_ctx = n_ctx < n_train ? n_ctx : n_train;
    }
    if (n_ctx > n_train)
        tool_warning("the model was trained with %lld positions, not %lld",
                     (long long)n_train, (long long)n_ctx);
    return engine_open(engine, &run->model, n_ctx, run->options.may_fuse);
}

static bool
open_sampler(const struct run *run, struct sampler *sampler)
{
    const struct options *o = &run->options;

    return sampler_open(sampler, (size_t)run->model.n_vocab, o->temperature,
                        (size_t)o->top_k, o->top_p, (uint64_t)o->seed);
}

static bool
answer_prompt(struct run *run, struct engine *engine)
{
    const struct options *o = &run->options;
    struct answer answer = { 0 };
    struct sampler sampler;
    bool is_done;

    if (run->ids.n == 0)
        return tool_error("the prompt has no tokens");
    if ((int64_t)run->ids.n > engine->n_ctx)
        return tool_error("the prompt has %zu tokens, the context %lld "
                          "positions, see -c", run->ids.n,
                          (long long)engine->n_ctx);
    if (!open_sampler(run, &sampler))
        return false;
    interrupt_arm();
    is_done = generate(&answer, engine, run->tokenizer, &sampler, &run->ids,
                       o->n_predict, !o->is_json);
    tool_end_line();
    is_done = is_done && report_answer(o, engine, &run->ids, &answer);
    interrupt_disarm();
    sampler_close(&sampler);
    answer_clear(&answer);
    return is_done;
}

static bool
converse_with_model(struct run *run, struct engine *engine)
{
    struct sampler sampler;
    bool is_done;

    if (!open_sampler(run, &sampler))
        return false;
    is_done = converse(&run->chat, engine, &sampler, run->options.n_predict);
    sampler_close(&sampler);
    return is_done;
}

static bool
measure_text(struct run *run, struct engine *engine)
{
    struct perplexity perplexity = { 0 };
    bool is_done;

    interrupt_arm();
    is_done = perplexity_measure(&perplexity, engine, run->ids.at, run->ids.n,
                                 (size_t)run->options.n_chunks);
    is_done = is_done &&
        report_perplexity(&run->options, engine, &perplexity);
    interrupt_disarm();
    perplexity_clear(&perplexity);
    return is_done;
}

static bool
work(struct run *run)
{
    struct engine engine;
    bool is_done;

    if (!read_text(run) || !open_engine(run, &engine))
        return false;
    interrupt_watch(&engine);
    is_done = run->options.perplexity != NULL ? measure_text(run, &engine)
        : run->options.is_conversation        ? converse_with_model(run, &engine)
                                              : answer_prompt(run, &engine);
    engine_close(&engine);
    return is_done;
}

/* Weights on several devices stay as they are. */
static bool
repack(struct run *run)
{
    return run->devices.n > 1 ||
           model_repack(&run->model, &run->devices.at[0],
                        run->options.repack);
}

static bool
open_and_work(struct run *run)
{
    const struct options *o = &run->options;
    bool is_done = false;

    tool_load_modules();
    if (!devices_open(&run->devices, o->devices, &o->shares,
                      (int)o->n_threads))
        return false;
    if (model_open(&run->model, o->model, &run->devices, o->may_map)) {
        run->tokenizer =
            tokenizer_open(run->model.gguf, run->model.n_vocab);
        is_done = run->tokenizer != NULL &&
                  (!o->is_chat ||
                   chat_open(&run->chat, run->tokenizer, run->model.gguf,
                             o->model, o->system, o->is_special)) &&
                  repack(run) &&
                  work(run);
        tokenizer_close(run->tokenizer);
        ids_clear(&run->ids);
        model_close(&run->model);
    }
    devices_close(&run->devices);
    return is_done;
}

int
main(int argc, char **argv)
{
    struct run run = { 0 };
    int status;

    tool_begin("ggmlbackend-run");
    if (options_read(&run.options, argc, argv, &status))
        status = open_and_work(&run) ? TOOL_OK : TOOL_FAILED;
    status = tool_end(status);
    if (interrupt_is_noted() && !run.options.is_conversation)
        interrupt_end();
    return status;
}
