/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/device/device.c - the CPU's registration, device and backend, as
 * clients meet them.
 */
#include "config.h"

#include "ggml-backend-impl.h"
#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include "tests/util/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static ggml_backend_dev_t
cpu_device(void)
{
    ggml_backend_dev_t device =
        ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);

    assert_non_null(device);
    return device;
}

static void
the_registration_has_one_device(void **state)
{
    ggml_backend_reg_t reg = ggml_backend_cpu_reg();
    struct gb_sink sink;

    (void)state;
    assert_ptr_equal(ggml_backend_cpu_reg(), reg);
    assert_int_equal(reg->api_version, GGML_BACKEND_API_VERSION);
    assert_string_equal(ggml_backend_reg_name(reg), "CPU");
    assert_int_equal(ggml_backend_reg_dev_count(reg), 1);
    assert_ptr_equal(ggml_backend_dev_backend_reg(cpu_device()), reg);
    gb_sink_begin(&sink);
    assert_null(ggml_backend_reg_dev_get(reg, 1));
    gb_sink_end();
    assert_ptr_equal(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU),
                     cpu_device());
}

static void
the_device_says_what_it_is(void **state)
{
    struct ggml_backend_dev_props props;
    size_t free_bytes = 1, total = 1;

    (void)state;
    ggml_backend_dev_get_props(cpu_device(), &props);
    assert_string_equal(props.name, "CPU");
    assert_true(strlen(props.description) > 0);
    assert_string_equal(props.description,
                        ggml_backend_dev_description(cpu_device()));
    assert_int_equal(props.type, GGML_BACKEND_DEVICE_TYPE_CPU);
    assert_true(props.caps.buffer_from_host_ptr);
    assert_false(props.caps.async || props.caps.events ||
                 props.caps.host_buffer);
    ggml_backend_dev_memory(cpu_device(), &free_bytes, &total);
    assert_int_equal(free_bytes, 0);
    assert_int_equal(total, 0);
    assert_ptr_equal(ggml_backend_dev_buffer_type(cpu_device()),
                     ggml_backend_cpu_buffer_type());
    assert_null(ggml_backend_dev_host_buffer_type(cpu_device()));
    assert_null(ggml_backend_event_new(cpu_device()));
    assert_true(ggml_backend_dev_supports_buft(
        cpu_device(), ggml_backend_cpu_buffer_type()));
}

static void
backends_are_known_by_their_guid(void **state)
{
    static const uint8_t guid[16] = {
        0xaa, 0x67, 0xc7, 0x43, 0x96, 0xe6, 0xa3, 0x8a,
        0xe3, 0xaf, 0xea, 0x92, 0x36, 0xbc, 0xfc, 0x89
    };
    ggml_backend_t backend = ggml_backend_dev_init(cpu_device(), "ignored");

    (void)state;
    assert_non_null(backend);
    assert_true(ggml_backend_is_cpu(backend));
    assert_false(ggml_backend_is_cpu(NULL));
    assert_memory_equal(*ggml_backend_guid(backend), guid, 16);
    assert_string_equal(ggml_backend_name(backend), "CPU");
    assert_ptr_equal(ggml_backend_get_device(backend), cpu_device());
    ggml_backend_free(backend);
}

static void
functions_are_found_by_name(void **state)
{
    static const char *const names[] = {
        "ggml_backend_set_n_threads", "ggml_backend_dev_get_extra_bufts",
        "ggml_backend_get_features", "ggml_backend_set_abort_callback",
        "ggml_backend_cpu_numa_init", "ggml_backend_cpu_is_numa",
        "ggml_threadpool_new", "ggml_threadpool_free",
        "ggml_backend_cpu_set_threadpool"
    };
    ggml_backend_reg_t reg = ggml_backend_cpu_reg();

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_non_null(ggml_backend_reg_get_proc_address(reg, names[i]));
    assert_null(ggml_backend_reg_get_proc_address(reg, "ggml_nothing"));
}

