/* SPDX-License-Identifier: MIT */
/*
 * tests/levels/level-2023.c - what becomes of a backend of 2023.
 */
#include "tests/levels/backends/old.h"
#include "tests/util/child.h"
#include "tests/util/fault.h"

#include "lib/levels/level-2023.h"

#include "ggml-backend-impl.h"
#include "ggml-cpu.h"
#include "ggml-impl.h"
#include "ggmlbackend-2023.h"
#include "ggmlbackend.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct ggmlbackend_2023 plain = { .init = old_2023_init };

/* A device of a new registration, whose backends lack MISSING. */
static ggml_backend_dev_t
device_without(unsigned missing)
{
    struct ggml_backend_reg *reg;

    old_2023.missing = missing;
    reg = ggmlbackend_register_2023(&plain);
    assert_non_null(reg);
    return ggml_backend_reg_dev_get(reg, 0);
}

static ggml_backend_dev_t
device_of(const struct ggmlbackend_2023 *about)
{
    struct ggml_backend_reg *reg = ggmlbackend_register_2023(about);

    assert_non_null(reg);
    return ggml_backend_reg_dev_get(reg, 0);
}

static struct ggml_context *
context_new(void)
{
    const struct ggml_init_params params = {
        .mem_size = 32 * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(32, false),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);

    assert_non_null(ctx);
    return ctx;
}

static int
set_up(void **state)
{
    (void)state;
    old_2023_reset();
    return 0;
}

/* ---- registration ---- */

static void
a_registration_has_one_device_with_all_its_names(void **state)
{
    struct ggmlbackend_2023 about = plain;
    struct ggml_backend_dev_props props;
    struct ggml_backend_reg *reg;
    ggml_backend_dev_t dev;
    ggml_backend_t backend;

    (void)state;
    about.name = "First";
    about.description = "a backend of 2023";
    reg = ggmlbackend_register_2023(&about);
    assert_non_null(reg);
    assert_string_equal(ggml_backend_reg_name(reg), "First");
    assert_int_equal(ggml_backend_reg_dev_count(reg), 1);
    assert_null(ggml_backend_reg_get_proc_address(reg, "anything"));
    dev = ggml_backend_dev_by_name("first");
    assert_ptr_equal(dev, ggml_backend_reg_dev_get(reg, 0));
    assert_ptr_equal(ggml_backend_dev_backend_reg(dev), reg);
    ggml_backend_dev_get_props(dev, &props);
    assert_string_equal(props.name, "First");
    assert_string_equal(props.description, "a backend of 2023");
    assert_int_equal(props.type, GGML_BACKEND_DEVICE_TYPE_GPU);
    assert_int_equal(props.memory_total, 0);
    assert_false(props.caps.async || props.caps.events ||
                 props.caps.host_buffer || props.caps.buffer_from_host_ptr);
    assert_string_equal(
        ggml_backend_buft_name(ggml_backend_dev_buffer_type(dev)), "First");

    backend = ggml_backend_dev_init(dev, NULL);
    assert_non_null(backend);
    assert_string_equal(ggml_backend_name(backend), "First");
    assert_non_null(ggml_backend_guid(backend));
    assert_ptr_equal(ggml_backend_get_device(backend), dev);
    assert_null(ggml_backend_event_new(dev));
    ggml_backend_free(backend);
    assert_int_equal(old_2023.n_backends, 1);
}

static void
a_name_that_is_taken_gets_a_number(void **state)
{
    struct ggmlbackend_2023 about = plain;

    (void)state;
    about.name = "Twin";
    assert_string_equal(ggml_backend_dev_name(device_of(&about)), "Twin");
    assert_string_equal(ggml_backend_dev_name(device_of(&about)), "Twin1");
    assert_string_equal(ggml_backend_dev_name(device_of(&about)), "Twin2");
}

static void
say_memory(size_t *free, size_t *total)
{
    *free = 3;
    *total = 5;
}

