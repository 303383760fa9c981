/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/model.c - a small transformer with random weights.
 */
#include "tests/sched/model.h"

#include "tests/sim/sim.h"

#include "ggml-alloc.h"
#include "ggmlbackend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_EMBD = 32, N_HEADS = 2, HEAD = N_EMBD / N_HEADS, N_FFN = 64 };

static struct ggml_context *
context(size_t n_tensors)
{
    return ggml_init((struct ggml_init_params){
        .mem_size = n_tensors * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    });
}

/* ---- weights ---- */

/* Numbers for all tensors of a context, which has its memory. */
static void
fill(struct ggml_context *ctx, uint64_t seed)
{
    for (struct ggml_tensor *t = ggml_get_first_tensor(ctx); t != NULL;
         t = ggml_get_next_tensor(ctx, t))
        sim_fill(t, seed++);
}

static ggml_backend_buffer_t
allocate(struct ggml_context *ctx, ggml_backend_t backend, uint64_t seed)
{
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(ctx, backend);

    if (buffer == NULL)
        return NULL;
    ggml_backend_buffer_set_usage(buffer, GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    fill(ctx, seed);
    return buffer;
}

static bool
new_layer(struct model_layer *l, ggml_backend_t backend, uint64_t seed)
{
    l->ctx = context(16);
    if (l->ctx == NULL)
        return false;
    l->attn_norm = ggml_new_tensor_1d(l->ctx, GGML_TYPE_F32, N_EMBD);
    l->q = ggml_new_tensor_2d(l->ctx, GGML_TYPE_F16, N_EMBD, N_EMBD);
    l->k = ggml_new_tensor_2d(l->ctx, GGML_TYPE_F32, N_EMBD, N_EMBD);
    l->v = ggml_new_tensor_2d(l->ctx, GGML_TYPE_Q8_0, N_EMBD, N_EMBD);
    l->o = ggml_new_tensor_2d(l->ctx, GGML_TYPE_Q4_1, N_EMBD, N_EMBD);
    l->ffn_norm = ggml_new_tensor_1d(l->ctx, GGML_TYPE_F32, N_EMBD);
    l->gate = ggml_new_tensor_2d(l->ctx, GGML_TYPE_F16, N_EMBD, N_FFN);
    l->up = ggml_new_tensor_2d(l->ctx, GGML_TYPE_Q8_0, N_EMBD, N_FFN);
    l->down = ggml_new_tensor_2d(l->ctx, GGML_TYPE_F32, N_FFN, N_EMBD);
    l->buffer = allocate(l->ctx, backend, seed);
    return l->buffer != NULL;
}

static bool
new_ends(struct model *m, ggml_backend_t first, ggml_backend_t last)
{
    m->ctx_in = context(4);
    m->ctx_out = context(4);
    if (m->ctx_in == NULL || m->ctx_out == NULL)
        return false;
    m->words =
        ggml_new_tensor_2d(m->ctx_in, GGML_TYPE_F16, N_EMBD, MODEL_WORDS);
    m->norm = ggml_new_tensor_1d(m->ctx_out, GGML_TYPE_F32, N_EMBD);
    m->head =
        ggml_new_tensor_2d(m->ctx_out, GGML_TYPE_Q8_0, N_EMBD, MODEL_WORDS);
    m->in = allocate(m->ctx_in, first, 1);
    m->out = allocate(m->ctx_out, last, 2);
    return m->in != NULL && m->out != NULL;
}

bool
model_new(struct model *m, ggml_backend_t first, const ggml_backend_t *layers,
          int n_layers)
{
    bool ok;

    memset(m, 0, sizeof(*m));
    ok = new_ends(m, first, layers[(MODEL_LAYERS - 1) % n_layers]);
    for (int i = 0; ok && i < MODEL_LAYERS; i++)
        ok = new_layer(&m->layers[i], layers[i % n_layers],
                       (uint64_t)(100 + 20 * i));
    if (!ok)
        model_free(m);
    return ok;
}

void
model_free(struct model *m)
{
    for (int i = 0; i < MODEL_LAYERS; i++) {
        ggml_backend_buffer_free(m->layers[i].buffer);
        ggml_free(m->layers[i].ctx);
    }
    ggml_backend_buffer_free(m->in);
    ggml_backend_buffer_free(m->out);
    ggml_free(m->ctx_in);
    ggml_free(m->ctx_out);
    memset(m, 0, sizeof(*m));
}

/* ---- the graph ---- */

static struct ggml_tensor *
normed(struct ggml_context *c, struct ggml_tensor *x, struct ggml_tensor *w)
{
    return ggml_mul(c, ggml_rms_norm(c, x, 1e-5f), w);
}

/* [HEAD, tokens, heads], rotated by the positions unless these are NULL. */
static struct ggml_tensor *
heads_of(struct ggml_context *c, struct ggml_tensor *x,
         struct ggml_tensor *positions)
{
    struct ggml_tensor *h =
        ggml_reshape_3d(c, x, HEAD, N_HEADS, MODEL_TOKENS);

    if (positions != NULL)
        h = ggml_rope(c, h, positions, HEAD, 0);
    return ggml_permute(c, h, 0, 2, 1, 3);
}

static struct ggml_tensor *
attention(struct ggml_context *c, const struct model_graph *g,
          const struct model_layer *l, struct ggml_tensor *x)
{
    struct ggml_tensor *q = heads_of(c, ggml_mul_mat(c, l->q, x), g->positions);
    struct ggml_tensor *k = heads_of(c, ggml_mul_mat(c, l->k, x), g->positions);
    struct ggml_tensor *v = heads_of(c, ggml_mul_mat(c, l->v, x), NULL);
    struct ggml_tensor *p = ggml_soft_max_ext(
        c, ggml_mul_mat(c, k, q), g->mask, 1.0f / sqrtf((float)HEAD), 0.0f);

    v = ggml_cont(c, ggml_transpose(c, v));
    x = ggml_permute(c, ggml_mul_mat(c, v, p), 0, 2, 1, 3);
    x = ggml_cont_2d(c, x, N_EMBD, MODEL_TOKENS);
    return ggml_mul_mat(c, l->o, x);
}

static struct ggml_tensor *
feed_forward(struct ggml_context *c, const struct model_layer *l,
             struct ggml_tensor *x)
{
    struct ggml_tensor *gate =
        ggml_silu_inplace(c, ggml_mul_mat(c, l->gate, x));

    x = ggml_mul(c, gate, ggml_mul_mat(c, l->up, x));
    return ggml_mul_mat(c, l->down, x);
}

static struct ggml_tensor *
input(struct ggml_context *c, enum ggml_type type, int64_t ne0, int64_t ne1,
      const char *name)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(c, type, ne0, ne1);

    ggml_set_input(t);
    return ggml_set_name(t, name);
}

