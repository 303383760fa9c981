/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/graphs.c - recorded graphs of the emulated driver.
 */
#include "config.h"

#include "tests/gpu-emulator/add.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A node for array TO = array A + array B, after N others. */
static gb_cuda_graph_node
add_to_graph(const struct add *add, gb_cuda_graph graph, int to, int a, int b,
             const gb_cuda_graph_node *after, size_t n)
{
    struct gb_cuda_binary_args args = add_args(add, to, a, b);
    void *params[] = { &args };
    struct gb_cuda_kernel_node what = add_node(add, params);
    gb_cuda_graph_node node;

    assert_int_equal(cu.graph_add_kernel(&node, graph, after, n, &what),
                     GB_CUDA_SUCCESS);
    return node;
}

static int
change(const struct add *add, gb_cuda_graph_exec exec, gb_cuda_graph_node node,
       int to, int a, int b)
{
    struct gb_cuda_binary_args args = add_args(add, to, a, b);
    void *params[] = { &args };
    struct gb_cuda_kernel_node what = add_node(add, params);

    return cu.graph_exec_kernel(exec, node, &what);
}

/* Array 0 = 1 + 2, then array 3 = 0 + 0: 5, then 10. */
struct chain {
    struct add add;
    gb_cuda_graph graph;
    gb_cuda_graph_exec exec;
    gb_cuda_graph_node nodes[2];
};

static void
begin(struct chain *c, const char *settings, bool has_edge)
{
    emu_begin_in_context(settings);
    add_begin(&c->add);
    assert_int_equal(cu.graph_create(&c->graph, 0), GB_CUDA_SUCCESS);
    c->nodes[0] = add_to_graph(&c->add, c->graph, 0, 1, 2, NULL, 0);
    c->nodes[1] = add_to_graph(&c->add, c->graph, 3, 0, 0, &c->nodes[0],
                               has_edge);
    assert_int_equal(cu.graph_instantiate(&c->exec, c->graph, 0),
                     GB_CUDA_SUCCESS);
    emu.reset();
}

static void
end(struct chain *c)
{
    assert_int_equal(cu.graph_exec_destroy(c->exec), GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_destroy(c->graph), GB_CUDA_SUCCESS);
    add_end(&c->add);
    assert_int_equal(emu.live(), 0);
    emu_end();
}

static void
a_graph_is_one_operation_of_its_stream(void **state)
{
    struct chain c;

    (void)state;
    begin(&c, "", true);
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream), GB_CUDA_SUCCESS);
    assert_int_equal(emu.queued(), 1);
    assert_int_equal(emu.count(EMU_KERNELS), 0);
    assert_float_equal(add_result(&c.add, 3), 10.0f, 0.0f);
    assert_int_equal(emu.count(EMU_GRAPH_LAUNCHES), 1);
    assert_int_equal(emu.count(EMU_LAUNCHES), 0);
    assert_int_equal(emu.kernel_runs(ADD_KERNEL), 2);
    end(&c);
}

static float
chain_result(const char *settings, bool has_edge)
{
    struct chain c;
    float result;

    begin(&c, settings, has_edge);
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream), GB_CUDA_SUCCESS);
    result = add_result(&c.add, 3);
    end(&c);
    return result;
}

static void
edges_say_the_order(void **state)
{
    (void)state;
    assert_float_equal(chain_result("ORDER=0", true), 10.0f, 0.0f);
    assert_float_equal(chain_result("ORDER=1", true), 10.0f, 0.0f);
    assert_float_equal(chain_result("ORDER=2", true), 10.0f, 0.0f);
    assert_float_equal(chain_result("ORDER=0", false), 10.0f, 0.0f);
    assert_float_equal(chain_result("ORDER=1", false), 2.0f, 0.0f);
}

static void
parameters_change_for_later_launches(void **state)
{
    struct chain c;

    (void)state;
    begin(&c, "", true);
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream), GB_CUDA_SUCCESS);
    assert_int_equal(change(&c.add, c.exec, c.nodes[1], 3, 1, 1),
                     GB_CUDA_SUCCESS);
    assert_float_equal(add_result(&c.add, 3), 10.0f, 0.0f);
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream), GB_CUDA_SUCCESS);
    assert_float_equal(add_result(&c.add, 3), 4.0f, 0.0f);
    end(&c);
}

