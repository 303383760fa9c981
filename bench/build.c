/* SPDX-License-Identifier: MIT */
/*
 * bench/build.c - what tensors, nodes and graphs cost before anything is
 * computed: made anew, as clients do for each token, and copied.
 */
#include "bench.h"
#include "ggml-cpu.h"
#include "graphs.h"

#include <stddef.h>
#include <stdio.h>

enum { N_TENSORS = 1000, N_ROUNDS = 200, WIDTH = 32 };

/* Where single tensors are made, and what they are made from. */
static struct ggml_context *fixed, *pool;
static struct ggml_tensor *x, *y, *weight, *ids;

/* ---- one tensor ---- */

static struct ggml_tensor *
new_1d(void)
{
    return ggml_new_tensor_1d(pool, GGML_TYPE_F32, WIDTH);
}

static struct ggml_tensor *
new_2d(void)
{
    return ggml_new_tensor_2d(pool, GGML_TYPE_F32, WIDTH, WIDTH);
}

static struct ggml_tensor *
new_2d_quantised(void)
{
    return ggml_new_tensor_2d(pool, GGML_TYPE_Q4_K, 256, WIDTH);
}

static struct ggml_tensor *
new_4d(void)
{
    return ggml_new_tensor_4d(pool, GGML_TYPE_F16, WIDTH, 3, 5, 2);
}

static struct ggml_tensor *
add(void)
{
    return ggml_add(pool, x, y);
}

static struct ggml_tensor *
add_inplace(void)
{
    return ggml_add_inplace(pool, x, y);
}

static struct ggml_tensor *
mul_mat(void)
{
    return ggml_mul_mat(pool, weight, x);
}

static struct ggml_tensor *
rms_norm(void)
{
    return ggml_rms_norm(pool, x, 1e-5f);
}

static struct ggml_tensor *
silu(void)
{
    return ggml_silu(pool, x);
}

static struct ggml_tensor *
soft_max(void)
{
    return ggml_soft_max_ext(pool, x, NULL, 0.5f, 0.0f);
}

static struct ggml_tensor *
rope(void)
{
    return ggml_rope(pool, x, ids, WIDTH, 0);
}

static struct ggml_tensor *
get_rows(void)
{
    return ggml_get_rows(pool, weight, ids);
}

static struct ggml_tensor *
reshape_3d(void)
{
    return ggml_reshape_3d(pool, x, WIDTH / 4, 4, WIDTH);
}

static struct ggml_tensor *
view_2d(void)
{
    return ggml_view_2d(pool, x, WIDTH / 2, WIDTH, x->nb[1], 64);
}

static struct ggml_tensor *
permute(void)
{
    return ggml_permute(pool, x, 0, 2, 1, 3);
}

static struct ggml_tensor *
cont(void)
{
    return ggml_cont(pool, x);
}

static struct ggml_tensor *
cpy(void)
{
    return ggml_cpy(pool, x, y);
}

static const struct {
    const char *name;
    struct ggml_tensor *(*make)(void);
} makers[] = {
    { "new-tensor-1d", new_1d },
    { "new-tensor-2d", new_2d },
    { "new-tensor-2d-q4_K", new_2d_quantised },
    { "new-tensor-4d", new_4d },
    { "node-add", add },
    { "node-add-inplace", add_inplace },
    { "node-mul-mat", mul_mat },
    { "node-rms-norm", rms_norm },
    { "node-silu", silu },
    { "node-soft-max", soft_max },
    { "node-rope", rope },
    { "node-get-rows", get_rows },
    { "node-reshape-3d", reshape_3d },
    { "node-view-2d", view_2d },
    { "node-permute", permute },
    { "node-cont", cont },
    { "node-cpy", cpy },
};

static void
time_maker(size_t i)
{
    struct bench_times times = { .n = 0 };

    for (int round = 0; round < N_ROUNDS; round++) {
        struct ggml_tensor *last = NULL;
        double begin;

        ggml_reset(pool);
        begin = bench_now();
        for (int n = 0; n < N_TENSORS; n++)
            last = makers[i].make();
        bench_add(&times, begin);
        if (last == NULL)
            bench_stop(makers[i].name);
    }
    bench_print(makers[i].name, &times, N_TENSORS / 1e3, "ns");
}

