/* SPDX-License-Identifier: MIT */
/*
 * tests/alloc/random.c - thousands of random graphs, run on names instead of
 * numbers.
 *
 * Every few bytes of the buffers hold the name of the tensor that wrote them
 * last.  A node may only read bytes with the right name on them, and at the end
 * all results must still have theirs, the moments of a step of AdamW among them.  So nothing of how the allocator thinks
 * is believed.
 */
#include "lib/alloc/check.h"
#include "tests/backend/fake.h"
#include "tests/util/random.h"

#include "ggml-impl.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define MAX_TENSORS 160
#define UNIT 4 /* bytes under one name */
#define N_SLOTS 3
#define MAX_BUFFERS 64

/* ---- random graphs ---- */

struct making {
    struct gb_random random;
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *made[MAX_TENSORS];
    int n_made;
    int64_t width; /* of every row */
    char *weights; /* outside of all buffers */
};

static uint64_t
below(struct making *m, uint64_t n)
{
    return gb_random_u64(&m->random) % n;
}

static struct ggml_tensor *
any(struct making *m)
{
    /* Mostly a late one, so that graphs become deep as well as wide. */
    const uint64_t n = (uint64_t)m->n_made;
    const uint64_t back = below(m, below(m, 3) > 0 && n > 6 ? 6 : n);

    return m->made[n - 1 - back];
}

static struct ggml_tensor *
new_leaf(struct making *m)
{
    const int64_t rows = 1 + (int64_t)below(m, 3);
    struct ggml_tensor *t =
        ggml_new_tensor_2d(m->ctx, GGML_TYPE_F32, m->width, rows);

    if (below(m, 3) == 0)
        ggml_set_input(t);
    else if (below(m, 4) == 0)
        t->data = m->weights;
    return t;
}

/* Two of the same shape, the second repeated where it has fewer rows. */
static struct ggml_tensor *
new_pair(struct making *m, uint64_t kind)
{
    struct ggml_tensor *a = any(m), *b = any(m);

    if (!ggml_can_repeat(b, a))
        return ggml_sqr(m->ctx, a);
    if (kind == 0)
        return ggml_add_inplace(m->ctx, a, b);
    return kind < 3 ? ggml_add(m->ctx, a, b) : ggml_mul(m->ctx, b, b);
}

static struct ggml_tensor *
new_view(struct making *m, uint64_t kind)
{
    struct ggml_tensor *a = any(m);

    if (kind == 0) {
        /*
         * Such a view depends on nothing: what it looks at has to come first.
         */
        ggml_build_forward_expand(m->graph, a);
        return ggml_view_tensor(m->ctx, a);
    }
    if (kind == 1 && ggml_is_contiguous(a))
        return ggml_reshape_1d(m->ctx, a, ggml_nelements(a));
    if (kind == 2)
        return ggml_cont(m->ctx, a);
    return ggml_view_2d(m->ctx, a, a->ne[0], 1, a->nb[1],
                        (size_t)below(m, (uint64_t)a->ne[1]) * a->nb[1]);
}

/* A step of AdamW, which changes two tensors besides.  A leaf that is a parameter
 * is no leaf, and has no place from the start. */
static struct ggml_tensor *
new_step(struct making *m)
{
    struct ggml_tensor *of[4], *step;

    for (int i = 0; i < 4; i++) {
        of[i] = any(m);
        if (!ggml_are_same_shape(of[0], of[i]) || of[0]->op == GGML_OP_NONE)
            return ggml_sqr(m->ctx, of[i]);
    }
    ggml_set_param(m->ctx, of[0]);
    step = ggml_opt_step_adamw(
        m->ctx, of[0], of[1], of[2], of[3],
        ggml_new_tensor_1d(m->ctx, GGML_TYPE_F32, 7));
    if (below(m, 2) == 0)
        ggml_build_forward_expand(m->graph, step);
    return step;
}

static struct ggml_tensor *
new_tensor(struct making *m)
{
    if (below(m, 16) == 0)
        return new_step(m);
    switch (below(m, 12)) {
    case 0:
        return new_leaf(m);
    case 1:
        return ggml_rms_norm(m->ctx, any(m), 1e-5f);
    case 2:
        return ggml_soft_max(m->ctx, any(m));
    case 3:
        return ggml_scale(m->ctx, any(m), 2.0f);
    case 4:
        return ggml_sin(m->ctx, any(m));
    case 5:
    case 6:
    case 7:
        return new_view(m, below(m, 4));
    default:
        return new_pair(m, below(m, 5));
    }
}

