/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/answers.c - what may and what may not change an answer.
 */
#include "tests/tools/run/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char prompt[] = "the hello world and 12 the singing worlds";

static const struct {
    const char *name;
    const char *options;
} models[] = {
    { "llama", "-a llama" },
    { "llama-q8", "-a llama -t q8_0" },
    { "qwen2", "-a qwen2 -p qwen2 -t f16" },
    { "gemma3", "-a gemma3 -p default" },
};

#define N_MODELS (sizeof(models) / sizeof(models[0]))

/* The path of model I, made when it is not there yet. */
static const char *
model(size_t i)
{
    make_model(models[i].name, models[i].options);
    return in_folder(models[i].name);
}

/* Do A and B have equal members KEY? */
static bool
is_same(const json_t *a, const json_t *b, const char *key)
{
    return json_equal(json_object_get(a, key), json_object_get(b, key)) == 1;
}

static void
any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        json_t *one = run_json("-m %s -p '%s' -n 40 -t 1 --json --logits",
                               model(i), prompt);

        for (int n = 2; n <= 3; n++) {
            json_t *other = run_json(
                "-m %s -p '%s' -n 40 -t %d --json --logits", model(i), prompt,
                n);

            if (!is_same(one, other, "answer_ids") ||
                !is_same(one, other, "logits"))
                fail_msg("%s with %d threads", models[i].name, n);
            json_decref(other);
        }
        json_decref(one);
    }
}

static void
copied_weights_give_the_same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        json_t *mapped =
            run_json("-m %s -p '%s' -n 20 --json --logits", model(i), prompt);
        json_t *copied = run_json(
            "-m %s -p '%s' -n 20 --json --logits --no-mmap", model(i), prompt);

        assert_true(is_same(mapped, copied, "answer_ids"));
        assert_true(is_same(mapped, copied, "logits"));
        assert_true(json_is_true(json_object_get(mapped, "mapped")));
        assert_true(json_is_false(json_object_get(copied, "mapped")));
        json_decref(mapped);
        json_decref(copied);
    }
}

/* The second model's type is one that the CPU repacks. */
static void
repacked_weights_give_the_same_bits(void **state)
{
    json_t *plain = run_json(
        "-m %s -p '%s' -n 20 --json --logits --device CPU --repack off",
        model(1), prompt);

    (void)state;
    for (int n = 1; n <= 3; n++) {
        json_t *repacked = run_json(
            "-m %s -p '%s' -n 20 --json --logits --device CPU --repack on "
            "-t %d%s", model(1), prompt, n, n == 2 ? " --no-mmap" : "");

        assert_true(is_same(plain, repacked, "answer_ids"));
        assert_true(is_same(plain, repacked, "logits"));
        assert_true(json_is_true(json_object_get(repacked, "copied")));
        assert_true(json_is_true(json_object_get(repacked, "repacked")));
        json_decref(repacked);
    }
    assert_true(json_is_false(json_object_get(plain, "copied")));
    assert_true(json_is_false(json_object_get(plain, "repacked")));
    json_decref(plain);
}

/* There is nothing to gain with what caches hold. */
static void
small_models_are_left_in_their_file(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        json_t *chosen =
            run_json("-m %s -p '%s' -n 2 --json --device CPU --repack auto",
                     model(i), prompt);

        assert_true(json_is_true(json_object_get(chosen, "mapped")));
        assert_true(json_is_false(json_object_get(chosen, "copied")));
        assert_true(json_is_false(json_object_get(chosen, "repacked")));
        json_decref(chosen);
    }
}

