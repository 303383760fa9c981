/* SPDX-License-Identifier: MIT */
/*
 * run/report.c - results as lines for people and as JSON.
 */
#include "tools/ggmlbackend-run/report.h"

#include "tools/common/json.h"

#include <stdio.h>
#include <string.h>

/* N per second; 0 where there was nothing to measure. */
static double
rate(size_t n, double seconds)
{
    return n == 0 || seconds <= 0.0 ? 0.0 : (double)n / seconds;
}

/* What both kinds of results have in common.  NULL without memory. */
static json_t *
common(const struct options *options, const struct engine *engine)
{
    const char *device = ggml_backend_dev_name(engine->device->dev);

    return json_pack("{s:o, s:s, s:I, s:b}", "model",
                     tool_json_string(options->model, strlen(options->model)),
                     "device", device, "context", (json_int_t)engine->n_ctx,
                     "mapped", engine->model->is_mapped);
}

bool
report_answer(const struct options *options, const struct engine *engine,
              const struct ids *prompt, const struct answer *answer)
{
    const double prompt_rate = rate(prompt->n, answer->prompt_seconds);
    const double answer_rate = rate(answer->n_computed, answer->seconds);
    json_t *json;

    fprintf(stderr,
            "prompt: %zu tokens, %.1f tokens/s; answer: %zu tokens, "
            "%.1f tokens/s; stopped by %s\n",
            prompt->n, prompt_rate, answer->ids.n, answer_rate, answer->stop);
    if (!options->is_json)
        return true;
    json = common(options, engine);
    json_object_set_new(json, "text",
                        tool_json_string(answer->text.at, answer->text.n));
    json_object_set_new(json, "stop", json_string(answer->stop));
    json_object_set_new(json, "prompt_ids",
                        tool_json_ints(prompt->at, prompt->n));
    json_object_set_new(json, "answer_ids",
                        tool_json_ints(answer->ids.at, answer->ids.n));
    json_object_set_new(json, "prompt_count",
                        json_integer((json_int_t)prompt->n));
    json_object_set_new(json, "answer_count",
                        json_integer((json_int_t)answer->ids.n));
    json_object_set_new(json, "prompt_tokens_per_second",
                        tool_json_real(prompt_rate));
    json_object_set_new(json, "answer_tokens_per_second",
                        tool_json_real(answer_rate));
    if (options->has_logits)
        json_object_set_new(json, "logits",
                            tool_json_floats(answer->logits,
                                             (size_t)engine->model->n_vocab));
    return tool_json_print(json);
}

bool
report_perplexity(const struct options *options, const struct engine *engine,
                  const struct perplexity *p)
{
    const double value = p->running[p->n_windows - 1];
    json_t *json, *running;

    fprintf(stderr, "%zu tokens scored, %zu computed, %.1f tokens/s\n",
            p->n_scored, p->n_tokens, rate(p->n_tokens, p->seconds));
    if (!options->is_json) {
        printf("%.4f\n", value);
        return true;
    }
    json = common(options, engine);
    running = json_array();
    for (size_t i = 0; i < p->n_windows; i++)
        json_array_append_new(running, tool_json_real(p->running[i]));
    json_object_set_new(json, "perplexity", tool_json_real(value));
    json_object_set_new(json, "running", running);
    json_object_set_new(json, "chunks", json_integer((json_int_t)p->n_windows));
    json_object_set_new(json, "prompt_count",
                        json_integer((json_int_t)p->n_tokens));
    json_object_set_new(json, "scored_count",
                        json_integer((json_int_t)p->n_scored));
    json_object_set_new(json, "prompt_tokens_per_second",
                        tool_json_real(rate(p->n_tokens, p->seconds)));
    return tool_json_print(json);
}
