/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/device.c - bytes, graphs, events and failures on a device of
 * Vulkan, through the interface alone.
 *
 * devices.sh runs it on lavapipe, in memory that is mapped and in memory that is
 * not, with descriptors that are pushed and with ones from pools.
 */
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static ggml_backend_dev_t device;

static struct ggml_context *
new_context(size_t n_tensors)
{
    const struct ggml_init_params params = {
        .mem_size = n_tensors * ggml_tensor_overhead() +
                    2 * ggml_graph_overhead_custom(4096, false),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);

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

/* ---- bytes ---- */

enum { N_BYTES = 9 << 20 }; /* more than a staging buffer has */

/* A tensor of bytes on the device, and what is in it by the test's own book. */
struct book {
    struct ggml_context *ctx;
    ggml_backend_t backend;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *t;
    uint8_t *expected, *got;
};

static void
open_book(struct book *book)
{
    book->ctx = new_context(4);
    book->backend = new_backend();
    book->t = ggml_new_tensor_1d(book->ctx, GGML_TYPE_I8, N_BYTES);
    book->buffer = ggml_backend_alloc_ctx_tensors(book->ctx, book->backend);
    assert_non_null(book->buffer);
    book->expected = malloc(N_BYTES);
    book->got = malloc(N_BYTES);
    assert_non_null(book->expected);
    assert_non_null(book->got);
    for (size_t i = 0; i < N_BYTES; i++)
        book->expected[i] = (uint8_t)(i * 31 + i / 251);
    ggml_backend_tensor_set(book->t, book->expected, 0, N_BYTES);
}

static void
compare(struct book *book)
{
    memset(book->got, 0xaa, N_BYTES);
    ggml_backend_tensor_get(book->t, book->got, 0, N_BYTES);
    for (size_t i = 0; i < N_BYTES; i++)
        if (book->got[i] != book->expected[i])
            fail_msg("byte %zu is %d, not %d", i, book->got[i],
                     book->expected[i]);
}

static void
close_book(struct book *book)
{
    free(book->got);
    free(book->expected);
    ggml_backend_buffer_free(book->buffer);
    ggml_backend_free(book->backend);
    ggml_free(book->ctx);
}

static void
bytes_come_back_wherever_they_begin_and_end(void **state)
{
    static const struct {
        size_t offset, size;
    } parts[] = { { 0, 1 },    { 1, 1 },         { 3, 2 },
                  { 5, 3 },    { 8, 4 },         { 14, 19 },
                  { 101, 64 }, { 4095, 8 << 20 } };
    struct book book;

    (void)state;
    open_book(&book);
    compare(&book);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const uint8_t value = (uint8_t)(17 * i + 3);

        memset(book.expected + parts[i].offset, value, parts[i].size);
        if (i % 2 == 0)
            ggml_backend_tensor_set(book.t, book.expected + parts[i].offset,
                                    parts[i].offset, parts[i].size);
        else
            ggml_backend_tensor_memset(book.t, value, parts[i].offset,
                                       parts[i].size);
        memset(book.got, 0, parts[i].size);
        ggml_backend_tensor_get(book.t, book.got, parts[i].offset,
                                parts[i].size);
        assert_memory_equal(book.got, book.expected + parts[i].offset,
                            parts[i].size);
    }
    compare(&book);
    close_book(&book);
}

static void
a_buffer_is_cleared_to_its_last_byte(void **state)
{
    struct book book;

    (void)state;
    open_book(&book);
    ggml_backend_buffer_clear(book.buffer, 0x5c);
    memset(book.expected, 0x5c, N_BYTES);
    compare(&book);
    close_book(&book);
}