static void
the_list_of_extra_buffer_types_ends_with_null(void **state)
{
    const ggml_backend_dev_get_extra_bufts_t get =
        (ggml_backend_dev_get_extra_bufts_t)ggml_backend_reg_get_proc_address(
            ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts");

    (void)state;
    assert_non_null(get(cpu_device()));
    assert_string_equal(ggml_backend_buft_name(get(cpu_device())[0]),
                        "CPU_REPACK");
    assert_ptr_equal(ggml_backend_buft_get_device(get(cpu_device())[0]),
                     cpu_device());
    assert_null(get(cpu_device())[1]);
}

static bool
has_feature(const struct ggml_backend_feature *list, const char *name)
{
    for (; list->name != NULL; list++) {
        assert_non_null(list->value);
        if (strcmp(list->name, name) == 0)
            return true;
    }
    return false;
}

static void
features_agree_with_the_questions(void **state)
{
    static const struct {
        const char *name;
        int (*has)(void);
    } questions[] = {
        { "SSE3", ggml_cpu_has_sse3 }, { "SSSE3", ggml_cpu_has_ssse3 },
        { "AVX", ggml_cpu_has_avx }, { "AVX_VNNI", ggml_cpu_has_avx_vnni },
        { "AVX2", ggml_cpu_has_avx2 }, { "F16C", ggml_cpu_has_f16c },
        { "FMA", ggml_cpu_has_fma }, { "AVX512", ggml_cpu_has_avx512 },
        { "AVX512_VBMI", ggml_cpu_has_avx512_vbmi },
        { "AVX512_VNNI", ggml_cpu_has_avx512_vnni },
        { "AVX512_BF16", ggml_cpu_has_avx512_bf16 },
        { "AMX_INT8", ggml_cpu_has_amx_int8 }, { "NEON", ggml_cpu_has_neon },
        { "ARM_FMA", ggml_cpu_has_arm_fma },
        { "FP16_VA", ggml_cpu_has_fp16_va },
        { "DOTPROD", ggml_cpu_has_dotprod },
        { "MATMUL_INT8", ggml_cpu_has_matmul_int8 },
        { "SVE", ggml_cpu_has_sve }, { "SVE_CNT", ggml_cpu_get_sve_cnt },
        { "SME", ggml_cpu_has_sme }, { "RISCV_V", ggml_cpu_has_riscv_v },
        { "VSX", ggml_cpu_has_vsx }, { "VXE", ggml_cpu_has_vxe },
        { "WASM_SIMD", ggml_cpu_has_wasm_simd },
        { "LLAMAFILE", ggml_cpu_has_llamafile }
    };
    const ggml_backend_get_features_t get =
        (ggml_backend_get_features_t)ggml_backend_reg_get_proc_address(
            ggml_backend_cpu_reg(), "ggml_backend_get_features");
    const struct ggml_backend_feature *list = get(ggml_backend_cpu_reg());

    (void)state;
    for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
        if (has_feature(list, questions[i].name) != (questions[i].has() != 0))
            fail_msg("%s", questions[i].name);
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
static void
the_compiler_sees_the_same_machine(void **state)
{
    (void)state;
    __builtin_cpu_init();
    assert_int_equal(ggml_cpu_has_sse3(), __builtin_cpu_supports("sse3") != 0);
    assert_int_equal(ggml_cpu_has_avx(), __builtin_cpu_supports("avx") != 0);
    assert_int_equal(ggml_cpu_has_avx2(), __builtin_cpu_supports("avx2") != 0);
    assert_int_equal(ggml_cpu_has_fma(), __builtin_cpu_supports("fma") != 0);
    assert_int_equal(ggml_cpu_has_avx512(),
                     __builtin_cpu_supports("avx512f") &&
                         __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") &&
                         __builtin_cpu_supports("avx512cd") &&
                         __builtin_cpu_supports("avx512vl"));
}
#else
static void
the_compiler_sees_the_same_machine(void **state)
{
    (void)state;
    print_message("only known for x86-64\n");
    skip();
}
#endif

static void
levels_are_named_slowest_first(void **state)
{
    const char *level = ggmlbackend_cpu_level();
    bool is_listed = false;

    (void)state;
    assert_string_equal(ggmlbackend_cpu_level_at(0), "generic");
    for (size_t i = 0; ggmlbackend_cpu_level_at(i) != NULL; i++)
        is_listed =
            is_listed || strcmp(ggmlbackend_cpu_level_at(i), level) == 0;
    assert_true(is_listed);
    assert_null(ggmlbackend_cpu_level_at(100));
    assert_true(strlen(ggmlbackend_cpu_level_reason()) > 0);
}

static bool
not_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return false;
}

static void
operations_are_supported_by_type_and_place(void **state)
{
    struct ggml_backend_buffer_type elsewhere = {
        .iface = { .is_host = not_host },
    };
    struct ggml_backend_buffer buffer = { .buft = &elsewhere };
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 1 << 16, .no_alloc = true });
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 256, 4);
    struct ggml_tensor *i = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, 256, 4);
    struct ggml_tensor *iq =
        ggml_new_tensor_2d(ctx, GGML_TYPE_IQ2_XS, 256, 4);
    struct ggml_tensor *view = ggml_view_1d(ctx, x, 4, 0);

    (void)state;
    assert_true(ggml_backend_dev_supports_op(cpu_device(), x));
    assert_true(ggml_backend_dev_supports_op(cpu_device(), view));
    assert_true(ggml_backend_dev_supports_op(cpu_device(), ggml_sqr(ctx, x)));
    assert_true(ggml_backend_dev_supports_op(
        cpu_device(), ggml_cpy(ctx, x, ggml_new_tensor_2d(
                                           ctx, GGML_TYPE_Q4_0, 256, 4))));
    assert_false(ggml_backend_dev_supports_op(
        cpu_device(), ggml_cpy(ctx, x, iq)));
    assert_false(ggml_backend_dev_supports_op(cpu_device(), ggml_sqr(ctx, i)));
    x->buffer = &buffer;
    assert_false(ggml_backend_dev_supports_op(cpu_device(), ggml_sqr(ctx, x)));
    assert_false(
        ggml_backend_dev_supports_op(cpu_device(), ggml_sqr(ctx, view)));
    assert_true(ggml_backend_dev_supports_op(cpu_device(), view));
    ggml_free(ctx);
}

