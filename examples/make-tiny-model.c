/* SPDX-License-Identifier: MIT */
/*
 * make-tiny-model.c - write a language model with random weights, below 1 MB.
 *
 *     make-tiny-model [-a llama|qwen2|gemma3] [-t TYPE] [-p PRE]
 *                     [-r none|linear|yarn|freqs] [-s SEED] FILE
 *
 * What it says is noise, but the file has everything that a model's file has:
 * sizes, a vocabulary, weights by name.  Tests and demonstrations use it where
 * no real model is at hand; the same options always give the same file.
 *
 * It shows how to write a GGUF file: keys first, then tensors that live in a
 * context, then gguf_write_to_file.
 */
#include "ggml.h"
#include "gguf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N_EMBD  64
#define N_HEAD  4
#define N_FF    96
#define N_CTX   256
#define MAX_VOCAB 512

/* What differs between the architectures. */
struct shape {
    const char *arch;
    int n_layer;
    int n_head_kv;
    int n_head_k; /* elements of a head; other than N_EMBD / N_HEAD for one */
    int has_bias;
    int is_gemma;
};

static const struct shape shapes[] = {
    { "llama", 2, 2, 16, 0, 0 },
    { "qwen2", 2, 2, 16, 1, 0 },
    { "gemma3", 6, 1, 24, 0, 1 },
};

struct vocab {
    const char *texts[MAX_VOCAB];
    int32_t types[MAX_VOCAB];
    float scores[MAX_VOCAB];
    int n;
    char pool[MAX_VOCAB * 16]; /* texts made here */
    size_t used;
};

enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER = 4, BYTE = 6 };

/* What is joined, in this order; \xc4\xa0 is a blank as a byte-level token. */
#define G "\xc4\xa0"
static const char *const merges[] = {
    G " t",    "h e",  G "t he", "i n",    "e r", G " a", "o n",  "r e",
    G " " G,   "n d",  G "a nd", G " w",   "l l", "o u",  "in g", "1 2",
    "' s",     "T he", "\xc3\x83 \xc2\xa9", "\xc4\x8a \xc4\x8a",
    G " h",    G "h e", "12 3", "e ll",
};

/* The same for SentencePiece: pieces with the best first; \xe2\x96\x81 is a
   blank. */
#define B "\xe2\x96\x81"
static const char *const pieces[] = {
    B "t", "he", B "the", "in", "er", B "a",  "on",  "re",
    B B,   "nd", B "and", B "w", "ll", "ou",  "ing", "12",
    "ell", "hell", "hello", B "hello", "wo", "rl", "world", "ld",
};
static const char letters[] = "etaoinshrdlucmfwypvbgkjqxz.,!?'-0123456789";

/* xorshift64, scaled to [-1, 1). */
static uint64_t state = 1;

static float
next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (float)((double)(state >> 11) * 0x1p-52 - 1.0);
}

static void
add_token(struct vocab *v, const char *text, int type, float score)
{
    if (v->n == MAX_VOCAB)
        return;
    v->texts[v->n] = text;
    v->types[v->n] = type;
    v->scores[v->n++] = score;
}

/* A copy of the N bytes at TEXT that lives as long as the vocabulary. */
static char *
keep(struct vocab *v, const char *text, size_t n)
{
    char *copy = v->pool + v->used;

    if (n + 1 > sizeof(v->pool) - v->used)
        return NULL;
    memcpy(copy, text, n);
    copy[n] = '\0';
    v->used += n + 1;
    return copy;
}

/*
 * How byte-level tokens write a byte: printable characters of Latin-1 as
 * themselves, the others, in order, as U+0100 and following.
 */
