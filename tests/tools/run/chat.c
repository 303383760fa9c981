/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/chat.c - conversations as the templates of models write them.
 *
 * chat-truth.def has what Jinja 2 makes of each published template that
 * chat-templates.def lists, with the settings of Hugging Face's transformers.
 */
#include "tools/ggmlbackend-run/chat-form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    uint64_t hash;
    const char *without; /* a system message; NULL where it is refused */
    const char *with;
} truths[] = {
#define TRUTH(hash, without, with) { UINT64_C(hash), without, with },
#include "tests/tools/run/chat-truth.def"
#undef TRUTH
};

#define N_TRUTHS (sizeof(truths) / sizeof(truths[0]))

#define SAYS(role, text) { role, text, sizeof(text) - 1 }

static const struct chat_message without_system[] = {
    SAYS(CHAT_USER, " a\n"),
    SAYS(CHAT_ANSWER, "b\nx</think>\n\nc "),
    SAYS(CHAT_USER, "d"),
};

static const struct chat_message with_system[] = {
    SAYS(CHAT_SYSTEM, " S\n"),
    SAYS(CHAT_USER, " a\n"),
    SAYS(CHAT_ANSWER, "b"),
    SAYS(CHAT_USER, "d"),
};

static void
check_written(const struct chat_form *form, const struct chat_message *messages,
              size_t n, const char *truth)
{
    static const struct chat_words words = {
        { NULL, "<s>", "</s>", "17 Mar 2031" }, { 0, 3, 4, 11 },
    };
    struct chat_text text = { { NULL, 0, 0 }, NULL, 0 };

    assert_true(chat_form_write(form, &words, messages, n, &text));
    if (text.text.n != strlen(truth) ||
        memcmp(text.text.at, truth, text.text.n) != 0)
        fail_msg("%s: '%.*s', not '%s'", form->name, (int)text.text.n,
                 text.text.at, truth);
    /* What people said is marked as such: d, and before it no less. */
    assert_int_equal(text.n_plain, n);
    for (size_t i = 0; i < n; i++) {
        const struct range *r = &text.plain[i];

        assert_true(r->begin < r->end && r->end <= text.text.n);
        assert_true(i == 0 || text.plain[i - 1].end <= r->begin);
    }
    assert_memory_equal(text.text.at + text.plain[n - 1].begin, "d", 1);
    chat_text_clear(&text);
}

static void
each_known_template_is_written_as_jinja_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_TRUTHS; i++) {
        const struct chat_form *form = chat_form_by_hash(truths[i].hash);

        assert_non_null(form);
        check_written(form, without_system, 3, truths[i].without);
        assert_int_equal(truths[i].with == NULL, form->place == CHAT_NOWHERE);
        if (truths[i].with != NULL)
            check_written(form, with_system, 4, truths[i].with);
    }
}

/* Rows of chat-templates.def without a truth, or with two. */
static void
each_known_template_has_a_truth(void **state)
{
    static const uint64_t hashes[] = {
#define TEMPLATE(hash, form, where) UINT64_C(hash),
#include "tools/ggmlbackend-run/chat-templates.def"
#undef TEMPLATE
    };

    (void)state;
    assert_int_equal(sizeof(hashes) / sizeof(hashes[0]), N_TRUTHS);
    for (size_t i = 0; i < N_TRUTHS; i++) {
        int n = 0;

        for (size_t j = 0; j < N_TRUTHS; j++)
            n += truths[j].hash == hashes[i];
        if (n != 1)
            fail_msg("hash %016llx has %d truths",
                     (unsigned long long)hashes[i], n);
    }
}

static uint64_t
hash_of(const char *text)
{
    uint64_t hash = 0;

    assert_true(chat_template_hash(text, strlen(text), &hash));
    return hash;
}

/* FNV-1a of "a", published with the function, and of a text without tags. */
static void
a_plain_template_has_the_hash_of_its_text(void **state)
{
    (void)state;
    assert_true(hash_of("a") == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(hash_of("foobar") == UINT64_C(0x85944171f73967e8));
}

static void
what_changes_nothing_does_not_change_the_hash(void **state)
{
    static const char *const same[][2] = {
        { "{{ x }}", "{{x}}" },
        { "{{ x }}", "{{  x\t}}" },
        { "{%- if  a  ==\n'b' -%}", "{%- if a == 'b'-%}" },
        { "{{ 'a\\nb' }}", "{{ 'a\nb' }}" },
        { "{{ \"a\\nb\" }}", "{{ \"a\nb\" }}" },
        { "a\r\nb", "a\nb" },
        { "a\rb", "a\nb" },
        { "a\n", "a" },
        { "{% x %}", "{% x %}\r\n" },
    };
    static const char *const other[][2] = {
        { "{{ x }}", "{{ y }}" },
        { "{{ x }}", "{{ x }} " },
        { "{{ x }}", "{{- x }}" },
        { "{{ - x }}", "{{- x }}" },
        { "{{ x y }}", "{{ xy }}" },
        { "{{ ' a' }}", "{{ 'a' }}" },
        { "{{ 'a  b' }}", "{{ 'a b' }}" },
        { "{{ 'a\\\\nb' }}", "{{ 'a\\nb' }}" },
        { "a\\nb", "a\nb" },
        { "a\n\n", "a\n" },
        { "a  b", "a b" },
        { "{# x  y #}", "{# x y #}" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
        if (hash_of(same[i][0]) != hash_of(same[i][1]))
            fail_msg("%zu: '%s' is not '%s'", i, same[i][0], same[i][1]);
    for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        if (hash_of(other[i][0]) == hash_of(other[i][1]))
            fail_msg("%zu: '%s' is '%s'", i, other[i][0], other[i][1]);
}

/* Cut anywhere, a template is another one, and nothing is read behind it. */
static void
a_cut_template_has_a_hash(void **state)
{
    static const char text[] = "a{%- if b == 'c\\n' -%}{{ \"d\" }}\r\n{# e #}";
    uint64_t hashes[sizeof(text)];

    (void)state;
    for (size_t n = 0; n < sizeof(text); n++) {
        assert_true(chat_template_hash(text, n, &hashes[n]));
        assert_null(chat_form_by_hash(hashes[n]));
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_known_template_is_written_as_jinja_does),
        cmocka_unit_test(each_known_template_has_a_truth),
        cmocka_unit_test(a_plain_template_has_the_hash_of_its_text),
        cmocka_unit_test(what_changes_nothing_does_not_change_the_hash),
        cmocka_unit_test(a_cut_template_has_a_hash),
    };

    return cmocka_run_group_tests_name("chat", tests, NULL, NULL);
}
