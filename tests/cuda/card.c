/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/card.c - what a program does with a card beside computing on it:
 * it begins anew again and again, takes all memory, divides its work, and has
 * CUDA of its own.
 *
 * By public headers alone, and the same on a real card as on the emulated one.
 * With GGML_BACKEND_PATH it is about the cards that the module there finds, and
 * nobody else may use their memory meanwhile; without, about an emulated card.
 */
#include "config.h"

#include "tests/util/child.h"
#include "tests/util/library.h"
#include "tests/util/random.h"

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cuda.h"
#include "ggml.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* What a child says that cannot do its part here. */
#define LEFT_OUT "left out: "

/* Of the emulated card; a real one has what it has. */
#define MEMORY "EMU_MEMORY=268435456"

enum { KiB = 1 << 10, MiB = 1 << 20 };

/* RUN in a child; a part that is left out is told. */
static void
run_case(void (*run)(void), const char *variables)
{
    const char *said;

    gb_child_case(run, variables, "EMU_", &said);
    said = strstr(said, LEFT_OUT);
    if (said != NULL)
        print_message("# %s", said);
}

/* ---- devices ---- */

/* The emulated driver is the one that is found from then on; false where a
 * module is named. */
static bool
open_emulator(void)
{
    const char *driver = "tests/gpu-emulator/lanes32/.libs/libcuda.so.1";

    if (getenv("GGML_BACKEND_PATH") != NULL)
        return false;
    CHECK(dlopen(gb_built(driver), RTLD_NOW | RTLD_LOCAL) != NULL);
    return true;
}

static void
load(void)
{
    const char *module = "tests/cuda/.libs/libggml-cuda.so";

    if (open_emulator())
        CHECK(ggml_backend_load(gb_built(module)) != NULL);
    else
        ggml_backend_load_all();
    CHECK(ggml_backend_cuda_get_device_count() > 0);
}

static bool
leave_out(const char *why)
{
    fprintf(stderr, LEFT_OUT "%s\n", why);
    return false;
}

/* False: there are no two cards that are alike, and none was to be two. */
static bool
load_two(void)
{
    const char *list = getenv("GGMLBACKEND_GPU_DEVICES");
    char names[2][128];

    load();
    if (ggml_backend_cuda_get_device_count() < 2) {
        CHECK(list == NULL || strchr(list, ',') == NULL);
        return leave_out("there is one card");
    }
    for (int i = 0; i < 2; i++)
        ggml_backend_cuda_get_device_description(i, names[i],
                                                 sizeof(names[i]));
    return strcmp(names[0], names[1]) == 0 ||
        leave_out("the first two cards are not alike");
}

static ggml_backend_t
backend_on(int device)
{
    ggml_backend_t backend = ggml_backend_cuda_init(device);

    CHECK(backend != NULL);
    return backend;
}

static size_t
free_memory(void)
{
    size_t free, total;

    ggml_backend_dev_memory(
        ggml_backend_reg_dev_get(ggml_backend_cuda_reg(), 0), &free, &total);
    return free;
}

static size_t
total_memory(void)
{
    size_t free, total;

    ggml_backend_cuda_get_device_memory(0, &free, &total);
    return total;
}

/* LARGE is for cards, whose memory tells them from the emulated one. */
static int64_t
size_of(int64_t small, int64_t large)
{
    return total_memory() < (size_t)1 << 30 ? small : large;
}

/* ---- tensors ---- */

static void *
room_for(size_t size)
{
    void *memory = malloc(size);

    CHECK(memory != NULL);
    return memory;
}

static struct ggml_context *
context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 64 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });

    CHECK(ctx != NULL);
    return ctx;
}

static float *
numbers(int64_t n, uint64_t seed)
{
    float *values = room_for((size_t)n * sizeof(float));
    struct gb_random random;

    gb_random_init(&random, seed);
    for (int64_t i = 0; i < n; i++)
        values[i] = gb_random_float(&random, -1.0f, 1.0f);
    return values;
}

static void *
numbers_as(enum ggml_type type, int64_t per_row, int64_t n_rows, uint64_t seed)
{
    float *values = numbers(per_row * n_rows, seed);
    void *bytes = room_for(ggml_row_size(type, per_row) * (size_t)n_rows);

    ggml_quantize_chunk(type, values, bytes, 0, n_rows, per_row, NULL);
    free(values);
    return bytes;
}

