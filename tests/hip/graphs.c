/* SPDX-License-Identifier: MIT */
/*
 * tests/hip/graphs.c - recorded graphs on run times that have them right, and on
 * those that are known not to.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { K = 16 };

static uint64_t n_expected;

static void
repeat_a_graph(void)
{
    ggml_backend_t backend;
    struct sums sums;

    CHECK(cuda_load() != NULL);
    backend = ggml_backend_dev_init(cuda_device("CUDA0"), NULL);
    CHECK(backend != NULL);
    sums = sums_make(ggml_backend_get_default_buffer_type(backend), K);
    CHECK(sums.buffer != NULL);
    for (int seed = 0; seed < 4; seed++) {
        sums_set(&sums, seed);
        CHECK(ggml_backend_graph_compute(backend, sums.graph) ==
              GGML_STATUS_SUCCESS);
        CHECK(sums_are_right(&sums, K, seed));
    }
    CHECK(emulator.count(EMU_GRAPH_LAUNCHES) == n_expected);
    CHECK(emulator.count(EMU_KERNELS) == 4 * K);
    sums_free(&sums);
    ggml_backend_free(backend);
    cuda_is_well();
}

static void
graphs_are_recorded_where_that_is_right(void **state)
{
    static const struct {
        const char *variables, *told; /* NULL: nothing is */
    } cases[] = {
        { "", NULL },
        { "EMU_ARCH=gfx90a EMU_DRIVER_VERSION=50331831", NULL },
        { "EMU_ARCH=gfx942 EMU_DRIVER_VERSION=70151831", NULL },
        { "EMU_ARCH=gfx1100 EMU_DRIVER_VERSION=70226015", NULL },
        { "EMU_DRIVER_VERSION=50221153",
          "ROCm0: graphs are launched kernel by kernel, since that of ROCm "
          "5.2 takes no kernels of modules" },
        { "EMU_ARCH=gfx942 EMU_DRIVER_VERSION=70226015",
          "since that of ROCm 7.2 corrupts results (ROCm/clr#279)" },
        { "EMU_FAIL=hipGraphInstantiateWithFlags:1:2",
          "ROCm0: graphs cannot be recorded, and are launched kernel by "
          "kernel: out of memory" },
        /* Who forbids them need not be told. */
        { "EMU_DRIVER_VERSION=50221153 GGML_CUDA_DISABLE_GRAPHS=1", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *told = cases[i].told, *errors;

        n_expected = told == NULL ? 3 : 0;
        cuda_case(repeat_a_graph, cases[i].variables, &errors);
        if (told == NULL || told[0] == '\0') {
            assert_null(strstr(errors, "kernel by kernel"));
        } else {
            assert_non_null(strstr(errors, told));
            assert_int_equal(cuda_count_lines(errors), 1);
        }
    }
}

/* Two sets of tensors in turns change all nodes each time. */
static void
change_a_graph_often(void)
{
    enum { TURNS = 700 };
    ggml_backend_t backend;
    struct sums sums[2];

    CHECK(cuda_load() != NULL);
    backend = ggml_backend_dev_init(cuda_device("CUDA0"), NULL);
    CHECK(backend != NULL);
    for (int i = 0; i < 2; i++)
        sums[i] = sums_make(ggml_backend_get_default_buffer_type(backend), K);
    for (int turn = 0; turn < TURNS; turn++) {
        struct sums *own = &sums[turn % 2];

        if (turn < 2 || turn % 100 < 2)
            sums_set(own, turn % 2);
        CHECK(ggml_backend_graph_compute(backend, own->graph) ==
              GGML_STATUS_SUCCESS);
        CHECK(sums_are_right(own, K, turn % 2));
    }
    CHECK(emulator.count(EMU_GRAPH_LAUNCHES) == TURNS - 1);
    /* The first one serves 256 turns, as each later one does. */
    CHECK(emulator.calls("hipGraphInstantiateWithFlags") == 3);
    CHECK(emulator.calls("hipGraphExecDestroy") == 2);
    for (int i = 0; i < 2; i++)
        sums_free(&sums[i]);
    ggml_backend_free(backend);
    cuda_is_well();
}

static void
a_graph_that_was_changed_often_is_made_anew(void **state)
{
    (void)state;
    cuda_case(change_a_graph_often, "", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_are_recorded_where_that_is_right),
        cmocka_unit_test(a_graph_that_was_changed_often_is_made_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
