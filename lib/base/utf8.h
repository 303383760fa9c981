/* SPDX-License-Identifier: MIT */
/*
 * base/utf8.h - where characters end in text that may not be UTF-8.
 */
#ifndef GB_BASE_UTF8_H
#define GB_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the character at TEXT, which has SIZE > 0 bytes; 0 when it is none
 * (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
 */
size_t gb_utf8_length(const char *text, size_t size);

/* The code point of the character of N bytes at TEXT, as that function says. */
uint32_t gb_utf8_code(const char *text, size_t n);

#endif
