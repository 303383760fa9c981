/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/graphs.c - random graphs for a rig.
 */
#include "tests/sched/graphs.h"

#include "lib/op/op.h"

#include "ggml-impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define WIDTH GRAPHS_WIDTH
#define HALF  (WIDTH / 2 * sizeof(float)) /* bytes */

static int
below(struct graphs *g, int n)
{
    return (int)(gb_random_u64(&g->random) % (uint64_t)n);
}

/* Mostly one of the last. */
static struct ggml_tensor *
any(struct graphs *g)
{
    const bool late = g->n_made >= 8 && below(g, 4) != 0;
    const int back = below(g, late ? 8 : g->n_made);

    return g->made[g->n_made - 1 - back];
}

static struct ggml_tensor *
any_data(struct graphs *g)
{
    return g->data[below(g, GRAPHS_DATA)];
}

static struct ggml_tensor *
next(struct graphs *g)
{
    struct ggml_context *ctx = g->rig->ctx;
    struct ggml_tensor *data = any_data(g);
    struct ggml_tensor *a = below(g, 8) == 0 ? any_data(g) : any(g);

    switch (below(g, 12)) {
    case 0:
        return ggml_scale(ctx, a, 0.5f);
    case 1:
        return ggml_sqr(ctx, a);
    case 2:
        return ggml_reshape_1d(ctx, ggml_cont(ctx, ggml_transpose(
                   ctx, ggml_reshape_2d(ctx, a, 2, WIDTH / 2))), WIDTH);
    case 3:
        return ggml_reshape_1d(ctx, ggml_norm(ctx, a, 1e-5f), WIDTH);
    case 4:
    case 5:
        return ggml_add(ctx, a, data);
    case 6:
        return ggml_mul(ctx, data, a);
    case 7:
        return ggml_silu(ctx, a);
    case 8:
        return ggml_add(ctx, a, ggml_view_1d(ctx, any(g), WIDTH, 0));
    default:
        return ggml_add(ctx, a, any(g));
    }
}

/* ---- operations in place ---- */

/* One half of T, by bytes. */
static struct ggml_tensor *
half(struct graphs *g, struct ggml_tensor *t)
{
    return ggml_view_1d(g->rig->ctx, t, WIDTH / 2,
                        below(g, 2) != 0 ? HALF : 0);
}

/*
 * A node that writes to T's memory.  What it reads and what it writes lie in
 * the same place or apart: no element depends on the order of the others.
 */
static struct ggml_tensor *
write_to(struct graphs *g, struct ggml_tensor *t)
{
    struct ggml_context *ctx = g->rig->ctx;

    switch (below(g, 12)) {
    case 0:
        return ggml_scale_inplace(ctx, t, -0.5f);
    case 1:
        return ggml_sqr_inplace(ctx, t);
    case 2:
        return ggml_norm_inplace(ctx, t, 1e-5f);
    case 3:
        return ggml_tanh_inplace(ctx, t);
    case 4:
        return ggml_mul_inplace(ctx, t, any_data(g));
    case 5:
        return ggml_cpy(ctx, any(g), t);
    case 6:
        return ggml_cpy(ctx, half(g, any(g)), half(g, t));
    case 7:
        return ggml_set_1d_inplace(ctx, t, ggml_silu(ctx, half(g, any(g))),
                                   HALF);
    case 8:
        return ggml_clamp(ctx, t, -1, 1);
    case 9:
        return ggml_map_custom1_inplace(ctx, t, rig_halve, 1, NULL);
    case 10:
        return ggml_sub_inplace(ctx, half(g, t), half(g, any(g)));
    default:
        return ggml_add_inplace(ctx, t, any(g));
    }
}

/* A function of the client's that writes to data of the host's, which is not
 * among its sources. */
