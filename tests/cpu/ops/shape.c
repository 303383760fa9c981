/* SPDX-License-Identifier: MIT */
/*
 * Operations that put values elsewhere: repeat, concat, resize, masks, set,
 * acc.
 */
#include "tests/cpu/ops/driver.h"

static double
repeat_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                 int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];

    return at(a, i0 % a->ne[0], i1 % a->ne[1], i2 % a->ne[2], i3 % a->ne[3]);
}

static double
repeat_back_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                      int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    double sum = 0;

    for (int64_t j3 = i3; j3 < a->ne[3]; j3 += node->ne[3])
        for (int64_t j2 = i2; j2 < a->ne[2]; j2 += node->ne[2])
            for (int64_t j1 = i1; j1 < a->ne[1]; j1 += node->ne[1])
                for (int64_t j0 = i0; j0 < a->ne[0]; j0 += node->ne[0])
                    sum += at(a, j0, j1, j2, j3);
    return sum;
}

static const int64_t factors[][4] = {
    { 1, 1, 1, 1 }, { 3, 1, 1, 1 }, { 1, 2, 1, 1 },
    { 1, 1, 3, 1 }, { 2, 2, 2, 3 }, { 100, 1, 1, 2 },
};

static void
repeating_and_adding_up(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_BF16, GGML_TYPE_I32,
                                            GGML_TYPE_I16, GGML_TYPE_Q8_0 };

    (void)state;
    for (int f = 0; f < 6; f++)
        for (int t = 0; t < 6; t++)
            for (int short_row = 0; short_row < 2; short_row++) {
                const int64_t n = short_row ? 1 : 32;
                struct bench bench = bench_open();
                struct ggml_tensor *a, *big, *like;

                if (t == 5 && short_row) {
                    bench_close(&bench);
                    continue;
                }
                a = tensor(&bench, types[t], f % 2 || t == 5 ? DENSE : SPARSE,
                           n, 2, 3, 2);
                big = tensor(&bench, types[t], t == 5 ? DENSE : PERMUTED,
                             n * factors[f][0], 2 * factors[f][1],
                             3 * factors[f][2], 2 * factors[f][3]);
                like = ggml_new_tensor(bench.ctx, GGML_TYPE_F32, 4, a->ne);
                fill(&bench, a, -50.0, 50.0);
                check(&bench, ggml_repeat(bench.ctx, a, big),
                      repeat_reference, 0.0);
                if (t == 0)
                    check(&bench, ggml_repeat_back(bench.ctx, big, like),
                          repeat_back_reference, 1e-12);
                bench_close(&bench);
            }
}

static double
concat_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                 int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    const int dim = node->op_params[0];
    int64_t i[] = { i0, i1, i2, i3 };

    if (i[dim] < a->ne[dim])
        return at(a, i0, i1, i2, i3);
    i[dim] -= a->ne[dim];
    return at(node->src[1], i[0], i[1], i[2], i[3]);
}

static void
one_behind_another_along_each_dimension(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_I32,
                                            GGML_TYPE_F16, GGML_TYPE_Q4_0 };

    (void)state;
    for (int dim = 0; dim < 4; dim++)
        for (int t = 0; t < 4; t++)
            for (int layout = DENSE; layout <= PERMUTED; layout++) {
                int64_t ne[] = { 64, 4, 3, 2 };
                struct bench bench = bench_open();
                struct ggml_tensor *a, *b;

                if (t == 3 && layout == TRANSPOSED)
                    layout++;
                a = tensor(&bench, types[t], layout, ne[0], ne[1], ne[2],
                           ne[3]);
                ne[dim] *= 2;
                b = tensor(&bench, types[t], PERMUTED, ne[0], ne[1], ne[2],
                           ne[3]);
                if (t == 1)
                    fill(&bench, b, -99.0, 99.0);
                check(&bench, ggml_concat(bench.ctx, a, b, dim),
                      concat_reference, 0.0);
                bench_close(&bench);
            }
}

