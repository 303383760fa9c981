/* SPDX-License-Identifier: MIT */
/*
 * tests/sim/device.c - the simulated device: its memory, its queue, what it
 * counts.
 */
#include "config.h"

#include "tests/sim/sim.h"

#include "tests/util/child.h"

#include "ggml-impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ggml_context *ctx;
static ggml_backend_t sim[2];

static int
open_devices(void **state)
{
    (void)state;
    sim_reset();
    for (int i = 0; i < 2; i++)
        sim[i] = sim_backend(i);
    ctx = sim_context();
    return ctx == NULL;
}

static int
close_devices(void **state)
{
    (void)state;
    ggml_free(ctx);
    ggml_backend_free(sim[0]);
    ggml_backend_free(sim[1]);
    return !sim_is_clean();
}

static struct ggml_tensor *
on_device(ggml_backend_buffer_t *buffer, int64_t n, int which)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, n);

    *buffer = ggml_backend_alloc_ctx_tensors(ctx, sim[which]);
    assert_non_null(*buffer);
    return t;
}

static float
first_of(const struct ggml_tensor *t)
{
    float x = -1.0f;

    ggml_backend_tensor_get(t, &x, 0, sizeof(x));
    return x;
}

static void
devices_are_gpus_with_names_and_memory(void **state)
{
    struct ggml_backend_dev_props props;
    ggml_backend_dev_t dev = sim_device(1);

    (void)state;
    ggml_backend_dev_get_props(dev, &props);
    assert_string_equal(props.name, "Sim1");
    assert_string_equal(props.description, "simulated device 1");
    assert_int_equal(props.type, GGML_BACKEND_DEVICE_TYPE_GPU);
    assert_true(props.memory_total > 0);
    assert_int_equal(props.memory_free, props.memory_total);
    assert_true(props.caps.async && props.caps.events);
    assert_true(props.caps.host_buffer && !props.caps.buffer_from_host_ptr);
    assert_string_equal(ggml_backend_reg_name(ggml_backend_sim_reg()), "Sim");
    assert_ptr_equal(ggml_backend_buft_get_device(
                         ggml_backend_dev_buffer_type(dev)), dev);
    assert_false(ggml_backend_buft_is_host(ggml_backend_dev_buffer_type(dev)));
    assert_true(
        ggml_backend_buft_is_host(ggml_backend_dev_host_buffer_type(dev)));
    assert_true(ggml_backend_dev_supports_buft(
        dev, ggml_backend_dev_buffer_type(dev)));
    assert_false(ggml_backend_dev_supports_buft(
        dev, ggml_backend_dev_buffer_type(sim_device(0))));
    assert_false(
        ggml_backend_dev_supports_buft(dev, ggml_backend_cpu_buffer_type()));
}

static void
touch_device_memory(void)
{
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *t;

    open_devices(NULL);
    t = on_device(&buffer, 4, 0);
    *(volatile float *)t->data = 1.0f;
}

static void
the_host_cannot_touch_the_memory(void **state)
{
    static struct gb_child child;

    (void)state;
    gb_child_run(touch_device_memory, &child);
    assert_false(child.is_done);
}

static void
data_goes_there_and_comes_back(void **state)
{
    float data[100], back[100];
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *t = on_device(&buffer, 100, 0);

    (void)state;
    for (int i = 0; i < 100; i++)
        data[i] = (float)i;
    assert_true(first_of(t) != first_of(t)); /* nothing was written yet */
    ggml_backend_tensor_set(t, data, 0, sizeof(data));
    ggml_backend_tensor_memset(t, 0, 40, 8);
    ggml_backend_tensor_get(t, back, 0, sizeof(back));
    data[10] = data[11] = 0.0f;
    assert_memory_equal(data, back, sizeof(data));
    ggml_backend_buffer_clear(buffer, 0);
    assert_true(first_of(t) == 0.0f);
    ggml_backend_buffer_free(buffer);
}

static void
queued_work_is_done_when_somebody_waits(void **state)
{
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *t = on_device(&buffer, 1, 0);
    float in = 1.0f, out = 0.0f;

    (void)state;
    ggml_backend_buffer_clear(buffer, 0);
    ggml_backend_tensor_set_async(sim[0], t, &in, 0, sizeof(in));
    ggml_backend_tensor_get_async(sim[0], t, &out, 0, sizeof(out));
    assert_true(first_of(t) == 0.0f);
    assert_true(out == 0.0f);
    in = 2.0f; /* too early: the copy is still to be made */
    ggml_backend_synchronize(sim[0]);
    assert_true(first_of(t) == 2.0f);
    assert_true(out == 2.0f);
    ggml_backend_buffer_free(buffer);
}

static void
with_a_delay_work_is_done_unasked(void **state)
{
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *t;
    float in = 1.0f;

    (void)state;
    assert_true(sim_configure(0, 2, "delay=0"));
    t = on_device(&buffer, 1, 0);
    ggml_backend_buffer_clear(buffer, 0);
    ggml_backend_tensor_set_async(sim[0], t, &in, 0, sizeof(in));
    ggml_backend_synchronize(sim[0]);
    assert_true(first_of(t) == 1.0f);
    ggml_backend_buffer_free(buffer);
}

