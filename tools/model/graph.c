/* SPDX-License-Identifier: MIT */
/*
 * model/graph.c - a model's computation as graphs.
 */
#include "tools/model/graph.h"

#include "tools/common/tool.h"
#include "tools/model/array.h"

#include "ggml-alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tensors of one layer, views included, and of what is around the layers. */
#define TENSORS_A_LAYER 64
#define TENSORS_BESIDE  32
#define TENSORS_A_DEVICE 4

/* What the functions that build share. */
struct builder {
    struct graph *graph;
    struct ggml_context *ctx;
    const struct model *model;
    const struct hparams *hp;
    const struct kv_cache *cache;
    bool is_head;

    /* The graph's inputs as the layer at hand reads them. */
    struct ggml_tensor *positions;
    struct ggml_tensor *mask;
    struct ggml_tensor *mask_local;
};

/* RMS norm times a weight; X itself without a weight. */
static struct ggml_tensor *
normed(const struct builder *b, struct ggml_tensor *x, struct ggml_tensor *w)
{
    if (w == NULL)
        return x;
    return ggml_mul(b->ctx, ggml_rms_norm(b->ctx, x, b->hp->norm_eps), w);
}

/* W·x, plus a bias where there is one. */
static struct ggml_tensor *
linear(const struct builder *b, struct ggml_tensor *w, struct ggml_tensor *bias,
       struct ggml_tensor *x)
{
    struct ggml_tensor *y = ggml_mul_mat(b->ctx, w, x);

    return bias == NULL ? y : ggml_add(b->ctx, y, bias);
}

/* The rows of X from FIRST on. */
static struct ggml_tensor *
rows_from(const struct builder *b, struct ggml_tensor *x, int64_t first)
{
    if (first == 0)
        return x;
    return ggml_view_2d(b->ctx, x, x->ne[0], x->ne[1] - first, x->nb[1],
                        (size_t)first * x->nb[1]);
}

/* X [heads · head, tokens] by head, normalised and rotated to its position;
 * its tokens are the graph's last ones. */
static struct ggml_tensor *
rotated(const struct builder *b, int64_t il, struct ggml_tensor *x,
        struct ggml_tensor *norm, int64_t n_head)
{
    const struct hparams *hp = b->hp;
    const struct layer_sizes *l = &hp->layers[il];
    const struct rope *rope = l->is_windowed ? &hp->rope_local : &hp->rope;
    struct ggml_tensor *freqs =
        l->is_windowed ? NULL : b->model->layers[il].rope_freqs;
    const int64_t n = x->ne[1];
    struct ggml_tensor *positions = ggml_view_1d(
        b->ctx, b->positions, n,
        (size_t)(b->graph->n_tokens - n) * sizeof(int32_t));

    x = ggml_reshape_3d(b->ctx, x, l->n_head_k, n_head, n);
    x = normed(b, x, norm);
    return ggml_rope_ext(b->ctx, x, positions, freqs, (int)l->n_rot,
                         hp->arch->rope_mode, rope->n_ctx_orig, rope->base,
                         rope->scale, rope->ext_factor, rope->attn_factor,
                         rope->beta_fast, rope->beta_slow);
}

/* Place 0 of each sequence in ROWS, of a cache, for a row of each. */
static struct ggml_tensor *
first_rows(const struct builder *b, struct ggml_tensor *rows)
{
    return ggml_view_2d(b->ctx, rows, rows->ne[0], b->cache->n_seq,
                        rows->nb[1] * (size_t)b->cache->n_ctx, 0);
}

/* Copy FROM into VIEW, a place for position 0 that graph_set_past moves. */
static void
store(const struct builder *b, struct ggml_tensor *from,
      struct ggml_tensor *view, size_t step)
{
    struct graph_store *s = &b->graph->stores[b->graph->n_stores++];

    s->view = view;
    s->copy = ggml_cpy(b->ctx, from, view);
    s->step = step;
    ggml_build_forward_expand(b->graph->graph, s->copy);
}

static void
store_keys_and_values(const struct builder *b, int64_t il,
                      struct ggml_tensor *k, struct ggml_tensor *v)
{
    struct ggml_tensor *keys = b->cache->keys[il];
    struct ggml_tensor *values = b->cache->values[il];
    const int64_t n = b->graph->n_tokens;

