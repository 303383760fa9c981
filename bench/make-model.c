/* SPDX-License-Identifier: MIT */
/*
 * make-model.c - write a model of a known size with random weights, of any
 * length: nothing of it is kept in memory.
 *
 *     make-model [-l LAYERS] [-s SEED] SHAPE TYPE FILE
 *
 * What such a model says is noise, but it takes as long as the real one does.
 * Of each type and length of row 64 rows are made, and the file's rows are
 * those in any order, so that gigabytes take no longer than writing them.  It
 * has no vocabulary.  TYPE q4_k_m has Q4_K, and Q6_K for the last matrix and,
 * in every other layer, for values and the last of the network; where rows are
 * no whole super-blocks, Q5_0 and Q8_0 take their places.
 *
 * FILE is there when it is whole.
 */
#include "ggml.h"
#include "gguf.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POOL_ROWS = 64, MAX_POOLS = 32, TENSORS_A_LAYER = 13 };

struct shape {
    const char *name;
    int n_layer, n_embd, n_head, n_head_kv, n_ff, n_vocab;
    float rope_base;
    bool is_tied;         /* the input's matrix is the output's as well */
    int n_expert, n_used; /* 0: none */
    bool is_gemma;        /* of the architecture gemma3: norms of heads, and
                             behind attention and network */
    int n_head_size;      /* 0: the embedding's, divided among heads */
};

static const struct shape shapes[] = {
    { "smollm2-135m", 30, 576, 9, 3, 1536, 49152, .rope_base = 1e5f,
      .is_tied = true },
    { "gemma-3-270m", 18, 640, 4, 1, 2048, 262144, .rope_base = 1e6f,
      .is_tied = true, .is_gemma = true, .n_head_size = 256 },
    { "llama-3.2-1b", 16, 2048, 32, 8, 8192, 128256, .rope_base = 5e5f,
      .is_tied = true },
    { "llama-3-8b", 32, 4096, 32, 8, 14336, 128256, .rope_base = 5e5f },
    { "32b", 64, 5120, 40, 8, 27648, 152064, .rope_base = 1e6f },
    { "experts-8-of-64", 16, 2048, 16, 16, 1024, 50304, .rope_base = 1e4f,
      .n_expert = 64, .n_used = 8 },
    { "tiny", 2, 256, 4, 2, 512, 512, .rope_base = 1e4f },
    { "tiny-gemma", 2, 192, 4, 1, 512, 512, .rope_base = 1e4f, .is_tied = true,
      .is_gemma = true, .n_head_size = 64 },
    { "tiny-experts", 2, 256, 4, 2, 256, 512, .rope_base = 1e4f, .n_expert = 8,
      .n_used = 2 },
};

/* What matrices are of, and those that are kept better. */
static const struct kind {
    const char *name;
    enum ggml_type type, better;
} kinds[] = {
    { "f16", GGML_TYPE_F16, GGML_TYPE_F16 },
    { "q8_0", GGML_TYPE_Q8_0, GGML_TYPE_Q8_0 },
    { "q4_0", GGML_TYPE_Q4_0, GGML_TYPE_Q6_K },
    { "q4_k_m", GGML_TYPE_Q4_K, GGML_TYPE_Q6_K },
};

/* Rows of one type and length. */
struct pool {
    enum ggml_type type;
    int64_t n;
    char *rows;
};

struct model {
    const struct shape *shape;
    const struct kind *kind;
    int n_layer;
    struct ggml_context *ctx; /* tensors without data */
    struct gguf_context *gguf;
    struct pool pools[MAX_POOLS];
    int n_pools;
    uint64_t random;
};

/* ---- numbers by chance: xorshift64 ---- */

static uint64_t
next_random(struct model *m)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return m->random;
}

/* In [-1, 1). */
static float
next_real(struct model *m)
{
    return (float)(next_random(m) >> 40) / (float)(1 << 23) - 1.0f;
}

/* ---- the list of tensors ---- */