static void
set(struct ggml_tensor *tensor, const void *data)
{
    ggml_backend_tensor_set(tensor, data, 0, ggml_nbytes(tensor));
}

static float *
get(const struct ggml_tensor *tensor)
{
    float *values = room_for(ggml_nbytes(tensor));

    ggml_backend_tensor_get(tensor, values, 0, ggml_nbytes(tensor));
    return values;
}

/* The second time what was recorded is run. */
static void
compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    for (int turn = 0; turn < 2; turn++)
        CHECK(ggml_backend_graph_compute(backend, graph) ==
              GGML_STATUS_SUCCESS);
}

/* ---- one product ---- */

/* Weights of M rows of K values, times N columns. */
struct given {
    enum ggml_type type;
    int64_t k, m, n;
    void *weights;
    float *x;
};

static struct given
given_make(enum ggml_type type, int64_t k, int64_t m, int64_t n)
{
    return (struct given){ .type = type, .k = k, .m = m, .n = n,
                           .weights = numbers_as(type, k, m, 1),
                           .x = numbers(k * n, 2) };
}

static void
given_free(struct given *given)
{
    free(given->weights);
    free(given->x);
}

static double
dot(const float *row, const float *column, int64_t k)
{
    double sum = 0.0;

    for (int64_t i = 0; i < k; i++)
        sum += (double)row[i] * (double)column[i];
    return sum;
}

/* The normalised mean squared error of some columns is below 1e-3; OUT has N of
 * them. */
static bool
is_right(const struct given *given, const float *out, int64_t n)
{
    const int64_t columns[] = { 0, n / 2, n - 1 };
    const size_t row_size = ggml_row_size(given->type, given->k);
    float *row = room_for((size_t)given->k * sizeof(float));
    double wrong = 0.0, all = 0.0;

    for (int64_t m = 0; m < given->m; m++) {
        ggml_get_type_traits(given->type)
            ->to_float((const char *)given->weights + (size_t)m * row_size,
                       row, given->k);
        for (int i = 0; i < 3; i++) {
            const int64_t c = columns[i];
            const double right = dot(row, given->x + c * given->k, given->k);
            const double off = (double)out[c * given->m + m] - right;

            wrong += off * off;
            all += right * right;
        }
    }
    free(row);
    return wrong < 1e-3 * all;
}

struct product {
    struct ggml_context *weights_ctx, *ctx;
    struct ggml_tensor *weights, *x, *result;
    ggml_backend_buffer_t weights_buffer, buffer;
    struct ggml_cgraph *graph;
};

static bool
has_memory(const struct product *p)
{
    return p->weights_buffer != NULL && p->buffer != NULL;
}

/* On the first device, but for its weights; without numbers if memory is not to
 * be had. */
static struct product
product_make(ggml_backend_buffer_type_t weights, const struct given *given)
{
    struct product p = { .weights_ctx = context(), .ctx = context() };

    p.weights =
        ggml_new_tensor_2d(p.weights_ctx, given->type, given->k, given->m);
    p.x = ggml_new_tensor_2d(p.ctx, GGML_TYPE_F32, given->k, given->n);
    p.result = ggml_mul_mat(p.ctx, p.weights, p.x);
    p.graph = ggml_new_graph(p.ctx);
    ggml_build_forward_expand(p.graph, p.result);
    p.weights_buffer =
        ggml_backend_alloc_ctx_tensors_from_buft(p.weights_ctx, weights);
    p.buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        p.ctx, ggml_backend_cuda_buffer_type(0));
    if (has_memory(&p)) {
        set(p.weights, given->weights);
        set(p.x, given->x);
    }
    return p;
}

static void
product_free(struct product *p)
{
    ggml_backend_buffer_free(p->buffer);
    ggml_backend_buffer_free(p->weights_buffer);
    ggml_free(p->ctx);
    ggml_free(p->weights_ctx);
}

static float *
product_of(ggml_backend_buffer_type_t weights, const struct given *given)
{
    ggml_backend_t backend = backend_on(0);
    struct product p = product_make(weights, given);
    float *values;

    CHECK(has_memory(&p));
    compute(backend, p.graph);
    values = get(p.result);
    product_free(&p);
    ggml_backend_free(backend);
    return values;
}

