/* SPDX-License-Identifier: MIT */
/*
 * run/tokenizer-bpe.c - byte-level byte-pair encoding.
 *
 * "Language Models are Unsupervised Multitask Learners" (GPT-2), section 2.2:
 * text is cut into pieces; a piece begins as single bytes, and the pair that
 * was joined earliest in training is joined first.  In the file each byte is
 * written as a character: printable ones of Latin-1 as themselves, the others,
 * in order, as U+0100 and following.
 */
#include "tools/ggmlbackend-run/tokenizer.h"

#include "lib/base/utf8.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-run/merge.h"
#include "tools/ggmlbackend-run/pretokenize.h"

#include "ggmlbackend.h"

#include <stdlib.h>
#include <string.h>

/* Two tokens that join, to which, and how early in training. */
struct join {
    int32_t left, right; /* left is TOKEN_NONE in an empty slot */
    int32_t joined;
    int32_t rank;
};

struct bpe {
    const struct vocab *vocab;
    struct pretokenizer *pre;
    struct join *slots; /* hash table by left and right */
    size_t n_slots;     /* a power of two */
    int32_t byte_ids[256];   /* the token of a byte, TOKEN_NONE without */
    int16_t char_bytes[324]; /* the byte of a character, -1 for none */
    struct merge merge;
    struct ids *ids;         /* where encode appends */
    bool has_warned;
};

static bool
is_itself(int byte)
{
    return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) ||
        (byte >= 0xae && byte <= 0xff);
}

/* Both directions of the table of bytes and characters. */
static void
map_bytes(struct bpe *bpe)
{
    int next = 0x100;

    memset(bpe->char_bytes, 0xff, sizeof(bpe->char_bytes));
    for (int byte = 0; byte < 256; byte++) {
        const int point = is_itself(byte) ? byte : next++;
        const char text[2] = {
            (char)(point < 0x80 ? point : 0xc0 | point >> 6),
            (char)(0x80 | (point & 0x3f)),
        };

        bpe->char_bytes[point] = (int16_t)byte;
        bpe->byte_ids[byte] =
            vocab_find(bpe->vocab, text, point < 0x80 ? 1 : 2);
    }
}

static size_t
slot_of(const struct bpe *bpe, int32_t left, int32_t right)
{
    const uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    size_t slot = (size_t)((key * 0x9e3779b97f4a7c15u) >> 32);

    slot &= bpe->n_slots - 1;
    while (bpe->slots[slot].left != TOKEN_NONE &&
           (bpe->slots[slot].left != left || bpe->slots[slot].right != right))
        slot = (slot + 1) & (bpe->n_slots - 1);
    return slot;
}

/* "LEFT RIGHT": what joins, as two tokens that are one token together. */
static bool
add_join(struct bpe *bpe, const char *line, size_t size, size_t rank,
         struct bytes *both)
{
    const char *blank = size == 0 ? NULL : memchr(line + 1, ' ', size - 1);
    struct join join = { .rank = (int32_t)rank };
    size_t n_left, slot;

    if (blank == NULL)
        return tool_error("merge %zu is '%s', not two tokens", rank, line);
    n_left = (size_t)(blank - line);
    both->n = 0;
    if (!bytes_push(both, line, n_left) ||
        !bytes_push(both, blank + 1, size - n_left - 1))
        return false;
    join.left = vocab_find(bpe->vocab, both->at, n_left);
    join.right =
        vocab_find(bpe->vocab, both->at + n_left, both->n - n_left);
    join.joined = vocab_find(bpe->vocab, both->at, both->n);
    /* A merge of what cannot come up says nothing. */
    if (join.left == TOKEN_NONE || join.right == TOKEN_NONE ||
        join.joined == TOKEN_NONE)
        return true;
    slot = slot_of(bpe, join.left, join.right);
    if (bpe->slots[slot].left == TOKEN_NONE)
        bpe->slots[slot] = join;
    return true;
}

static bool
read_merges(struct bpe *bpe, const struct keys *keys)
{
    struct bytes both = { 0 };
    bool is_read = true;
    int64_t key;
    size_t n;

    if (!keys_array(keys, "tokenizer.ggml.merges", KEYS_NEEDED,
                    GGUF_TYPE_STRING, &key, &n))
        return false;
    if (n > INT32_MAX)
        return tool_error("the file has %zu merges", n);
    bpe->n_slots = 16;
    while (bpe->n_slots < n + n / 2)
        bpe->n_slots *= 2;
    bpe->slots = new_zeroed(bpe->n_slots, sizeof(*bpe->slots));
    if (bpe->slots == NULL)
        return false;
    for (size_t i = 0; i < bpe->n_slots; i++)
        bpe->slots[i].left = TOKEN_NONE;
    for (size_t i = 0; is_read && i < n; i++)
        is_read =
            add_join(bpe, gguf_get_arr_str(keys->gguf, key, i),
                     ggmlbackend_gguf_string_size(keys->gguf, key, i), i, &both);
    bytes_clear(&both);
    return is_read;
}