static void
add(struct model *m, const char *name, enum ggml_type type, int64_t n0,
    int64_t n1, int64_t n2)
{
    struct ggml_tensor *t;

    if (n0 % ggml_blck_size(type) != 0)
        type = type == GGML_TYPE_Q4_K ? GGML_TYPE_Q5_0 : GGML_TYPE_Q8_0;
    t = ggml_new_tensor_3d(m->ctx, type, n0, n1, n2);
    ggml_set_name(t, name);
    gguf_add_tensor(m->gguf, t);
}

/* "blk.IL.NAME"; valid until the next call. */
static const char *
in_layer(int il, const char *name)
{
    static char full[GGML_MAX_NAME];

    snprintf(full, sizeof(full), "blk.%d.%s", il, name);
    return full;
}

static void
add_network(struct model *m, int il, enum ggml_type better)
{
    const struct shape *s = m->shape;
    const enum ggml_type type = m->kind->type;

    if (s->n_expert == 0) {
        add(m, in_layer(il, "ffn_gate.weight"), type, s->n_embd, s->n_ff, 1);
        add(m, in_layer(il, "ffn_up.weight"), type, s->n_embd, s->n_ff, 1);
        add(m, in_layer(il, "ffn_down.weight"), better, s->n_ff, s->n_embd, 1);
        return;
    }
    add(m, in_layer(il, "ffn_gate_inp.weight"), GGML_TYPE_F32, s->n_embd,
        s->n_expert, 1);
    add(m, in_layer(il, "ffn_gate_exps.weight"), type, s->n_embd, s->n_ff,
        s->n_expert);
    add(m, in_layer(il, "ffn_up_exps.weight"), type, s->n_embd, s->n_ff,
        s->n_expert);
    add(m, in_layer(il, "ffn_down_exps.weight"), better, s->n_ff, s->n_embd,
        s->n_expert);
}

static int
head_size(const struct shape *s)
{
    return s->n_head_size > 0 ? s->n_head_size : s->n_embd / s->n_head;
}

/* What Gemma has beside the matrices and norms of all. */
static void
add_more_norms(struct model *m, int il)
{
    static const char *const of_heads[] = { "attn_q_norm.weight",
                                            "attn_k_norm.weight" };
    static const char *const of_results[] = { "post_attention_norm.weight",
                                              "post_ffw_norm.weight" };

    for (int i = 0; i < 2; i++) {
        add(m, in_layer(il, of_heads[i]), GGML_TYPE_F32, head_size(m->shape), 1,
            1);
        add(m, in_layer(il, of_results[i]), GGML_TYPE_F32, m->shape->n_embd, 1,
            1);
    }
}

static void
add_layer(struct model *m, int il)
{
    const struct shape *s = m->shape;
    const enum ggml_type type = m->kind->type;
    const enum ggml_type better = il % 2 == 0 && type == GGML_TYPE_Q4_K
                                      ? m->kind->better : type;
    const int n_q = head_size(s) * s->n_head;
    const int n_kv = head_size(s) * s->n_head_kv;

    add(m, in_layer(il, "attn_norm.weight"), GGML_TYPE_F32, s->n_embd, 1, 1);
    add(m, in_layer(il, "attn_q.weight"), type, s->n_embd, n_q, 1);
    add(m, in_layer(il, "attn_k.weight"), type, s->n_embd, n_kv, 1);
    add(m, in_layer(il, "attn_v.weight"), better, s->n_embd, n_kv, 1);
    add(m, in_layer(il, "attn_output.weight"), type, n_q, s->n_embd, 1);
    add(m, in_layer(il, "ffn_norm.weight"), GGML_TYPE_F32, s->n_embd, 1, 1);
    add_network(m, il, better);
    if (s->is_gemma)
        add_more_norms(m, il);
}