/* ---- rounds ---- */

enum { ROUNDS = 100, HEAD = 64, COLUMNS = 64, WIDTHS = 2 };

static const int64_t widths[WIDTHS] = { 1, COLUMNS };

/* What every round is given: the product's, then those of the other weights. */
struct model {
    struct given given;
    void *halves, *keys, *values;
};

struct round {
    struct ggml_context *weights_ctx, *ctx;
    struct ggml_tensor *weights, *halves, *keys, *values, *x[WIDTHS];
    struct ggml_tensor *product[WIDTHS], *attention[WIDTHS];
    struct ggml_cgraph *graph;
};

static struct model
model_make(void)
{
    const int64_t m = size_of(64, 4096);
    const int64_t k = size_of(256, 4096);

    return (struct model){
        .given = given_make(GGML_TYPE_Q4_K, k, m, COLUMNS),
        .halves = numbers_as(GGML_TYPE_F16, m, m, 3),
        .keys = numbers_as(GGML_TYPE_F16, m, COLUMNS, 4),
        .values = numbers_as(GGML_TYPE_F16, m, COLUMNS, 5),
    };
}

static void
model_free(struct model *model)
{
    given_free(&model->given);
    free(model->halves);
    free(model->keys);
    free(model->values);
}

static void
round_weights(struct round *r, int64_t k, int64_t m)
{
    r->weights_ctx = context();
    r->weights = ggml_new_tensor_2d(r->weights_ctx, GGML_TYPE_Q4_K, k, m);
    r->halves = ggml_new_tensor_2d(r->weights_ctx, GGML_TYPE_F16, m, m);
    r->keys = ggml_new_tensor_3d(r->weights_ctx, GGML_TYPE_F16, HEAD, COLUMNS,
                                 m / HEAD);
    r->values = ggml_dup_tensor(r->weights_ctx, r->keys);
}

static void
round_graph(struct round *r, int64_t k, int64_t m)
{
    r->ctx = context();
    r->graph = ggml_new_graph(r->ctx);
    for (int i = 0; i < WIDTHS; i++) {
        struct ggml_tensor *t;

        r->x[i] = ggml_new_tensor_2d(r->ctx, GGML_TYPE_F32, k, widths[i]);
        r->product[i] = ggml_mul_mat(r->ctx, r->weights, r->x[i]);
        t = ggml_mul_mat(r->ctx, r->halves, r->product[i]);
        t = ggml_soft_max(r->ctx, t);
        t = ggml_reshape_3d(r->ctx, t, HEAD, m / HEAD, widths[i]);
        t = ggml_permute(r->ctx, t, 0, 2, 1, 3);
        r->attention[i] = ggml_flash_attn_ext(r->ctx, t, r->keys, r->values,
                                              NULL, 8.0f, 0.0f, 0.0f);
        ggml_build_forward_expand(r->graph, r->attention[i]);
    }
}

/* Products, then attentions, of all widths. */
static void
round_get(const struct round *r, char *results)
{
    for (int i = 0; i < 2 * WIDTHS; i++) {
        const struct ggml_tensor *from =
            i < WIDTHS ? r->product[i] : r->attention[i - WIDTHS];

        ggml_backend_tensor_get(from, results, 0, ggml_nbytes(from));
        results += ggml_nbytes(from);
    }
}

static void
do_round(const struct model *model, char *results)
{
    const int64_t k = model->given.k, m = model->given.m;
    ggml_backend_t backend = backend_on(0);
    ggml_backend_buffer_t weights, others;
    struct round r;

    round_weights(&r, k, m);
    round_graph(&r, k, m);
    weights = ggml_backend_alloc_ctx_tensors(r.weights_ctx, backend);
    others = ggml_backend_alloc_ctx_tensors(r.ctx, backend);
    CHECK(weights != NULL && others != NULL);
    set(r.weights, model->given.weights);
    set(r.halves, model->halves);
    set(r.keys, model->keys);
    set(r.values, model->values);
    for (int i = 0; i < WIDTHS; i++)
        set(r.x[i], model->given.x);
    compute(backend, r.graph);
    round_get(&r, results);
    ggml_backend_buffer_free(others);
    ggml_backend_buffer_free(weights);
    ggml_free(r.ctx);
    ggml_free(r.weights_ctx);
    ggml_backend_free(backend);
}

