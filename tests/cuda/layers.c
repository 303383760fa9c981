/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/layers.c - the tiny model by layers on one device or several,
 * through the scheduler.
 */
#include "config.h"

#include "tests/cuda/layers.h"

#include "tests/cuda/tiny-model.h"

#include "gguf.h"

#include <math.h>
#include <string.h>

/* Of examples/make-tiny-model. */
enum {
    N_EMBD = 64, N_HEAD = 4, N_HEAD_KV = 2, HEAD = 16, N_LAYER = 2,
    POSITIONS = 64, MAX_NODES = 128, MAX_PROMPT = 8,
};

struct layer {
    struct ggml_tensor *attn_norm, *wq, *wk, *wv, *wo;
    struct ggml_tensor *ffn_norm, *gate, *up, *down;
    struct ggml_tensor *keys, *values; /* of all positions */
};

struct layers {
    const struct layers_way *way;
    struct ggml_context *file;
    struct gguf_context *gguf;
    struct ggml_context *ctx[2]; /* what each device has */
    ggml_backend_buffer_t buffers[2];
    struct layer at[N_LAYER];
    struct ggml_tensor *embd, *output_norm, *output;
    ggml_backend_t backends[3]; /* the CPU's is the last */
    ggml_backend_sched_t sched;
};

/* One graph. */
struct pass {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *tokens, *positions, *mask, *logits;
    int n, n_past;
};

/* ---- weights ---- */

static struct ggml_context *
context(size_t n_tensors)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = n_tensors * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(MAX_NODES, false),
        .no_alloc = true });

    CHECK(ctx != NULL);
    return ctx;
}

/* A tensor on device D that will have what the file's has. */
static struct ggml_tensor *
place(struct layers *l, int d, const char *name)
{
    const struct ggml_tensor *from = ggml_get_tensor(l->file, name);
    struct ggml_tensor *to;

    CHECK(from != NULL);
    to = ggml_dup_tensor(l->ctx[d], from);
    ggml_set_name(to, name);
    return to;
}

static struct ggml_tensor *
place_in_layer(struct layers *l, int d, int il, const char *name)
{
    char full[64];

    snprintf(full, sizeof(full), "blk.%d.%s.weight", il, name);
    return place(l, d, full);
}

static struct ggml_tensor *
place_cache(struct layers *l, int d)
{
    return ggml_new_tensor_2d(l->ctx[d], GGML_TYPE_F16, N_HEAD_KV * HEAD,
                              POSITIONS);
}

static void
place_layer(struct layers *l, int d, int il)
{
    l->at[il] = (struct layer){
        .attn_norm = place_in_layer(l, d, il, "attn_norm"),
        .wq = place_in_layer(l, d, il, "attn_q"),
        .wk = place_in_layer(l, d, il, "attn_k"),
        .wv = place_in_layer(l, d, il, "attn_v"),
        .wo = place_in_layer(l, d, il, "attn_output"),
        .ffn_norm = place_in_layer(l, d, il, "ffn_norm"),
        .gate = place_in_layer(l, d, il, "ffn_gate"),
        .up = place_in_layer(l, d, il, "ffn_up"),
        .down = place_in_layer(l, d, il, "ffn_down"),
        .keys = place_cache(l, d),
        .values = place_cache(l, d),
    };
}