/* What no queued launch has is changed in its place, and kept by the next. */
static void
parameters_that_changed_change_again(void **state)
{
    struct chain c;

    (void)state;
    begin(&c, "", true);
    assert_int_equal(change(&c.add, c.exec, c.nodes[1], 3, 1, 1),
                     GB_CUDA_SUCCESS);
    assert_int_equal(change(&c.add, c.exec, c.nodes[1], 3, 2, 2),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream), GB_CUDA_SUCCESS);
    assert_int_equal(change(&c.add, c.exec, c.nodes[1], 3, 1, 1),
                     GB_CUDA_SUCCESS);
    assert_int_equal(change(&c.add, c.exec, c.nodes[1], 3, 1, 2),
                     GB_CUDA_SUCCESS);
    assert_float_equal(add_result(&c.add, 3), 6.0f, 0.0f);
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream), GB_CUDA_SUCCESS);
    assert_float_equal(add_result(&c.add, 3), 5.0f, 0.0f);
    end(&c);
}

static void
another_recording_keeps_its_parameters(void **state)
{
    struct chain c;
    gb_cuda_graph_exec other;

    (void)state;
    begin(&c, "", true);
    assert_int_equal(cu.graph_instantiate(&other, c.graph, 0), GB_CUDA_SUCCESS);
    assert_int_equal(change(&c.add, c.exec, c.nodes[1], 3, 1, 1),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_launch(other, c.add.stream), GB_CUDA_SUCCESS);
    assert_float_equal(add_result(&c.add, 3), 10.0f, 0.0f);
    assert_int_equal(cu.graph_exec_destroy(other), GB_CUDA_SUCCESS);
    end(&c);
}

static void
a_graph_may_be_destroyed_while_it_is_queued(void **state)
{
    struct chain c;

    (void)state;
    begin(&c, "", true);
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_destroy(c.graph), GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_exec_destroy(c.exec), GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream),
                     GB_CUDA_INVALID_HANDLE);
    assert_float_equal(add_result(&c.add, 3), 10.0f, 0.0f);
    assert_int_equal(emu.kernel_runs(ADD_KERNEL), 4);
    add_end(&c.add);
    emu_end();
}

/* Launches of one graph run one after the other, whatever the streams. */
static void
a_graph_does_not_run_beside_itself(void **state)
{
    struct chain c;
    gb_cuda_stream other;
    gb_cuda_event event;

    (void)state;
    begin(&c, "ORDER=1", true);
    other = emu_stream();
    event = emu_event();
    assert_int_equal(cu.graph_launch(c.exec, c.add.stream), GB_CUDA_SUCCESS);
    assert_int_equal(change(&c.add, c.exec, c.nodes[1], 3, 1, 1),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_launch(c.exec, other), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_record(event, other), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_wait_event(c.add.stream, event, 0),
                     GB_CUDA_SUCCESS);
    assert_float_equal(add_result(&c.add, 3), 4.0f, 0.0f);
    assert_int_equal(cu.event_destroy(event), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(other), GB_CUDA_SUCCESS);
    end(&c);
}

