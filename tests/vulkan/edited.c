/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/edited.c - nodes and graphs that a client changed after they were
 * built, on a device of Vulkan: each is refused or computed, nothing crashes, and
 * put back it computes what it did before.
 *
 * edited.sh runs it on lavapipe.
 */
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 64, ROWS = 4 };

static ggml_backend_dev_t device;
static ggml_backend_t backend;

static void
keep_quiet(enum ggml_log_level level, const char *text, void *data)
{
    (void)level;
    (void)text;
    (void)data;
}

static struct ggml_context *
new_context(void)
{
    const struct ggml_init_params params = {
        .mem_size = 64 * ggml_tensor_overhead() + 4 * ggml_graph_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);

    assert_non_null(ctx);
    return ctx;
}

/* ---- nodes of each kind ---- */

static struct ggml_tensor *
rows_of(struct ggml_context *ctx, enum ggml_type type)
{
    return ggml_new_tensor_2d(ctx, type, type == GGML_TYPE_F32 ? N : 4 * N,
                              ROWS);
}

/* Longer than what is shown of it, so that strides may grow. */
static struct ggml_tensor *
view_of(struct ggml_context *ctx, enum ggml_type type)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, type, 2 * N, 2 * ROWS);

    return ggml_view_2d(ctx, t, N, ROWS, t->nb[1], 0);
}

static struct ggml_tensor *
make_add(struct ggml_context *ctx)
{
    return ggml_add(ctx, view_of(ctx, GGML_TYPE_F32),
                    ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N));
}

static struct ggml_tensor *
make_mul_f16(struct ggml_context *ctx)
{
    return ggml_mul(ctx, view_of(ctx, GGML_TYPE_F16),
                    view_of(ctx, GGML_TYPE_F16));
}

static struct ggml_tensor *
make_silu(struct ggml_context *ctx)
{
    return ggml_silu(ctx, rows_of(ctx, GGML_TYPE_F32));
}

static struct ggml_tensor *
make_cont(struct ggml_context *ctx)
{
    return ggml_cont(ctx, view_of(ctx, GGML_TYPE_F32));
}

static struct ggml_tensor *
make_cont_i16(struct ggml_context *ctx)
{
    return ggml_cont(ctx, view_of(ctx, GGML_TYPE_I16));
}

static struct ggml_tensor *
make_sum_rows(struct ggml_context *ctx)
{
    return ggml_sum_rows(ctx, view_of(ctx, GGML_TYPE_F32));
}

static struct ggml_tensor *
make_rms_norm(struct ggml_context *ctx)
{
    return ggml_rms_norm(ctx, view_of(ctx, GGML_TYPE_F32), 1e-5f);
}

static struct ggml_tensor *
make_soft_max(struct ggml_context *ctx)
{
    return ggml_soft_max_ext(ctx, rows_of(ctx, GGML_TYPE_F32),
                             ggml_new_tensor_2d(ctx, GGML_TYPE_F16, N, ROWS),
                             1.0f, 0.0f);
}

static struct ggml_tensor *
make_product(struct ggml_context *ctx)
{
    return ggml_mul_mat(ctx, view_of(ctx, GGML_TYPE_F32),
                        view_of(ctx, GGML_TYPE_F32));
}

static struct ggml_tensor *
make_product_f16(struct ggml_context *ctx)
{
    return ggml_mul_mat(ctx, view_of(ctx, GGML_TYPE_F16),
                        view_of(ctx, GGML_TYPE_F32));
}

static struct ggml_tensor *
make_product_q4_k(struct ggml_context *ctx)
{
    return ggml_mul_mat(ctx, rows_of(ctx, GGML_TYPE_Q4_K),
                        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4 * N, 3));
}

static struct ggml_tensor *
make_experts(struct ggml_context *ctx)
{
    return ggml_mul_mat_id(ctx,
                           ggml_new_tensor_3d(ctx, GGML_TYPE_Q8_0, N, 8, 4),
                           ggml_new_tensor_3d(ctx, GGML_TYPE_F32, N, 1, 3),
                           ggml_new_tensor_2d(ctx, GGML_TYPE_I32, 2, 3));
}

static struct ggml_tensor *
make_get_rows(struct ggml_context *ctx)
{
    return ggml_get_rows(ctx, rows_of(ctx, GGML_TYPE_Q4_K),
                         ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 3));
}

static struct ggml_tensor *
make_cpy(struct ggml_context *ctx)
{
    return ggml_cpy(ctx, rows_of(ctx, GGML_TYPE_F32), view_of(ctx, GGML_TYPE_F16));
}