static void
fill(struct layers *l, int d)
{
    ggml_backend_dev_t dev = cuda_device(l->way->devices[d]);

    CHECK(dev != NULL);
    l->buffers[d] = ggml_backend_alloc_ctx_tensors_from_buft(
        l->ctx[d], ggml_backend_dev_buffer_type(dev));
    CHECK(l->buffers[d] != NULL);
    ggml_backend_buffer_set_usage(l->buffers[d],
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_buffer_clear(l->buffers[d], 0);
    for (struct ggml_tensor *t = ggml_get_first_tensor(l->ctx[d]); t != NULL;
         t = ggml_get_next_tensor(l->ctx[d], t)) {
        const struct ggml_tensor *from = ggml_get_tensor(l->file, t->name);

        if (from != NULL)
            ggml_backend_tensor_set(t, from->data, 0, ggml_nbytes(t));
    }
}

static void
load(struct layers *l)
{
    const int n = l->way->n_devices;

    l->gguf = gguf_init_from_file(
        tiny_model_path(), (struct gguf_init_params){ .ctx = &l->file });
    CHECK(l->gguf != NULL);
    for (int d = 0; d < n; d++)
        l->ctx[d] = context(64);
    l->embd = place(l, 0, "token_embd.weight");
    for (int il = 0; il < N_LAYER; il++)
        place_layer(l, il * n / N_LAYER, il);
    l->output_norm = place(l, n - 1, "output_norm.weight");
    l->output = place(l, n - 1, "token_embd.weight");
    for (int d = 0; d < n; d++)
        fill(l, d);
}

static void
unload(struct layers *l)
{
    for (int d = 0; d < l->way->n_devices; d++) {
        ggml_backend_buffer_free(l->buffers[d]);
        ggml_free(l->ctx[d]);
    }
    gguf_free(l->gguf);
    ggml_free(l->file);
}

/* ---- backends ---- */

static void
start(struct layers *l)
{
    const int n = l->way->n_devices;

    for (int d = 0; d < n; d++)
        l->backends[d] = cuda_backend(l->way->devices[d]);
    l->backends[n] =
        ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    for (int d = 0; d <= n; d++)
        CHECK(l->backends[d] != NULL);
    l->sched = ggml_backend_sched_new(l->backends, NULL, n + 1, MAX_NODES,
                                      l->way->is_parallel);
    CHECK(l->sched != NULL);
}

static void
stop(struct layers *l)
{
    ggml_backend_sched_free(l->sched);
    for (int d = 0; d <= l->way->n_devices; d++)
        ggml_backend_free(l->backends[d]);
}

/* ---- a graph ---- */

static struct ggml_tensor *
normed(const struct pass *p, struct ggml_tensor *x, struct ggml_tensor *w)
{
    return ggml_mul(p->ctx, ggml_rms_norm(p->ctx, x, 1e-5f), w);
}

static struct ggml_tensor *
rotated(const struct pass *p, struct ggml_tensor *x, int n_head)
{
    x = ggml_reshape_3d(p->ctx, x, HEAD, n_head, p->n);
    return ggml_rope_ext(p->ctx, x, p->positions, NULL, HEAD, 0, 0, 10000.0f,
                         1.0f, 0.0f, 1.0f, 0.0f, 0.0f);
}

static void
store(const struct pass *p, struct ggml_tensor *from, struct ggml_tensor *to)
{
    struct ggml_tensor *place = ggml_view_1d(
        p->ctx, to, to->ne[0] * p->n, (size_t)p->n_past * to->nb[1]);

    ggml_build_forward_expand(p->graph, ggml_cpy(p->ctx, from, place));
}

static struct ggml_tensor *
by_head(const struct pass *p, struct ggml_tensor *rows)
{
    return ggml_view_3d(p->ctx, rows, HEAD, POSITIONS, N_HEAD_KV, rows->nb[1],
                        HEAD * ggml_type_size(rows->type), 0);
}

static struct ggml_tensor *
attend(const struct pass *p, const struct layer *at, struct ggml_tensor *x)
{
    struct ggml_tensor *q, *heads;

    x = normed(p, x, at->attn_norm);
    store(p, rotated(p, ggml_mul_mat(p->ctx, at->wk, x), N_HEAD_KV), at->keys);
    store(p, ggml_mul_mat(p->ctx, at->wv, x), at->values);
    q = rotated(p, ggml_mul_mat(p->ctx, at->wq, x), N_HEAD);
    heads = ggml_flash_attn_ext(
        p->ctx, ggml_permute(p->ctx, q, 0, 2, 1, 3), by_head(p, at->keys),
        by_head(p, at->values), p->mask, 0.25f, 0.0f, 0.0f);
    return ggml_mul_mat(p->ctx, at->wo,
                        ggml_reshape_2d(p->ctx, heads, N_EMBD, p->n));
}

static struct ggml_tensor *
feed_forward(const struct pass *p, const struct layer *at,
             struct ggml_tensor *x)
{
    struct ggml_tensor *gate;

    x = normed(p, x, at->ffn_norm);
    gate = ggml_silu(p->ctx, ggml_mul_mat(p->ctx, at->gate, x));
    x = ggml_mul(p->ctx, gate, ggml_mul_mat(p->ctx, at->up, x));
    return ggml_mul_mat(p->ctx, at->down, x);
}

static struct ggml_tensor *
input(const struct pass *p, enum ggml_type type, int n0, int n1)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(p->ctx, type, n0, n1);

    ggml_set_input(t);
    return t;
}

