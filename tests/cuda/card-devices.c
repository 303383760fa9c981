/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/card-devices.c - work over two devices: rows, layers, and copies
 * between them.
 */
#include "config.h"

#include "tests/cuda/card.h"
#include "tests/util/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- two devices ---- */

/* On the first card as two, then on two that are alike where there are. */
static void
on_two_devices(void (*run)(void))
{
    card_run(run, CARD_MEMORY " GGMLBACKEND_GPU_DEVICES=0,0");
    card_run(run, CARD_MEMORY " EMU_DEVICES=2");
}

static void
multiply_on_both(enum ggml_type type, int64_t n)
{
    struct card_given given = card_given_make(type, card_size(256, 4096),
                                              card_size(160, 4096), n);
    const size_t size = (size_t)(given.m * n) * sizeof(float);
    float *whole = card_product_of(ggml_backend_cuda_buffer_type(0), &given);
    float *parts = card_product_of(ggml_backend_cuda_split_buffer_type(0, NULL),
                                   &given);

    CHECK(card_is_right(&given, whole, n));
    CHECK(memcmp(whole, parts, size) == 0);
    free(whole);
    free(parts);
    card_given_free(&given);
}

static void
divide_rows(void)
{
    static const enum ggml_type types[] = { GGML_TYPE_Q4_K, GGML_TYPE_F16 };
    static const int64_t columns[] = { 1, 8, 64 };

    if (!card_load_two())
        return;
    for (int t = 0; t < 2; t++) {
        for (int i = 0; i < 3; i++)
            multiply_on_both(types[t], columns[i]);
    }
}

void
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
    void *weights = card_numbers_as(GGML_TYPE_Q4_K, width, width, (uint64_t)i);

    l->weights_ctx[i] = card_context();
    l->weights[i] = ggml_new_tensor_2d(l->weights_ctx[i], GGML_TYPE_Q4_K, width,
                                       width);
    l->buffers[i] = ggml_backend_alloc_ctx_tensors(l->weights_ctx[i], backend);
    CHECK(l->buffers[i] != NULL);
    ggml_backend_buffer_set_usage(l->buffers[i],
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    card_set(l->weights[i], weights);
    free(weights);
    t = ggml_silu(l->ctx, ggml_rms_norm(l->ctx, x, 1e-5f));
    t = ggml_mul_mat(l->ctx, l->weights[i], t);
    l->result[i] = ggml_add(l->ctx, t, x);
}

static struct layers
layers_make(ggml_backend_t first, ggml_backend_t second, int64_t width)
{
    struct layers l = { .ctx = card_context() };

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
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors(l.ctx,
                                                                  backend);
    float *values;

    CHECK(buffer != NULL);
    card_set(l.x, x);
    card_compute(backend, l.graph);
    values = card_get(l.result[LAYERS - 1]);
    ggml_backend_buffer_free(buffer);
    layers_free(&l);
    return values;
}

/* Backends are the two devices', then the CPU's. */
static float *
layers_on_all(ggml_backend_t *backends, const float *x, int64_t width)
{
    struct layers l = layers_make(backends[0], backends[1], width);
    ggml_backend_sched_t sched = ggml_backend_sched_new(backends, NULL, 3, 64,
                                                        false);
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
        card_set(l.x, x);
        CHECK(ggml_backend_sched_graph_compute(sched, l.graph) ==
              GGML_STATUS_SUCCESS);
    }
    values = card_get(l.result[LAYERS - 1]);
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

    if (!card_load_two())
        return;
    width = card_size(256, 2048);
    x = card_numbers(width * TOKENS, 7);
    for (int i = 0; i < 2; i++)
        backends[i] = card_backend(i);
    backends[2] = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
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

void
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
    const int64_t sizes[SIZES] = {
        1, 3, 255, 4097, 65536, 100003, card_size(MiB, 64 * MiB)
    };
    struct copies c;

    for (int i = 0; i < 2; i++) {
        c.ctx[i] = card_context();
        c.backends[i] = card_backend(i);
        c.events[i] = ggml_backend_event_new(
            ggml_backend_get_device(c.backends[i]));
        CHECK(c.events[i] != NULL);
    }
    for (int i = 0; i < SIZES; i++) {
        c.from[i] = ggml_new_tensor_1d(c.ctx[0], GGML_TYPE_I8, sizes[i]);
        c.back[i] = ggml_new_tensor_1d(c.ctx[0], GGML_TYPE_I8, sizes[i]);
        c.there[i] = ggml_new_tensor_1d(c.ctx[1], GGML_TYPE_I8, sizes[i]);
    }
    for (int i = 0; i < 2; i++) {
        c.buffers[i] = ggml_backend_alloc_ctx_tensors(c.ctx[i], c.backends[i]);
        CHECK(c.buffers[i] != NULL);
        ggml_backend_buffer_clear(c.buffers[i], 0);
    }
    c.bytes = card_room((size_t)sizes[SIZES - 1] + SIZES);
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
    void *bytes = card_get(tensor);

    CHECK(memcmp(bytes, right, ggml_nbytes(tensor)) == 0);
    free(bytes);
}

/* All are queued before any is waited for. */
static void
copy_there_and_back(void)
{
    struct copies c;

    if (!card_load_two())
        return;
    c = copies_make();
    for (int i = 0; i < SIZES; i++) {
        ggml_backend_tensor_set_async(c.backends[0], c.from[i], c.bytes + i, 0,
                                      ggml_nbytes(c.from[i]));
        then_on(&c, 1);
        ggml_backend_tensor_copy_async(c.backends[0], c.backends[1], c.from[i],
                                       c.there[i]);
        then_on(&c, 0);
        ggml_backend_tensor_copy_async(c.backends[1], c.backends[0], c.there[i],
                                       c.back[i]);
    }
    ggml_backend_event_record(c.events[0], c.backends[0]);
    ggml_backend_event_synchronize(c.events[0]);
    for (int i = 0; i < SIZES; i++) {
        check_bytes(c.back[i], c.bytes + i);
        check_bytes(c.there[i], c.bytes + i);
    }
    copies_free(&c);
}

void
copies_between_devices_are_right(void **state)
{
    (void)state;
    on_two_devices(copy_there_and_back);
}
