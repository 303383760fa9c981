/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/blas-shapes.c - which products the vendor's BLAS is offered: those
 * that one call of it does, whose numbers are int.
 */
#include "config.h"

#include "backends/cuda/ops/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* More than anything else that a product has in scratch. */
#define WORKSPACE (SIZE_MAX / 4)

struct product {
    struct ggml_context *ctx;
    struct ggml_tensor *a, *b, *d;
};

static struct product
product(enum ggml_type type, int64_t k, int64_t n)
{
    struct product p = { .ctx = ggml_init((struct ggml_init_params){
                             .mem_size = 4 * ggml_tensor_overhead(),
                             .no_alloc = true }) };

    assert_non_null(p.ctx);
    p.a = ggml_new_tensor_4d(p.ctx, type, k, 70, 4, 2);
    p.b = ggml_new_tensor_4d(p.ctx, GGML_TYPE_F32, k, n, 8, 2);
    p.d = ggml_mul_mat(p.ctx, p.a, p.b);
    return p;
}

/* Does the scratch have room for the workspace? */
static bool
takes(struct product *p, enum gb_cuda_variant variant, int warp)
{
    struct gb_cuda_limits limits = {
        .variant = variant, .n_sms = 100, .warp = warp, .shared = 200000,
    };
    const struct gb_cuda_op *op = gb_cuda_op_of(GGML_OP_MUL_MAT);
    const size_t without = op->scratch(&limits, p->d);

    limits.blas_workspace = WORKSPACE;
    return op->scratch(&limits, p->d) > without;
}

static bool
is_offered(struct product *p)
{
    return takes(p, GB_CUDA_WGMMA, 32);
}

static bool
type_is_offered(enum ggml_type type, int64_t k, int64_t n,
                enum gb_cuda_variant variant, int warp)
{
    struct product p = product(type, k, n);
    const bool takes_it = takes(&p, variant, warp);

    ggml_free(p.ctx);
    return takes_it;
}

static void
it_gets_what_matrix_units_would_do(void **state)
{
    const enum ggml_type f16 = GGML_TYPE_F16, bf16 = GGML_TYPE_BF16;

    (void)state;
    assert_true(type_is_offered(f16, 96, 9, GB_CUDA_WGMMA, 32));
    assert_true(type_is_offered(f16, 96, 9, GB_CUDA_MMA, 32));
    assert_true(type_is_offered(bf16, 96, 9, GB_CUDA_MMA8, 32));
    assert_false(type_is_offered(bf16, 96, 9, GB_CUDA_MMA, 32));
    assert_true(type_is_offered(f16, 96, 9, GB_CUDA_MFMA, 64));
    assert_true(type_is_offered(bf16, 96, 9, GB_CUDA_MFMA, 64));
    assert_true(type_is_offered(f16, 96, 9, GB_CUDA_WMMA, 32));
    assert_true(type_is_offered(bf16, 96, 9, GB_CUDA_WMMA, 32));
    assert_false(type_is_offered(f16, 96, 4, GB_CUDA_WMMA, 32));
    assert_false(type_is_offered(f16, 96, 9, GB_CUDA_DP4A, 32));
    assert_false(type_is_offered(f16, 96, 9, GB_CUDA_DP4A, 64));
    assert_false(type_is_offered(f16, 96, 4, GB_CUDA_WGMMA, 32));
    assert_false(type_is_offered(GGML_TYPE_F32, 96, 9, GB_CUDA_WGMMA, 32));
    assert_false(type_is_offered(GGML_TYPE_Q8_0, 96, 9, GB_CUDA_WGMMA, 32));
    assert_false(type_is_offered(f16, 0, 9, GB_CUDA_WGMMA, 32));
}

static void
numbers_have_to_be_ints(void **state)
{
    const int64_t largest = INT32_MAX;
    struct product p = product(GGML_TYPE_F16, 96, 9);

    (void)state;
    p.a->nb[1] = (size_t)largest * 2;
    assert_true(is_offered(&p));
    p.a->nb[1] += 2;
    assert_false(is_offered(&p));
    ggml_free(p.ctx);
    assert_true(type_is_offered(GGML_TYPE_F16, largest - 256, 9,
                                GB_CUDA_WGMMA, 32));
    assert_false(type_is_offered(GGML_TYPE_F16, largest - 7, 9,
                                 GB_CUDA_WGMMA, 32));
    assert_false(type_is_offered(GGML_TYPE_F16, largest + 1, 9,
                                 GB_CUDA_WGMMA, 32));
}

static void
rows_may_have_gaps_and_not_overlap(void **state)
{
    struct product p = product(GGML_TYPE_F16, 96, 9);

    (void)state;
    p.a->nb[1] = 200;
    assert_true(is_offered(&p));
    p.a->nb[1] = 190;
    assert_false(is_offered(&p));
    p.a->nb[1] = 192;
    p.d->nb[1] += 4;
    assert_false(is_offered(&p));
    ggml_free(p.ctx);
}

static void
matrices_have_to_follow_each_other(void **state)
{
    struct product p = product(GGML_TYPE_F16, 96, 9);

    (void)state;
    p.a->nb[3] += 2;
    assert_false(is_offered(&p));
    p.a->nb[3] -= 2;
    assert_true(is_offered(&p));
    p.a->ne[3] = 1;
    assert_false(is_offered(&p));
    p.a->ne[2] = 1;
    assert_true(is_offered(&p));
    ggml_free(p.ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_gets_what_matrix_units_would_do),
        cmocka_unit_test(numbers_have_to_be_ints),
        cmocka_unit_test(rows_may_have_gaps_and_not_overlap),
        cmocka_unit_test(matrices_have_to_follow_each_other),
    };

    if (sizeof(void *) < sizeof(uint64_t)) {
        puts("1..0 # SKIP a card's addresses have 64 bits");
        return 0;
    }
    return cmocka_run_group_tests_name("shapes for a BLAS", tests, NULL, NULL);
}
