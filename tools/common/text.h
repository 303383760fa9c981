/* SPDX-License-Identifier: MIT */
/*
 * common/text.h - names and texts of files and modules, for people.
 *
 * They may hold anything; what a terminal would take as a command is written as
 * lib/base/quote.h says.  All programs print such text by these functions.
 */
#ifndef TOOLS_COMMON_TEXT_H
#define TOOLS_COMMON_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Write the SIZE bytes at TEXT; the characters of KEEP stay as they are. */
void text_put(FILE *out, const char *text, size_t size, const char *keep);

/*
 * TEXT, quoted, for printf: in one of some places that are used in turn, so at
 * most four in one call.  What is too long even for messages is cut.
 */
const char *text_quoted(const char *text);

#endif