static double
pad_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
              int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    const bool inside = i0 < a->ne[0] && i1 < a->ne[1] && i2 < a->ne[2] &&
                        i3 < a->ne[3];

    return inside ? at(a, i0, i1, i2, i3) : 0;
}

static double
reflect_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                  int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t i = i0 - node->op_params[0];
    const int64_t last = a->ne[0] - 1;

    return at(a, i < 0 ? -i : i > last ? 2 * last - i : i, i1, i2, i3);
}

static double
upscale_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                  int64_t i2, int64_t i3)
{
    const int64_t i[] = { i0, i1, i2, i3 };
    int64_t j[4];

    for (int d = 0; d < 4; d++) {
        const float factor =
            (float)node->ne[d] / (float)node->src[0]->ne[d];

        j[d] = (int64_t)((float)i[d] / factor);
    }
    return at(node->src[0], j[0], j[1], j[2], j[3]);
}

static void
padding_mirroring_and_scaling_up(void **state)
{
    (void)state;
    for (int layout = DENSE; layout < N_LAYOUTS; layout++) {
        struct bench bench = bench_open();
        struct ggml_tensor *a =
            tensor(&bench, GGML_TYPE_F32, layout, 13, 4, 3, 2);

        check(&bench, ggml_pad(bench.ctx, a, 3, 0, 2, 1), pad_reference, 0.0);
        check(&bench, ggml_pad(bench.ctx, a, 0, 5, 0, 0), pad_reference, 0.0);
        check(&bench, ggml_upscale(bench.ctx, a, 3), upscale_reference, 0.0);
        check(&bench, ggml_upscale_ext(bench.ctx, a, 20, 9, 5, 7),
              upscale_reference, 0.0);
        if (layout == DENSE) {
            check(&bench, ggml_pad_reflect_1d(bench.ctx, a, 12, 12),
                  reflect_reference, 0.0);
            check(&bench, ggml_pad_reflect_1d(bench.ctx, a, 0, 5),
                  reflect_reference, 0.0);
        }
        bench_close(&bench);
    }
}

static double
diag_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3)
{
    return i0 == i1 ? at(node->src[0], i0, 0, i2, i3) : 0;
}

static double
mask_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3)
{
    if (i0 > node->op_params[0] + i1)
        return node->op == GGML_OP_DIAG_MASK_INF ? -INFINITY : 0;
    return at(node->src[0], i0, i1, i2, i3);
}

static void
diagonals_and_their_masks(void **state)
{
    static const int pasts[] = { 0, 3, 100 };

    (void)state;
    for (int p = 0; p < 3; p++) {
        struct bench bench = bench_open();
        struct ggml_tensor *row =
            tensor(&bench, GGML_TYPE_F32, p ? SPARSE : DENSE, 9, 1, 3, 2);
        struct ggml_tensor *a =
            tensor(&bench, GGML_TYPE_F32, DENSE, 11, 9, 3, 2);

        check(&bench, ggml_diag(bench.ctx, row), diag_reference, 0.0);
        check(&bench, ggml_diag_mask_inf(bench.ctx, a, pasts[p]),
              mask_reference, 0.0);
        check(&bench, ggml_diag_mask_zero(bench.ctx, a, pasts[p]),
              mask_reference, 0.0);
        check(&bench, ggml_diag_mask_inf_inplace(bench.ctx, a, pasts[p]),
              mask_reference, 0.0);
        bench_close(&bench);
    }
}

/* The element of src1 that lies at byte OFFSET of the node, or none. */
static bool
find_in_part(const struct ggml_tensor *node, size_t offset, double *value)
{
    const struct ggml_tensor *b = node->src[1];
    const int32_t *p = node->op_params;

    for (int64_t i3 = 0; i3 < b->ne[3]; i3++)
        for (int64_t i2 = 0; i2 < b->ne[2]; i2++)
            for (int64_t i1 = 0; i1 < b->ne[1]; i1++)
                for (int64_t i0 = 0; i0 < b->ne[0]; i0++)
                    if ((size_t)(i0 * 4 + i1 * p[0] + i2 * p[1] + i3 * p[2] +
                                 p[3]) == offset) {
                        *value = at(b, i0, i1, i2, i3);
                        return true;
                    }
    return false;
}