static void
what_cannot_be_computed_is_refused_with_a_reason(void **state)
{
    struct ggml_context *ctx =
        ggml_init((struct ggml_init_params){ .mem_size = 1 << 20 });
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct gb_sink sink;

    (void)state;
    ggml_build_forward_expand(
        graph, ggml_sqr(ctx, ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 4)));
    gb_sink_begin(&sink);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_FAILED);
    assert_null(ggml_backend_graph_plan_create(backend, graph));
    gb_sink_end();
    assert_non_null(strstr(sink.text, "SQR"));
    assert_non_null(strstr(sink.text, "i32"));
    ggml_backend_free(backend);
    ggml_free(ctx);
}

static void
a_plan_can_be_made_before_there_is_memory(void **state)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 1 << 20, .no_alloc = true });
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4);
    struct ggml_tensor *y = ggml_sqr(ctx, x);
    float in[4] = { 1, 2, 3, 4 }, out[4] = { 0 };
    ggml_backend_graph_plan_t plan;
    struct gb_sink sink;

    (void)state;
    ggml_build_forward_expand(graph, y);
    plan = ggml_backend_graph_plan_create(backend, graph);
    assert_non_null(plan);
    gb_sink_begin(&sink);
    assert_int_equal(ggml_backend_graph_plan_compute(backend, plan),
                     GGML_STATUS_FAILED);
    gb_sink_end();
    x->data = in;
    y->data = out;
    for (int i = 0; i < 3; i++) {
        in[0] = (float)i;
        assert_int_equal(ggml_backend_graph_plan_compute(backend, plan),
                         GGML_STATUS_SUCCESS);
        assert_true(out[0] == (float)(i * i) && out[3] == 16.0f);
    }
    ggml_backend_graph_plan_free(backend, plan);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