static void
make_graph(struct making *m, uint64_t seed, int64_t width)
{
    int n;

    gb_random_init(&m->random, seed);
    m->ctx = fake_context(4 * MAX_TENSORS);
    m->graph = ggml_new_graph_custom(m->ctx, 2 * MAX_TENSORS, false);
    m->width = width;
    m->n_made = 0;
    n = 4 + (int)below(m, MAX_TENSORS - 4);
    while (m->n_made < n) {
        struct ggml_tensor *t = m->n_made < 3 ? new_leaf(m) : new_tensor(m);

        if (below(m, 25) == 0)
            ggml_set_output(t);
        m->made[m->n_made++] = t;
    }
    for (int i = 0; i < 3; i++)
        ggml_build_forward_expand(m->graph, any(m));
    ggml_build_forward_expand(m->graph, m->made[n - 1]);
}

/* ---- running it on names ---- */

struct names {
    ggml_backend_buffer_t buffers[MAX_BUFFERS];
    const struct ggml_tensor **last_writer[MAX_BUFFERS]; /* by unit */
    int n_buffers;
};

static const struct ggml_tensor *
owner_of(const struct ggml_tensor *t)
{
    return t->view_src != NULL ? t->view_src : t;
}

static bool
is_weight(const struct making *m, const struct ggml_tensor *t)
{
    return owner_of(t)->data == m->weights;
}

static const struct ggml_tensor **
names_at(struct names *names, const struct ggml_tensor *t)
{
    const ggml_backend_buffer_t buffer = owner_of(t)->buffer;
    int i = 0;

    while (i < names->n_buffers && names->buffers[i] != buffer)
        i++;
    if (i == names->n_buffers) {
        assert_true(i < MAX_BUFFERS);
        names->buffers[i] = buffer;
        names->last_writer[i] =
            calloc(ggml_backend_buffer_get_size(buffer) / UNIT + 1,
                   sizeof(names->last_writer[i][0]));
        names->n_buffers++;
    }
    return names->last_writer[i] +
           ((uintptr_t)t->data -
            (uintptr_t)ggml_backend_buffer_get_base(buffer)) /
               UNIT;
}

static void
assert_inside(const struct ggml_tensor *t)
{
    const uintptr_t base =
        (uintptr_t)ggml_backend_buffer_get_base(owner_of(t)->buffer);
    const uintptr_t at = (uintptr_t)t->data;

    assert_true(at >= base);
    assert_true(at + ggml_nbytes(t) <=
                base + ggml_backend_buffer_get_size(owner_of(t)->buffer));
}

static void
write_name(struct names *names, const struct ggml_tensor *t)
{
    const struct ggml_tensor **at = names_at(names, t);

    assert_inside(t);
    for (size_t i = 0; i < ggml_nbytes(t) / UNIT; i++)
        at[i] = owner_of(t);
}

static void
check_name(struct names *names, const struct ggml_tensor *t, uint64_t seed,
           const char *when)
{
    const struct ggml_tensor **at = names_at(names, t);

    assert_inside(t);
    for (size_t i = 0; i < ggml_nbytes(t) / UNIT; i++)
        if (at[i] != owner_of(t))
            fail_msg("seed %llu: %s has bytes of %s, %s",
                     (unsigned long long)seed, t->name,
                     at[i] != NULL ? at[i]->name : "nobody", when);
}

static bool
moves_nothing(const struct ggml_tensor *t)
{
    return t->op == GGML_OP_NONE || t->op == GGML_OP_VIEW ||
           t->op == GGML_OP_RESHAPE;
}

/* By a node, itself or what looks at it: else it is a result. */
static bool
is_read(const struct ggml_cgraph *graph, const struct ggml_tensor *t)
{
    for (int i = 0; i < graph->n_nodes; i++)
        for (int s = 0; s < GGML_MAX_SRC; s++) {
            const struct ggml_tensor *src = graph->nodes[i]->src[s];

            if (src != NULL && (src == t || src->view_src == t))
                return true;
        }
    return false;
}

static void
write_leafs(const struct making *m, struct names *names, uint64_t seed)
{
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < m->graph->n_leafs; i++) {
            const struct ggml_tensor *t = m->graph->leafs[i];

            if (is_weight(m, t))
                continue;
            if (round == 0)
                write_name(names, owner_of(t));
            else
                check_name(names, t, seed, "at the start");
        }
}

