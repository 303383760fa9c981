/* SPDX-License-Identifier: MIT */
/*
 * base/quote.h - text from elsewhere, made fit for a person's terminal.
 *
 * Names in files and modules may hold anything.  A terminal takes some of it as
 * commands: it would move the cursor, change what stands there already, or
 * answer as if somebody had typed.  Everything of that kind is written as
 * \xNN, byte by byte, and the ends of lines, tabs and returns as \n, \t and \r.
 *
 * A backslash stays what it is, so text that was quoted once may be quoted
 * again without a change.
 */
#ifndef GB_BASE_QUOTE_H
#define GB_BASE_QUOTE_H

#include <stdbool.h>
#include <stddef.h>

/* Most bytes that stand for one character, and a NUL: four times \xNN. */
enum { GB_QUOTE_SIZE = 17 };

/*
 * May the character of N bytes at TEXT, which is UTF-8, be shown as it is?  Not
 * the control characters of ASCII and of Latin-1 (C0, DEL, C1), not the ends of
 * lines and paragraphs that Unicode adds, not what turns the direction of the
 * text behind it, and not the two noncharacters U+FFFE and U+FFFF.
 */
bool gb_quote_is_shown(const char *text, size_t n);

/*
 * Put what stands for the first character of TEXT, which has SIZE > 0 bytes,
 * into OUT as a string; how many bytes of TEXT that was.
 */
size_t gb_quote_next(const char *text, size_t size, char out[GB_QUOTE_SIZE]);

/*
 * Put what stands for TEXT into OUT, which has ROOM > 0 bytes and is another
 * place; what does not fit is left out from a character's begin on.  The
 * characters of KEEP, which are of one byte, stay as they are.
 */
void gb_quote(const char *text, const char *keep, char *out, size_t room);

/* The same in place, where there is no room: what is not shown becomes '?'. */
void gb_quote_blank(char *text, const char *keep);

/* Would gb_quote change nothing? */
bool gb_quote_is_plain(const char *text, const char *keep);

#endif
