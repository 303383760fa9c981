/* SPDX-License-Identifier: MIT */
/*
 * run/tokenizer-spm.c - SentencePiece's byte-pair encoding.
 *
 * Blanks are written as U+2581.  Text begins as single characters; of the
 * neighbours that are a token together, those with the highest score are joined
 * first.  Characters that are no token are spelled as tokens of single bytes.
 */
#include "tools/ggmlbackend-run/tokenizer.h"

#include "lib/base/utf8.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-run/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* U+2581, lower one eighth block. */
#define BLANK      "\xe2\x96\x81"
#define BLANK_SIZE 3

struct spm {
    const struct vocab *vocab;
    bool adds_blank;       /* before text that follows no other */
    int32_t byte_ids[256]; /* the token of a byte, TOKEN_NONE without */
    struct merge merge;
    struct bytes text;     /* with blanks as they are in the file */
    bool has_warned;
};

static void
spm_close(void *self)
{
    struct spm *spm = self;

    merge_clear(&spm->merge);
    bytes_clear(&spm->text);
    free(spm);
}

static void *
spm_open(const struct vocab *vocab, const struct keys *keys)
{
    struct spm *spm;

    if (vocab->scores == NULL) {
        tool_error("the file has no key tokenizer.ggml.scores");
        return NULL;
    }
    spm = new_zeroed(1, sizeof(*spm));
    if (spm == NULL)
        return NULL;
    spm->vocab = vocab;
    spm->adds_blank = true;
    for (int byte = 0; byte < 256; byte++) {
        char text[8];
        const int n = snprintf(text, sizeof(text), "<0x%02X>", (unsigned)byte);

        spm->byte_ids[byte] = vocab_find(vocab, text, (size_t)n);
    }
    if (keys_bool(keys, "tokenizer.ggml.add_space_prefix", KEYS_OPTIONAL,
                  &spm->adds_blank))
        return spm;
    spm_close(spm);
    return NULL;
}

static bool
spm_adds_bos(const void *self)
{
    (void)self;
    return true;
}

static bool
rate(const void *self, const char *text, const struct symbol *left,
     const struct symbol *right, int32_t *id, double *cost)
{
    const struct spm *spm = self;

    *id = vocab_find(spm->vocab, text + left->begin, left->size + right->size);
    if (*id == TOKEN_NONE)
        return false;
    *cost = -(double)spm->vocab->scores[*id];
    return true;
}

static bool
write_blanks(struct spm *spm, const char *text, size_t size, bool with_first)
{
    spm->text.n = 0;
    if (with_first && !bytes_push(&spm->text, BLANK, BLANK_SIZE))
        return false;
    for (size_t i = 0; i < size; i++)
        if (!(text[i] == ' ' ? bytes_push(&spm->text, BLANK, BLANK_SIZE)
                             : bytes_push(&spm->text, text + i, 1)))
            return false;
    return true;
}

/* What is no token, byte by byte. */
static bool
push_bytes(struct spm *spm, const char *text, size_t size, struct ids *ids)
{
    for (size_t i = 0; i < size; i++) {
        int32_t id = spm->byte_ids[(unsigned char)text[i]];

        if (id == TOKEN_NONE)
            id = spm->vocab->unknown;
        if (id != TOKEN_NONE) {
            if (!ids_push(ids, id))
                return false;
            continue;
        }
        if (!spm->has_warned)
            tool_warning("the text has bytes that the model has no token for");
        spm->has_warned = true;
    }
    return true;
}

static bool
spm_encode(void *self, const char *text, size_t size, bool is_start,
           struct ids *ids)
{
    struct spm *spm = self;
    size_t n;

    if (!write_blanks(spm, text, size, spm->adds_blank && is_start))
        return false;
    merge_begin(&spm->merge);
    for (size_t i = 0; i < spm->text.n; i += n) {
        const char *at = spm->text.at + i;

        n = gb_utf8_length(at, spm->text.n - i);
        n = n == 0 ? 1 : n;
        if (!merge_add(&spm->merge, n, vocab_find(spm->vocab, at, n)))
            return false;
    }
    if (!merge_run(&spm->merge, spm, spm->text.at, rate))
        return false;
    for (size_t i = 0; i != SYMBOL_NONE; i = spm->merge.symbols[i].next) {
        const struct symbol *s = &spm->merge.symbols[i];

        if (!(s->id == TOKEN_NONE
                  ? push_bytes(spm, spm->text.at + s->begin, s->size, ids)
                  : ids_push(ids, s->id)))
            return false;
    }
    return true;
}

/* The byte that a token of type BYTE names. */
static char
byte_of(const struct spm *spm, int32_t id)
{
    for (int byte = 0; byte < 256; byte++)
        if (spm->byte_ids[byte] == id)
            return (char)byte;
    return '?';
}

static bool
spm_decode(void *self, int32_t id, struct bytes *bytes)
{
    const struct spm *spm = self;
    const struct token *t = &spm->vocab->tokens[id];
    size_t n;

    if (t->type == TOKEN_BYTE) {
        const char c = byte_of(spm, id);

        return bytes_push(bytes, &c, 1);
    }
    for (size_t i = 0; i < t->size; i += n) {
        const bool is_blank = t->size - i >= BLANK_SIZE &&
            memcmp(t->text + i, BLANK, BLANK_SIZE) == 0;

        n = is_blank ? BLANK_SIZE : 1;
        if (!bytes_push(bytes, is_blank ? " " : t->text + i, 1))
            return false;
    }
    return true;
}

const struct tokenizer_kind tokenizer_spm = {
    .name = "llama",
    .open = spm_open,
    .close = spm_close,
    .adds_bos = spm_adds_bos,
    .encode = spm_encode,
    .decode = spm_decode,
};
