/* SPDX-License-Identifier: MIT */
/*
 * tests/base/quote.c - text from elsewhere on a terminal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/quote.h"
#include "lib/base/utf8.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text, *quoted;
} texts[] = {
    { "", "" },
    { "blk.0.attn_q.weight", "blk.0.attn_q.weight" },
    { "a \\ stays \"a\"", "a \\ stays \"a\"" },
    { "two\nlines\ttab\rback", "two\\nlines\\ttab\\rback" },
    { "\x1b[31mred\x07", "\\x1b[31mred\\x07" },
    { "gone\x08\x7f", "gone\\x08\\x7f" },
    /* CSI as one character of Latin-1, in UTF-8 and as a byte of its own. */
    { "\xc2\x9b" "2J", "\\xc2\\x9b2J" },
    { "\x9b" "2J", "\\x9b2J" },
    { "next\xc2\x85line", "next\\xc2\\x85line" },
    { "K\xc3\xb6rper \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0",
      "K\xc3\xb6rper \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\xa0" },
    /* A terminal writes Hebrew from right to left by itself; an override makes
     * it write the rest so too. */
    { "\xd7\xa9 \xe2\x80\x8f \xe2\x80\xae" "abc \xe2\x81\xa6",
      "\xd7\xa9 \xe2\x80\x8f \\xe2\\x80\\xaeabc \\xe2\\x81\\xa6" },
    { "\xe2\x80\xa8|\xe2\x80\xa9", "\\xe2\\x80\\xa8|\\xe2\\x80\\xa9" },
    { "\xef\xbf\xbd \xef\xbf\xbe", "\xef\xbf\xbd \\xef\\xbf\\xbe" },
    /* Not UTF-8: cut, a surrogate, an overlong slash. */
    { "\xe2\x82", "\\xe2\\x82" },
    { "\xed\xa0\x80", "\\xed\\xa0\\x80" },
    { "\xc0\xaf", "\\xc0\\xaf" },
};

static void
what_a_terminal_obeys_is_written_out(void **state)
{
    char out[256], again[256];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        gb_quote(texts[i].text, "", out, sizeof(out));
        assert_string_equal(out, texts[i].quoted);
        assert_int_equal(gb_quote_is_plain(texts[i].text, ""),
                         strcmp(texts[i].text, texts[i].quoted) == 0);
        gb_quote(out, "", again, sizeof(again));
        assert_string_equal(again, out);
    }
}

/* The whole of Latin-1's and ASCII's controls, each by itself. */
static void
no_control_character_is_left(void **state)
{
    (void)state;
    for (unsigned code = 1; code < 0x100; code++) {
        const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
        char text[3] = { (char)code, 0, 0 }, out[16];

        if (code >= 0x80) {
            text[0] = (char)(0xc0 | code >> 6);
            text[1] = (char)(0x80 | (code & 0x3f));
        }
        assert_int_equal(gb_utf8_code(text, strlen(text)), code);
        gb_quote(text, "", out, sizeof(out));
        if ((out[0] == '\\' && code != '\\') != is_control)
            fail_msg("U+%04X became %s", code, out);
    }
}

static void
what_is_asked_for_is_kept(void **state)
{
    char out[64];

    (void)state;
    gb_quote("a\n\tb\r\x1b", "\n\t", out, sizeof(out));
    assert_string_equal(out, "a\n\tb\\r\\x1b");
    assert_true(gb_quote_is_plain("a\n\tb", "\n\t"));
    assert_false(gb_quote_is_plain("a\n\tb\r", "\n\t"));
}

static void
what_does_not_fit_is_left_out_whole(void **state)
{
    static const char text[] = "a\xe2\x82\xac\x1b!";
    /* By room: what is there then. */
    static const char *const outs[] = {
        "", "a", "a", "a", "a\xe2\x82\xac", "a\xe2\x82\xac", "a\xe2\x82\xac",
        "a\xe2\x82\xac", "a\xe2\x82\xac\\x1b", "a\xe2\x82\xac\\x1b!",
    };

    (void)state;
    for (size_t room = 1; room <= sizeof(outs) / sizeof(outs[0]); room++) {
        char out[16];

        memset(out, '#', sizeof(out));
        gb_quote(text, "", out, room);
        assert_string_equal(out, outs[room - 1]);
        assert_int_equal(out[room], '#');
    }
}

static void
without_room_it_becomes_a_question_mark(void **state)
{
    char text[] = "a\x1b[0m\n\xc2\x9b\xff\xe2\x82\xac";

    (void)state;
    gb_quote_blank(text, "\n");
    assert_string_equal(text, "a?[0m\n???\xe2\x82\xac");
}

static void
a_character_is_taken_at_a_time(void **state)
{
    static const char text[] = "\xe2\x80\xaex";
    char out[GB_QUOTE_SIZE];

    (void)state;
    assert_int_equal(gb_quote_next(text, 4, out), 3);
    assert_string_equal(out, "\\xe2\\x80\\xae");
    assert_int_equal(gb_quote_next(text, 2, out), 1);
    assert_string_equal(out, "\\xe2");
    assert_int_equal(gb_quote_next(text + 3, 1, out), 1);
    assert_string_equal(out, "x");
    assert_int_equal(gb_quote_next("\0x", 2, out), 1);
    assert_string_equal(out, "\\x00");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_terminal_obeys_is_written_out),
        cmocka_unit_test(no_control_character_is_left),
        cmocka_unit_test(what_is_asked_for_is_kept),
        cmocka_unit_test(what_does_not_fit_is_left_out_whole),
        cmocka_unit_test(without_room_it_becomes_a_question_mark),
        cmocka_unit_test(a_character_is_taken_at_a_time),
    };

    return cmocka_run_group_tests_name("quoting", tests, NULL, NULL);
}