/* A buffer keeps the card's context, whose end would give back everything. */
static void
begin_again_and_again(void)
{
    ggml_backend_buffer_t little;
    struct model model;
    size_t size, before;
    char *first, *next;

    load();
    little = ggml_backend_buft_alloc_buffer(ggml_backend_cuda_buffer_type(0),
                                            4096);
    CHECK(little != NULL);
    model = model_make();
    size = (size_t)(2 * model.given.m * (1 + COLUMNS)) * sizeof(float);
    first = room_for(size);
    next = room_for(size);
    do_round(&model, first);
    CHECK(is_right(&model.given, (const float *)(void *)first, 1));
    CHECK(is_right(&model.given,
                   (const float *)(void *)first + model.given.m, COLUMNS));
    before = free_memory();
    for (int i = 0; i < ROUNDS; i++) {
        memset(next, 0xff, size);
        do_round(&model, next);
        CHECK(memcmp(first, next, size) == 0);
    }
    if (free_memory() != before)
        fprintf(stderr, "%zu bytes are free, and were %zu\n", free_memory(),
                before);
    CHECK(free_memory() == before);
    free(first);
    free(next);
    model_free(&model);
    ggml_backend_buffer_free(little);
}

static void
memory_is_the_same_after_100_rounds(void **state)
{
    (void)state;
    run_case(begin_again_and_again, MEMORY " EMU_CHECK=0");
}

/* ---- too much ---- */

enum { MOST_BUFFERS = 64 };

/* Buffers of all that is free but twice LEFT at most; how many. */
static int
take_all_but(size_t left, ggml_backend_buffer_t *buffers)
{
    ggml_backend_buffer_type_t buft = ggml_backend_cuda_buffer_type(0);
    size_t size = free_memory() - left;
    int n = 0;

    while (size >= left && n < MOST_BUFFERS) {
        buffers[n] = ggml_backend_buft_alloc_buffer(buft, size);
        if (buffers[n] == NULL) {
            size /= 2;
            continue;
        }
        n++;
        if (free_memory() <= left)
            break;
        if (size > free_memory() - left)
            size = free_memory() - left;
    }
    return n;
}

/* Activations are converted before they are multiplied, to a byte each or more,
 * for which there is no room. */
static void
take_too_much(void)
{
    ggml_backend_buffer_type_t buft;
    ggml_backend_buffer_t taken[MOST_BUFFERS];
    ggml_backend_t backend;
    struct given given;
    struct product p, more;
    float *values;
    int n;

    load();
    buft = ggml_backend_cuda_buffer_type(0);
    CHECK(ggml_backend_buft_alloc_buffer(buft, total_memory() + MiB) == NULL);
    given = given_make(GGML_TYPE_Q4_K, size_of(512, 4096), size_of(32, 64),
                       size_of(128, 16384));
    backend = backend_on(0);
    p = product_make(buft, &given);
    CHECK(has_memory(&p));
    n = take_all_but((size_t)size_of(16 * KiB, 16 * MiB), taken);
    CHECK(n > 0);
    more = product_make(buft, &given);
    CHECK(!has_memory(&more));
    product_free(&more);
    for (int turn = 0; turn < 2; turn++)
        CHECK(ggml_backend_graph_compute(backend, p.graph) ==
              GGML_STATUS_ALLOC_FAILED);
    while (n > 0)
        ggml_backend_buffer_free(taken[--n]);
    compute(backend, p.graph);
    values = get(p.result);
    CHECK(is_right(&given, values, given.n));
    free(values);
    product_free(&p);
    ggml_backend_free(backend);
    given_free(&given);
}

static void
too_large_is_told_and_goes_on(void **state)
{
    (void)state;
    run_case(take_too_much, MEMORY " GGMLBACKEND_LOG=none");
}

/* ---- two devices ---- */

/* On the first card as two, then on two that are alike where there are. */
static void
on_two_devices(void (*run)(void))
{
    run_case(run, MEMORY " GGMLBACKEND_GPU_DEVICES=0,0");
    run_case(run, MEMORY " EMU_DEVICES=2");
}