static void
what_the_registration_says_is_what_the_device_is(void **state)
{
    static const uint8_t guid[16] = { 1, 2, 3, 16 };
    struct ggmlbackend_2023 about = plain;
    size_t free, total;
    ggml_backend_dev_t dev;
    ggml_backend_t backend;

    (void)state;
    about.kind = GGMLBACKEND_2023_CPU;
    about.is_host = true;
    about.get_memory = say_memory;
    about.guid = guid;
    dev = device_of(&about);
    assert_int_equal(ggml_backend_dev_type(dev), GGML_BACKEND_DEVICE_TYPE_CPU);
    ggml_backend_dev_memory(dev, &free, &total);
    assert_int_equal(free, 3);
    assert_int_equal(total, 5);
    assert_true(ggml_backend_buft_is_host(ggml_backend_dev_buffer_type(dev)));
    assert_true(
        ggml_backend_dev_supports_buft(dev, ggml_backend_cpu_buffer_type()));
    assert_false(ggml_backend_dev_supports_buft(
        dev, ggml_backend_dev_buffer_type(device_of(&plain))));
    backend = ggml_backend_dev_init(dev, NULL);
    assert_memory_equal(ggml_backend_guid(backend), guid, sizeof(guid));
    ggml_backend_free(backend);

    about = plain;
    about.kind = GGMLBACKEND_2023_ACCEL;
    dev = device_of(&about);
    assert_int_equal(ggml_backend_dev_type(dev),
                     GGML_BACKEND_DEVICE_TYPE_ACCEL);
    assert_false(ggml_backend_buft_is_host(ggml_backend_dev_buffer_type(dev)));
    assert_false(
        ggml_backend_dev_supports_buft(dev, ggml_backend_cpu_buffer_type()));
    assert_true(ggml_backend_dev_supports_buft(
        dev, ggml_backend_dev_buffer_type(dev)));
}

static void
refused(const struct ggmlbackend_2023 *about, const char *reason)
{
    const size_t n_devices = ggml_backend_dev_count();

    ggmlbackend_clear_failure();
    assert_null(ggmlbackend_register_2023(about));
    if (strstr(ggmlbackend_last_failure(), reason) == NULL)
        fail_msg("the reason is \"%s\", without \"%s\"",
                 ggmlbackend_last_failure(), reason);
    assert_int_equal(ggml_backend_dev_count(), n_devices);
    assert_int_equal(old_2023.n_buffers, 0);
}

static void
what_cannot_work_is_refused_with_its_reason(void **state)
{
    static const struct {
        unsigned member;
        const char *name;
    } needed[] = {
        { OLD_GET_NAME, "get_name" },
        { OLD_FREE, "free" },
        { OLD_ALLOC_BUFFER, "alloc_buffer" },
        { OLD_GET_ALIGNMENT, "get_alignment" },
        { OLD_SET_TENSOR_ASYNC, "set_tensor_async" },
        { OLD_GET_TENSOR_ASYNC, "get_tensor_async" },
        { OLD_SYNCHRONIZE, "synchronize" },
        { OLD_GRAPH_COMPUTE, "graph_compute" },
    };
    struct ggmlbackend_2023 about = plain;

    (void)state;
    refused(NULL, "none given");
    about.init = NULL;
    refused(&about, "no init");
    about = plain;
    about.kind = GGMLBACKEND_2023_CPU;
    refused(&about, "host");
    about.kind = (enum ggmlbackend_2023_kind)7;
    refused(&about, "kind");

    old_2023.inits_left = 0;
    refused(&plain, "gave no backend");
    old_2023.inits_left = -1;
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        old_2023.missing = needed[i].member;
        refused(&plain, needed[i].name);
    }
    old_2023.missing = 0;
    old_2023.has_no_name = true;
    refused(&plain, "it has no name");
    old_2023.has_no_name = false;
    about = plain;
    about.has_plans = true;
    old_2023.missing = OLD_GRAPH_PLAN_FREE;
    refused(&about, "graph_plan_free");
    old_2023.missing = 0;
    old_2023.alignment = 48;
    refused(&plain, "48");
    old_2023.alignment = 0;
    refused(&plain, "power of two");
    assert_int_equal(old_2023.n_backends, 0);
}

static void
register_once(void *data)
{
    if (ggmlbackend_register_2023(data) == NULL)
        assert_true(gb_fault_happened());
    else
        assert_false(gb_fault_happened());
}

static void
a_registration_without_memory_leaves_nothing_behind(void **state)
{
    static const enum ggml_op ops[] = { GGML_OP_ADD };
    struct ggmlbackend_2023 about = plain;

    (void)state;
    ggml_backend_dev_count(); /* the built-in backends are there */
    assert_true(gb_fault_each(register_once, &about) >= 3);
    assert_int_equal(old_2023.n_backends, 1);
    about.ops = ops;
    about.n_ops = 1;
    assert_true(gb_fault_each(register_once, &about) >= 4);
    assert_int_equal(old_2023.n_backends, 2);
}

static const char *
empty_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return "Empty";
}

static size_t
no_devices(ggml_backend_reg_t reg)
{
    (void)reg;
    return 0;
}

static ggml_backend_dev_t
no_device(ggml_backend_reg_t reg, size_t index)
{
    (void)reg;
    (void)index;
    return NULL;
}

static void
the_name_of_a_registration_is_taken_too(void **state)
{
    static struct ggml_backend_reg empty = {
        .api_version = GGML_BACKEND_API_VERSION,
        .iface = {
            .get_name = empty_name,
            .get_device_count = no_devices,
            .get_device = no_device,
        },
    };
    struct ggmlbackend_2023 about = plain;

    (void)state;
    ggml_backend_register(&empty);
    assert_ptr_equal(ggml_backend_reg_by_name("Empty"), &empty);
    about.name = "Empty";
    assert_string_equal(ggml_backend_dev_name(device_of(&about)), "Empty1");
}

