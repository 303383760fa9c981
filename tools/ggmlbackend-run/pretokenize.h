/* SPDX-License-Identifier: MIT */
/*
 * run/pretokenize.h - cutting text into pieces that tokens do not cross.
 */
#ifndef TOOLS_RUN_PRETOKENIZE_H
#define TOOLS_RUN_PRETOKENIZE_H

#include <stdbool.h>
#include <stddef.h>

struct pretokenizer;

/* Gets one piece of the text; false ends it. */
typedef bool (*piece_fn)(void *user, const char *piece, size_t size);

/*
 * The cutting that files call NAME (tokenizer.ggml.pre); for a name that is not
 * known GPT-2's, after a warning.  NULL after a message.
 */
struct pretokenizer *pretokenizer_open(const char *name);
void pretokenizer_close(struct pretokenizer *pre);

/* Is a piece that is a token itself taken as it is, whatever joins? */
bool pretokenizer_takes_whole(const struct pretokenizer *pre);

/* Does text begin with the BOS token where the file does not say? */
bool pretokenizer_adds_bos(const struct pretokenizer *pre);

/*
 * Hand each piece of TEXT to EACH, in order and without gaps.  TEXT may be any
 * bytes.  False when EACH said so, or after a message.
 */
bool pretokenize(struct pretokenizer *pre, const char *text, size_t size,
                 piece_fn each, void *user);

#endif