static void
write_hidden(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
             int nth, void *userdata)
{
    struct ggml_tensor *other = userdata;

    rig_halve(dst, a, ith, nth, NULL);
    for (int i = 0; i < WIDTH; i++)
        ((float *)other->data)[i] = ((float *)other->data)[i] * 0.5f + 0.25f;
}

/* One that is read, written, and read again by another node. */
static struct ggml_tensor *
hide_write(struct graphs *g)
{
    struct ggml_context *ctx = g->rig->ctx;
    struct ggml_tensor *t = g->data[4 * g->host + below(g, 4)];
    struct ggml_tensor *a = any(g);

    rig_expand(g->rig, ggml_add(ctx, a, t));
    a = ggml_map_custom1(ctx, a, write_hidden, 1, t);
    rig_expand(g->rig, a);
    return ggml_add(ctx, a, t);
}

/* A step of AdamW with parameters and moments in one memory. */
static struct ggml_tensor *
step(struct graphs *g)
{
    struct ggml_context *ctx = g->rig->ctx;
    struct ggml_tensor **of = &g->data[4 * below(g, GRAPHS_DATA / 4)];
    struct ggml_tensor *a = any(g), *w;

    ggml_set_param(ctx, of[0]);
    for (int i = 0; i < 3; i++)
        rig_expand(g->rig, ggml_add(ctx, a, of[i]));
    w = ggml_opt_step_adamw(ctx, of[0], a, of[1], of[2], g->step);
    rig_expand(g->rig, w);
    return ggml_add(ctx, ggml_sub(ctx, w, of[1]), of[2]);
}

/*
 * Perhaps the client chooses where a tensor is computed, or lies.  The random
 * number is taken in any case, and from one range for all rigs.
 */
static void
wish(struct graphs *g, struct ggml_tensor *t)
{
    const int n = below(g, 5 * RIG_MAX);

    if (g->chooses && n < RIG_MAX && (t->view_src == NULL || g->writes))
        rig_choose(g->rig, t, n % g->rig->n_backends);
}

/*
 * T is read, written, and read again, in this order; T may be data, an input,
 * a result, or a view of any.
 */
static struct ggml_tensor *
write(struct graphs *g)
{
    struct ggml_tensor *t = g->writes_data && below(g, 3) == 0 ? any_data(g)
                                                               : any(g);
    struct ggml_tensor *reads[2], *w;

    if (below(g, 8) == 0)
        return hide_write(g);
    if (g->writes_data && below(g, 5) == 0)
        return step(g);
    reads[0] = ggml_scale(g->rig->ctx, t, 0.25f);
    w = write_to(g, t);
    reads[1] = below(g, 2) != 0 ? ggml_silu(g->rig->ctx, t)
                                : ggml_add(g->rig->ctx, any(g), t);
    wish(g, reads[0]);
    wish(g, reads[1]);
    wish(g, w);
    rig_expand(g->rig, reads[0]);
    rig_expand(g->rig, w);
    rig_expand(g->rig, reads[1]);
    return below(g, 2) != 0 && ggml_nelements(w) == WIDTH ? w : reads[1];
}

void
graphs_make(struct graphs *g, uint64_t seed)
{
    int n;

    gb_random_init(&g->random, seed);
    n = 5 + below(g, GRAPHS_MADE - 10);
    g->writes_data = below(g, 3) == 0;
    g->n_made = 0;
    for (int i = 0; i < GRAPHS_INPUTS; i++) {
        g->made[g->n_made++] = rig_input(g->rig, WIDTH);
        wish(g, g->made[i]);
    }
    while (g->n_made < n) {
        struct ggml_tensor *t =
            g->writes && below(g, 4) == 0 ? write(g) : next(g);

        g->made[g->n_made++] = t;
        if (t->op != GGML_OP_NONE)
            wish(g, t);
        if (below(g, 5) == 0)
            rig_expand(g->rig, t);
    }
    rig_expand(g->rig, g->made[n - 1]);
}

/* ---- numbers ---- */