/* ---- buffers ---- */

static void
a_base_is_aligned_wherever_the_memory_begins(void **state)
{
    static const size_t alignments[] = { 1, 16, 64, 256 };

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (size_t misplaced = 0; misplaced < alignments[i]; misplaced += 5) {
            ggml_backend_buffer_type_t buft;
            ggml_backend_buffer_t buffer;

            old_2023.alignment = alignments[i];
            old_2023.misplaced = misplaced;
            buft = ggml_backend_dev_buffer_type(device_without(0));
            buffer = ggml_backend_buft_alloc_buffer(buft, 1000);
            assert_non_null(buffer);
            assert_int_equal(ggml_backend_buffer_get_size(buffer), 1000);
            assert_int_equal(ggml_backend_buffer_get_alignment(buffer),
                             alignments[i]);
            assert_int_equal((uintptr_t)ggml_backend_buffer_get_base(buffer) %
                                 alignments[i],
                             0);
            ggml_backend_buffer_clear(buffer, 7);
            ggml_backend_buffer_free(buffer);
        }
    assert_int_equal(old_2023.n_buffers, 0);
}

static void
no_buffer_is_no_buffer(void **state)
{
    ggml_backend_buffer_type_t buft =
        ggml_backend_dev_buffer_type(device_without(0));

    (void)state;
    old_2023.allocs_left = 0;
    assert_null(ggml_backend_buft_alloc_buffer(buft, 100));
    assert_null(ggml_backend_buft_alloc_buffer(buft, SIZE_MAX));
    old_2023.allocs_left = -1;
    old_2023.has_no_base = true;
    assert_null(ggml_backend_buft_alloc_buffer(buft, 100));
    old_2023.has_no_base = false;
    old_2023.withheld = 65;
    assert_null(ggml_backend_buft_alloc_buffer(buft, 100));
    old_2023.withheld = 164 - 59; /* it ends before it is aligned */
    assert_null(ggml_backend_buft_alloc_buffer(buft, 100));
    old_2023.withheld = 0;
    old_2023.missing = OLD_GET_BASE;
    assert_null(ggml_backend_buft_alloc_buffer(buft, 100));
    assert_int_equal(old_2023.n_buffers, 0);
}

static void
alloc_and_free(void *data)
{
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(data, 100);

    assert_true((buffer == NULL) == gb_fault_happened());
    ggml_backend_buffer_free(buffer);
    assert_int_equal(old_2023.n_buffers, 0);
}

static void
a_buffer_without_memory_to_describe_it_is_given_back(void **state)
{
    (void)state;
    assert_int_equal(
        gb_fault_each(alloc_and_free,
                      ggml_backend_dev_buffer_type(device_without(0))),
        2);
}

static void
a_tensor_gets_the_room_that_a_buffer_says(void **state)
{
    ggml_backend_dev_t with = device_without(0);
    ggml_backend_dev_t without = device_without(OLD_GET_ALLOC_SIZE);
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 25);

    (void)state;
    old_2023.missing = 0;
    old_2023.padding = 40;
    old_2023.allocs_left = 0;
    assert_int_equal(ggml_backend_buft_get_alloc_size(
                         ggml_backend_dev_buffer_type(with), t),
                     SIZE_MAX);
    old_2023.allocs_left = -1;
    assert_int_equal(ggml_backend_buft_get_alloc_size(
                         ggml_backend_dev_buffer_type(with), t),
                     140);
    old_2023.missing = OLD_GET_ALLOC_SIZE;
    assert_int_equal(ggml_backend_buft_get_alloc_size(
                         ggml_backend_dev_buffer_type(without), t),
                     100);
    assert_int_equal(old_2023.n_buffers, 2);
    ggml_free(ctx);
}

/* Three tensors in a buffer of the device's. */
struct scene {
    struct ggml_context *ctx;
    struct ggml_tensor *a, *b, *half;
    ggml_backend_buffer_t buffer;
};

static void
scene_open(struct scene *s, ggml_backend_dev_t dev)
{
    s->ctx = context_new();
    s->a = ggml_new_tensor_1d(s->ctx, GGML_TYPE_F32, 5);
    s->b = ggml_new_tensor_1d(s->ctx, GGML_TYPE_F32, 5);
    s->half = ggml_view_1d(s->ctx, s->a, 2, 3 * sizeof(float));
    s->buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        s->ctx, ggml_backend_dev_buffer_type(dev));
    assert_non_null(s->buffer);
}

static void
scene_close(struct scene *s)
{
    ggml_backend_buffer_free(s->buffer);
    ggml_free(s->ctx);
}

