/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/memory.c - memory of a device of Vulkan, of the host for it, and of
 * the client's that it uses, through the interface alone.
 *
 * memory.sh runs it on lavapipe, which has all of that in one memory, with one
 * after the other taken away.  Arguments are how many MiB large tensors have, and the
 * pattern of tests to run.
 */
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml-vulkan.h"
#include "ggmlbackend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)

static ggml_backend_dev_t device;
static size_t large = 3; /* MiB */

static bool
is_set(const char *word)
{
    const char *words = getenv("GGMLBACKEND_VULKAN_TEST");

    return words != NULL && strstr(words, word) != NULL;
}

static struct ggml_context *
new_context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 128 * ggml_tensor_overhead() + 16 * ggml_graph_overhead(),
        .no_alloc = true });

    assert_non_null(ctx);
    return ctx;
}

static ggml_backend_t
new_backend(void)
{
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);

    assert_non_null(backend);
    return backend;
}

static struct ggml_cgraph *
graph_of(struct ggml_context *ctx, struct ggml_tensor *node)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    ggml_build_forward_expand(graph, node);
    return graph;
}

/* Byte I of what test NUMBER writes. */
static uint8_t
byte_of(int number, size_t i)
{
    return (uint8_t)(i * 31 + i / 251 + (size_t)number * 57);
}

/* ---- the device's memory ---- */

/* More than staging buffers have, so that each part of them is used again. */
static void
long_copies_come_back_from_odd_places(void **state)
{
    const size_t n = 40 * MIB;
    struct ggml_context *ctx = new_context();
    ggml_backend_t backend = new_backend();
    struct ggml_tensor *t =
        ggml_new_tensor_1d(ctx, GGML_TYPE_I8, (int64_t)n + 100);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(ctx, backend);
    uint8_t *const data = malloc(n), *const got = malloc(n);

    (void)state;
    assert_true(buffer != NULL && data != NULL && got != NULL);
    for (int round = 0; round < 3; round++) {
        const size_t at = (size_t)(round * 7 + 3);

        for (size_t i = 0; i < n; i++)
            data[i] = byte_of(round, i);
        ggml_backend_tensor_set(t, data, at, n);
        memset(got, 0, n);
        ggml_backend_tensor_get(t, got, at, n);
        assert_true(memcmp(got, data, n) == 0);
        ggml_backend_tensor_get(t, got, at + n - 5, 5);
        assert_memory_equal(got, data + n - 5, 5);
    }
    free(data);
    free(got);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

/* GGMLBACKEND_GPU_MEMORY of 200 MiB, GGML_VK_SUBALLOCATION_BLOCK_SIZE of 100. */
static void
limits_of_the_environment_are_kept(void **state)
{
    ggml_backend_buffer_type_t buft = ggml_backend_dev_buffer_type(device);
    size_t before, after, total;
    ggml_backend_buffer_t buffer;

    (void)state;
    if (getenv("GGMLBACKEND_GPU_MEMORY") == NULL)
        skip();
    ggml_backend_dev_memory(device, &before, &total);
    assert_int_equal(total, 200 * MIB);
    assert_true(before <= total);
    assert_true(ggml_backend_buft_get_max_size(buft) <= 100 * MIB);
    assert_true(ggml_backend_buft_get_max_size(buft) >= 99 * MIB);
    assert_null(ggml_backend_buft_alloc_buffer(buft, 201 * MIB));
    buffer = ggml_backend_buft_alloc_buffer(buft, 150 * MIB);
    assert_non_null(buffer);
    ggml_backend_dev_memory(device, &after, &total);
    assert_true(after <= 50 * MIB && after >= 49 * MIB);
    assert_null(ggml_backend_buft_alloc_buffer(buft, 51 * MIB));
    ggml_backend_buffer_free(buffer);
    ggml_backend_dev_memory(device, &after, &total);
    assert_int_equal(after, before);
}

/* ---- pinned memory ---- */

static void
pinned_memory_is_the_hosts(void **state)
{
    ggml_backend_buffer_type_t host =
        ggml_backend_dev_host_buffer_type(device);
    struct ggml_backend_dev_props props;
    struct ggml_context *ctx = new_context();
    ggml_backend_t cpu = ggml_backend_cpu_init();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1000);
    struct ggml_tensor *y = ggml_sqr(ctx, x);
    struct ggml_cgraph *graph = graph_of(ctx, y);
    ggml_backend_buffer_t buffer;

    (void)state;
    ggml_backend_dev_get_props(device, &props);
    assert_true(props.caps.host_buffer && host != NULL);
    assert_string_equal(ggml_backend_buft_name(host), "Vulkan_Host");
    assert_true(ggml_backend_buft_is_host(host));
    assert_ptr_equal(ggml_backend_vk_host_buffer_type(), host);
    buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx, host);
    assert_non_null(buffer);
    assert_true(ggml_backend_buffer_is_host(buffer));
    for (int i = 0; i < 1000; i++)
        ((float *)x->data)[i] = (float)i;
    assert_int_equal(ggml_backend_graph_compute(cpu, graph),
                     GGML_STATUS_SUCCESS);
    for (int i = 0; i < 1000; i++)
        assert_true(((float *)y->data)[i] == (float)(i * i));
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(cpu);
    ggml_free(ctx);
}