static void
run_on_names(const struct making *m, uint64_t seed)
{
    struct names names = { .n_buffers = 0 };
    const struct ggml_cgraph *graph = m->graph;

    write_leafs(m, &names, seed);
    for (int i = 0; i < graph->n_nodes; i++) {
        const struct ggml_tensor *node = graph->nodes[i];

        if (moves_nothing(node))
            continue;
        for (int s = 0; s < GGML_MAX_SRC; s++)
            if (node->src[s] != NULL && !is_weight(m, node->src[s]))
                check_name(&names, node->src[s], seed, node->name);
        if (!is_weight(m, node))
            write_name(&names, node);
    }
    for (int i = 0; i < graph->n_nodes; i++) {
        const struct ggml_tensor *t = graph->nodes[i];

        for (int s = 2; t->op == GGML_OP_OPT_STEP_ADAMW && s < 4; s++)
            if (!is_weight(m, t->src[s]))
                check_name(&names, t->src[s], seed, "as a moment at the end");
        if (is_weight(m, t))
            continue;
        if ((t->flags & GGML_TENSOR_FLAG_OUTPUT) != 0 || !is_read(graph, t))
            check_name(&names, t, seed, "at the end");
    }
    for (int i = 0; i < names.n_buffers; i++)
        free(names.last_writer[i]);
}

/* ---- tests ---- */

/* Widths of the second, third … graph of the same make. */
static const int64_t widths[] = { 16, 16, 8, 16, 40, 24 };

/* A device with small buffers, of which a graph needs several, in some cases. */
static void
limit(struct fake *fake, uint64_t seed)
{
    if (seed % 2 == 0)
        fake->max_size = 600 + seed / 2 % 8 * 300;
}

static void
one_slot(uint64_t seed)
{
    static char weights[4096];
    struct making m = { .weights = weights };
    struct fake fake;
    ggml_gallocr_t galloc;

    fake_init(&fake, "Fake0");
    fake.padding = seed % 3 == 0 ? 20 : 0;
    limit(&fake, seed);
    galloc = ggml_gallocr_new(&fake.buft);
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        make_graph(&m, seed, widths[i]);
        if (!ggml_gallocr_alloc_graph(galloc, m.graph))
            fail_msg("seed %llu: not allocated", (unsigned long long)seed);
        assert_int_equal(gb_alloc_check(m.graph), GGML_STATUS_SUCCESS);
        run_on_names(&m, seed);
        ggml_free(m.ctx);
    }
    ggml_gallocr_free(galloc);
    assert_int_equal(fake.calls.alloc, fake.calls.free);
}

static void
random_graphs_keep_their_data_apart(void **state)
{
    const uint64_t seed = gb_test_seed(1000);

    (void)state;
    for (uint64_t i = 0; i < 3000; i++)
        one_slot(seed + i);
}

/* A slot for each node and leaf; views go where they like. */
static void
choose_slots(struct making *m, int *nodes, int *leafs)
{
    for (int i = 0; i < m->graph->n_nodes; i++)
        nodes[i] = (int)below(m, N_SLOTS);
    for (int i = 0; i < m->graph->n_leafs; i++)
        leafs[i] = (int)below(m, N_SLOTS);
}

static void
three_slots(uint64_t seed)
{
    static char weights[4096];
    static int nodes[2 * MAX_TENSORS], leafs[2 * MAX_TENSORS];
    struct making m = { .weights = weights };
    struct fake fakes[2];
    ggml_backend_buffer_type_t bufts[N_SLOTS];
    ggml_gallocr_t galloc;

    fake_init(&fakes[0], "Fake0");
    fake_init(&fakes[1], "Fake1");
    limit(&fakes[0], seed);
    limit(&fakes[1], seed / 3);
    bufts[0] = bufts[2] = &fakes[0].buft;
    bufts[1] = &fakes[1].buft;
    galloc = ggml_gallocr_new_n(bufts, N_SLOTS);
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        make_graph(&m, seed, widths[i]);
        choose_slots(&m, nodes, leafs);
        if (!ggml_gallocr_alloc_graph(galloc, m.graph)) {
            assert_true(
                ggml_gallocr_reserve_n(galloc, m.graph, nodes, leafs));
            assert_true(ggml_gallocr_alloc_graph(galloc, m.graph));
        }
        assert_int_equal(gb_alloc_check(m.graph), GGML_STATUS_SUCCESS);
        run_on_names(&m, seed);
        ggml_free(m.ctx);
    }
    ggml_gallocr_free(galloc);
}

static void
random_graphs_over_three_slots_do_too(void **state)
{
    const uint64_t seed = gb_test_seed(2000);

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        three_slots(seed + i);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_keep_their_data_apart),
        cmocka_unit_test(random_graphs_over_three_slots_do_too),
    };

    return cmocka_run_group_tests_name("random graphs", tests, NULL, NULL);
}
