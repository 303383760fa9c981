/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/blas-failures.c - a BLAS that is not there, that nobody wants, or
 * that fails: results are right all the same, and one line says why.
 */
#include "config.h"

#include "tests/cuda/products.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Calls of it in a trial, by the contract: one that warms up, then three. */
enum { TRIAL = 4 };

/* One without WGMMA: there are fewer calls that can fail. */
#define ARCH ON_HIP(" EMU_ARCH=80", "")

/* ---- not there ---- */

static void
multiply_twice_alone(void)
{
    CHECK(emulator.count != NULL ||
          blas_load(gb_built(EMULATED_DRIVER)) != NULL);
    multiply_alone(&plain, 2);
    multiply_alone(&plain, 1);
    products_end();
}

static void
multiply_where_it_is_hidden(void)
{
    multiply_twice_alone();
    CHECK(blas_n_looks() == 3); /* the names of three versions, once */
}

static const char *missing;

static void
multiply_where_it_misses_one(void)
{
    const char *path;

    CHECK(blas_load(gb_built(EMULATED_DRIVER)) != NULL);
    path = cuda_copy_without(EMULATED_BLAS, missing);
    blas_open(path);
    unlink(path);
    multiply_twice_alone();
    CHECK(blas.products() == 0);
}

static void
multiply_where_the_driver_cannot_time(void)
{
    const char *path = cuda_copy_without(
        EMULATED_DRIVER, ON_HIP("cuEventElapsedTime", "hipEventElapsedTime"));

    CHECK(blas_load(path) != NULL);
    unlink(path);
    multiply_twice_alone();
    CHECK(blas_n_looks() == 0);
}

/* One line with WORDS, and no other about the BLAS. */
static void
says_once(const char *errors, const char *words)
{
    const char *first = strstr(errors, "BLAS");

    print_message("# %s", errors);
    assert_non_null(strstr(errors, words));
    assert_non_null(first);
    assert_null(strstr(strchr(first, '\n'), "BLAS: "));
}

static void
without_it_one_line_says_so(void **state)
{
    static const char *const names[] = {
#define GB_BLAS_CALL(id, cuda, hip, parameters) ON_HIP(cuda, hip),
#include "backends/cuda/driver/blas.def"
#undef GB_BLAS_CALL
    };
    const char *errors;

    (void)state;
    cuda_case(multiply_where_it_is_hidden, AUTO " GGMLBACKEND_LOG=info",
              &errors);
    says_once(errors, DEVICES "0: no BLAS: neither ");
    says_once(errors, ON_HIP("libcublas.so.13", "/librocblas.so.5")
                          " nor an older one can be opened");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        missing = names[i];
        cuda_case(multiply_where_it_misses_one, AUTO " GGMLBACKEND_LOG=info",
                  &errors);
        says_once(errors, names[i]);
    }
    cuda_case(multiply_where_the_driver_cannot_time,
              AUTO " GGMLBACKEND_LOG=info", &errors);
    says_once(errors, "the driver cannot time");
}

static void
multiply_without_looking_for_it(void)
{
    int n_looks;

    products_begin();
    n_looks = blas_n_looks();
    multiply_alone(&plain, 2);
    CHECK(blas_n_looks() == n_looks && blas.calls("cublasCreate_v2") == 0);
    products_end();
}

static void
unless_it_is_asked_for_nobody_opens_it(void **state)
{
    static const char *const others[] = { "auto,", "AUTO", "on", "1", "yes" };

    (void)state;
    cuda_case(multiply_without_looking_for_it, "", NULL);
    cuda_case(multiply_without_looking_for_it, "GGMLBACKEND_GPU_BLAS=", NULL);
    cuda_case(multiply_without_looking_for_it, "GGMLBACKEND_GPU_BLAS=0", NULL);
    cuda_case(multiply_without_looking_for_it, "GGMLBACKEND_GPU_BLAS=off",
              NULL);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char variables[64];

        snprintf(variables, sizeof(variables), "GGMLBACKEND_GPU_BLAS=%s",
                 others[i]);
        cuda_case_says(multiply_without_looking_for_it, variables,
                       "neither off nor auto");
    }
}

/* ---- failures ---- */

static struct {
    const char *name;
    uint64_t n;
    int status;
} failing;

/* The result is right all the time, and the BLAS is called no more. */
static void
multiply_while_a_call_fails(void)
{
    uint64_t n_calls;

    products_begin();
    blas.fail_call(failing.name, failing.n, failing.status);
    multiply_alone(&plain, 3);
    n_calls = blas.calls(failing.name);
    CHECK(n_calls == failing.n);
    n_calls = blas.calls(GEMM);
    multiply_alone(&plain, 2);
    CHECK(blas.calls(failing.name) == failing.n);
    CHECK(blas.calls(GEMM) == n_calls);
    products_end();
}

