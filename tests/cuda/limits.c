/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/limits.c - a card's limits as the backend measures them.
 *
 * The emulated card's time is counted, 10 microseconds for a kernel and 20 for a
 * copy, so that each figure is known: what a kernel does in one round, divided by
 * that.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The emulated card: multiprocessors, and bytes of its cache. */
enum { SMS = 4, CACHE = 16 << 10 };

#define KERNEL 10e-6
#define COPY   20e-6

/* A sample, which one round is enough for; an array is 16 times the cache. */
#define SAMPLE 9e-6
#define ARRAY  (16.0 * CACHE)

static ggmlbackend_dev_measure_limits_t measure;
static ggmlbackend_dev_get_state_t get_state;
static ggml_backend_dev_t device;

static void
open_all(void)
{
    ggml_backend_reg_t reg = cuda_load();

    CHECK(reg != NULL);
    *(void **)&measure = ggml_backend_reg_get_proc_address(
        reg, "ggmlbackend_dev_measure_limits");
    *(void **)&get_state =
        ggml_backend_reg_get_proc_address(reg, "ggmlbackend_dev_get_state");
    CHECK(measure != NULL && get_state != NULL);
    device = cuda_device("CUDA0");
}

static struct ggmlbackend_dev_limits
asked(size_t max_memory)
{
    return (struct ggmlbackend_dev_limits){
        .size = sizeof(struct ggmlbackend_dev_limits),
        .max_memory = max_memory,
        .seconds = SAMPLE,
    };
}

static bool
is_near(double value, double expected)
{
    return fabs(value - expected) <= 1e-4 * expected;
}

/* Of one block for each of eight places of each multiprocessor. */
static bool
is_rate(double value, double ops_of_a_block)
{
    return is_near(value, ops_of_a_block * 8 * SMS / KERNEL);
}

/* What kernels of each variant do in a round: M * N * K * 2 of an instruction,
 * times those of a block. */
#define MMA_OPS   (2.0 * 16 * 8 * 8 * 8 * 8)
#define MMA8_OPS  (2.0 * 16 * 8 * 16 * 8 * 8)
#define WMMA_OPS  (2.0 * 16 * 16 * 32 * 8 * 8)
#define WGMMA_OPS (2.0 * 64 * 128 * 16 * 8)
#define F32_OPS   (2.0 * 128 * 256)

static struct {
    double f16, bf16, int8;
    const char *kernels[3]; /* that do them */
} expected;

static void
is_clean(void)
{
    CHECK(emulator.live() == 0 && emulator.memory_used(0) == 0);
    CHECK(emulator.reports() == 0);
}

/* Once by trying, then five samples, of a round each. */
static void
check_runs(void)
{
    enum { RUNS = 6, NODES = 64 };

    CHECK(emulator.kernel_runs("gb_limit_fill") == 2);
    CHECK(emulator.kernel_runs("gb_limit_read") == RUNS);
    CHECK(emulator.kernel_runs("gb_limit_copy") == RUNS);
    CHECK(emulator.kernel_runs("gb_limit_f32") == RUNS);
    CHECK(emulator.kernel_runs("gb_limit_nothing") == RUNS + RUNS * NODES);
    for (size_t i = 0; i < 3; i++)
        CHECK(expected.kernels[i] == NULL ||
              emulator.kernel_runs(expected.kernels[i]) == RUNS);
    CHECK(emulator.count(EMU_GRAPH_LAUNCHES) == RUNS);
    CHECK(emulator.count(EMU_COPIES) == 2 * RUNS);
    CHECK(emulator.count(EMU_COPIED_BYTES) == 2 * RUNS * (uint64_t)ARRAY);
    CHECK(emulator.count(EMU_ALLOCATIONS) == 2);
    CHECK(emulator.count(EMU_HOST_ALLOCATIONS) == 1);
}