static void
a_graph_gives_what_the_cpu_gives(void **state)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *w = ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 64, 32);
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 3);
    struct ggml_tensor *y = ggml_mul_mat(ctx, w, x);
    struct ggml_tensor *v = ggml_view_2d(ctx, y, 16, 3, y->nb[1], 64);
    struct ggml_tensor *z = ggml_soft_max(ctx, ggml_cont(ctx, v));
    float *on_cpu, on_sim[48];
    ggml_backend_t cpu = ggml_backend_cpu_init();
    struct ggml_backend_graph_copy copy;
    ggml_backend_buffer_t buffer;

    (void)state;
    ggml_build_forward_expand(graph, z);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, sim[0]);
    sim_fill(w, 1);
    sim_fill(x, 2);
    copy = ggml_backend_graph_copy(cpu, graph);
    assert_non_null(copy.buffer);
    assert_int_equal(ggml_backend_graph_compute(cpu, copy.graph),
                     GGML_STATUS_SUCCESS);
    on_cpu = ggml_graph_node(copy.graph, -1)->data;

    assert_int_equal(ggml_backend_graph_compute_async(sim[0], graph),
                     GGML_STATUS_SUCCESS);
    assert_true(first_of(z) != first_of(z));
    ggml_backend_synchronize(sim[0]);
    ggml_backend_tensor_get(z, on_sim, 0, sizeof(on_sim));
    assert_memory_equal(on_cpu, on_sim, sizeof(on_sim));
    ggml_backend_graph_copy_free(copy);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(cpu);
}

/* Whoever edits a node: the device asks, as the CPU does. */
static void
a_node_that_was_changed_is_refused(void **state)
{
    static const int types[] = { -1, GGML_TYPE_COUNT, 1 << 20 };
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 64);
    struct ggml_tensor *node = ggml_sqr(ctx, x);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer =
        ggml_backend_alloc_ctx_tensors(ctx, sim[0]);
    const struct ggml_tensor good = *node, good_x = *x;

    (void)state;
    assert_non_null(buffer);
    ggml_build_forward_expand(graph, node);
    for (int i = 0; i < 8; i++) {
        struct ggml_tensor *t = i % 2 == 0 ? node : x;

        if (i < 6)
            t->type = (enum ggml_type)types[i / 2];
        else
            x->ne[0] = node->ne[0] = (int64_t)1 << (i == 6 ? 20 : 40);
        assert_false(ggml_backend_supports_op(sim[0], node));
        assert_int_equal(ggml_backend_graph_compute(sim[0], graph),
                         GGML_STATUS_FAILED);
        *node = good;
        *x = good_x;
    }
    node->op = (enum ggml_op)-1;
    assert_false(ggml_backend_supports_op(sim[0], node));
    *node = good;
    graph->nodes[0] = NULL;
    assert_int_equal(ggml_backend_graph_compute(sim[0], graph),
                     GGML_STATUS_FAILED);
    graph->nodes[0] = node;
    graph->n_nodes = -1;
    assert_int_equal(ggml_backend_graph_compute(sim[0], graph),
                     GGML_STATUS_FAILED);
    graph->n_nodes = 1;
    assert_int_equal(ggml_backend_graph_compute(sim[0], graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_buffer_free(buffer);
}

static void
a_copy_between_devices_is_made_by_the_sources_queue(void **state)
{
    ggml_backend_buffer_t from, to;
    struct ggml_tensor *a = on_device(&from, 1, 0);
    struct ggml_tensor *b = on_device(&to, 1, 1);
    const float one = 1.0f, two = 2.0f;

    (void)state;
    ggml_backend_buffer_clear(to, 0);
    ggml_backend_tensor_set_async(sim[0], a, &one, 0, sizeof(one));
    ggml_backend_tensor_copy_async(sim[0], sim[1], a, b);
    ggml_backend_tensor_set_async(sim[0], a, &two, 0, sizeof(two));
    assert_true(first_of(b) == 0.0f);
    ggml_backend_synchronize(sim[1]);
    assert_true(first_of(b) == 1.0f);
    assert_true(first_of(a) == 1.0f);
    ggml_backend_synchronize(sim[0]);
    assert_true(first_of(a) == 2.0f);
    ggml_backend_buffer_free(from);
    ggml_backend_buffer_free(to);
}

static void
an_event_stands_for_what_was_queued(void **state)
{
    ggml_backend_event_t event = ggml_backend_event_new(sim_device(0));
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *t = on_device(&buffer, 1, 0);
    const float one = 1.0f, two = 2.0f;

    (void)state;
    ggml_backend_event_synchronize(event); /* never recorded */
    ggml_backend_tensor_set_async(sim[0], t, &one, 0, sizeof(one));
    ggml_backend_event_record(event, sim[0]);
    ggml_backend_tensor_set_async(sim[0], t, &two, 0, sizeof(two));
    ggml_backend_event_wait(sim[1], event);
    assert_true(first_of(t) != first_of(t));
    ggml_backend_event_synchronize(event);
    assert_true(first_of(t) == 1.0f);
    ggml_backend_synchronize(sim[1]);
    assert_true(first_of(t) == 1.0f);
    ggml_backend_synchronize(sim[0]);
    assert_true(first_of(t) == 2.0f);
    ggml_backend_event_free(event);
    ggml_backend_buffer_free(buffer);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_devices, close_devices)
    static const struct CMUnitTest tests[] = {
        TEST(devices_are_gpus_with_names_and_memory),
        cmocka_unit_test(the_host_cannot_touch_the_memory),
        TEST(data_goes_there_and_comes_back),
        TEST(queued_work_is_done_when_somebody_waits),
        TEST(with_a_delay_work_is_done_unasked),
        TEST(a_graph_gives_what_the_cpu_gives),
        TEST(a_node_that_was_changed_is_refused),
        TEST(a_copy_between_devices_is_made_by_the_sources_queue),
        TEST(an_event_stands_for_what_was_queued),
    };

    return cmocka_run_group_tests_name("simulated device", tests, NULL, NULL);
}
