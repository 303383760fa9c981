/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/bad-input.c - memory that is short, launches that fail, cards that
 * are lost: each is one line with the reason and a status, and computing goes
 * on, here and on the CPU.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { K = 20, LARGE = 4 << 20, COPIED = 16 << 20 };

static enum ggml_status
compute(ggml_backend_t backend, struct sums *sums, int seed)
{
    sums_set(sums, seed);
    return ggml_backend_graph_compute(backend, sums->graph);
}

static ggml_backend_buffer_type_t
cards_memory(void)
{
    return ggml_backend_dev_buffer_type(cuda_device("CUDA0"));
}

/* ---- memory that is short ---- */

static void
take_too_much(void)
{
    CHECK(cuda_load() != NULL);
    CHECK(ggml_backend_buft_alloc_buffer(cards_memory(), LARGE) == NULL);
    cuda_is_well();
}

static void
no_memory_for_weights(void **state)
{
    (void)state;
    cuda_case_says(take_too_much, "EMU_MEMORY=1048576",
                   "4194304 bytes are more than is left of the 1048576");
    cuda_case_says(take_too_much, "EMU_FAIL=cuMemAlloc_v2:1:2",
                   "4194304 bytes of memory cannot be had: out of memory");
}

/* Indices of large rows are sorted in scratch. */
static void
sort_without_scratch(void)
{
    struct ggml_context *ctx;
    struct ggml_tensor *x, *sorted;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;
    ggml_backend_t backend;

    CHECK(cuda_load() != NULL);
    backend = cuda_backend("CUDA0");
    ctx = ggml_init((struct ggml_init_params){
        .mem_size = 4 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    CHECK(ctx != NULL);
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 5000);
    sorted = ggml_argsort(ctx, x, GGML_SORT_ORDER_ASC);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, sorted);
    buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx, cards_memory());
    CHECK(buffer != NULL);
    ggml_backend_buffer_clear(buffer, 0);
    emulator.fail_call("cuMemAlloc_v2", 1, 2);
    CHECK(ggml_backend_graph_compute(backend, graph) ==
          GGML_STATUS_ALLOC_FAILED);
    CHECK(emulator.failures() == 1 && emulator.count(EMU_KERNELS) == 0);
    CHECK(ggml_backend_graph_compute(backend, graph) == GGML_STATUS_SUCCESS);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    ggml_backend_free(backend);
    cuda_is_well();
}

static void
no_memory_for_scratch(void **state)
{
    (void)state;
    cuda_case_says(sort_without_scratch, "",
                   "bytes of memory cannot be had: out of memory "
                   "(" OUT_OF_MEMORY ")");
}

/* Ordinary memory does the same; that is told once. */
static void
do_without_pinned(void)
{
    ggml_backend_buffer_type_t buft;

    CHECK(cuda_load() != NULL);
    buft = ggml_backend_dev_host_buffer_type(cuda_device("CUDA0"));
    for (int i = 0; i < 2; i++) {
        ggml_backend_buffer_t buffer;

        emulator.fail_call("cuMemHostAlloc", 1, 2);
        buffer = ggml_backend_buft_alloc_buffer(buft, 4096);
        CHECK(buffer != NULL && ggml_backend_buffer_is_host(buffer));
        memset(ggml_backend_buffer_get_base(buffer), 1, 4096);
        ggml_backend_buffer_free(buffer);
    }
    cuda_is_well();
}

static void
no_pinned_memory(void **state)
{
    (void)state;
    cuda_case_says(do_without_pinned, "",
                   "4096 bytes of pinned memory cannot be had: ordinary memory "
                   "instead");
}

