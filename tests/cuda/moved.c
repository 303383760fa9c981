/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/moved.c - a graph that comes again, of which views moved: whatever
 * reads them finds what lies there now.
 *
 * Each way has readers of one kind, as what one needs may hide what another one
 * lacks.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { N = 64, ROWS = 6, MAX_MOVING = 8, MAX_RESULTS = 2 };

static const float eps = 0.125f;

struct scene {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *x, *y, *position; /* x and y: ROWS rows of N */
    struct ggml_tensor *caches[MAX_RESULTS]; /* as large, of F32 */
    struct ggml_tensor *moving[MAX_MOVING]; /* to row after row */
    int n_moving;
    struct ggml_tensor *results[MAX_RESULTS];
    int n_results;
    ggml_backend_buffer_t buffer;
};

static float
x_at(int row, int i)
{
    return (float)((7 * i + 5 * row) % 17) / 8.0f - 1.0f;
}

static float
y_at(int row, int i)
{
    return (float)((3 * i + 11 * row) % 13) / 4.0f - 1.5f;
}

/* ---- what reads ---- */

static struct ggml_tensor *
row_of(struct scene *s, struct ggml_tensor *t)
{
    t = ggml_view_1d(s->ctx, t, N, 0);
    s->moving[s->n_moving++] = t;
    return t;
}

static void
add_result(struct scene *s, struct ggml_tensor *t)
{
    ggml_build_forward_expand(s->graph, t);
    s->results[s->n_results++] = t;
}

static void
store(struct scene *s, struct ggml_tensor *from, int cache)
{
    struct ggml_tensor *to =
        ggml_cpy(s->ctx, from, row_of(s, s->caches[cache]));

    s->moving[s->n_moving++] = to;
    ggml_build_forward_expand(s->graph, to);
}

static void
add_two_readers(struct scene *s)
{
    struct ggml_tensor *row = row_of(s, s->x);

    add_result(s, ggml_scale(s->ctx, row, 2.0f));
    add_result(s, ggml_sqr(s->ctx, row));
}

static double
two_readers_at(int result, int row, int i)
{
    return result == 0 ? 2.0 * x_at(row, i)
                       : (double)x_at(row, i) * x_at(row, i);
}

/* What is normed moves; the weights do. */
static void
add_norms(struct scene *s)
{
    struct ggml_tensor *still = ggml_view_1d(s->ctx, s->x, N, 0);
    struct ggml_tensor *weights = ggml_view_1d(s->ctx, s->y, N, 0);

    add_result(s, ggml_mul(s->ctx,
                           ggml_rms_norm(s->ctx, row_of(s, s->x), eps),
                           weights));
    add_result(s, ggml_mul(s->ctx, ggml_rms_norm(s->ctx, still, eps),
                           row_of(s, s->y)));
}

static double
norms_at(int result, int row, int i)
{
    const int of = result == 0 ? row : 0, by = result == 0 ? 0 : row;
    double sum = 0.0;

    for (int k = 0; k < N; k++)
        sum += (double)x_at(of, k) * x_at(of, k);
    return x_at(of, i) / sqrt(sum / N + eps) * y_at(by, i);
}

static void
add_product(struct scene *s)
{
    add_result(s, ggml_mul_mat(s->ctx, s->y, row_of(s, s->x)));
}

static double
product_at(int result, int row, int i)
{
    double sum = 0.0;

    (void)result;
    for (int k = 0; k < N; k++)
        sum += (double)y_at(i, k) * x_at(row, k);
    return sum;
}

/* Sources and destinations move, which one launch copies. */
static void
add_stores(struct scene *s)
{
    store(s, row_of(s, s->x), 0);
    store(s, row_of(s, s->y), 1);
}

/* The same of what is rotated first, by nothing: it is at position 0. */
static void
add_rotations(struct scene *s)
{
    struct ggml_tensor *rows[] = { s->x, s->y };

    for (int i = 0; i < 2; i++) {
        struct ggml_tensor *a =
            ggml_view_3d(s->ctx, rows[i], N / 2, 2, 1, N / 2 * sizeof(float),
                         N * sizeof(float), 0);

        s->moving[s->n_moving++] = a;
        store(s, ggml_rope(s->ctx, a, s->position, N / 2, 0), i);
    }
}

static double
store_at(int cache, int row, int i)
{
    return cache == 0 ? x_at(row, i) : y_at(row, i);
}

static const struct way {
    void (*add)(struct scene *s);
    double (*at)(int result, int row, int i);
    int n_kernels; /* where groups are found */
    bool has_caches;
} ways[] = {
    { add_two_readers, two_readers_at, 2, false },
    { add_norms, norms_at, 2, false },
    { add_product, product_at, 1, false },
    { add_stores, store_at, 1, true },
    { add_rotations, store_at, 1, true },
};