static void
tensors_are_copied_on_the_device(void **state)
{
    struct book from, to;

    (void)state;
    open_book(&from);
    open_book(&to);
    ggml_backend_buffer_clear(to.buffer, 0);
    ggml_backend_tensor_copy(from.t, to.t);
    compare(&to);
    ggml_backend_buffer_clear(to.buffer, 0);
    ggml_backend_tensor_copy_async(from.backend, to.backend, from.t, to.t);
    ggml_backend_synchronize(to.backend);
    compare(&to);
    close_book(&from);
    close_book(&to);
}

/* ---- graphs ---- */

enum { N = 1000 };

/* x on the device, and a graph that adds one to it so often. */
struct counting {
    struct ggml_context *ctx;
    ggml_backend_t backend;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *x, *one;
    struct ggml_cgraph *graph;
};

static void
open_counting(struct counting *counting, int n_steps)
{
    struct ggml_tensor *sum;
    float values[N], one = 1.0f;

    counting->ctx = new_context((size_t)n_steps + 8);
    counting->backend = new_backend();
    counting->x = ggml_new_tensor_1d(counting->ctx, GGML_TYPE_F32, N);
    counting->one = ggml_new_tensor_1d(counting->ctx, GGML_TYPE_F32, 1);
    counting->graph = ggml_new_graph_custom(counting->ctx, 4096, false);
    sum = counting->x;
    for (int i = 0; i < n_steps; i++)
        sum = ggml_add1_inplace(counting->ctx, sum, counting->one);
    ggml_build_forward_expand(counting->graph, sum);
    counting->buffer =
        ggml_backend_alloc_ctx_tensors(counting->ctx, counting->backend);
    assert_non_null(counting->buffer);
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    ggml_backend_tensor_set(counting->x, values, 0, sizeof(values));
    ggml_backend_tensor_set(counting->one, &one, 0, sizeof(one));
}

static void
close_counting(struct counting *counting)
{
    ggml_backend_buffer_free(counting->buffer);
    ggml_backend_free(counting->backend);
    ggml_free(counting->ctx);
}

static void
expect_sum(const float values[N], int added)
{
    for (int i = 0; i < N; i++)
        if (values[i] != (float)(i + added))
            fail_msg("value %d is %g, not %d", i, values[i], i + added);
}

/* Each reads what the one before it wrote, in one command buffer and in the
 * next. */
