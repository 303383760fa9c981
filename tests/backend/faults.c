/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/faults.c - copies, graphs and devices that fail: what is
 * promised then, and that it works again afterwards.
 */
#include "config.h"

#include "tests/sim/sim.h"

#include "ggmlbackend.h"

#include "lib/backend/transfer.h"
#include "tests/util/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define N 300

static struct ggml_context *ctx[2];
static ggml_backend_t sim[2];
static ggml_backend_buffer_t buffer[2];
static struct ggml_tensor *x[2], *sum;
static struct ggml_cgraph *graph;

/* x[0] and x[1] on two devices; sum = x[0] + x[0] on the first. */
static int
open_devices(void **state)
{
    (void)state;
    sim_reset();
    for (int i = 0; i < 2; i++) {
        sim[i] = sim_backend(i);
        ctx[i] = sim_context();
        x[i] = ggml_new_tensor_1d(ctx[i], GGML_TYPE_F32, N);
    }
    sum = ggml_add(ctx[0], x[0], x[0]);
    graph = ggml_new_graph(ctx[0]);
    ggml_build_forward_expand(graph, sum);
    for (int i = 0; i < 2; i++) {
        buffer[i] = ggml_backend_alloc_ctx_tensors(ctx[i], sim[i]);
        ggml_backend_buffer_clear(buffer[i], 0);
    }
    ggmlbackend_clear_failure();
    return buffer[0] == NULL || buffer[1] == NULL;
}

static int
close_devices(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        ggml_backend_buffer_free(buffer[i]);
        ggml_backend_free(sim[i]);
        ggml_free(ctx[i]);
    }
    return !sim_is_clean();
}

static bool
has_failed(void)
{
    const bool failed = ggmlbackend_last_failure()[0] != '\0';

    ggmlbackend_clear_failure();
    return failed;
}

static float
first_of(const struct ggml_tensor *t)
{
    float value = -1.0f;

    ggml_backend_tensor_get(t, &value, 0, sizeof(value));
    return value;
}

static void
set_all(struct ggml_tensor *t, float value)
{
    float values[N];

    for (int i = 0; i < N; i++)
        values[i] = value;
    ggml_backend_tensor_set(t, values, 0, sizeof(values));
}

static void
a_copy_that_cannot_be_made_is_reported(void **state)
{
    (void)state;
    set_all(x[0], 1.0f);
    x[1]->buffer->iface.cpy_tensor = NULL;
    for (uint64_t nth = 1; nth <= 2; nth++) {
        gb_sim_fail(GB_SIM_FAULT_COPY, nth);
        assert_int_equal(gb_transfer_copy(x[0], x[1]), GGML_STATUS_FAILED);
        assert_true(has_failed());
        assert_true(first_of(x[1]) == 0.0f);
    }
    assert_int_equal(gb_transfer_copy(x[0], x[1]), GGML_STATUS_SUCCESS);
    assert_false(has_failed());
    assert_true(first_of(x[1]) == 1.0f);
}

static void
a_direct_copy_that_fails_is_made_another_way(void **state)
{
    (void)state;
    set_all(x[0], 1.0f);
    gb_sim_fail(GB_SIM_FAULT_COPY, 1);
    assert_int_equal(gb_transfer_copy(x[0], x[1]), GGML_STATUS_SUCCESS);
    assert_true(first_of(x[1]) == 1.0f);
    set_all(x[0], 2.0f);
    gb_sim_fail(GB_SIM_FAULT_COPY, 1);
    ggml_backend_tensor_copy_async(sim[0], sim[1], x[0], x[1]);
    ggml_backend_synchronize(sim[1]);
    assert_true(first_of(x[1]) == 2.0f);
    assert_false(has_failed());
}