static void
a_seed_gives_the_same_text_and_another_one_another(void **state)
{
    json_t *a, *b, *c;

    (void)state;
    a = run_json("-m %s -p '%s' -n 40 --temp 2 --seed 5 --json", model(0),
                 prompt);
    b = run_json("-m %s -p '%s' -n 40 --temp 2 --seed 5 --json", model(0),
                 prompt);
    c = run_json("-m %s -p '%s' -n 40 --temp 2 --seed 6 --json", model(0),
                 prompt);
    assert_true(is_same(a, b, "answer_ids"));
    assert_false(is_same(a, c, "answer_ids"));
    json_decref(a);
    json_decref(b);
    json_decref(c);
}

static void
drawing_from_one_token_is_taking_the_best(void **state)
{
    json_t *best, *k, *p;

    (void)state;
    best = run_json("-m %s -p '%s' -n 40 --json", model(1), prompt);
    k = run_json("-m %s -p '%s' -n 40 --temp 3 --top-k 1 --json", model(1),
                 prompt);
    p = run_json("-m %s -p '%s' -n 40 --temp 3 --top-k 0 --top-p 0 --json",
                 model(1), prompt);
    assert_true(is_same(best, k, "answer_ids"));
    assert_true(is_same(best, p, "answer_ids"));
    json_decref(best);
    json_decref(k);
    json_decref(p);
}

static void
standard_output_has_the_text_and_nothing_else(void **state)
{
    const char *options = "-m %s -p 'the hello' -n 30 --temp 1 %s";

    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        json_t *json = run_json(options, model(i), "--json");
        struct result r = run(options, model(i), "");
        const json_t *member = json_object_get(json, "text");
        const char *text = json_string_value(member);
        const size_t size = json_string_length(member);
        size_t n = 0;

        /* JSON has U+FFFD where a byte is no UTF-8; compare up to there. */
        while (n < size && strncmp(text + n, "\xef\xbf\xbd", 3) != 0)
            n++;
        assert_int_equal(r.status, 0);
        assert_true(r.size >= n);
        assert_memory_equal(r.out, text, n);
        assert_non_null(strstr(r.err, "tokens/s"));
        result_free(&r);
        json_decref(json);
    }
}

static void
an_answer_ends_when_it_has_to(void **state)
{
    json_t *json = run_json("-m %s -p '%s' -n 3 --json", model(0), prompt);
    const char *stop = json_string_value(json_object_get(json, "stop"));
    json_int_t n_prompt, n;

    (void)state;
    n_prompt = json_integer_value(json_object_get(json, "prompt_count"));
    assert_string_equal(stop, "length");
    assert_int_equal(
        json_integer_value(json_object_get(json, "answer_count")), 3);
    json_decref(json);

    /* The last token that is made takes no place in the context. */
    json = run_json("-m %s -p '%s' -n -1 -c %d --json", model(0), prompt,
                    (int)n_prompt + 5);
    stop = json_string_value(json_object_get(json, "stop"));
    n = json_integer_value(json_object_get(json, "answer_count"));
    if (strcmp(stop, "end") != 0) {
        assert_string_equal(stop, "context");
        assert_int_equal(n, 6);
    }
    json_decref(json);
}

static void
a_larger_context_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        json_t *small =
            run_json("-m %s -p '%s' -n 20 -c 70 --json", model(i), prompt);
        json_t *large =
            run_json("-m %s -p '%s' -n 20 -c 250 --json", model(i), prompt);

        assert_true(is_same(small, large, "answer_ids"));
        json_decref(small);
        json_decref(large);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(copied_weights_give_the_same_bits),
        cmocka_unit_test(repacked_weights_give_the_same_bits),
        cmocka_unit_test(small_models_are_left_in_their_file),
        cmocka_unit_test(a_seed_gives_the_same_text_and_another_one_another),
        cmocka_unit_test(drawing_from_one_token_is_taking_the_best),
        cmocka_unit_test(standard_output_has_the_text_and_nothing_else),
        cmocka_unit_test(an_answer_ends_when_it_has_to),
        cmocka_unit_test(a_larger_context_changes_nothing),
    };

    return cmocka_run_group_tests_name("answers", tests, folder_make,
                                       folder_remove);
}
