/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/card-shared.c - what the parts of tests/cuda/card share.
 */
#include "config.h"

#include "tests/cuda/card.h"
#include "tests/util/child.h"
#include "tests/util/library.h"
#include "tests/util/random.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* What a child says that cannot do its part here. */
#define LEFT_OUT "left out: "

void
card_run(void (*run)(void), const char *variables)
{
    const char *said;

    gb_child_case(run, variables, "EMU_", &said);
    said = strstr(said, LEFT_OUT);
    if (said != NULL)
        print_message("# %s", said);
}

/* ---- devices ---- */

bool
card_open_emulator(void)
{
    const char *driver = "tests/gpu-emulator/lanes32/.libs/libcuda.so.1";

    if (getenv("GGML_BACKEND_PATH") != NULL)
        return false;
    CHECK(dlopen(gb_built(driver), RTLD_NOW | RTLD_LOCAL) != NULL);
    return true;
}

void
card_load(void)
{
    const char *module = "tests/cuda/.libs/libggml-cuda.so";

    if (card_open_emulator())
        CHECK(ggml_backend_load(gb_built(module)) != NULL);
    else
        ggml_backend_load_all();
    CHECK(ggml_backend_cuda_get_device_count() > 0);
}

bool
card_leave_out(const char *why)
{
    fprintf(stderr, LEFT_OUT "%s\n", why);
    return false;
}

bool
card_load_two(void)
{
    const char *list = getenv("GGMLBACKEND_GPU_DEVICES");
    char names[2][128];

    card_load();
    if (ggml_backend_cuda_get_device_count() < 2) {
        CHECK(list == NULL || strchr(list, ',') == NULL);
        return card_leave_out("there is one card");
    }
    for (int i = 0; i < 2; i++)
        ggml_backend_cuda_get_device_description(i, names[i], sizeof(names[i]));
    return strcmp(names[0], names[1]) == 0 ||
           card_leave_out("the first two cards are not alike");
}

ggml_backend_t
card_backend(int device)
{
    ggml_backend_t backend = ggml_backend_cuda_init(device);

    CHECK(backend != NULL);
    return backend;
}

size_t
card_free_memory(void)
{
    size_t free, total;

    ggml_backend_dev_memory(
        ggml_backend_reg_dev_get(ggml_backend_cuda_reg(), 0), &free, &total);
    return free;
}

size_t
card_total_memory(void)
{
    size_t free, total;

    ggml_backend_cuda_get_device_memory(0, &free, &total);
    return total;
}

int64_t
card_size(int64_t small, int64_t large)
{
    return card_total_memory() < (size_t)1 << 30 ? small : large;
}

/* ---- tensors ---- */

void *
card_room(size_t size)
{
    void *memory = malloc(size);

    CHECK(memory != NULL);
    return memory;
}

struct ggml_context *
card_context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 64 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });

    CHECK(ctx != NULL);
    return ctx;
}

float *
card_numbers(int64_t n, uint64_t seed)
{
    float *values = card_room((size_t)n * sizeof(float));
    struct gb_random random;

    gb_random_init(&random, seed);
    for (int64_t i = 0; i < n; i++)
        values[i] = gb_random_float(&random, -1.0f, 1.0f);
    return values;
}

void *
card_numbers_as(enum ggml_type type, int64_t per_row, int64_t n_rows,
                uint64_t seed)
{
    float *values = card_numbers(per_row * n_rows, seed);
    void *bytes = card_room(ggml_row_size(type, per_row) * (size_t)n_rows);

    ggml_quantize_chunk(type, values, bytes, 0, n_rows, per_row, NULL);
    free(values);
    return bytes;
}

void
card_set(struct ggml_tensor *tensor, const void *data)
{
    ggml_backend_tensor_set(tensor, data, 0, ggml_nbytes(tensor));
}

float *
card_get(const struct ggml_tensor *tensor)
{
    float *values = card_room(ggml_nbytes(tensor));

    ggml_backend_tensor_get(tensor, values, 0, ggml_nbytes(tensor));
    return values;
}

void
card_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    for (int turn = 0; turn < 2; turn++)
        CHECK(ggml_backend_graph_compute(backend, graph) ==
              GGML_STATUS_SUCCESS);
}

/* ---- one product ---- */

struct card_given
card_given_make(enum ggml_type type, int64_t k, int64_t m, int64_t n)
{
    return (struct card_given){ .type = type,
                                .k = k,
                                .m = m,
                                .n = n,
                                .weights = card_numbers_as(type, k, m, 1),
                                .x = card_numbers(k * n, 2) };
}

void
card_given_free(struct card_given *given)
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

bool
card_is_right(const struct card_given *given, const float *out, int64_t n)
{
    const int64_t columns[] = { 0, n / 2, n - 1 };
    const size_t row_size = ggml_row_size(given->type, given->k);
    float *row = card_room((size_t)given->k * sizeof(float));
    double wrong = 0.0, all = 0.0;

    for (int64_t m = 0; m < given->m; m++) {
        ggml_get_type_traits(given->type)
            ->to_float((const char *)given->weights + (size_t)m * row_size, row,
                       given->k);
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

bool
card_has_memory(const struct card_product *p)
{
    return p->weights_buffer != NULL && p->buffer != NULL;
}

struct card_product
card_product_make(ggml_backend_buffer_type_t weights,
                  const struct card_given *given)
{
    struct card_product p = { .weights_ctx = card_context(),
                              .ctx = card_context() };

    p.weights = ggml_new_tensor_2d(p.weights_ctx, given->type, given->k,
                                   given->m);
    p.x = ggml_new_tensor_2d(p.ctx, GGML_TYPE_F32, given->k, given->n);
    p.result = ggml_mul_mat(p.ctx, p.weights, p.x);
    p.graph = ggml_new_graph(p.ctx);
    ggml_build_forward_expand(p.graph, p.result);
    p.weights_buffer = ggml_backend_alloc_ctx_tensors_from_buft(p.weights_ctx,
                                                                weights);
    p.buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        p.ctx, ggml_backend_cuda_buffer_type(0));
    if (card_has_memory(&p)) {
        card_set(p.weights, given->weights);
        card_set(p.x, given->x);
    }
    return p;
}

void
card_product_free(struct card_product *p)
{
    ggml_backend_buffer_free(p->buffer);
    ggml_backend_buffer_free(p->weights_buffer);
    ggml_free(p->ctx);
    ggml_free(p->weights_ctx);
}

float *
card_product_of(ggml_backend_buffer_type_t weights,
                const struct card_given *given)
{
    ggml_backend_t backend = card_backend(0);
    struct card_product p = card_product_make(weights, given);
    float *values;

    CHECK(card_has_memory(&p));
    card_compute(backend, p.graph);
    values = card_get(p.result);
    card_product_free(&p);
    ggml_backend_free(backend);
    return values;
}