static void
measure_once(void)
{
    struct ggmlbackend_dev_limits limits;

    open_all();
    limits = asked(0);
    CHECK(measure(device, &limits) == GGML_STATUS_SUCCESS);
    CHECK(limits.size == sizeof(limits) && limits.seconds == SAMPLE);
    CHECK(limits.cache == CACHE && (double)limits.array == ARRAY);
    CHECK(is_near(limits.read, ARRAY / KERNEL));
    CHECK(is_near(limits.copy, 2.0 * ARRAY / KERNEL));
    CHECK(expected.f16 == 0.0 ? limits.f16 == 0.0
                              : is_rate(limits.f16, expected.f16));
    CHECK(expected.bf16 == 0.0 ? limits.bf16 == 0.0
                               : is_rate(limits.bf16, expected.bf16));
    CHECK(is_rate(limits.int8, expected.int8));
    CHECK(is_rate(limits.f32, F32_OPS));
    CHECK(is_near(limits.launch, KERNEL));
    CHECK(is_near(limits.recorded_launch, KERNEL));
    CHECK(is_near(limits.to_device, ARRAY / COPY));
    CHECK(is_near(limits.to_host, ARRAY / COPY));
    CHECK(limits.slowed == 0);
    check_runs();
    is_clean();
    cuda_is_well();
}

static void
each_variant_has_its_figures(void **state)
{
    (void)state;
    if (!ON_HIP(true, false)) {
        expected.f16 = expected.bf16 = WMMA_OPS;
        expected.int8 = 2.0 * 4 * 128 * 256;
        expected.kernels[0] = "gb_limit_matrix_f16";
        expected.kernels[1] = "gb_limit_matrix_bf16";
        expected.kernels[2] = "gb_limit_int8";
        cuda_case(measure_once, "", NULL);
        return;
    }
    expected.f16 = expected.bf16 = WGMMA_OPS;
    expected.int8 = 2.0 * MMA8_OPS;
    expected.kernels[0] = "gb_limit_wgmma_f16";
    expected.kernels[1] = "gb_limit_wgmma_bf16";
    expected.kernels[2] = "gb_limit_mma8_int8";
    cuda_case(measure_once, "", NULL);
    expected.f16 = expected.bf16 = MMA8_OPS;
    expected.kernels[0] = "gb_limit_mma8_f16";
    expected.kernels[1] = "gb_limit_mma8_bf16";
    cuda_case(measure_once, "EMU_ARCH=80", NULL);
    expected.f16 = MMA_OPS;
    expected.bf16 = 0.0;
    expected.int8 = 2.0 * 8 * 8 * 16 * 8 * 8;
    expected.kernels[0] = "gb_limit_mma_f16";
    expected.kernels[1] = NULL;
    expected.kernels[2] = "gb_limit_mma_int8";
    cuda_case(measure_once, "EMU_ARCH=75", NULL);
}

static void
without_tensor_cores_there_is_no_figure_of_them(void **state)
{
    (void)state;
    expected.f16 = expected.bf16 = 0.0;
    expected.int8 = 2.0 * 4 * 128 * 256;
    expected.kernels[0] = expected.kernels[1] = NULL;
    expected.kernels[2] = "gb_limit_int8";
    cuda_case(measure_once, "GGMLBACKEND_GPU_VARIANT=plain", NULL);
}

/* ---- what kernels touch ---- */

static struct emu_costs
costs_of(const char *kernel)
{
    void *library = dlopen(DRIVER, RTLD_NOW | RTLD_NOLOAD);
    void (*ask)(const char *kernel, struct emu_costs *costs);
    struct emu_costs costs;

    CHECK(library != NULL);
    *(void **)&ask = dlsym(library, "emu_costs_of");
    CHECK(ask != NULL);
    ask(kernel, &costs);
    return costs;
}

/* Multiprocessors: with one of them a thread has more to read. */
static int n_sms;

/* A rate counts bytes that were touched, each once. */
static void
count_bytes(void)
{
    const double results = 8.0 * n_sms * 256 * 4;
    struct ggmlbackend_dev_limits limits;
    struct emu_costs costs;

    open_all();
    limits = asked(0);
    CHECK(measure(device, &limits) == GGML_STATUS_SUCCESS);
    costs = costs_of("gb_limit_read");
    CHECK((double)costs.read == (double)costs.launches * ARRAY);
    CHECK((double)costs.written == (double)costs.launches * results);
    costs = costs_of("gb_limit_copy");
    CHECK((double)costs.read == (double)costs.launches * ARRAY);
    CHECK(costs.written == costs.read);
    costs = costs_of("gb_limit_fill");
    CHECK((double)costs.written == (double)costs.launches * ARRAY);
    is_clean();
}