static void
nothing_is_copied_from_a_queue_that_failed(void **state)
{
    (void)state;
    sim[1]->iface.cpy_tensor_async = NULL;
    gb_sim_fail(GB_SIM_FAULT_RUN, 1);
    set_all(x[1], 7.0f);
    assert_int_equal(ggml_backend_graph_compute_async(sim[0], graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_copy_async(sim[0], sim[1], sum, x[1]);
    assert_true(has_failed());
    assert_true(first_of(x[1]) == 7.0f);
}

static void
a_graph_that_fails_late_is_reported(void **state)
{
    (void)state;
    set_all(x[0], 1.0f);
    gb_sim_fail(GB_SIM_FAULT_COMPUTE, 1);
    assert_int_equal(ggml_backend_graph_compute(sim[0], graph),
                     GGML_STATUS_FAILED);
    assert_true(has_failed());
    gb_sim_fail(GB_SIM_FAULT_RUN, 1);
    assert_int_equal(ggml_backend_graph_compute(sim[0], graph),
                     GGML_STATUS_FAILED);
    assert_true(has_failed());
    assert_int_equal(ggml_backend_graph_compute(sim[0], graph),
                     GGML_STATUS_SUCCESS);
    assert_true(first_of(sum) == 2.0f);
}

static void
an_asynchronous_failure_comes_to_light(void **state)
{
    ggml_backend_event_t event = ggml_backend_event_new(sim_device(0));

    (void)state;
    for (int i = 0; i < 3; i++) {
        gb_sim_fail(GB_SIM_FAULT_RUN, 1);
        assert_int_equal(ggml_backend_graph_compute_async(sim[0], graph),
                         GGML_STATUS_SUCCESS);
        ggml_backend_event_record(event, sim[0]);
        assert_false(has_failed());
        if (i == 0)
            ggml_backend_synchronize(sim[0]);
        else
            ggml_backend_event_synchronize(event);
        assert_true(has_failed());
    }
    ggml_backend_synchronize(sim[0]);
    assert_false(has_failed());
    ggml_backend_event_free(event);
}

/* Copy the graph to the second device, with a failure on the way or none. */
static bool
copy_graph(void)
{
    struct ggml_backend_graph_copy copy =
        ggml_backend_graph_copy(sim[1], graph);
    const bool is_whole = copy.graph != NULL;

    gb_sim_fail(GB_SIM_FAULT_COPY, 0);
    if (is_whole) {
        assert_false(has_failed());
        assert_true(first_of(ggml_graph_node(copy.graph, 0)->src[0]) == 1.0f);
    } else {
        assert_true(has_failed());
        assert_null(copy.buffer);
        assert_null(copy.ctx_allocated);
        assert_null(copy.ctx_unallocated);
    }
    ggml_backend_graph_copy_free(copy);
    return is_whole;
}

static void
a_graph_is_copied_whole_or_not_at_all(void **state)
{
    static const enum gb_sim_fault faults[] = { GB_SIM_FAULT_ALLOC,
                                                GB_SIM_FAULT_COPY };

    (void)state;
    set_all(x[0], 1.0f);
    for (int direct = 0; direct < 2; direct++) {
        struct gb_sim_config config;

        gb_sim_default(&config);
        config.without[GB_SIM_CPY_TENSOR] = !direct;
        assert_true(gb_sim_configure(1, 1, &config));
        for (int f = 0; f < 2; f++) {
            int n_failed = 0;

            /* A copy that fails is made another way, with more copies. */
            for (uint64_t nth = 1; nth <= 6; nth++) {
                gb_sim_fail(faults[f], nth);
                n_failed += !copy_graph();
            }
            gb_sim_fail(faults[f], 0);
            assert_int_equal(
                n_failed, faults[f] == GB_SIM_FAULT_ALLOC ? 2 : 4 - 4 * direct);
        }
    }
    assert_true(copy_graph());
}

static void
copy_both_ways(void *data)
{
    (void)data;
    set_all(x[0], 1.0f);
    set_all(x[1], 0.0f);
    x[1]->buffer->iface.cpy_tensor = NULL;
    ggmlbackend_clear_failure();
    ggml_backend_tensor_copy(x[0], x[1]);
    assert_true(first_of(x[1]) == (has_failed() ? 0.0f : 1.0f));
    copy_graph();
}

static void
each_allocation_of_the_library_may_fail(void **state)
{
    (void)state;
    assert_true(gb_fault_each(copy_both_ways, NULL) > 3);
}

static bool
same(int index, struct ggml_tensor *a, struct ggml_tensor *b, void *user_data)
{
    (void)index;
    *(bool *)user_data = first_of(a) == first_of(b);
    return true;
}

static void
a_comparison_with_a_failure_ends_all_the_same(void **state)
{
    bool is_same = true;

    (void)state;
    set_all(x[0], 1.0f);
    gb_sim_fail(GB_SIM_FAULT_COMPUTE, 2);
    assert_true(
        ggml_backend_compare_graph_backend(sim[0], sim[1], graph, same,
                                           &is_same));
    assert_false(is_same);
    assert_true(has_failed());
    assert_true(
        ggml_backend_compare_graph_backend(sim[0], sim[1], graph, same,
                                           &is_same));
    assert_true(is_same);
}

static void
a_lost_device_fails_in_everything_until_its_backends_are_gone(void **state)
{
    float value = 5.0f;

    (void)state;
    set_all(x[0], 1.0f);
    assert_int_equal(ggml_backend_graph_compute_async(sim[0], graph),
                     GGML_STATUS_SUCCESS);
    gb_sim_fail(GB_SIM_FAULT_LOST, 1);
    ggml_backend_tensor_get(x[0], &value, 0, sizeof(value));
    assert_true(value == 5.0f);
    assert_true(has_failed());
    ggml_backend_synchronize(sim[0]);
    assert_true(has_failed());
    assert_int_equal(ggml_backend_graph_compute(sim[0], graph),
                     GGML_STATUS_FAILED);
    assert_true(has_failed());
    assert_null(ggml_backend_alloc_buffer(sim[0], 64));
    assert_true(has_failed());
    assert_null(ggml_backend_dev_init(sim_device(0), NULL));
    assert_true(has_failed());
    assert_null(ggml_backend_event_new(sim_device(0)));
    assert_true(has_failed());
    assert_int_equal(gb_transfer_copy(x[0], x[1]), GGML_STATUS_FAILED);
    assert_true(has_failed());
    set_all(x[1], 2.0f);
    assert_false(has_failed()); /* the other device is there */

    ggml_backend_free(sim[0]);
    sim[0] = sim_backend(0);
    assert_non_null(sim[0]);
    set_all(x[0], 3.0f);
    assert_int_equal(ggml_backend_graph_compute(sim[0], graph),
                     GGML_STATUS_SUCCESS);
    assert_true(first_of(sum) == 6.0f);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, open_devices, close_devices)
    static const struct CMUnitTest tests[] = {
        TEST(a_copy_that_cannot_be_made_is_reported),
        TEST(a_direct_copy_that_fails_is_made_another_way),
        TEST(nothing_is_copied_from_a_queue_that_failed),
        TEST(a_graph_that_fails_late_is_reported),
        TEST(an_asynchronous_failure_comes_to_light),
        TEST(a_graph_is_copied_whole_or_not_at_all),
        TEST(each_allocation_of_the_library_may_fail),
        TEST(a_comparison_with_a_failure_ends_all_the_same),
        TEST(a_lost_device_fails_in_everything_until_its_backends_are_gone),
    };

    return cmocka_run_group_tests_name("failing devices", tests, NULL, NULL);
}
