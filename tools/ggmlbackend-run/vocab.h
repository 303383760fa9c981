/* SPDX-License-Identifier: MIT */
/*
 * run/vocab.h - the tokens of a model, by id and by text.
 */
#ifndef TOOLS_RUN_VOCAB_H
#define TOOLS_RUN_VOCAB_H

#include "tools/model/array.h"
#include "tools/model/keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers are the file's (tokenizer.ggml.token_type). */
enum token_type {
    TOKEN_NORMAL  = 1,
    TOKEN_UNKNOWN = 2,
    TOKEN_CONTROL = 3,
    TOKEN_USER    = 4,
    TOKEN_UNUSED  = 5,
    TOKEN_BYTE    = 6
};

/* No token. */
#define TOKEN_NONE (-1)

struct token {
    const char *text; /* the file's */
    uint32_t size;
    uint32_t type;
};

struct vocab {
    size_t n;
    struct token *tokens;
    const float *scores; /* NULL without */
    int32_t bos, eos, eot, eom; /* TOKEN_NONE without */
    int32_t unknown; /* for bytes without a token; never a control token */
    struct ids ends;     /* tokens that end an answer */
    int32_t *slots;      /* hash table of ids by text */
    size_t n_slots;      /* a power of two, more than n */
};

/* Read the tokens; false after a message. */
bool vocab_open(struct vocab *vocab, const struct keys *keys);

void vocab_close(struct vocab *vocab);

/* The token whose text is the SIZE bytes at TEXT, or TOKEN_NONE. */
int32_t vocab_find(const struct vocab *vocab, const char *text, size_t size);

/* Does ID end an answer? */
bool vocab_is_end(const struct vocab *vocab, int32_t id);

#endif
