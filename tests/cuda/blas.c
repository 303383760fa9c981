/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/blas.c - products by the vendor's BLAS where it is faster.
 */
#include "config.h"

#include "tests/cuda/products.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Calls of it in a trial, by the contract: one that warms up, then three. */
enum { TRIAL = 4 };

/* ---- faster, and slower ---- */

static void
multiply_shapes(void)
{
    static const struct shape shapes[] = {
        { GGML_TYPE_F16, GGML_TYPE_F32, 96, 70, 33, 1, 1, 1, 1, DENSE, 1.0 },
        { GGML_TYPE_BF16, GGML_TYPE_F32, 96, 70, 33, 1, 1, 1, 1, DENSE, 1.0 },
        { GGML_TYPE_F16, GGML_TYPE_F16, 64, 16, 9, 1, 1, 1, 1, DENSE, 1.0 },
        { GGML_TYPE_BF16, GGML_TYPE_BF16, 64, 16, 9, 1, 1, 1, 1, DENSE, 1.0 },
        { GGML_TYPE_F16, GGML_TYPE_F32, 1, 1, 130, 1, 1, 1, 1, DENSE, 1.0 },
        { GGML_TYPE_F16, GGML_TYPE_F32, 7, 5, 1, 1, 1, 3, 5, DENSE, 1.0 },
        { GGML_TYPE_F16, GGML_TYPE_F32, 33, 129, 12, 3, 1, 3, 1, DENSE, 1.0 },
        { GGML_TYPE_BF16, GGML_TYPE_F32, 33, 129, 12, 3, 1, 6, 1, DENSE, 1.0 },
        { GGML_TYPE_F16, GGML_TYPE_F32, 40, 20, 11, 2, 3, 4, 3, DENSE, 1.0 },
        { GGML_TYPE_F16, GGML_TYPE_F32, 40, 20, 40, 2, 1, 4, 1, PERMUTED, 1.0 },
        { GGML_TYPE_BF16, GGML_TYPE_F32, 40, 36, 20, 1, 1, 1, 1, WITH_GAPS, 1.0 },
        { GGML_TYPE_F16, GGML_TYPE_F32, 4100, 17, 10, 1, 1, 1, 1, DENSE, 1.0 },
        { GGML_TYPE_F16, GGML_TYPE_F32, 96, 300, 33, 1, 1, 1, 1, DENSE, 0x1p60 },
        { GGML_TYPE_F16, GGML_TYPE_F32, 96, 600, 33, 1, 1, 1, 1, DENSE, 0x1p-60 },
        { GGML_TYPE_BF16, GGML_TYPE_F32, 96, 300, 33, 1, 1, 1, 1, DENSE, 0x1p60 },
    };

    products_begin();
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        const uint64_t before = blas.products();

        multiply_alone(&shapes[i], 3);
        CHECK(blas.products() == before + TRIAL + 2);
    }
    products_end();
}

static void
faster_it_is_used_and_right(void **state)
{
    (void)state;
    cuda_case(multiply_shapes, AUTO, NULL);
    cuda_case(multiply_shapes,
              AUTO " GGMLBACKEND_GPU_VARIANT=" ON_HIP("mma8", "wmma"), NULL);
}

/* Matrices that no single call reaches, other types, few columns. */
static void
multiply_others(void)
{
    struct shape shape = plain;

    products_begin();
    shape.a2 = 2;
    shape.b2 = 2;
    shape.b3 = 2;
    multiply_alone(&shape, 2);
    shape = plain;
    shape.type = GGML_TYPE_F32;
    shape.n = 20;
    multiply_alone(&shape, 2);
    shape.type = GGML_TYPE_F16;
    shape.n = 8;
    multiply_alone(&shape, 2);
    CHECK(blas.calls(GEMM) == 0);
    products_end();
}

static void
what_it_is_not_for_goes_on_without_it(void **state)
{
    (void)state;
    cuda_case(multiply_others, AUTO, NULL);
}

/* Our own kernel takes 100 microseconds, rescaling 10. */
static uint64_t product_time;
static bool is_used;

