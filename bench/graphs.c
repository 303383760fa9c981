/* SPDX-License-Identifier: MIT */
/*
 * bench/graphs.c - graphs of many small nodes, built anew for each timing.
 *
 * A chain of sums, which is one place taken over and over again, and layers as
 * transformers have them: norms, products, views, an attention and a gate.
 */
#include "graphs.h"

#include "bench.h"
#include "ggml-alloc.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 32, HEADS = 4, TOKENS = 8, LAYER_NODES = 26 };

static struct ggml_tensor *
project(
    const struct bench_graph *g, enum bench_weight which,
    struct ggml_tensor *x)
{
    return ggml_mul_mat(g->ctx, g->weight[which], x);
}

static struct ggml_tensor *
norm(const struct bench_graph *g, struct ggml_tensor *x)
{
    return ggml_mul(
        g->ctx, ggml_rms_norm(g->ctx, x, 1e-5f), g->weight[NORM]);
}

static struct ggml_tensor *
heads(const struct bench_graph *g, struct ggml_tensor *x)
{
    x = ggml_reshape_3d(g->ctx, x, WIDTH / HEADS, HEADS, TOKENS);
    return ggml_permute(g->ctx, x, 0, 2, 1, 3);
}

/* LAYER_NODES nodes. */
static struct ggml_tensor *
layer(const struct bench_graph *g, struct ggml_tensor *x)
{
    struct ggml_tensor *y = norm(g, x), *q, *k, *v, *scores;

    q = heads(g, project(g, QUERY, y));
    k = heads(g, project(g, KEY, y));
    v = project(g, VALUE, y);
    scores = ggml_soft_max(g->ctx, ggml_mul_mat(g->ctx, k, q));
    v = ggml_cont(g->ctx, ggml_transpose(g->ctx, v));
    v = ggml_reshape_3d(g->ctx, v, TOKENS, WIDTH / HEADS, HEADS);
    y = ggml_mul_mat(g->ctx, v, scores);
    y = ggml_reshape_2d(g->ctx, y, WIDTH, TOKENS);
    x = ggml_add(g->ctx, x, project(g, OUT, y));
    y = norm(g, x);
    y = ggml_mul(g->ctx, ggml_silu(g->ctx, project(g, GATE, y)),
                 project(g, UP, y));
    return ggml_add(g->ctx, x, project(g, DOWN, y));
}

static void
build_layers(struct bench_graph *g)
{
    struct ggml_tensor *x =
        ggml_new_tensor_2d(g->ctx, GGML_TYPE_F32, WIDTH, TOKENS);

    ggml_set_input(x);
    for (int n = 0; n + LAYER_NODES <= g->n_nodes; n += LAYER_NODES)
        x = layer(g, x);
    ggml_set_output(x);
    ggml_build_forward_expand(g->graph, x);
}

static void
build_chain(struct bench_graph *g)
{
    struct ggml_tensor *x =
        ggml_new_tensor_1d(g->ctx, GGML_TYPE_F32, WIDTH);
    struct ggml_tensor *step = x;

    ggml_set_input(x);
    for (int n = 0; n < g->n_nodes; n++)
        x = ggml_add(g->ctx, x, step);
    ggml_set_output(x);
    ggml_build_forward_expand(g->graph, x);
}

void
bench_rebuild(struct bench_graph *g)
{
    ggml_reset(g->ctx);
    g->graph =
        ggml_new_graph_custom(g->ctx, (size_t)g->n_nodes + 64, false);
    if (strcmp(g->name, "chain") == 0)
        build_chain(g);
    else
        build_layers(g);
    if (ggml_graph_n_nodes(g->graph) < g->n_nodes - LAYER_NODES)
        bench_stop("building a graph");
}

struct ggml_context *
bench_new_context(size_t n_tensors, size_t more)
{
    const struct ggml_init_params params = {
        .mem_size = n_tensors * ggml_tensor_overhead() + more,
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);

    if (ctx == NULL)
        bench_stop("a context");
    return ctx;
}

static void
new_weights(struct bench_graph *g, ggml_backend_t backend)
{
    g->fixed = bench_new_context(N_WEIGHTS, 0);
    for (int i = 0; i < N_WEIGHTS; i++)
        g->weight[i] = ggml_new_tensor_2d(g->fixed, GGML_TYPE_F32, WIDTH,
                                          i == NORM ? 1 : WIDTH);
    g->weights = ggml_backend_alloc_ctx_tensors(g->fixed, backend);
    if (g->weights == NULL)
        bench_stop("weights");
    ggml_backend_buffer_set_usage(g->weights,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
}

void
bench_graphs(ggml_backend_t backend, void (*run)(struct bench_graph *g))
{
    static const char *const names[] = { "chain", "layers" };

    for (int i = 0; i < 2; i++) {
        for (int n = 1000; n <= 100000; n *= 10) {
            struct bench_graph g = { .name = names[i], .n_nodes = n };
            const size_t n_tensors = (size_t)n + 64;

            new_weights(&g, backend);
            g.ctx = bench_new_context(
                n_tensors, ggml_graph_overhead_custom(n_tensors, false));
            bench_rebuild(&g);
            run(&g);
            ggml_free(g.ctx);
            ggml_backend_buffer_free(g.weights);
            ggml_free(g.fixed);
        }
    }
}

int
bench_rounds(const struct bench_graph *g)
{
    const int rounds = 300000 / g->n_nodes;

    return rounds > 200 ? 200 : rounds < 10 ? 10 : rounds;
}

void
bench_print_nodes(
    const char *what, const struct bench_graph *g, struct bench_times *times)
{
    char name[64];

    snprintf(name, sizeof(name), "%s-%s-%d", what, g->name, g->n_nodes);
    bench_print(name, times, ggml_graph_n_nodes(g->graph), "us/node");
}
