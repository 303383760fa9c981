/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/forward.c - logits and perplexity against double precision.
 */
#include "tests/tools/run/program.h"
#include "tests/tools/run/reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Longer than Gemma's window of 8, with letters and merged tokens. */
static const char text[] =
    "the hello world and 12 the singing worlds, 1995 and the end of it all; "
    "there are no others in the world but the hello.";

/*
 * The squared error, relative to the logits' squares, that may be.  F32
 * weights: queries and attention's weights are rounded to halves where they
 * meet the cache, each by up to 2^-11 of itself, through up to six layers:
 * below 1e-6 in all.  Halves as weights round the other factor likewise.  Q8_0
 * rounds activations to 1/254 of a block's largest, 2e-3 of a typical element,
 * in 14 products.
 */
#define BOUND_F32 3e-6
#define BOUND_Q8  2e-3

#define MOST_IDS 2048

/* The logits after a prompt of LEAST tokens or more that OPTIONS ask for. */
static void
check_logits(const char *model, const char *options, size_t least, double bound)
{
    json_t *json;
    int ids[MOST_IDS];
    size_t n, n_vocab;
    double *logits, *last, error = 0.0, square = 0.0;

    json = run_json("-m %s %s -n 0 --json --logits", model, options);
    n = json_array_size(json_object_get(json, "prompt_ids"));
    assert_in_range(n, least, MOST_IDS);
    for (size_t i = 0; i < n; i++)
        ids[i] = (int)number_at(json, "prompt_ids", i);
    logits = reference_logits(model, ids, n, &n_vocab);
    last = logits + (n - 1) * n_vocab;
    assert_int_equal(json_array_size(json_object_get(json, "logits")), n_vocab);
    for (size_t i = 0; i < n_vocab; i++) {
        error += pow(number_at(json, "logits", i) - last[i], 2);
        square += last[i] * last[i];
    }
    if (!(error <= bound * square))
        fail_msg("%s %s: error %g of %g", model, options, error / square,
                 bound);
    free(logits);
    json_decref(json);
}

static void
check_attention(const char *name, const char *options, const char *attention,
                double bound)
{
    char model[300], prompt[300];

    make_model(name, options);
    snprintf(model, sizeof(model), "%s", in_folder(name));
    snprintf(prompt, sizeof(prompt), "-p '%s' %s", text, attention);
    check_logits(model, prompt, 40, bound);
}

static void
check(const char *name, const char *options, double bound)
{
    check_attention(name, options, "", bound);
    check_attention(name, options, "--no-flash-attn", bound);
}

static void
llama_gives_the_reference_logits(void **state)
{
    (void)state;
    check("llama", "-a llama", BOUND_F32);
    check("llama-2", "-a llama -s 2", BOUND_F32);
    check("llama-f16", "-a llama -t f16", BOUND_F32);
    check("llama-q8", "-a llama -t q8_0", BOUND_Q8);
}

static void
qwen2_gives_the_reference_logits(void **state)
{
    (void)state;
    check("qwen2", "-a qwen2 -p qwen2", BOUND_F32);
    check("qwen2-q8", "-a qwen2 -p qwen2 -t q8_0", BOUND_Q8);
}

static void
gemma3_gives_the_reference_logits(void **state)
{
    (void)state;
    check("gemma3", "-a gemma3 -p default", BOUND_F32);
    check("gemma3-f16", "-a gemma3 -p default -t f16 -s 7", BOUND_F32);
}

static void
stretched_rotations_give_the_reference_logits(void **state)
{
    (void)state;
    check("linear", "-a llama -r linear", BOUND_F32);
    check("yarn", "-a llama -r yarn", BOUND_F32);
    check("freqs", "-a llama -r freqs", BOUND_F32);
    check("qwen2-yarn", "-a qwen2 -p qwen2 -r yarn", BOUND_F32);
    check("gemma3-linear", "-a gemma3 -p default -r linear", BOUND_F32);
}

/* At most 512 tokens are computed at a time. */
static void
a_prompt_of_several_batches_gives_the_reference_logits(void **state)
{
    char many[8 * sizeof(text)], model[300], prompt[400];
    size_t n = 0;

    (void)state;
    for (int i = 0; i < 8; i++)
        n += (size_t)snprintf(many + n, sizeof(many) - n, "%s", text);
    write_file("many", many, n);
    make_model("llama", "-a llama");
    snprintf(model, sizeof(model), "%s", in_folder("llama"));
    snprintf(prompt, sizeof(prompt), "-c 2048 -f %s", in_folder("many"));
    check_logits(model, prompt, 513, BOUND_F32);
    snprintf(prompt, sizeof(prompt), "-c 2048 -f %s --no-flash-attn",
             in_folder("many"));
    check_logits(model, prompt, 513, BOUND_F32);
}