static void
data_goes_in_and_comes_out(void **state)
{
    static const float values[5] = { 1, 2, 3, 4, 5 };
    float back[5] = { 0 };
    struct scene s;

    (void)state;
    scene_open(&s, device_without(0));
    ggml_backend_tensor_set(s.a, values, 0, sizeof(values));
    ggml_backend_tensor_get(s.a, back, 0, sizeof(back));
    assert_memory_equal(back, values, sizeof(back));
    ggml_backend_tensor_get(s.half, back, 0, 2 * sizeof(float));
    assert_memory_equal(back, values + 3, 2 * sizeof(float));
    ggml_backend_tensor_memset(s.a, 0, 4, 8);
    ggml_backend_tensor_get(s.a, back, 0, sizeof(back));
    assert_true(back[0] == 1 && back[1] == 0 && back[2] == 0 && back[3] == 4);
    assert_int_equal(old_2023.n_init_tensor, 3);
    assert_int_equal(old_2023.n_strange, 0);
    scene_close(&s);
    assert_int_equal(old_2023.n_extras, 0);
}

static void
buffers_do_without_what_is_optional(void **state)
{
    static const unsigned missing[] = {
        OLD_FREE_BUFFER, OLD_INIT_TENSOR | OLD_FREE_TENSOR, OLD_INIT_TENSOR
    };

    (void)state;
    for (int i = 0; i < 3; i++) {
        static const float values[5] = { 1, 2, 3, 4, 5 };
        float back[5] = { 0 };
        const int n_buffers = old_2023.n_buffers;
        struct scene s;

        scene_open(&s, device_without(missing[i]));
        ggml_backend_tensor_set(s.a, values, 0, sizeof(values));
        ggml_backend_tensor_get(s.a, back, 0, sizeof(back));
        assert_memory_equal(back, values, sizeof(back));
        ggml_backend_buffer_clear(s.buffer, 0);
        ggml_backend_tensor_get(s.a, back, 0, sizeof(back));
        assert_true(back[0] == 0 && back[4] == 0);
        scene_close(&s);
        /* It keeps one to ask for sizes; nobody counts what stays. */
        assert_int_equal(old_2023.n_buffers - n_buffers,
                         missing[i] == OLD_FREE_BUFFER ? 2 : 1);
    }
    assert_int_equal(old_2023.n_strange, 0);
}

/* Such as a backend makes for itself, which no device knows. */
static void
a_private_buffer_may_have_no_way_to_be_freed(void **state)
{
    const struct gb_2023_buffer_i nothing = { .get_base = NULL };
    ggml_backend_buffer_t buffer =
        ggmlbackend_l202311_backend_buffer_init(NULL, nothing, NULL, 16);

    (void)state;
    assert_non_null(buffer);
    assert_int_equal(ggml_backend_buffer_get_size(buffer), 16);
    ggml_backend_buffer_free(buffer);
    assert_int_equal(old_2023.n_buffers, 0);
}

static void
a_large_buffer_is_cleared_to_its_end(void **state)
{
    enum { N = 100000 };
    ggml_backend_dev_t dev = device_without(0);
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_I8, N);
    static uint8_t back[N];
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        ctx, ggml_backend_dev_buffer_type(dev));

    (void)state;
    assert_non_null(buffer);
    ggml_backend_buffer_clear(buffer, 0x5a);
    ggml_backend_tensor_get(t, back, 0, N);
    for (int i = 0; i < N; i++)
        assert_int_equal(back[i], 0x5a);
    ggml_backend_tensor_memset(t, 3, 1, N - 1);
    ggml_backend_tensor_get(t, back, 0, N);
    assert_true(back[0] == 0x5a && back[1] == 3 && back[N - 1] == 3);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    assert_int_equal(old_2023.n_extras, 0);
    assert_int_equal(old_2023.n_strange, 0);
}

static void
free_tensor_is_told_of_each_tensor_once(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s, device_without(0));
    assert_int_equal(old_2023.n_extras, 2);
    assert_int_equal(old_2023.n_free_tensor, 0);
    ggml_backend_buffer_reset(s.buffer);
    assert_int_equal(old_2023.n_free_tensor, 2);
    ggml_backend_buffer_reset(s.buffer);
    assert_int_equal(old_2023.n_free_tensor, 2);
    scene_close(&s);
    assert_int_equal(old_2023.n_free_tensor, 2);
    assert_int_equal(old_2023.n_extras, 0);

    /* The tensors may be gone before their buffer. */
    scene_open(&s, device_without(0));
    ggml_free(s.ctx);
    ggml_backend_buffer_free(s.buffer);
    assert_int_equal(old_2023.n_free_tensor, 4);
    assert_int_equal(old_2023.n_extras, 0);
}