static void
memory_that_cannot_be_pinned_is_ordinary(void **state)
{
    ggml_backend_buffer_type_t host =
        ggml_backend_dev_host_buffer_type(device);
    const size_t most =
        ggml_backend_buft_get_max_size(ggml_backend_dev_buffer_type(device));
    ggml_backend_buffer_t buffer;

    (void)state;
    if (most > 256 * MIB)
        skip();
    buffer = ggml_backend_buft_alloc_buffer(host, 2 * most);
    assert_non_null(buffer);
    assert_true(ggml_backend_buffer_is_host(buffer));
    memset(ggml_backend_buffer_get_base(buffer), 1, 2 * most);
    ggml_backend_buffer_free(buffer);
}

enum { ROUNDS = 24, N = 50000 };

/* Copies in, graphs and copies out, none of which is waited for: each comes after
 * the one before.  FROM and TO have a row for each round. */
static void
queue_rounds(float (*from)[N], float (*to)[N])
{
    struct ggml_context *ctx = new_context();
    ggml_backend_t backends[] = { new_backend(), new_backend() };
    ggml_backend_event_t event = ggml_backend_event_new(device);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    struct ggml_cgraph *graph = graph_of(ctx, ggml_sqr_inplace(ctx, x));
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(ctx, backends[0]);

    assert_true(buffer != NULL && event != NULL);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < N; i++)
            from[r][i] = (float)((i + 7 * r) % 1000);
    for (int r = 0; r < ROUNDS; r++) {
        /* The other backend's every third time. */
        ggml_backend_t backend = backends[r % 3 == 2];

        ggml_backend_event_wait(backend, event);
        ggml_backend_tensor_set_async(backend, x, from[r], 0, sizeof(*from));
        assert_int_equal(ggml_backend_graph_compute_async(backend, graph),
                         GGML_STATUS_SUCCESS);
        ggml_backend_tensor_get_async(backend, x, to[r], 0, sizeof(*to));
        ggml_backend_event_record(event, backend);
    }
    ggml_backend_event_synchronize(event);
    ggml_backend_synchronize(backends[0]);
    ggml_backend_synchronize(backends[1]);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < N; i++)
            if (to[r][i] != from[r][i] * from[r][i])
                fail_msg("round %d, value %d: %g", r, i, to[r][i]);
    ggml_backend_buffer_free(buffer);
    ggml_backend_event_free(event);
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    ggml_free(ctx);
}

