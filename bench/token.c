/* SPDX-License-Identifier: MIT */
/*
 * bench/token.c - what a token costs the host: the graph of a language model of
 * 135 million weights, handed to the device that the command line names.
 *
 * Of each backend the first call, in which the device meets the graph, the
 * second, and later ones, which differ in the position alone.  The time is that
 * of the call, not of the work, for a device that works asynchronously.
 */
#include "bench.h"
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "tests/gpu-emulator/control.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    N_EMBD = 576, N_HEAD = 9, N_HEAD_KV = 3, HEAD = 64, N_FF = 1536,
    N_LAYER = 30, N_VOCAB = 49152, POSITIONS = 256, MAX_NODES = 2048,
    N_BACKENDS = 9, N_LATER = 16,
};

struct layer {
    struct ggml_tensor *norms[2], *wq, *wk, *wv, *wo, *gate, *up, *down;
    struct ggml_tensor *keys, *values;
    struct ggml_tensor *stores[4]; /* that move with the position */
};

static struct layer layers[N_LAYER];
static struct ggml_tensor *embd, *norm, *tokens, *positions, *mask;
static struct ggml_context *ctx;
static struct ggml_cgraph *graph;

/* ---- the graph ---- */

static struct ggml_tensor *
weight(enum ggml_type type, int64_t n0, int64_t n1)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, type, n0, n1);

    if (t == NULL)
        bench_stop("a weight");
    return t;
}

static void
make_layer(struct layer *l)
{
    const enum ggml_type type = GGML_TYPE_Q8_0;
    const int64_t n_kv = N_HEAD_KV * HEAD;

    l->norms[0] = weight(GGML_TYPE_F32, N_EMBD, 1);
    l->norms[1] = weight(GGML_TYPE_F32, N_EMBD, 1);
    l->wq = weight(type, N_EMBD, N_HEAD * HEAD);
    l->wk = weight(type, N_EMBD, n_kv);
    l->wv = weight(type, N_EMBD, n_kv);
    l->wo = weight(type, N_HEAD * HEAD, N_EMBD);
    l->gate = weight(type, N_EMBD, N_FF);
    l->up = weight(type, N_EMBD, N_FF);
    l->down = weight(type, N_FF, N_EMBD);
    l->keys = weight(GGML_TYPE_F16, n_kv, POSITIONS);
    l->values = weight(GGML_TYPE_F16, n_kv, POSITIONS);
}

static struct ggml_tensor *
rotated(struct ggml_tensor *x, int n_head)
{
    x = ggml_reshape_3d(ctx, x, HEAD, n_head, 1);
    return ggml_rope_ext(ctx, x, positions, NULL, HEAD, 0, 0, 10000.0f, 1.0f,
                         0.0f, 1.0f, 0.0f, 0.0f);
}

static void
store(struct ggml_tensor *from, struct ggml_tensor *to,
      struct ggml_tensor **moved)
{
    moved[0] = ggml_view_1d(ctx, to, to->ne[0], 0);
    moved[1] = ggml_cpy(ctx, from, moved[0]);
    ggml_build_forward_expand(graph, moved[1]);
}

static struct ggml_tensor *
by_head(struct ggml_tensor *rows)
{
    return ggml_view_3d(ctx, rows, HEAD, POSITIONS, N_HEAD_KV, rows->nb[1],
                        HEAD * sizeof(ggml_fp16_t), 0);
}

static struct ggml_tensor *
normed(struct ggml_tensor *x, struct ggml_tensor *by)
{
    return ggml_mul(ctx, ggml_rms_norm(ctx, x, 1e-5f), by);
}

static struct ggml_tensor *
attend(struct layer *l, struct ggml_tensor *x)
{
    struct ggml_tensor *q, *k, *v;

    x = normed(x, l->norms[0]);
    q = ggml_mul_mat(ctx, l->wq, x);
    k = ggml_mul_mat(ctx, l->wk, x);
    v = ggml_mul_mat(ctx, l->wv, x);
    ggml_build_forward_expand(graph, q);
    ggml_build_forward_expand(graph, k);
    ggml_build_forward_expand(graph, v);
    store(rotated(k, N_HEAD_KV), l->keys, &l->stores[0]);
    store(v, l->values, &l->stores[2]);
    q = ggml_permute(ctx, rotated(q, N_HEAD), 0, 2, 1, 3);
    x = ggml_flash_attn_ext(ctx, q, by_head(l->keys), by_head(l->values), mask,
                            0.125f, 0.0f, 0.0f);
    return ggml_mul_mat(ctx, l->wo,
                        ggml_reshape_2d(ctx, x, N_HEAD * HEAD, 1));
}

