/* SPDX-License-Identifier: MIT */
/*
 * run/vocab.c - the tokens of a model, by id and by text.
 */
#include "tools/ggmlbackend-run/vocab.h"

#include "tools/common/hash.h"
#include "tools/common/tool.h"

#include "ggmlbackend.h"

#include <stdlib.h>
#include <string.h>

/* Folded, since a table uses the low bits. */
static size_t
hash(const char *text, size_t size)
{
    const uint64_t h = hash_bytes(text, size);

    return (size_t)(h ^ (h >> 32));
}

/* The slot where TEXT is, or where it belongs. */
static size_t
slot_of(const struct vocab *v, const char *text, size_t size)
{
    size_t slot = hash(text, size) & (v->n_slots - 1);

    while (v->slots[slot] != TOKEN_NONE) {
        const struct token *t = &v->tokens[v->slots[slot]];

        if (t->size == size && memcmp(t->text, text, size) == 0)
            break;
        slot = (slot + 1) & (v->n_slots - 1);
    }
    return slot;
}

/* Of equal texts the first is found. */
static bool
index_texts(struct vocab *v)
{
    v->n_slots = 16;
    while (v->n_slots < v->n + v->n / 2)
        v->n_slots *= 2;
    v->slots = new_zeroed(v->n_slots, sizeof(*v->slots));
    if (v->slots == NULL)
        return false;
    for (size_t i = 0; i < v->n_slots; i++)
        v->slots[i] = TOKEN_NONE;
    for (size_t id = 0; id < v->n; id++) {
        const struct token *t = &v->tokens[id];
        const size_t slot = slot_of(v, t->text, t->size);

        if (v->slots[slot] == TOKEN_NONE)
            v->slots[slot] = (int32_t)id;
    }
    return true;
}

static bool
read_texts(struct vocab *v, const struct keys *keys)
{
    int64_t key;

    if (!keys_array(keys, "tokenizer.ggml.tokens", KEYS_NEEDED,
                    GGUF_TYPE_STRING, &key, &v->n))
        return false;
    if (v->n < 1 || v->n > INT32_MAX)
        return tool_error("the file has %zu tokens", v->n);
    v->tokens = new_zeroed(v->n, sizeof(*v->tokens));
    if (v->tokens == NULL)
        return false;
    for (size_t id = 0; id < v->n; id++) {
        struct token *t = &v->tokens[id];
        const size_t size = ggmlbackend_gguf_string_size(keys->gguf, key, id);

        t->text = gguf_get_arr_str(keys->gguf, key, id);
        if (size > INT32_MAX)
            return tool_error("token %zu has %zu bytes", id, size);
        t->size = (uint32_t)size;
        t->type = TOKEN_NORMAL;
    }
    return true;
}

static bool
read_types(struct vocab *v, const struct keys *keys)
{
    const int32_t *types;
    int64_t key;
    size_t n;

    if (!keys_array(keys, "tokenizer.ggml.token_type", KEYS_OPTIONAL,
                    GGUF_TYPE_INT32, &key, &n))
        return false;
    if (key < 0)
        return true;
    if (n != v->n)
        return tool_error("%zu token types for %zu tokens", n, v->n);
    types = gguf_get_arr_data(keys->gguf, key);
    for (size_t id = 0; id < n; id++)
        if (types[id] >= TOKEN_NORMAL && types[id] <= TOKEN_BYTE)
            v->tokens[id].type = (uint32_t)types[id];
    return true;
}

static bool
read_scores(struct vocab *v, const struct keys *keys)
{
    int64_t key;
    size_t n;

    if (!keys_array(keys, "tokenizer.ggml.scores", KEYS_OPTIONAL,
                    GGUF_TYPE_FLOAT32, &key, &n))
        return false;
    if (key < 0)
        return true;
    if (n != v->n)
        return tool_error("%zu scores for %zu tokens", n, v->n);
    v->scores = gguf_get_arr_data(keys->gguf, key);
    return true;
}

static bool
read_id(const struct vocab *v, const struct keys *keys, const char *name,
        int32_t *id)
{
    int64_t value = TOKEN_NONE;

    if (!keys_int(keys, name, KEYS_OPTIONAL, TOKEN_NONE, UINT32_MAX, &value))
        return false;
    /* Files write 2^32 - 1 for "none". */
    if (value == UINT32_MAX)
        value = TOKEN_NONE;
    if (value >= (int64_t)v->n)
        return tool_error("key %s is %lld, beyond %zu tokens", name,
                          (long long)value, v->n);
    *id = (int32_t)value;
    return true;
}

static bool
add_end(struct vocab *v, int32_t id)
{
    return id == TOKEN_NONE || vocab_is_end(v, id) || ids_push(&v->ends, id);
}

/* Files name a token or two that end; models use further ones, known by text,
 * whatever type a converter gave them. */
static bool
find_ends(struct vocab *v)
{
    static const char *const texts[] = {
        "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "<|end|>",
        "<|endoftext|>", "<|end_of_text|>", "<|end_of_turn|>", "<|EOT|>",
        "<|eot|>", "<|turn_end|>", "<EOT>", "\xe2\x96\x81<EOT>",
        /* <|end_of_sentence|> with full-width bars and U+2581 for blanks */
        "<\xef\xbd\x9c" "end\xe2\x96\x81of\xe2\x96\x81sentence"
        "\xef\xbd\x9c>",
    };

    if (!add_end(v, v->eos) || !add_end(v, v->eot) || !add_end(v, v->eom))
        return false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const int32_t id = vocab_find(v, texts[i], strlen(texts[i]));

        if (!add_end(v, id))
            return false;
        /* So that it is one token in a turn's frame, and none in a message. */
        if (id != TOKEN_NONE)
            v->tokens[id].type = TOKEN_CONTROL;
    }
    return true;
}

/* Some files name the token that ends a document for what is unknown: it may
 * not stand for a byte of the user's text. */
static void
check_unknown(struct vocab *v)
{
    if (v->unknown != TOKEN_NONE &&
        (v->tokens[v->unknown].type == TOKEN_CONTROL ||
         vocab_is_end(v, v->unknown)))
        v->unknown = TOKEN_NONE;
}

bool
vocab_open(struct vocab *v, const struct keys *keys)
{
    memset(v, 0, sizeof(*v));
    v->bos = v->eos = v->eot = v->eom = v->unknown = TOKEN_NONE;
    if (read_texts(v, keys) && read_types(v, keys) && read_scores(v, keys) &&
        read_id(v, keys, "tokenizer.ggml.bos_token_id", &v->bos) &&
        read_id(v, keys, "tokenizer.ggml.eos_token_id", &v->eos) &&
        read_id(v, keys, "tokenizer.ggml.eot_token_id", &v->eot) &&
        read_id(v, keys, "tokenizer.ggml.eom_token_id", &v->eom) &&
        read_id(v, keys, "tokenizer.ggml.unknown_token_id", &v->unknown) &&
        index_texts(v) && find_ends(v)) {
        check_unknown(v);
        return true;
    }
    vocab_close(v);
    return false;
}

void
vocab_close(struct vocab *v)
{
    free(v->tokens);
    free(v->slots);
    ids_clear(&v->ends);
    memset(v, 0, sizeof(*v));
}

int32_t
vocab_find(const struct vocab *v, const char *text, size_t size)
{
    return v->slots[slot_of(v, text, size)];
}

bool
vocab_is_end(const struct vocab *v, int32_t id)
{
    for (size_t i = 0; i < v->ends.n; i++)
        if (v->ends.at[i] == id)
            return true;
    return false;
}
