/* SPDX-License-Identifier: MIT */
/*
 * tests/fuse/graphs.c - random graphs of nodes that backends may compute together.
 */
#include "config.h"

#include "tests/fuse/graphs.h"

#include "ggml-impl.h"

#include "tests/util/child.h"
#include "tests/util/random.h"

#include <string.h>

enum {
    MAX_ROWS = 3, GEMM_ROWS = 9, TILE_ROWS = 70, POSITIONS = 8, N_NODES = 22,
    LONG = 2048, /* a row that GEMV and GEMM cut in two */
    WIDE = 544,  /* more than a team of a GPU's has of a row */
    N_LEAFS = 3, N_PARAMS = 7, /* of a step of AdamW */
};

static struct gb_random numbers;

static int
below(int n)
{
    return (int)(gb_random_u64(&numbers) % (uint64_t)n);
}

/* ---- graphs ---- */

static void
put(struct ggml_tensor **list, int *n, struct ggml_tensor *t)
{
    CHECK(*n < GRAPH_MAX_TENSORS);
    list[(*n)++] = t;
}

static struct ggml_tensor *
leaf(struct graph *g, enum ggml_type type, int64_t n0, int64_t n1)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(g->ctx, type, n0, n1);

    ggml_set_input(t);
    /* Whoever reads it is behind what writes to it. */
    ggml_build_forward_expand(g->cgraph, t);
    put(g->leafs, &g->n_leafs, t);
    return t;
}

static struct ggml_tensor *
any(const struct graph *g)
{
    return g->made[g->n_made - 1 -
                   below(below(3) > 0 && g->n_made > 4 ? 4 : g->n_made)];
}

static struct ggml_tensor *
operand(struct graph *g, const struct ggml_tensor *a)
{
    struct ggml_tensor *b = any(g);

    if (below(2) == 0 && ggml_can_repeat(b, a))
        return b;
    return leaf(g, GGML_TYPE_F32, g->width, below(2) == 0 ? 1 : a->ne[1]);
}

/* Sometimes others with the same right side stand in front of it.  Wide ones
 * take as long as a hundred others, so there are few. */
static struct ggml_tensor *
product(struct graph *g, struct ggml_tensor *a)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q8_0, GGML_TYPE_Q4_0
    };
    enum ggml_type type = types[below(4)];
    struct ggml_tensor *result;

    if (g->width == WIDE && below(4) > 0)
        return ggml_add(g->ctx, a, operand(g, a));
    for (int n = below(4); n > 1; n--) {
        result = ggml_mul_mat(g->ctx, leaf(g, type, g->width, g->width), a);
        ggml_build_forward_expand(g->cgraph, result);
        put(g->made, &g->n_made, result);
        if (below(4) == 0)
            type = types[below(4)];
    }
    return ggml_mul_mat(g->ctx, leaf(g, type, g->width, g->width), a);
}

/* Of rows so long that they are cut, and their products' parts joined. */
static struct ggml_tensor *
long_product(struct graph *g, struct ggml_tensor *a)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q8_0
    };
    struct ggml_tensor *shape =
        ggml_new_tensor_2d(g->ctx, GGML_TYPE_F32, LONG, a->ne[1]);

    return ggml_mul_mat(g->ctx, leaf(g, types[below(3)], LONG, g->width),
                        ggml_repeat(g->ctx, a, shape));
}

/* Of two heads, half of the time with so many keys that they are cut in parts. */
static struct ggml_tensor *
attention(struct graph *g, struct ggml_tensor *a)
{
    const int64_t head = g->width / 2, rows = a->ne[1];
    const int64_t n_keys = below(2) == 0 ? 64 : 256;
    struct ggml_tensor *k =
        ggml_new_tensor_3d(g->ctx, GGML_TYPE_F16, head, n_keys, 2);
    struct ggml_tensor *v =
        ggml_new_tensor_3d(g->ctx, GGML_TYPE_F16, head, n_keys, 2);

    ggml_set_input(k);
    ggml_set_input(v);
    ggml_build_forward_expand(g->cgraph, k);
    ggml_build_forward_expand(g->cgraph, v);
    put(g->leafs, &g->n_leafs, k);
    put(g->leafs, &g->n_leafs, v);
    a = ggml_reshape_3d(g->ctx, a, head, 2, rows);
    a = ggml_flash_attn_ext(g->ctx, ggml_permute(g->ctx, a, 0, 2, 1, 3), k, v,
                            NULL, 0.3f, 0.0f, 0.0f);
    return product(g, ggml_reshape_2d(g->ctx, a, g->width, rows));
}