static void
build(struct layers *l, struct pass *p)
{
    struct ggml_tensor *x;

    p->ctx = context(MAX_NODES);
    p->graph = ggml_new_graph_custom(p->ctx, MAX_NODES, false);
    p->tokens = input(p, GGML_TYPE_I32, p->n, 1);
    p->positions = input(p, GGML_TYPE_I32, p->n, 1);
    p->mask = input(p, GGML_TYPE_F16, POSITIONS,
                    GGML_PAD(p->n, GGML_KQ_MASK_PAD));
    x = ggml_get_rows(p->ctx, l->embd, p->tokens);
    for (int il = 0; il < N_LAYER; il++) {
        x = ggml_add(p->ctx, attend(p, &l->at[il], x), x);
        x = ggml_add(p->ctx, feed_forward(p, &l->at[il], x), x);
    }
    p->logits =
        ggml_mul_mat(p->ctx, l->output, normed(p, x, l->output_norm));
    ggml_set_output(p->logits);
    ggml_build_forward_expand(p->graph, p->logits);
    ggml_backend_sched_reset(l->sched);
    /* Where they are needed first: nothing waits for the CPU. */
    ggml_backend_sched_set_tensor_backend(l->sched, p->tokens, l->backends[0]);
    ggml_backend_sched_set_tensor_backend(l->sched, p->positions,
                                          l->backends[0]);
    ggml_backend_sched_set_tensor_backend(l->sched, p->mask, l->backends[0]);
    CHECK(ggml_backend_sched_alloc_graph(l->sched, p->graph));
}

static void
set_inputs(const struct pass *p, const int32_t *tokens)
{
    static ggml_fp16_t mask[MAX_PROMPT + GGML_KQ_MASK_PAD][POSITIONS];
    int32_t positions[MAX_PROMPT];

    for (int i = 0; i < p->n; i++)
        positions[i] = p->n_past + i;
    for (int i = 0; i < p->mask->ne[1]; i++)
        for (int j = 0; j < POSITIONS; j++)
            mask[i][j] = ggml_fp32_to_fp16(
                i < p->n && j > p->n_past + i ? -INFINITY : 0.0f);
    ggml_backend_tensor_set(p->tokens, tokens, 0, ggml_nbytes(p->tokens));
    ggml_backend_tensor_set(p->positions, positions, 0,
                            ggml_nbytes(p->positions));
    ggml_backend_tensor_set(p->mask, mask, 0, ggml_nbytes(p->mask));
}

/* ---- an answer ---- */

static uint64_t
count(enum emu_counter which)
{
    return emulator.count != NULL ? emulator.count(which) : 0;
}

/* Inputs' memory has other values when a graph is done. */
static void
compute_again(struct layers *l, struct pass *p, const int32_t *tokens,
              struct layers_answer *out)
{
    uint64_t waits, allocations, launches, kernels;

    set_inputs(p, tokens);
    waits = count(EMU_HOST_WAITS);
    allocations = count(EMU_ALLOCATIONS) + count(EMU_HOST_ALLOCATIONS);
    launches = count(EMU_LAUNCHES) + count(EMU_GRAPH_LAUNCHES);
    kernels = count(EMU_KERNELS);
    CHECK(ggml_backend_sched_graph_compute_async(l->sched, p->graph) ==
          GGML_STATUS_SUCCESS);
    out->n_waits += count(EMU_HOST_WAITS) - waits;
    out->n_allocations +=
        count(EMU_ALLOCATIONS) + count(EMU_HOST_ALLOCATIONS) - allocations;
    out->n_launches =
        count(EMU_LAUNCHES) + count(EMU_GRAPH_LAUNCHES) - launches;
    ggml_backend_sched_synchronize(l->sched);
    out->n_kernels = count(EMU_KERNELS) - kernels;
}

static void
run_pass(struct layers *l, struct pass *p, const int32_t *tokens, int step,
         struct layers_answer *out)
{
    const size_t row = (size_t)out->n_vocab * sizeof(float);

    build(l, p);
    set_inputs(p, tokens);
    CHECK(ggml_backend_sched_graph_compute(l->sched, p->graph) ==
          GGML_STATUS_SUCCESS);
    for (int i = 1; i < l->way->n_computes; i++)
        compute_again(l, p, tokens, out);
    ggml_backend_tensor_get(p->logits, out->logits[step],
                            (size_t)(p->n - 1) * row, row);
    ggml_free(p->ctx);
}

void
layers_run(const struct layers_way *way, struct layers_answer *out)
{
    static const int32_t prompt[] = { 119, 260, 269, 12, 77 };
    struct layers l = { .way = way };
    struct pass p = { .n = sizeof(prompt) / sizeof(prompt[0]) };

    memset(out, 0, sizeof(*out));
    load(&l);
    out->n_vocab = (int)l.output->ne[1];
    start(&l);
    for (int i = 0; i < LAYERS_TOKENS; i++) {
        run_pass(&l, &p, i == 0 ? prompt : &out->tokens[i - 1], i, out);
        out->tokens[i] = tiny_best_of(out->logits[i], out->n_vocab);
        p.n_past += p.n;
        p.n = 1;
        if (way->is_fresh) {
            stop(&l);
            start(&l);
        }
    }
    stop(&l);
    unload(&l);
}
