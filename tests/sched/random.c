/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/random.c - random graphs over devices that lack random
 * operations: each tensor is where the rules say, and the results are the CPU's
 * to the bit.
 *
 * The rules are written down here once more, tensor by tensor and with
 * searches, as simply as possible.
 */
#include "tests/sched/rig.h"
#include "tests/util/random.h"

#include "ggml-impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CASES     300
#define MAX_MADE  60
#define N_DATA    4 /* tensors with data, on each backend */
#define WIDTH     8

/* ---- graphs ---- */

struct making {
    struct gb_random random;
    struct rig *rig;
    struct ggml_tensor *data[RIG_MAX * N_DATA];
    int n_data;
    struct ggml_tensor *made[MAX_MADE];
    int n_made;
    bool chooses; /* the client has wishes */
};

static int
below(struct making *m, int n)
{
    return (int)(gb_random_u64(&m->random) % (uint64_t)n);
}

static struct ggml_tensor *
any(struct making *m)
{
    const bool late = m->n_made >= 8 && below(m, 4) != 0;
    const int back = below(m, late ? 8 : m->n_made);

    return m->made[m->n_made - 1 - back];
}

/* All tensors are vectors of WIDTH numbers. */
static struct ggml_tensor *
next(struct making *m)
{
    struct ggml_context *ctx = m->rig->ctx;
    struct ggml_tensor *a = any(m), *data = m->data[below(m, m->n_data)];

    switch (below(m, 12)) {
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
        return ggml_add(ctx, a, ggml_view_1d(ctx, any(m), WIDTH, 0));
    default:
        return ggml_add(ctx, a, any(m));
    }
}

static void
make(struct making *m)
{
    const int n = 5 + below(m, MAX_MADE - 10);

    m->n_made = 0;
    for (int i = 0; i < 3; i++)
        m->made[m->n_made++] = rig_input(m->rig, WIDTH);
    while (m->n_made < n) {
        struct ggml_tensor *t = next(m);
        const int backend = below(m, 5 * m->rig->n_backends);

        m->made[m->n_made++] = t;
        if (m->chooses && backend < m->rig->n_backends && t->view_src == NULL &&
            t->op != GGML_OP_NONE)
            rig_choose(m->rig, t, backend);
        if (below(m, 5) == 0)
            rig_expand(m->rig, t);
    }
    rig_expand(m->rig, m->made[n - 1]);
}

/* ---- the rules ---- */

struct rules {
    const struct rig *rig;
    struct ggml_tensor *tensors[1000];
    int backends[1000]; /* of these, -1 for none */
    int n;
};

static int *
at(struct rules *r, struct ggml_tensor *tensor)
{
    for (int i = 0; i < r->n; i++)
        if (r->tensors[i] == tensor)
            return &r->backends[i];
    r->tensors[r->n] = tensor;
    r->backends[r->n] = rig_backend_of(r->rig, tensor);
    return &r->backends[r->n++];
}

static ggml_backend_buffer_type_t
home(const struct ggml_tensor *t)
{
    const ggml_backend_buffer_t buffer =
        t->view_src != NULL ? t->view_src->buffer : t->buffer;

    return buffer != NULL ? ggml_backend_buffer_get_type(buffer) : NULL;
}

static bool
runs(const struct rules *r, int backend, const struct ggml_tensor *op)
{
    return ggml_backend_supports_op(r->rig->backends[backend], op);
}

static bool
supported(struct rules *r, struct ggml_tensor *t, int backend)
{
    const ggml_backend_t b = r->rig->backends[backend];
    int owner = t->view_src != NULL ? *at(r, t->view_src) : -1;

    if (home(t) != NULL)
        return ggml_backend_supports_buft(b, home(t));
    if (owner < 0)
        owner = *at(r, t);
    return owner >= 0 &&
           ggml_backend_supports_buft(
               b, ggml_backend_get_default_buffer_type(
                      r->rig->backends[owner]));
}

static bool
looks_only(const struct ggml_tensor *t)
{
    return t->op == GGML_OP_VIEW || t->op == GGML_OP_RESHAPE ||
           t->op == GGML_OP_PERMUTE || t->op == GGML_OP_TRANSPOSE;
}