static struct ggml_tensor *
rotated(struct graph *g, struct ggml_tensor *a)
{
    struct ggml_tensor *positions =
        ggml_new_tensor_1d(g->ctx, GGML_TYPE_I32, a->ne[1]);

    ggml_set_input(positions);
    ggml_build_forward_expand(g->cgraph, positions);
    put(g->leafs, &g->n_leafs, positions);
    a = ggml_reshape_3d(g->ctx, a, g->width / 2, 2, a->ne[1]);
    return ggml_rope(g->ctx, a, positions, (int)g->width / 2,
                     below(2) == 0 ? 0 : GGML_ROPE_TYPE_NEOX);
}

static struct ggml_tensor *
cache(struct graph *g, enum ggml_type type, int64_t n0, int64_t n1)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(g->ctx, type, n0, n1);

    ggml_set_input(t);
    ggml_set_output(t);
    ggml_build_forward_expand(g->cgraph, t);
    put(g->outputs, &g->n_outputs, t);
    return t;
}

static void
copy(struct graph *g, struct ggml_tensor *from, struct ggml_tensor *to,
     size_t step)
{
    to = ggml_cpy(g->ctx, from, to);
    ggml_build_forward_expand(g->cgraph, to);
    put(g->stores, &g->n_stores, to);
    g->steps[g->n_stores - 1] = step;
}

/* A column of the cache is a token's. */
static void
store_transposed(struct graph *g, struct ggml_tensor *a)
{
    struct ggml_tensor *to =
        cache(g, GGML_TYPE_F16, POSITIONS + a->ne[1], g->width);

    copy(g, ggml_transpose(g->ctx, a),
         ggml_view_2d(g->ctx, to, a->ne[1], g->width, to->nb[1], 0),
         to->nb[0]);
}

static void
store(struct graph *g, struct ggml_tensor *a)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_F16, GGML_TYPE_Q8_0,
        GGML_TYPE_Q4_0, GGML_TYPE_Q5_1
    };
    struct ggml_tensor *to;

    if (below(4) == 0) {
        store_transposed(g, a);
        return;
    }
    to = cache(g, types[below(6)], g->width * a->ne[1], POSITIONS);
    if (below(2) == 0)
        a = rotated(g, a);
    copy(g, a, ggml_view_1d(g->ctx, to, ggml_nelements(a), 0), to->nb[1]);
}

/* Several of them, and rotations, one after the other. */
static void
stores(struct graph *g, struct ggml_tensor *a)
{
    for (int n = below(4); n > 0; n--) {
        struct ggml_tensor *b = below(2) == 0 ? any(g) : a;

        if (below(3) == 0) {
            b = ggml_reshape_2d(g->ctx, rotated(g, b), g->width, b->ne[1]);
            ggml_build_forward_expand(g->cgraph, b);
            put(g->made, &g->n_made, b);
        } else {
            store(g, b);
        }
    }
}

/* What two experts made, or three, by their weights. */
static struct ggml_tensor *
weighted(struct graph *g, struct ggml_tensor *a)
{
    const int n = 2 + below(2);
    struct ggml_tensor *sum = NULL;

    a = product(g, a);
    a = ggml_reshape_3d(g->ctx, a, g->width / 32, 32, a->ne[1]);
    a = ggml_mul(g->ctx, a, leaf(g, GGML_TYPE_F32, 1, 32));
    for (int i = 0; i < n; i++) {
        struct ggml_tensor *slice = ggml_view_2d(
            g->ctx, a, a->ne[0], a->ne[2], a->nb[2], (size_t)i * a->nb[1]);

        sum = i == 0 ? slice : ggml_add(g->ctx, sum, slice);
    }
    return ggml_repeat(
        g->ctx, sum,
        ggml_new_tensor_2d(g->ctx, GGML_TYPE_F32, g->width, a->ne[2]));
}

