/* SPDX-License-Identifier: MIT */
/*
 * tests/fuse/random.c - thousands of random graphs whose tensors lie over each
 * other, run on symbols instead of numbers: node by node, and with the groups
 * that were found.  Afterwards all memory is the same, so that no reader of any
 * result, within the graph or behind it, can tell.
 *
 * Steps of AdamW and functions of the client's write more than their results.
 *
 * What a group does is taken at its worst: rows (of a product: single elements;
 * of a sum of slices: single columns)
 * of all its parts come in random order, each reads what it needs when it is its
 * turn, and then writes those results alone that have to be written, in random
 * order too.
 */
#include "lib/fuse/fuse.h"
#include "tests/util/random.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

enum {
    WIDTH = 4,     /* of every row */
    MAX_ROWS = 2,
    CELLS = 160,   /* of memory; one holds an element */
    MAX_NODES = 28,
    MAX_TENSORS = 256,
    GRAPHS = 30000,
};

static struct gb_random random_numbers;
static struct ggml_context *ctx;
static struct ggml_cgraph *graph;
static struct ggml_tensor *tensors[MAX_TENSORS];
static int n_tensors;
static float arena[CELLS]; /* for its addresses */
static uint64_t memory[CELLS];

static int
below(int n)
{
    return (int)(gb_random_u64(&random_numbers) % (uint64_t)n);
}

/* ---- random graphs ---- */

static bool
overlap(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const char *x = a->data, *y = b->data;

    return x < y + ggml_nbytes(b) && y < x + ggml_nbytes(a);
}

static bool
lie_alike(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    return a->data == b->data && ggml_are_same_shape(a, b);
}

/* Does it pick rows by numbers, of anything but what was just made for it, as a
 * choice of experts does? */
static bool
is_pick(const struct ggml_tensor *t)
{
    return t->op == GGML_OP_GET_ROWS && t->src[0]->op != GGML_OP_VIEW;
}

/* As backends are given them: results lie apart from what they are made of, or
 * in its place, element by element. */
static bool
is_place_good(const struct ggml_tensor *t)
{
    for (int i = 0; i < GGML_MAX_SRC && t->op != GGML_OP_NONE; i++) {
        if (t->src[i] != NULL && overlap(t, t->src[i]) &&
            (t->op == GGML_OP_MUL_MAT || is_pick(t) ||
             !lie_alike(t, t->src[i])))
            return false;
    }
    return true;
}

static void
place(struct ggml_tensor *t)
{
    if (t->view_src != NULL)
        return;
    for (int tries = 0;; tries++) {
        const int rows = CELLS / WIDTH - (int)ggml_nrows(t);

        t->data = below(3) == 0 && t->src[0] != NULL && tries == 0
                      ? t->src[0]->data
                      : arena + below(rows + 1) * WIDTH;
        if (is_place_good(t))
            return;
    }
}

static struct ggml_tensor *
any(void)
{
    const int back = below(below(4) > 0 && n_tensors > 5 ? 5 : n_tensors);

    return tensors[n_tensors - 1 - back];
}

static struct ggml_tensor *
new_leaf(int rows)
{
    return ggml_new_tensor_2d(ctx, GGML_TYPE_F32, WIDTH, rows);
}

static void
keep(struct ggml_tensor *t)
{
    place(t);
    tensors[n_tensors++] = t;
}

/* A second operand for A. */
static struct ggml_tensor *
operand(const struct ggml_tensor *a)
{
    for (int tries = 0; tries < 4; tries++) {
        struct ggml_tensor *b = any();

        if (ggml_can_repeat(b, a))
            return b;
    }
    keep(new_leaf(1 + below((int)a->ne[1])));
    return tensors[n_tensors - 1];
}

static struct ggml_tensor *
new_copy(struct ggml_tensor *a)
{
    struct ggml_tensor *cache = new_leaf(MAX_ROWS);

    keep(cache);
    return ggml_cpy(ctx, a,
                    ggml_view_2d(ctx, cache, WIDTH, a->ne[1], cache->nb[1],
                                 a->ne[1] == 1 ? (size_t)below(2) *
                                                     cache->nb[1]
                                               : 0));
}

