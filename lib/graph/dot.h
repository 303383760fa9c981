/* SPDX-License-Identifier: MIT */
/*
 * graph/dot.h - drawings in the DOT language, for whoever has one to make.
 */
#ifndef GB_GRAPH_DOT_H
#define GB_GRAPH_DOT_H

#include "ggml.h"

#include <stdio.h>

/*
 * Make the drawing at PATH: its head, what DRAW(FILE, DATA) writes to it, and
 * its end.  0, or the number of the error that kept it from being written
 * completely.
 */
typedef void (*gb_dot_fn)(FILE *file, const void *data);
int gb_dot_write(const char *path, gb_dot_fn draw, const void *data);

/*
 * TEXT for between quotes.  Any text will do: what is not UTF-8 in it becomes
 * U+FFFD, and what gb_quote_is_shown does not show becomes a blank.
 */
void gb_dot_put_text(FILE *file, const char *text);

/* The tensor's name, type and shape, in one line: "weights f32 [64, 3]". */
void gb_dot_put_tensor(FILE *file, const struct ggml_tensor *tensor);

#endif