static void
plan_too_large_a_graph(void)
{
    const struct ggml_init_params params = {
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *x;
    ggml_gallocr_t alloc;

    CHECK(cuda_load() != NULL);
    ctx = ggml_init(params);
    alloc = ggml_gallocr_new(cards_memory());
    CHECK(ctx != NULL && alloc != NULL);
    graph = ggml_new_graph(ctx);
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, LARGE);
    ggml_build_forward_expand(graph, ggml_sqr(ctx, x));
    CHECK(!ggml_gallocr_alloc_graph(alloc, graph));
    ggml_gallocr_free(alloc);
    ggml_free(ctx);
    cuda_is_well();
}

static void
a_graph_that_is_larger_than_memory(void **state)
{
    (void)state;
    cuda_case_says(plan_too_large_a_graph, "EMU_MEMORY=1048576",
                   "bytes are more than is left of the 1048576");
}

/* ---- launches and cards ---- */

/* No kernel begins before the one in front has ended. */
#define WITHOUT_EARLY ON_HIP("EMU_ARCH=80", "")

/* Computes, while something fails that CUDA0 does not recover from. */
static void
fail_in_a_graph(const char *call, uint64_t n_launches)
{
    ggml_backend_t backend;
    struct sums sums;

    CHECK(cuda_load() != NULL);
    backend = cuda_backend("CUDA0");
    sums = sums_make(cards_memory(), K);
    sums_set(&sums, 1);
    if (call != NULL)
        emulator.fail_call(call, n_launches, 0);
    else
        emulator.lose_card(n_launches, 0);
    CHECK(ggml_backend_graph_compute(backend, sums.graph) ==
          GGML_STATUS_FAILED);
    emulator.reset();
    cuda_computes("CPU");
    ggml_backend_free(backend);
    sums_free(&sums);
    cuda_is_well();
}

static void
fail_a_launch(void)
{
    fail_in_a_graph("cuLaunchKernel", K / 2);
}

static void
fail_an_early_launch(void)
{
    fail_in_a_graph("cuLaunchKernelEx", K / 2);
}

static void
a_launch_that_fails(void **state)
{
    (void)state;
    cuda_case_says(fail_a_launch, WITHOUT_EARLY,
                   DEVICES "0: " LAUNCH ": unspecified launch failure "
                   "(" LAUNCH_FAILED ")");
}

static void
a_launch_that_begins_early_and_fails(void **state)
{
    (void)state;
    NOT_ON_HIP();
    cuda_case_says(fail_an_early_launch, "EMU_ARCH=90",
                   "CUDA0: cuLaunchKernelEx: unspecified launch failure "
                   "(CUDA_ERROR_LAUNCH_FAILED)");
}

static void
lose_amid_launches(void)
{
    fail_in_a_graph(NULL, K / 2);
}

static void
a_card_that_is_lost_in_mid_graph(void **state)
{
    (void)state;
    cuda_case_says(lose_amid_launches, WITHOUT_EARLY,
                   DEVICES "0: " LAUNCH ": unspecified launch failure "
                   "(" LAUNCH_FAILED ")");
}

static void
copy_all(struct ggml_tensor *x, char *bytes, bool is_to_card)
{
    if (is_to_card)
        ggml_backend_tensor_set(x, bytes, 0, COPIED);
    else
        ggml_backend_tensor_get(x, bytes, 0, COPIED);
}

/* Of several chunks, of which some were under way. */
static void
lose_amid_a_copy(bool is_to_card)
{
    uint64_t n_calls;
    char *bytes = calloc(1, COPIED);
    struct ggml_context *ctx;
    struct ggml_tensor *x;
    ggml_backend_buffer_t buffer;

    CHECK(cuda_load() != NULL && bytes != NULL);
    ctx = ggml_init((struct ggml_init_params){
        .mem_size = 2 * ggml_tensor_overhead(), .no_alloc = true });
    CHECK(ctx != NULL);
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_I8, COPIED);
    buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx, cards_memory());
    CHECK(buffer != NULL);
    ggml_backend_buffer_clear(buffer, 0);
    ggmlbackend_clear_failure();
    /* The first copy makes what all use. */
    copy_all(x, bytes, is_to_card);
    emulator.reset();
    copy_all(x, bytes, is_to_card);
    CHECK(ggmlbackend_last_failure()[0] == '\0');
    n_calls = emulator.count(EMU_CALLS);
    emulator.reset();
    emulator.lose_card(n_calls / 2, 0);
    copy_all(x, bytes, is_to_card);
    CHECK(ggmlbackend_last_failure()[0] != '\0');
    CHECK(emulator.count(EMU_COPIES) > 1);
    emulator.reset();
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    free(bytes);
    cuda_is_well();
}