static void
multiply_on_both(enum ggml_type type, int64_t n)
{
    struct given given =
        given_make(type, size_of(256, 4096), size_of(160, 4096), n);
    const size_t size = (size_t)(given.m * n) * sizeof(float);
    float *whole = product_of(ggml_backend_cuda_buffer_type(0), &given);
    float *parts =
        product_of(ggml_backend_cuda_split_buffer_type(0, NULL), &given);

    CHECK(is_right(&given, whole, n));
    CHECK(memcmp(whole, parts, size) == 0);
    free(whole);
    free(parts);
    given_free(&given);
}

static void
divide_rows(void)
{
    static const enum ggml_type types[] = { GGML_TYPE_Q4_K, GGML_TYPE_F16 };
    static const int64_t columns[] = { 1, 8, 64 };

    if (!load_two())
        return;
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < 3; i++)
            multiply_on_both(types[t], columns[i]);
    }
}

static void
rows_over_two_devices(void **state)
{
    (void)state;
    on_two_devices(divide_rows);
}

enum { LAYERS = 4, TOKENS = 8 };

/* Each layer's weights lie on its backend. */
struct layers {
    struct ggml_context *weights_ctx[LAYERS], *ctx;
    struct ggml_tensor *weights[LAYERS], *x, *result[LAYERS];
    ggml_backend_buffer_t buffers[LAYERS];
    struct ggml_cgraph *graph;
};

static void
add_layer(struct layers *l, int i, ggml_backend_t backend, int64_t width)
{
    struct ggml_tensor *const x = i == 0 ? l->x : l->result[i - 1];
    struct ggml_tensor *t;
    void *weights = numbers_as(GGML_TYPE_Q4_K, width, width, (uint64_t)i);

    l->weights_ctx[i] = context();
    l->weights[i] =
        ggml_new_tensor_2d(l->weights_ctx[i], GGML_TYPE_Q4_K, width, width);
    l->buffers[i] = ggml_backend_alloc_ctx_tensors(l->weights_ctx[i], backend);
    CHECK(l->buffers[i] != NULL);
    ggml_backend_buffer_set_usage(l->buffers[i],
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    set(l->weights[i], weights);
    free(weights);
    t = ggml_silu(l->ctx, ggml_rms_norm(l->ctx, x, 1e-5f));
    t = ggml_mul_mat(l->ctx, l->weights[i], t);
    l->result[i] = ggml_add(l->ctx, t, x);
}

static struct layers
layers_make(ggml_backend_t first, ggml_backend_t second, int64_t width)
{
    struct layers l = { .ctx = context() };

    l.x = ggml_new_tensor_2d(l.ctx, GGML_TYPE_F32, width, TOKENS);
    ggml_set_input(l.x);
    for (int i = 0; i < LAYERS; i++)
        add_layer(&l, i, i < LAYERS / 2 ? first : second, width);
    ggml_set_output(l.result[LAYERS - 1]);
    l.graph = ggml_new_graph(l.ctx);
    ggml_build_forward_expand(l.graph, l.result[LAYERS - 1]);
    return l;
}

static void
layers_free(struct layers *l)
{
    for (int i = 0; i < LAYERS; i++) {
        ggml_backend_buffer_free(l->buffers[i]);
        ggml_free(l->weights_ctx[i]);
    }
    ggml_free(l->ctx);
}

static float *
layers_on_one(ggml_backend_t backend, const float *x, int64_t width)
{
    struct layers l = layers_make(backend, backend, width);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(l.ctx, backend);
    float *values;

    CHECK(buffer != NULL);
    set(l.x, x);
    compute(backend, l.graph);
    values = get(l.result[LAYERS - 1]);
    ggml_backend_buffer_free(buffer);
    layers_free(&l);
    return values;
}

/* Backends are the two devices', then the CPU's. */
static float *
layers_on_all(ggml_backend_t *backends, const float *x, int64_t width)
{
    struct layers l = layers_make(backends[0], backends[1], width);
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, 3, 64, false);
    float *values;

    CHECK(sched != NULL);
    for (int i = 0; i < LAYERS; i++)
        ggml_backend_sched_set_tensor_backend(sched, l.result[i],
                                              backends[i / (LAYERS / 2)]);
    CHECK(ggml_backend_sched_alloc_graph(sched, l.graph));
    for (int i = 0; i < LAYERS; i++)
        CHECK(ggml_backend_sched_get_tensor_backend(sched, l.result[i]) ==
              backends[i / (LAYERS / 2)]);
    for (int turn = 0; turn < 3; turn++) {
        set(l.x, x);
        CHECK(ggml_backend_sched_graph_compute(sched, l.graph) ==
              GGML_STATUS_SUCCESS);
    }
    values = get(l.result[LAYERS - 1]);
    ggml_backend_sched_free(sched);
    layers_free(&l);
    return values;
}

