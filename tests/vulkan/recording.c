/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/recording.c - command buffers that are submitted again, and
 * submissions, on a device of Vulkan.
 *
 * recording.sh runs it on lavapipe.  A small model computes token after token,
 * as a client has it: the graph is built each time in the same memory, and what
 * it writes to the KV cache moves on.  What it comes to has to be the same to
 * the bit however it is recorded and submitted.  How that was done is read from
 * the list that the backend makes for people.
 */
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggmlbackend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static ggml_backend_dev_t device;

/* ---- what the backend lists ---- */

static struct {
    int n_submissions, n_recorded, n_commands, n_dispatches, n_barriers;
    int n_explained; /* barriers of which it is said what they are for */
    double most_ms;
} listed;

static void
take_line(enum ggml_log_level level, const char *text, void *data)
{
    const char *line = strstr(text, "vulkan submission");
    int n_commands, n_recorded, n_dispatches, n_barriers;
    double ms;

    (void)level;
    (void)data;
    if (line != NULL &&
        sscanf(line, "vulkan submission %*u: %d command buffers, %d recorded "
               "for it, %d dispatches, %d barriers, %lf ms", &n_commands,
               &n_recorded, &n_dispatches, &n_barriers, &ms) == 5) {
        listed.n_submissions++;
        listed.n_commands += n_commands;
        listed.n_recorded += n_recorded;
        listed.n_dispatches += n_dispatches;
        listed.n_barriers += n_barriers;
        listed.most_ms = ms > listed.most_ms ? ms : listed.most_ms;
    } else if (strstr(text, "vulkan barrier:") != NULL) {
        listed.n_explained++;
    } else if (strstr(text, "vulkan dispatches:") == NULL) {
        fputs(text, stderr);
    }
}

/* Has the backend WORD? */
static bool
has(const char *word)
{
    return strstr(getenv("GGMLBACKEND_VULKAN_TEST"), word) != NULL;
}

static ggml_backend_t
new_backend(void)
{
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);

    assert_non_null(backend);
    return backend;
}

/* ---- a model ---- */

enum {
    WIDTH = 64,
    HEADS = 4,
    HEAD = WIDTH / HEADS,
    INNER = 160,
    CELLS = 32, /* tokens that the KV cache has room for */
    LAYERS = 5,
};

struct layer {
    struct ggml_tensor *norm, *q, *k, *v, *o, *gate, *up, *down, *keys, *values;
};

struct model {
    ggml_backend_t backend;
    struct ggml_context *weights, *ctx;
    ggml_backend_buffer_t buffer;
    ggml_gallocr_t memory;
    char *meta; /* where graphs are built */
    size_t meta_size;
    struct layer layers[LAYERS];
    struct ggml_tensor *in, *positions, *mask, *out;
    struct ggml_cgraph *graph;
    float scale;
};

static void
fill(struct ggml_tensor *t, float step)
{
    const int64_t n = ggml_nelements(t);
    float *values = malloc((size_t)n * sizeof(*values));

    assert_non_null(values);
    for (int64_t i = 0; i < n; i++)
        values[i] = 0.3f * sinf((float)(i % 8191) * step + step);
    ggml_backend_tensor_set(t, values, 0, ggml_nbytes(t));
    free(values);
}

static void
make_weights(struct model *model)
{
    struct ggml_context *ctx = model->weights;

    for (int l = 0; l < LAYERS; l++) {
        struct ggml_tensor **t = (struct ggml_tensor **)&model->layers[l];
        static const int ne[][2] = { { WIDTH, 1 },     { WIDTH, WIDTH },
                                     { WIDTH, WIDTH }, { WIDTH, WIDTH },
                                     { WIDTH, WIDTH }, { WIDTH, INNER },
                                     { WIDTH, INNER }, { INNER, WIDTH },
                                     { WIDTH, CELLS }, { CELLS, WIDTH } };

        for (int i = 0; i < 10; i++)
            t[i] = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, ne[i][0], ne[i][1]);
    }
    model->buffer = ggml_backend_alloc_ctx_tensors(ctx, model->backend);
    assert_non_null(model->buffer);
    ggml_backend_buffer_clear(model->buffer, 0);
    for (int l = 0; l < LAYERS; l++) {
        struct ggml_tensor **t = (struct ggml_tensor **)&model->layers[l];

        for (int i = 0; i < 8; i++)
            fill(t[i], 0.37f + 0.01f * (float)(10 * l + i));
    }
}