static void
all_bytes_are_read_and_written_once(void **state)
{
    const char *checks = getenv("GGMLBACKEND_TEST_EMU_CHECK");

    (void)state;
    if (checks != NULL && strcmp(checks, "0") == 0) {
        print_message("accesses are not counted\n");
        skip();
    }
    n_sms = SMS;
    cuda_case(count_bytes, "EMU_COUNT=1", NULL);
    n_sms = 1;
    cuda_case(count_bytes, "EMU_COUNT=1 EMU_SMS=1", NULL);
}

/* ---- how long samples last ---- */

/* Four launches at once, and one of 64 in a graph. */
static void
measure_longer(void)
{
    enum { NODES = 64, TRIED = 1 + 2 + 4, SAMPLES = 5 };
    struct ggmlbackend_dev_limits limits;

    open_all();
    limits = asked(0);
    limits.seconds = 35e-6;
    CHECK(measure(device, &limits) == GGML_STATUS_SUCCESS);
    CHECK(is_near(limits.launch, KERNEL));
    CHECK(is_near(limits.recorded_launch, KERNEL));
    CHECK(is_near(limits.to_device, ARRAY / COPY));
    CHECK(emulator.kernel_runs("gb_limit_nothing") ==
          TRIED + 4 * SAMPLES + NODES * (1 + SAMPLES));
    is_clean();
}

static void
samples_last_as_long_as_is_asked_for(void **state)
{
    (void)state;
    cuda_case(measure_longer, "EMU_IDLE=1 EMU_CHECK=0", NULL);
}

/* ---- little memory, and none ---- */

static void
measure_with_little(void)
{
    struct ggmlbackend_dev_limits limits;

    open_all();
    limits = asked(2 * 128 << 10);
    CHECK(measure(device, &limits) == GGML_STATUS_SUCCESS);
    CHECK(limits.array == 128 << 10 && limits.max_memory == 2 * 128 << 10);
    CHECK(is_near(limits.read, (128 << 10) / KERNEL));
    limits = asked(64 << 10);
    CHECK(measure(device, &limits) == GGML_STATUS_ALLOC_FAILED);
    CHECK(limits.read == 0.0 && limits.array == 0);
    is_clean();
}

static void
no_more_memory_is_taken_than_was_said(void **state)
{
    (void)state;
    cuda_case_says(measure_with_little, "", "are too few to measure by");
}

/* ---- what cannot be ---- */

static void
refuse(void)
{
    struct ggmlbackend_dev_limits limits;
    struct ggmlbackend_dev_state now = { .size = 8 };

    open_all();
    limits = asked(0);
    limits.size = 8;
    CHECK(measure(device, &limits) == GGML_STATUS_FAILED);
    limits = asked(0);
    CHECK(measure(ggml_backend_dev_by_name("CPU"), &limits) ==
          GGML_STATUS_FAILED);
    CHECK(limits.read == 0.0 && !get_state(device, &now));
    is_clean();
}

/* A caller that was compiled before the last members were there. */
static void
measure_for_an_older_caller(void)
{
    struct ggmlbackend_dev_limits limits, untouched;
    const size_t size = offsetof(struct ggmlbackend_dev_limits, launch);

    open_all();
    memset(&untouched, 0x5a, sizeof(untouched));
    limits = untouched;
    limits.size = size;
    limits.max_memory = 0;
    limits.seconds = SAMPLE;
    CHECK(measure(device, &limits) == GGML_STATUS_SUCCESS);
    CHECK(limits.size == size && limits.read > 0.0 && limits.f32 > 0.0);
    CHECK(memcmp((char *)&limits + size, (char *)&untouched + size,
                 sizeof(limits) - size) == 0);
    is_clean();
}

static void
members_that_the_caller_has_are_filled(void **state)
{
    (void)state;
    cuda_case(measure_for_an_older_caller, "", NULL);
}

static void
other_sizes_and_devices_are_refused(void **state)
{
    (void)state;
    cuda_case(refuse, "GGMLBACKEND_LOG=none", NULL);
}