static struct ggml_tensor *
new_product(struct ggml_tensor *a)
{
    struct ggml_tensor *weights =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, WIDTH, WIDTH);

    place(weights);
    return ggml_mul_mat(ctx, weights, a);
}

static struct ggml_tensor *
new_rope(struct ggml_tensor *a)
{
    struct ggml_tensor *positions = new_leaf(1);
    struct ggml_tensor *rope;

    place(positions);
    rope = ggml_dup(ctx, a);
    rope->op = GGML_OP_ROPE;
    rope->src[1] = positions;
    return rope;
}

static struct ggml_tensor *
any_row(struct ggml_tensor *a)
{
    return ggml_view_2d(ctx, a, WIDTH, 1, a->nb[1],
                        (size_t)below((int)a->ne[1]) * a->nb[1]);
}

/* The sum of two rows of what is multiplied, sometimes with others. */
static struct ggml_tensor *
new_sum(struct ggml_tensor *a)
{
    struct ggml_tensor *sum;

    a = ggml_mul(ctx, a, operand(a));
    keep(a);
    sum = ggml_add(ctx, any_row(a), any_row(a));
    for (int n = below(2) * below(4); n > 0; n--) {
        keep(sum);
        sum = below(2) == 0 ? ggml_add(ctx, sum, any_row(a))
                            : ggml_add(ctx, any_row(a), sum);
    }
    return sum;
}

static struct ggml_tensor *
all_of(struct ggml_tensor *t)
{
    return ggml_view_2d(ctx, t, WIDTH, t->ne[1], t->nb[1], 0);
}

/* A node of OP that reads A, and B if there is one. */
static struct ggml_tensor *
new_other(enum ggml_op op, struct ggml_tensor *a, struct ggml_tensor *b)
{
    struct ggml_tensor *t = ggml_dup(ctx, a);

    t->op = op;
    t->src[1] = b;
    return t;
}

/* The experts of a token, as far as symbols go. */
static struct ggml_tensor *
new_route(struct ggml_tensor *a)
{
    struct ggml_tensor *values = new_other(GGML_OP_SOFT_MAX, a, NULL);
    struct ggml_tensor *order, *picked, *sums;

    keep(values);
    order = new_other(GGML_OP_ARGSORT, values, NULL);
    keep(order);
    /* An expert's product reads the order before it is known how much counts. */
    if (below(2) == 0)
        keep(ggml_silu(ctx, all_of(order)));
    picked = new_other(GGML_OP_GET_ROWS, all_of(values), all_of(order));
    if (below(3) == 0)
        return picked;
    keep(picked);
    sums = new_other(GGML_OP_SUM_ROWS, all_of(picked), NULL);
    keep(sums);
    return new_other(GGML_OP_DIV, all_of(picked), sums);
}

/* Rows of A, by numbers that are anything's. */
static struct ggml_tensor *
new_pick(struct ggml_tensor *a)
{
    struct ggml_tensor *numbers = any(), *t = ggml_dup(ctx, numbers);

    t->op = GGML_OP_GET_ROWS;
    t->src[0] = a;
    t->src[1] = numbers;
    return t;
}

/* Scores that are scaled, or masked, or both. */
static struct ggml_tensor *
new_scores(struct ggml_tensor *a)
{
    const bool is_in_place = below(2) == 0;
    const int kind = below(4);

    if (kind > 0) {
        a = is_in_place ? ggml_scale_inplace(ctx, a, 0.5f)
                        : new_other(GGML_OP_SCALE, a, NULL);
        keep(a);
    }
    if (kind < 3) {
        a = below(2) == 0 ? ggml_add(ctx, a, operand(a))
            : is_in_place ? ggml_diag_mask_inf_inplace(ctx, a, 1)
                          : new_other(GGML_OP_DIAG_MASK_INF, a, NULL);
        keep(a);
    }
    return is_in_place ? ggml_soft_max_inplace(ctx, a)
                       : new_other(GGML_OP_SOFT_MAX, a, NULL);
}