static void
add_bytes(struct vocab *v)
{
    int next = 0x100;

    for (int byte = 0; byte < 256; byte++) {
        const int is_itself = (byte >= 0x21 && byte <= 0x7e) ||
            (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
        const int point = is_itself ? byte : next++;
        const char text[2] = {
            (char)(point < 0x80 ? point : 0xc0 | point >> 6),
            (char)(0x80 | (point & 0x3f)),
        };

        add_token(v, keep(v, text, point < 0x80 ? 1 : 2), NORMAL, 0.0f);
    }
}

/* Ids 0 to 2 are control tokens, 3 + b is byte b, then what is joined. */
static void
make_bpe(struct vocab *v)
{
    add_token(v, "<|endoftext|>", CONTROL, 0.0f);
    add_token(v, "<|im_start|>", CONTROL, 0.0f);
    add_token(v, "<|im_end|>", CONTROL, 0.0f);
    add_bytes(v);
    for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++) {
        const char *blank = strchr(merges[i], ' ');
        char *text = keep(v, merges[i], strlen(merges[i]));
        char *gap = text + (blank - merges[i]);

        memmove(gap, gap + 1, strlen(gap));
        add_token(v, text, NORMAL, 0.0f);
    }
}

/* Ids 0 to 6 are special, 7 + b is byte b, then pieces, then letters. */
static void
make_spm(struct vocab *v)
{
    add_token(v, "<pad>", CONTROL, -1000.0f);
    add_token(v, "<eos>", CONTROL, -1000.0f);
    add_token(v, "<bos>", CONTROL, -1000.0f);
    add_token(v, "<unk>", UNKNOWN, -1000.0f);
    add_token(v, "\n\n", USER, -1000.0f);
    add_token(v, "<start_of_turn>", CONTROL, -1000.0f);
    add_token(v, "<end_of_turn>", CONTROL, -1000.0f);
    for (int byte = 0; byte < 256; byte++) {
        char text[8];

        snprintf(text, sizeof(text), "<0x%02X>", (unsigned)byte);
        add_token(v, keep(v, text, strlen(text)), BYTE, -1000.0f);
    }
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        add_token(v, pieces[i], NORMAL, -(float)i);
    add_token(v, B, NORMAL, -500.0f);
    for (size_t i = 0; letters[i] != '\0'; i++)
        add_token(v, keep(v, letters + i, 1), NORMAL, -501.0f - (float)i);
}

/* Set ARCH.NAME. */
static void
set_size(struct gguf_context *gguf, const char *arch, const char *name,
         uint32_t value)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", arch, name);
    gguf_set_val_u32(gguf, key, value);
}

static void
set_real(struct gguf_context *gguf, const char *arch, const char *name,
         float value)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", arch, name);
    gguf_set_val_f32(gguf, key, value);
}

static void
set_sizes(struct gguf_context *gguf, const struct shape *s, const char *rope)
{
    const char *arch = s->arch;
    char key[96];

    gguf_set_val_str(gguf, "general.architecture", arch);
    gguf_set_val_str(gguf, "general.name", "tiny model of random weights");
    set_size(gguf, arch, "block_count", (uint32_t)s->n_layer);
    set_size(gguf, arch, "context_length", N_CTX);
    set_size(gguf, arch, "embedding_length", N_EMBD);
    set_size(gguf, arch, "feed_forward_length", N_FF);
    set_size(gguf, arch, "attention.head_count", N_HEAD);
    set_size(gguf, arch, "attention.head_count_kv", (uint32_t)s->n_head_kv);
    set_size(gguf, arch, "attention.key_length", (uint32_t)s->n_head_k);
    set_size(gguf, arch, "attention.value_length", (uint32_t)s->n_head_k);
    set_real(gguf, arch, "attention.layer_norm_rms_epsilon", 1e-5f);
    set_real(gguf, arch, "rope.freq_base", s->is_gemma ? 1000000.0f : 10000.0f);
    if (s->is_gemma)
        set_size(gguf, arch, "attention.sliding_window", 8);
    if (strcmp(rope, "linear") != 0 && strcmp(rope, "yarn") != 0)
        return;
    snprintf(key, sizeof(key), "%s.rope.scaling.type", arch);
    gguf_set_val_str(gguf, key, rope);
    set_real(gguf, arch, "rope.scaling.factor", 4.0f);
    set_size(gguf, arch, "rope.scaling.original_context_length", 64);
}