/* How much the experts of each row count; sometimes who they are is asked before
 * that is known. */
static struct ggml_tensor *
routed(struct graph *g, struct ggml_tensor *a)
{
    const int64_t rows = a->ne[1];
    const int n = 4 << below(2);
    struct ggml_tensor *values = ggml_soft_max(g->ctx, product(g, a));
    struct ggml_tensor *order = ggml_top_k(g->ctx, values, n);

    if (below(2) == 0) {
        struct ggml_tensor *which = ggml_cont(g->ctx, order);

        ggml_set_output(which);
        put(g->outputs, &g->n_outputs, which);
        ggml_build_forward_expand(g->cgraph, which);
    }
    a = ggml_get_rows(g->ctx,
                      ggml_reshape_3d(g->ctx, values, 1, g->width, rows),
                      order);
    a = ggml_reshape_2d(g->ctx, a, n, rows);
    if (below(3) > 0)
        a = ggml_div(g->ctx, a, ggml_sum_rows(g->ctx, a));
    return ggml_repeat(
        g->ctx, a, ggml_new_tensor_2d(g->ctx, GGML_TYPE_F32, g->width, rows));
}

/* Softmax of what is scaled and masked by other nodes, as older models have it. */
static struct ggml_tensor *
soft_max(struct graph *g, struct ggml_tensor *a)
{
    const bool is_in_place = below(2) == 0;

    a = product(g, a);
    if (below(3) > 0)
        a = is_in_place ? ggml_scale_inplace(g->ctx, a, 0.3f)
                        : ggml_scale(g->ctx, a, 0.3f);
    if (below(4) == 0 && !is_in_place) {
        ggml_set_output(a);
        put(g->outputs, &g->n_outputs, a);
    }
    switch (below(3)) {
    case 0:
        a = is_in_place ? ggml_diag_mask_inf_inplace(g->ctx, a, 7)
                        : ggml_diag_mask_inf(g->ctx, a, 7);
        break;
    case 1:
        a = ggml_add(g->ctx, a, operand(g, a));
        break;
    }
    return is_in_place ? ggml_soft_max_inplace(g->ctx, a)
                       : ggml_soft_max_ext(g->ctx, a, NULL, 0.7f, 0.0f);
}

static struct ggml_tensor *
unary(struct graph *g, struct ggml_tensor *a)
{
    switch (below(3)) {
    case 0:
        return ggml_gelu(g->ctx, a);
    case 1:
        return ggml_relu(g->ctx, a);
    default:
        return ggml_silu(g->ctx, a);
    }
}

static struct ggml_tensor *
norm(struct graph *g, struct ggml_tensor *a)
{
    a = below(2) == 0 ? ggml_norm(g->ctx, a, 1e-5f)
                      : ggml_rms_norm(g->ctx, a, 1e-5f);
    put(g->norms, &g->n_norms, a);
    return a;
}

/* Rows of A by numbers, some of which are no row's; normed, and weighted. */
static struct ggml_tensor *
picked(struct graph *g, struct ggml_tensor *a)
{
    struct ggml_tensor *ids =
        ggml_new_tensor_1d(g->ctx, GGML_TYPE_I32, 1 + below(MAX_ROWS));

    ggml_set_input(ids);
    ggml_build_forward_expand(g->cgraph, ids);
    put(g->leafs, &g->n_leafs, ids);
    a = ggml_get_rows(g->ctx, a, ids);
    if (below(3) == 0)
        put(g->made, &g->n_made, a);
    a = norm(g, a);
    return ggml_mul(g->ctx, a, operand(g, a));
}