static double
part_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3)
{
    const size_t offset =
        (size_t)(place(node, i0, i1, i2, i3) - (const char *)node->data);
    double value;

    if (!find_in_part(node, offset, &value))
        return at(node->src[0], i0, i1, i2, i3);
    return node->op == GGML_OP_SET
               ? value
               : at(node->src[0], i0, i1, i2, i3) + value;
}

static void
a_part_is_set_or_added_to(void **state)
{
    (void)state;
    for (int layout = DENSE; layout < N_LAYOUTS; layout++)
        for (int in_place = 0; in_place < 2; in_place++) {
            struct bench bench = bench_open();
            struct ggml_context *ctx = bench.ctx;
            struct ggml_tensor *a =
                tensor(&bench, GGML_TYPE_F32, DENSE, 12, 7, 5, 2);
            struct ggml_tensor *b =
                tensor(&bench, GGML_TYPE_F32, layout, 5, 4, 2, 2);
            const size_t *nb = a->nb;
            const size_t offset = nb[2] + 2 * nb[1] + 3 * nb[0];

            check(&bench,
                  in_place ? ggml_set_inplace(ctx, a, b, nb[1], nb[2], nb[3],
                                              offset)
                           : ggml_set(ctx, a, b, nb[1], nb[2], nb[3], offset),
                  part_reference, 0.0);
            check(&bench,
                  in_place ? ggml_acc_inplace(ctx, a, b, nb[1], nb[2], nb[3],
                                              offset)
                           : ggml_acc(ctx, a, b, nb[1], nb[2], nb[3], offset),
                  part_reference, 1e-13);
            bench_close(&bench);
        }
}

/* With a stride of 0 all rows are the same one: they are added one by one. */
static void
rows_of_a_part_may_lie_over_each_other(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a =
        tensor(&bench, GGML_TYPE_F32, DENSE, 20000, 4, 1, 1);
    struct ggml_tensor *b =
        tensor(&bench, GGML_TYPE_F32, DENSE, 20000, 3, 1, 1);
    struct ggml_tensor *node =
        ggml_acc(bench.ctx, a, b, a->nb[1], a->nb[2], a->nb[3], 0);
    float want[8];

    (void)state;
    assert_int_equal(gb_cpu_op_find(node)->tiles(node), 3);
    node->op_params[0] = 0;
    assert_int_equal(gb_cpu_op_find(node)->tiles(node), 1);
    for (int64_t i = 0; i < 8; i++)
        want[i] = (float)at(a, i, 0, 0, 0) + (float)at(b, i, 0, 0, 0) +
                  (float)at(b, i, 1, 0, 0) + (float)at(b, i, 2, 0, 0);
    assert_true(can_run(node));
    assert_int_equal(compute(node, gb_cpu_kernels_all()[0], true),
                     GGML_STATUS_SUCCESS);
    for (int64_t i = 0; i < 8; i++)
        assert_true(((float *)node->data)[i] == want[i]);
    bench_close(&bench);
}

static void
a_part_that_leaves_the_tensor_is_refused(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 8, 4, 1, 1);
    struct ggml_tensor *b = tensor(&bench, GGML_TYPE_F32, DENSE, 8, 3, 1, 1);
    struct ggml_tensor *node =
        ggml_set(bench.ctx, a, b, a->nb[1], a->nb[2], a->nb[3], a->nb[1]);

    (void)state;
    assert_true(can_run(node));
    node->op_params[3] += 4;
    assert_false(can_run(node));
    node->op_params[3] = -4;
    assert_false(can_run(node));
    bench_close(&bench);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeating_and_adding_up),
        cmocka_unit_test(one_behind_another_along_each_dimension),
        cmocka_unit_test(padding_mirroring_and_scaling_up),
        cmocka_unit_test(diagonals_and_their_masks),
        cmocka_unit_test(a_part_is_set_or_added_to),
        cmocka_unit_test(rows_of_a_part_may_lie_over_each_other),
        cmocka_unit_test(a_part_that_leaves_the_tensor_is_refused),
    };

    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