static struct ggml_tensor *
make_rope(struct ggml_context *ctx)
{
    return ggml_rope(ctx, ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 32, 2, 3),
                     ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 3), 32, 0);
}

static struct ggml_tensor *
make_attention(struct ggml_context *ctx)
{
    return ggml_flash_attn_ext(
        ctx, ggml_new_tensor_4d(ctx, GGML_TYPE_F32, N, 3, 2, 1),
        ggml_new_tensor_4d(ctx, GGML_TYPE_F16, N, 32, 2, 1),
        ggml_new_tensor_4d(ctx, GGML_TYPE_F16, N, 32, 2, 1),
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 32, 64), 0.125f, 0.0f, 0.0f);
}

static struct ggml_tensor *
make_concat(struct ggml_context *ctx)
{
    return ggml_concat(ctx, view_of(ctx, GGML_TYPE_F32),
                       view_of(ctx, GGML_TYPE_F32), 1);
}

static struct ggml_tensor *
make_pool(struct ggml_context *ctx)
{
    return ggml_pool_2d(ctx, rows_of(ctx, GGML_TYPE_F32), GGML_OP_POOL_MAX, 2, 2,
                        2, 2, 0, 0);
}

static struct ggml_tensor *
make_argsort(struct ggml_context *ctx)
{
    return ggml_argsort(ctx, rows_of(ctx, GGML_TYPE_F32), GGML_SORT_ORDER_ASC);
}

static const struct {
    const char *name;
    struct ggml_tensor *(*make)(struct ggml_context *ctx);
} kinds[] = {
    { "add", make_add },
    { "mul, F16", make_mul_f16 },
    { "silu", make_silu },
    { "cont", make_cont },
    { "cont, I16", make_cont_i16 },
    { "sum_rows", make_sum_rows },
    { "rms_norm", make_rms_norm },
    { "soft_max", make_soft_max },
    { "mul_mat", make_product },
    { "mul_mat, F16", make_product_f16 },
    { "mul_mat, Q4_K", make_product_q4_k },
    { "mul_mat_id", make_experts },
    { "get_rows, Q4_K", make_get_rows },
    { "cpy", make_cpy },
    { "rope", make_rope },
    { "flash_attn_ext", make_attention },
    { "concat", make_concat },
    { "pool_2d", make_pool },
    { "argsort", make_argsort },
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* A node on the device, all bytes of which are 0, and what it and its sources
 * were. */
struct scene {
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
    struct ggml_cgraph *graph;
    struct ggml_tensor *tensors[1 + GGML_MAX_SRC];
    struct ggml_tensor before[1 + GGML_MAX_SRC];
    int n;
};

static void
open_scene(struct scene *scene, struct ggml_tensor *(*make)(struct ggml_context *))
{
    struct ggml_tensor *node;

    scene->ctx = new_context();
    node = make(scene->ctx);
    scene->graph = ggml_new_graph(scene->ctx);
    ggml_build_forward_expand(scene->graph, node);
    scene->buffer = ggml_backend_alloc_ctx_tensors(scene->ctx, backend);
    assert_non_null(scene->buffer);
    ggml_backend_buffer_clear(scene->buffer, 0);
    scene->n = 0;
    scene->tensors[scene->n++] = node;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != NULL)
            scene->tensors[scene->n++] = node->src[i];
    for (int i = 0; i < scene->n; i++)
        scene->before[i] = *scene->tensors[i];
}

static void
put_back(struct scene *scene)
{
    for (int i = 0; i < scene->n; i++)
        *scene->tensors[i] = scene->before[i];
}

static void
close_scene(struct scene *scene)
{
    put_back(scene);
    ggml_backend_buffer_free(scene->buffer);
    ggml_free(scene->ctx);
}

/* Refused by both questions, for a reason? */
static bool
is_refused(const struct scene *scene)
{
    const bool is_supported =
        ggml_backend_supports_op(backend, scene->tensors[0]);

    ggmlbackend_clear_failure();
    return ggml_backend_graph_compute(backend, scene->graph) ==
               GGML_STATUS_FAILED &&
           !is_supported && ggmlbackend_last_failure()[0] != '\0';
}

static void
expect_refusal(struct scene *scene, const char *kind, int t, const char *what)
{
    if (!is_refused(scene))
        fail_msg("%s, tensor %d, %s: it is not refused", kind, t, what);
    put_back(scene);
}

/* ---- alignment ---- */

/* Bytes that elements, and words of blocks, begin at multiples of. */
static size_t
unit_of(enum ggml_type type)
{
    const size_t size = ggml_type_size(type);

    return ggml_blck_size(type) == 1 ? size : (size & -size) < 4 ? 2 : 4;
}

