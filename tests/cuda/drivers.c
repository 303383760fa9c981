/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/drivers.c - drivers and cards that cannot be used, and the reason.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

/* ---- refused ---- */

static const char *expected_reason;

static void
expect_refusal(void)
{
    cuda_expect_refusal(expected_reason);
}

static void
each_reason_to_refuse_is_told(void **state)
{
    static const struct {
        const char *variables, *reason;
    } cases[] = {
        { "EMU_DEVICES=0", "cuInit: no CUDA-capable device is detected "
                           "(CUDA_ERROR_NO_DEVICE)" },
        { "EMU_INIT_FAIL=999", "cuInit: unknown error (CUDA_ERROR_UNKNOWN)" },
        { "EMU_INIT_FAIL=803", "(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)" },
        { "EMU_DRIVER_VERSION=10020", "10.2, needed is 11.0" },
        { "EMU_COMPUTE_MODE=2", "may be used by nobody" },
        { "EMU_ARCH=52", "fits compute 5.2 with a driver of CUDA 13.0" },
        { "EMU_FAIL=cuDeviceGetCount:1:999",
          "cuDeviceGetCount: unknown error (CUDA_ERROR_UNKNOWN)" },
        { "EMU_FAIL=cuDeviceGetAttribute:1:999", "cuDeviceGetAttribute" },
        { "EMU_FAIL=cuDeviceGetName:1:999", "cuDeviceGetName" },
        { "EMU_FAIL=cuDeviceTotalMem_v2:1:999", "cuDeviceTotalMem" },
        { "EMU_FAIL=cuDriverGetVersion:1:999", "cuDriverGetVersion" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *errors;

        expected_reason = cases[i].reason;
        cuda_case(expect_refusal, cases[i].variables, &errors);
        print_message("# [%s] %s", cases[i].variables, errors);
        /* The library's line, and that of cuda_check_refusal. */
        assert_int_equal(cuda_count_lines(errors), 2);
    }
}

/* ---- a driver that is not there, or not whole ---- */

static void
load_without_driver(void)
{
    CHECK(cuda_load_module() == NULL);
    cuda_check_refusal(expected_reason);
}

static void
without_a_driver_the_reason_is_the_linkers(void **state)
{
    const char *errors;

    (void)state;
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != NULL) {
        print_message("# this machine has a driver\n");
        skip();
    }
    expected_reason = "no driver: libcuda.so.1: cannot open shared object";
    cuda_case(load_without_driver, "", &errors);
    print_message("# %s", errors);
}

static void
load_without_a_needed_entry_point(void)
{
    CHECK(cuda_load_without("cuMemAlloc_v2") == NULL);
    cuda_check_refusal(expected_reason);
}

static void
load_without_recorded_graphs(void)
{
    ggml_backend_t backend;
    struct sums sums;

    CHECK(cuda_load_without("cuGraphCreate") != NULL);
    backend = ggml_backend_dev_init(cuda_device("CUDA0"), NULL);
    CHECK(backend != NULL);
    sums = sums_make(ggml_backend_get_default_buffer_type(backend), 5);
    for (int seed = 0; seed < 3; seed++) {
        sums_set(&sums, seed);
        CHECK(ggml_backend_graph_compute(backend, sums.graph) ==
              GGML_STATUS_SUCCESS);
        CHECK(sums_are_right(&sums, 5, seed));
    }
    CHECK(emulator.count(EMU_GRAPH_LAUNCHES) == 0);
    sums_free(&sums);
    ggml_backend_free(backend);
}

static void
a_missing_entry_point_is_named_unless_it_can_be_done_without(void **state)
{
    const char *errors;

    (void)state;
    expected_reason = "the driver is too old: it has no cuMemAlloc_v2";
    cuda_case(load_without_a_needed_entry_point, "", &errors);
    print_message("# %s", errors);
    cuda_case(load_without_recorded_graphs, "", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_to_refuse_is_told),
        cmocka_unit_test(without_a_driver_the_reason_is_the_linkers),
        cmocka_unit_test(
            a_missing_entry_point_is_named_unless_it_can_be_done_without),
    };

    return cmocka_run_group_tests_name("drivers", tests, NULL, NULL);
}
