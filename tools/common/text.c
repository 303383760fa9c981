/* SPDX-License-Identifier: MIT */
/*
 * common/text.c - names and texts of files and modules, for people.
 */
#include "tools/common/text.h"

#include "lib/base/quote.h"

#include <string.h>

enum { N_PLACES = 4, PLACE_SIZE = 8192 };

void
text_put(FILE *out, const char *text, size_t size, const char *keep)
{
    char next[GB_QUOTE_SIZE];
    size_t n;

    for (size_t i = 0; i < size; i += n) {
        n = 1;
        if (text[i] != '\0' && strchr(keep, text[i]) != NULL) {
            putc(text[i], out);
        } else {
            n = gb_quote_next(text + i, size - i, next);
            fputs(next, out);
        }
    }
}

const char *
text_quoted(const char *text)
{
    static char places[N_PLACES][PLACE_SIZE];
    static unsigned turn;
    char *place = places[turn++ % N_PLACES];

    gb_quote(text, "", place, PLACE_SIZE);
    return place;
}