/*
 * Each token of a greedy answer is the reference's best one, or so near to it
 * that rounding decides.  The answer is longer than a step of the cache's view.
 */
static void
check_answer(const char *name, const char *options)
{
    char model[300];
    json_t *json;
    int ids[256];
    size_t n_prompt, n, n_vocab;
    double *logits;

    make_model(name, options);
    snprintf(model, sizeof(model), "%s", in_folder(name));
    json = run_json("-m %s -p 'the hello world and' -n 90 --json", model);
    n_prompt = json_array_size(json_object_get(json, "prompt_ids"));
    n = n_prompt + json_array_size(json_object_get(json, "answer_ids"));
    assert_in_range(n, n_prompt + 1, 255);
    for (size_t i = 0; i < n; i++)
        ids[i] = (int)(i < n_prompt
                           ? number_at(json, "prompt_ids", i)
                           : number_at(json, "answer_ids", i - n_prompt));
    logits = reference_logits(model, ids, n, &n_vocab);
    for (size_t i = n_prompt; i < n; i++) {
        const double *row = logits + (i - 1) * n_vocab;
        double best = row[0];

        for (size_t j = 1; j < n_vocab; j++)
            best = fmax(best, row[j]);
        if (row[ids[i]] < best - 0.02)
            fail_msg("%s: token %zu has logit %g, the best %g", name, i,
                     row[ids[i]], best);
    }
    free(logits);
    json_decref(json);
}

static void
a_greedy_answer_is_that_of_the_reference(void **state)
{
    (void)state;
    check_answer("llama", "-a llama");
    check_answer("qwen2", "-a qwen2 -p qwen2");
    check_answer("gemma3", "-a gemma3 -p default");
}

/* exp of the mean surprise over two windows of 32, by the definition. */
static double
reference_perplexity(const char *model, const int *ids)
{
    double sum = 0.0;
    size_t n_vocab;

    for (size_t w = 0; w < 2; w++) {
        const int *window = ids + w * 32;
        double *logits = reference_logits(model, window, 32, &n_vocab);

        for (size_t i = 17; i < 32; i++) {
            const double *row = logits + (i - 1) * n_vocab;
            double all = 0.0;

            for (size_t j = 0; j < n_vocab; j++)
                all += exp(row[j]);
            sum += log(all) - row[window[i]];
        }
        free(logits);
    }
    return exp(sum / 30.0);
}

static void
check_perplexity(const char *name, const char *options)
{
    char model[300];
    json_t *json;
    int ids[256];
    double wanted, got;
    size_t skipped, n;

    make_model(name, options);
    snprintf(model, sizeof(model), "%s", in_folder(name));
    write_file("text", text, strlen(text));
    /* The ids are those of the prompt, without a token in front. */
    json = run_json("-m %s -f %s -n 0 --json", model, in_folder("text"));
    n = json_array_size(json_object_get(json, "prompt_ids"));
    skipped = strcmp(name, "gemma3") == 0 ? 1 : 0;
    assert_in_range(n, 64 + skipped, 255);
    for (size_t i = 0; i < 64; i++)
        ids[i] = (int)number_at(json, "prompt_ids", i + skipped);
    json_decref(json);
    wanted = reference_perplexity(model, ids);
    json = run_json("-m %s --perplexity %s -c 32 --chunks 2 --json", model,
                    in_folder("text"));
    got = json_number_value(json_object_get(json, "perplexity"));
    if (!(fabs(got / wanted - 1.0) < 5e-3))
        fail_msg("%s: perplexity %g, not %g", name, got, wanted);
    assert_true(number_at(json, "running", 1) == got);
    assert_int_equal(
        json_integer_value(json_object_get(json, "scored_count")), 30);
    json_decref(json);
}

static void
perplexity_is_that_of_the_definition(void **state)
{
    (void)state;
    check_perplexity("llama", "-a llama");
    check_perplexity("qwen2", "-a qwen2 -p qwen2");
    check_perplexity("gemma3", "-a gemma3 -p default");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_gives_the_reference_logits),
        cmocka_unit_test(qwen2_gives_the_reference_logits),
        cmocka_unit_test(gemma3_gives_the_reference_logits),
        cmocka_unit_test(stretched_rotations_give_the_reference_logits),
        cmocka_unit_test(
            a_prompt_of_several_batches_gives_the_reference_logits),
        cmocka_unit_test(a_greedy_answer_is_that_of_the_reference),
        cmocka_unit_test(perplexity_is_that_of_the_definition),
    };

    return cmocka_run_group_tests_name("logits", tests, folder_make,
                                       folder_remove);
}