/* Some nodes follow each other as they do in groups. */
static enum ggml_op
next_op(const struct ggml_tensor *last)
{
    static const enum ggml_op ops[] = {
        GGML_OP_ADD, GGML_OP_MUL, GGML_OP_RMS_NORM, GGML_OP_NORM,
        GGML_OP_UNARY, GGML_OP_MUL_MAT, GGML_OP_ROPE, GGML_OP_CPY,
        GGML_OP_SUM_ROWS, GGML_OP_SOFT_MAX, GGML_OP_DIAG_MASK_INF,
        GGML_OP_GET_ROWS,
    };

    if (below(3) == 0)
        return ops[below(12)];
    if (last->op == GGML_OP_MUL_MAT && below(2) == 0)
        return GGML_OP_MUL_MAT;
    switch ((int)last->op) {
    case GGML_OP_RMS_NORM:
    case GGML_OP_NORM:
    case GGML_OP_UNARY:
        return GGML_OP_MUL;
    case GGML_OP_MUL_MAT:
        return GGML_OP_ADD;
    case GGML_OP_ADD:
        return below(2) == 0 ? GGML_OP_RMS_NORM : GGML_OP_ADD;
    case GGML_OP_GET_ROWS:
        return below(2) == 0 ? GGML_OP_RMS_NORM : GGML_OP_NORM;
    case GGML_OP_ROPE:
        return GGML_OP_CPY;
    case GGML_OP_CPY:
        return below(2) == 0 ? GGML_OP_ROPE : ops[below(8)];
    default:
        return ops[below(8)];
    }
}

static struct ggml_tensor *
new_node(enum ggml_op op, struct ggml_tensor *a)
{
    switch ((int)op) {
    case GGML_OP_ADD:
        return ggml_add(ctx, a, operand(a));
    case GGML_OP_MUL:
        return ggml_mul(ctx, a, operand(a));
    case GGML_OP_RMS_NORM:
        return ggml_rms_norm(ctx, a, 1e-5f);
    case GGML_OP_NORM:
        return ggml_norm(ctx, a, 1e-5f);
    case GGML_OP_MUL_MAT:
        return new_product(a);
    case GGML_OP_ROPE:
        return new_rope(a);
    case GGML_OP_CPY:
        return new_copy(a);
    case GGML_OP_SUM_ROWS:
        return new_sum(a);
    case GGML_OP_SOFT_MAX:
        return new_route(a);
    case GGML_OP_DIAG_MASK_INF:
        return new_scores(a);
    case GGML_OP_GET_ROWS:
        return new_pick(a);
    default:
        return below(2) == 0 ? ggml_silu(ctx, a) : ggml_silu_inplace(ctx, a);
    }
}

/* A step of AdamW, whose moments may be anything's. */
static void
add_step(void)
{
    struct ggml_tensor *all[] = { any(), any(), any(), any() };

    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < a; b++) {
            if (overlap(all[a], all[b]) ||
                !ggml_are_same_shape(all[a], all[b]))
                return;
        }
    }
    ggml_set_param(ctx, all[0]);
    keep(ggml_opt_step_adamw(
        ctx, all[0], all[1], all[2], all[3],
        ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 7)));
    tensors[n_tensors - 1]->src[4]->data = arena;
    ggml_build_forward_expand(graph, tensors[n_tensors - 1]);
}

static void
write_other(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
            int nth, void *userdata)
{
    (void)dst;
    (void)a;
    (void)ith;
    (void)nth;
    (void)userdata;
}

/* A function of the client's, which writes what is not among its sources. */
static void
add_function(void)
{
    struct ggml_tensor *node =
        ggml_map_custom1(ctx, any(), write_other, 1, NULL);

    node->extra = any();
    keep(node);
    ggml_build_forward_expand(graph, node);
}