static struct ggml_tensor *
next(struct graph *g, struct ggml_tensor *a, enum ggml_op last)
{
    const bool is_chain = below(3) > 0;
    struct ggml_tensor *b;

    if (is_chain && (last == GGML_OP_NORM || last == GGML_OP_RMS_NORM ||
                     last == GGML_OP_UNARY))
        return ggml_mul(g->ctx, a, operand(g, a));
    if (is_chain && last == GGML_OP_MUL_MAT) {
        b = operand(g, a);
        return ggml_are_same_shape(a, b) && below(2) == 0
                   ? ggml_add(g->ctx, b, a)
                   : ggml_add(g->ctx, a, b);
    }
    if (is_chain && last == GGML_OP_ADD && below(4) == 0)
        return norm(g, a);
    if (g->width == 64 && below(24) == 0)
        return attention(g, a);
    if (LONG % g->width == 0 && below(60) == 0)
        return long_product(g, a);
    if (below(16) == 0)
        return below(2) == 0 ? weighted(g, a) : routed(g, a);
    if (below(12) == 0)
        return soft_max(g, a);
    if (below(10) == 0)
        return picked(g, a);
    switch (below(6)) {
    case 0:
        return norm(g, a);
    case 1:
        return unary(g, a);
    case 2:
        return ggml_add(g->ctx, a, operand(g, a));
    case 3:
        return ggml_mul(g->ctx, a, operand(g, a));
    default:
        return product(g, a);
    }
}

static const struct ggml_tensor *
root_of(const struct ggml_tensor *t)
{
    return t->view_src != NULL ? t->view_src : t;
}

/* A step of AdamW, which writes A, one of its moments or parameters. */
static void
add_step(struct graph *g, struct ggml_tensor *a)
{
    static const int written[] = { 0, 2, 3 };
    struct ggml_tensor *of[] = { any(g), any(g), any(g), any(g) };

    of[written[below(3)]] = a;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) {
            if (root_of(of[i]) == root_of(of[j]) ||
                !ggml_are_same_shape(of[i], of[j]))
                return;
        }
    }
    ggml_set_param(g->ctx, of[0]);
    a = ggml_opt_step_adamw(g->ctx, of[0], of[1], of[2], of[3],
                            leaf(g, GGML_TYPE_F32, N_PARAMS, 1));
    ggml_build_forward_expand(g->cgraph, a);
    if (below(2) == 0)
        put(g->made, &g->n_made, a);
    g->n_steps++;
}

/* One that writes what A reads, which is wanted as it was: A has to be done. */
static void
add_step_behind(struct graph *g, const struct ggml_tensor *a)
{
    struct ggml_tensor *src = a->src[below(2)];

    for (int i = 0; i < g->n_made; i++) {
        if (g->made[i] == src) {
            add_step(g, src);
            return;
        }
    }
}

static void
add_node(struct graph *g)
{
    struct ggml_tensor *last = g->made[g->n_made - 1];
    struct ggml_tensor *a = below(4) == 0 ? any(g) : last;

    if (below(7) == 0)
        stores(g, a);
    if (below(8) == 0)
        add_step(g, a);
    a = next(g, a, a->op);
    if (below(6) == 0) {
        ggml_set_output(a);
        put(g->outputs, &g->n_outputs, a);
    }
    ggml_build_forward_expand(g->cgraph, a);
    put(g->made, &g->n_made, a);
    if (below(3) == 0)
        add_step_behind(g, a);
}

/* As many as a GEMV takes, or a GEMM, with one tile of them or two. */
static int64_t
rows_for(const struct graph *g)
{
    if (below(12) > 0)
        return 1 + below(MAX_ROWS);
    return g->width == WIDE || below(4) > 0 ? GEMM_ROWS : TILE_ROWS;
}

void
graph_make(struct graph *g, ggml_backend_buffer_type_t buft)
{
    static const int64_t widths[] = { 32, 32, 32, 32, 64, 64, 96, WIDE };

    memset(g, 0, sizeof(*g));
    g->ctx = ggml_init((struct ggml_init_params){ .mem_size = 1 << 20,
                                                  .no_alloc = true });
    CHECK(g->ctx != NULL);
    g->cgraph = ggml_new_graph_custom(g->ctx, 512, false);
    g->width = widths[below(below(4) == 0 ? 8 : 7)];
    for (int i = 0; i < N_LEAFS; i++)
        put(g->made, &g->n_made,
            leaf(g, GGML_TYPE_F32, g->width, rows_for(g)));
    for (int i = 0; i < N_NODES; i++)
        add_node(g);
    put(g->outputs, &g->n_outputs, g->made[g->n_made - 1]);
    ggml_set_output(g->made[g->n_made - 1]);
    g->alloc = ggml_gallocr_new(buft);
    CHECK(g->alloc != NULL && ggml_gallocr_alloc_graph(g->alloc, g->cgraph));
}

