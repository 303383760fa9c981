/* SPDX-License-Identifier: MIT */
/*
 * run/tokenizer.c - text to token ids and back.
 */
#include "tools/ggmlbackend-run/tokenizer.h"

#include "tools/common/tool.h"

#include <stdlib.h>
#include <string.h>

struct tokenizer {
    struct vocab vocab;
    const struct tokenizer_kind *kind;
    void *self;
    bool adds_bos, adds_eos;
    struct ids whole;   /* tokens looked for by their whole text, by first
                           byte, the longest first */
    size_t first[257];  /* where those with a first byte begin in whole */
};

static const struct tokenizer_kind *const kinds[] = {
    &tokenizer_bpe,
    &tokenizer_spm,
};

static const struct tokenizer_kind *
kind_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

/* First byte and length of a token, for sorting; the id makes it unique. */
struct whole_key {
    unsigned char first;
    uint32_t size;
    int32_t id;
};

static int
compare_whole(const void *a, const void *b)
{
    const struct whole_key *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool
is_whole(const struct token *t)
{
    return t->size > 0 && (t->type == TOKEN_CONTROL || t->type == TOKEN_USER);
}

/* Fill whole and first from the sorted KEYS. */
static bool
keep_whole(struct tokenizer *t, const struct whole_key *keys, size_t n)
{
    size_t at = 0;

    for (size_t byte = 0; byte < 257; byte++) {
        while (at < n && keys[at].first < byte)
            at++;
        t->first[byte] = at;
    }
    for (size_t i = 0; i < n; i++)
        if (!ids_push(&t->whole, keys[i].id))
            return false;
    return true;
}

static bool
find_whole(struct tokenizer *t)
{
    const struct vocab *v = &t->vocab;
    struct whole_key *keys;
    size_t n = 0;
    bool is_kept;

    for (size_t id = 0; id < v->n; id++)
        n += is_whole(&v->tokens[id]);
    keys = new_zeroed(n, sizeof(*keys));
    if (keys == NULL)
        return false;
    n = 0;
    for (size_t id = 0; id < v->n; id++) {
        if (!is_whole(&v->tokens[id]))
            continue;
        keys[n].first = (unsigned char)v->tokens[id].text[0];
        keys[n].size = v->tokens[id].size;
        keys[n++].id = (int32_t)id;
    }
    qsort(keys, n, sizeof(*keys), compare_whole);
    is_kept = keep_whole(t, keys, n);
    free(keys);
    return is_kept;
}

static bool
open_kind(struct tokenizer *t, const struct keys *keys)
{
    const char *name = NULL;

    if (!keys_string(keys, "tokenizer.ggml.model", KEYS_NEEDED, &name))
        return false;
    t->kind = kind_by_name(name);
    if (t->kind == NULL)
        return tool_error("tokenizer '%s' is not known", name);
    t->self = t->kind->open(&t->vocab, keys);
    if (t->self == NULL)
        return false;
    t->adds_bos = t->kind->adds_bos(t->self);
    return keys_bool(keys, "tokenizer.ggml.add_bos_token", KEYS_OPTIONAL,
                     &t->adds_bos) &&
        keys_bool(keys, "tokenizer.ggml.add_eos_token", KEYS_OPTIONAL,
                  &t->adds_eos);
}

struct tokenizer *
tokenizer_open(const struct gguf_context *gguf, int64_t n_vocab)
{
    const struct keys keys = { .gguf = gguf };
    struct tokenizer *t = new_zeroed(1, sizeof(*t));

    if (t == NULL)
        return NULL;
    if (!vocab_open(&t->vocab, &keys)) {
        free(t);
        return NULL;
    }
    if ((int64_t)t->vocab.n != n_vocab)
        tool_error("the file has %zu tokens and embeddings of %lld",
                   t->vocab.n, (long long)n_vocab);
    else if (find_whole(t) && open_kind(t, &keys))
        return t;
    tokenizer_close(t);
    return NULL;
}

void
tokenizer_close(struct tokenizer *t)
{
    if (t == NULL)
        return;
    if (t->self != NULL)
        t->kind->close(t->self);
    ids_clear(&t->whole);
    vocab_close(&t->vocab);
    free(t);
}

const struct vocab *
tokenizer_vocab(const struct tokenizer *t)
{
    return &t->vocab;
}

/* The longest token at TEXT that is looked for by its whole text; control
 * tokens have fewer bytes to lie in. */
static int32_t
whole_at(const struct tokenizer *t, const char *text, size_t size,
         size_t control_size)
{
    const unsigned char byte = (unsigned char)text[0];

    for (size_t i = t->first[byte]; i < t->first[byte + 1]; i++) {
        const int32_t id = t->whole.at[i];
        const struct token *token = &t->vocab.tokens[id];

        if (token->size <=
                (token->type == TOKEN_USER ? size : control_size) &&
            memcmp(token->text, text, token->size) == 0)
            return id;
    }
    return TOKEN_NONE;
}

/* Does what is appended to IDS follow the start or such a token, no text? */
static bool
is_start(const struct tokenizer *t, const struct ids *ids)
{
    return ids->n == 0 || is_whole(&t->vocab.tokens[ids->at[ids->n - 1]]);
}

bool
tokenizer_encode(struct tokenizer *t, const char *text, size_t size,
                 const struct range *plain, size_t n_plain, struct ids *ids)
{
    size_t begin = 0;

    for (size_t at = 0; at < size;) {
        size_t control_size;
        int32_t id;

        while (n_plain > 0 && at >= plain->end) {
            plain++;
            n_plain--;
        }
        /* A control token neither begins in what is plain nor ends in it. */
        control_size = n_plain == 0 ? size - at
            : at < plain->begin     ? plain->begin - at
                                    : 0;
        id = whole_at(t, text + at, size - at, control_size);
        if (id == TOKEN_NONE) {
            at++;
            continue;
        }
        if (at > begin &&
            !t->kind->encode(t->self, text + begin, at - begin,
                             is_start(t, ids), ids))
            return false;
        if (!ids_push(ids, id))
            return false;
        at += t->vocab.tokens[id].size;
        begin = at;
    }
    return begin == size ||
        t->kind->encode(t->self, text + begin, size - begin, is_start(t, ids),
                        ids);
}

bool
tokenizer_begin(const struct tokenizer *t, struct ids *ids)
{
    return !t->adds_bos || t->vocab.bos == TOKEN_NONE ||
        ids_push(ids, t->vocab.bos);
}

bool
tokenizer_end(const struct tokenizer *t, struct ids *ids)
{
    return !t->adds_eos || t->vocab.eos == TOKEN_NONE ||
        ids_push(ids, t->vocab.eos);
}

bool
tokenizer_decode(struct tokenizer *t, int32_t id, struct bytes *bytes)
{
    const struct token *token = &t->vocab.tokens[id];

    if (token->type == TOKEN_CONTROL || token->type == TOKEN_UNKNOWN)
        return true;
    if (token->type == TOKEN_USER)
        return bytes_push(bytes, token->text, token->size);
    return t->kind->decode(t->self, id, bytes);
}
