/* SPDX-License-Identifier: MIT */
/*
 * base/utf8.c - where characters end in text that may not be UTF-8.
 */
#include "lib/base/utf8.h"

size_t
gb_utf8_length(const char *chars, size_t size)
{
    const unsigned char *text = (const unsigned char *)chars;
    const unsigned lead = text[0];
    unsigned low = 0x80, high = 0xbf;
    size_t n;

    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    n = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (n > size)
        return 0;
    if (lead == 0xe0)
        low = 0xa0;
    else if (lead == 0xed)
        high = 0x9f;
    else if (lead == 0xf0)
        low = 0x90;
    else if (lead == 0xf4)
        high = 0x8f;
    if (text[1] < low || text[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if (text[i] < 0x80 || text[i] > 0xbf)
            return 0;
    return n;
}

uint32_t
gb_utf8_code(const char *text, size_t n)
{
    const unsigned lead = (unsigned char)text[0];
    uint32_t code = n == 1 ? lead : lead & (0x7fu >> n);

    for (size_t i = 1; i < n; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3fu);
    return code;
}