static void
lose_amid_a_copy_to_it(void)
{
    lose_amid_a_copy(true);
}

static void
lose_amid_a_copy_from_it(void)
{
    lose_amid_a_copy(false);
}

static void
a_card_that_is_lost_during_a_copy(void **state)
{
    (void)state;
    cuda_case_says(lose_amid_a_copy_to_it, "", "(" LAUNCH_FAILED ")");
    cuda_case_says(lose_amid_a_copy_from_it, "", "(" LAUNCH_FAILED ")");
}

static void
lose_when_it_is_freed(void)
{
    ggml_backend_t backend;
    struct sums sums;

    CHECK(cuda_load() != NULL);
    backend = cuda_backend("CUDA0");
    sums = sums_make(cards_memory(), K);
    CHECK(compute(backend, &sums, 1) == GGML_STATUS_SUCCESS);
    emulator.lose_card(1, 0);
    sums_free(&sums);
    ggml_backend_free(backend);
    emulator.reset();
    cuda_is_well();
}

static void
a_card_that_is_lost_at_freeing(void **state)
{
    (void)state;
    cuda_case_says(lose_when_it_is_freed, "",
                   DEVICES "0: " ON_HIP("cuMemFree_v2", "hipFree")
                   ": unspecified launch failure (" LAUNCH_FAILED ")");
}

/* ---- nodes that failed ---- */

static void
compute_a_failed_node(void)
{
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *x;
    ggml_backend_buffer_t buffer;
    ggml_backend_t backend;

    CHECK(cuda_load() != NULL);
    backend = cuda_backend("CUDA0");
    ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });
    CHECK(ctx != NULL);
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 64);
    graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(
        graph, ggml_mul_mat(ctx, x, ggml_new_tensor_1d(ctx, GGML_TYPE_F32,
                                                       63)));
    buffer = ggml_backend_alloc_ctx_tensors_from_buft(ctx, cards_memory());
    CHECK(ggml_backend_graph_compute(backend, graph) == GGML_STATUS_FAILED);
    CHECK(strstr(ggmlbackend_last_failure(), "63") != NULL);
    CHECK(emulator.count(EMU_KERNELS) == 0);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
    ggml_backend_free(backend);
    cuda_is_well();
}

static void
a_node_that_failed(void **state)
{
    const char *errors;

    (void)state;
    /* A line by who made the node, and one by who would have computed it. */
    cuda_case(compute_a_failed_node, "", &errors);
    print_message("# %s", errors);
    assert_non_null(strstr(errors, "mul_mat"));
    assert_int_equal(cuda_count_lines(errors), 2);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_for_weights),
        cmocka_unit_test(no_memory_for_scratch),
        cmocka_unit_test(no_pinned_memory),
        cmocka_unit_test(a_graph_that_is_larger_than_memory),
        cmocka_unit_test(a_launch_that_fails),
        cmocka_unit_test(a_launch_that_begins_early_and_fails),
        cmocka_unit_test(a_card_that_is_lost_in_mid_graph),
        cmocka_unit_test(a_card_that_is_lost_during_a_copy),
        cmocka_unit_test(a_card_that_is_lost_at_freeing),
        cmocka_unit_test(a_node_that_failed),
    };

    return cmocka_run_group_tests_name("bad input", tests, NULL, NULL);
}
