/* SPDX-License-Identifier: MIT */
/*
 * run/report.c - results as lines for people and as JSON.
 */
#include "tools/ggmlbackend-run/report.h"

#include "tools/common/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* N per second; NaN where there was nothing to measure. */
static double
rate(size_t n, double seconds)
{
    return n == 0 || seconds <= 0.0 ? NAN : (double)n / seconds;
}

/* "NAME: 5 tokens, 20.0 tokens/s", without a speed that is not known. */
static void
print_speed(const char *name, size_t n, double per_second)
{
    fprintf(stderr, "%s: %zu token%s", name, n, n == 1 ? "" : "s");
    if (!isnan(per_second))
        fprintf(stderr, ", %.1f tokens/s", per_second);
    fputs("; ", stderr);
}

/* Which layers each device has, in their order. */
static json_t *
layers(const struct model *model)
{
    const struct devices *devices = model->devices;
    json_t *list = json_array();
    int64_t first = 0, end = 0;

    for (int i = 0; i < devices->n; i++, first = end) {
        const char *name = ggml_backend_dev_name(devices->at[i].dev);
        json_t *item = json_object();

        while (end < model->hparams.n_layer && model->layers[end].device == i)
            end++;
        tool_json_put(item, "device", tool_json_text(name));
        tool_json_put(item, "first", json_integer(first));
        tool_json_put(item, "count", json_integer(end - first));
        tool_json_add(list, item);
    }
    return list;
}

/* What both kinds of results have in common. */
static json_t *
common(const struct options *options, const struct engine *engine)
{
    json_t *root = json_object();

    tool_json_put(root, "model", tool_json_text(options->model));
    tool_json_put(root, "device",
                  tool_json_text(engine->model->devices->names));
    tool_json_put(root, "layers", layers(engine->model));
    tool_json_put(root, "context", json_integer(engine->n_ctx));
    tool_json_put(root, "mapped", json_boolean(engine->model->is_mapped));
    tool_json_put(root, "copied", json_boolean(engine->model->copies != NULL));
    tool_json_put(root, "repacked", json_boolean(engine->model->is_repacked));
    return root;
}

/* Results of what was ended from outside say so. */
static void
put_stopped(json_t *json, bool is_interrupted)
{
    if (is_interrupted)
        tool_json_put(json, "stopped", tool_json_text("interrupt"));
}

bool
report_answer(const struct options *options, const struct engine *engine,
              const struct ids *prompt, const struct answer *answer)
{
    const double prompt_rate = rate(answer->n_prompt, answer->prompt_seconds);
    const double answer_rate = rate(answer->n_computed, answer->seconds);
    json_t *json;

    print_speed("prompt", prompt->n, prompt_rate);
    print_speed("answer", answer->ids.n, answer_rate);
    fprintf(stderr, "stopped by %s\n", answer->stop);
    if (!options->is_json)
        return true;
    json = common(options, engine);
    tool_json_put(json, "text",
                  tool_json_string(answer->text.at, answer->text.n));
    tool_json_put(json, "stop", tool_json_text(answer->stop));
    put_stopped(json, strcmp(answer->stop, "interrupt") == 0);
    tool_json_put(json, "prompt_ids", tool_json_ints(prompt->at, prompt->n));
    tool_json_put(json, "answer_ids",
                  tool_json_ints(answer->ids.at, answer->ids.n));
    tool_json_put(json, "prompt_count", json_integer((json_int_t)prompt->n));
    tool_json_put(json, "answer_count",
                  json_integer((json_int_t)answer->ids.n));
    tool_json_put(json, "prompt_tokens_per_second",
                  tool_json_real(prompt_rate));
    tool_json_put(json, "answer_tokens_per_second",
                  tool_json_real(answer_rate));
    if (options->has_logits && answer->logits != NULL)
        tool_json_put(json, "logits",
                      tool_json_floats(answer->logits,
                                       (size_t)engine->model->n_vocab));
    return tool_json_print(json);
}

bool
report_perplexity(const struct options *options, const struct engine *engine,
                  const struct perplexity *p)
{
    const double value = p->n_windows > 0 ? p->running[p->n_windows - 1] : NAN;
    const double speed = rate(p->n_tokens, p->seconds);
    json_t *json, *running;

    fprintf(stderr, "%zu tokens scored, %zu computed", p->n_scored,
            p->n_tokens);
    if (!isnan(speed))
        fprintf(stderr, ", %.1f tokens/s", speed);
    fputs(p->is_interrupted ? "; stopped by interrupt\n" : "\n", stderr);
    if (!options->is_json) {
        if (p->n_windows > 0)
            printf("%.4f\n", value);
        return true;
    }
    json = common(options, engine);
    running = json_array();
    for (size_t i = 0; i < p->n_windows; i++)
        tool_json_add(running, tool_json_real(p->running[i]));
    tool_json_put(json, "perplexity", tool_json_real(value));
    tool_json_put(json, "running", running);
    put_stopped(json, p->is_interrupted);
    tool_json_put(json, "chunks", json_integer((json_int_t)p->n_windows));
    tool_json_put(json, "prompt_count", json_integer((json_int_t)p->n_tokens));
    tool_json_put(json, "scored_count", json_integer((json_int_t)p->n_scored));
    tool_json_put(json, "prompt_tokens_per_second",
                  tool_json_real(speed));
    return tool_json_print(json);
}