static void
strides_and_addresses_that_elements_have_not_are_refused(void **state)
{
    int n_refused = 0;

    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        struct scene scene;

        open_scene(&scene, kinds[k].make);
        for (int i = 0; i < scene.n; i++) {
            struct ggml_tensor *t = scene.tensors[i];
            const size_t unit = unit_of(t->type);

            for (int d = 0; d < GGML_MAX_DIMS; d++) {
                if (t->ne[d] < 2 || (d == 0 && ggml_blck_size(t->type) > 1))
                    continue;
                for (size_t by = 1; by < unit; by++) {
                    t->nb[d] += by;
                    expect_refusal(&scene, kinds[k].name, i, "stride");
                    n_refused++;
                }
            }
            for (size_t by = 1; by < unit; by++) {
                t->data = (char *)t->data + by;
                t->view_offs += t->view_src != NULL ? by : 0;
                expect_refusal(&scene, kinds[k].name, i, "address");
                n_refused++;
            }
        }
        assert_int_equal(ggml_backend_graph_compute(backend, scene.graph),
                         GGML_STATUS_SUCCESS);
        close_scene(&scene);
    }
    printf("# %d refused\n", n_refused);
    assert_true(n_refused > 300);
}

/* ---- memory ---- */

static void
what_ends_outside_its_buffer_is_not_computed(void **state)
{
    (void)state;
    for (int k = 0; k < N_KINDS; k++) {
        struct scene scene;

        open_scene(&scene, kinds[k].make);
        for (int i = 0; i < scene.n; i++) {
            const ptrdiff_t moves[] = { -(1 << 20), 1 << 20, (ptrdiff_t)1 << 40 };
            struct ggml_tensor *t = scene.tensors[i];

            /* A copy writes its result, which is a view of this one. */
            if (scene.tensors[0]->op == GGML_OP_CPY && i == 2)
                continue;
            for (size_t m = 0; m < sizeof(moves) / sizeof(moves[0]); m++) {
                t->data = (char *)((uintptr_t)t->data + (uintptr_t)moves[m]);
                if (ggml_backend_graph_compute(backend, scene.graph) !=
                    GGML_STATUS_FAILED)
                    fail_msg("%s, tensor %d moved by %td", kinds[k].name, i,
                             moves[m]);
                put_back(&scene);
            }
            if (t->ne[3] == 1 && t->ne[2] == 1)
                t->nb[1] = ggml_type_size(t->type) << 20;
            if (t->ne[1] > 1 && t->nb[1] == ggml_type_size(t->type) << 20 &&
                ggml_backend_graph_compute(backend, scene.graph) !=
                    GGML_STATUS_FAILED)
                fail_msg("%s, tensor %d with far rows", kinds[k].name, i);
            put_back(&scene);
        }
        assert_int_equal(ggml_backend_graph_compute(backend, scene.graph),
                         GGML_STATUS_SUCCESS);
        close_scene(&scene);
    }
}

/* ---- nodes of any contents ---- */

/* Fill in T, a node that has no source, by way number WAY; false: there is none.
 * S is a tensor of F32, I one of I32. */
static bool
edit(struct ggml_tensor *t, struct ggml_tensor *s, struct ggml_tensor *i, int way)
{
    static const int64_t counts[] = { -1, 0, 1, INT64_MAX, INT64_MIN,
                                      (int64_t)1 << 40 };
    static const size_t strides[] = { 0, 1, 3, SIZE_MAX, (size_t)1 << 62 };
    enum { ALIKE = 10, COUNTS = 6, STRIDES = 5 };
    int rest = way - ALIKE;

    if (way > 0)
        t->src[0] = s;
    if (way == 2 || way >= 5)
        t->src[1] = s;
    if (way == 3)
        t->src[1] = i;
    if (way == 4) {
        t->src[0] = NULL;
        t->src[1] = t->src[2] = s;
    }
    if (way >= 5)
        for (int k = 2; k < 6; k++)
            t->src[k] = s;
    if (way == 6 || way == 7)
        memset(t->op_params, way == 6 ? 0x7f : 0xff, sizeof(t->op_params));
    if (way == 8)
        s->type = (enum ggml_type)37;
    if (way == 9)
        t->type = (enum ggml_type)4711;
    if (rest < 0)
        return true;
    if (rest < COUNTS * GGML_MAX_DIMS) {
        s->ne[rest % GGML_MAX_DIMS] = counts[rest / GGML_MAX_DIMS];
        return true;
    }
    rest -= COUNTS * GGML_MAX_DIMS;
    if (rest < COUNTS * GGML_MAX_DIMS) {
        t->ne[rest % GGML_MAX_DIMS] = counts[rest / GGML_MAX_DIMS];
        return true;
    }
    rest -= COUNTS * GGML_MAX_DIMS;
    if (rest < STRIDES * GGML_MAX_DIMS) {
        s->nb[rest % GGML_MAX_DIMS] = strides[rest / GGML_MAX_DIMS];
        return true;
    }
    rest -= STRIDES * GGML_MAX_DIMS;
    if (rest < STRIDES * GGML_MAX_DIMS) {
        t->nb[rest % GGML_MAX_DIMS] = strides[rest / GGML_MAX_DIMS];
        return true;
    }
    return false;
}