static void
divide_layers(void)
{
    ggml_backend_t backends[3];
    int64_t width;
    float *x, *one, *all;

    if (!load_two())
        return;
    width = size_of(256, 2048);
    x = numbers(width * TOKENS, 7);
    for (int i = 0; i < 2; i++)
        backends[i] = backend_on(i);
    backends[2] =
        ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    CHECK(backends[2] != NULL);
    one = layers_on_one(backends[0], x, width);
    all = layers_on_all(backends, x, width);
    CHECK(memcmp(one, all, (size_t)(width * TOKENS) * sizeof(float)) == 0);
    CHECK(memcmp(one, x, (size_t)(width * TOKENS) * sizeof(float)) != 0);
    free(x);
    free(one);
    free(all);
    for (int i = 0; i < 3; i++)
        ggml_backend_free(backends[i]);
}

static void
layers_over_two_devices(void **state)
{
    (void)state;
    on_two_devices(divide_layers);
}

/* ---- copies ---- */

enum { SIZES = 7 };

/* From the first device to the second, and to another tensor of the first. */
struct copies {
    struct ggml_context *ctx[2];
    ggml_backend_buffer_t buffers[2];
    ggml_backend_t backends[2];
    ggml_backend_event_t events[2];
    struct ggml_tensor *from[SIZES], *there[SIZES], *back[SIZES];
    uint8_t *bytes;
};

static struct copies
copies_make(void)
{
    const int64_t sizes[SIZES] = { 1, 3, 255, 4097, 65536, 100003,
                                   size_of(MiB, 64 * MiB) };
    struct copies c;

    for (int i = 0; i < 2; i++) {
        c.ctx[i] = context();
        c.backends[i] = backend_on(i);
        c.events[i] =
            ggml_backend_event_new(ggml_backend_get_device(c.backends[i]));
        CHECK(c.events[i] != NULL);
    }
    for (int i = 0; i < SIZES; i++) {
        c.from[i] = ggml_new_tensor_1d(c.ctx[0], GGML_TYPE_I8, sizes[i]);
        c.back[i] = ggml_new_tensor_1d(c.ctx[0], GGML_TYPE_I8, sizes[i]);
        c.there[i] = ggml_new_tensor_1d(c.ctx[1], GGML_TYPE_I8, sizes[i]);
    }
    for (int i = 0; i < 2; i++) {
        c.buffers[i] =
            ggml_backend_alloc_ctx_tensors(c.ctx[i], c.backends[i]);
        CHECK(c.buffers[i] != NULL);
        ggml_backend_buffer_clear(c.buffers[i], 0);
    }
    c.bytes = room_for((size_t)sizes[SIZES - 1] + SIZES);
    for (int64_t i = 0; i < sizes[SIZES - 1] + SIZES; i++)
        c.bytes[i] = (uint8_t)(1 + i % 251);
    return c;
}

static void
copies_free(struct copies *c)
{
    free(c->bytes);
    for (int i = 0; i < 2; i++) {
        ggml_backend_event_free(c->events[i]);
        ggml_backend_buffer_free(c->buffers[i]);
        ggml_backend_free(c->backends[i]);
        ggml_free(c->ctx[i]);
    }
}

/* What is queued on backend TO from now on comes after all on the other. */
static void
then_on(const struct copies *c, int to)
{
    ggml_backend_event_record(c->events[1 - to], c->backends[1 - to]);
    ggml_backend_event_wait(c->backends[to], c->events[1 - to]);
}

static void
check_bytes(const struct ggml_tensor *tensor, const uint8_t *right)
{
    void *bytes = get(tensor);

    CHECK(memcmp(bytes, right, ggml_nbytes(tensor)) == 0);
    free(bytes);
}