static void
nodes_are_checked_as_launches_are(void **state)
{
    struct chain c;
    struct gb_cuda_binary_args args;
    void *params[] = { &args };
    struct gb_cuda_kernel_node what;
    gb_cuda_graph_node node;
    uint64_t reports;

    (void)state;
    begin(&c, "", true);
    reports = emu.reports();
    args = add_args(&c.add, 0, 1, 2);
    what = add_node(&c.add, params);
    what.block[0] = 32;
    assert_int_equal(cu.graph_add_kernel(&node, c.graph, NULL, 0, &what),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.graph_exec_kernel(c.exec, c.nodes[0], &what),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(emu.reports(), reports + 2);
    what.block[0] = 256;
    node = (gb_cuda_graph_node)c.graph;
    assert_int_equal(cu.graph_add_kernel(&node, c.graph, &node, 1, &what),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.graph_exec_kernel(c.exec, node, &what),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.graph_exec_destroy(c.exec), GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_destroy(c.graph), GB_CUDA_SUCCESS);
    add_end(&c.add);
    emu_end_with_reports(2);
}

static int
connect(const struct chain *c, int from, int to, int from_port, int type)
{
    const struct gb_cuda_edge edge = {
        .from_port = (uint8_t)from_port, .type = (uint8_t)type,
    };

    return cu.graph_add_edges(c->graph, &c->nodes[from], &c->nodes[to], &edge,
                              1);
}

static void
edges_may_let_a_node_begin_early(void **state)
{
    struct chain c;
    gb_cuda_graph_exec early;

    (void)state;
    begin(&c, "ORDER=1", false);
    assert_int_equal(connect(&c, 0, 1, 0, GB_CUDA_EDGE_PROGRAMMATIC),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(connect(&c, 1, 0, 0, 0), GB_CUDA_INVALID_VALUE);
    assert_int_equal(connect(&c, 0, 1, GB_CUDA_PORT_LETS_NEXT_BEGIN,
                             GB_CUDA_EDGE_PROGRAMMATIC),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_instantiate(&early, c.graph, 0),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_launch(early, c.add.stream), GB_CUDA_SUCCESS);
    assert_float_equal(add_result(&c.add, 3), 10.0f, 0.0f);
    assert_int_equal(emu.count(EMU_KERNELS), 2);
    assert_int_equal(emu.count(EMU_EARLY), 1);
    /* What changes in a node is not its edges. */
    assert_int_equal(change(&c.add, early, c.nodes[1], 3, 1, 1),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.graph_launch(early, c.add.stream), GB_CUDA_SUCCESS);
    assert_float_equal(add_result(&c.add, 3), 4.0f, 0.0f);
    assert_int_equal(emu.count(EMU_EARLY), 2);
    assert_int_equal(cu.graph_exec_destroy(early), GB_CUDA_SUCCESS);
    end(&c);
}

static void
a_launch_may_begin_early(void **state)
{
    struct chain c;
    struct gb_cuda_binary_args args;
    void *params[] = { &args };
    struct gb_cuda_launch_attribute attribute = {
        .number = GB_CUDA_ATTRIBUTE_MAY_BEGIN_EARLY, .value.is_on = 1,
    };
    struct gb_cuda_launch_config config = {
        .grid = { 1, 1, 1 }, .block = { 256, 1, 1 },
        .attributes = &attribute, .n_attributes = 1,
    };

    (void)state;
    begin(&c, "", true);
    config.stream = c.add.stream;
    args = add_args(&c.add, 0, 1, 2);
    assert_int_equal(cu.launch_config(&config, c.add.function, params, NULL),
                     GB_CUDA_SUCCESS);
    attribute.value.is_on = 0;
    args = add_args(&c.add, 3, 0, 0);
    assert_int_equal(cu.launch_config(&config, c.add.function, params, NULL),
                     GB_CUDA_SUCCESS);
    attribute.number++;
    assert_int_equal(cu.launch_config(&config, c.add.function, params, NULL),
                     GB_CUDA_INVALID_VALUE);
    assert_float_equal(add_result(&c.add, 3), 10.0f, 0.0f);
    assert_int_equal(emu.count(EMU_LAUNCHES), 2);
    assert_int_equal(emu.count(EMU_EARLY), 1);
    end(&c);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_is_one_operation_of_its_stream),
        cmocka_unit_test(edges_say_the_order),
        cmocka_unit_test(parameters_change_for_later_launches),
        cmocka_unit_test(parameters_that_changed_change_again),
        cmocka_unit_test(another_recording_keeps_its_parameters),
        cmocka_unit_test(a_graph_may_be_destroyed_while_it_is_queued),
        cmocka_unit_test(a_graph_does_not_run_beside_itself),
        cmocka_unit_test(nodes_are_checked_as_launches_are),
        cmocka_unit_test(edges_may_let_a_node_begin_early),
        cmocka_unit_test(a_launch_may_begin_early),
    };

    return cmocka_run_group_tests_name("recorded graphs of the emulated driver",
                                       tests, emu_open, NULL);
}