static void
steps_that_depend_on_each_other_wait(void **state)
{
    struct counting counting;
    float values[N];

    (void)state;
    open_counting(&counting, 1500);
    assert_int_equal(
        ggml_backend_graph_compute(counting.backend, counting.graph),
        GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(counting.x, values, 0, sizeof(values));
    expect_sum(values, 1500);
    close_counting(&counting);
}

static void
what_is_queued_is_done_in_its_order(void **state)
{
    struct counting counting;
    float values[N], other[N] = { 0 };

    (void)state;
    open_counting(&counting, 40);
    for (int i = 0; i < 7; i++)
        assert_int_equal(
            ggml_backend_graph_compute_async(counting.backend, counting.graph),
            GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get_async(counting.backend, counting.x, values, 0,
                                  sizeof(values));
    ggml_backend_tensor_set_async(counting.backend, counting.x, other, 0,
                                  sizeof(other));
    ggml_backend_synchronize(counting.backend);
    expect_sum(values, 7 * 40);
    ggml_backend_tensor_get(counting.x, values, 0, sizeof(values));
    for (int i = 0; i < N; i++)
        assert_true(values[i] == 0.0f);
    close_counting(&counting);
}

static void
an_event_is_waited_for_by_others(void **state)
{
    struct counting counting;
    ggml_backend_event_t event = ggml_backend_event_new(device);
    ggml_backend_t other = new_backend();
    float values[N];

    (void)state;
    assert_non_null(event);
    open_counting(&counting, 100);
    assert_int_equal(
        ggml_backend_graph_compute_async(counting.backend, counting.graph),
        GGML_STATUS_SUCCESS);
    ggml_backend_event_record(event, counting.backend);
    ggml_backend_event_wait(other, event);
    assert_int_equal(ggml_backend_graph_compute_async(other, counting.graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_event_record(event, other);
    ggml_backend_event_synchronize(event);
    ggml_backend_tensor_get(counting.x, values, 0, sizeof(values));
    expect_sum(values, 200);
    ggml_backend_free(other);
    ggml_backend_event_free(event);
    close_counting(&counting);
}

/* ---- behind an event ---- */

/* Two backends of one device: FIRST adds ADDED to x, and SECOND waits for that. */
enum { ADDED = 1000 };

struct behind {
    struct counting first;
    ggml_backend_t second;
    ggml_backend_event_t event;
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *copy;
    float values[N];
};

static void
get_behind(struct behind *b)
{
    ggml_backend_tensor_get_async(b->second, b->first.x, b->values, 0,
                                  sizeof(b->values));
    ggml_backend_synchronize(b->second);
}

static void
get_when_synchronized(struct behind *b)
{
    ggml_backend_synchronize(b->second);
    ggml_backend_tensor_get(b->first.x, b->values, 0, sizeof(b->values));
}

/* The first backend's graph reads ONE, which changes behind it. */
static void
set_behind(struct behind *b)
{
    const float two = 2.0f;

    ggml_backend_tensor_set_async(b->second, b->first.one, &two, 0,
                                  sizeof(two));
    ggml_backend_synchronize(b->second);
    ggml_backend_synchronize(b->first.backend);
    ggml_backend_tensor_get(b->first.x, b->values, 0, sizeof(b->values));
}

static void
set_when_synchronized(struct behind *b)
{
    const float two = 2.0f;

    ggml_backend_synchronize(b->second);
    ggml_backend_tensor_set(b->first.one, &two, 0, sizeof(two));
    ggml_backend_synchronize(b->first.backend);
    ggml_backend_tensor_get(b->first.x, b->values, 0, sizeof(b->values));
}

static void
fill_when_synchronized(struct behind *b)
{
    ggml_backend_synchronize(b->second);
    ggml_backend_tensor_memset(b->first.one, 0, 0, sizeof(float));
    ggml_backend_synchronize(b->first.backend);
    ggml_backend_tensor_get(b->first.x, b->values, 0, sizeof(b->values));
}

static void
copy_behind(struct behind *b)
{
    ggml_backend_tensor_copy_async(b->second, b->second, b->first.x, b->copy);
    ggml_backend_tensor_get_async(b->second, b->copy, b->values, 0,
                                  sizeof(b->values));
    ggml_backend_synchronize(b->second);
}

static void
copy_when_synchronized(struct behind *b)
{
    ggml_backend_synchronize(b->second);
    ggml_backend_tensor_copy(b->first.x, b->copy);
    ggml_backend_tensor_get(b->copy, b->values, 0, sizeof(b->values));
}

static void
compute_behind(struct behind *b)
{
    struct ggml_cgraph *graph = ggml_new_graph(b->ctx);

    ggml_build_forward_expand(graph, ggml_cpy(b->ctx, b->first.x, b->copy));
    assert_int_equal(ggml_backend_graph_compute(b->second, graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(b->copy, b->values, 0, sizeof(b->values));
}

/* Its own event has happened when the other one has. */
static void
synchronize_with_its_event(struct behind *b)
{
    ggml_backend_event_record(b->event, b->second);
    ggml_backend_event_synchronize(b->event);
    ggml_backend_tensor_get(b->first.x, b->values, 0, sizeof(b->values));
}

static void
get_by_a_third(struct behind *b)
{
    ggml_backend_t third = new_backend();

    ggml_backend_event_record(b->event, b->second);
    ggml_backend_event_wait(third, b->event);
    ggml_backend_tensor_get_async(third, b->first.x, b->values, 0,
                                  sizeof(b->values));
    ggml_backend_synchronize(third);
    ggml_backend_free(third);
}

static void
open_behind(struct behind *b)
{
    open_counting(&b->first, ADDED);
    b->second = new_backend();
    b->event = ggml_backend_event_new(device);
    assert_non_null(b->event);
    b->ctx = new_context(8);
    b->copy = ggml_new_tensor_1d(b->ctx, GGML_TYPE_F32, N);
    b->buffer = ggml_backend_alloc_ctx_tensors(b->ctx, b->second);
    assert_non_null(b->buffer);
    ggml_backend_buffer_clear(b->buffer, 0);
}

static void
close_behind(struct behind *b)
{
    ggml_backend_synchronize(b->first.backend);
    ggml_backend_buffer_free(b->buffer);
    ggml_free(b->ctx);
    ggml_backend_event_free(b->event);
    ggml_backend_free(b->second);
    close_counting(&b->first);
}

static void
what_comes_behind_an_event_waits(void **state)
{
    static const struct {
        const char *name;
        void (*act)(struct behind *b);
    } rows[] = {
        { "get, queued", get_behind },
        { "get", get_when_synchronized },
        { "set, queued", set_behind },
        { "set", set_when_synchronized },
        { "fill", fill_when_synchronized },
        { "copy, queued", copy_behind },
        { "copy", copy_when_synchronized },
        { "compute", compute_behind },
        { "its own event", synchronize_with_its_event },
        { "a third backend", get_by_a_third },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct behind b;

        open_behind(&b);
        assert_int_equal(
            ggml_backend_graph_compute_async(b.first.backend, b.first.graph),
            GGML_STATUS_SUCCESS);
        ggml_backend_event_record(b.event, b.first.backend);
        ggml_backend_event_wait(b.second, b.event);
        rows[i].act(&b);
        for (int k = 0; k < N; k++)
            if (b.values[k] != (float)(k + ADDED))
                fail_msg("%s: value %d is %g, not %d", rows[i].name, k,
                         b.values[k], k + ADDED);
        close_behind(&b);
    }
}

static void
the_same_bits_come_each_time(void **state)
{
    struct ggml_context *ctx = new_context(16);
    ggml_backend_t backend = new_backend();
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 300, 40);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 300, 20);
    struct ggml_tensor *soft =
        ggml_soft_max(ctx, ggml_rms_norm(ctx, ggml_mul_mat(ctx, a, b), 1e-5f));
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer;
    float values[2][800], source[300 * 40];

    (void)state;
    ggml_build_forward_expand(graph, soft);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    assert_non_null(buffer);
    for (int i = 0; i < 300 * 40; i++)
        source[i] = sinf((float)i * 0.37f);
    ggml_backend_tensor_set(a, source, 0, ggml_nbytes(a));
    ggml_backend_tensor_set(b, source + 77, 0, ggml_nbytes(b));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ggml_backend_graph_compute(backend, graph),
                         GGML_STATUS_SUCCESS);
        ggml_backend_tensor_get(soft, values[i], 0, sizeof(values[i]));
    }
    assert_memory_equal(values[0], values[1], sizeof(values[0]));
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

/* ---- with the CPU ---- */

static void
add_ten(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
        void *data)
{
    const int64_t n = ggml_nelements(dst);

    (void)data;
    for (int64_t i = ith; i < n; i += nth)
        ((float *)dst->data)[i] = ((const float *)a->data)[i] + 10.0f;
}

/* A function of the client's in the middle is the CPU's. */
static void
a_graph_goes_over_to_the_cpu_and_back(void **state)
{
    struct ggml_context *ctx = new_context(16);
    ggml_backend_t backends[] = { new_backend(), ggml_backend_cpu_init() };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, 2, 64, false);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    struct ggml_tensor *y;
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    float values[N];

    (void)state;
    ggml_set_input(x);
    y = ggml_scale(ctx, x, 2.0f);
    ggml_backend_sched_set_tensor_backend(sched, y, backends[0]);
    y = ggml_map_custom1(ctx, y, add_ten, 1, NULL);
    y = ggml_sqr(ctx, y);
    ggml_backend_sched_set_tensor_backend(sched, y, backends[0]);
    ggml_build_forward_expand(graph, y);
    assert_true(ggml_backend_sched_alloc_graph(sched, graph));
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    ggml_backend_tensor_set(x, values, 0, sizeof(values));
    assert_int_equal(ggml_backend_sched_graph_compute(sched, graph),
                     GGML_STATUS_SUCCESS);
    assert_true(ggml_backend_sched_get_n_splits(sched) >= 3);
    ggml_backend_tensor_get(y, values, 0, sizeof(values));
    for (int i = 0; i < N; i++)
        assert_true(values[i] == (2.0f * i + 10.0f) * (2.0f * i + 10.0f));
    ggml_backend_sched_free(sched);
    ggml_backend_free(backends[1]);
    ggml_backend_free(backends[0]);
    ggml_free(ctx);
}

/* As many rows as there are for the same weights: weights in the host's memory are
 * copied for 32 of them. */
static void
a_batch_is_counted_in_rows_of_the_same_weights(void **state)
{
    struct ggml_context *ctx = new_context(64);

    (void)state;
    for (int64_t n = 31; n <= 32; n++) {
        struct ggml_tensor *w = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 96);
        struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, n);
        struct ggml_tensor *heads =
            ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 64, 40, n);
        struct ggml_tensor *few =
            ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 64, 1, n);
        struct ggml_tensor *places =
            ggml_new_tensor_1d(ctx, GGML_TYPE_I32, n);
        struct ggml_tensor *factors =
            ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 32);
        struct ggml_tensor *experts =
            ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 64, 96, 4);
        struct ggml_tensor *chosen =
            ggml_new_tensor_2d(ctx, GGML_TYPE_I32, 40, n);
        struct ggml_tensor *line = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 64);
        const struct ggml_tensor *nodes[] = {
            ggml_mul_mat(ctx, w, x),
            ggml_mul_mat_id(ctx, experts, few, chosen),
            ggml_rope_ext(ctx, heads, places, factors, 64, 0, 0, 1e4f, 1, 0, 1,
                          0, 0),
            ggml_rope_ext_back(ctx, few, places, factors, 64, 0, 0, 1e4f, 1, 0,
                               1, 0, 0),
            ggml_mul(ctx, x, line),
            ggml_mul(ctx, few, line),
        };

        for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
            if (ggml_backend_dev_offload_op(device, nodes[i]) != (n >= 32))
                fail_msg("%s with %d rows", ggml_op_desc(nodes[i]), (int)n);
        assert_false(ggml_backend_dev_offload_op(
            device, ggml_get_rows(ctx, w, places)));
    }
    ggml_free(ctx);
}