static void
each_failing_call_turns_it_off(void **state)
{
    static const struct {
        const char *name;
        uint64_t n; /* calls of a backend that multiplies three times */
        int status;
        const char *words;
    } rows[] = {
        { "cublasCreate_v2", 1, ON_HIP(3, 5),
          ON_HIP("cublasCreate_v2: CUBLAS_STATUS_ALLOC_FAILED",
                 "rocblas_create_handle: rocblas_status_memory_error") },
        { "cublasSetStream_v2", 1, ON_HIP(1, 6),
          ON_HIP("cublasSetStream_v2: CUBLAS_STATUS_NOT_INITIALIZED",
                 "rocblas_set_stream: rocblas_status_internal_error") },
        { "cublasSetAtomicsMode", 1, ON_HIP(15, 2),
          ON_HIP("cublasSetAtomicsMode: CUBLAS_STATUS_NOT_SUPPORTED",
                 "rocblas_set_atomics_mode: rocblas_status_not_implemented") },
        { "cublasSetWorkspace_v2", TRIAL + 2, ON_HIP(7, 11),
          ON_HIP("cublasSetWorkspace_v2: CUBLAS_STATUS_INVALID_VALUE",
                 "rocblas_set_workspace: rocblas_status_invalid_value") },
        { GEMM, TRIAL + 2, ON_HIP(13, 15),
          ON_HIP(GEMM ": CUBLAS_STATUS_EXECUTION_FAILED",
                 "rocblas_gemm_strided_batched_ex: "
                 "rocblas_status_arch_mismatch") },
        { GEMM, 1, ON_HIP(5, 9), GEMM_NAME ": unknown status" },
        { GEMM, 1, 99, GEMM_NAME ": unknown status" },
        { GEMM, 1, -1, GEMM_NAME ": unknown status" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (uint64_t n = 1; n <= rows[i].n; n++) {
            failing.name = rows[i].name;
            failing.n = n;
            failing.status = rows[i].status;
            cuda_case_says(multiply_while_a_call_fails,
                           AUTO ARCH, rows[i].words);
        }
    }
}

static void
fail_to_give_it_back(void)
{
    products_begin();
    blas.fail_call("cublasDestroy_v2", 1, ON_HIP(14, 6));
    multiply_alone(&plain, 2);
    multiply_alone(&plain, 2);
    CHECK(blas.products() == TRIAL + 3);
    products_end();
}

static void
giving_back_that_fails_is_a_warning(void **state)
{
    (void)state;
    cuda_case_says(fail_to_give_it_back, AUTO,
                   ON_HIP("cublasDestroy_v2: CUBLAS_STATUS_INTERNAL_ERROR",
                          "rocblas_destroy_handle: "
                          "rocblas_status_internal_error"));
}

static const struct shape small = {
    GGML_TYPE_F16, GGML_TYPE_F32, 32, 20, 9, 1, 1, 1, 1, DENSE, 1.0
};

/* Results are right, or the driver's failure was told. */
static void
multiply_unless_the_driver_fails(void)
{
    ggml_backend_t backend =
        ggml_backend_dev_init(cuda_device("CUDA0"), NULL);
    struct product p;

    if (backend == NULL)
        return;
    p = product_on(backend, &small);
    for (int seed = 0; seed < 2 && p.buffer != NULL; seed++) {
        ggmlbackend_clear_failure();
        product_set(&p, seed);
        if (ggmlbackend_last_failure()[0] != '\0' ||
            !product_computes(backend, &p) || !product_get(&p))
            break;
        product_check(&p, seed);
    }
    product_free(&p);
    ggml_backend_free(backend);
}

static const char *const driver_calls[] = {
    "cuEventCreate", "cuEventDestroy_v2", "cuEventRecord", "cuEventQuery",
    "cuEventSynchronize", "cuEventElapsedTime", "cuLaunchKernel",
    "cuMemAlloc_v2",
};
static int n_driver_call;

static void
fail_calls_of_the_driver(void)
{
    const char *name = driver_calls[n_driver_call];
    uint64_t n = 0;

    products_begin();
    do {
        n++;
        emulator.reset();
        emulator.fail_call(name, n, n % 2 == 0 ? 2 : 700);
        multiply_unless_the_driver_fails();
        products_end();
    } while (emulator.failures() > 0);
    CHECK(n > 1);
    emulator.reset();
    multiply_alone(&small, 1);
    products_end();
}

static void
lose_the_card(void)
{
    uint64_t n_calls;

    products_begin();
    multiply_unless_the_driver_fails();
    n_calls = emulator.count(EMU_CALLS);
    for (uint64_t n = 1; n < n_calls; n++) {
        emulator.reset();
        emulator.lose_card(n, 0);
        multiply_unless_the_driver_fails();
        emulator.reset();
        products_end();
        multiply_alone(&small, 1);
        products_end();
    }
}

static void
failures_of_the_driver_are_the_drivers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(driver_calls) / sizeof(driver_calls[0]);
         i++) {
        n_driver_call = (int)i;
        cuda_case(fail_calls_of_the_driver,
                  AUTO ARCH " GGMLBACKEND_LOG=none", NULL);
    }
    cuda_case(lose_the_card, AUTO ARCH " GGMLBACKEND_LOG=none",
              NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_it_one_line_says_so),
        cmocka_unit_test(unless_it_is_asked_for_nobody_opens_it),
        cmocka_unit_test(each_failing_call_turns_it_off),
        cmocka_unit_test(giving_back_that_fails_is_a_warning),
        cmocka_unit_test(failures_of_the_driver_are_the_drivers),
    };

    return cmocka_run_group_tests_name("a BLAS that fails", tests, rocm_make,
                                       rocm_remove);
}