static struct ggml_tensor *
feed_forward(const struct layer *l, struct ggml_tensor *x)
{
    x = normed(x, l->norms[1]);
    x = ggml_mul(ctx, ggml_silu(ctx, ggml_mul_mat(ctx, l->gate, x)),
                 ggml_mul_mat(ctx, l->up, x));
    return ggml_mul_mat(ctx, l->down, x);
}

static void
build(void)
{
    struct ggml_tensor *x;

    ctx = ggml_init((struct ggml_init_params){
        .mem_size = MAX_NODES * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(MAX_NODES, false),
        .no_alloc = true });
    graph = ctx == NULL ? NULL : ggml_new_graph_custom(ctx, MAX_NODES, false);
    if (graph == NULL)
        bench_stop("a graph");
    embd = weight(GGML_TYPE_Q8_0, N_EMBD, N_VOCAB);
    norm = weight(GGML_TYPE_F32, N_EMBD, 1);
    tokens = weight(GGML_TYPE_I32, 1, 1);
    positions = weight(GGML_TYPE_I32, 1, 1);
    mask = weight(GGML_TYPE_F16, POSITIONS, GGML_KQ_MASK_PAD);
    x = ggml_get_rows(ctx, embd, tokens);
    for (int i = 0; i < N_LAYER; i++) {
        make_layer(&layers[i]);
        x = ggml_add(ctx, attend(&layers[i], x), x);
        x = ggml_add(ctx, feed_forward(&layers[i], x), x);
    }
    ggml_build_forward_expand(graph,
                              ggml_mul_mat(ctx, embd, normed(x, norm)));
}

static void
go_to(int position)
{
    for (int i = 0; i < N_LAYER; i++) {
        for (int j = 0; j < 4; j++) {
            struct ggml_tensor *t = layers[i].stores[j];

            t->view_offs = (size_t)position * t->view_src->nb[1];
            t->data = (char *)t->view_src->data + t->view_offs;
        }
    }
}

/* ---- what the emulated driver counts ---- */

static uint64_t (*count_of)(enum emu_counter which);

static uint64_t
count_launches(void)
{
    return count_of(EMU_LAUNCHES) + count_of(EMU_GRAPH_LAUNCHES);
}

static void
find_counters(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

    if (driver != NULL)
        *(void **)&count_of = dlsym(driver, "emu_count");
}

static void
print_launches(void (*call)(void))
{
    uint64_t launches, kernels;

    if (count_of == NULL)
        return;
    launches = count_launches();
    kernels = count_of(EMU_KERNELS);
    call();
    printf("token: %d nodes, %d kernels in %d launches\n",
           ggml_graph_n_nodes(graph), (int)(count_of(EMU_KERNELS) - kernels),
           (int)(count_launches() - launches));
}

/* ---- times ---- */

static ggml_backend_t backend;

static void
compute(void)
{
    if (ggml_backend_graph_compute(backend, graph) != GGML_STATUS_SUCCESS)
        bench_stop("computing");
}

static void
time_call(struct bench_times *times, int position)
{
    double begin;

    go_to(position);
    begin = bench_now();
    if (ggml_backend_graph_compute_async(backend, graph) !=
        GGML_STATUS_SUCCESS)
        bench_stop("computing");
    bench_add(times, begin);
    ggml_backend_synchronize(backend);
}

static void
time_backends(ggml_backend_dev_t dev)
{
    static struct bench_times first, second, later;

    for (int i = 0; i < N_BACKENDS; i++) {
        backend = ggml_backend_dev_init(dev, NULL);
        if (backend == NULL)
            bench_stop("a backend");
        time_call(&first, 0);
        time_call(&second, 1);
        for (int j = 0; j < N_LATER; j++)
            time_call(&later, 2 + j);
        if (i == N_BACKENDS - 1)
            print_launches(compute);
        ggml_backend_free(backend);
    }
    bench_print("token-first", &first, 1.0, "us");
    bench_print("token-second", &second, 1.0, "us");
    bench_print("token-later", &later, 1.0, "us");
}

int
main(int argc, char **argv)
{
    ggml_backend_buffer_t buffer;
    ggml_backend_dev_t dev;

    ggml_backend_load_all();
    dev = ggml_backend_dev_by_name(argc > 1 ? argv[1] : "CPU");
    if (dev == NULL)
        bench_stop("the device");
    find_counters();
    build();
    buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_dev_buffer_type(dev));
    if (buffer == NULL)
        bench_stop("memory");
    ggml_backend_buffer_clear(buffer, 0);
    time_backends(dev);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}
