/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/backend.c - backends, devices, registrations and events.
 */
#include "tests/backend/fake.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "lib/graph/graph.h"

static void
a_backend_answers_through_its_device(void **state)
{
    struct ggml_context *ctx = fake_context(4);
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *sum = ggml_add(ctx, t, t);
    ggml_backend_buffer_t buffer;
    ggml_backend_t backend;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    backend = ggml_backend_dev_init(&fake.device, NULL);
    assert_string_equal(ggml_backend_name(backend), "Fake0");
    assert_int_equal((*ggml_backend_guid(backend))[2], 3);
    assert_ptr_equal(ggml_backend_get_device(backend), &fake.device);
    assert_ptr_equal(ggml_backend_get_default_buffer_type(backend), &fake.buft);
    assert_int_equal(ggml_backend_get_alignment(backend), 64);
    assert_int_equal(ggml_backend_get_max_size(backend), 1 << 30);
    buffer = ggml_backend_alloc_buffer(backend, 100);
    assert_ptr_equal(ggml_backend_buffer_get_type(buffer), &fake.buft);
    ggml_backend_buffer_free(buffer);
    assert_true(ggml_backend_supports_op(backend, sum));
    assert_false(ggml_backend_supports_op(backend, t));
    assert_true(ggml_backend_supports_buft(backend, &fake.buft));
    assert_false(ggml_backend_supports_buft(backend,
                                            ggml_backend_cpu_buffer_type()));
    assert_true(ggml_backend_offload_op(backend, sum));
    fake.device.iface.offload_op = NULL;
    assert_false(ggml_backend_offload_op(backend, sum));
    assert_false(fake_failed());
    ggml_backend_free(backend);
    ggml_backend_free(NULL);
    ggml_free(ctx);
}