static void
open_model(struct model *model)
{
    memset(model, 0, sizeof(*model));
    model->backend = new_backend();
    model->weights = ggml_init((struct ggml_init_params){
        .mem_size = (10 * LAYERS + 1) * ggml_tensor_overhead(),
        .no_alloc = true });
    model->meta_size =
        1024 * ggml_tensor_overhead() + ggml_graph_overhead_custom(1024, false);
    model->meta = malloc(model->meta_size);
    model->memory = ggml_gallocr_new(
        ggml_backend_get_default_buffer_type(model->backend));
    assert_non_null(model->weights);
    assert_non_null(model->meta);
    assert_non_null(model->memory);
    model->scale = 1.0f / 4.0f;
    make_weights(model);
}

static void
close_model(struct model *model)
{
    ggml_free(model->ctx);
    free(model->meta);
    ggml_gallocr_free(model->memory);
    ggml_backend_buffer_free(model->buffer);
    ggml_backend_free(model->backend);
    ggml_free(model->weights);
}

/* The key and the value of token PLACE go to the cache; then all of it is looked
 * at through the mask. */
static struct ggml_tensor *
attend(struct model *model, const struct layer *w, struct ggml_tensor *x,
       int place)
{
    struct ggml_context *ctx = model->ctx;
    struct ggml_tensor *q = ggml_mul_mat(ctx, w->q, x);
    struct ggml_tensor *k = ggml_mul_mat(ctx, w->k, x);
    struct ggml_tensor *v = ggml_mul_mat(ctx, w->v, x);
    struct ggml_tensor *keys, *values, *to;

    q = ggml_rope(ctx, ggml_reshape_3d(ctx, q, HEAD, HEADS, 1),
                  model->positions, HEAD, 0);
    k = ggml_rope(ctx, ggml_reshape_3d(ctx, k, HEAD, HEADS, 1),
                  model->positions, HEAD, 0);
    ggml_build_forward_expand(model->graph, q);
    ggml_build_forward_expand(model->graph, k);
    ggml_build_forward_expand(model->graph, v);
    to = ggml_view_1d(ctx, w->keys, WIDTH, (size_t)place * WIDTH * 4);
    ggml_build_forward_expand(model->graph, ggml_cpy(ctx, k, to));
    to = ggml_view_2d(ctx, w->values, 1, WIDTH, CELLS * 4, (size_t)place * 4);
    ggml_build_forward_expand(
        model->graph, ggml_cpy(ctx, ggml_reshape_2d(ctx, v, 1, WIDTH), to));
    keys = ggml_view_3d(ctx, w->keys, HEAD, CELLS, HEADS, WIDTH * 4, HEAD * 4,
                        0);
    values = ggml_view_3d(ctx, w->values, CELLS, HEAD, HEADS, CELLS * 4,
                          CELLS * HEAD * 4, 0);
    q = ggml_mul_mat(ctx, keys, ggml_permute(ctx, q, 0, 2, 1, 3));
    q = ggml_soft_max_ext(ctx, q, model->mask, model->scale, 0.0f);
    q = ggml_mul_mat(ctx, values, q);
    q = ggml_cont_2d(ctx, ggml_permute(ctx, q, 0, 2, 1, 3), WIDTH, 1);
    return ggml_mul_mat(ctx, w->o, q);
}

static struct ggml_tensor *
normed(struct model *model, const struct layer *w, struct ggml_tensor *x)
{
    return ggml_mul(model->ctx, ggml_rms_norm(model->ctx, x, 1e-5f), w->norm);
}

static void
build(struct model *model, int place)
{
    struct ggml_context *ctx;
    struct ggml_tensor *x;

    ggml_free(model->ctx);
    model->ctx = ctx = ggml_init((struct ggml_init_params){
        .mem_size = model->meta_size,
        .mem_buffer = model->meta,
        .no_alloc = true });
    assert_non_null(ctx);
    model->graph = ggml_new_graph_custom(ctx, 1024, false);
    model->in = x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, WIDTH, 1);
    model->positions = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1);
    model->mask = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, CELLS, 32);
    ggml_set_input(model->in);
    ggml_set_input(model->positions);
    ggml_set_input(model->mask);
    for (int l = 0; l < LAYERS; l++) {
        const struct layer *w = &model->layers[l];
        struct ggml_tensor *y = attend(model, w, normed(model, w, x), place);
        struct ggml_tensor *gate;

        x = ggml_add(ctx, x, y);
        y = normed(model, w, x);
        gate = ggml_silu(ctx, ggml_mul_mat(ctx, w->gate, y));
        y = ggml_mul(ctx, gate, ggml_mul_mat(ctx, w->up, y));
        x = ggml_add(ctx, x, ggml_mul_mat(ctx, w->down, y));
    }
    model->out = x;
    ggml_set_output(x);
    ggml_build_forward_expand(model->graph, x);
    assert_true(ggml_gallocr_alloc_graph(model->memory, model->graph));
}