static void
fill(const struct ggml_tensor *t)
{
    const int64_t n = ggml_nelements(t);
    float *x = calloc((size_t)n, sizeof(*x));
    char *bytes = calloc(1, ggml_nbytes(t));

    CHECK(x != NULL && bytes != NULL);
    for (int64_t i = 0; i < n; i++)
        x[i] = gb_random_float(&numbers, -1.0f, 1.0f);
    if (t->ne[0] == N_PARAMS)
        /* Whatever the second moment is, it has a root. */
        memcpy(x, (float[]){ 0.25f, 0.5f, 0.5f, 1.0f, 0.25f, 0.75f, 0.0f },
               N_PARAMS * sizeof(*x));
    if (t->type == GGML_TYPE_I32) {
        for (int64_t i = 0; i < n; i++)
            ((int32_t *)bytes)[i] =
                below(2) == 0 ? below(100) : below(MAX_ROWS);
    } else {
        ggml_quantize_chunk(t->type, x, bytes, 0, ggml_nrows(t), t->ne[0],
                            NULL);
    }
    ggml_backend_tensor_set((struct ggml_tensor *)t, bytes, 0,
                            ggml_nbytes(t));
    free(bytes);
    free(x);
}

/* What changes from one time to the next. */
static void
go_on(struct graph *g, int turn)
{
    for (int i = 0; i < g->n_stores; i++) {
        struct ggml_tensor *views[] = { g->stores[i], g->stores[i]->src[1] };

        for (int j = 0; j < 2; j++) {
            views[j]->view_offs = (size_t)turn * g->steps[i];
            views[j]->data =
                (char *)views[j]->view_src->data + views[j]->view_offs;
        }
    }
    if (turn == 2 && g->n_norms > 0) {
        const float eps = 0.5f;

        memcpy(g->norms[below(g->n_norms)]->op_params, &eps, sizeof(eps));
    }
}

static uint64_t
hash(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

void
graph_seed(uint64_t seed)
{
    gb_random_init(&numbers, seed);
}

void
graph_free(struct graph *g)
{
    ggml_gallocr_free(g->alloc);
    ggml_free(g->ctx);
}

void
graph_begin(const struct graph *g)
{
    for (int i = 0; i < g->n_outputs; i++)
        if (g->outputs[i]->op == GGML_OP_NONE)
            ggml_backend_tensor_memset(g->outputs[i], 0, 0,
                                       ggml_nbytes(g->outputs[i]));
}

void
graph_fill(struct graph *g, int turn)
{
    for (int i = 0; i < g->n_leafs; i++)
        fill(g->leafs[i]);
    go_on(g, turn);
}

bool
graph_compute(const struct graph *g, ggml_backend_t backend, bool is_whole)
{
    const int n = ggml_graph_n_nodes(g->cgraph);
    bool is_done = true;

    if (is_whole)
        return ggml_backend_graph_compute(backend, g->cgraph) ==
               GGML_STATUS_SUCCESS;
    for (int i = 0; i < n && is_done; i++) {
        struct ggml_cgraph one = ggml_graph_view(g->cgraph, i, i + 1);

        is_done = ggml_backend_graph_compute(backend, &one) ==
                  GGML_STATUS_SUCCESS;
    }
    return is_done;
}

uint64_t
graph_hash(const struct graph *g, uint64_t sum)
{
    sum = sum == 0 ? 0xcbf29ce484222325u : sum;
    for (int i = 0; i < g->n_outputs; i++) {
        const size_t size = ggml_nbytes(g->outputs[i]);
        char *bytes = malloc(size);

        CHECK(bytes != NULL);
        ggml_backend_tensor_get(g->outputs[i], bytes, 0, size);
        sum = hash(sum, bytes, size);
        free(bytes);
    }
    return sum;
}
