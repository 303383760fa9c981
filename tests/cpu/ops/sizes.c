/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/sizes.c - scratch for tensors of any size: enough, or no plan.
 *
 * A plan of tensors without memory says what they need.  What that is at least
 * is counted here in long double, which no shape is too large for.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/plan/plan.h"
#include "lib/base/attr.h"

#include "tests/util/sink.h"

#include "ggml-cpu.h"
#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define P(n)      ((int64_t)1 << (n))
#define N_THREADS 2

static struct ggml_context *ctx;
static struct gb_sink sink;
static bool is_covered[GGML_OP_COUNT];

static struct ggml_tensor *
tensor(enum ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3)
{
    struct ggml_tensor *t =
        ggml_new_tensor_4d(ctx, type, ne0, ne1, ne2, ne3);

    assert_non_null(t);
    return t;
}

/* More elements than anything is computed with. */
static bool
is_too_large(const struct ggml_tensor *t)
{
    long double elements = 1;

    for (int i = 0; t != NULL && i < GGML_MAX_DIMS; i++)
        elements *= (long double)t->ne[i];
    return elements > (long double)GB_CPU_MAX_ELEMENTS;
}

static bool
has_too_large(const struct ggml_tensor *node)
{
    bool has = is_too_large(node);

    for (int i = 0; i < GGML_MAX_SRC; i++)
        has = has || is_too_large(node->src[i]);
    return has;
}

/* Nor do an operation's own sums wrap round for tensors that no plan is asked
 * for. */
static void
check_row(const struct ggml_tensor *node, long double least)
{
    const struct gb_cpu_op *row = gb_cpu_op_find(node);
    _Alignas(8) char tiling[GB_CPU_TILING_MAX];
    struct gb_cpu_needs needs;

    if (row->tile != NULL)
        row->tile(node, gb_cpu_kernels(), tiling, &needs);
    else
        needs = gb_cpu_op_needs(node, row);
    if (needs.scratch == SIZE_MAX || needs.shared == SIZE_MAX) {
        if (least < 0x1p60L)
            fail_msg("%s: not even %Lg bytes", ggml_op_desc(node), least);
    } else if ((long double)needs.scratch * N_THREADS +
                   (long double)needs.shared <
               least) {
        fail_msg("%s: %zu and %zu bytes, not %Lg", ggml_op_desc(node),
                 needs.scratch, needs.shared, least);
    }
}

/* NODE takes LEAST bytes: there are as many in its plan, or it has none and
 * that is said. */
static void
check(struct ggml_tensor *node, long double least)
{
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 16, false);
    struct gb_cpu_size size = { 0 };
    struct gb_cpu_plan plan;
    enum ggml_status status;

    assert_non_null(node);
    assert_non_null(graph);
    ggml_build_forward_expand(graph, node);
    gb_sink_begin(&sink);
    status = gb_cpu_plan_build(graph, N_THREADS, NULL, 0, &size, &plan);
    gb_sink_end();
    is_covered[node->op] = true;
    check_row(node, least);
    if (status != GGML_STATUS_SUCCESS && has_too_large(node)) {
        assert_non_null(strstr(sink.text, "no possible shape and strides"));
    } else if (status != GGML_STATUS_SUCCESS) {
        if (strstr(sink.text, "needs too much memory") == NULL &&
            strstr(sink.text, "do not fit") == NULL)
            fail_msg("%s: %s", ggml_op_desc(node), sink.text);
        if (least < 0x1p60L)
            fail_msg("%s: no plan for %Lg bytes", ggml_op_desc(node), least);
    } else if ((long double)size.work < least) {
        fail_msg("%s: %zu bytes, not %Lg", ggml_op_desc(node), size.work,
                 least);
    }
}

static void
check_rope(int64_t ne0, int64_t ne2, int mode)
{
    struct ggml_tensor *x = tensor(GGML_TYPE_F16, ne0, 1, ne2, 1);
    struct ggml_tensor *positions = tensor(GGML_TYPE_I32, ne2, 1, 1, 1);
    /* A cosine and a sine a pair and token. */
    const long double table = (long double)ne0 * (long double)ne2 * 4;

    check(ggml_rope(ctx, x, positions, (int)ne0, mode), table);
    check(ggml_rope_ext_back(ctx, x, positions, NULL, (int)ne0, mode, 0, 1e4f,
                             1.0f, 0.0f, 1.0f, 32.0f, 1.0f), table);
}

static void
rotations(void **state)
{
    (void)state;
    check_rope(64, 5, GGML_ROPE_TYPE_NEOX);
    check_rope(P(20), P(41), 0);
    check_rope(P(20), P(41), GGML_ROPE_TYPE_NEOX);
    check_rope(P(30), P(32), 0);
    check_rope(2, P(60), 0);
}