static void
place_tensors(void *data)
{
    struct ggml_tensor tensors[20];
    ggml_backend_buffer_t buffer =
        ggml_backend_buft_alloc_buffer(data, 20 * 64);
    char *base = buffer != NULL ? ggml_backend_buffer_get_base(buffer) : NULL;
    int n_placed = 0;

    assert_true(buffer != NULL || gb_fault_happened());
    while (buffer != NULL && n_placed < 20) {
        struct ggml_tensor *t = &tensors[n_placed];

        memset(t, 0, sizeof(*t));
        for (int i = 0; i < GGML_MAX_DIMS; i++) {
            t->ne[i] = 1;
            t->nb[i] = sizeof(float);
        }
        if (ggml_backend_tensor_alloc(buffer, t, base + 64 * n_placed) !=
            GGML_STATUS_SUCCESS)
            break;
        n_placed++;
    }
    assert_int_equal(old_2023.n_extras, n_placed);
    assert_true(n_placed == 20 || gb_fault_happened());
    ggml_backend_buffer_free(buffer);
    assert_int_equal(old_2023.n_extras, 0);
}

static void
placing_fails_cleanly_without_memory(void **state)
{
    ggml_backend_buffer_type_t buft =
        ggml_backend_dev_buffer_type(device_without(0));

    (void)state;
    place_tensors(buft); /* there is a buffer to ask for sizes now */
    /* Two for the buffer, and two as its list of tensors grows. */
    assert_int_equal(gb_fault_each(place_tensors, buft), 4);
}

struct worker {
    pthread_t thread;
    ggml_backend_dev_t dev;
    int seed;
    bool is_right;
};

/* Data in and out of a buffer of its own, many times. */
static void *
transfer_much(void *data)
{
    struct worker *worker = data;
    ggml_backend_buffer_t buffer = ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_buffer_type(worker->dev), 1024);
    int32_t in[64], out[64];
    struct ggml_tensor t = { .type = GGML_TYPE_I32,
                             .ne = { 64, 1, 1, 1 },
                             .nb = { 4, 256, 256, 256 } };

    worker->is_right = buffer != NULL &&
                       ggml_backend_tensor_alloc(
                           buffer, &t, ggml_backend_buffer_get_base(buffer)) ==
                           GGML_STATUS_SUCCESS;
    for (int round = 0; worker->is_right && round < 500; round++) {
        for (int i = 0; i < 64; i++)
            in[i] = worker->seed + round * i;
        ggml_backend_tensor_set(&t, in, 0, sizeof(in));
        ggml_backend_dev_supports_op(worker->dev, &t);
        ggml_backend_tensor_get(&t, out, 0, sizeof(out));
        worker->is_right = memcmp(in, out, sizeof(in)) == 0;
    }
    ggml_backend_buffer_free(buffer);
    return NULL;
}

static void
threads_do_not_meet_in_a_backend_that_knows_none(void **state)
{
    struct worker workers[4];
    ggml_backend_dev_t dev = device_without(0);

    (void)state;
    for (int i = 0; i < 4; i++) {
        workers[i].dev = dev;
        workers[i].seed = 1000 * i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL,
                                        transfer_much, &workers[i]),
                         0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_true(workers[i].is_right);
    }
    assert_int_equal(old_2023.n_buffers, 1); /* to ask for sizes */
}

/* ---- copies ---- */

static void
copy_between(ggml_backend_dev_t from, ggml_backend_dev_t to)
{
    static const float values[5] = { 1, 2, 3, 4, 5 };
    struct scene s1, s2;
    float back[5];

    scene_open(&s1, from);
    scene_open(&s2, to);
    ggml_backend_tensor_set(s1.a, values, 0, sizeof(values));
    ggml_backend_tensor_copy(s1.a, s2.b);
    ggml_backend_tensor_get(s2.b, back, 0, sizeof(back));
    assert_memory_equal(back, values, sizeof(back));
    scene_close(&s1);
    scene_close(&s2);
}

static void
copies_ask_the_destination_and_then_the_source(void **state)
{
    ggml_backend_dev_t whole = device_without(0);
    ggml_backend_dev_t only_to = device_without(OLD_CPY_TENSOR_FROM);
    ggml_backend_dev_t only_from = device_without(OLD_CPY_TENSOR_TO);
    ggml_backend_dev_t neither =
        device_without(OLD_CPY_TENSOR_FROM | OLD_CPY_TENSOR_TO);

    (void)state;
    old_2023.missing = 0;
    copy_between(neither, neither);
    assert_int_equal(old_2023.n_from + old_2023.n_to, 0);
    copy_between(neither, only_from);
    assert_int_equal(old_2023.n_from, 1);
    copy_between(only_to, neither);
    assert_int_equal(old_2023.n_to, 1);
    copy_between(whole, whole);
    assert_int_equal(old_2023.n_from, 2);
    assert_int_equal(old_2023.n_to, 1);
}