static bool
count_and_go_on(void *data)
{
    ++*(int *)data;
    return false;
}

static bool
stop_at_once(void *data)
{
    (void)data;
    return true;
}

static void
the_abort_callback_is_asked_and_heard(void **state)
{
    struct ggml_context *ctx =
        ggml_init((struct ggml_init_params){ .mem_size = 1 << 20 });
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct ggml_tensor *x = ggml_new_f32(ctx, 3.0f);
    struct ggml_tensor *y = ggml_sqr(ctx, ggml_sqr(ctx, x));
    int asked = 0;

    (void)state;
    ggml_build_forward_expand(graph, y);
    ggml_backend_cpu_set_abort_callback(backend, count_and_go_on, &asked);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    assert_int_equal(asked, 2);
    assert_true(ggml_get_f32_1d(y, 0) == 81.0f);
    ggml_backend_cpu_set_abort_callback(backend, stop_at_once, NULL);
    ggml_set_f32(y, 0.0f);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_ABORTED);
    assert_true(ggml_get_f32_1d(y, 0) == 0.0f);
    ggml_backend_cpu_set_abort_callback(backend, NULL, NULL);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

static bool
stop_at_the_second(void *data)
{
    int *asked = data;

    return ++*asked == 2;
}

/* What the client asked for is no failure, and harms nothing. */
static void
an_abort_leaves_no_reason_and_all_that_was_computed(void **state)
{
    struct ggml_context *ctx =
        ggml_init((struct ggml_init_params){ .mem_size = 1 << 20 });
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct ggml_tensor *x = ggml_new_f32(ctx, 3.0f);
    struct ggml_tensor *y = ggml_sqr(ctx, ggml_sqr(ctx, x));
    struct ggml_tensor *z = ggml_sqrt(ctx, y);
    struct gb_sink sink;
    int asked = 0;

    (void)state;
    ggml_build_forward_expand(graph, z);
    ggml_set_f32(z, 0.5f);
    ggml_backend_cpu_set_abort_callback(backend, stop_at_the_second, &asked);
    ggmlbackend_clear_failure();
    gb_sink_begin(&sink);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_ABORTED);
    assert_string_equal(ggmlbackend_last_failure(), "");
    assert_int_equal(sink.n, 0);
    gb_sink_end();
    assert_true(ggml_get_f32_1d(y, 0) == 81.0f);
    assert_true(ggml_get_f32_1d(z, 0) == 0.5f);
    /* With three questions more the second is not among them. */
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    assert_int_equal(asked, 5);
    assert_true(ggml_get_f32_1d(z, 0) == 9.0f);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

/* The last node is computed when the callback is asked, and heard. */
static void
an_abort_behind_the_last_node_counts(void **state)
{
    struct ggml_context *ctx =
        ggml_init((struct ggml_init_params){ .mem_size = 1 << 20 });
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct ggml_tensor *y = ggml_sqr(ctx, ggml_new_f32(ctx, 3.0f));

    (void)state;
    ggml_build_forward_expand(graph, y);
    ggml_backend_cpu_set_abort_callback(backend, stop_at_once, NULL);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_ABORTED);
    assert_true(ggml_get_f32_1d(y, 0) == 9.0f);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

