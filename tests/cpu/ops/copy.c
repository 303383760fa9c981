/* SPDX-License-Identifier: MIT */
/*
 * Copies: every conversion, between any shapes and strides.
 */
#include "tests/cpu/ops/driver.h"

/* The element of src0 with the same number in index order, as its type and the
 * node's have it. */
static double
copy_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    int64_t i =
        i0 + node->ne[0] * (i1 + node->ne[1] * (i2 + node->ne[2] * i3));
    const int64_t j0 = i % a->ne[0];
    const int64_t j1 = (i /= a->ne[0]) % a->ne[1];
    const int64_t j2 = (i /= a->ne[1]) % a->ne[2];
    const double x = at(a, j0, j1, j2, i / a->ne[2]);

    switch ((int)node->type) {
    case GGML_TYPE_F16:
        return ggml_fp16_to_fp32(ggml_fp32_to_fp16((float)x));
    case GGML_TYPE_BF16:
        return ggml_bf16_to_fp32(ggml_fp32_to_bf16((float)x));
    default:
        return x;
    }
}

static void
copy_one(enum ggml_type from, int from_layout, const int64_t a[4],
         enum ggml_type to, int to_layout, const int64_t d[4], double nmse)
{
    struct bench bench = bench_open();
    struct ggml_tensor *src =
        tensor(&bench, from, from_layout, a[0], a[1], a[2], a[3]);
    struct ggml_tensor *dst =
        tensor(&bench, to, to_layout, d[0], d[1], d[2], d[3]);

    check(&bench, ggml_cpy(bench.ctx, src, dst), copy_reference, nmse);
    bench_close(&bench);
}

static void
floats_between_all_layouts(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_BF16 };
    static const int64_t shape[] = { 37, 18, 3, 2 };

    (void)state;
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++)
            for (int fl = 0; fl < N_LAYOUTS; fl++)
                for (int tl = 0; tl < N_LAYOUTS; tl++)
                    copy_one(types[from], fl, shape, types[to], tl, shape,
                             0.0);
}

static void
shapes_may_differ(void **state)
{
    static const int64_t shapes[][4] = {
        { 24, 10, 3, 2 }, { 1440, 1, 1, 1 }, { 10, 144, 1, 1 },
        { 5, 6, 4, 12 },  { 1, 1, 1440, 1 },
    };

    (void)state;
    for (int from = 0; from < 5; from++)
        for (int to = 0; to < 5; to++)
            for (int layout = 0; layout < N_LAYOUTS; layout++)
                copy_one(GGML_TYPE_F32, layout, shapes[from], GGML_TYPE_F16,
                         N_LAYOUTS - 1 - layout, shapes[to], 0.0);
}

static void
large_copies_are_cut_into_tiles(void **state)
{
    static const int64_t a[] = { 1000, 51, 1, 1 };
    static const int64_t d[] = { 51, 1000, 1, 1 };

    (void)state;
    copy_one(GGML_TYPE_F32, PADDED, a, GGML_TYPE_F16, PADDED, d, 0.0);
    copy_one(GGML_TYPE_F32, TRANSPOSED, a, GGML_TYPE_F32, DENSE, a, 0.0);
}

static void
every_plain_type_is_copied_as_it_is(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_I8, GGML_TYPE_I16,
                                            GGML_TYPE_I32, GGML_TYPE_I64,
                                            GGML_TYPE_F64 };

    (void)state;
    for (int t = 0; t < 5; t++)
        for (int layout = DENSE; layout < N_LAYOUTS; layout++) {
            struct bench bench = bench_open();
            struct ggml_tensor *a =
                tensor(&bench, types[t], layout, 33, 17, 2, 2);

            fill(&bench, a, -100.0, 100.0);
            check(&bench, ggml_cont(bench.ctx, a), copy_reference, 0.0);
            bench_close(&bench);
        }
}