/* All are queued before any is waited for. */
static void
copy_there_and_back(void)
{
    struct copies c;

    if (!load_two())
        return;
    c = copies_make();
    for (int i = 0; i < SIZES; i++) {
        ggml_backend_tensor_set_async(c.backends[0], c.from[i], c.bytes + i, 0,
                                      ggml_nbytes(c.from[i]));
        then_on(&c, 1);
        ggml_backend_tensor_copy_async(c.backends[0], c.backends[1], c.from[i],
                                       c.there[i]);
        then_on(&c, 0);
        ggml_backend_tensor_copy_async(c.backends[1], c.backends[0],
                                       c.there[i], c.back[i]);
    }
    ggml_backend_event_record(c.events[0], c.backends[0]);
    ggml_backend_event_synchronize(c.events[0]);
    for (int i = 0; i < SIZES; i++) {
        check_bytes(c.back[i], c.bytes + i);
        check_bytes(c.there[i], c.bytes + i);
    }
    copies_free(&c);
}

static void
copies_between_devices_are_right(void **state)
{
    (void)state;
    on_two_devices(copy_there_and_back);
}

/* ---- CUDA of the program's own ---- */

/* The driver's functions, all of which return 0 if nothing failed. */
static struct {
    int (*init)(unsigned flags);
    int (*device)(int *device, int ordinal);
    int (*retain)(void **context, int device);
    int (*release)(int device);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*allocate)(unsigned long long *address, size_t size);
    int (*give_back)(unsigned long long address);
    int (*to_card)(unsigned long long to, const void *from, size_t size,
                   void *stream);
    int (*to_host)(void *to, unsigned long long from, size_t size,
                   void *stream);
    int (*fill)(unsigned long long to, unsigned char value, size_t size,
                void *stream);
    int (*new_stream)(void **stream, unsigned flags);
    int (*end_stream)(void *stream);
    int (*new_event)(void **event, unsigned flags);
    int (*end_event)(void *event);
    int (*record)(void *event, void *stream);
    int (*wait)(void *event);
    /* NULL on the emulated driver, which knows primary contexts alone. */
    int (*create)(void **context, unsigned flags, int device);
    int (*destroy)(void *context);
} cu;

static void
open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

    CHECK(library != NULL);
    gb_look_up(library, &cu.init, "cuInit");
    gb_look_up(library, &cu.device, "cuDeviceGet");
    gb_look_up(library, &cu.retain, "cuDevicePrimaryCtxRetain");
    gb_look_up(library, &cu.release, "cuDevicePrimaryCtxRelease_v2");
    gb_look_up(library, &cu.push, "cuCtxPushCurrent_v2");
    gb_look_up(library, &cu.pop, "cuCtxPopCurrent_v2");
    gb_look_up(library, &cu.allocate, "cuMemAlloc_v2");
    gb_look_up(library, &cu.give_back, "cuMemFree_v2");
    gb_look_up(library, &cu.to_card, "cuMemcpyHtoDAsync_v2");
    gb_look_up(library, &cu.to_host, "cuMemcpyDtoHAsync_v2");
    gb_look_up(library, &cu.fill, "cuMemsetD8Async");
    gb_look_up(library, &cu.new_stream, "cuStreamCreate");
    gb_look_up(library, &cu.end_stream, "cuStreamDestroy_v2");
    gb_look_up(library, &cu.new_event, "cuEventCreate");
    gb_look_up(library, &cu.end_event, "cuEventDestroy_v2");
    gb_look_up(library, &cu.record, "cuEventRecord");
    gb_look_up(library, &cu.wait, "cuEventSynchronize");
    *(void **)&cu.create = dlsym(library, "cuCtxCreate_v2");
    *(void **)&cu.destroy = dlsym(library, "cuCtxDestroy_v2");
}

/* What the program has on the card; half was copied there, half filled. */
struct foreign {
    void *context, *stream, *event;
    unsigned long long memory;
    uint8_t bytes[2 * KiB];
};

/* Of this thread. */
static void *
current_context(void)
{
    void *context;

    CHECK(cu.pop(&context) == 0 && cu.push(context) == 0);
    return context;
}