    if (b->cache->n_seq > 1) {
        store(b, ggml_reshape_2d(b->ctx, k, keys->ne[0], n),
              first_rows(b, keys), keys->nb[1]);
        store(b, v, first_rows(b, values), values->nb[1]);
        return;
    }
    store(b, k, ggml_view_1d(b->ctx, keys, keys->ne[0] * n, 0), keys->nb[1]);
    if (b->cache->is_fused)
        store(b, v, ggml_view_1d(b->ctx, values, values->ne[0] * n, 0),
              values->nb[1]);
    else
        store(b, ggml_transpose(b->ctx, v),
              ggml_view_2d(b->ctx, values, n, values->ne[1], values->nb[1], 0),
              values->nb[0]);
}

/* The cached positions' keys, or values that lie likewise, by N_HEAD heads: [N,
 * n_kv, N_HEAD, sequences]. */
static struct ggml_tensor *
by_head(const struct builder *b, struct ggml_tensor *rows, int64_t n,
        int64_t n_head)
{
    return ggml_view_4d(b->ctx, rows, n, b->graph->n_kv, n_head,
                        b->cache->n_seq, rows->nb[1],
                        ggml_row_size(rows->type, n),
                        rows->nb[1] * (size_t)b->cache->n_ctx, 0);
}

/* The same below for a token of each sequence; all sequences see as much. */
static struct ggml_tensor *
attention_by_sequence(const struct builder *b, const struct layer_sizes *l,
                      struct ggml_tensor *k, struct ggml_tensor *v,
                      struct ggml_tensor *q, struct ggml_tensor *mask)
{
    const int64_t n = q->ne[2];
    struct ggml_tensor *heads;

    mask = ggml_view_2d(b->ctx, mask, mask->ne[0], GGML_KQ_MASK_PAD,
                        mask->nb[1], 0);
    q = ggml_reshape_4d(b->ctx, q, l->n_head_k, 1, l->n_head, n);
    heads = ggml_flash_attn_ext(b->ctx, q, k, v, mask, l->attn_scale, 0.0f,
                                0.0f);
    return ggml_reshape_2d(b->ctx, heads, l->n_head * l->n_head_v, n);
}

/*
 * Softmax(q·k · scale + mask) · v over the cached positions.  q is [head,
 * heads, tokens] of the graph's last tokens; the result is [heads · head,
 * tokens].  Several heads of q share one of k and v: products repeat
 * dimension 2.
 */
static struct ggml_tensor *
attention(const struct builder *b, int64_t il, struct ggml_tensor *q,
          struct ggml_tensor *mask)
{
    const struct layer_sizes *l = &b->hp->layers[il];
    struct ggml_tensor *values = b->cache->values[il];
    struct ggml_tensor *k =
        by_head(b, b->cache->keys[il], l->n_head_k, l->n_head_kv);
    const int64_t n = q->ne[2];
    struct ggml_tensor *v, *weights, *heads;

    if (b->cache->n_seq > 1)
        return attention_by_sequence(
            b, l, k, by_head(b, values, l->n_head_v, l->n_head_kv), q, mask);
    mask = ggml_view_2d(b->ctx, mask, mask->ne[0],
                        GGML_PAD(n, GGML_KQ_MASK_PAD), mask->nb[1],
                        (size_t)(b->graph->n_tokens - n) * mask->nb[1]);
    q = ggml_permute(b->ctx, q, 0, 2, 1, 3);
    if (b->cache->is_fused) {
        v = by_head(b, values, l->n_head_v, l->n_head_kv);
        heads = ggml_flash_attn_ext(b->ctx, q, k, v, mask, l->attn_scale,
                                    0.0f, 0.0f);
        return ggml_reshape_2d(b->ctx, heads, l->n_head * l->n_head_v, n);
    }
    v = ggml_view_3d(b->ctx, values, b->graph->n_kv, l->n_head_v,
                     l->n_head_kv, values->nb[1],
                     values->nb[1] * (size_t)l->n_head_v, 0);
    weights = ggml_mul_mat(b->ctx, k, q);
    weights = ggml_soft_max_ext(b->ctx, weights, mask, l->attn_scale, 0.0f);
    heads = ggml_mul_mat(b->ctx, v, weights);
    /* One token's heads lie as they should already. */
    if (n == 1)
        return ggml_reshape_2d(b->ctx, heads, l->n_head * l->n_head_v, 1);
    return ggml_cont_2d(b->ctx, ggml_permute(b->ctx, heads, 0, 2, 1, 3),
                        l->n_head * l->n_head_v, n);
}

/* Of the tokens from FIRST on; NULL when that is none, and keys and values are
 * all that is wanted. */