static void
measure_without_time(void)
{
    struct ggmlbackend_dev_limits limits;
    const char *copy = cuda_copy_without(
        EMULATED_DRIVER, ON_HIP("cuEventElapsedTime", "hipEventElapsedTime"));
    ggml_backend_reg_t reg = cuda_load_on(copy);

    CHECK(reg != NULL && remove(copy) == 0);
    *(void **)&measure = ggml_backend_reg_get_proc_address(
        reg, "ggmlbackend_dev_measure_limits");
    limits = asked(0);
    CHECK(measure(cuda_device("CUDA0"), &limits) == GGML_STATUS_FAILED);
    CHECK(emulator.live() == 0);
}

static void
a_driver_that_cannot_time_is_told(void **state)
{
    (void)state;
    cuda_case_says(measure_without_time, "", DEVICES "0: the driver cannot time");
}

static void
measure_without_recording(void)
{
    struct ggmlbackend_dev_limits limits;

    open_all();
    limits = asked(0);
    CHECK(measure(device, &limits) == GGML_STATUS_SUCCESS);
    CHECK(is_near(limits.launch, KERNEL) && limits.recorded_launch == 0.0);
    is_clean();
}

static void
graphs_that_are_off_have_no_figure(void **state)
{
    (void)state;
    cuda_case(measure_without_recording, "GGML_CUDA_DISABLE_GRAPHS=1", NULL);
}

/* ---- each call fails ---- */

static void
fail_each_call(void)
{
    uint64_t n_calls;

    open_all();
    emulator.reset();
    {
        struct ggmlbackend_dev_limits limits = asked(0);

        CHECK(measure(device, &limits) == GGML_STATUS_SUCCESS);
    }
    n_calls = emulator.count(EMU_CALLS);
    CHECK(n_calls > 100);
    for (uint64_t n = 1; n <= n_calls; n++) {
        struct ggmlbackend_dev_limits limits = asked(0);
        enum ggml_status status;

        emulator.reset();
        emulator.lose_card(n, 0);
        status = measure(device, &limits);
        emulator.reset();
        CHECK(status == GGML_STATUS_SUCCESS || limits.read == 0.0);
        CHECK(emulator.live() == 0 && emulator.memory_used(0) == 0);
    }
    is_clean();
}

static void
a_card_may_be_lost_with_any_call(void **state)
{
    (void)state;
    cuda_case(fail_each_call,
              "EMU_SMS=1 EMU_CHECK=0 EMU_IDLE=1 GGMLBACKEND_LOG=none", NULL);
}

static void
fail_calls(void)
{
    static const char *const names[] = {
        "cuMemAlloc_v2", "cuMemHostAlloc", "cuStreamCreate", "cuEventCreate",
        "cuEventRecord", "cuEventElapsedTime", "cuEventQuery",
        "cuLaunchKernel", "cuModuleLoadData", "cuModuleGetFunction",
        "cuGraphCreate", "cuGraphAddKernelNode",
        "cuGraphInstantiateWithFlags", "cuGraphLaunch",
        "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
        "cuDevicePrimaryCtxRetain",
    };

    open_all();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (uint64_t n = 1;; n++) {
            struct ggmlbackend_dev_limits limits = asked(0);
            enum ggml_status status;
            uint64_t n_failures;

            emulator.reset();
            emulator.fail_call(names[i], n, 2);
            status = measure(device, &limits);
            n_failures = emulator.failures();
            CHECK(status == GGML_STATUS_SUCCESS || limits.read == 0.0);
            CHECK(emulator.live() == 0 && emulator.memory_used(0) == 0);
            if (n_failures == 0)
                break;
        }
    }
    is_clean();
}

static void
any_call_may_fail(void **state)
{
    (void)state;
    cuda_case(fail_calls,
              "EMU_SMS=1 EMU_CHECK=0 EMU_IDLE=1 GGMLBACKEND_LOG=none", NULL);
}

/* ---- beside other work ---- */

