/* SPDX-License-Identifier: MIT */
/*
 * tests/sim/config.c - settings of the simulated device: reading them, and
 * that the device is what they say.
 */
#include "config.h"

#include "tests/sim/sim.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int
reset(void **state)
{
    (void)state;
    sim_reset();
    return 0;
}

static int
check(void **state)
{
    (void)state;
    return !sim_is_clean();
}

/* Read SETTINGS, of which CONFIG and N_DEVICES are the result. */
static bool
parse(const char *settings, int *n_devices, struct gb_sim_config *config)
{
    *n_devices = 2;
    gb_sim_default(config);
    return gb_sim_parse(settings, n_devices, config);
}

static void
configure(const char *settings)
{
    assert_true(sim_configure(0, 1, settings));
}

static void
settings_are_read(void **state)
{
    struct gb_sim_config config;
    int n_devices;

    (void)state;
    assert_true(parse("", &n_devices, &config));
    assert_int_equal(n_devices, 2);
    assert_int_equal(config.delay_us, -1);
    assert_true(config.without[GB_SIM_FROM_HOST_PTR]);

    assert_true(parse("devices=4,memory=64M,max_buffer=3K,alignment=256,"
                      "padding=5,delay=100,offload=7", &n_devices, &config));
    assert_int_equal(n_devices, 4);
    assert_int_equal(config.memory, 64 << 20);
    assert_int_equal(config.max_buffer, 3 << 10);
    assert_int_equal(config.alignment, 256);
    assert_int_equal(config.padding, 5);
    assert_int_equal(config.delay_us, 100);
    assert_int_equal(config.offload_min, 7);
    assert_true(parse("memory=6m", &n_devices, &config));
    assert_int_equal(config.memory, 6 << 20);

    assert_true(parse("delay=5,delay=never,without=events+plans,"
                      "with=from_host_ptr+plans,without_ops=MUL_MAT+ADD,"
                      "without_types=q4_0", &n_devices, &config));
    assert_int_equal(config.delay_us, -1);
    assert_true(config.without[GB_SIM_EVENTS]);
    assert_false(config.without[GB_SIM_PLANS]);
    assert_false(config.without[GB_SIM_FROM_HOST_PTR]);
    assert_true(config.without_op[GGML_OP_MUL_MAT]);
    assert_true(config.without_op[GGML_OP_ADD]);
    assert_false(config.without_op[GGML_OP_MUL]);
    assert_true(config.without_type[GGML_TYPE_Q4_0]);
    assert_false(config.without_type[GGML_TYPE_Q4_1]);
}

static void
what_is_wrong_is_refused_as_a_whole(void **state)
{
    static const char *const wrong[] = {
        "devices", "devices=", "devices=0", "devices=65", "devices=-1",
        "devices=2x", "Devices=2", "devices=2,", ",devices=2", "devices=2,,",
        "devices =2", "devices= 2", "memory=1T", "memory=1KK", "memory=0x10",
        "memory=18446744073709551616", "memory=18446744073709551615G",
        "alignment=0", "alignment=3", "alignment=8192", "max_buffer=0",
        "delay=soon", "delay=-1", "offload=1K", "without=", "without=event",
        "without=events+", "without=+events", "without=events plans",
        "with=all", "without_ops=mul_mat", "without_types=Q4_0", "speed=1",
        "=", "=1",
    };
    struct gb_sim_config config, before;
    int n_devices;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char all[300] = "devices=3,memory=5,";

        gb_sim_default(&before);
        if (parse(wrong[i], &n_devices, &config))
            fail_msg("%s", wrong[i]);
        assert_false(parse(strcat(all, wrong[i]), &n_devices, &config));
        assert_int_equal(n_devices, 2);
        assert_memory_equal(&config, &before, sizeof(config));
    }
    memset(&config, 0, sizeof(config));
    assert_false(gb_sim_configure(0, 1, &config));
    assert_false(gb_sim_configure(-1, 1, &before));
    assert_false(gb_sim_configure(0, -1, &before));
    assert_false(gb_sim_configure(1, GB_SIM_MAX_DEVICES, &before));
    assert_false(gb_sim_configure(GB_SIM_MAX_DEVICES, 1, &before));
}