static struct ggml_tensor *
attention_block(const struct builder *b, int64_t il, struct ggml_tensor *x,
                int64_t first)
{
    const struct layer *layer = &b->model->layers[il];
    const struct layer_sizes *l = &b->hp->layers[il];
    struct ggml_tensor *q = NULL, *k, *v;

    x = normed(b, x, layer->attn_norm);
    k = linear(b, layer->wk, layer->bk, x);
    v = linear(b, layer->wv, layer->bv, x);
    /* The products stand side by side: a device may make them at once. */
    ggml_build_forward_expand(b->graph->graph, k);
    ggml_build_forward_expand(b->graph->graph, v);
    if (first < b->graph->n_tokens) {
        q = linear(b, layer->wq, layer->bq, rows_from(b, x, first));
        ggml_build_forward_expand(b->graph->graph, q);
    }
    k = rotated(b, il, k, layer->k_norm, l->n_head_kv);
    store_keys_and_values(b, il, k, v);
    if (q == NULL)
        return NULL;
    q = rotated(b, il, q, layer->q_norm, l->n_head);
    x = attention(b, il, q, l->is_windowed ? b->mask_local : b->mask);
    return normed(b, linear(b, layer->wo, layer->bo, x),
                  layer->attn_post_norm);
}

static struct ggml_tensor *
ffn_block(const struct builder *b, int64_t il, struct ggml_tensor *x)
{
    const struct layer *layer = &b->model->layers[il];
    struct ggml_tensor *gate, *up;

    x = normed(b, x, layer->ffn_norm);
    gate = linear(b, layer->ffn_gate, NULL, x);
    up = linear(b, layer->ffn_up, NULL, x);
    gate = b->hp->arch->gates_by_gelu ? ggml_gelu(b->ctx, gate)
                                      : ggml_silu(b->ctx, gate);
    x = linear(b, layer->ffn_down, NULL, ggml_mul(b->ctx, gate, up));
    return normed(b, x, layer->ffn_post_norm);
}

static struct ggml_tensor *
new_input(const struct builder *b, enum ggml_type type, int64_t n0, int64_t n1)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(b->ctx, type, n0, n1);

    ggml_set_input(t);
    /* Named here, it has a place even in a model that makes no use of it. */
    ggml_build_forward_expand(b->graph->graph, t);
    return t;
}

/* ---- several devices ---- */

/*
 * The scheduler has inputs on the CPU, and copies to a device what a node there
 * reads: each view of an input would be another copy, made when all before it is
 * done.  So a node on the device copies the input itself, and views are of that.
 * The scheduler's copy of the input is made when the graph is queued, so that
 * the input may be written for the next one then.
 */
static struct ggml_tensor *
on_device(const struct builder *b, struct ggml_tensor *input)
{
    return input == NULL || b->graph->sched == NULL ? input
                                                    : ggml_cont(b->ctx, input);
}

/* Read the graph's inputs where layer IL is. */
static void
take_inputs(struct builder *b, int64_t il)
{
    const struct layer *layer = &b->model->layers[il];

    if (il > 0 && layer->device == layer[-1].device)
        return;
    b->positions = on_device(b, b->graph->positions);
    b->mask = on_device(b, b->graph->mask);
    b->mask_local = on_device(b, b->graph->mask_local);
}

/* Let the device of layer IL compute what was built since the layer before,
 * with X, which may be NULL. */
static void
assign(const struct builder *b, int64_t il, struct ggml_tensor *x)
{
    const int device = b->model->layers[il].device;
    struct graph *g = b->graph;

    if (g->sched == NULL)
        return;
    if (x != NULL)
        ggml_build_forward_expand(g->graph, x);
    for (; g->n_assigned < ggml_graph_n_nodes(g->graph); g->n_assigned++)
        ggml_backend_sched_set_tensor_backend(
            g->sched, ggml_graph_node(g->graph, g->n_assigned),
            b->model->devices->at[device].backend);
}

/* ---- whole graphs ---- */