static void
multiply_in_that_time(void)
{
    products_begin();
    blas.time(product_time);
    multiply_alone(&plain, 1);
    CHECK(blas.calls(GEMM) == TRIAL);
    multiply_alone(&plain, 3);
    CHECK(blas.calls(GEMM) == (is_used ? TRIAL + 3 : TRIAL));
    products_end();
}

static void
five_percent_are_wanted(void **state)
{
    (void)state;
    product_time = 10000;
    is_used = false;
    cuda_case(multiply_in_that_time, AUTO, NULL);
    product_time = 86;
    cuda_case(multiply_in_that_time, AUTO, NULL);
    product_time = 85;
    is_used = true;
    cuda_case(multiply_in_that_time, AUTO, NULL);
}

static void
a_trial_tells_its_times(void **state)
{
    const char *errors;

    (void)state;
    product_time = 40;
    is_used = true;
    cuda_case(multiply_in_that_time, AUTO " GGMLBACKEND_LOG=debug", &errors);
    print_message("# %s", errors);
    assert_non_null(strstr(
        errors, DEVICES "0: F16, 70 rows, 33 columns, length 96, 1 matrices: "
                "0.100 ms, by the BLAS 0.050 ms\n"));
}

static void
multiply_near_shapes(void)
{
    struct shape shape = plain;

    products_begin();
    multiply_alone(&shape, 1);
    shape.m = 95;
    shape.k = 127;
    shape.n = 47;
    multiply_alone(&shape, 1);
    CHECK(blas.calls(GEMM) == TRIAL + 1);
    shape.m = 96;
    multiply_alone(&shape, 1);
    CHECK(blas.calls(GEMM) == 2 * TRIAL + 1);
    shape.type = GGML_TYPE_BF16;
    multiply_alone(&shape, 1);
    CHECK(blas.calls(GEMM) == 3 * TRIAL + 1);
    products_end();
}

/* More than the table has: the rest is left to our own kernels. */
static void
multiply_many_shapes(void)
{
    struct shape shape = plain;
    ggml_backend_t backend;

    products_begin();
    backend = cuda_backend("CUDA0");
    shape.n = 9;
    for (int i = 0; i < 72; i++) {
        struct product p;

        shape.m = 1 << i % 9;
        shape.k = 1 << i / 9;
        p = product_on(backend, &shape);
        multiply(backend, &p, 1);
        product_free(&p);
    }
    CHECK(blas.calls(GEMM) == 64 * TRIAL);
    ggml_backend_free(backend);
    products_end();
}

static void
a_trial_is_made_once_for_a_shape(void **state)
{
    (void)state;
    cuda_case(multiply_near_shapes, AUTO, NULL);
    cuda_case(multiply_many_shapes, AUTO, NULL);
}

/* ---- weights on several cards ---- */

static ggml_backend_buffer_type_t
halves(void)
{
    static const float shares[16] = { 1.0f, 1.0f };
    ggml_backend_split_buffer_type_t get;

    *(void **)&get = ggml_backend_reg_get_proc_address(
        ggml_backend_dev_backend_reg(cuda_device("CUDA0")),
        "ggml_backend_split_buffer_type");
    CHECK(get != NULL);
    return get(0, shares);
}

/* A graph of three products, of which the second one is of such weights. */
static void
multiply_split_weights(void)
{
    struct shape shape = plain;
    struct product p[3];
    ggml_backend_t backend;

    products_begin();
    backend = cuda_backend("CUDA0");
    shape.m = 300;
    p[0] = product_on(backend, &plain);
    p[1] = product_of(backend, halves(), &shape);
    p[2] = product_on(backend, &shape);
    ggml_build_forward_expand(p[0].graph, p[1].d);
    ggml_build_forward_expand(p[0].graph, p[2].d);
    for (int seed = 0; seed < 3; seed++) {
        for (int i = 0; i < 3; i++)
            product_set(&p[i], seed + i);
        CHECK(product_computes(backend, &p[0]));
        for (int i = 0; i < 3; i++) {
            CHECK(product_get(&p[i]));
            product_check(&p[i], seed + i);
        }
    }
    CHECK(blas.products() == 2 * (TRIAL + 2));
    for (int i = 0; i < 3; i++)
        product_free(&p[i]);
    ggml_backend_free(backend);
    products_end();
}