/* Token PLACE, with what is listed of it alone. */
static void
run_token(struct model *model, int place, float out[WIDTH])
{
    const int32_t position = place;
    float mask[CELLS];

    for (int i = 0; i < CELLS; i++)
        mask[i] = i <= place ? 0.0f : -INFINITY;
    fill(model->in, 0.11f + 0.07f * (float)place);
    ggml_backend_tensor_set(model->positions, &position, 0, sizeof(position));
    ggml_backend_tensor_set(model->mask, mask, 0, sizeof(mask));
    memset(&listed, 0, sizeof(listed));
    assert_int_equal(ggml_backend_graph_compute(model->backend, model->graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(model->out, out, 0, WIDTH * sizeof(float));
}

enum { TOKENS = 12 };

/* So many tokens, each after the other; with IS_FRESH by a backend of its own,
 * that has seen no graph before. */
static void
run_tokens(bool is_fresh, float out[TOKENS][WIDTH])
{
    struct model model;

    open_model(&model);
    for (int i = 0; i < TOKENS; i++) {
        if (is_fresh) {
            ggml_backend_free(model.backend);
            model.backend = new_backend();
        }
        build(&model, i);
        run_token(&model, i, out[i]);
        assert_true(!is_fresh || listed.n_recorded == listed.n_commands);
    }
    close_model(&model);
}

/* ---- claims ---- */

static void
a_graph_that_comes_again_is_not_recorded_again(void **state)
{
    struct model model;
    float first[WIDTH], again[WIDTH];

    (void)state;
    open_model(&model);
    build(&model, 0);
    run_token(&model, 0, first);
    assert_true(listed.n_recorded > 0);
    assert_int_equal(listed.n_recorded, listed.n_commands);
    for (int i = 0; i < 3; i++) {
        if (i == 2)
            build(&model, 0); /* anew, to the same memory */
        run_token(&model, 0, again);
        assert_memory_equal(first, again, sizeof(first));
        assert_true(listed.n_dispatches > 10 * LAYERS);
        assert_int_equal(listed.n_recorded, has("no-reuse") ? listed.n_commands
                                                            : 0);
        assert_true(has("no-reuse") || listed.n_explained == 0);
    }
    close_model(&model);
}

/* Each layer writes to its cache, a token further: those alone are. */
static void
what_moves_on_is_recorded_alone(void **state)
{
    struct model model;
    float out[WIDTH];

    (void)state;
    if (has("no-reuse"))
        skip();
    open_model(&model);
    for (int i = 0; i < 8; i++) {
        build(&model, i);
        run_token(&model, i, out);
        if (i < 2)
            continue;
        assert_in_range(listed.n_recorded, LAYERS,
                        has("many-submits") ? 6 * LAYERS : LAYERS);
        assert_true(has("many-submits") ||
                    listed.n_commands <= 2 * LAYERS + 2);
        assert_true(listed.n_explained <= LAYERS);
    }
    build(&model, 7);
    run_token(&model, 7, out);
    assert_int_equal(listed.n_recorded, 0);
    close_model(&model);
}

/* recording.sh compares them with those of other words. */
static void
keep_bits(const void *bits, size_t size)
{
    const char *name = getenv("GGMLBACKEND_TEST_BITS");
    FILE *file = name != NULL ? fopen(name, "wb") : NULL;

    if (file == NULL)
        return;
    assert_int_equal(fwrite(bits, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void
bits_do_not_depend_on_it(void **state)
{
    static float expected[TOKENS][WIDTH], got[TOKENS][WIDTH];

    (void)state;
    run_tokens(true, expected);
    for (int i = 0; i < TOKENS; i++)
        for (int k = 0; k < WIDTH; k++)
            assert_true(isfinite(expected[i][k]) && expected[i][k] != 0.0f);
    assert_memory_not_equal(expected[3], expected[4], sizeof(expected[3]));
    run_tokens(false, got);
    assert_memory_equal(got, expected, sizeof(got));
    keep_bits(got, sizeof(got));
    if (has("one-submit"))
        assert_int_equal(listed.n_submissions, 1);
    if (has("many-submits"))
        assert_true(listed.n_submissions > 40);
}

/* The same tensors with another number in a node, in the middle of it all. */
static void
parameters_are_part_of_it(void **state)
{
    struct model model;
    float first[WIDTH], second[WIDTH], expected[WIDTH];

    (void)state;
    open_model(&model);
    build(&model, 0);
    run_token(&model, 0, first);
    build(&model, 1);
    run_token(&model, 1, first);
    model.scale = 0.9f;
    build(&model, 1);
    run_token(&model, 1, second);
    assert_memory_not_equal(first, second, sizeof(first));
    ggml_backend_free(model.backend);
    model.backend = new_backend();
    run_token(&model, 1, expected);
    assert_memory_equal(second, expected, sizeof(second));
    close_model(&model);
}

/* ---- graphs of a few nodes ---- */

enum { N = 1000 };

/* y = x + 1, so often. */
struct counting {
    struct ggml_context *ctx;
    struct ggml_tensor *x, *one, *y;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;
};

static void
set_all(struct ggml_tensor *t, float value)
{
    float values[N];

    for (int i = 0; i < N; i++)
        values[i] = value;
    ggml_backend_tensor_set(t, values, 0, ggml_nbytes(t));
}

static void
expect_all(const struct ggml_tensor *t, float expected)
{
    float values[N];

    ggml_backend_tensor_get(t, values, 0, sizeof(values));
    for (int i = 0; i < N; i++)
        if (values[i] != expected)
            fail_msg("value %d is %g, not %g", i, values[i], expected);
}

static void
place_counting(struct counting *counting, ggml_backend_t backend)
{
    counting->buffer = ggml_backend_alloc_ctx_tensors(counting->ctx, backend);
    assert_non_null(counting->buffer);
    set_all(counting->one, 1.0f);
}

static void
open_counting(struct counting *counting, ggml_backend_t backend, int n_steps)
{
    counting->ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)(n_steps + 8) * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(4096, false),
        .no_alloc = true });
    assert_non_null(counting->ctx);
    counting->x = ggml_new_tensor_1d(counting->ctx, GGML_TYPE_F32, N);
    counting->one = ggml_new_tensor_1d(counting->ctx, GGML_TYPE_F32, 1);
    counting->y = ggml_add1(counting->ctx, counting->x, counting->one);
    for (int i = 1; i < n_steps; i++)
        counting->y =
            ggml_add1_inplace(counting->ctx, counting->y, counting->one);
    counting->graph = ggml_new_graph_custom(counting->ctx, 4096, false);
    ggml_build_forward_expand(counting->graph, counting->y);
    place_counting(counting, backend);
}

static void
close_counting(struct counting *counting)
{
    ggml_backend_buffer_free(counting->buffer);
    ggml_free(counting->ctx);
}

static void
run(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    memset(&listed, 0, sizeof(listed));
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
}

static void
addresses_are_part_of_it(void **state)
{
    ggml_backend_t backend = new_backend();
    struct counting counting;
    void *const before = (open_counting(&counting, backend, 3),
                          counting.x->data);

    (void)state;
    for (int i = 0; i < 3; i++) {
        counting.x->data = before;
        set_all(counting.x, 10.0f);
        run(backend, counting.graph);
        expect_all(counting.y, 13.0f);
        assert_int_equal(listed.n_recorded > 0, i == 0 || has("no-reuse"));
        counting.x->data = counting.y->data; /* computed in place */
        set_all(counting.x, 20.0f);
        run(backend, counting.graph);
        expect_all(counting.y, 23.0f);
        assert_int_equal(listed.n_recorded > 0, i == 0 || has("no-reuse"));
    }
    counting.x->data = before;
    close_counting(&counting);
    ggml_backend_free(backend);
}

/* A buffer may get the addresses of one that was freed; the layer stops
 * commands that bind what is gone. */
static void
memory_that_was_freed_is_bound_no_more(void **state)
{
    ggml_backend_t backend = new_backend();
    struct counting counting;
    int n_same = 0;

    (void)state;
    open_counting(&counting, backend, 3);
    for (int i = 0; i < 6; i++) {
        const void *place = counting.x->data;

        set_all(counting.x, (float)i);
        run(backend, counting.graph);
        expect_all(counting.y, (float)i + 3.0f);
        assert_true(listed.n_recorded > 0);
        ggml_backend_buffer_free(counting.buffer);
        for (struct ggml_tensor *t = ggml_get_first_tensor(counting.ctx);
             t != NULL; t = ggml_get_next_tensor(counting.ctx, t)) {
            t->data = NULL;
            t->buffer = NULL;
        }
        place_counting(&counting, backend);
        n_same += counting.x->data == place;
    }
    print_message("# %d of 6 at the same address\n", n_same);
    close_counting(&counting);
    ggml_backend_free(backend);
}

/* More graphs than are kept, each of which comes again. */
static void
many_graphs_take_turns(void **state)
{
    enum { GRAPHS = 11 };
    ggml_backend_t backend = new_backend();
    struct counting countings[GRAPHS];

    (void)state;
    for (int i = 0; i < GRAPHS; i++)
        open_counting(&countings[i], backend, i + 1);
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < GRAPHS; i++) {
            set_all(countings[i].x, (float)turn);
            run(backend, countings[i].graph);
            expect_all(countings[i].y, (float)(turn + i + 1));
        }
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 7; i++) {
            set_all(countings[i].x, 5.0f + (float)turn);
            run(backend, countings[i].graph);
            expect_all(countings[i].y, (float)(5 + turn + i + 1));
            assert_true(turn == 0 || listed.n_recorded == 0 ||
                        has("no-reuse"));
        }
    for (int i = 0; i < GRAPHS; i++)
        close_counting(&countings[i]);
    ggml_backend_free(backend);
}