/* ---- the graph ---- */

static struct ggml_tensor *
rows(struct scene *s)
{
    return ggml_new_tensor_2d(s->ctx, GGML_TYPE_F32, N, ROWS);
}

static void
fill(struct scene *s)
{
    static float x[ROWS][N], y[ROWS][N];

    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < N; i++) {
            x[row][i] = x_at(row, i);
            y[row][i] = y_at(row, i);
        }
    }
    ggml_backend_buffer_clear(s->buffer, 0);
    ggml_backend_tensor_set(s->x, x, 0, sizeof(x));
    ggml_backend_tensor_set(s->y, y, 0, sizeof(y));
}

static void
make(struct scene *s, ggml_backend_t backend, const struct way *way)
{
    *s = (struct scene){ .ctx = ggml_init((struct ggml_init_params){
                             .mem_size = 32 * ggml_tensor_overhead() +
                                         ggml_graph_overhead(),
                             .no_alloc = true }) };
    CHECK(s->ctx != NULL);
    s->graph = ggml_new_graph(s->ctx);
    s->x = rows(s);
    s->y = rows(s);
    for (int i = 0; i < MAX_RESULTS; i++)
        s->caches[i] = rows(s);
    s->position = ggml_new_tensor_1d(s->ctx, GGML_TYPE_I32, 1);
    way->add(s);
    s->buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        s->ctx, ggml_backend_get_default_buffer_type(backend));
    CHECK(s->buffer != NULL);
    fill(s);
}

static void
go_to(struct scene *s, int row)
{
    for (int i = 0; i < s->n_moving; i++) {
        struct ggml_tensor *t = s->moving[i];

        t->view_offs = (size_t)row * N * sizeof(float);
        if (t->op == GGML_OP_VIEW)
            memcpy(t->op_params, &t->view_offs, sizeof(t->view_offs));
        t->data = (char *)t->view_src->data + t->view_offs;
    }
}

static bool
is_near(double value, double expected)
{
    return fabs(value - expected) <= 1e-5 * (1.0 + fabs(expected));
}

static bool
are_results_right(struct scene *s, const struct way *way, int row)
{
    float values[N];

    for (int result = 0; result < s->n_results; result++) {
        const struct ggml_tensor *t = s->results[result];

        ggml_backend_tensor_get(t, values, 0, ggml_nbytes(t));
        for (int i = 0; i < (int)t->ne[0]; i++)
            if (!is_near(values[i], way->at(result, row, i)))
                return false;
    }
    return true;
}

/* Rows that WAS_THERE are stored, and no other ones. */
static bool
are_caches_right(struct scene *s, const struct way *way, const bool *was_there)
{
    static float values[ROWS][N];

    for (int cache = 0; cache < MAX_RESULTS; cache++) {
        ggml_backend_tensor_get(s->caches[cache], values, 0, sizeof(values));
        for (int i = 0; i < ROWS * N; i++) {
            const int row = i / N, column = i % N;

            if (values[row][column] !=
                (was_there[row] ? way->at(cache, row, column) : 0.0))
                return false;
        }
    }
    return true;
}

/* ---- cases ---- */

static bool has_groups;

static void
compute(struct scene *s, ggml_backend_t backend, const struct way *way)
{
    const uint64_t n_kernels = emulator.count(EMU_KERNELS);

    CHECK(ggml_backend_graph_compute(backend, s->graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(!has_groups ||
          emulator.count(EMU_KERNELS) - n_kernels == (uint64_t)way->n_kernels);
}

static void
go_all_ways(void)
{
    static const int turns[] = { 0, 1, 2, 2, 5, 3 };
    ggml_backend_t backend;
    struct scene s;

    CHECK(cuda_load() != NULL);
    for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++) {
        bool was_there[ROWS] = { false };

        backend = cuda_backend("CUDA0");
        make(&s, backend, &ways[w]);
        for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
            go_to(&s, turns[i]);
            was_there[turns[i]] = true;
            compute(&s, backend, &ways[w]);
            CHECK(are_results_right(&s, &ways[w], turns[i]));
            CHECK(!ways[w].has_caches ||
                  are_caches_right(&s, &ways[w], was_there));
        }
        ggml_backend_buffer_free(s.buffer);
        ggml_free(s.ctx);
        ggml_backend_free(backend);
    }
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
readers_follow_views(void **state)
{
    (void)state;
    has_groups = true;
    cuda_case(go_all_ways, "", NULL);
    cuda_case(go_all_ways, "GGML_CUDA_DISABLE_GRAPHS=1 EMU_ORDER=1", NULL);
    has_groups = false;
    cuda_case(go_all_ways, "GGMLBACKEND_GPU_FUSE=off", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_follow_views),
    };

    return cmocka_run_group_tests_name("moved views", tests, NULL, NULL);
}