/* A number of an operation beyond the last too. */
static void
any_node_is_answered(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *s = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, 96, 3, 9, 1);
    struct ggml_tensor *t = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, 96, 3, 9, 1);
    struct ggml_tensor *i = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 3);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    struct ggml_tensor saved_s, saved_t;
    int n = 0, n_refused = 0;

    (void)state;
    assert_non_null(buffer);
    ggml_backend_buffer_clear(buffer, 0);
    saved_s = *s;
    saved_t = *t;
    graph->nodes[0] = t;
    graph->n_nodes = 1;
    for (int op = 1; op < GGML_OP_COUNT + 2; op++) {
        for (int way = 0; edit(t, s, i, way); way++) {
            bool is_supported;
            enum ggml_status status;

            t->op = op <= GGML_OP_COUNT ? (enum ggml_op)op : (enum ggml_op)-7;
            is_supported = ggml_backend_supports_op(backend, t);
            status = ggml_backend_graph_compute(backend, graph);
            if (!is_supported && status == GGML_STATUS_SUCCESS &&
                !ggml_is_empty(t))
                fail_msg("operation %d, way %d: not supported and computed", op,
                         way);
            n++;
            n_refused += status != GGML_STATUS_SUCCESS;
            *s = saved_s;
            *t = saved_t;
        }
        *s = saved_s;
        *t = saved_t;
    }
    printf("# %d nodes, %d refused\n", n, n_refused);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

/* Elements of a few bytes, more than 32 bits count. */
static void
elements_beyond_what_shaders_count_are_refused(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *sum = ggml_sum(ctx, x);

    (void)state;
    assert_true(ggml_backend_supports_op(backend, sum));
    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        x->ne[d] = 1 << 10;
        x->nb[d] = 0;
    }
    assert_false(ggml_backend_supports_op(backend, sum));
    ggml_free(ctx);
}

/* ---- graphs ---- */

static void
a_graph_with_a_hole_is_a_failed_graph(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N), *y = x;
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer;
    float values[N];

    (void)state;
    for (int i = 0; i < 5; i++)
        y = ggml_scale(ctx, y, 2.0f);
    ggml_build_forward_expand(graph, y);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    assert_non_null(buffer);
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    ggml_backend_tensor_set(x, values, 0, sizeof(values));
    for (int round = 0; round < 2; round++) {
        for (int at = 0; at < 5; at++) {
            struct ggml_tensor *node = graph->nodes[at];

            graph->nodes[at] = NULL;
            ggmlbackend_clear_failure();
            assert_int_equal(ggml_backend_graph_compute(backend, graph),
                             GGML_STATUS_FAILED);
            assert_true(ggmlbackend_last_failure()[0] != '\0');
            graph->nodes[at] = node;
        }
        graph->n_nodes = -1;
        assert_int_equal(ggml_backend_graph_compute(backend, graph),
                         GGML_STATUS_FAILED);
        graph->n_nodes = 5;
        /* The second time it is a graph that comes again. */
        assert_int_equal(ggml_backend_graph_compute(backend, graph),
                         GGML_STATUS_SUCCESS);
        ggml_backend_tensor_get(y, values, 0, sizeof(values));
        for (int i = 0; i < N; i++)
            assert_true(values[i] == 32.0f * (float)i);
    }
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static int
begin(void **state)
{
    (void)state;
    ggml_log_set(keep_quiet, NULL);
    backend = ggml_backend_dev_init(device, NULL);
    return backend != NULL ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    ggml_backend_free(backend);
    return 0;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(strides_and_addresses_that_elements_have_not_are_refused),
        cmocka_unit_test(what_ends_outside_its_buffer_is_not_computed),
        cmocka_unit_test(any_node_is_answered),
        cmocka_unit_test(elements_beyond_what_shaders_count_are_refused),
        cmocka_unit_test(a_graph_with_a_hole_is_a_failed_graph),
    };

    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan; edited.sh brings one");
        return 0;
    }
    return cmocka_run_group_tests_name("edited nodes on Vulkan", tests, begin, end);
}