static void
without_a_backend_there_is_a_name_and_nothing_else(void **state)
{
    (void)state;
    fake_failed();
    assert_string_equal(ggml_backend_name(NULL), "NULL");
    assert_null(ggml_backend_guid(NULL));
    assert_false(fake_failed());

    assert_null(ggml_backend_get_device(NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_get_default_buffer_type(NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_alloc_buffer(NULL, 1));
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_get_alignment(NULL), 0);
    assert_int_equal(ggml_backend_get_max_size(NULL), 0);
    ggml_backend_synchronize(NULL);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_graph_compute(NULL, NULL),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_graph_compute_async(NULL, NULL),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_null(ggml_backend_graph_plan_create(NULL, NULL));
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_graph_plan_compute(NULL, NULL),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    ggml_backend_graph_plan_free(NULL, NULL);
    assert_true(fake_failed());
    assert_false(ggml_backend_supports_op(NULL, NULL));
    assert_true(fake_failed());
    assert_false(ggml_backend_supports_buft(NULL, NULL));
    assert_true(fake_failed());
    assert_false(ggml_backend_offload_op(NULL, NULL));
    assert_true(fake_failed());
}

static void
a_device_tells_what_it_is(void **state)
{
    struct ggml_backend_dev_props props;
    ggml_backend_buffer_t buffer;
    size_t free_bytes, total;
    struct fake fake;
    static _Alignas(32) char memory[64];

    (void)state;
    fake_init(&fake, "Fake0");
    assert_string_equal(ggml_backend_dev_name(&fake.device), "Fake0");
    assert_non_null(ggml_backend_dev_description(&fake.device));
    ggml_backend_dev_memory(&fake.device, &free_bytes, &total);
    assert_int_equal(free_bytes, 1000);
    assert_int_equal(total, 2000);
    assert_int_equal(ggml_backend_dev_type(&fake.device),
                     GGML_BACKEND_DEVICE_TYPE_GPU);
    memset(&props, 0xff, sizeof(props));
    ggml_backend_dev_get_props(&fake.device, &props);
    assert_string_equal(props.name, "Fake0");
    assert_null(props.description);
    assert_int_equal(props.memory_free, 0);
    assert_true(props.caps.async);
    assert_false(props.caps.events);
    assert_ptr_equal(ggml_backend_dev_backend_reg(&fake.device), &fake.reg);
    assert_ptr_equal(ggml_backend_dev_buffer_type(&fake.device), &fake.buft);
    assert_ptr_equal(ggml_backend_dev_host_buffer_type(&fake.device),
                     &fake.buft);
    buffer = ggml_backend_dev_buffer_from_host_ptr(&fake.device, memory, 64, 8);
    assert_non_null(buffer);
    ggml_backend_buffer_free(buffer);

    fake.device.iface.get_host_buffer_type = NULL;
    assert_null(ggml_backend_dev_host_buffer_type(&fake.device));
    assert_false(fake_failed());
    fake.device.iface.buffer_from_host_ptr = NULL;
    assert_null(ggml_backend_dev_buffer_from_host_ptr(&fake.device, memory, 64,
                                                      8));
    assert_true(fake_failed());
}

static void
without_a_device_every_question_fails(void **state)
{
    struct ggml_backend_dev_props props;
    size_t free_bytes = 1, total = 1;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    fake_failed();
    assert_null(ggml_backend_dev_name(NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_dev_description(NULL));
    assert_true(fake_failed());
    ggml_backend_dev_memory(NULL, &free_bytes, &total);
    assert_true(fake_failed());
    assert_int_equal(free_bytes + total, 0);
    ggml_backend_dev_memory(&fake.device, NULL, &total);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_dev_type(NULL), GGML_BACKEND_DEVICE_TYPE_CPU);
    assert_true(fake_failed());
    memset(&props, 0xff, sizeof(props));
    ggml_backend_dev_get_props(NULL, &props);
    assert_true(fake_failed());
    assert_null(props.name);
    ggml_backend_dev_get_props(&fake.device, NULL);
    assert_true(fake_failed());
    assert_null(ggml_backend_dev_backend_reg(NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_dev_init(NULL, NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_dev_buffer_type(NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_dev_host_buffer_type(NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_dev_buffer_from_host_ptr(NULL, NULL, 0, 0));
    assert_true(fake_failed());
    assert_false(ggml_backend_dev_supports_op(NULL, NULL));
    assert_true(fake_failed());
    assert_false(ggml_backend_dev_supports_op(&fake.device, NULL));
    assert_true(fake_failed());
    assert_false(ggml_backend_dev_supports_buft(&fake.device, NULL));
    assert_true(fake_failed());
    assert_false(ggml_backend_dev_offload_op(&fake.device, NULL));
    assert_true(fake_failed());
}

static void
a_registration_names_its_devices_and_functions(void **state)
{
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    assert_string_equal(ggml_backend_reg_name(&fake.reg), "Fake0");
    assert_int_equal(ggml_backend_reg_dev_count(&fake.reg), 1);
    assert_ptr_equal(ggml_backend_reg_dev_get(&fake.reg, 0), &fake.device);
    assert_ptr_equal(ggml_backend_reg_get_proc_address(&fake.reg, "itself"),
                     &fake.reg);
    assert_null(ggml_backend_reg_get_proc_address(&fake.reg, "other"));
    fake.reg.iface.get_proc_address = NULL;
    assert_null(ggml_backend_reg_get_proc_address(&fake.reg, "itself"));
    assert_false(fake_failed());

    assert_null(ggml_backend_reg_dev_get(&fake.reg, 1));
    assert_true(fake_failed());
    assert_null(ggml_backend_reg_get_proc_address(&fake.reg, NULL));
    assert_true(fake_failed());
    assert_null(ggml_backend_reg_name(NULL));
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_reg_dev_count(NULL), 0);
    assert_true(fake_failed());
    assert_null(ggml_backend_reg_dev_get(NULL, 0));
    assert_true(fake_failed());
    assert_null(ggml_backend_reg_get_proc_address(NULL, "itself"));
    assert_true(fake_failed());
}

static void
events_pass_through_or_are_refused(void **state)
{
    ggml_backend_event_t event;
    ggml_backend_t backend;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    backend = fake_backend(&fake);
    event = ggml_backend_event_new(&fake.device);
    ggml_backend_event_record(event, backend);
    ggml_backend_event_wait(backend, event);
    ggml_backend_event_synchronize(event);
    assert_int_equal(fake.calls.event_record, 1);
    assert_int_equal(fake.calls.event_wait, 1);
    assert_int_equal(fake.calls.event_synchronize, 1);
    assert_false(fake_failed());

    backend->iface.event_record = NULL;
    ggml_backend_event_record(event, backend);
    assert_true(fake_failed());
    backend->iface.event_wait = NULL;
    ggml_backend_event_wait(backend, event);
    assert_true(fake_failed());
    fake.device.iface.event_synchronize = NULL;
    ggml_backend_event_synchronize(event);
    assert_true(fake_failed());
    ggml_backend_event_record(NULL, backend);
    assert_true(fake_failed());
    ggml_backend_event_wait(NULL, event);
    assert_true(fake_failed());
    ggml_backend_event_synchronize(NULL);
    assert_true(fake_failed());

    ggml_backend_event_free(event);
    ggml_backend_event_free(NULL);
    assert_null(ggml_backend_event_new(NULL));
    fake.device.iface.event_new = NULL;
    assert_null(ggml_backend_event_new(&fake.device));
    assert_false(fake_failed());
    ggml_backend_free(backend);
}

/* A graph of one sum, its tensors in a buffer of the device. */
static struct ggml_cgraph *
graph_of_a_sum(struct ggml_context *ctx, ggml_backend_buffer_t buffer)
{
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *sum = ggml_add(ctx, a, a);
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 8, false);
    char *base = ggml_backend_buffer_get_base(buffer);

    ggml_backend_tensor_alloc(buffer, a, base);
    ggml_backend_tensor_alloc(buffer, sum, base + 64);
    ggml_build_forward_expand(graph, sum);
    return graph;
}

static void
computing_waits_and_hands_on_the_status(void **state)
{
    struct ggml_context *ctx = fake_context(8);
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;
    ggml_backend_t backend;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    backend = fake_backend(&fake);
    buffer = ggml_backend_alloc_buffer(backend, 128);
    graph = graph_of_a_sum(ctx, buffer);

    assert_int_equal(ggml_backend_graph_compute_async(backend, graph),
                     GGML_STATUS_SUCCESS);
    assert_true(fake.is_busy);
    fake.compute_status = GGML_STATUS_ABORTED;
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_ABORTED);
    assert_false(fake.is_busy);
    backend->iface.synchronize = NULL;
    fake.compute_status = GGML_STATUS_SUCCESS;
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    assert_false(fake_failed());
    assert_int_equal(ggml_backend_graph_compute(backend, NULL),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

static void
a_failed_graph_does_not_reach_the_backend(void **state)
{
    struct ggml_context *ctx = fake_context(8);
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 4, false);
    struct ggml_tensor *a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    ggml_backend_t backend;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    backend = fake_backend(&fake);
    ggml_build_forward_expand(graph, ggml_add(ctx, a, b));
    assert_true(gb_graph_is_failed(graph));
    fake_failed();
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_graph_compute_async(backend, graph),
                     GGML_STATUS_FAILED);
    assert_null(ggml_backend_graph_plan_create(backend, graph));
    assert_int_equal(fake.calls.compute, 0);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

static void
plans_pass_through_or_are_refused(void **state)
{
    struct ggml_context *ctx = fake_context(8);
    struct ggml_cgraph *graph;
    ggml_backend_graph_plan_t plan;
    ggml_backend_buffer_t buffer;
    ggml_backend_t backend;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    backend = fake_backend(&fake);
    buffer = ggml_backend_alloc_buffer(backend, 128);
    graph = graph_of_a_sum(ctx, buffer);
    plan = ggml_backend_graph_plan_create(backend, graph);
    assert_non_null(plan);
    fake.compute_status = GGML_STATUS_ALLOC_FAILED;
    assert_int_equal(ggml_backend_graph_plan_compute(backend, plan),
                     GGML_STATUS_ALLOC_FAILED);
    ggml_backend_graph_plan_free(backend, plan);
    ggml_backend_graph_plan_free(backend, NULL);
    assert_false(fake_failed());

    backend->iface.graph_plan_create = NULL;
    backend->iface.graph_plan_compute = NULL;
    backend->iface.graph_plan_free = NULL;
    assert_null(ggml_backend_graph_plan_create(backend, graph));
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_graph_plan_compute(backend, plan),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    assert_int_equal(ggml_backend_graph_plan_compute(backend, NULL),
                     GGML_STATUS_FAILED);
    assert_true(fake_failed());
    ggml_backend_graph_plan_free(backend, plan);
    assert_true(fake_failed());
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backend_answers_through_its_device),
        cmocka_unit_test(without_a_backend_there_is_a_name_and_nothing_else),
        cmocka_unit_test(a_device_tells_what_it_is),
        cmocka_unit_test(without_a_device_every_question_fails),
        cmocka_unit_test(a_registration_names_its_devices_and_functions),
        cmocka_unit_test(events_pass_through_or_are_refused),
        cmocka_unit_test(computing_waits_and_hands_on_the_status),
        cmocka_unit_test(a_failed_graph_does_not_reach_the_backend),
        cmocka_unit_test(plans_pass_through_or_are_refused),
    };

    return cmocka_run_group_tests_name("backends", tests, NULL, NULL);
}