/* More command buffers than are made; and none that runs is recorded. */
static void
command_buffers_take_turns(void **state)
{
    ggml_backend_t backend = new_backend();
    struct counting counting;

    (void)state;
    open_counting(&counting, backend, 800);
    for (int i = 0; i < 2; i++) {
        set_all(counting.x, (float)i);
        for (int k = 0; k < 2; k++)
            assert_int_equal(
                ggml_backend_graph_compute_async(backend, counting.graph),
                GGML_STATUS_SUCCESS);
        ggml_backend_synchronize(backend);
        expect_all(counting.y, (float)i + 800.0f);
    }
    close_counting(&counting);
    ggml_backend_free(backend);
}

/* A product whose sums over k are cut into parts, that lie in scratch. */
static struct ggml_tensor *
product(struct ggml_context *ctx, int64_t k, int64_t m)
{
    return ggml_mul_mat(ctx, ggml_new_tensor_2d(ctx, GGML_TYPE_F32, k, m),
                        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, k, 1));
}

/* The scratch of a graph that is kept is replaced by a larger one. */
static void
scratch_that_grew_is_bound(void **state)
{
    ggml_backend_t backend = new_backend();
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + 2 * ggml_graph_overhead(),
        .no_alloc = true });
    struct ggml_tensor *products[2] = { product(ctx, 4096, 4),
                                        product(ctx, 4096, 600) };
    struct ggml_cgraph *graphs[2];
    ggml_backend_buffer_t buffer;
    static float results[2][2][600];

    (void)state;
    for (int i = 0; i < 2; i++) {
        graphs[i] = ggml_new_graph(ctx);
        ggml_build_forward_expand(graphs[i], products[i]);
    }
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    assert_non_null(buffer);
    for (int i = 0; i < 2; i++) {
        fill(products[i]->src[0], 0.31f);
        fill(products[i]->src[1], 0.17f);
    }
    for (int turn = 0; turn < 3; turn++)
        for (int i = 0; i < 2; i++) {
            memset(results[1], 0, sizeof(results[1]));
            run(backend, graphs[i]);
            ggml_backend_tensor_get(products[i], results[turn > 0][i], 0,
                                    ggml_nbytes(products[i]));
            assert_true(turn < 2 || listed.n_recorded == 0 ||
                        has("no-reuse"));
            if (turn > 0)
                assert_memory_equal(results[0][i], results[1][i],
                                    ggml_nbytes(products[i]));
        }
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

