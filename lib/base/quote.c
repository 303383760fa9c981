/* SPDX-License-Identifier: MIT */
/*
 * base/quote.c - text from elsewhere, made fit for a person's terminal.
 */
#include "lib/base/quote.h"

#include "lib/base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Code points that are not shown; see the header for what they are. */
static const struct {
    uint32_t first, last;
} hidden[] = {
    { 0x0000, 0x001f }, { 0x007f, 0x009f }, { 0x2028, 0x202e },
    { 0x2066, 0x2069 }, { 0xfffe, 0xffff },
};

bool
gb_quote_is_shown(const char *text, size_t n)
{
    const uint32_t code = gb_utf8_code(text, n);

    if (code >= 0x20 && code < 0x7f)
        return true;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return false;
    return true;
}

/* The N bytes at TEXT as \xNN, or as the letter that C has for the byte. */
static void
put_bytes(const char *text, size_t n, char *out)
{
    static const char letters[][2] = {
        { '\n', 'n' }, { '\t', 't' }, { '\r', 'r' },
    };

    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
        if (text[0] == letters[i][0]) {
            snprintf(out, GB_QUOTE_SIZE, "\\%c", letters[i][1]);
            return;
        }
    for (size_t i = 0; i < n; i++)
        snprintf(out + 4 * i, 5, "\\x%02x", (unsigned char)text[i]);
}

size_t
gb_quote_next(const char *text, size_t size, char out[GB_QUOTE_SIZE])
{
    const size_t n = gb_utf8_length(text, size);

    if (n == 0) {
        put_bytes(text, 1, out);
        return 1;
    }
    if (gb_quote_is_shown(text, n)) {
        memcpy(out, text, n);
        out[n] = '\0';
    } else {
        put_bytes(text, n, out);
    }
    return n;
}

/* Is the first character of TEXT shown, or of KEEP?  *N is its bytes, or 1. */
static bool
is_plain_next(const char *text, size_t size, const char *keep, size_t *n)
{
    const size_t length = gb_utf8_length(text, size);

    *n = length == 0 ? 1 : length;
    if (length == 1 && strchr(keep, text[0]) != NULL)
        return true;
    return length > 0 && gb_quote_is_shown(text, length);
}

void
gb_quote(const char *text, const char *keep, char *out, size_t room)
{
    const size_t size = strlen(text);
    char next[GB_QUOTE_SIZE];
    size_t used = 0, n;

    for (size_t i = 0; i < size; i += n) {
        const bool is_plain = is_plain_next(text + i, size - i, keep, &n);
        size_t length = n;

        if (!is_plain) {
            gb_quote_next(text + i, size - i, next);
            length = strlen(next);
        }
        if (length >= room - used)
            break;
        memcpy(out + used, is_plain ? text + i : next, length);
        used += length;
    }
    out[used] = '\0';
}

void
gb_quote_blank(char *text, const char *keep)
{
    const size_t size = strlen(text);
    size_t n;

    for (size_t i = 0; i < size; i += n)
        if (!is_plain_next(text + i, size - i, keep, &n))
            memset(text + i, '?', n);
}

bool
gb_quote_is_plain(const char *text, const char *keep)
{
    const size_t size = strlen(text);
    size_t n;

    for (size_t i = 0; i < size; i += n)
        if (!is_plain_next(text + i, size - i, keep, &n))
            return false;
    return true;
}