static void
add_all(struct model *m)
{
    const struct shape *s = m->shape;

    add(m, "token_embd.weight", s->is_tied ? m->kind->better : m->kind->type,
        s->n_embd, s->n_vocab, 1);
    add(m, "output_norm.weight", GGML_TYPE_F32, s->n_embd, 1, 1);
    if (!s->is_tied)
        add(m, "output.weight", m->kind->better, s->n_embd, s->n_vocab, 1);
    for (int il = 0; il < m->n_layer; il++)
        add_layer(m, il);
}

/* ---- keys ---- */

static const char *
architecture(const struct model *m)
{
    return m->shape->is_gemma ? "gemma3" : "llama";
}

/* "ARCHITECTURE.NAME"; valid until the next call. */
static const char *
key(const struct model *m, const char *name)
{
    static char full[96];

    snprintf(full, sizeof(full), "%s.%s", architecture(m), name);
    return full;
}

static void
set_keys(struct model *m)
{
    const struct shape *s = m->shape;
    const struct {
        const char *name;
        int value;
    } sizes[] = {
        { "block_count", m->n_layer },
        { "context_length", 65536 },
        { "embedding_length", s->n_embd },
        { "feed_forward_length", s->n_ff },
        { "attention.head_count", s->n_head },
        { "attention.head_count_kv", s->n_head_kv },
        { "attention.key_length", head_size(s) },
        { "attention.value_length", head_size(s) },
        { "attention.sliding_window", s->is_gemma ? 512 : 0 },
        { "rope.dimension_count", head_size(s) },
        { "vocab_size", s->n_vocab },
        { "expert_count", s->n_expert },
        { "expert_used_count", s->n_used },
    };

    gguf_set_val_str(m->gguf, "general.architecture", architecture(m));
    gguf_set_val_str(m->gguf, "general.name", s->name);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (sizes[i].value > 0)
            gguf_set_val_u32(m->gguf, key(m, sizes[i].name),
                             (uint32_t)sizes[i].value);
    gguf_set_val_f32(m->gguf, key(m, "attention.layer_norm_rms_epsilon"),
                     s->is_gemma ? 1e-6f : 1e-5f);
    gguf_set_val_f32(m->gguf, key(m, "rope.freq_base"), s->rope_base);
    gguf_set_val_str(m->gguf, "tokenizer.ggml.model", "none");
}

/* ---- values ---- */

/* Norms are near 1; sums of products with others as large as what is summed. */
static bool
fill_pool(struct model *m, struct pool *p)
{
    const bool is_norm = p->type == GGML_TYPE_F32;
    const float width = is_norm ? 0.2f : 1.7f / sqrtf((float)p->n);
    const size_t n = (size_t)p->n * POOL_ROWS;
    float *values = malloc(n * sizeof(*values));

    p->rows = malloc(ggml_row_size(p->type, p->n) * POOL_ROWS);
    if (values != NULL && p->rows != NULL) {
        for (size_t i = 0; i < n; i++)
            values[i] = (is_norm ? 1.0f : 0.0f) + width * next_real(m);
        ggml_quantize_chunk(p->type, values, p->rows, 0, POOL_ROWS, p->n,
                            NULL);
    }
    free(values);
    return values != NULL && p->rows != NULL;
}

/* NULL without memory. */
static const struct pool *
pool_for(struct model *m, const struct ggml_tensor *t)
{
    struct pool *p = m->pools;

    for (; p < m->pools + m->n_pools; p++)
        if (p->type == t->type && p->n == t->ne[0])
            return p;
    if (m->n_pools == MAX_POOLS)
        return NULL;
    m->n_pools++;
    *p = (struct pool){ .type = t->type, .n = t->ne[0] };
    return fill_pool(m, p) ? p : NULL;
}

static bool
write_rows(struct model *m, const struct ggml_tensor *t, FILE *file)
{
    const size_t size = ggml_row_size(t->type, t->ne[0]);
    const struct pool *pool = pool_for(m, t);

    for (int64_t i = 0; pool != NULL && i < ggml_nrows(t); i++) {
        const char *row = pool->rows + next_random(m) % POOL_ROWS * size;

        if (fwrite(row, 1, size, file) != size)
            return false;
    }
    return pool != NULL;
}