/* Columns of K values in MATRICES of N, for weights of TYPE in rows of K. */
static void
check_product(enum ggml_type type, int64_t rows, enum ggml_type column,
              int64_t k, int64_t n, int64_t matrices)
{
    struct ggml_tensor *a = tensor(type, k, rows, 1, 1);
    struct ggml_tensor *b = tensor(column, k, n, matrices, 1);
    const struct gb_format *format = gb_cpu_kernels()->format(type)->format;
    const enum gb_path path = gb_path_of(format, k, n * matrices);
    long double least = (long double)k;

    if (format->sub_block == 0)
        least *= column == GGML_TYPE_F32 && type != GGML_TYPE_BF16 ? 0 : 4;
    else if (k <= 1024) /* whose bytes can be counted without a care */
        least = (long double)gb_path_activation_bytes(format, path, k);
    check(ggml_mul_mat(ctx, a, b),
          least * (long double)n * (long double)matrices);
}

static void
products(void **state)
{
    (void)state;
    check_product(GGML_TYPE_Q4_0, 7, GGML_TYPE_F32, 64, 5, 1);
    check_product(GGML_TYPE_Q4_0, 1, GGML_TYPE_F32, 32, P(55), 1);
    check_product(GGML_TYPE_Q4_0, 1, GGML_TYPE_Q8_0, 32, P(57), 1);
    check_product(GGML_TYPE_Q4_0, 1, GGML_TYPE_Q8_0, 32, 1, P(57));
    check_product(GGML_TYPE_Q4_0, 1, GGML_TYPE_Q8_0, P(60), 1, 1);
    check_product(GGML_TYPE_Q4_0, 1, GGML_TYPE_Q8_0, P(61), 1, 1);
    check_product(GGML_TYPE_Q4_0, P(30), GGML_TYPE_F32, P(31), 16, 1);
    check_product(GGML_TYPE_Q2_K, 1, GGML_TYPE_Q8_K, P(59), 4, 1);
    check_product(GGML_TYPE_TQ1_0, 1, GGML_TYPE_Q8_K, P(61), 1, 1);
    check_product(GGML_TYPE_F16, 200, GGML_TYPE_F16, 100, 20, 1);
    check_product(GGML_TYPE_F16, 256, GGML_TYPE_F16, P(20), P(42), 1);
    check_product(GGML_TYPE_F16, 256, GGML_TYPE_F16, P(54), P(8), 1);
    check_product(GGML_TYPE_F16, 256, GGML_TYPE_F16, 1, P(53), 1);
    check_product(GGML_TYPE_BF16, 256, GGML_TYPE_F32, 1, P(53), 1);
    check_product(GGML_TYPE_F16, 1, GGML_TYPE_F16, P(61), 1, 1);
    check_product(GGML_TYPE_F32, 0, GGML_TYPE_F32, 0, 0, 0);
}

static void
check_chosen(int64_t k, int64_t n)
{
    struct ggml_tensor *as = tensor(GGML_TYPE_Q4_0, k, 1, 2, 1);
    struct ggml_tensor *b = tensor(GGML_TYPE_F32, k, 1, n, 1);
    struct ggml_tensor *ids = tensor(GGML_TYPE_I32, 1, n, 1, 1);

    check(ggml_mul_mat_id(ctx, as, b, ids), (long double)k * (long double)n);
}

static void
products_with_chosen_matrices(void **state)
{
    (void)state;
    check_chosen(64, 3);
    check_chosen(32, P(55));
    check_chosen(P(60), 1);
    check_chosen(P(40), P(20));
}

static void
check_outer(int64_t m, int64_t n, int64_t k)
{
    struct ggml_tensor *a = tensor(GGML_TYPE_F16, m, k, 1, 1);
    struct ggml_tensor *b = tensor(GGML_TYPE_F32, n, k, 1, 1);

    /* Both as floats. */
    check(ggml_out_prod(ctx, a, b), 4 * (long double)k * (m + (long double)n));
}

static void
outer_products(void **state)
{
    (void)state;
    check_outer(5, 3, 4);
    check_outer(P(31), 1, P(31));
    check_outer(P(30), P(30), P(31));
    check_outer(1, 1, P(60));
}

static void
check_attention(enum ggml_type type, int64_t d, int64_t tokens, int64_t keys,
                bool has_mask)
{
    struct ggml_tensor *q = tensor(GGML_TYPE_F32, d, tokens, 1, 1);
    struct ggml_tensor *k = tensor(type, d, keys, 1, 1);
    struct ggml_tensor *v = tensor(type, d, keys, 1, 1);
    struct ggml_tensor *mask =
        has_mask ? tensor(GGML_TYPE_F16, keys, GGML_PAD(tokens, 64), 1, 1)
                 : NULL;

    /* Keys as floats, a block of them. */
    check(ggml_flash_attn_ext(ctx, q, k, v, mask, 1.0f, 0.0f, 0.0f),
          (long double)GB_PREFILL_KEYS * 4 * (long double)d);
}