static void
copies_are_queued_from_and_to_pinned_memory(void **state)
{
    const size_t size = ROUNDS * N * sizeof(float);
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_host_buffer_type(device), 2 * size);
    char *base;

    (void)state;
    assert_non_null(buffer);
    base = ggml_backend_buffer_get_base(buffer);
    queue_rounds((float(*)[N])base, (float(*)[N])(base + size));
    ggml_backend_buffer_free(buffer);
}

static void
copies_are_queued_from_and_to_other_memory(void **state)
{
    const size_t size = ROUNDS * N * sizeof(float);
    char *const base = malloc(2 * size);

    (void)state;
    assert_non_null(base);
    queue_rounds((float(*)[N])base, (float(*)[N])(base + size));
    free(base);
}

/* ---- the client's memory ---- */

static bool
can_use_clients(void)
{
    struct ggml_backend_dev_props props;

    ggml_backend_dev_get_props(device, &props);
    return props.caps.buffer_from_host_ptr;
}

/* A mapped file of N floats 0, 1, … behind HEAD bytes; read-only. */
static char *
map_file(size_t head, size_t n, size_t *size)
{
    FILE *file = tmpfile();
    char *mapped;

    assert_non_null(file);
    *size = head + n * sizeof(float);
    for (size_t i = 0; i < head; i++)
        fputc('h', file);
    for (size_t i = 0; i < n; i++) {
        const float value = (float)(i % 10000);

        fwrite(&value, sizeof(value), 1, file);
    }
    fflush(file);
    mapped = mmap(NULL, *size, PROT_READ, MAP_SHARED, fileno(file), 0);
    assert_true(mapped != MAP_FAILED);
    fclose(file);
    return mapped;
}

/* What is written to a copy is read again, wherever two of them meet. */
static void
change_copies(ggml_backend_t backend, struct ggml_tensor **t, int n)
{
    const size_t size = ggml_nbytes(t[0]);
    uint8_t *const bytes = malloc(size), *const got = malloc(size);

    assert_true(bytes != NULL && got != NULL);
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k < size; k++)
            bytes[k] = byte_of(i, k);
        /* By the host at once, where memory is mapped. */
        ggml_backend_tensor_set_async(backend, t[i], bytes, 0, size);
        ggml_backend_synchronize(backend);
        ggml_backend_tensor_memset(t[i], (uint8_t)i, size - 9, 9);
    }
    for (int i = 0; i < n; i++) {
        for (size_t k = 0; k < size; k++)
            bytes[k] = k < size - 9 ? byte_of(i, k) : (uint8_t)i;
        ggml_backend_tensor_get(t[i], got, 0, size);
        assert_memory_equal(got, bytes, size);
        for (size_t k = 0; k + size / 10 <= size; k += size / 10) {
            ggml_backend_tensor_get(t[i], got, k, size / 10);
            assert_memory_equal(got, bytes + k, size / 10);
        }
    }
    free(bytes);
    free(got);
}

