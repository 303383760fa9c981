/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/plans.c - graphs as launches and as recorded graphs of the driver:
 * the same results, and nothing allocated or waited for in between.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { K = 5, LONG_K = 200 };

static ggml_backend_t
backend_of(const char *name)
{
    ggml_backend_t backend = ggml_backend_dev_init(cuda_device(name), NULL);

    CHECK(backend != NULL);
    return backend;
}

static struct sums
sums_on(ggml_backend_t backend, int k)
{
    struct sums sums =
        sums_make(ggml_backend_get_default_buffer_type(backend), k);

    CHECK(sums.buffer != NULL);
    return sums;
}

static void
compute(ggml_backend_t backend, struct sums *sums, int k, int seed)
{
    sums_set(sums, seed);
    CHECK(ggml_backend_graph_compute(backend, sums->graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(sums_are_right(sums, k, seed));
}

/* ---- recordings ---- */

static uint64_t n_expected;

static void
repeat_a_graph(void)
{
    ggml_backend_t backend;
    struct sums sums, other;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    sums = sums_on(backend, K);
    other = sums_on(backend, K);
    for (int seed = 0; seed < 4; seed++)
        compute(backend, &sums, K, seed);
    /* Other addresses, and the same kernels. */
    compute(backend, &other, K, 9);
    compute(backend, &sums, K, 5);
    CHECK(emulator.count(EMU_GRAPH_LAUNCHES) == n_expected);
    CHECK(emulator.count(EMU_KERNELS) == 6 * K);
    sums_free(&sums);
    sums_free(&other);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
the_second_graph_of_a_shape_is_recorded_and_then_updated(void **state)
{
    (void)state;
    n_expected = 5;
    cuda_case(repeat_a_graph, "", NULL);
    cuda_case(repeat_a_graph, "GGML_CUDA_DISABLE_GRAPHS=0", NULL);
}

static void
recording_can_be_forbidden(void **state)
{
    (void)state;
    n_expected = 0;
    cuda_case(repeat_a_graph, "GGML_CUDA_DISABLE_GRAPHS=1", NULL);
}

static void
what_cannot_be_recorded_is_launched(void **state)
{
    const char *errors;

    (void)state;
    n_expected = 0;
    cuda_case(repeat_a_graph, "EMU_FAIL=cuGraphCreate:1:801", &errors);
    assert_non_null(strstr(errors, "cannot be recorded"));
    cuda_case(repeat_a_graph, "EMU_FAIL=cuGraphInstantiateWithFlags:1:2",
              &errors);
    assert_non_null(strstr(errors, "cannot be recorded"));
}

static void
many_shapes(void)
{
    ggml_backend_t backend;
    struct sums sums[12];

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    for (int i = 0; i < 12; i++)
        sums[i] = sums_on(backend, i + 1);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 12; i++)
            compute(backend, &sums[i], i + 1, turn + i);
    }
    for (int i = 0; i < 12; i++)
        sums_free(&sums[i]);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
more_shapes_than_are_kept_compute_right(void **state)
{
    (void)state;
    cuda_case(many_shapes, "", NULL);
}

/* ---- plans ---- */

static void
a_plan_of_a_graph(void)
{
    ggml_backend_graph_plan_t plan;
    ggml_backend_t backend;
    struct sums sums;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    sums = sums_on(backend, K);
    plan = ggml_backend_graph_plan_create(backend, sums.graph);
    CHECK(plan != NULL);
    for (int seed = 0; seed < 3; seed++) {
        sums_set(&sums, seed);
        CHECK(ggml_backend_graph_plan_compute(backend, plan) ==
              GGML_STATUS_SUCCESS);
        ggml_backend_synchronize(backend);
        CHECK(sums_are_right(&sums, K, seed));
    }
    CHECK(emulator.count(EMU_GRAPH_LAUNCHES) == 2);
    ggml_backend_graph_plan_free(backend, plan);
    sums_free(&sums);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
a_plan_is_a_graph_that_is_kept(void **state)
{
    (void)state;
    cuda_case(a_plan_of_a_graph, "", NULL);
}

/* ---- between launches ---- */

static void
a_long_graph(void)
{
    uint64_t waits, allocations, pinned;
    ggml_backend_t backend;
    struct sums sums;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    sums = sums_on(backend, LONG_K);
    sums_set(&sums, 1);
    for (int i = 0; i < 3; i++) {
        waits = emulator.count(EMU_HOST_WAITS);
        allocations = emulator.count(EMU_ALLOCATIONS);
        pinned = emulator.count(EMU_HOST_ALLOCATIONS);
        CHECK(ggml_backend_graph_compute_async(backend, sums.graph) ==
              GGML_STATUS_SUCCESS);
        CHECK(emulator.count(EMU_HOST_WAITS) == waits);
        CHECK(emulator.count(EMU_ALLOCATIONS) == allocations);
        CHECK(emulator.count(EMU_HOST_ALLOCATIONS) == pinned);
    }
    ggml_backend_synchronize(backend);
    CHECK(sums_are_right(&sums, LONG_K, 1));
    sums_free(&sums);
    ggml_backend_free(backend);
    CHECK(emulator.reports() == 0);
}

static void
nothing_is_allocated_or_waited_for_between_launches(void **state)
{
    (void)state;
    cuda_case(a_long_graph, "", NULL);
    cuda_case(a_long_graph, "GGML_CUDA_DISABLE_GRAPHS=1", NULL);
}

/* ---- giving up ---- */

static int n_asked;

static bool
stop_when_asked_twice(void *data)
{
    (void)data;
    return ++n_asked == 2;
}

static void
give_up(void)
{
    ggml_backend_set_abort_callback_t set;
    ggml_backend_reg_t reg = cuda_load();
    ggml_backend_t backend = backend_of("CUDA0");
    struct sums sums = sums_on(backend, LONG_K);

    *(void **)&set = ggml_backend_reg_get_proc_address(
        reg, "ggml_backend_set_abort_callback");
    set(backend, stop_when_asked_twice, NULL);
    sums_set(&sums, 1);
    CHECK(ggml_backend_graph_compute(backend, sums.graph) ==
          GGML_STATUS_ABORTED);
    CHECK(emulator.count(EMU_KERNELS) > 0);
    CHECK(emulator.count(EMU_KERNELS) < LONG_K);
    set(backend, NULL, NULL);
    compute(backend, &sums, LONG_K, 2);
    sums_free(&sums);
    ggml_backend_free(backend);
}

static void
a_callback_ends_a_graph_between_batches_of_launches(void **state)
{
    (void)state;
    cuda_case(give_up, "", NULL);
}

/* ---- products by warp groups, which want maps of the driver's ---- */

enum { ROWS = 70, COLUMNS = 130, LENGTH = 96 };

struct product {
    struct ggml_context *ctx;
    struct ggml_tensor *a, *b, *ids, *d;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;
};

/* With one expert, which all columns choose, the same numbers lie in the same
 * places, and columns come without TMA. */
static struct product
product_on(ggml_backend_t backend, bool by_expert)
{
    struct product p = { .ctx = ggml_init((struct ggml_init_params){
                             .mem_size = 16 * ggml_tensor_overhead() +
                                         ggml_graph_overhead(),
                             .no_alloc = true }) };

    CHECK(p.ctx != NULL);
    p.a = ggml_new_tensor_2d(p.ctx, GGML_TYPE_F16, LENGTH, ROWS);
    p.b = ggml_new_tensor_3d(p.ctx, GGML_TYPE_F32, LENGTH,
                             by_expert ? 1 : COLUMNS, by_expert ? COLUMNS : 1);
    p.ids = ggml_new_tensor_2d(p.ctx, GGML_TYPE_I32, 1, COLUMNS);
    p.d = by_expert ? ggml_mul_mat_id(p.ctx, p.a, p.b, p.ids)
                    : ggml_mul_mat(p.ctx, p.a, p.b);
    p.d = ggml_scale(p.ctx, p.d, 2.0f);
    p.graph = ggml_new_graph(p.ctx);
    ggml_build_forward_expand(p.graph, p.d);
    p.buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        p.ctx, ggml_backend_get_default_buffer_type(backend));
    CHECK(p.buffer != NULL);
    return p;
}

static void
product_free(struct product *p)
{
    ggml_backend_buffer_free(p->buffer);
    ggml_free(p->ctx);
}

/* Row i is i % 3, column j (j + SEED) % 5. */
static void
product_set(struct product *p, int seed)
{
    static ggml_fp16_t a[ROWS][LENGTH];
    static float b[COLUMNS][LENGTH];

    for (int k = 0; k < LENGTH; k++) {
        for (int i = 0; i < ROWS; i++)
            a[i][k] = ggml_fp32_to_fp16((float)(i % 3));
        for (int j = 0; j < COLUMNS; j++)
            b[j][k] = (float)((j + seed) % 5);
    }
    ggml_backend_tensor_set(p->a, a, 0, sizeof(a));
    ggml_backend_tensor_set(p->b, b, 0, sizeof(b));
    ggml_backend_tensor_memset(p->ids, 0, 0, ggml_nbytes(p->ids));
}

static bool
product_is_right(struct product *p, int seed)
{
    static float d[COLUMNS][ROWS];

    ggml_backend_tensor_get(p->d, d, 0, sizeof(d));
    for (int j = 0; j < COLUMNS; j++) {
        for (int i = 0; i < ROWS; i++)
            if (d[j][i] != 2.0f * LENGTH * (float)(i % 3 * ((j + seed) % 5)))
                return false;
    }
    return true;
}

static void
multiply_four_times(ggml_backend_t backend, struct product *p)
{
    for (int seed = 0; seed < 4; seed++) {
        product_set(p, seed);
        CHECK(ggml_backend_graph_compute(backend, p->graph) ==
              GGML_STATUS_SUCCESS);
        CHECK(product_is_right(p, seed));
    }
}

static void
multiply_by_experts(void)
{
    ggml_backend_t backend;
    struct product p;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    p = product_on(backend, true);
    multiply_four_times(backend, &p);
    CHECK(emulator.calls("cuTensorMapEncodeTiled") == 0);
    product_free(&p);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
multiply_by_warp_groups(void)
{
    ggml_backend_t backend;
    struct product p, other;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    p = product_on(backend, false);
    other = product_on(backend, false);
    multiply_four_times(backend, &p);
    CHECK(emulator.count(EMU_GRAPH_LAUNCHES) == 3);
    CHECK(emulator.calls("cuTensorMapEncodeTiled") == 1);
    emulator.fail_call("cuTensorMapEncodeTiled", 1, 0);
    CHECK(ggml_backend_graph_compute(backend, other.graph) ==
          GGML_STATUS_FAILED);
    CHECK(strstr(ggmlbackend_last_failure(), "cuTensorMapEncodeTiled: ") !=
          NULL);
    product_free(&p);
    product_free(&other);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

/* Keys, or values, that the driver does not map: nothing is computed without. */
static void
attend_without_a_map(int which)
{
    ggml_backend_t backend;
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 16 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    struct ggml_tensor *q, *k, *v;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;

    CHECK(ctx != NULL && cuda_load() != NULL);
    backend = backend_of("CUDA0");
    q = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 64, 130, 1);
    k = ggml_new_tensor_3d(ctx, GGML_TYPE_F16, 64, 256, 1);
    v = ggml_new_tensor_3d(ctx, GGML_TYPE_F16, 64, 256, 1);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, ggml_flash_attn_ext(ctx, q, k, v, NULL,
                                                         1.0f, 0.0f, 0.0f));
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    CHECK(buffer != NULL);
    ggml_backend_buffer_clear(buffer, 0);
    if (which > 0)
        emulator.fail_call("cuTensorMapEncodeTiled", (uint64_t)which, 0);
    CHECK(ggml_backend_graph_compute(backend, graph) ==
          (which > 0 ? GGML_STATUS_FAILED : GGML_STATUS_SUCCESS));
    CHECK(emulator.calls("cuTensorMapEncodeTiled") ==
          (uint64_t)(which > 0 ? which : 2));
    CHECK(which == 0 || strstr(ggmlbackend_last_failure(),
                               "cuTensorMapEncodeTiled: ") != NULL);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
attend_with_both_maps(void)
{
    attend_without_a_map(0);
}

static void
attend_without_a_map_of_keys(void)
{
    attend_without_a_map(1);
}

static void
attend_without_a_map_of_values(void)
{
    attend_without_a_map(2);
}

static void
attention_fails_where_keys_or_values_are_not_mapped(void **state)
{
    (void)state;
    NOT_ON_HIP();
    cuda_case(attend_with_both_maps, "", NULL);
    cuda_case(attend_without_a_map_of_keys, "GGMLBACKEND_LOG=none", NULL);
    cuda_case(attend_without_a_map_of_values, "GGMLBACKEND_LOG=none", NULL);
}

static void
maps_are_made_once_for_a_graph_that_comes_again(void **state)
{
    (void)state;
    NOT_ON_HIP();
    cuda_case(multiply_by_warp_groups, "GGMLBACKEND_LOG=none", NULL);
    cuda_case(multiply_by_experts, "", NULL);
}

/* ---- what is not there ---- */

static void
compute_in_the_wrong_place(void)
{
    ggml_backend_t zero, one;
    struct sums sums;

    CHECK(cuda_load() != NULL);
    zero = backend_of("CUDA0");
    one = backend_of("CUDA1");
    sums = sums_on(one, K);
    sums_set(&sums, 3);
    CHECK(ggml_backend_graph_compute(zero, sums.graph) == GGML_STATUS_FAILED);
    CHECK(strstr(ggmlbackend_last_failure(),
                 "is not in this GPU's memory") != NULL);
    compute(one, &sums, K, 4);
    sums_free(&sums);
    sums = sums_make(ggml_backend_cpu_buffer_type(), K);
    CHECK(ggml_backend_graph_compute(zero, sums.graph) == GGML_STATUS_FAILED);
    sums_free(&sums);
    ggml_backend_free(one);
    ggml_backend_free(zero);
}

static void
tensors_of_another_card_are_noticed(void **state)
{
    (void)state;
    cuda_case(compute_in_the_wrong_place,
              "EMU_DEVICES=2 GGMLBACKEND_LOG=none", NULL);
}

static void
fork_with_a_card(void)
{
    ggml_backend_t backend;
    struct sums sums;
    int status = -1;
    pid_t pid;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    sums = sums_on(backend, K);
    compute(backend, &sums, K, 1);
    pid = fork();
    if (pid == 0) {
        CHECK(ggml_backend_graph_compute(backend, sums.graph) ==
              GGML_STATUS_FAILED);
        CHECK(strstr(ggmlbackend_last_failure(), "forked") != NULL);
        CHECK(ggml_backend_dev_init(cuda_device("CUDA0"), NULL) == NULL);
        sums_free(&sums);
        ggml_backend_free(backend);
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    compute(backend, &sums, K, 2);
    sums_free(&sums);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0);
}

static void
a_forked_process_gets_failures(void **state)
{
    (void)state;
    cuda_case(fork_with_a_card, "GGMLBACKEND_LOG=none", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_second_graph_of_a_shape_is_recorded_and_then_updated),
        cmocka_unit_test(recording_can_be_forbidden),
        cmocka_unit_test(what_cannot_be_recorded_is_launched),
        cmocka_unit_test(more_shapes_than_are_kept_compute_right),
        cmocka_unit_test(a_plan_is_a_graph_that_is_kept),
        cmocka_unit_test(nothing_is_allocated_or_waited_for_between_launches),
        cmocka_unit_test(a_callback_ends_a_graph_between_batches_of_launches),
        cmocka_unit_test(maps_are_made_once_for_a_graph_that_comes_again),
        cmocka_unit_test(attention_fails_where_keys_or_values_are_not_mapped),
        cmocka_unit_test(tensors_of_another_card_are_noticed),
        cmocka_unit_test(a_forked_process_gets_failures),
    };

    return cmocka_run_group_tests_name("plans", tests, NULL, NULL);
}