/* What the row quantiser makes of the floats, block for block. */
static void
check_quantised(enum ggml_type from, enum ggml_type to)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, from, PADDED, 512, 3, 2, 1);
    struct ggml_tensor *d = tensor(&bench, to, DENSE, 512, 6, 1, 1);
    struct ggml_tensor *node = ggml_cpy(bench.ctx, a, d);
    char want[512 * 4 + 64];
    float row[512];

    assert_true(can_run(node));
    assert_int_equal(compute(node, gb_cpu_kernels(), false),
                     GGML_STATUS_SUCCESS);
    for (int64_t r = 0; r < 6; r++) {
        for (int64_t i = 0; i < 512; i++)
            row[i] = (float)at(a, i, r % 3, r / 3, 0);
        ggml_get_type_traits_cpu(to)->from_float(row, want, 512);
        if (memcmp(want, (char *)d->data + (size_t)r * d->nb[1],
                   ggml_row_size(to, 512)) != 0)
            fail_msg("%s to %s: row %d differs", ggml_type_name(from),
                     ggml_type_name(to), (int)r);
    }
    bench_close(&bench);
}

static void
every_quantised_type_is_written_and_read(void **state)
{
    (void)state;
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        static const int64_t shape[] = { 512, 3, 2, 1 };
        static const int64_t flat[] = { 3072, 1, 1, 1 };

        if (!ggml_is_quantized(t))
            continue;
        if (ggml_get_type_traits_cpu(t)->from_float != NULL) {
            check_quantised(GGML_TYPE_F32, t);
            check_quantised(GGML_TYPE_F16, t);
            check_quantised(GGML_TYPE_BF16, t);
        }
        if (ggml_get_type_traits(t)->to_float == NULL)
            continue;
        copy_one(t, PADDED, shape, GGML_TYPE_F32, PADDED, shape, 0.0);
        copy_one(t, DENSE, shape, GGML_TYPE_F32, DENSE, flat, 0.0);
        copy_one(t, PADDED, shape, t, DENSE, shape, 0.0);
        copy_one(t, PERMUTED, shape, t, PADDED, shape, 0.0);
    }
}

static void
duplicates_are_copies(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F16, PERMUTED, 7, 5, 3, 2);

    (void)state;
    check(&bench, ggml_dup(bench.ctx, a), copy_reference, 0.0);
    check(&bench, ggml_dup_inplace(bench.ctx, a), copy_reference, 0.0);
    check(&bench, ggml_cast(bench.ctx, a, GGML_TYPE_F32), copy_reference, 0.0);
    bench_close(&bench);
}

static void
what_is_not_computed_is_refused(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *floats =
        tensor(&bench, GGML_TYPE_F32, DENSE, 256, 2, 1, 1);
    struct ggml_tensor *strided =
        tensor(&bench, GGML_TYPE_F32, TRANSPOSED, 256, 2, 1, 1);
    struct ggml_tensor *ints =
        tensor(&bench, GGML_TYPE_I32, DENSE, 256, 2, 1, 1);
    struct ggml_tensor *blocks =
        tensor(&bench, GGML_TYPE_Q8_0, DENSE, 256, 2, 1, 1);
    struct ggml_tensor *iq2 = ggml_new_tensor_2d(
        bench.ctx, GGML_TYPE_IQ2_XXS, 256, 2);

    (void)state;
    assert_false(can_run(ggml_cpy(bench.ctx, floats, iq2)));
    assert_false(can_run(ggml_cpy(bench.ctx, strided, blocks)));
    assert_false(can_run(ggml_cpy(bench.ctx, ints, floats)));
    assert_false(can_run(ggml_cpy(bench.ctx, blocks, ints)));
    assert_false(
        can_run(ggml_cast(bench.ctx, blocks, GGML_TYPE_F16)));
    assert_true(can_run(ggml_cpy(bench.ctx, floats, blocks)));
    bench_close(&bench);
}

static void
nothing_is_copied_from_nothing(void **state)
{
    static const int64_t shape[] = { 4, 0, 3, 1 };

    (void)state;
    copy_one(GGML_TYPE_F32, DENSE, shape, GGML_TYPE_F16, DENSE, shape, 0.0);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_between_all_layouts),
        cmocka_unit_test(shapes_may_differ),
        cmocka_unit_test(large_copies_are_cut_into_tiles),
        cmocka_unit_test(every_plain_type_is_copied_as_it_is),
        cmocka_unit_test(every_quantised_type_is_written_and_read),
        cmocka_unit_test(duplicates_are_copies),
        cmocka_unit_test(what_is_not_computed_is_refused),
        cmocka_unit_test(nothing_is_copied_from_nothing),
    };

    return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