/* The CPU's for a rig that has nothing else. */
static ggml_backend_buffer_type_t
memory(const struct rig *rig, int i)
{
    if (rig->n_backends > 1 && i >= rig->n_backends)
        return ggml_backend_dev_buffer_type(sim_device(rig->n_backends - 1));
    return ggml_backend_get_default_buffer_type(
        rig->backends[i % rig->n_backends]);
}

void
graphs_add_data(struct graphs *g, struct rig *rig)
{
    static const float step[] = { 0.25f, 0.5f, 0.5f, 1, 0.25f, 0.5f, 0 };

    g->rig = rig;
    g->step = rig_data(rig, ggml_backend_cpu_buffer_type(),
                       GGML_BACKEND_BUFFER_USAGE_WEIGHTS, 7, 1, 0);
    ggml_backend_tensor_set(g->step, step, 0, sizeof(step));
    for (int i = 0; i < GRAPHS_DATA; i++)
        g->data[i] = rig_data(
            rig, memory(rig, i / 4),
            i % 2 ? GGML_BACKEND_BUFFER_USAGE_WEIGHTS
                  : GGML_BACKEND_BUFFER_USAGE_ANY, WIDTH, 1, 0);
}

static void
fill(struct ggml_tensor *const *tensors, int n, uint64_t seed)
{
    struct gb_random random;

    gb_random_init(&random, seed);
    for (int i = 0; i < n; i++) {
        float values[WIDTH];

        for (int k = 0; k < WIDTH; k++)
            values[k] = gb_random_float(&random, -1, 1);
        /* An input that nobody reads has no place. */
        if (tensors[i]->buffer != NULL)
            ggml_backend_tensor_set(tensors[i], values, 0, sizeof(values));
    }
}

void
graphs_fill_data(const struct graphs *g, uint64_t seed)
{
    fill(g->data, GRAPHS_DATA, seed);
}

void
graphs_fill_inputs(const struct graphs *g, uint64_t seed)
{
    fill(g->made, GRAPHS_INPUTS, seed);
}

static size_t
read(const struct ggml_tensor *t, unsigned char *out)
{
    ggml_backend_tensor_get(t, out, 0, ggml_nbytes(t));
    return ggml_nbytes(t);
}

size_t
graphs_read(const struct graphs *g, unsigned char *out)
{
    struct ggml_cgraph *graph = g->rig->graph;
    size_t n = 0;

    for (int i = 0; i < GRAPHS_DATA; i++)
        n += read(g->data[i], out + n);
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const struct ggml_tensor *t = ggml_graph_node(graph, i);

        if ((t->flags & GGML_TENSOR_FLAG_OUTPUT) != 0)
            n += read(t, out + n);
    }
    assert_true(n <= GRAPHS_BYTES);
    return n;
}

/* ---- what cannot be computed ---- */

/* Can BACKEND run OP when it reads copies of all? */
static bool
runs(ggml_backend_t backend, const struct ggml_tensor *op)
{
    struct ggml_tensor sources[GGML_MAX_SRC], alone = *op;

    alone.buffer = NULL;
    alone.view_src = NULL;
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (op->src[i] == NULL)
            continue;
        sources[i] = *op->src[i];
        sources[i].buffer = NULL;
        sources[i].view_src = NULL;
        alone.src[i] = &sources[i];
    }
    return ggml_backend_supports_op(backend, &alone);
}

bool
graphs_are_refused(const struct graphs *g)
{
    struct ggml_cgraph *graph = g->rig->graph;

    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const struct ggml_tensor *t = ggml_graph_node(graph, i);
        bool can = t->view_src == NULL || t->view_src->buffer == NULL ||
                   gb_op_is_view(t->op);

        for (int b = 0; !can && b < g->rig->n_backends; b++)
            can = ggml_backend_supports_buft(
                      g->rig->backends[b], t->view_src->buffer->buft) &&
                  runs(g->rig->backends[b], t);
        if (!can)
            return true;
    }
    return false;
}