static void
by_data_and_weights(struct rules *r, struct ggml_tensor *t)
{
    const int last = r->rig->n_backends - 1;
    int *backend = at(r, t);

    if (*backend >= 0)
        return;
    if (home(t) != NULL) {
        for (int b = last; b >= 0; b--)
            if (ggml_backend_supports_buft(r->rig->backends[b], home(t)) &&
                runs(r, b, t))
                *backend = b;
        return;
    }
    if ((t->flags & GGML_TENSOR_FLAG_INPUT) != 0) {
        *backend = last;
        return;
    }
    for (int s = 0; s < GGML_MAX_SRC; s++) {
        const struct ggml_tensor *src = t->src[s];

        if (src == NULL || src->buffer == NULL ||
            src->buffer->usage != GGML_BACKEND_BUFFER_USAGE_WEIGHTS)
            continue;
        for (int b = last; b >= 0; b--)
            if (ggml_backend_supports_buft(r->rig->backends[b], home(src)) &&
                runs(r, b, t))
                *backend = b;
        if (*backend == last && ggml_backend_buffer_is_host(src->buffer))
            for (int b = last - 1; b >= 0; b--)
                if (runs(r, b, t) &&
                    ggml_backend_offload_op(r->rig->backends[b], t))
                    *backend = b;
        return;
    }
}

static void
sweep(struct rules *r, bool down, bool with_last)
{
    const int n = r->rig->graph->n_nodes;
    int current = -1;

    for (int k = 0; k < n; k++) {
        struct ggml_tensor *t = r->rig->graph->nodes[down ? k : n - 1 - k];

        if (looks_only(t))
            continue;
        if (*at(r, t) < 0) {
            if (current >= 0 && runs(r, current, t))
                *at(r, t) = current;
        } else if (with_last || *at(r, t) != r->rig->n_backends - 1) {
            current = *at(r, t);
        } else {
            current = -1;
        }
    }
}

static void
by_sources(struct rules *r, struct ggml_tensor *t)
{
    int best = -1, best_count = -1;

    for (int b = 0; b < r->rig->n_backends; b++) {
        int count = 0;

        for (int s = 0; s < GGML_MAX_SRC; s++) {
            struct ggml_tensor *src = t->src[s];

            if (src != NULL &&
                (*at(r, src) >= 0 ||
                 (src->view_src != NULL && *at(r, src->view_src) >= 0)))
                count += supported(r, src, b);
        }
        if (runs(r, b, t) && count > best_count) {
            best = b;
            best_count = count;
        }
    }
    *at(r, t) = best;
}

static void
complete(struct rules *r, struct ggml_tensor *t)
{
    if (t->view_src != NULL)
        *at(r, t) = *at(r, t->view_src);
    for (int s = 0; s < GGML_MAX_SRC; s++) {
        struct ggml_tensor *src = t->src[s];

        if (src == NULL)
            continue;
        if (src->view_src != NULL) {
            if (*at(r, src->view_src) < 0)
                *at(r, src->view_src) = *at(r, t);
            *at(r, src) = *at(r, src->view_src);
        } else if (*at(r, src) < 0) {
            *at(r, src) = *at(r, t);
        }
    }
}

static void
apply(struct rules *r, const struct rig *rig)
{
    const struct ggml_cgraph *g = rig->graph;

    r->rig = rig;
    r->n = 0;
    for (int i = 0; i < g->n_leafs; i++)
        by_data_and_weights(r, g->leafs[i]);
    for (int i = 0; i < g->n_nodes; i++)
        by_data_and_weights(r, g->nodes[i]);
    sweep(r, true, false);
    sweep(r, false, false);
    sweep(r, true, true);
    sweep(r, false, true);
    for (int i = 0; i < g->n_nodes; i++)
        if (!looks_only(g->nodes[i]) && *at(r, g->nodes[i]) < 0)
            by_sources(r, g->nodes[i]);
    for (int i = 0; i < g->n_nodes; i++)
        complete(r, g->nodes[i]);
}

static void
compare(const struct rules *r, uint64_t seed)
{
    for (int i = 0; i < r->n; i++)
        if (rig_backend_of(r->rig, r->tensors[i]) != r->backends[i])
            fail_msg("seed %d: %s is on %d, not on %d", (int)seed,
                     r->tensors[i]->name,
                     rig_backend_of(r->rig, r->tensors[i]), r->backends[i]);
}