static void
weights_are_used_in_a_mapped_file(void **state)
{
    enum { HEAD = 2080, TENSORS = 90, EACH = 25000 };
    size_t size;
    char *const mapped = map_file(HEAD, TENSORS * EACH, &size);
    struct ggml_context *ctx = new_context(), *others = new_context();
    ggml_backend_t backend = new_backend();
    struct ggml_tensor *t[TENSORS], *sum;
    ggml_backend_buffer_t weights, rest;
    float *const got = malloc(EACH * sizeof(float));

    (void)state;
    assert_non_null(got);
    if (!can_use_clients()) {
        assert_null(ggml_backend_dev_buffer_from_host_ptr(device, mapped, size,
                                                          size));
        munmap(mapped, size);
        free(got);
        ggml_backend_free(backend);
        ggml_free(ctx);
        ggml_free(others);
        skip();
    }
    weights = ggml_backend_dev_buffer_from_host_ptr(
        device, mapped + HEAD, size - HEAD, EACH * sizeof(float));
    assert_non_null(weights);
    assert_ptr_equal(ggml_backend_buffer_get_base(weights), mapped + HEAD);
    for (int i = 0; i < TENSORS; i++) {
        t[i] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, EACH);
        assert_int_equal(ggml_backend_tensor_alloc(
                             weights, t[i],
                             mapped + HEAD + (size_t)i * EACH * sizeof(float)),
                         GGML_STATUS_SUCCESS);
    }
    sum = ggml_scale(others, t[0], 1.0f);
    for (int i = 1; i < TENSORS; i++)
        sum = i == 1 ? ggml_add(others, sum, t[i])
                     : ggml_add_inplace(others, sum, t[i]);
    rest = ggml_backend_alloc_ctx_tensors(others, backend);
    assert_non_null(rest);
    assert_int_equal(
        ggml_backend_graph_compute(backend, graph_of(others, sum)),
        GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(sum, got, 0, EACH * sizeof(float));
    for (int i = 0; i < EACH; i++) {
        float wanted = 0.0f;

        for (int k = 0; k < TENSORS; k++)
            wanted += (float)((k * EACH + i) % 10000);
        if (got[i] != wanted)
            fail_msg("value %d is %g, not %g", i, got[i], wanted);
    }
    for (int i = 0; i < TENSORS; i++) {
        ggml_backend_tensor_get(t[i], got, 0, EACH * sizeof(float));
        assert_memory_equal(got, t[i]->data, EACH * sizeof(float));
    }
    if (is_set("failed-import"))
        change_copies(backend, t, TENSORS);
    ggml_backend_buffer_free(rest);
    ggml_backend_buffer_free(weights);
    munmap(mapped, size);
    free(got);
    ggml_backend_free(backend);
    ggml_free(ctx);
    ggml_free(others);
}