static void
make_graph(void)
{
    ggml_reset(ctx);
    graph = ggml_new_graph_custom(ctx, 256, false);
    n_tensors = 0;
    for (int i = 0; i < 3; i++)
        keep(new_leaf(1 + below(MAX_ROWS)));
    for (int i = 0; i < MAX_NODES; i++) {
        struct ggml_tensor *last = tensors[n_tensors - 1];
        struct ggml_tensor *node = below(4) == 0 ? any() : last;
        const enum ggml_op op = next_op(last);

        if (below(10) == 0)
            add_step();
        if (below(30) == 0)
            add_function();
        /* Products often have the same right side. */
        if (op == GGML_OP_MUL_MAT && last->op == op && below(3) > 0)
            node = last->src[1];
        /* And what is rotated or copied has nothing to do with what was. */
        if (last->op == GGML_OP_CPY && op == GGML_OP_ROPE)
            node = tensors[below(3)];
        node = new_node(op, node);
        if (below(12) == 0)
            ggml_set_output(node);
        keep(node);
        if (node->view_src == NULL || is_place_good(node))
            ggml_build_forward_expand(graph, node);
    }
}

/* ---- on symbols ---- */

static uint64_t
mix(uint64_t a, uint64_t b)
{
    a = (a ^ b) * 0x9e3779b97f4a7c15u;
    return a ^ a >> 29;
}

static uint64_t *
cell(const struct ggml_tensor *t, int row, int column)
{
    const int64_t first = (const float *)t->data - arena;

    return &memory[first + row % t->ne[1] * WIDTH + column];
}

/* What a part of a group has in hand: the rows of its inner results; the last
 * one has no tensor. */
struct inner {
    const struct ggml_tensor *tensor;
    uint64_t row[WIDTH];
};

static bool
is_view(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_VIEW || node->op == GGML_OP_NONE;
}

static uint64_t
value(const struct inner *inner, const struct ggml_tensor *t, int row,
      int column)
{
    for (; inner != NULL && inner->tensor != NULL; inner++) {
        if (inner->tensor == t || (is_view(t) && inner->tensor == t->view_src))
            return inner->row[column];
    }
    return *cell(t, row, column);
}

static uint64_t
whole_row(const struct inner *inner, const struct ggml_tensor *t, int row)
{
    uint64_t sum = 1;

    for (int i = 0; i < WIDTH; i++)
        sum = mix(sum, value(inner, t, row, i));
    return sum;
}

/* Element (COLUMN, ROW) of NODE. */
static uint64_t
element(const struct ggml_tensor *node, const struct inner *inner, int row,
        int column)
{
    const struct ggml_tensor *a = node->src[0], *b = node->src[1];
    const uint64_t own = mix((uint64_t)node->op, 0);

    switch ((int)node->op) {
    case GGML_OP_ADD:
    case GGML_OP_MUL:
        return mix(own, value(inner, a, row, column) +
                            value(inner, b, row, column));
    case GGML_OP_MUL_MAT:
        return mix(own, whole_row(NULL, a, column) + whole_row(NULL, b, row));
    case GGML_OP_CPY:
        return value(inner, a, row, column);
    case GGML_OP_ROPE:
        return mix(own, mix(value(inner, a, row, column),
                            value(inner, a, row, column ^ 1)) +
                            *cell(b, 0, 0));
    case GGML_OP_UNARY:
    case GGML_OP_SCALE:
    case GGML_OP_DIAG_MASK_INF:
        return mix(own, value(inner, a, row, column));
    case GGML_OP_GET_ROWS:
    case GGML_OP_DIV:
        if (is_pick(node))
            return *cell(a, (int)(*cell(b, row, 0) % MAX_ROWS), column);
        return mix(own, mix(whole_row(inner, a, row),
                            value(inner, b, row, column)));
    default:
        return mix(own, mix(value(inner, a, row, column),
                            whole_row(inner, a, row)));
    }
}

static void
run_step(const struct ggml_tensor *node)
{
    for (int i = 0; i < node->ne[1] * WIDTH; i++) {
        const int row = i / WIDTH, column = i % WIDTH;
        uint64_t *p = cell(node, row, column);
        uint64_t *m = cell(node->src[2], row, column);
        uint64_t *v = cell(node->src[3], row, column);
        const uint64_t g = *cell(node->src[1], row, column);

        *m = mix(*m, g);
        *v = mix(*v, g + 1);
        *p = mix(*p, *m + *v);
    }
}