static void
devices_are_added_as_they_are_configured(void **state)
{
    ggml_backend_reg_t reg = ggml_backend_sim_reg();
    struct gb_sim_config config;

    (void)state;
    gb_sim_default(&config);
    assert_int_equal(ggml_backend_reg_dev_count(reg), 4);
    assert_true(gb_sim_configure(5, 1, &config));
    assert_int_equal(ggml_backend_reg_dev_count(reg), 6);
    assert_string_equal(ggml_backend_dev_name(sim_device(5)), "Sim5");
    assert_non_null(ggml_backend_reg_get_proc_address(
        reg, "ggml_backend_sim_configure"));
    assert_non_null(
        ggml_backend_reg_get_proc_address(reg, "ggml_backend_sim_default"));
    assert_non_null(
        ggml_backend_reg_get_proc_address(reg, "ggml_backend_sim_fail"));
    assert_non_null(
        ggml_backend_reg_get_proc_address(reg, "ggml_backend_sim_count"));
    assert_non_null(
        ggml_backend_reg_get_proc_address(reg, "ggml_backend_sim_parse"));
    assert_null(ggml_backend_reg_get_proc_address(reg, "gb_sim_count"));
}

static void
memory_ends(void **state)
{
    ggml_backend_buffer_t a, b;
    size_t free_bytes, total;
    ggml_backend_t backend;

    (void)state;
    configure("memory=1000,max_buffer=600");
    backend = sim_backend(0);
    assert_int_equal(ggml_backend_get_max_size(backend), 600);
    assert_null(ggml_backend_alloc_buffer(backend, 601));
    a = ggml_backend_alloc_buffer(backend, 600);
    assert_non_null(a);
    assert_null(ggml_backend_alloc_buffer(backend, 401));
    b = ggml_backend_alloc_buffer(backend, 400);
    assert_non_null(b);
    ggml_backend_dev_memory(sim_device(0), &free_bytes, &total);
    assert_int_equal(free_bytes, 0);
    assert_int_equal(total, 1000);
    ggml_backend_buffer_free(a);
    ggml_backend_dev_memory(sim_device(0), &free_bytes, &total);
    assert_int_equal(free_bytes, 600);
    ggml_backend_buffer_free(b);
    ggml_backend_free(backend);
}

static void
tensors_are_aligned_and_padded(void **state)
{
    struct ggml_context *ctx = sim_context();
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 3);
    ggml_backend_buffer_type_t buft;
    ggml_backend_buffer_t buffer;

    (void)state;
    configure("alignment=512,padding=20");
    buft = ggml_backend_dev_buffer_type(sim_device(0));
    assert_int_equal(ggml_backend_buft_get_alignment(buft), 512);
    assert_int_equal(ggml_backend_buft_get_alloc_size(buft, t), 32);
    for (size_t size = 1; size < 10000; size += 999) {
        buffer = ggml_backend_buft_alloc_buffer(buft, size);
        assert_int_equal(
            (uintptr_t)ggml_backend_buffer_get_base(buffer) % 512, 0);
        ggml_backend_buffer_free(buffer);
    }
    configure("padding=20,without=alloc_size+max_size");
    assert_int_equal(ggml_backend_buft_get_alloc_size(buft, t), 12);
    assert_true(ggml_backend_buft_get_max_size(buft) == SIZE_MAX);
    ggml_free(ctx);
}

static void
operations_and_types_can_be_missing(void **state)
{
    struct ggml_context *ctx = sim_context();
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 32, 4);
    struct ggml_tensor *w = ggml_new_tensor_2d(ctx, GGML_TYPE_Q4_0, 32, 4);
    struct ggml_tensor *product = ggml_mul_mat(ctx, w, x);
    struct ggml_tensor *sum = ggml_add(ctx, x, x);
    struct ggml_tensor *view = ggml_transpose(ctx, w);

    (void)state;
    configure("without_ops=ADD");
    assert_true(ggml_backend_dev_supports_op(sim_device(0), product));
    assert_false(ggml_backend_dev_supports_op(sim_device(0), sum));
    assert_true(ggml_backend_dev_supports_op(sim_device(1), sum));
    configure("without_types=q4_0");
    assert_false(ggml_backend_dev_supports_op(sim_device(0), product));
    assert_true(ggml_backend_dev_supports_op(sim_device(0), sum));
    assert_true(ggml_backend_dev_supports_op(sim_device(0), view));
    ggml_free(ctx);
}

static void
add_one(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
        void *user_data)
{
    (void)dst;
    (void)a;
    (void)ith;
    (void)nth;
    (void)user_data;
}

