/* SPDX-License-Identifier: MIT */
/*
 * common/utf8.h - where characters end in text that may not be UTF-8.
 */
#ifndef TOOLS_COMMON_UTF8_H
#define TOOLS_COMMON_UTF8_H

#include <stddef.h>

/*
 * Bytes of the character at TEXT, which has SIZE > 0 bytes; 0 when it is none
 * (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
 */
size_t utf8_length(const char *text, size_t size);

#endif