/* It writes another tensor, and then its result. */
static void
run_function(const struct ggml_tensor *node)
{
    const struct ggml_tensor *other = node->extra;

    for (int i = 0; i < other->ne[1] * WIDTH; i++) {
        uint64_t *x = cell(other, i / WIDTH, i % WIDTH);

        *x = mix(*x, 2);
    }
    for (int i = 0; i < node->ne[1] * WIDTH; i++)
        *cell(node, i / WIDTH, i % WIDTH) =
            mix(3, *cell(node->src[0], i / WIDTH, i % WIDTH));
}

static void
run_node(const struct ggml_tensor *node)
{
    uint64_t results[MAX_ROWS][WIDTH];

    if (node->op == GGML_OP_OPT_STEP_ADAMW) {
        run_step(node);
        return;
    }
    if (node->op == GGML_OP_MAP_CUSTOM1) {
        run_function(node);
        return;
    }

    for (int row = 0; row < node->ne[1]; row++) {
        for (int i = 0; i < WIDTH; i++)
            results[row][i] = element(node, NULL, row, i);
    }
    for (int row = 0; row < node->ne[1]; row++)
        memcpy(cell(node, row, 0), results[row], sizeof(results[row]));
}

/* Elements FIRST to FIRST + N - 1 of a row of the results of PART. */
static void
run_piece(const struct gb_fuse_group *group, int part, int row, int first,
          int n)
{
    struct inner results[GB_FUSE_MAX_NODES + 1] = { { .tensor = NULL } };
    int members[GB_FUSE_MAX_NODES], n_members = 0, from;

    for (int m = 0; m < group->n_nodes; m++) {
        struct inner *result = &results[n_members];

        if (group->part[m] != part)
            continue;
        for (int i = first; i < first + n; i++)
            result->row[i] = element(group->nodes[m], results, row, i);
        result->tensor = group->nodes[m];
        members[n_members++] = m;
    }
    from = below(n_members);
    for (int k = 0; k < n_members; k++) {
        const struct inner *result = &results[(from + k) % n_members];

        if (gb_fuse_is_written(group, members[(from + k) % n_members]))
            memcpy(cell(result->tensor, row, first), &result->row[first],
                   (size_t)n * sizeof(memory[0]));
    }
}

/* What member M, a sum, adds as T. */
static uint64_t
addend(const struct gb_fuse_group *group, int m, const struct ggml_tensor *t,
       const uint64_t *products, const uint64_t *sums)
{
    const float *first = group->nodes[0]->data, *slice = t->data;

    return m > 1 && t == group->nodes[m - 1] ? sums[m - 1]
                                              : products[(slice - first) / WIDTH];
}

/* A column of a product and of sums of its rows. */
static void
run_column(const struct gb_fuse_group *group, int column)
{
    uint64_t products[MAX_ROWS], sums[GB_FUSE_MAX_NODES];
    const struct ggml_tensor *product = group->nodes[0];
    const int from = below(group->n_nodes);

    for (int row = 0; row < product->ne[1]; row++)
        products[row] = element(product, NULL, row, column);
    for (int m = 1; m < group->n_nodes; m++)
        sums[m] = mix(mix(GGML_OP_ADD, 0),
                      addend(group, m, group->nodes[m]->src[0], products,
                             sums) +
                          addend(group, m, group->nodes[m]->src[1], products,
                                 sums));
    for (int k = 0; k < group->n_nodes; k++) {
        const int m = (from + k) % group->n_nodes;

        for (int row = 0; gb_fuse_is_written(group, m) &&
                          row < group->nodes[m]->ne[1]; row++)
            *cell(group->nodes[m], row, column) =
                m == 0 ? products[row] : sums[m];
    }
}

/* Of the nodes of PART, all of which have as many. */
static int
rows_of(const struct gb_fuse_group *group, int part)
{
    int m = 0;

    while (group->part[m] != part)
        m++;
    return (int)group->nodes[m]->ne[1];
}