static void
memory_of_the_host_is_copied_from_and_strange_memory_not(void **state)
{
    ggml_backend_dev_t dev = device_without(0);
    ggml_backend_t cpu = ggml_backend_init_by_name("CPU", NULL);
    struct scene s, host;
    float back[5];

    (void)state;
    scene_open(&s, dev);
    scene_open(&host, ggml_backend_get_device(cpu));
    ggml_set_name(host.a, "host");
    memset(host.a->data, 0, ggml_nbytes(host.a));
    assert_true(ggml_backend_buffer_copy_tensor(host.a, s.a));
    assert_int_equal(old_2023.n_from, 1);
    ggml_backend_tensor_get(s.a, back, 0, sizeof(back));
    assert_true(back[0] == 0 && back[4] == 0);
    ggml_backend_tensor_copy(s.a, host.b);
    assert_memory_equal(host.b->data, back, sizeof(back));
    scene_close(&host);
    scene_close(&s);
    ggml_backend_free(cpu);
}

/* ---- streams ---- */

static void
a_stream_computes_after_what_was_queued(void **state)
{
    static const float values[5] = { 1, 2, 3, 4, 5 };
    ggml_backend_dev_t dev = device_without(0);
    ggml_backend_t backend = ggml_backend_dev_init(dev, NULL);
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 5);
    struct ggml_tensor *none = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 0);
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 32, false);
    struct ggml_tensor *y = ggml_add(ctx, a, a), *z;
    ggml_backend_buffer_t buffer;
    float back[5] = { 0 };

    (void)state;
    z = ggml_mul(ctx, ggml_reshape_2d(ctx, y, 5, 1), a);
    ggml_set_param(ctx, a);
    ggml_build_forward_expand(graph, ggml_add(ctx, none, none));
    ggml_build_forward_expand(graph, z);
    ggml_graph_add_node(graph, a);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    assert_non_null(buffer);
    ggml_backend_tensor_set_async(backend, a, values, 0, sizeof(values));
    assert_int_equal(ggml_backend_graph_compute_async(backend, graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get_async(backend, z, back, 0, sizeof(back));
    assert_true(back[0] == 0);
    ggml_backend_synchronize(backend);
    for (int i = 0; i < 5; i++)
        assert_true(back[i] == 2 * values[i] * values[i]);
    assert_int_equal(old_2023.n_idlers, 0);
    assert_null(ggml_backend_graph_plan_create(backend, graph));

    /* A member that returns nothing may tell of a failure. */
    old_2023.is_broken = true;
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_FAILED);
    old_2023.is_broken = false;
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

static void
plan_once(void *data)
{
    static const float values[2] = { 3, 4 };
    ggml_backend_t backend = data;
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 32, false);
    struct ggml_tensor *y = ggml_add(ctx, a, a);
    ggml_backend_graph_plan_t plan;
    ggml_backend_buffer_t buffer;
    float back[2];

    ggml_graph_add_node(graph, a);
    ggml_build_forward_expand(graph, y);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    plan = buffer != NULL ? ggml_backend_graph_plan_create(backend, graph)
                          : NULL;
    if (plan != NULL) {
        ggml_backend_tensor_set(a, values, 0, sizeof(values));
        assert_int_equal(ggml_backend_graph_plan_compute(backend, plan),
                         GGML_STATUS_SUCCESS);
        ggml_backend_tensor_get(y, back, 0, sizeof(back));
        assert_true(back[0] == 6 && back[1] == 8);
        ggml_backend_graph_plan_free(backend, plan);
    } else {
        assert_true(gb_fault_happened());
    }
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
plans_are_handed_on_where_they_work(void **state)
{
    struct ggmlbackend_2023 about = plain;
    ggml_backend_t backend;

    (void)state;
    about.has_plans = true;
    backend = ggml_backend_dev_init(device_of(&about), NULL);
    assert_non_null(backend);
    plan_once(backend);
    assert_int_equal(old_2023.n_plan_compute, 1);
    assert_int_equal(old_2023.n_idlers, 0);
    ggml_backend_free(backend);
}

struct planning {
    ggml_backend_t backend;
    struct ggml_cgraph *graph;
};

static void
plan_and_free(void *data)
{
    const struct planning *p = data;
    ggml_backend_graph_plan_t plan;

    ggmlbackend_clear_failure();
    plan = ggml_backend_graph_plan_create(p->backend, p->graph);
    assert_true((plan == NULL) == gb_fault_happened());
    if (plan == NULL)
        assert_non_null(strstr(ggmlbackend_last_failure(), "of 1 nodes"));
    else
        ggml_backend_graph_plan_free(p->backend, plan);
}

static void
a_plan_that_cannot_be_had_is_null(void **state)
{
    struct ggmlbackend_2023 about = plain;
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    struct planning p;

    (void)state;
    about.has_plans = true;
    p.backend = ggml_backend_dev_init(device_of(&about), NULL);
    p.graph = ggml_new_graph_custom(ctx, 4, false);
    /* Its sources stand in another order: there is a copy of the node. */
    ggml_graph_add_node(p.graph, ggml_silu_back(ctx, a, a));
    assert_int_equal(gb_fault_each(plan_and_free, &p), 2);
    old_2023.has_no_plan = true;
    ggmlbackend_clear_failure();
    assert_null(ggml_backend_graph_plan_create(p.backend, p.graph));
    assert_non_null(strstr(ggmlbackend_last_failure(), "no plan for a graph"));
    ggml_backend_free(p.backend);
    ggml_free(ctx);
}

static ggml_backend_dev_t inherited;

/* In the child; what is wrong ends it by abort. */
static void
use_inherited(void)
{
    static const float values[5] = { 1, 2, 3, 4, 5 };
    float back[5] = { 0 };
    struct scene s;

    scene_open(&s, inherited);
    ggml_backend_tensor_set(s.a, values, 0, sizeof(values));
    ggml_backend_tensor_get(s.a, back, 0, sizeof(back));
    if (memcmp(back, values, sizeof(back)) != 0)
        abort();
    scene_close(&s);
}

static void
a_child_has_a_lock_of_its_own(void **state)
{
    struct gb_child child;

    (void)state;
    inherited = device_without(0);
    gb_child_run(use_inherited, &child);
    assert_true(child.is_done);
    use_inherited();
}

static void
a_backend_of_which_there_is_one_serves_all_streams(void **state)
{
    struct ggmlbackend_2023 about = plain;
    ggml_backend_t first, second;
    ggml_backend_dev_t dev;

    (void)state;
    about.is_single = true;
    dev = device_of(&about);
    first = ggml_backend_dev_init(dev, NULL);
    second = ggml_backend_dev_init(dev, NULL);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(old_2023.n_backends, 1);
    ggml_backend_free(first);
    ggml_backend_synchronize(second);
    ggml_backend_free(second);
    assert_int_equal(old_2023.n_backends, 1);
}

static void
init_once(void *data)
{
    ggml_backend_t backend = ggml_backend_dev_init(data, NULL);

    assert_true((backend == NULL) == gb_fault_happened());
    ggml_backend_free(backend);
}

static void
a_stream_that_cannot_be_had_is_null(void **state)
{
    ggml_backend_dev_t dev = device_without(0);

    (void)state;
    old_2023.inits_left = 0;
    assert_null(ggml_backend_dev_init(dev, NULL));
    old_2023.inits_left = -1;
    old_2023.missing = OLD_SYNCHRONIZE;
    assert_null(ggml_backend_dev_init(dev, NULL));
    old_2023.missing = OLD_FREE;
    assert_null(ggml_backend_dev_init(dev, NULL));
    old_2023.missing = 0;
    assert_int_equal(gb_fault_each(init_once, dev), 1);
    assert_int_equal(old_2023.n_backends, 1);
}

/* ---- operations ---- */

static void
operations_are_what_the_backend_says(void **state)
{
    ggml_backend_dev_t dev = device_without(0);
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 4);

    (void)state;
    assert_true(ggml_backend_dev_supports_op(dev, ggml_add(ctx, a, a)));
    assert_false(ggml_backend_dev_supports_op(dev, ggml_sqr(ctx, a)));
    assert_int_equal(old_2023.n_supports_op, 2);
    assert_true(ggml_backend_dev_supports_op(dev, a));
    assert_true(ggml_backend_dev_supports_op(dev, ggml_transpose(ctx, a)));
    assert_int_equal(old_2023.n_supports_op, 2);
    ggml_free(ctx);
}