/* With a buffer of no bytes a client asks before there is memory. */
static void
where_sources_lie_says_what_is_supported(void **state)
{
    struct ggml_context *ctx = sim_context();
    struct ggml_tensor *w = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 32, 64);
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 32, 33);
    struct ggml_tensor *y = ggml_mul_mat(ctx, w, x);
    ggml_backend_dev_t dev = sim_device(0);
    ggml_backend_buffer_type_t types[4];

    (void)state;
    types[0] = ggml_backend_dev_buffer_type(dev);
    types[1] = ggml_backend_dev_host_buffer_type(dev);
    types[2] = ggml_backend_cpu_buffer_type();
    types[3] = ggml_backend_dev_buffer_type(sim_device(1));
    for (int i = 0; i < 4; i++) {
        w->buffer = ggml_backend_buft_alloc_buffer(types[i], 0);
        assert_int_equal(ggml_backend_dev_supports_op(dev, y), i < 3);
        ggml_backend_buffer_free(w->buffer);
    }
    w->buffer = NULL;
    assert_false(ggml_backend_dev_supports_op(
        dev, ggml_map_custom1(ctx, x, add_one, 1, NULL)));

    assert_true(ggml_backend_dev_offload_op(dev, y));
    configure("offload=34");
    assert_false(ggml_backend_dev_offload_op(dev, y));
    configure("offload=0");
    assert_false(ggml_backend_dev_offload_op(dev, y));
    configure("without=offload_op");
    assert_false(ggml_backend_dev_offload_op(dev, y));
    ggml_free(ctx);
}

static void
capabilities_are_what_the_members_can(void **state)
{
    struct ggml_backend_dev_props props;
    ggml_backend_dev_t dev = sim_device(0);
    static _Alignas(64) char memory[256];
    ggml_backend_buffer_t buffer;

    (void)state;
    configure("without=synchronize+events+host_buffer,with=from_host_ptr");
    ggml_backend_dev_get_props(dev, &props);
    assert_false(props.caps.async || props.caps.events ||
                 props.caps.host_buffer);
    assert_true(props.caps.buffer_from_host_ptr);
    assert_null(ggml_backend_dev_host_buffer_type(dev));
    assert_null(ggml_backend_event_new(dev));
    buffer = ggml_backend_dev_buffer_from_host_ptr(dev, memory, 256, 64);
    assert_ptr_equal(ggml_backend_buffer_get_base(buffer), memory);
    assert_ptr_equal(ggml_backend_buffer_get_type(buffer),
                     ggml_backend_dev_buffer_type(dev));
    ggml_backend_buffer_free(buffer);
}

/* A backend, buffers of both kinds, an event: all there is, or a reason. */
static bool
make_everything(void)
{
    ggml_backend_dev_t dev = sim_device(0);
    ggml_backend_t backend = sim_backend(0);
    ggml_backend_event_t event = ggml_backend_event_new(dev);
    ggml_backend_buffer_t on_device = ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_buffer_type(dev), 64);
    ggml_backend_buffer_t on_host = ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_host_buffer_type(dev), 64);
    const bool is_whole = backend != NULL && event != NULL &&
                          on_device != NULL && on_host != NULL;

    ggml_backend_buffer_free(on_host);
    ggml_backend_buffer_free(on_device);
    ggml_backend_event_free(event);
    ggml_backend_free(backend);
    return is_whole;
}

static void
every_allocation_can_fail_once(void **state)
{
    uint64_t nth = 0;
    bool is_whole;

    (void)state;
    do {
        ggmlbackend_clear_failure();
        gb_sim_fail(GB_SIM_FAULT_ALLOC, ++nth);
        is_whole = make_everything();
        assert_true(is_whole == (ggmlbackend_last_failure()[0] == '\0'));
        assert_true(sim_is_clean());
    } while (!is_whole);
    assert_int_equal(nth, 8);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, reset, check)
    static const struct CMUnitTest tests[] = {
        TEST(settings_are_read),
        TEST(what_is_wrong_is_refused_as_a_whole),
        TEST(devices_are_added_as_they_are_configured),
        TEST(memory_ends),
        TEST(tensors_are_aligned_and_padded),
        TEST(operations_and_types_can_be_missing),
        TEST(where_sources_lie_says_what_is_supported),
        TEST(capabilities_are_what_the_members_can),
        TEST(every_allocation_can_fail_once),
    };

    return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