static void
measure_beside_a_graph(void)
{
    enum { K = 7 };
    ggml_backend_t backend;
    struct ggmlbackend_dev_limits limits;
    struct sums sums;

    open_all();
    backend = ggml_backend_dev_init(device, NULL);
    sums = sums_make(ggml_backend_dev_buffer_type(device), K);
    sums_set(&sums, 3);
    CHECK(ggml_backend_graph_compute_async(backend, sums.graph) ==
          GGML_STATUS_SUCCESS);
    limits = asked(0);
    CHECK(measure(device, &limits) == GGML_STATUS_SUCCESS);
    ggml_backend_synchronize(backend);
    CHECK(sums_are_right(&sums, K, 3));
    sums_free(&sums);
    ggml_backend_free(backend);
    is_clean();
}

static void
other_work_goes_on(void **state)
{
    (void)state;
    cuda_case(measure_beside_a_graph, "", NULL);
    cuda_case(measure_beside_a_graph, "EMU_ORDER=1", NULL);
}

/* ---- how it is just now ---- */

static void
open_management(void)
{
    CHECK(dlopen(gb_built("tests/gpu-emulator/lanes32/.libs/"
                          "libnvidia-ml.so.1"),
                 RTLD_NOW | RTLD_LOCAL) != NULL);
}

static void
ask_the_state(void)
{
    struct ggmlbackend_dev_state now = { .size = sizeof(now) };

    open_all();
    open_management();
    CHECK(get_state(device, &now) && now.size == sizeof(now));
    CHECK(is_near(now.clock, 1500e6) && is_near(now.max_clock, 1800e6));
    CHECK(is_near(now.memory_clock, 2000e6));
    CHECK(is_near(now.power, 250.5) && is_near(now.max_power, 700.0));
    CHECK(is_near(now.temperature, 55.0));
    CHECK(now.slowed == 0 && now.n_processes == 3);
    is_clean();
}

static void
ask_without_management(void)
{
    struct ggmlbackend_dev_state now = { .size = sizeof(now), .clock = 7.0 };

    open_all();
    CHECK(!get_state(device, &now) && now.clock == 7.0);
}

static void
clocks_and_power_are_told(void **state)
{
    (void)state;
    if (ON_HIP(true, false))
        cuda_case(ask_the_state, "EMU_PROCESSES=3 EMU_SLOWED=1", NULL);
    cuda_case(ask_without_management, "", NULL);
}

static uint32_t slowed;

static void
measure_a_slow_card(void)
{
    struct ggmlbackend_dev_limits limits;
    struct ggmlbackend_dev_state now = { .size = sizeof(now) };

    open_all();
    open_management();
    limits = asked(0);
    CHECK(measure(device, &limits) == GGML_STATUS_SUCCESS);
    CHECK(limits.slowed == slowed);
    CHECK(get_state(device, &now) && now.slowed == slowed);
    is_clean();
}

static void
throttling_is_told(void **state)
{
    (void)state;
    NOT_ON_HIP();
    slowed = GGMLBACKEND_SLOWED_BY_POWER;
    cuda_case(measure_a_slow_card, "EMU_SLOWED=4", NULL);
    slowed = GGMLBACKEND_SLOWED_BY_HEAT;
    cuda_case(measure_a_slow_card, "EMU_SLOWED=0x48", NULL);
    slowed = GGMLBACKEND_SLOWED_BY_SETTING;
    cuda_case(measure_a_slow_card, "EMU_SLOWED=2", NULL);
    slowed = GGMLBACKEND_SLOWED_BY_OTHER;
    cuda_case(measure_a_slow_card, "EMU_SLOWED=8", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_variant_has_its_figures),
        cmocka_unit_test(without_tensor_cores_there_is_no_figure_of_them),
        cmocka_unit_test(all_bytes_are_read_and_written_once),
        cmocka_unit_test(samples_last_as_long_as_is_asked_for),
        cmocka_unit_test(no_more_memory_is_taken_than_was_said),
        cmocka_unit_test(members_that_the_caller_has_are_filled),
        cmocka_unit_test(other_sizes_and_devices_are_refused),
        cmocka_unit_test(a_driver_that_cannot_time_is_told),
        cmocka_unit_test(graphs_that_are_off_have_no_figure),
        cmocka_unit_test(a_card_may_be_lost_with_any_call),
        cmocka_unit_test(any_call_may_fail),
        cmocka_unit_test(other_work_goes_on),
        cmocka_unit_test(clocks_and_power_are_told),
        cmocka_unit_test(throttling_is_told),
    };

    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