/* What the last layer makes of a token nobody asks about is its key and value. */
static struct ggml_tensor *
build_body(struct builder *b)
{
    const int64_t n_kv = b->graph->n_kv, n = b->graph->n_tokens;
    const int64_t n_mask = n + GGML_KQ_MASK_PAD - 1;
    struct graph *g = b->graph;
    struct ggml_tensor *x;

    g->tokens = new_input(b, GGML_TYPE_I32, n, 1);
    g->positions = new_input(b, GGML_TYPE_I32, n, 1);
    g->mask = new_input(b, GGML_TYPE_F16, n_kv, n_mask);
    if (b->hp->window > 0)
        g->mask_local = new_input(b, GGML_TYPE_F16, n_kv, n_mask);
    x = ggml_get_rows(b->ctx, b->model->token_embd, g->tokens);
    if (b->hp->arch->scales_input)
        x = ggml_scale(b->ctx, x, sqrtf((float)b->hp->n_embd));
    for (int64_t il = 0; il < b->hp->n_layer; il++) {
        const int64_t first = il == b->hp->n_layer - 1 ? n - g->n_out : 0;
        struct ggml_tensor *seen;

        take_inputs(b, il);
        seen = attention_block(b, il, x, first);
        if (seen != NULL) {
            x = ggml_add(b->ctx, seen, rows_from(b, x, first));
            x = ggml_add(b->ctx, ffn_block(b, il, x), x);
        }
        assign(b, il, seen == NULL ? NULL : x);
        if (seen == NULL)
            return NULL;
    }
    x = normed(b, x, b->model->output_norm);
    /* What several tokens' logits take would be in the way of the rest. */
    g->has_logits = g->n_out == 1;
    if (g->has_logits)
        x = linear(b, b->model->output, NULL, x);
    assign(b, b->hp->n_layer - 1, x);
    return x;
}

static struct ggml_tensor *
build_head(struct builder *b)
{
    struct graph *g = b->graph;

    g->hidden = new_input(b, GGML_TYPE_F32, b->hp->n_embd, g->n_tokens);
    return linear(b, b->model->output, NULL, g->hidden);
}

/* The context, emptied when it is there already, and what lives beside it. */
static bool
prepare(struct graph *g, const struct builder *b)
{
    const struct devices *devices = b->model->devices;
    const size_t n_layer = (size_t)b->hp->n_layer;
    const size_t n_tensors = TENSORS_A_LAYER * n_layer + TENSORS_BESIDE +
        TENSORS_A_DEVICE * (size_t)devices->n;
    const struct ggml_init_params params = {
        .mem_size = n_tensors * ggml_tensor_overhead() +
            ggml_graph_overhead_custom(n_tensors, false),
        .no_alloc = true,
    };

    if (g->ctx == NULL) {
        g->ctx = ggml_init(params);
        g->device = model_last_device(b->model);
        if (devices->n > 1 && !b->is_head)
            g->sched = devices_new_sched(devices, n_tensors);
        else
            g->alloc = ggml_gallocr_new(g->device->buft);
        g->names = g->sched != NULL ? devices->names
                                    : ggml_backend_dev_name(g->device->dev);
        g->stores = new_zeroed(2 * n_layer, sizeof(*g->stores));
    } else {
        ggml_reset(g->ctx);
        if (g->sched != NULL)
            ggml_backend_sched_reset(g->sched);
    }
    g->n_stores = 0;
    g->n_assigned = 0;
    if (g->ctx != NULL)
        g->graph = ggml_new_graph_custom(g->ctx, n_tensors, false);
    if (g->ctx == NULL || (g->alloc == NULL && g->sched == NULL) ||
        g->stores == NULL || g->graph == NULL)
        return tool_error("no memory for a graph");
    return true;
}

/* What computes NODE of G. */
static ggml_backend_t
backend_of(const struct graph *g, struct ggml_tensor *node)
{
    return g->sched == NULL
        ? g->device->backend
        : ggml_backend_sched_get_tensor_backend(g->sched, node);
}

/* Find out now what a device cannot do. */
static bool
check_nodes(const struct graph *g)
{
    const int n = ggml_graph_n_nodes(g->graph);

    for (int i = 0; i < n; i++) {
        struct ggml_tensor *node = ggml_graph_node(g->graph, i);
        ggml_backend_t backend = backend_of(g, node);

        /* A choice that there was no memory to keep. */
        if (backend == NULL)
            return tool_error("no memory for a graph: %s", tool_reason());
        if (!ggml_backend_supports_op(backend, node))
            return tool_error(
                "device %s cannot compute %s of %s",
                ggml_backend_dev_name(ggml_backend_get_device(backend)),
                ggml_op_desc(node),
                node->src[0] == NULL ? "nothing"
                                     : ggml_type_name(node->src[0]->type));
    }
    return true;
}

/* Give each tensor its place. */
static bool
allocate(struct graph *g)
{
    const bool is_done = g->sched == NULL
        ? ggml_gallocr_alloc_graph(g->alloc, g->graph)
        : ggml_backend_sched_alloc_graph(g->sched, g->graph);

    return is_done ||
           tool_error("no memory for a graph of %lld tokens on %s: %s",
                      (long long)g->n_tokens, g->names, tool_reason());
}

