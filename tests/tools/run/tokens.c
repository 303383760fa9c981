/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/tokens.c - texts and their token ids, worked out by hand.
 *
 * The vocabularies are those of make-tiny-model.  Byte-level: 0 <|endoftext|>,
 * 1 <|im_start|>, 2 <|im_end|>, 3 + b the byte b, then the merges from 259 on
 * in their order.  SentencePiece: 2 <bos>, 4 two line ends, 5 <start_of_turn>,
 * 6 <end_of_turn>, 7 + b the byte b, pieces from 263 on, the blank 287, and
 * letters from 288 on.
 */
#include "tests/tools/run/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MAX_IDS 48
#define END     (-1)

struct vector {
    const char *text;
    int ids[MAX_IDS]; /* END after the last */
};

static void
check_ids(const char *model, const char *options, const struct vector *v)
{
    char name[300];
    const json_t *ids;
    json_t *json;
    size_t i;

    write_file("text", v->text, strlen(v->text));
    snprintf(name, sizeof(name), "%s", in_folder(model));
    json = run_json("-m %s -f %s -n 0 --json %s", name, in_folder("text"),
                    options);
    ids = json_object_get(json, "prompt_ids");
    for (i = 0; v->ids[i] != END; i++)
        if (number_at(json, "prompt_ids", i) != v->ids[i])
            fail_msg("%s '%s': id %zu is %g, not %d", model, v->text, i,
                     number_at(json, "prompt_ids", i), v->ids[i]);
    if (json_array_size(ids) != i)
        fail_msg("%s '%s': %zu ids, not %zu", model, v->text,
                 json_array_size(ids), i);
    json_decref(json);
}

#define CHECK_ALL(model, options, vectors)                              \
    for (size_t i_ = 0; i_ < sizeof(vectors) / sizeof(vectors[0]); i_++) \
        check_ids(model, options, &vectors[i_])

static void
byte_pairs_join_in_the_order_of_training(void **state)
{
    static const struct vector vectors[] = {
        /* "T he" comes after "h e", so both steps happen. */
        { "The", { 276, END } },
        /* "Ġ t" first, then "h e", then both. */
        { " the", { 261, END } },
        { "the", { 3 + 't', 260, END } },
        /* "e ll" loses against "h e", so "ell" is not found. */
        { "hello", { 260, 271, 3 + 'o', END } },
        { "bell", { 3 + 'b', 282, END } },
        /* "i n" before "in g" */
        { "singing", { 3 + 's', 273, 273, END } },
        /* " and" is " a" and "nd". */
        { " and", { 269, END } },
        { "nd and", { 268, 269, END } },
        /* Two bytes of one character are joined like others. */
        { "\xc3\xa9", { 277, END } },
        { "caf\xc3\xa9 12", { 3 + 'c', 3 + 'a', 3 + 'f', 277, 35, 3 + '1',
                              3 + '2', END } },
    };

    (void)state;
    make_model("smollm", "-a llama -p smollm");
    CHECK_ALL("smollm", "", vectors);
}

static void
text_is_cut_before_bytes_join(void **state)
{
    /* smollm: single digits, which never join. */
    static const struct vector smollm[] = {
        { "12 it's", { 3 + '1', 3 + '2', 35, 3 + 'i', 3 + 't', 275, END } },
        /* Of two blanks the second belongs to the word. */
        { "a  the", { 3 + 'a', 35, 261, END } },
        { "a   the", { 3 + 'a', 267, 261, END } },
        { "\n\n", { 278, END } },
        /* The last of several line ends is cut off before a word. */
        { "a\n\nb", { 3 + 'a', 13, 13, 3 + 'b', END } },
    };
    /* gpt-2: digits together, after a blank too. */
    static const struct vector gpt2[] = {
        { "1234", { 281, 3 + '4', END } },
        { "12 12", { 274, 35, 274, END } },
        { "IT'S", { 3 + 'I', 3 + 'T', 3 + '\'', 3 + 'S', END } },
        /* "h e" joins before "Ġ h", so "Ġhe" is not found. */
        { " he", { 35, 260, END } },
        /* What is not UTF-8 is a piece, byte by byte. */
        { "\xff\xc3", { 258, 3 + 0xc3, END } },
    };
    /* qwen2: line ends stay with punctuation, digits alone. */
    static const struct vector qwen2[] = {
        { "12", { 3 + '1', 3 + '2', END } },
        { "?\n\na", { 3 + '?', 278, 3 + 'a', END } },
        { "\n\n\n", { 278, 13, END } },
    };

    /* llama-bpe: digits by three, and a piece that is a token is that token. */
    static const struct vector llama3[] = {
        { "1231", { 281, 3 + '1', END } },
        { "12123", { 274, 3 + '1', 3 + '2', 3 + '3', END } },
        { " he", { 280, END } },
    };

    (void)state;
    make_model("smollm", "-a llama -p smollm");
    CHECK_ALL("smollm", "", smollm);
    make_model("gpt2", "-a llama -p gpt-2");
    CHECK_ALL("gpt2", "", gpt2);
    make_model("qwen2", "-a qwen2 -p qwen2");
    CHECK_ALL("qwen2", "", qwen2);
    make_model("llama3", "-a llama -p llama-bpe");
    CHECK_ALL("llama3", "", llama3);
}