/* ---- submissions ---- */

/* A layer's attention of 4,096 tokens is more than a submission may have. */
static void
no_submission_is_long(void **state)
{
    enum { PROMPT = 4096, D = 16 };
    ggml_backend_t backend;
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 32 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, D, PROMPT);
    struct ggml_tensor *w = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, D, D);
    struct ggml_tensor *wide =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, D, 300 * D);
    struct ggml_tensor *mask =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, PROMPT, PROMPT);
    struct ggml_tensor *q = ggml_mul_mat(ctx, w, x);
    struct ggml_tensor *y =
        ggml_flash_attn_ext(ctx, q, x, x, mask, 0.2f, 0.0f, 0.0f);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer;
    float values[D];

    (void)state;
    if (!has("plain")) {
        ggml_free(ctx);
        skip();
    }
    backend = new_backend();
    y = ggml_mul_mat(ctx, wide, ggml_reshape_2d(ctx, y, D, PROMPT));
    ggml_build_forward_expand(graph, y);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    assert_non_null(buffer);
    ggml_backend_buffer_clear(buffer, 0);
    fill(x, 0.013f);
    fill(w, 0.7f);
    fill(wide, 0.9f);
    run(backend, graph);
    ggml_backend_tensor_get(y, values, ggml_nbytes(y) - D * 4, D * 4);
    for (int i = 0; i < D; i++)
        assert_true(isfinite(values[i]) && values[i] != 0.0f);
    print_message("# %d submissions, the longest of %.1f ms by estimate\n",
                  listed.n_submissions, listed.most_ms);
    assert_true(listed.n_submissions > 2);
    assert_true(listed.most_ms > 0.0 && listed.most_ms <= 100.0);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