/* ---- what does not work ---- */

static void
a_tensor_elsewhere_fails_its_graph_alone(void **state)
{
    struct counting counting;
    ggml_backend_t cpu = ggml_backend_cpu_init();
    ggml_backend_buffer_t wrong = ggml_backend_alloc_buffer(cpu, 4096);
    ggml_backend_buffer_t right;
    float values[N];

    (void)state;
    open_counting(&counting, 3);
    right = counting.one->buffer;
    counting.one->buffer = wrong;
    ggmlbackend_clear_failure();
    assert_int_equal(
        ggml_backend_graph_compute(counting.backend, counting.graph),
        GGML_STATUS_FAILED);
    assert_non_null(strstr(ggmlbackend_last_failure(), "does not lie on"));
    counting.one->buffer = right;
    assert_int_equal(
        ggml_backend_graph_compute(counting.backend, counting.graph),
        GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(counting.x, values, 0, sizeof(values));
    expect_sum(values, 3);
    close_counting(&counting);
    ggml_backend_buffer_free(wrong);
    ggml_backend_free(cpu);
}

static void
memory_that_is_not_there_is_refused(void **state)
{
    ggml_backend_buffer_type_t buft = ggml_backend_dev_buffer_type(device);
    const size_t most = ggml_backend_buft_get_max_size(buft);
    struct counting counting;

    (void)state;
    assert_true(most > 1 << 20);
    assert_null(ggml_backend_buft_alloc_buffer(buft, most + 4096));
    assert_null(ggml_backend_buft_alloc_buffer(buft, SIZE_MAX));
    assert_null(ggml_backend_buft_alloc_buffer(buft, SIZE_MAX / 2));
    open_counting(&counting, 3);
    assert_int_equal(
        ggml_backend_graph_compute(counting.backend, counting.graph),
        GGML_STATUS_SUCCESS);
    close_counting(&counting);
}

/* Below GGMLBACKEND_GPU_MEMORY what is free is what this process has not taken; a
 * driver's own figure may be the system's, which others change. */
static void
memory_is_given_back(void **state)
{
    size_t free_before, free_after, total;

    (void)state;
    if (getenv("GGMLBACKEND_GPU_MEMORY") == NULL)
        skip();
    ggml_backend_dev_memory(device, &free_before, &total);
    assert_true(free_before <= total);
    for (int i = 0; i < 5; i++) {
        struct counting counting;

        open_counting(&counting, 3);
        close_counting(&counting);
    }
    ggml_backend_dev_memory(device, &free_after, &total);
    assert_int_equal(free_after, free_before);
}

/* What a child inherits is its parent's to use and to free. */
static void
a_forked_child_gets_failures(void **state)
{
    struct counting counting;
    float values[N];
    pid_t child;
    int status;

    (void)state;
    open_counting(&counting, 3);
    fflush(NULL);
    child = fork();
    if (child == 0) {
        const bool fails =
            ggml_backend_graph_compute(counting.backend, counting.graph) ==
            GGML_STATUS_FAILED;

        ggml_backend_buffer_free(counting.buffer);
        ggml_backend_free(counting.backend);
        _exit(fails ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(
        ggml_backend_graph_compute(counting.backend, counting.graph),
        GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(counting.x, values, 0, sizeof(values));
    expect_sum(values, 3);
    close_counting(&counting);
}

/* ---- limits ---- */

/* A figure that a processor can have: lavapipe's, or that of what fails the test. */
#define ASSERT_BETWEEN(value, least, most) \
    assert_true((value) >= (least) && (value) <= (most))

/* What SIZE is where the shim has a smaller limit, in whole pages. */
static size_t
limited(size_t size, const char *limit)
{
    const char *limits = getenv("GGMLBACKEND_TEST_VK_LIMITS");
    const char *at = limits != NULL ? strstr(limits, limit) : NULL;
    const size_t most =
        at != NULL ? (size_t)strtoull(at + strlen(limit), NULL, 10) : size;

    return (most < size ? most : size) / 4096 * 4096;
}

static void
limits_are_measured(void **state)
{
    const struct ggmlbackend_dev_limits asked = {
        .size = sizeof(asked), .max_memory = 64 << 20, .seconds = 2e-3,
    };
    struct ggmlbackend_dev_limits limits = asked;
    ggmlbackend_dev_measure_limits_t measure;

    (void)state;
    *(void **)&measure = ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(device), "ggmlbackend_dev_measure_limits");
    assert_non_null(measure);
    assert_int_equal(measure(device, &limits), GGML_STATUS_SUCCESS);
    assert_int_equal(limits.size, sizeof(limits));
    assert_true(limits.seconds == asked.seconds);
    assert_int_equal(limits.array, limited(limited(32 << 20, "range:"),
                                           "allocation:"));
    ASSERT_BETWEEN(limits.read, 1e6, 2e12);
    ASSERT_BETWEEN(limits.copy, 1e6, 4e12);
    ASSERT_BETWEEN(limits.f32, 1e6, 2e13);
    ASSERT_BETWEEN(limits.launch, 1e-7, 1.0);
    ASSERT_BETWEEN(limits.recorded_launch, 1e-8, limits.launch * 2);
    ASSERT_BETWEEN(limits.to_device, 1e6, 1e12);
    ASSERT_BETWEEN(limits.to_host, 1e6, 1e12);

    /* Too little memory, and a size of no version: it is as it was. */
    limits = asked;
    limits.max_memory = 1 << 16;
    assert_int_equal(measure(device, &limits), GGML_STATUS_ALLOC_FAILED);
    assert_true(limits.read == 0.0 && limits.array == 0);
    limits.size = 8;
    assert_int_equal(measure(device, &limits), GGML_STATUS_FAILED);
    assert_int_equal(measure(ggml_backend_dev_by_name("CPU"), &limits),
                     GGML_STATUS_FAILED);
}

/* A caller of an older version has fewer members, one of a newer version more;
 * guards stand behind what SIZE tells. */
static void
limits_have_as_many_members_as_the_caller_knows(void **state)
{
    static const size_t sizes[] = {
        offsetof(struct ggmlbackend_dev_limits, cache),
        offsetof(struct ggmlbackend_dev_limits, copy),
        offsetof(struct ggmlbackend_dev_limits, slowed),
        sizeof(struct ggmlbackend_dev_limits) + 16,
    };
    ggmlbackend_dev_measure_limits_t measure;

    (void)state;
    *(void **)&measure = ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(device), "ggmlbackend_dev_measure_limits");
    assert_non_null(measure);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct {
            struct ggmlbackend_dev_limits limits;
            uint8_t behind[32];
        } asked, told;

        memset(&asked, 0xa5, sizeof(asked));
        asked.limits.size = sizes[i];
        asked.limits.max_memory = 8 << 20;
        asked.limits.seconds = 1e-4;
        told = asked;
        assert_int_equal(measure(device, &told.limits), GGML_STATUS_SUCCESS);
        assert_int_equal(told.limits.size, sizes[i]);
        assert_int_equal(told.limits.max_memory, 8 << 20);
        assert_true(told.limits.seconds == 1e-4);
        if (sizes[i] > offsetof(struct ggmlbackend_dev_limits, read))
            ASSERT_BETWEEN(told.limits.read, 1e6, 2e12);
        if (sizes[i] < sizeof(told.limits))
            assert_memory_equal((char *)&told + sizes[i],
                                (char *)&asked + sizes[i],
                                sizeof(told) - sizes[i]);
        assert_memory_equal(told.behind, asked.behind, sizeof(told.behind));
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_come_back_wherever_they_begin_and_end),
        cmocka_unit_test(a_buffer_is_cleared_to_its_last_byte),
        cmocka_unit_test(tensors_are_copied_on_the_device),
        cmocka_unit_test(steps_that_depend_on_each_other_wait),
        cmocka_unit_test(what_is_queued_is_done_in_its_order),
        cmocka_unit_test(an_event_is_waited_for_by_others),
        cmocka_unit_test(what_comes_behind_an_event_waits),
        cmocka_unit_test(the_same_bits_come_each_time),
        cmocka_unit_test(a_graph_goes_over_to_the_cpu_and_back),
        cmocka_unit_test(a_batch_is_counted_in_rows_of_the_same_weights),
        cmocka_unit_test(a_tensor_elsewhere_fails_its_graph_alone),
        cmocka_unit_test(memory_that_is_not_there_is_refused),
        cmocka_unit_test(memory_is_given_back),
        cmocka_unit_test(limits_are_measured),
        cmocka_unit_test(limits_have_as_many_members_as_the_caller_knows),
        cmocka_unit_test(a_forked_child_gets_failures),
    };

    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan; devices.sh brings one");
        return 0;
    }
    return cmocka_run_group_tests_name("a device of Vulkan", tests, NULL, NULL);
}