/* A backend that is not the CPU's. */
static void
setters_want_a_cpu_backend_and_sense(void **state)
{
    static uint8_t other_guid[16];
    struct ggml_backend other = { .guid = (ggml_guid_t)&other_guid };
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct gb_sink sink;

    (void)state;
    gb_sink_begin(&sink);
    ggml_backend_cpu_set_n_threads(&other, 2);
    ggml_backend_cpu_set_threadpool(&other, NULL);
    ggml_backend_cpu_set_abort_callback(&other, NULL, NULL);
    ggml_backend_cpu_set_n_threads(NULL, 2);
    ggml_backend_cpu_set_n_threads(backend, 0);
    ggml_backend_cpu_set_n_threads(backend, GGML_MAX_N_THREADS + 1);
    gb_sink_end();
    assert_int_equal(sink.n, 6);
    assert_false(ggml_backend_is_cpu(&other));
    ggml_backend_free(backend);
}

static void
the_numa_strategy_is_set_once(void **state)
{
    struct gb_sink sink;

    (void)state;
    gb_sink_begin(&sink);
    ggml_numa_init((enum ggml_numa_strategy)99);
    assert_int_equal(sink.n, 1);
    ggml_numa_init(GGML_NUMA_STRATEGY_DISTRIBUTE);
    assert_int_equal(sink.n, 1);
    ggml_numa_init(GGML_NUMA_STRATEGY_ISOLATE);
    assert_int_equal(sink.level, GGML_LOG_LEVEL_WARN);
    gb_sink_end();
    (void)ggml_is_numa();
    ggml_cpu_init();
    ggml_cpu_init();
}

static void
rows_of_every_weight_type_can_be_multiplied(void **state)
{
    (void)state;
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const struct ggml_type_traits_cpu *traits =
            ggml_get_type_traits_cpu((enum ggml_type)t);
        const enum ggml_type other = traits->vec_dot_type;
        float x[256], product = -1.0f;
        uint64_t a[256], b[256];

        assert_non_null(traits);
        if (traits->vec_dot == NULL || traits->from_float == NULL)
            continue;
        assert_int_equal(traits->nrows, 1);
        for (int i = 0; i < 256; i++)
            x[i] = (float)(i % 2);
        traits->from_float(x, a, 256);
        ggml_get_type_traits_cpu(other)->from_float(x, b, 256);
        traits->vec_dot(256, &product, 0, a, 0, b, 0, 1);
        /* 128 products of 1, of which the coarsest type loses a tenth. */
        if (product < 115.0f || product > 141.0f)
            fail_msg("%s: %g", ggml_type_name((enum ggml_type)t),
                     (double)product);
    }
    assert_null(
        (void *)ggml_get_type_traits_cpu(GGML_TYPE_COUNT)->vec_dot);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_registration_has_one_device),
        cmocka_unit_test(the_device_says_what_it_is),
        cmocka_unit_test(backends_are_known_by_their_guid),
        cmocka_unit_test(functions_are_found_by_name),
        cmocka_unit_test(the_list_of_extra_buffer_types_ends_with_null),
        cmocka_unit_test(features_agree_with_the_questions),
        cmocka_unit_test(the_compiler_sees_the_same_machine),
        cmocka_unit_test(levels_are_named_slowest_first),
        cmocka_unit_test(operations_are_supported_by_type_and_place),
        cmocka_unit_test(what_cannot_be_computed_is_refused_with_a_reason),
        cmocka_unit_test(a_plan_can_be_made_before_there_is_memory),
        cmocka_unit_test(the_abort_callback_is_asked_and_heard),
        cmocka_unit_test(an_abort_leaves_no_reason_and_all_that_was_computed),
        cmocka_unit_test(an_abort_behind_the_last_node_counts),
        cmocka_unit_test(setters_want_a_cpu_backend_and_sense),
        cmocka_unit_test(the_numa_strategy_is_set_once),
        cmocka_unit_test(rows_of_every_weight_type_can_be_multiplied),
    };

    return cmocka_run_group_tests_name("CPU device", tests, NULL, NULL);
}