static void
set_vocab(struct gguf_context *gguf, const struct shape *s, struct vocab *v,
          const char *pre)
{
    const int32_t bos = s->is_gemma ? 2 : 1, eos = s->is_gemma ? 1 : 2;

    gguf_set_val_str(gguf, "tokenizer.ggml.model",
                     s->is_gemma ? "llama" : "gpt2");
    gguf_set_val_str(gguf, "tokenizer.ggml.pre", pre);
    gguf_set_arr_str(gguf, "tokenizer.ggml.tokens", v->texts, (size_t)v->n);
    gguf_set_arr_data(gguf, "tokenizer.ggml.token_type", GGUF_TYPE_INT32,
                      v->types, (size_t)v->n);
    if (s->is_gemma) {
        gguf_set_arr_data(gguf, "tokenizer.ggml.scores", GGUF_TYPE_FLOAT32,
                          v->scores, (size_t)v->n);
        gguf_set_val_u32(gguf, "tokenizer.ggml.unknown_token_id", 3);
    } else {
        const char *list[sizeof(merges) / sizeof(merges[0])];

        memcpy(list, merges, sizeof(merges));
        gguf_set_arr_str(gguf, "tokenizer.ggml.merges", list,
                         sizeof(merges) / sizeof(merges[0]));
    }
    gguf_set_val_u32(gguf, "tokenizer.ggml.bos_token_id", (uint32_t)bos);
    gguf_set_val_u32(gguf, "tokenizer.ggml.eos_token_id", (uint32_t)eos);
    gguf_set_val_bool(gguf, "tokenizer.ggml.add_bos_token", s->is_gemma);
    gguf_set_val_bool(gguf, "tokenizer.ggml.add_space_prefix", false);
}

/* Where tensors go: the context that holds them, and the file's list. */
struct weights {
    struct ggml_context *ctx;
    struct gguf_context *gguf;
    enum ggml_type type;
    int has_failed;
};

/* N1 rows of N0 numbers MIDDLE + random · WIDTH, as TYPE. */
static void
add_weight(struct weights *w, const char *name, enum ggml_type type, int n0,
           int n1, float middle, float width)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(w->ctx, type, n0, n1);
    float *values = malloc((size_t)n0 * (size_t)n1 * sizeof(*values));

    if (values == NULL || t == NULL || t->data == NULL) {
        free(values);
        w->has_failed = 1;
        return;
    }
    for (int i = 0; i < n0 * n1; i++)
        values[i] = middle + width * next_random();
    if (type == GGML_TYPE_F32)
        memcpy(t->data, values, ggml_nbytes(t));
    else
        ggml_quantize_chunk(type, values, t->data, 0, n1, n0, NULL);
    free(values);
    ggml_set_name(t, name);
    gguf_add_tensor(w->gguf, t);
}

static void
add_matrix(struct weights *w, const char *name, int n0, int n1)
{
    add_weight(w, name, w->type, n0, n1, 0.0f, 1.7f / sqrtf((float)n0));
}

static void
add_norm(struct weights *w, const char *name, int n)
{
    add_weight(w, name, GGML_TYPE_F32, n, 1, 1.0f, 0.2f);
}

static void
add_bias(struct weights *w, const char *name, int n)
{
    add_weight(w, name, GGML_TYPE_F32, n, 1, 0.0f, 0.2f);
}

/* "blk.IL.NAME"; valid until the next call. */
static const char *
in_layer(int il, const char *name)
{
    static char full[64];

    snprintf(full, sizeof(full), "blk.%d.%s", il, name);
    return full;
}