/* ---- results ---- */

/* All bytes of the outputs of the graph, in the order of its nodes. */
static size_t
read_outputs(const struct rig *rig, unsigned char *out)
{
    size_t n = 0;

    for (int i = 0; i < ggml_graph_n_nodes(rig->graph); i++) {
        struct ggml_tensor *t = ggml_graph_node(rig->graph, i);

        if ((t->flags & GGML_TENSOR_FLAG_OUTPUT) == 0)
            continue;
        ggml_backend_tensor_get(t, out + n, 0, ggml_nbytes(t));
        n += ggml_nbytes(t);
    }
    return n;
}

static struct rules rules;
static unsigned char results[2][1000 * WIDTH * sizeof(float)];

/*
 * The graph of SEED over N_DEVICES; checked against the rules, and its outputs
 * to OUT.
 */
static size_t
run(uint64_t seed, int n_devices, bool parallel, bool chooses,
    unsigned char *out)
{
    struct making m = { .chooses = chooses && n_devices > 0 };
    struct gb_random values;
    struct rig rig;
    size_t n;

    sim_reset();
    for (int i = 0; i < n_devices; i++) {
        static const enum ggml_op ops[] = { GGML_OP_SQR, GGML_OP_NORM,
                                            GGML_OP_SCALE, GGML_OP_CONT };
        struct gb_sim_config config;

        gb_random_init(&m.random, seed + 1000 * (uint64_t)i);
        gb_sim_default(&config);
        config.offload_min = below(&m, 2); /* never, or always */
        for (int k = 0; k < 4; k++)
            config.without_op[ops[k]] = below(&m, 3) == 0;
        assert_true(gb_sim_configure(i, 1, &config));
    }
    rig_open(&rig, n_devices, parallel);
    m.rig = &rig;
    gb_random_init(&values, seed);
    for (int i = 0; i < 4 * N_DATA; i++)
        m.data[m.n_data++] = rig_data(
            &rig, ggml_backend_get_default_buffer_type(
                      rig.backends[i / N_DATA % rig.n_backends]),
            i % 2 ? GGML_BACKEND_BUFFER_USAGE_WEIGHTS
                  : GGML_BACKEND_BUFFER_USAGE_ANY,
            WIDTH, 1, gb_random_float(&values, -1, 1));
    gb_random_init(&m.random, seed);
    make(&m);
    apply(&rules, &rig);
    if (!ggml_backend_sched_alloc_graph(rig.sched, rig.graph)) {
        rig_close(&rig);
        return 0;
    }
    compare(&rules, seed);
    for (int i = 0; i < 3; i++)
        rig_set(m.made[i], gb_random_float(&values, -1, 1));
    rig_compute(&rig);
    n = read_outputs(&rig, out);
    rig_close(&rig);
    return n;
}

/*
 * Was the graph computed?  Data on a device whose operation only others have is
 * refused, rightly.
 */
static bool
check(uint64_t seed, bool parallel, bool chooses)
{
    const size_t expected = run(seed, 0, false, chooses, results[0]);
    const size_t n =
        run(seed, 1 + (int)(seed % 3), parallel, chooses, results[1]);

    assert_true(expected > 0);
    if (n > 0 && (n != expected || memcmp(results[0], results[1], n) != 0))
        fail_msg("seed %d: other results", (int)seed);
    return n > 0;
}

static void
random_graphs_follow_the_rules(void **state)
{
    const uint64_t seed = gb_test_seed(1);
    int n_computed = 0;

    (void)state;
    for (uint64_t i = 0; i < CASES; i++)
        n_computed += check(seed + i, false, false);
    assert_true(n_computed > CASES / 4);
}

static void
with_choices_too(void **state)
{
    const uint64_t seed = gb_test_seed(1001);
    int n_computed = 0;

    (void)state;
    for (uint64_t i = 0; i < CASES; i++)
        n_computed += check(seed + i, i % 2 != 0, true);
    assert_true(n_computed > CASES / 4);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_follow_the_rules),
        cmocka_unit_test(with_choices_too),
    };

    return cmocka_run_group_tests_name("random graphs", tests, NULL, NULL);
}