static void
bpe_close(void *self)
{
    struct bpe *bpe = self;

    pretokenizer_close(bpe->pre);
    merge_clear(&bpe->merge);
    free(bpe->slots);
    free(bpe);
}

static void *
bpe_open(const struct vocab *vocab, const struct keys *keys)
{
    const char *pre = "default";
    struct bpe *bpe = new_zeroed(1, sizeof(*bpe));

    if (bpe == NULL)
        return NULL;
    bpe->vocab = vocab;
    map_bytes(bpe);
    if (keys_string(keys, "tokenizer.ggml.pre", KEYS_OPTIONAL, &pre) &&
        read_merges(bpe, keys)) {
        bpe->pre = pretokenizer_open(pre);
        if (bpe->pre != NULL)
            return bpe;
    }
    bpe_close(bpe);
    return NULL;
}

static bool
bpe_adds_bos(const void *self)
{
    const struct bpe *bpe = self;

    return pretokenizer_adds_bos(bpe->pre);
}

static bool
rate(const void *self, const char *text, const struct symbol *left,
     const struct symbol *right, int32_t *id, double *cost)
{
    const struct bpe *bpe = self;
    const struct join *join;

    (void)text;
    if (left->id == TOKEN_NONE || right->id == TOKEN_NONE)
        return false;
    join = &bpe->slots[slot_of(bpe, left->id, right->id)];
    if (join->left == TOKEN_NONE)
        return false;
    *id = join->joined;
    *cost = join->rank;
    return true;
}

/* The token that is the whole piece, spelled as in the file. */
static int32_t
whole_piece(const struct bpe *bpe, const char *piece, size_t size)
{
    char text[512];
    size_t n = 0;

    for (size_t i = 0; i < size; i++) {
        const int32_t id = bpe->byte_ids[(unsigned char)piece[i]];

        if (id == TOKEN_NONE || n + 2 > sizeof(text))
            return TOKEN_NONE;
        memcpy(text + n, bpe->vocab->tokens[id].text,
               bpe->vocab->tokens[id].size);
        n += bpe->vocab->tokens[id].size;
    }
    return vocab_find(bpe->vocab, text, n);
}

static bool
push_symbol(struct bpe *bpe, const struct symbol *s)
{
    const int32_t id = s->id == TOKEN_NONE ? bpe->vocab->unknown : s->id;

    if (id != TOKEN_NONE)
        return ids_push(bpe->ids, id);
    if (!bpe->has_warned)
        tool_warning("the text has bytes that the model has no token for");
    bpe->has_warned = true;
    return true;
}

static bool
encode_piece(void *self, const char *piece, size_t size)
{
    struct bpe *bpe = self;
    size_t i;

    if (pretokenizer_takes_whole(bpe->pre)) {
        const int32_t id = whole_piece(bpe, piece, size);

        if (id != TOKEN_NONE)
            return ids_push(bpe->ids, id);
    }
    merge_begin(&bpe->merge);
    for (i = 0; i < size; i++)
        if (!merge_add(&bpe->merge, 1, bpe->byte_ids[(unsigned char)piece[i]]))
            return false;
    if (!merge_run(&bpe->merge, bpe, piece, rate))
        return false;
    for (i = 0; i != SYMBOL_NONE; i = bpe->merge.symbols[i].next)
        if (!push_symbol(bpe, &bpe->merge.symbols[i]))
            return false;
    return true;
}

static bool
bpe_encode(void *self, const char *text, size_t size, bool is_start,
           struct ids *ids)
{
    struct bpe *bpe = self;

    (void)is_start;
    bpe->ids = ids;
    return pretokenize(bpe->pre, text, size, encode_piece, bpe);
}

/* The byte that the character of N bytes at TEXT stands for, or -1. */
static int
byte_of(const struct bpe *bpe, const char *text, size_t n)
{
    const unsigned char *c = (const unsigned char *)text;
    const size_t point =
        n == 1 ? c[0] : n == 2 ? (c[0] & 0x1fu) << 6 | (c[1] & 0x3fu) : 0;

    return point < sizeof(bpe->char_bytes) / sizeof(bpe->char_bytes[0])
        ? bpe->char_bytes[point]
        : -1;
}

static bool
bpe_decode(void *self, int32_t id, struct bytes *bytes)
{
    const struct bpe *bpe = self;
    const struct token *t = &bpe->vocab->tokens[id];
    size_t n;

    for (size_t i = 0; i < t->size; i += n) {
        int byte;
        char c;

        n = gb_utf8_length(t->text + i, t->size - i);
        n = n == 0 ? 1 : n;
        byte = byte_of(bpe, t->text + i, n);
        c = (char)byte;
        /* What stands for no byte stands for itself. */
        if (!(byte < 0 ? bytes_push(bytes, t->text + i, n)
                       : bytes_push(bytes, &c, 1)))
            return false;
    }
    return true;
}

const struct tokenizer_kind tokenizer_bpe = {
    .name = "gpt2",
    .open = bpe_open,
    .close = bpe_close,
    .adds_bos = bpe_adds_bos,
    .encode = bpe_encode,
    .decode = bpe_decode,
};
