/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/fuse.c - random graphs on Vulkan0, and what they come to.
 *
 * fuse.sh runs it where Vulkan0 is lavapipe, with groups of nodes and without, and
 * with each node as a graph of its own (argument by-node), and compares the lines.
 */
#include "config.h"

#include "tests/fuse/graphs.h"
#include "tests/util/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GRAPHS = 60, ALL_GRAPHS = 3000, TURNS = 2 };

static ggml_backend_t backend;
static bool is_by_node;

/* Each time that a graph is computed, hashed. */
static uint64_t
run(struct graph *g)
{
    uint64_t sum = 0;

    graph_begin(g);
    for (int turn = 0; turn < TURNS; turn++) {
        graph_fill(g, turn);
        assert_true(graph_compute(g, backend, !is_by_node));
        sum = graph_hash(g, sum);
    }
    return sum;
}

static void
graphs_are_computed(void **state)
{
    static struct graph g;
    const int n = getenv("GGMLBACKEND_TEST_ALL") != NULL ? ALL_GRAPHS : GRAPHS;

    (void)state;
    graph_seed(gb_test_seed(20261126));
    for (int i = 0; i < n; i++) {
        graph_make(&g, ggml_backend_get_default_buffer_type(backend));
        print_message("# graph %d: %016llx\n", i, (unsigned long long)run(&g));
        graph_free(&g);
    }
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_computed),
    };
    ggml_backend_dev_t device;
    int failed;

    is_by_node = argc > 1 && strcmp(argv[1], "by-node") == 0;
    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan; fuse.sh brings one");
        return 0;
    }
    backend = ggml_backend_dev_init(device, NULL);
    if (backend == NULL)
        return 1;
    failed = cmocka_run_group_tests_name("groups of nodes on Vulkan", tests,
                                         NULL, NULL);
    ggml_backend_free(backend);
    return failed;
}