static void
attentions(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F16, GGML_TYPE_Q5_0 };

    (void)state;
    for (int i = 0; i < 2; i++) {
        check_attention(types[i], 64, 3, 70, false);
        check_attention(types[i], 64, 30, 70, true);
        check_attention(types[i], P(58), 1, 4, false);
        check_attention(types[i], P(56), 8, 4, false);
        check_attention(types[i], P(54), 64, 1, false);
        check_attention(types[i], P(54), 64, 1, true);
        check_attention(types[i], P(40), 2, P(20), false);
        check_attention(types[i], 32, P(28), P(28), true);
        check_attention(types[i], P(60), 1, 1, false);
    }
}

static void
check_transposed(int64_t kw, int64_t width, int stride)
{
    struct ggml_tensor *kernel = tensor(GGML_TYPE_F16, kw, 1, 1, 1);
    struct ggml_tensor *flat = tensor(GGML_TYPE_F16, kw, 1, 1, 1);
    struct ggml_tensor *input = tensor(GGML_TYPE_F32, width, 1, 1, 1);
    const long double least = 4 * ((long double)kw + (long double)width);

    check(ggml_conv_transpose_1d(ctx, kernel, input, stride, 0, 1), least);
    check(ggml_conv_transpose_2d_p0(ctx, flat, input, stride), least);
}

static void
convolutions(void **state)
{
    (void)state;
    check_transposed(3, 20, 2);
    check_transposed(P(60), 1, 1);
    check_transposed(1, P(61) - 1, 1);
    check_transposed(P(60), P(60), 1);
}

static void
check_windows(int64_t kw, int64_t channels, int padding)
{
    struct ggml_tensor *kernel = tensor(GGML_TYPE_F16, kw, channels, 1, 1);
    struct ggml_tensor *image = tensor(GGML_TYPE_F32, 1, channels, 1, 1);

    check(ggml_im2col(ctx, kernel, image, 1, 0, padding, 0, 1, 0, false,
                      GGML_TYPE_F16),
          4 * (long double)kw * (long double)channels);
}

static void
windows(void **state)
{
    (void)state;
    check_windows(3, 2, 1);
    check_windows(P(31) + 1, P(31), 1 << 30);
    check_windows(1, P(60), 0);
}

static void
rows_and_sums(void **state)
{
    static const int64_t lengths[] = { 5, P(31) - 1, P(60), P(61) - 1, P(61) };

    (void)state;
    for (int i = 0; i < 5; i++) {
        const int64_t n = lengths[i];
        struct ggml_tensor *row = tensor(GGML_TYPE_F32, n, 1, 1, 1);
        struct ggml_tensor *counts = tensor(GGML_TYPE_I32, n, 1, 1, 1);
        struct ggml_tensor *column = tensor(GGML_TYPE_F16, 1, n, 1, 1);

        /* Their results are 32-bit indices. */
        if (n < P(31)) {
            check(ggml_argsort(ctx, row, GGML_SORT_ORDER_ASC),
                  8 * (long double)n);
            check(ggml_argmax(ctx, row), 4 * (long double)n);
        }
        check(ggml_sum(ctx, row), (long double)n / 16384);
        check(ggml_sum(ctx, column), (long double)n / 16384);
        check(ggml_count_equal(ctx, counts, counts), (long double)n / 16384);
        check(ggml_cross_entropy_loss(ctx, row, row), 1);
    }
}

static void
every_operation_with_scratch_was_here(void **state)
{
    (void)state;
    for (int op = 0; op < GGML_OP_COUNT; op++) {
        const struct gb_cpu_op *row = gb_cpu_ops[op];

        if (row != NULL && (row->scratch != NULL || row->shared != NULL) &&
            !is_covered[op])
            fail_msg("%s has no shapes here", ggml_op_name((enum ggml_op)op));
    }
}

static int
open_context(void **state)
{
    (void)state;
    ctx = ggml_init((struct ggml_init_params){
        .mem_size = 1 << 20, .no_alloc = true });
    return ctx == NULL;
}

static int
close_context(void **state)
{
    (void)state;
    ggml_free(ctx);
    return 0;
}

int
main(void)
{
#define SIZES(name) \
    cmocka_unit_test_setup_teardown(name, open_context, close_context)
    static const struct CMUnitTest tests[] = {
        SIZES(rotations),
        SIZES(products),
        SIZES(products_with_chosen_matrices),
        SIZES(outer_products),
        SIZES(attentions),
        SIZES(convolutions),
        SIZES(windows),
        SIZES(rows_and_sums),
        SIZES(every_operation_with_scratch_was_here),
    };
#undef SIZES

    if (SIZE_MAX == UINT32_MAX) {
        puts("1..0 # SKIP the shapes that overflow are for 64 bits");
        return 0;
    }
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
