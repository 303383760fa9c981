/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/card-memory.c - a program begins anew again and again, and takes
 * all memory of a card.
 */
#include "config.h"

#include "tests/cuda/card.h"
#include "tests/util/child.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- rounds ---- */

enum { ROUNDS = 100, HEAD = 64, COLUMNS = 64, WIDTHS = 2 };

static const int64_t widths[WIDTHS] = { 1, COLUMNS };

/* What every round is given: the product's, then those of the other weights. */
struct model {
    struct card_given given;
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
    const int64_t m = card_size(64, 4096);
    const int64_t k = card_size(256, 4096);

    return (struct model){
        .given = card_given_make(GGML_TYPE_Q4_K, k, m, COLUMNS),
        .halves = card_numbers_as(GGML_TYPE_F16, m, m, 3),
        .keys = card_numbers_as(GGML_TYPE_F16, m, COLUMNS, 4),
        .values = card_numbers_as(GGML_TYPE_F16, m, COLUMNS, 5),
    };
}

static void
model_free(struct model *model)
{
    card_given_free(&model->given);
    free(model->halves);
    free(model->keys);
    free(model->values);
}

static void
round_weights(struct round *r, int64_t k, int64_t m)
{
    r->weights_ctx = card_context();
    r->weights = ggml_new_tensor_2d(r->weights_ctx, GGML_TYPE_Q4_K, k, m);
    r->halves = ggml_new_tensor_2d(r->weights_ctx, GGML_TYPE_F16, m, m);
    r->keys = ggml_new_tensor_3d(r->weights_ctx, GGML_TYPE_F16, HEAD, COLUMNS,
                                 m / HEAD);
    r->values = ggml_dup_tensor(r->weights_ctx, r->keys);
}

static void
round_graph(struct round *r, int64_t k, int64_t m)
{
    r->ctx = card_context();
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
        const struct ggml_tensor *from = i < WIDTHS ? r->product[i]
                                                    : r->attention[i - WIDTHS];

        ggml_backend_tensor_get(from, results, 0, ggml_nbytes(from));
        results += ggml_nbytes(from);
    }
}

static void
do_round(const struct model *model, char *results)
{
    const int64_t k = model->given.k, m = model->given.m;
    ggml_backend_t backend = card_backend(0);
    ggml_backend_buffer_t weights, others;
    struct round r;

    round_weights(&r, k, m);
    round_graph(&r, k, m);
    weights = ggml_backend_alloc_ctx_tensors(r.weights_ctx, backend);
    others = ggml_backend_alloc_ctx_tensors(r.ctx, backend);
    CHECK(weights != NULL && others != NULL);
    card_set(r.weights, model->given.weights);
    card_set(r.halves, model->halves);
    card_set(r.keys, model->keys);
    card_set(r.values, model->values);
    for (int i = 0; i < WIDTHS; i++)
        card_set(r.x[i], model->given.x);
    card_compute(backend, r.graph);
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

    card_load();
    little = ggml_backend_buft_alloc_buffer(ggml_backend_cuda_buffer_type(0),
                                            4096);
    CHECK(little != NULL);
    model = model_make();
    size = (size_t)(2 * model.given.m * (1 + COLUMNS)) * sizeof(float);
    first = card_room(size);
    next = card_room(size);
    do_round(&model, first);
    CHECK(card_is_right(&model.given, (const float *)(void *)first, 1));
    CHECK(card_is_right(&model.given,
                        (const float *)(void *)first + model.given.m, COLUMNS));
    before = card_free_memory();
    for (int i = 0; i < ROUNDS; i++) {
        memset(next, 0xff, size);
        do_round(&model, next);
        CHECK(memcmp(first, next, size) == 0);
    }
    if (card_free_memory() != before)
        fprintf(stderr, "%zu bytes are free, and were %zu\n",
                card_free_memory(), before);
    CHECK(card_free_memory() == before);
    free(first);
    free(next);
    model_free(&model);
    ggml_backend_buffer_free(little);
}

void
memory_is_the_same_after_100_rounds(void **state)
{
    (void)state;
    card_run(begin_again_and_again, CARD_MEMORY " EMU_CHECK=0");
}

/* ---- too much ---- */

enum { MOST_BUFFERS = 64 };

/* Buffers of all that is free but twice LEFT at most; how many. */
static int
take_all_but(size_t left, ggml_backend_buffer_t *buffers)
{
    ggml_backend_buffer_type_t buft = ggml_backend_cuda_buffer_type(0);
    size_t size = card_free_memory() - left;
    int n = 0;

    while (size >= left && n < MOST_BUFFERS) {
        buffers[n] = ggml_backend_buft_alloc_buffer(buft, size);
        if (buffers[n] == NULL) {
            size /= 2;
            continue;
        }
        n++;
        if (card_free_memory() <= left)
            break;
        if (size > card_free_memory() - left)
            size = card_free_memory() - left;
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
    struct card_given given;
    struct card_product p, more;
    float *values;
    int n;

    card_load();
    buft = ggml_backend_cuda_buffer_type(0);
    CHECK(ggml_backend_buft_alloc_buffer(buft, card_total_memory() + MiB) ==
          NULL);
    given = card_given_make(GGML_TYPE_Q4_K, card_size(512, 4096),
                            card_size(32, 64), card_size(128, 16384));
    backend = card_backend(0);
    p = card_product_make(buft, &given);
    CHECK(card_has_memory(&p));
    n = take_all_but((size_t)card_size(16 * KiB, 16 * MiB), taken);
    CHECK(n > 0);
    more = card_product_make(buft, &given);
    CHECK(!card_has_memory(&more));
    card_product_free(&more);
    for (int turn = 0; turn < 2; turn++)
        CHECK(ggml_backend_graph_compute(backend, p.graph) ==
              GGML_STATUS_ALLOC_FAILED);
    while (n > 0)
        ggml_backend_buffer_free(taken[--n]);
    card_compute(backend, p.graph);
    values = card_get(p.result);
    CHECK(card_is_right(&given, values, given.n));
    free(values);
    card_product_free(&p);
    ggml_backend_free(backend);
    card_given_free(&given);
}

void
too_large_is_told_and_goes_on(void **state)
{
    (void)state;
    card_run(take_too_much, CARD_MEMORY " GGMLBACKEND_LOG=none");
}