static void
a_list_stands_for_a_backend_that_does_not_say(void **state)
{
    static const enum ggml_op ops[] = { GGML_OP_SQR, GGML_OP_MUL_MAT };
    struct ggmlbackend_2023 about = plain;
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 4);
    ggml_backend_dev_t dev;

    (void)state;
    about.ops = ops;
    about.n_ops = 2;
    old_2023.missing = OLD_SUPPORTS_OP;
    dev = device_of(&about);
    assert_true(ggml_backend_dev_supports_op(dev, ggml_sqr(ctx, a)));
    assert_true(ggml_backend_dev_supports_op(dev, ggml_mul_mat(ctx, a, a)));
    assert_false(ggml_backend_dev_supports_op(dev, ggml_add(ctx, a, a)));
    assert_true(ggml_backend_dev_supports_op(dev, ggml_transpose(ctx, a)));
    about.n_ops = 0;
    dev = device_of(&about);
    assert_false(ggml_backend_dev_supports_op(dev, ggml_sqr(ctx, a)));
    ggml_free(ctx);
}

static void
otherwise_it_gets_what_there_was_in_2023(void **state)
{
    ggml_backend_dev_t dev = device_without(OLD_SUPPORTS_OP);
    struct ggml_context *ctx = context_new();
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4, 4);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_BF16, 4, 4);
    struct ggml_tensor *q = ggml_new_tensor_2d(ctx, GGML_TYPE_Q4_0, 32, 4);
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 32, 4);
    struct ggml_tensor *i = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1);
    struct ggml_tensor *r = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 4, 2, 1);
    struct ggml_tensor *f = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 2);
    const struct {
        const struct ggml_tensor *node;
        bool is_known;
    } cases[] = {
        { ggml_add(ctx, a, a), true },
        { ggml_mul_mat(ctx, q, x), true },
        { ggml_get_rows(ctx, q, i), true },
        { ggml_silu(ctx, a), true },
        { ggml_sigmoid(ctx, a), false },
        { ggml_exp(ctx, a), false },
        { ggml_sin(ctx, a), false },
        { ggml_scale(ctx, a, 2), false },
        { ggml_soft_max(ctx, a), true },
        { ggml_soft_max_ext(ctx, a, a, 1, 0), false },
        { ggml_soft_max_ext(ctx, a, NULL, 0.5f, 0), false },
        { ggml_rope(ctx, r, i, 4, 0), true },
        { ggml_rope(ctx, r, i, 4, GGML_ROPE_TYPE_NEOX), true },
        { ggml_rope_ext(ctx, r, i, f, 4, 0, 0, 10000, 1, 0, 1, 0, 0), false },
        { ggml_concat(ctx, a, a, 0), false },
        { ggml_concat(ctx, a, a, 2), true },
        { ggml_mul_mat(ctx, b, a), false },
        { ggml_argsort(ctx, a, GGML_SORT_ORDER_ASC), false },
        { ggml_permute(ctx, a, 1, 0, 2, 3), true },
    };

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        if (ggml_backend_dev_supports_op(dev, cases[c].node) !=
            cases[c].is_known)
            fail_msg("case %zu, %s", c, ggml_op_name(cases[c].node->op));
    ggml_free(ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_registration_has_one_device_with_all_its_names,
                               set_up),
        cmocka_unit_test_setup(a_name_that_is_taken_gets_a_number, set_up),
        cmocka_unit_test_setup(what_the_registration_says_is_what_the_device_is,
                               set_up),
        cmocka_unit_test_setup(what_cannot_work_is_refused_with_its_reason,
                               set_up),
        cmocka_unit_test_setup(
            a_registration_without_memory_leaves_nothing_behind, set_up),
        cmocka_unit_test_setup(the_name_of_a_registration_is_taken_too,
                               set_up),
        cmocka_unit_test_setup(a_base_is_aligned_wherever_the_memory_begins,
                               set_up),
        cmocka_unit_test_setup(no_buffer_is_no_buffer, set_up),
        cmocka_unit_test_setup(
            a_buffer_without_memory_to_describe_it_is_given_back, set_up),
        cmocka_unit_test_setup(a_tensor_gets_the_room_that_a_buffer_says,
                               set_up),
        cmocka_unit_test_setup(data_goes_in_and_comes_out, set_up),
        cmocka_unit_test_setup(buffers_do_without_what_is_optional, set_up),
        cmocka_unit_test_setup(a_private_buffer_may_have_no_way_to_be_freed,
                               set_up),
        cmocka_unit_test_setup(a_large_buffer_is_cleared_to_its_end, set_up),
        cmocka_unit_test_setup(free_tensor_is_told_of_each_tensor_once, set_up),
        cmocka_unit_test_setup(placing_fails_cleanly_without_memory, set_up),
        cmocka_unit_test_setup(threads_do_not_meet_in_a_backend_that_knows_none,
                               set_up),
        cmocka_unit_test_setup(copies_ask_the_destination_and_then_the_source,
                               set_up),
        cmocka_unit_test_setup(
            memory_of_the_host_is_copied_from_and_strange_memory_not, set_up),
        cmocka_unit_test_setup(a_stream_computes_after_what_was_queued, set_up),
        cmocka_unit_test_setup(plans_are_handed_on_where_they_work, set_up),
        cmocka_unit_test_setup(a_plan_that_cannot_be_had_is_null, set_up),
        cmocka_unit_test_setup(a_child_has_a_lock_of_its_own, set_up),
        cmocka_unit_test_setup(
            a_backend_of_which_there_is_one_serves_all_streams, set_up),
        cmocka_unit_test_setup(a_stream_that_cannot_be_had_is_null, set_up),
        cmocka_unit_test_setup(operations_are_what_the_backend_says, set_up),
        cmocka_unit_test_setup(a_list_stands_for_a_backend_that_does_not_say,
                               set_up),
        cmocka_unit_test_setup(otherwise_it_gets_what_there_was_in_2023,
                               set_up),
    };

    return cmocka_run_group_tests_name("backends of 2023", tests, NULL, NULL);
}