static void
add_layer(struct weights *w, const struct shape *s, int il)
{
    const int n_q = N_HEAD * s->n_head_k, n_k = s->n_head_kv * s->n_head_k;

    add_norm(w, in_layer(il, "attn_norm.weight"), N_EMBD);
    add_matrix(w, in_layer(il, "attn_q.weight"), N_EMBD, n_q);
    add_matrix(w, in_layer(il, "attn_k.weight"), N_EMBD, n_k);
    add_matrix(w, in_layer(il, "attn_v.weight"), N_EMBD, n_k);
    add_matrix(w, in_layer(il, "attn_output.weight"), n_q, N_EMBD);
    if (s->has_bias) {
        add_bias(w, in_layer(il, "attn_q.bias"), n_q);
        add_bias(w, in_layer(il, "attn_k.bias"), n_k);
        add_bias(w, in_layer(il, "attn_v.bias"), n_k);
    }
    if (s->is_gemma) {
        add_norm(w, in_layer(il, "attn_q_norm.weight"), s->n_head_k);
        add_norm(w, in_layer(il, "attn_k_norm.weight"), s->n_head_k);
        add_norm(w, in_layer(il, "post_attention_norm.weight"), N_EMBD);
        add_norm(w, in_layer(il, "post_ffw_norm.weight"), N_EMBD);
    }
    add_norm(w, in_layer(il, "ffn_norm.weight"), N_EMBD);
    add_matrix(w, in_layer(il, "ffn_gate.weight"), N_EMBD, N_FF);
    add_matrix(w, in_layer(il, "ffn_up.weight"), N_EMBD, N_FF);
    add_matrix(w, in_layer(il, "ffn_down.weight"), N_FF, N_EMBD);
}

static void
add_weights(struct weights *w, const struct shape *s, int n_vocab,
            const char *rope)
{
    add_matrix(w, "token_embd.weight", N_EMBD, n_vocab);
    add_norm(w, "output_norm.weight", N_EMBD);
    /* One architecture has an output of its own, the others use the input. */
    if (s->has_bias)
        add_matrix(w, "output.weight", N_EMBD, n_vocab);
    if (strcmp(rope, "freqs") == 0)
        add_weight(w, "rope_freqs.weight", GGML_TYPE_F32, s->n_head_k / 2, 1,
                   4.0f, 3.0f);
    for (int il = 0; il < s->n_layer; il++)
        add_layer(w, s, il);
}

static int
write_model(const char *path, const struct shape *s, const char *pre,
            const char *rope, enum ggml_type type)
{
    const struct ggml_init_params params = { .mem_size = 4 << 20 };
    static struct vocab v;
    struct weights w = {
        .ctx = ggml_init(params),
        .gguf = gguf_init_empty(),
        .type = type,
    };
    int is_written = 0;

    if (w.ctx != NULL && w.gguf != NULL) {
        if (s->is_gemma)
            make_spm(&v);
        else
            make_bpe(&v);
        set_sizes(w.gguf, s, rope);
        set_vocab(w.gguf, s, &v, pre);
        add_weights(&w, s, v.n, rope);
        is_written = !w.has_failed && gguf_write_to_file(w.gguf, path, false);
    }
    if (!is_written)
        fprintf(stderr, "make-tiny-model: %s: not written\n", path);
    gguf_free(w.gguf);
    ggml_free(w.ctx);
    return is_written ? 0 : 1;
}

static int
wrong_usage(void)
{
    fputs("usage: make-tiny-model [-a llama|qwen2|gemma3] [-t f32|f16|q8_0]\n"
          "                       [-p PRE] [-r none|linear|yarn|freqs]\n"
          "                       [-s SEED] FILE\n",
          stderr);
    return 2;
}

/* The type that matrices may have by this NAME, or GGML_TYPE_COUNT. */
static enum ggml_type
type_by_name(const char *name)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q8_0,
    };

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(ggml_type_name(types[i]), name) == 0)
            return types[i];
    return GGML_TYPE_COUNT;
}

int
main(int argc, char **argv)
{
    const char *arch = "llama", *pre = "smollm", *rope = "none";
    enum ggml_type type = GGML_TYPE_F32;
    const struct shape *shape = NULL;
    int c;

    while ((c = getopt(argc, argv, "a:p:r:s:t:")) != -1) {
        switch (c) {
        case 'a': arch = optarg; break;
        case 'p': pre = optarg; break;
        case 'r': rope = optarg; break;
        case 's': state = strtoull(optarg, NULL, 10) * 2 + 1; break;
        case 't': type = type_by_name(optarg); break;
        default: return wrong_usage();
        }
    }
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (strcmp(shapes[i].arch, arch) == 0)
            shape = &shapes[i];
    if (shape == NULL || type == GGML_TYPE_COUNT || optind + 1 != argc)
        return wrong_usage();
    return write_model(argv[optind], shape, pre, rope, type);
}