/* One barrier a step, each explained but the first one of a command buffer. */
static void
barriers_are_explained(void **state)
{
    ggml_backend_t backend = new_backend();
    struct counting counting;

    (void)state;
    open_counting(&counting, backend, 20);
    run(backend, counting.graph);
    assert_true(listed.n_dispatches >= 20);
    assert_true(listed.n_barriers >= 20);
    assert_int_equal(listed.n_explained,
                     listed.n_barriers - listed.n_commands);
    assert_true(has("many-submits") || listed.n_barriers == 20);
    close_counting(&counting);
    ggml_backend_free(backend);
}

static bool
is_enough(void *data)
{
    int *left = data;

    return (*left)-- == 0;
}

/* Asked between submissions; the graph can be computed afterwards. */
static void
who_is_asked_can_stop_it(void **state)
{
    union {
        void *object;
        ggml_backend_set_abort_callback_t function;
    } set;
    ggml_backend_t backend;
    struct counting counting;
    int left = 2;

    (void)state;
    if (!has("many-submits"))
        skip();
    backend = new_backend();
    set.object = ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(device),
        "ggml_backend_set_abort_callback");
    assert_non_null(set.object);
    open_counting(&counting, backend, 30);
    set_all(counting.x, 2.0f);
    set.function(backend, is_enough, &left);
    memset(&listed, 0, sizeof(listed));
    assert_int_equal(ggml_backend_graph_compute(backend, counting.graph),
                     GGML_STATUS_ABORTED);
    assert_int_equal(listed.n_submissions, 2);
    set.function(backend, NULL, NULL);
    run(backend, counting.graph);
    expect_all(counting.y, 32.0f);
    close_counting(&counting);
    ggml_backend_free(backend);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_that_comes_again_is_not_recorded_again),
        cmocka_unit_test(what_moves_on_is_recorded_alone),
        cmocka_unit_test(bits_do_not_depend_on_it),
        cmocka_unit_test(parameters_are_part_of_it),
        cmocka_unit_test(addresses_are_part_of_it),
        cmocka_unit_test(memory_that_was_freed_is_bound_no_more),
        cmocka_unit_test(many_graphs_take_turns),
        cmocka_unit_test(command_buffers_take_turns),
        cmocka_unit_test(scratch_that_grew_is_bound),
        cmocka_unit_test(no_submission_is_long),
        cmocka_unit_test(barriers_are_explained),
        cmocka_unit_test(who_is_asked_can_stop_it),
    };

    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan; recording.sh brings "
             "one");
        return 0;
    }
    if (getenv("GGMLBACKEND_VULKAN_TEST") == NULL || !has("list")) {
        puts("1..0 # SKIP nothing is listed; recording.sh has it listed");
        return 0;
    }
    ggml_log_set(take_line, NULL);
    return cmocka_run_group_tests_name("recordings on Vulkan", tests, NULL,
                                       NULL);
}