/* Up to the place where a tensor begins. */
static bool
write_zeros(FILE *file, size_t to)
{
    long at = ftell(file);

    for (; at >= 0 && (size_t)at < to; at++)
        if (putc(0, file) == EOF)
            return false;
    return at >= 0;
}

static bool
write_data(struct model *m, FILE *file)
{
    const size_t start = gguf_get_meta_size(m->gguf);
    struct ggml_tensor *t = ggml_get_first_tensor(m->ctx);
    const int64_t n = gguf_get_n_tensors(m->gguf);

    for (int64_t i = 0; i < n; i++, t = ggml_get_next_tensor(m->ctx, t))
        if (!write_zeros(file, start + gguf_get_tensor_offset(m->gguf, i)) ||
            !write_rows(m, t, file))
            return false;
    return write_zeros(file, start + gguf_get_tensor_offset(m->gguf, n - 1) +
                                 GGML_PAD(gguf_get_tensor_size(m->gguf, n - 1),
                                          32));
}

static bool
write_file(struct model *m, const char *path)
{
    FILE *file;
    bool is_written;

    if (!gguf_write_to_file(m->gguf, path, true))
        return false;
    file = fopen(path, "ab");
    if (file == NULL)
        return false;
    is_written = fseek(file, 0, SEEK_END) == 0 && write_data(m, file);
    return fclose(file) == 0 && is_written;
}

static bool
write_whole(struct model *m, const char *path)
{
    char part[4096];
    const int n = snprintf(part, sizeof(part), "%s.part", path);

    if (n < 0 || (size_t)n >= sizeof(part))
        return false;
    if (write_file(m, part) && rename(part, path) == 0)
        return true;
    remove(part);
    return false;
}

static bool
make(struct model *m, const char *path)
{
    const struct ggml_init_params params = {
        .mem_size = ((size_t)m->n_layer * TENSORS_A_LAYER + 3) *
            ggml_tensor_overhead(),
        .no_alloc = true,
    };
    bool is_written = false;

    m->ctx = ggml_init(params);
    m->gguf = gguf_init_empty();
    if (m->ctx != NULL && m->gguf != NULL) {
        set_keys(m);
        add_all(m);
        is_written = write_whole(m, path);
    }
    for (int i = 0; i < m->n_pools; i++)
        free(m->pools[i].rows);
    gguf_free(m->gguf);
    ggml_free(m->ctx);
    return is_written;
}

static int
wrong_usage(void)
{
    fputs("usage: make-model [-l LAYERS] [-s SEED] SHAPE TYPE FILE\nshapes:",
          stderr);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        fprintf(stderr, " %s", shapes[i].name);
    fputs("\ntypes:", stderr);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        fprintf(stderr, " %s", kinds[i].name);
    fputc('\n', stderr);
    return 2;
}

int
main(int argc, char **argv)
{
    struct model m = { .random = 1 };
    int c;

    while ((c = getopt(argc, argv, "l:s:")) != -1) {
        switch (c) {
        case 'l': m.n_layer = atoi(optarg); break;
        case 's': m.random = strtoull(optarg, NULL, 10) * 2 + 1; break;
        default: return wrong_usage();
        }
    }
    if (optind + 3 != argc)
        return wrong_usage();
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (strcmp(shapes[i].name, argv[optind]) == 0)
            m.shape = &shapes[i];
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, argv[optind + 1]) == 0)
            m.kind = &kinds[i];
    if (m.shape == NULL || m.kind == NULL)
        return wrong_usage();
    if (m.n_layer < 1 || m.n_layer > m.shape->n_layer)
        m.n_layer = m.shape->n_layer;
    if (make(&m, argv[optind + 2]))
        return 0;
    fprintf(stderr, "make-model: %s: not written\n", argv[optind + 2]);
    return 1;
}