static void
time_makers(void)
{
    fixed = bench_new_context(8, 0);
    pool = bench_new_context(N_TENSORS + 1, 0);
    x = ggml_new_tensor_2d(fixed, GGML_TYPE_F32, WIDTH, WIDTH);
    y = ggml_new_tensor_2d(fixed, GGML_TYPE_F32, WIDTH, WIDTH);
    weight = ggml_new_tensor_2d(fixed, GGML_TYPE_F32, WIDTH, WIDTH);
    ids = ggml_new_tensor_1d(fixed, GGML_TYPE_I32, 1);
    ggml_set_name(x, "x");
    ggml_set_name(y, "y");
    ggml_set_name(weight, "weight");
    ggml_set_name(ids, "ids");
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++)
        time_maker(i);
    ggml_free(pool);
    ggml_free(fixed);
}

/* ---- graphs ---- */

static ggml_backend_t cpu;

/* Copies of the lists alone, into a context for one graph. */
static void
copy_lists(struct bench_graph *g)
{
    const size_t room = (size_t)ggml_graph_size(g->graph);
    struct ggml_context *ctx =
        bench_new_context(0, 2 * ggml_graph_overhead_custom(room, false));
    struct bench_times dup = { .n = 0 }, cpy_times = { .n = 0 };
    struct ggml_cgraph *copy;
    double begin;

    for (int i = 0; i < bench_rounds(g); i++) {
        ggml_reset(ctx);
        begin = bench_now();
        copy = ggml_graph_dup(ctx, g->graph);
        bench_add(&dup, begin);
        if (copy == NULL)
            bench_stop("a graph's duplicate");
        ggml_graph_clear(copy);
        begin = bench_now();
        ggml_graph_cpy(g->graph, copy);
        bench_add(&cpy_times, begin);
    }
    bench_print_nodes("graph-dup", g, &dup);
    bench_print_nodes("graph-cpy", g, &cpy_times);
    ggml_free(ctx);
}

/* Copies of everything, tensors and data, as from one device to another. */
static void
copy_all(struct bench_graph *g)
{
    ggml_backend_buffer_t data = ggml_backend_alloc_ctx_tensors(g->ctx, cpu);
    struct bench_times times = { .n = 0 };

    if (data == NULL)
        bench_stop("the graph's data");
    ggml_backend_buffer_clear(data, 0);
    for (int i = 0; i < bench_rounds(g); i++) {
        const double begin = bench_now();
        const struct ggml_backend_graph_copy copy =
            ggml_backend_graph_copy(cpu, g->graph);

        if (copy.graph == NULL)
            bench_stop("a graph's copy");
        ggml_backend_graph_copy_free(copy);
        bench_add(&times, begin);
    }
    bench_print_nodes("graph-copy", g, &times);
    ggml_backend_buffer_free(data);
}

static void
run(struct bench_graph *g)
{
    struct bench_times build = { .n = 0 }, expand = { .n = 0 };
    struct ggml_tensor *last;
    double begin;

    for (int i = 0; i < bench_rounds(g); i++) {
        begin = bench_now();
        bench_rebuild(g);
        bench_add(&build, begin);
        last = ggml_graph_node(g->graph, -1);
        begin = bench_now();
        ggml_graph_clear(g->graph);
        ggml_build_forward_expand(g->graph, last);
        bench_add(&expand, begin);
    }
    bench_print_nodes("build", g, &build);
    bench_print_nodes("expand", g, &expand);
    copy_lists(g);
    copy_all(g);
}

int
main(void)
{
    cpu = ggml_backend_cpu_init();
    if (cpu == NULL)
        bench_stop("the CPU backend");
    time_makers();
    bench_graphs(cpu, run);
    ggml_backend_free(cpu);
}