static void
run_group(const struct gb_fuse_group *group)
{
    const bool is_product = group->pattern == GB_FUSE_PRODUCT ||
                            group->pattern == GB_FUSE_PRODUCTS;
    const int n = is_product ? 1 : WIDTH;
    const int pieces = MAX_ROWS * (WIDTH / n);
    const int all = group->n_parts * pieces;
    const int from = below(all), step = below(2) == 0 ? 1 : all - 1;

    if (group->pattern == GB_FUSE_SLICES) {
        for (int k = 0; k < WIDTH; k++)
            run_column(group, (from + k) % WIDTH);
        return;
    }
    for (int k = 0; k < all; k++) {
        const int piece = (from + k * step) % all;
        const int row = piece % pieces / (WIDTH / n);

        if (row < rows_of(group, piece / pieces))
            run_piece(group, piece / pieces, row, piece % (WIDTH / n) * n, n);
    }
}

/* ---- the test ---- */

static int n_found[GB_FUSE_PATTERN_COUNT], n_written, n_unwritten;

/* A backend that cannot do everything. */
static bool
accepts(void *data, const struct gb_fuse_group *group)
{
    (void)data;
    for (int i = 1; i < group->n_nodes; i++) {
        const struct ggml_tensor *node = group->nodes[i];

        /* A choice of experts picks of its own row. */
        if (is_pick(node))
            return false;
        if (group->n_parts == 1 && group->pattern != GB_FUSE_SLICES &&
            node->op != GGML_OP_CPY &&
            !ggml_are_same_shape(node, group->nodes[0]))
            return false;
        if (node->op == GGML_OP_CPY || node->op == GGML_OP_MUL_MAT ||
            node->op == GGML_OP_ROPE)
            continue;
        for (int j = 0; j < 2; j++) {
            if (node->src[j] != NULL &&
                !ggml_can_repeat(node->src[j], node))
                return false;
        }
    }
    return below(8) > 0;
}

static void
count(const struct gb_fuse_group *group)
{
    n_found[group->pattern]++;
    for (int i = 0; i < group->n_nodes - 1; i++) {
        if (gb_fuse_is_written(group, i))
            n_written++;
        else
            n_unwritten++;
    }
}

static void
compare(struct gb_fuse *fuse)
{
    uint64_t start[CELLS], expected[CELLS];

    for (int i = 0; i < CELLS; i++)
        start[i] = gb_random_u64(&random_numbers);
    memcpy(memory, start, sizeof(memory));
    for (int i = 0; i < graph->n_nodes; i++) {
        if (!is_view(graph->nodes[i]))
            run_node(graph->nodes[i]);
    }
    memcpy(expected, memory, sizeof(memory));
    memcpy(memory, start, sizeof(memory));
    for (int i = 0; i < graph->n_nodes; i++) {
        const struct gb_fuse_group *group = gb_fuse_group_of(fuse, i);

        if (group == NULL && !is_view(graph->nodes[i]))
            run_node(graph->nodes[i]);
        else if (group != NULL && gb_fuse_is_place(group, i))
            run_group(group);
    }
    assert_memory_equal(memory, expected, sizeof(memory));
}

static void
nobody_can_tell(void **state)
{
    struct gb_fuse fuse = { .n_groups = 0 };

    (void)state;
    gb_random_init(&random_numbers, gb_test_seed(20261123));
    ctx = ggml_init((struct ggml_init_params){ .mem_size = 1 << 20,
                                               .no_alloc = true });
    assert_non_null(ctx);
    for (int i = 0; i < GRAPHS; i++) {
        make_graph();
        assert_true(gb_fuse_find(&fuse, graph, accepts, NULL));
        for (int g = 0; g < fuse.n_groups; g++)
            count(&fuse.groups[g]);
        compare(&fuse);
    }
    for (int i = 0; i < GB_FUSE_PATTERN_COUNT; i++) {
        print_message("# pattern %d: %d groups\n", i, n_found[i]);
        assert_true(n_found[i] > GRAPHS / 20);
    }
    print_message("# %d inner results written, %d not\n", n_written,
                  n_unwritten);
    assert_true(n_written > GRAPHS / 10 && n_unwritten > GRAPHS / 100);
    gb_fuse_clear(&fuse);
    ggml_free(ctx);
}

int
main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nobody_can_tell) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