/* What the device writes is the client's, and nothing beside it is touched. */
static void
results_lie_in_the_clients_memory(void **state)
{
    enum { BEFORE = 96, BEHIND = 300 };
    const size_t size = N * sizeof(float);
    struct ggml_context *ctx = new_context();
    ggml_backend_t backend = new_backend();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    struct ggml_tensor *y = ggml_sqr_inplace(ctx, x);
    struct ggml_cgraph *graph = graph_of(ctx, y);
    ggml_backend_buffer_t buffer;
    char *const base = aligned_alloc(32, (BEFORE + size + BEHIND) / 32 * 32);
    float *const values = (float *)(base + BEFORE);
    float *const got = malloc(size);

    (void)state;
    assert_true(base != NULL && got != NULL);
    if (!can_use_clients()) {
        free(base);
        free(got);
        ggml_backend_free(backend);
        ggml_free(ctx);
        skip();
    }
    memset(base, 0x5a, BEFORE + size + BEHIND - 32);
    for (int i = 0; i < N; i++)
        values[i] = (float)(i % 1000);
    assert_null(ggml_backend_dev_buffer_from_host_ptr(device, NULL, 64, 64));
    assert_null(ggml_backend_dev_buffer_from_host_ptr(device, base, 0, 0));
    buffer = ggml_backend_dev_buffer_from_host_ptr(device, values, size, size);
    assert_non_null(buffer);
    assert_int_equal(ggml_backend_tensor_alloc(buffer, x, values),
                     GGML_STATUS_SUCCESS);
    assert_int_equal(ggml_backend_view_init(y), GGML_STATUS_SUCCESS);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(x, got, 0, size);
    for (int i = 0; i < N; i++) {
        const float wanted = (float)((i % 1000) * (i % 1000));

        assert_true(got[i] == wanted);
        assert_true(is_set("failed-import") || values[i] == wanted);
    }
    ggml_backend_buffer_clear(buffer, 7);
    ggml_backend_tensor_get(x, got, 0, size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(((char *)got)[i], 7);
    for (int i = 0; i < BEFORE; i++)
        assert_int_equal(base[i], 0x5a);
    for (int i = 0; i < BEHIND - 32; i++)
        assert_int_equal(base[BEFORE + size + (size_t)i], 0x5a);
    ggml_backend_buffer_free(buffer);
    free(base);
    free(got);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

/* ---- tensors that are larger than what a shader sees ---- */

enum { COLUMNS = 1024 };

/* Value I of the large tensor: -3 … 3, so that sums are exact. */
static float
value_of(int64_t i)
{
    return (float)(i % 7 - 3);
}

/* Rows FIRST to FIRST + N of the large tensor. */
static void
make_rows(float *rows, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n * COLUMNS; i++)
        rows[i] = value_of(first * COLUMNS + i);
}

struct big {
    struct ggml_context *ctx;
    ggml_backend_t backend;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *x, *bias, *ids, *changed, *sums, *picked, *all;
    int64_t rows;
};

enum { ROWS = 4096, PICKED = 37 };

static void
open_big(struct big *big)
{
    float *const rows = malloc(ROWS * COLUMNS * sizeof(float));
    float bias[COLUMNS];
    int32_t ids[PICKED];

    assert_non_null(rows);
    big->rows = (int64_t)(large * MIB / (COLUMNS * sizeof(float))) + 11;
    big->ctx = new_context();
    big->backend = new_backend();
    big->x =
        ggml_new_tensor_2d(big->ctx, GGML_TYPE_F32, COLUMNS, big->rows);
    big->bias = ggml_new_tensor_1d(big->ctx, GGML_TYPE_F32, COLUMNS);
    big->ids = ggml_new_tensor_1d(big->ctx, GGML_TYPE_I32, PICKED);
    big->changed = ggml_scale_inplace(
        big->ctx, ggml_add_inplace(big->ctx, big->x, big->bias), 2.0f);
    big->sums = ggml_sum_rows(big->ctx, big->changed);
    big->picked = ggml_get_rows(big->ctx, big->changed, big->ids);
    big->all = ggml_sum(big->ctx, big->changed);
    big->buffer = ggml_backend_alloc_ctx_tensors(big->ctx, big->backend);
    assert_non_null(big->buffer);
    for (int64_t row = 0; row < big->rows; row += ROWS) {
        const int64_t n = big->rows - row < ROWS ? big->rows - row : ROWS;

        make_rows(rows, row, n);
        ggml_backend_tensor_set(big->x, rows,
                                (size_t)(row * COLUMNS) * sizeof(float),
                                (size_t)(n * COLUMNS) * sizeof(float));
    }
    for (int i = 0; i < COLUMNS; i++)
        bias[i] = (float)(i % 5);
    for (int i = 0; i < PICKED; i++)
        ids[i] = (int32_t)(i == 5 ? -1 : (i * 7919 + big->rows - 1) % big->rows);
    ggml_backend_tensor_set(big->bias, bias, 0, sizeof(bias));
    ggml_backend_tensor_set(big->ids, ids, 0, sizeof(ids));
    free(rows);
}

static float
changed_value(int64_t row, int64_t column)
{
    return 2.0f * (value_of(row * COLUMNS + column) + (float)(column % 5));
}

static void
check_changed(const struct big *big)
{
    float *const rows = malloc(ROWS * COLUMNS * sizeof(float));

    assert_non_null(rows);
    for (int64_t row = 0; row < big->rows; row += ROWS) {
        const int64_t n = big->rows - row < ROWS ? big->rows - row : ROWS;

        ggml_backend_tensor_get(big->changed, rows,
                                (size_t)(row * COLUMNS) * sizeof(float),
                                (size_t)(n * COLUMNS) * sizeof(float));
        for (int64_t i = 0; i < n * COLUMNS; i++)
            if (rows[i] != changed_value(row + i / COLUMNS, i % COLUMNS))
                fail_msg("row %d, column %d: %g", (int)(row + i / COLUMNS),
                         (int)(i % COLUMNS), rows[i]);
    }
    free(rows);
}

static void
check_sums(const struct big *big)
{
    float *const sums = malloc(ggml_nbytes(big->sums));

    assert_non_null(sums);
    ggml_backend_tensor_get(big->sums, sums, 0, ggml_nbytes(big->sums));
    for (int64_t row = 0; row < big->rows; row++) {
        float sum = 0.0f;

        for (int64_t i = 0; i < COLUMNS; i++)
            sum += changed_value(row, i);
        if (sums[row] != sum)
            fail_msg("sum of row %d: %g, not %g", (int)row, sums[row], sum);
    }
    free(sums);
}

static void
check_picked(const struct big *big)
{
    float *const rows = malloc(ggml_nbytes(big->picked));
    int32_t ids[PICKED];

    assert_non_null(rows);
    ggml_backend_tensor_get(big->ids, ids, 0, sizeof(ids));
    ggml_backend_tensor_get(big->picked, rows, 0, ggml_nbytes(big->picked));
    for (int i = 0; i < PICKED * COLUMNS; i++) {
        const int32_t row = ids[i / COLUMNS];
        const float wanted =
            row < 0 ? 0.0f : changed_value(row, i % COLUMNS);

        if (rows[i] != wanted)
            fail_msg("row %d picked: %g, not %g", (int)row, rows[i], wanted);
    }
    free(rows);
}

/* Rounded, of parts of 16,384 elements that are not. */
static void
check_all(const struct big *big)
{
    double wanted = 0.0;
    float sum;

    for (int64_t row = 0; row < big->rows; row++)
        for (int64_t i = 0; i < COLUMNS; i++)
            wanted += changed_value(row, i);
    ggml_backend_tensor_get(big->all, &sum, 0, sizeof(sum));
    if (fabs(sum - wanted) > 1e-5 * wanted)
        fail_msg("the sum of all is %g, not %g", sum, wanted);
}

static void
large_tensors_are_computed_in_parts(void **state)
{
    struct big big;
    struct ggml_cgraph *graph;

    (void)state;
    open_big(&big);
    assert_true(ggml_backend_supports_op(big.backend, big.changed));
    assert_true(ggml_backend_supports_op(big.backend, big.sums));
    assert_true(ggml_backend_supports_op(big.backend, big.picked));
    graph = graph_of(big.ctx, big.sums);
    ggml_build_forward_expand(graph, big.picked);
    if (ggml_backend_supports_op(big.backend, big.all))
        ggml_build_forward_expand(graph, big.all);
    else
        assert_true(is_set("tiny-range"));
    assert_int_equal(ggml_backend_graph_compute(big.backend, graph),
                     GGML_STATUS_SUCCESS);
    check_changed(&big);
    check_sums(&big);
    check_picked(&big);
    if (!is_set("tiny-range"))
        check_all(&big);
    ggml_backend_buffer_free(big.buffer);
    ggml_backend_free(big.backend);
    ggml_free(big.ctx);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_copies_come_back_from_odd_places),
        cmocka_unit_test(limits_of_the_environment_are_kept),
        cmocka_unit_test(pinned_memory_is_the_hosts),
        cmocka_unit_test(memory_that_cannot_be_pinned_is_ordinary),
        cmocka_unit_test(copies_are_queued_from_and_to_pinned_memory),
        cmocka_unit_test(copies_are_queued_from_and_to_other_memory),
        cmocka_unit_test(weights_are_used_in_a_mapped_file),
        cmocka_unit_test(results_lie_in_the_clients_memory),
        cmocka_unit_test(large_tensors_are_computed_in_parts),
    };

    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan; memory.sh brings one");
        return 0;
    }
    if (argc > 1)
        large = (size_t)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    return cmocka_run_group_tests_name("memory of Vulkan", tests, NULL, NULL);
}