static void
pieces_join_by_their_score(void **state)
{
    static const struct vector vectors[] = {
        { "the", { 2, 289, 264, END } },
        { " the", { 2, 265, END } },
        { " hello", { 2, 282, END } },
        /* The blank joins "w" before "wo" or "ld" come up. */
        { "hello world", { 2, 281, 274, 291, 284, 297, END } },
        { "ding", { 2, 297, 277, END } },
        { "  a", { 2, 287, 268, END } },
        /* Capitals and accents are spelled in bytes. */
        { "The", { 2, 7 + 'T', 264, END } },
        { "\xc3\xa9", { 2, 7 + 0xc3, 7 + 0xa9, END } },
        { "\xff", { 2, 7 + 0xff, END } },
        /* Tokens added by hand are found whole. */
        { "a\n\nb", { 2, 290, 4, 307, END } },
        { "a\nb", { 2, 290, 17, 307, END } },
    };

    (void)state;
    make_model("gemma3", "-a gemma3 -p default");
    CHECK_ALL("gemma3", "", vectors);
}

static void
control_tokens_in_text_are_text(void **state)
{
    static const struct vector gemma3[] = {
        { "<bos>", { 2, 7 + '<', 307, 291, 294, 7 + '>', END } },
    };
    static const struct vector smollm[] = {
        { "<|im_end|>", { 3 + '<', 3 + '|', 3 + 'i', 3 + 'm', 3 + '_', 3 + 'e',
                          268, 3 + '|', 3 + '>', END } },
    };

    (void)state;
    make_model("gemma3", "-a gemma3 -p default");
    CHECK_ALL("gemma3", "", gemma3);
    make_model("smollm", "-a llama -p smollm");
    CHECK_ALL("smollm", "", smollm);
}

static void
control_tokens_in_text_are_understood_where_asked(void **state)
{
    /* The token that is put in front of a prompt is there once. */
    static const struct vector gemma3[] = {
        { "<bos>he<end_of_turn>", { 2, 264, 6, END } },
        { "he<end_of_turn>", { 2, 264, 6, END } },
    };
    static const struct vector smollm[] = {
        { "<|im_start|>he<|im_end|>", { 1, 260, 2, END } },
    };

    (void)state;
    make_model("gemma3", "-a gemma3 -p default");
    CHECK_ALL("gemma3", "--special", gemma3);
    make_model("smollm", "-a llama -p smollm");
    CHECK_ALL("smollm", "--special", smollm);
}

static void
a_message_is_framed_as_the_model_knows_it(void **state)
{
    static const struct vector smollm[] = {
        /* Blanks stay. */
        { " he\n", { 1, 3 + 'u', 3 + 's', 263, 13, 35, 260, 13, 2, 13, 1,
                     3 + 'a', 3 + 's', 3 + 's', 3 + 'i', 3 + 's', 3 + 't',
                     3 + 'a', 3 + 'n', 3 + 't', 13, END } },
        /* A control token in the message does not end it. */
        { "<|im_end|>", { 1, 3 + 'u', 3 + 's', 263, 13, 3 + '<', 3 + '|',
                          3 + 'i', 3 + 'm', 3 + '_', 3 + 'e', 268, 3 + '|',
                          3 + '>', 2, 13, 1, 3 + 'a', 3 + 's', 3 + 's', 3 + 'i',
                          3 + 's', 3 + 't', 3 + 'a', 3 + 'n', 3 + 't', 13,
                          END } },
    };
    static const struct vector gemma3[] = {
        { "he", { 2, 5, 299, 294, 267, 17, 264, 6, 17, 5, 301, 291, 297, 288,
                  298, 17, END } },
        /* Blanks around a message are left out, as its template does. */
        { " he\n\n", { 2, 5, 299, 294, 267, 17, 264, 6, 17, 5, 301, 291, 297,
                       288, 298, 17, END } },
    };

    (void)state;
    make_model("smollm", "-a llama -p smollm");
    CHECK_ALL("smollm", "--chat", smollm);
    make_model("gemma3", "-a gemma3 -p default");
    CHECK_ALL("gemma3", "--chat", gemma3);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(byte_pairs_join_in_the_order_of_training),
        cmocka_unit_test(text_is_cut_before_bytes_join),
        cmocka_unit_test(pieces_join_by_their_score),
        cmocka_unit_test(control_tokens_in_text_are_text),
        cmocka_unit_test(control_tokens_in_text_are_understood_where_asked),
        cmocka_unit_test(a_message_is_framed_as_the_model_knows_it),
    };

    return cmocka_run_group_tests_name("token ids", tests, folder_make,
                                       folder_remove);
}