static void
split_weights_are_beside_it(void **state)
{
    (void)state;
    cuda_case(multiply_split_weights, AUTO " EMU_DEVICES=2", NULL);
}

/* ---- recorded graphs ---- */

static void
repeat_a_product(void)
{
    ggml_backend_t backend;
    struct product p;

    products_begin();
    blas.time(product_time);
    backend = cuda_backend("CUDA0");
    p = product_on(backend, &plain);
    multiply(backend, &p, 5);
    CHECK((emulator.count(EMU_GRAPH_LAUNCHES) > 0) == !is_used);
    CHECK((emulator.calls("cuGraphCreate") > 0) == !is_used);
    product_free(&p);
    ggml_backend_free(backend);
    products_end();
}

static void
keep_a_plan(void)
{
    ggml_backend_graph_plan_t plan;
    ggml_backend_t backend;
    struct product p;

    products_begin();
    backend = cuda_backend("CUDA0");
    p = product_on(backend, &plain);
    plan = ggml_backend_graph_plan_create(backend, p.graph);
    CHECK(plan != NULL);
    for (int seed = 0; seed < 3; seed++) {
        product_set(&p, seed);
        if (seed == 2)
            blas.fail_call(GEMM, 1, 14);
        CHECK(ggml_backend_graph_plan_compute(backend, plan) ==
              GGML_STATUS_SUCCESS);
        ggml_backend_synchronize(backend);
        CHECK(product_get(&p));
        product_check(&p, seed);
    }
    CHECK(blas.products() == TRIAL + 1);
    CHECK(emulator.count(EMU_GRAPH_LAUNCHES) == 0);
    ggml_backend_graph_plan_free(backend, plan);
    product_free(&p);
    ggml_backend_free(backend);
    products_end();
}

static void
graphs_with_it_are_not_recorded_and_others_are(void **state)
{
    (void)state;
    product_time = 0;
    is_used = true;
    cuda_case(repeat_a_product, AUTO, NULL);
    cuda_case(keep_a_plan, AUTO " GGMLBACKEND_LOG=none", NULL);
    product_time = 1000;
    is_used = false;
    cuda_case(repeat_a_product, AUTO, NULL);
}

/* Only the trial waits, and only the first product allocates. */
static void
multiply_without_waiting(void)
{
    uint64_t waits, allocations;
    ggml_backend_t backend;
    struct product p;

    products_begin();
    backend = cuda_backend("CUDA0");
    p = product_on(backend, &plain);
    multiply(backend, &p, 1);
    product_set(&p, 1);
    waits = emulator.count(EMU_HOST_WAITS);
    allocations = emulator.count(EMU_ALLOCATIONS);
    CHECK(ggml_backend_graph_compute_async(backend, p.graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(emulator.count(EMU_HOST_WAITS) == waits);
    CHECK(emulator.count(EMU_ALLOCATIONS) == allocations);
    CHECK(blas.calls("cublasCreate_v2") == 1);
    ggml_backend_synchronize(backend);
    CHECK(product_get(&p));
    product_check(&p, 1);
    product_free(&p);
    ggml_backend_free(backend);
    products_end();
}

static void
nothing_is_waited_for_afterwards(void **state)
{
    (void)state;
    cuda_case(multiply_without_waiting, AUTO, NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(faster_it_is_used_and_right),
        cmocka_unit_test(what_it_is_not_for_goes_on_without_it),
        cmocka_unit_test(five_percent_are_wanted),
        cmocka_unit_test(a_trial_tells_its_times),
        cmocka_unit_test(a_trial_is_made_once_for_a_shape),
        cmocka_unit_test(split_weights_are_beside_it),
        cmocka_unit_test(graphs_with_it_are_not_recorded_and_others_are),
        cmocka_unit_test(nothing_is_waited_for_afterwards),
    };

    return cmocka_run_group_tests_name("the vendor's BLAS", tests, rocm_make,
                                       rocm_remove);
}