/* Build GRAPH anew with what BUILD builds; nothing has its place yet. */
static bool
make(const struct builder *b, int64_t n_tokens, int64_t n_out, int64_t n_kv,
     struct ggml_tensor *(*build)(struct builder *b))
{
    struct builder with_ctx = *b;
    struct graph *g = b->graph;

    /* What fails below must not be taken for this shape. */
    g->n_tokens = 0;
    if (!prepare(g, b))
        return false;
    g->n_tokens = n_tokens;
    g->n_out = n_out;
    g->n_kv = n_kv;
    with_ctx.ctx = g->ctx;
    g->result = build(&with_ctx);
    if (g->result != NULL) {
        ggml_set_output(g->result);
        ggml_build_forward_expand(g->graph, g->result);
    }
    if (check_nodes(g))
        return true;
    g->n_tokens = 0;
    return false;
}

static bool
make_and_allocate(const struct builder *b, int64_t n_tokens, int64_t n_out,
                  int64_t n_kv,
                  struct ggml_tensor *(*build)(struct builder *b))
{
    if (!make(b, n_tokens, n_out, n_kv, build))
        return false;
    if (allocate(b->graph))
        return true;
    b->graph->n_tokens = 0;
    return false;
}

bool
graph_make_body(struct graph *graph, const struct model *model,
                const struct kv_cache *cache, int64_t n_tokens, int64_t n_out,
                int64_t n_kv)
{
    const struct builder b = {
        .graph = graph,
        .model = model,
        .hp = &model->hparams,
        .cache = cache,
    };
    /* Its views must not move before it has run. */
    const bool is_under_way = graph->sched != NULL && graph->n_out == 0;

    if (!is_under_way && graph->n_tokens == n_tokens &&
        graph->n_out == n_out && graph->n_kv == n_kv)
        return true;
    return make_and_allocate(&b, n_tokens, n_out, n_kv, build_body);
}

bool
graph_reserve_body(struct graph *graph, const struct model *model,
                   const struct kv_cache *cache, int64_t n_tokens,
                   int64_t n_out, int64_t n_kv)
{
    const struct builder b = {
        .graph = graph,
        .model = model,
        .hp = &model->hparams,
        .cache = cache,
    };

    if (!make(&b, n_tokens, n_out, n_kv, build_body))
        return false;
    graph->n_tokens = 0;
    return ggml_backend_sched_reserve(graph->sched, graph->graph) ||
           tool_error("no memory for graphs of %lld tokens on %s: %s",
                      (long long)n_tokens, graph->names, tool_reason());
}

bool
graph_make_head(struct graph *graph, const struct model *model,
                int64_t n_rows)
{
    const struct builder b = {
        .graph = graph,
        .model = model,
        .hp = &model->hparams,
        .is_head = true,
    };

    if (graph->n_tokens == n_rows)
        return true;
    return make_and_allocate(&b, n_rows, n_rows, 0, build_head);
}

static void
move_view(struct ggml_tensor *view, size_t offset)
{
    view->view_offs = offset;
    view->data = (char *)view->view_src->data + offset;
}

void
graph_set_past(struct graph *graph, int64_t n_past)
{
    for (size_t i = 0; i < graph->n_stores; i++) {
        const struct graph_store *s = &graph->stores[i];

        move_view(s->view, (size_t)n_past * s->step);
        move_view(s->copy, (size_t)n_past * s->step);
    }
}

static enum ggml_status
compute(const struct graph *g)
{
    if (g->sched == NULL)
        return ggml_backend_graph_compute(g->device->backend, g->graph);
    return g->n_out > 0
        ? ggml_backend_sched_graph_compute(g->sched, g->graph)
        : ggml_backend_sched_graph_compute_async(g->sched, g->graph);
}

bool
graph_run(const struct graph *graph)
{
    const enum ggml_status status = compute(graph);

    /* Whoever asked for that knows. */
    if (status == GGML_STATUS_ABORTED)
        return false;
    /* What was queued fails when somebody waits, by the reason alone. */
    if (status != GGML_STATUS_SUCCESS ||
        (graph->sched != NULL && tool_has_reason()))
        return tool_error("computing on %s failed: %s: %s", graph->names,
                          ggml_status_to_string(
                              status != GGML_STATUS_SUCCESS
                                  ? status : GGML_STATUS_FAILED),
                          tool_reason());
    return true;
}

void
graph_free(struct graph *graph)
{
    if (graph->sched != NULL)
        ggml_backend_sched_synchronize(graph->sched);
    ggml_backend_sched_free(graph->sched);
    ggml_gallocr_free(graph->alloc);
    ggml_free(graph->ctx);
    free(graph->stores);
    memset(graph, 0, sizeof(*graph));
}
