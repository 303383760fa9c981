/* SPDX-License-Identifier: MIT */
/*
 * bench/llama.c - the graph of a language model as clients make it.
 */
#include "llama.h"

#include "bench.h"

#include <string.h>

enum { MAX_NODES = 2048 };

/* ---- weights ---- */

/* Counted with what a token needs: N_USED of N. */
static struct ggml_tensor *
weight(struct bench_llama *m, enum ggml_type type, int64_t n0, int64_t n1,
       int n_used, int n)
{
    struct ggml_tensor *t =
        ggml_new_tensor_3d(m->weights, type, n0, n1, n);

    if (t == NULL)
        bench_stop("a weight");
    m->bytes += (double)ggml_nbytes(t) * n_used / n;
    return t;
}

static struct ggml_tensor *
matrix(struct bench_llama *m, int64_t n0, int64_t n1)
{
    return weight(m, m->shape.type, n0, n1, 1, 1);
}

static struct ggml_tensor *
cache(struct bench_llama *m)
{
    return weight(m, GGML_TYPE_F16,
                  (int64_t)m->shape.n_kv_heads * m->shape.head_size,
                  m->n_positions, 1, 1);
}

static struct ggml_tensor *
experts(struct bench_llama *m, int64_t n0, int64_t n1)
{
    return weight(m, m->shape.type, n0, n1, m->shape.n_used,
                  m->shape.n_experts);
}

/* ---- a layer ---- */

static struct ggml_tensor *
normed(struct bench_llama *m, struct ggml_tensor *x)
{
    return ggml_mul(m->ctx, ggml_rms_norm(m->ctx, x, 1e-5f),
                    weight(m, GGML_TYPE_F32, m->shape.n_embd, 1, 1, 1));
}

static struct ggml_tensor *
product(struct bench_llama *m, struct ggml_tensor *x, int64_t n)
{
    return ggml_mul_mat(m->ctx, matrix(m, x->ne[0], n), x);
}

static struct ggml_tensor *
rotated(struct bench_llama *m, struct ggml_tensor *x, int n_heads)
{
    x = ggml_reshape_3d(m->ctx, x, m->shape.head_size, n_heads, m->n_tokens);
    return ggml_rope_ext(m->ctx, x, m->positions, NULL, m->shape.head_size, 0,
                         0, 10000.0f, 1.0f, 0.0f, 1.0f, 0.0f, 0.0f);
}

static void
store(struct bench_llama *m, struct ggml_tensor *from, struct ggml_tensor *to,
      struct ggml_tensor **moved)
{
    moved[0] = ggml_view_1d(m->ctx, to, to->ne[0] * m->n_tokens, 0);
    moved[1] = ggml_cpy(m->ctx, from, moved[0]);
    ggml_build_forward_expand(m->graph, moved[1]);
}

static struct ggml_tensor *
by_head(struct bench_llama *m, struct ggml_tensor *rows)
{
    return ggml_view_3d(m->ctx, rows, m->shape.head_size, m->n_positions,
                        m->shape.n_kv_heads, rows->nb[1],
                        (size_t)m->shape.head_size * sizeof(ggml_fp16_t), 0);
}

static struct ggml_tensor *
attend(struct bench_llama *m, struct ggml_tensor *x,
       struct ggml_tensor *stores[4])
{
    const struct bench_shape *s = &m->shape;
    const int64_t n_rows = (int64_t)s->n_heads * s->head_size;
    const int64_t n_kv = (int64_t)s->n_kv_heads * s->head_size;
    struct ggml_tensor *keys = cache(m), *values = cache(m), *q, *k, *v;

    x = normed(m, x);
    q = rotated(m, product(m, x, n_rows), s->n_heads);
    k = rotated(m, product(m, x, n_kv), s->n_kv_heads);
    v = product(m, x, n_kv);
    ggml_build_forward_expand(m->graph, q);
    ggml_build_forward_expand(m->graph, k);
    ggml_build_forward_expand(m->graph, v);
    store(m, k, keys, &stores[0]);
    store(m, v, values, &stores[2]);
    q = ggml_permute(m->ctx, q, 0, 2, 1, 3);
    x = ggml_flash_attn_ext(m->ctx, q, by_head(m, keys), by_head(m, values),
                            m->mask, 0.125f, 0.0f, 0.0f);
    x = ggml_reshape_2d(m->ctx, x, n_rows, m->n_tokens);
    return product(m, x, s->n_embd);
}

static struct ggml_tensor *
gated(struct bench_llama *m, struct ggml_tensor *gate, struct ggml_tensor *up)
{
    return ggml_mul(m->ctx, ggml_silu(m->ctx, gate), up);
}

static struct ggml_tensor *
feed_forward(struct bench_llama *m, struct ggml_tensor *x)
{
    struct ggml_tensor *gate, *up;

    x = normed(m, x);
    gate = product(m, x, m->shape.n_ff);
    up = product(m, x, m->shape.n_ff);
    return product(m, gated(m, gate, up), m->shape.n_embd);
}