bool
model_build(const struct model *m, struct model_graph *g)
{
    struct ggml_context *c = context(200);
    struct ggml_tensor *x;

    memset(g, 0, sizeof(*g));
    if (c == NULL)
        return false;
    g->ctx = c;
    g->graph = ggml_new_graph(c);
    g->ids = input(c, GGML_TYPE_I32, MODEL_TOKENS, 1, "ids");
    g->positions = input(c, GGML_TYPE_I32, MODEL_TOKENS, 1, "positions");
    g->mask = input(c, GGML_TYPE_F32, MODEL_TOKENS, MODEL_TOKENS, "mask");
    x = ggml_get_rows(c, m->words, g->ids);
    for (int i = 0; i < MODEL_LAYERS; i++) {
        const struct model_layer *l = &m->layers[i];

        x = ggml_add(c, x, attention(c, g, l, normed(c, x, l->attn_norm)));
        x = ggml_add(c, x, feed_forward(c, l, normed(c, x, l->ffn_norm)));
        ggml_build_forward_expand(g->graph, x);
        g->end_of[i] = ggml_graph_n_nodes(g->graph);
    }
    g->logits = ggml_mul_mat(c, m->head, normed(c, x, m->norm));
    ggml_set_name(g->logits, "logits");
    ggml_set_output(g->logits);
    ggml_build_forward_expand(g->graph, g->logits);
    return true;
}

void
model_graph_free(struct model_graph *g)
{
    ggml_free(g->ctx);
    memset(g, 0, sizeof(*g));
}

void
model_set_inputs(const struct model_graph *g, int text)
{
    int32_t ids[MODEL_TOKENS], positions[MODEL_TOKENS];
    float mask[MODEL_TOKENS][MODEL_TOKENS];

    for (int i = 0; i < MODEL_TOKENS; i++) {
        ids[i] = (7 * i * i + 11 * text + 3 * i) % MODEL_WORDS;
        positions[i] = i + text;
        for (int k = 0; k < MODEL_TOKENS; k++)
            mask[i][k] = k <= i ? 0.0f : -INFINITY;
    }
    ggml_backend_tensor_set(g->ids, ids, 0, sizeof(ids));
    ggml_backend_tensor_set(g->positions, positions, 0, sizeof(positions));
    ggml_backend_tensor_set(g->mask, mask, 0, sizeof(mask));
}

void
model_reference(ggml_backend_t backend, int text, float *logits)
{
    ggml_gallocr_t allocator =
        ggml_gallocr_new(ggml_backend_get_default_buffer_type(backend));
    struct model_graph g;
    struct model m;

    assert_true(model_new(&m, backend, &backend, 1));
    assert_true(model_build(&m, &g));
    assert_true(ggml_gallocr_alloc_graph(allocator, g.graph));
    model_set_inputs(&g, text);
    assert_int_equal(ggml_backend_graph_compute(backend, g.graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(g.logits, logits, 0,
                            MODEL_LOGITS * sizeof(*logits));
    for (int i = 0; i < MODEL_LOGITS; i++)
        assert_true(isfinite(logits[i]) && logits[i] != 0.0f);
    ggml_gallocr_free(allocator);
    model_graph_free(&g);
    model_free(&m);
}