static void
foreign_wait(const struct foreign *f)
{
    CHECK(cu.record(f->event, f->stream) == 0 && cu.wait(f->event) == 0);
}

static void
foreign_set(struct foreign *f, uint8_t value)
{
    for (int i = 0; i < KiB; i++)
        f->bytes[i] = (uint8_t)(i * 7 + value);
    memset(f->bytes + KiB, value, KiB);
    CHECK(cu.to_card(f->memory, f->bytes, KiB, f->stream) == 0);
    CHECK(cu.fill(f->memory + KiB, value, KiB, f->stream) == 0);
    foreign_wait(f);
}

static void
foreign_check(const struct foreign *f)
{
    uint8_t bytes[sizeof(f->bytes)];

    CHECK(current_context() == f->context);
    memset(bytes, ~f->bytes[0], sizeof(bytes));
    CHECK(cu.to_host(bytes, f->memory, sizeof(bytes), f->stream) == 0);
    foreign_wait(f);
    CHECK(memcmp(bytes, f->bytes, sizeof(bytes)) == 0);
}

static void
foreign_begin(struct foreign *f, bool is_own, int card)
{
    if (is_own) {
        CHECK(cu.create(&f->context, 0, card) == 0);
    } else {
        CHECK(cu.retain(&f->context, card) == 0);
        CHECK(cu.push(f->context) == 0);
    }
    CHECK(cu.allocate(&f->memory, sizeof(f->bytes)) == 0);
    CHECK(cu.new_stream(&f->stream, 0) == 0 && cu.new_event(&f->event, 0) == 0);
    foreign_set(f, 0x5a);
}

/* No other context was left behind. */
static void
foreign_end(const struct foreign *f, bool is_own, int card)
{
    void *popped;

    CHECK(cu.end_event(f->event) == 0 && cu.end_stream(f->stream) == 0);
    CHECK(cu.give_back(f->memory) == 0);
    CHECK(cu.pop(&popped) == 0 && popped == f->context);
    CHECK(cu.pop(&popped) != 0);
    CHECK(is_own ? cu.destroy(f->context) == 0 : cu.release(card) == 0);
}

/* From one thread, before and between and after what the backend does. */
static void
compute_beside(bool is_own)
{
    struct foreign f;
    struct given given;
    struct product p;
    ggml_backend_t backend;
    float *values;
    int card;

    CHECK(cu.init(0) == 0 && cu.device(&card, 0) == 0);
    foreign_begin(&f, is_own, card);
    load();
    CHECK(current_context() == f.context);
    given = given_make(GGML_TYPE_Q4_K, 256, size_of(64, 4096), 8);
    backend = backend_on(0);
    p = product_make(ggml_backend_cuda_buffer_type(0), &given);
    CHECK(has_memory(&p));
    foreign_check(&f);
    compute(backend, p.graph);
    foreign_check(&f);
    foreign_set(&f, 0xc3);
    compute(backend, p.graph);
    values = get(p.result);
    CHECK(is_right(&given, values, given.n));
    foreign_check(&f);
    product_free(&p);
    ggml_backend_free(backend);
    foreign_check(&f);
    foreign_set(&f, 0x11);
    foreign_check(&f);
    foreign_end(&f, is_own, card);
    free(values);
    given_free(&given);
}

static void
share_the_primary_context(void)
{
    open_emulator();
    open_driver();
    compute_beside(false);
}

static void
have_another_context(void)
{
    open_emulator();
    open_driver();
    if (cu.create != NULL && cu.destroy != NULL)
        compute_beside(true);
    else
        leave_out("the driver makes no contexts");
}

static void
a_programs_own_cuda_goes_on(void **state)
{
    (void)state;
    run_case(share_the_primary_context, MEMORY);
    run_case(have_another_context, MEMORY);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_the_same_after_100_rounds),
        cmocka_unit_test(too_large_is_told_and_goes_on),
        cmocka_unit_test(rows_over_two_devices),
        cmocka_unit_test(layers_over_two_devices),
        cmocka_unit_test(copies_between_devices_are_right),
        cmocka_unit_test(a_programs_own_cuda_goes_on),
    };

    return cmocka_run_group_tests_name("a card and a program", tests, NULL,
                                       NULL);
}