/* The sum of what the experts of each token made. */
static struct ggml_tensor *
sum_of(struct bench_llama *m, struct ggml_tensor *x)
{
    struct ggml_tensor *sum = NULL;

    for (int i = 0; i < m->shape.n_used; i++) {
        struct ggml_tensor *one = ggml_view_2d(
            m->ctx, x, x->ne[0], x->ne[2], x->nb[2], (size_t)i * x->nb[1]);

        sum = sum == NULL ? one : ggml_add(m->ctx, sum, one);
    }
    return sum;
}

static struct ggml_tensor *
mix_experts(struct bench_llama *m, struct ggml_tensor *x)
{
    const struct bench_shape *s = &m->shape;
    struct ggml_tensor *values, *which, *shares, *gate, *up;

    x = normed(m, x);
    values = ggml_mul_mat(
        m->ctx, weight(m, GGML_TYPE_F32, s->n_embd, s->n_experts, 1, 1), x);
    values = ggml_soft_max(m->ctx, values);
    which = ggml_top_k(m->ctx, values, s->n_used);
    shares = ggml_get_rows(m->ctx,
                           ggml_reshape_3d(m->ctx, values, 1, s->n_experts,
                                           m->n_tokens),
                           which);
    x = ggml_reshape_3d(m->ctx, x, s->n_embd, 1, m->n_tokens);
    up = ggml_mul_mat_id(m->ctx, experts(m, s->n_embd, s->n_ff), x, which);
    gate = ggml_mul_mat_id(m->ctx, experts(m, s->n_embd, s->n_ff), x, which);
    x = ggml_mul_mat_id(m->ctx, experts(m, s->n_ff, s->n_embd),
                        gated(m, gate, up), which);
    return sum_of(m, ggml_mul(m->ctx, x, shares));
}

/* ---- all of it ---- */

static struct ggml_context *
new_context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = MAX_NODES * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(MAX_NODES, false),
        .no_alloc = true });

    if (ctx == NULL)
        bench_stop("a graph");
    return ctx;
}

static struct ggml_tensor *
input(struct bench_llama *m, enum ggml_type type, int64_t n0, int64_t n1)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(m->ctx, type, n0, n1);

    ggml_set_input(t);
    return t;
}

static void
build(struct bench_llama *m)
{
    struct ggml_tensor *embd = NULL, *x;

    m->positions = input(m, GGML_TYPE_I32, m->n_tokens, 1);
    m->mask = input(m, GGML_TYPE_F16, m->n_positions,
                    GGML_PAD(m->n_tokens, GGML_KQ_MASK_PAD));
    if (m->shape.n_vocab > 0) {
        embd = matrix(m, m->shape.n_embd, m->shape.n_vocab);
        x = ggml_get_rows(m->ctx, embd,
                          input(m, GGML_TYPE_I32, m->n_tokens, 1));
    } else {
        x = input(m, GGML_TYPE_F32, m->shape.n_embd, m->n_tokens);
    }
    for (int i = 0; i < m->shape.n_layers; i++) {
        x = ggml_add(m->ctx, attend(m, x, m->stores[i]), x);
        x = ggml_add(m->ctx,
                     m->shape.n_experts > 0 ? mix_experts(m, x)
                                            : feed_forward(m, x),
                     x);
    }
    /* Of a prompt the last token's answer alone is wanted. */
    if (m->n_tokens > 1)
        x = ggml_get_rows(m->ctx, x, input(m, GGML_TYPE_I32, 1, 1));
    if (embd != NULL)
        x = ggml_mul_mat(m->ctx, embd, normed(m, x));
    ggml_set_output(x);
    ggml_build_forward_expand(m->graph, x);
}

void
bench_llama_make(struct bench_llama *m, const struct bench_shape *shape,
                 int n_tokens, int n_positions,
                 ggml_backend_buffer_type_t buft)
{
    *m = (struct bench_llama){
        .shape = *shape, .n_tokens = n_tokens, .n_positions = n_positions
    };
    m->weights = new_context();
    m->ctx = new_context();
    m->graph = ggml_new_graph_custom(m->ctx, MAX_NODES, false);
    build(m);
    m->buffer = ggml_backend_alloc_ctx_tensors_from_buft(m->weights, buft);
    if (m->buffer == NULL)
        bench_stop("memory");
}

void
bench_llama_go_to(struct bench_llama *m, int position)
{
    for (int i = 0; i < m->shape.n_layers; i++) {
        for (int j = 0; j < 4; j++) {
            struct ggml_tensor *t = m->stores[i][j];

            t->view_offs = (size_t)position * t->view_src->nb[1];
            if (t->op == GGML_OP_VIEW)
                memcpy(t->op_params, &t->view_offs, sizeof(t->view_offs));
            t->data = (char *)t->view_src->data + t->view_offs;
        }
    }
}

void
bench_llama_free(struct bench_llama *m)
{
    ggml_backend_buffer_free(m->buffer);
    ggml_free(m->ctx);
    ggml_free(m->weights);
}
