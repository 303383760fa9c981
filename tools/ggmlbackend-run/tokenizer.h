/* SPDX-License-Identifier: MIT */
/*
 * run/tokenizer.h - text to token ids and back.
 */
#ifndef TOOLS_RUN_TOKENIZER_H
#define TOOLS_RUN_TOKENIZER_H

#include "tools/ggmlbackend-run/vocab.h"
#include "tools/model/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tokenizer;

/*
 * One kind of tokenizer, as tokenizer.ggml.model names it.
 *
 * encode appends the ids of SIZE > 0 bytes at TEXT in which no token is looked
 * for by its whole text; decode appends the bytes of a token.  Both are false
 * after a message.
 */
struct tokenizer_kind {
    const char *name;
    void *(*open)(const struct vocab *vocab, const struct keys *keys);
    void (*close)(void *self);
    bool (*adds_bos)(const void *self); /* where the file does not say */
    bool (*encode)(void *self, const char *text, size_t size, bool is_start,
                   struct ids *ids);
    bool (*decode)(void *self, int32_t id, struct bytes *bytes);
};

extern const struct tokenizer_kind tokenizer_bpe; /* "gpt2" */
extern const struct tokenizer_kind tokenizer_spm; /* "llama" */

/* Read the file's tokenizer, of N_VOCAB tokens.  NULL after a message. */
struct tokenizer *tokenizer_open(const struct gguf_context *gguf,
                                 int64_t n_vocab);
void tokenizer_close(struct tokenizer *t);

const struct vocab *tokenizer_vocab(const struct tokenizer *t);

/* Bytes of a text, from BEGIN on and before END. */
struct range {
    size_t begin, end;
};

/*
 * Append the ids of TEXT.  Tokens that the file's author added by hand are
 * found anywhere, control tokens (as in chat templates) everywhere but in the
 * N_PLAIN ranges of PLAIN, which follow one another and are not empty.  False
 * after a message.
 */
bool tokenizer_encode(struct tokenizer *t, const char *text, size_t size,
                      const struct range *plain, size_t n_plain,
                      struct ids *ids);

/* Append the tokens that go before and after a prompt, if any. */
bool tokenizer_begin(const struct tokenizer *t, struct ids *ids);
bool tokenizer_end(const struct tokenizer *t, struct ids *ids);

/* Append what ID says: nothing for control tokens and the unknown one. */
bool tokenizer_decode(struct tokenizer *t, int32_t id, struct bytes *bytes);

#endif
