/* SPDX-License-Identifier: MIT */
/*
 * tests/op/copy.c - builders of copies, rows, reductions and other sizes.
 */
#include "tests/op/node.h"

#include <math.h>

static void
dup_has_as_type_and_shape(void **state)
{
    struct ggml_tensor *a = leaf(GGML_TYPE_Q4_0, 64, 6, 4, 2);
    const struct want want = { .op = GGML_OP_DUP,
                               .type = GGML_TYPE_Q4_0,
                               .ne = { 64, 6, 4, 2 },
                               .src = { a } };

    (void)state;
    check_new(ggml_dup(world.ctx, a), &want);
    check_inplace(ggml_dup_inplace(world.ctx, a), &want);
}

static void
cpy_is_a_view_of_its_target(void **state)
{
    struct ggml_tensor *a = named(f32(8, 6, 4, 2), "from");
    struct ggml_tensor *b = leaf(GGML_TYPE_F16, 48, 8, 1, 1);
    struct want want = { .op = GGML_OP_CPY,
                         .type = GGML_TYPE_F16,
                         .ne = { 48, 8, 1, 1 },
                         .src = { a, b },
                         .name = "from (copy)" };

    (void)state;
    check_view(ggml_cpy(world.ctx, a, b), &want, b, b->nb, 0);
    named(b, "to");
    want.name = "to (copy of from)";
    check_view(ggml_cpy(world.ctx, a, b), &want, b, b->nb, 0);
    check_refused(ggml_cpy(world.ctx, a, f32(48, 7, 1, 1)), "cpy");
    check_refused(ggml_cpy(world.ctx, a, f32(0, 7, 1, 1)), "cpy");
}

static void
cast_copies_to_itself(void **state)
{
    struct ggml_tensor *a = named(f32(64, 6, 4, 2), "from");
    struct ggml_tensor *node = ggml_cast(world.ctx, a, GGML_TYPE_Q8_0);

    (void)state;
    check_new(node, &(struct want){ .op = GGML_OP_CPY,
                                    .type = GGML_TYPE_Q8_0,
                                    .ne = { 64, 6, 4, 2 },
                                    .src = { a, node },
                                    .name = "from (copy)" });
    check_refused(ggml_cast(world.ctx, a, (enum ggml_type)31), "cpy");
    check_refused(ggml_cast(world.ctx, a, (enum ggml_type)-1), "cpy");
    check_refused(ggml_cast(world.ctx, a, GGML_TYPE_Q6_K), "cpy");
}

static void
cont_takes_shapes_of_as_many_elements(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = named(f32(8, 6, 4, 2), "a");
    struct ggml_tensor *turned = named(ggml_transpose(ctx, a), "t");
    struct want want = { .op = GGML_OP_CONT,
                         .ne = { 6, 8, 4, 2 },
                         .src = { turned },
                         .name = "t (cont)" };

    (void)state;
    check_new(ggml_cont(ctx, turned), &want);
    memcpy(want.ne, (int64_t[]){ 384, 1, 1, 1 }, sizeof(want.ne));
    check_new(ggml_cont_1d(ctx, turned, 384), &want);
    memcpy(want.ne, (int64_t[]){ 16, 24, 1, 1 }, sizeof(want.ne));
    check_new(ggml_cont_2d(ctx, turned, 16, 24), &want);
    memcpy(want.ne, (int64_t[]){ 16, 12, 2, 1 }, sizeof(want.ne));
    check_new(ggml_cont_3d(ctx, turned, 16, 12, 2), &want);
    memcpy(want.ne, (int64_t[]){ 16, 3, 4, 2 }, sizeof(want.ne));
    check_new(ggml_cont_4d(ctx, turned, 16, 3, 4, 2), &want);
    check_refused(ggml_cont_1d(ctx, a, 383), "cont");
    check_refused(ggml_cont_2d(ctx, a, -16, -24), "cont");
    check_refused(ggml_cont_3d(ctx, a, (int64_t)1 << 40, (int64_t)1 << 40, 1),
                  "cont");
    check_refused(ggml_cont_4d(ctx, a, 0, 1, 1, 1), "cont");
}

static void
concat_adds_one_dimension_up(void **state)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = f32(8, 6, 3, 2);
    struct ggml_tensor *huge = f32(0, 6, LARGEST / 4 - 1, 1);

    (void)state;
    check_new(ggml_concat(world.ctx, a, b, 2),
              &(struct want){ .op = GGML_OP_CONCAT,
                              .ne = { 8, 6, 7, 2 },
                              .src = { a, b },
                              .params = { 2 } });
    check_refused(ggml_concat(world.ctx, a, b, 1), "concat");
    check_refused(ggml_concat(world.ctx, a, b, -1), "concat");
    check_refused(ggml_concat(world.ctx, a, b, 4), "concat");
    check_refused(
        ggml_concat(world.ctx, a, leaf(GGML_TYPE_I32, 8, 6, 4, 2), 0),
        "concat");
    if (!gb_tensor_is_failed(huge))
        for (int i = 0; i < 8; i++)
            huge = ggml_concat(world.ctx, huge, huge, 2);
    assert_true(gb_tensor_is_failed(huge));
}

static void
repeat_and_its_gradient_lend_a_shape(void **state)
{
    struct ggml_tensor *small = leaf(GGML_TYPE_I32, 4, 1, 2, 1);
    struct ggml_tensor *large = f32(8, 6, 4, 2);

    (void)state;
    check_new(ggml_repeat(world.ctx, small, large),
              &(struct want){ .op = GGML_OP_REPEAT,
                              .type = GGML_TYPE_I32,
                              .ne = { 8, 6, 4, 2 },
                              .src = { small } });
    check_new(ggml_repeat_back(world.ctx, large, small),
              &(struct want){ .op = GGML_OP_REPEAT_BACK,
                              .ne = { 4, 1, 2, 1 },
                              .src = { large } });
    check_refused(ggml_repeat(world.ctx, large, small), "repeat");
    check_refused(ggml_repeat_back(world.ctx, small, large), "repeat_back");
    check_refused(ggml_repeat(world.ctx, f32(0, 1, 1, 1), large), "repeat");
}

static void
reductions_have_one_element_or_one_a_row(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *h = leaf(GGML_TYPE_F16, 8, 6, 4, 2);
    struct ggml_tensor *m = f32(8, 6, 1, 1), *none = f32(0, 6, 1, 1);
    struct ggml_tensor *wide =
        leaf(GGML_TYPE_I8, (int64_t)INT32_MAX + 1, 0, 1, 1);

    (void)state;
    check_new(ggml_sum(ctx, h), &(struct want){ .op = GGML_OP_SUM,
                                                .type = GGML_TYPE_F16,
                                                .ne = { 1, 1, 1, 1 },
                                                .src = { h } });
    check_new(ggml_sum(ctx, none), &(struct want){ .op = GGML_OP_SUM,
                                                   .ne = { 1, 1, 1, 1 },
                                                   .src = { none } });
    check_new(ggml_sum_rows(ctx, h), &(struct want){ .op = GGML_OP_SUM_ROWS,
                                                     .type = GGML_TYPE_F16,
                                                     .ne = { 1, 6, 4, 2 },
                                                     .src = { h } });
    check_new(ggml_mean(ctx, h), &(struct want){ .op = GGML_OP_MEAN,
                                                 .ne = { 1, 6, 4, 2 },
                                                 .src = { h } });
    check_new(ggml_argmax(ctx, m), &(struct want){ .op = GGML_OP_ARGMAX,
                                                   .type = GGML_TYPE_I32,
                                                   .ne = { 6, 1, 1, 1 },
                                                   .src = { m } });
    check_refused(ggml_argmax(ctx, h), "argmax");
    check_refused(ggml_argmax(ctx, wide), "argmax");
    check_new(ggml_count_equal(ctx, m, m),
              &(struct want){ .op = GGML_OP_COUNT_EQUAL,
                              .type = GGML_TYPE_I64,
                              .ne = { 1, 1, 1, 1 },
                              .src = { m, m } });
    check_refused(ggml_count_equal(ctx, m, h), "count_equal");
}

static void
orders_are_i32_of_as_shape(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *top;
    struct ggml_tensor *wide =
        leaf(GGML_TYPE_I8, (int64_t)INT32_MAX + 1, 0, 1, 1);
    struct want want = { .op = GGML_OP_ARGSORT,
                         .type = GGML_TYPE_I32,
                         .ne = { 8, 6, 4, 2 },
                         .src = { a } };

    (void)state;
    check_new(ggml_argsort(ctx, a, GGML_SORT_ORDER_ASC), &want);
    want.params[0] = 1;
    check_new(ggml_argsort(ctx, a, GGML_SORT_ORDER_DESC), &want);
    top = ggml_top_k(ctx, a, 3);
    check_new(top->src[0], &want);
    check_view(top,
               &(struct want){ .op = GGML_OP_VIEW,
                               .type = GGML_TYPE_I32,
                               .ne = { 3, 6, 4, 2 },
                               .src = { top->src[0] },
                               .name = " (view)" },
               top->src[0], top->src[0]->nb, 0);
    check_refused(ggml_argsort(ctx, a, (enum ggml_sort_order)2), "argsort");
    check_refused(ggml_argsort(ctx, wide, GGML_SORT_ORDER_ASC), "argsort");
    check_refused(ggml_top_k(ctx, a, 9), "top_k");
    check_refused(ggml_top_k(ctx, a, -1), "top_k");
    check_refused(ggml_top_k(ctx, wide, 1), "argsort");
}

static void
get_rows_numbers_rows_of_each_plane(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_Q8_0, 64, 6, 4, 2);
    struct ggml_tensor *i = leaf(GGML_TYPE_I32, 5, 4, 2, 1);
    struct ggml_tensor *n = leaf(GGML_TYPE_I32, 64, 6, 4, 2);

    (void)state;
    check_new(ggml_get_rows(ctx, a, i), &(struct want){ .op = GGML_OP_GET_ROWS,
                                                        .ne = { 64, 5, 4, 2 },
                                                        .src = { a, i } });
    check_new(ggml_get_rows(ctx, n, i), &(struct want){ .op = GGML_OP_GET_ROWS,
                                                        .type = GGML_TYPE_I32,
                                                        .ne = { 64, 5, 4, 2 },
                                                        .src = { n, i } });
    check_refused(ggml_get_rows(ctx, a, f32(5, 4, 2, 1)), "get_rows");
    check_refused(ggml_get_rows(ctx, a, leaf(GGML_TYPE_I32, 5, 3, 2, 1)),
                  "get_rows");
    check_refused(ggml_get_rows(ctx, a, leaf(GGML_TYPE_I32, 5, 4, 1, 1)),
                  "get_rows");
    check_refused(ggml_get_rows(ctx, a, leaf(GGML_TYPE_I32, 5, 4, 2, 2)),
                  "get_rows");
}

static void
get_rows_back_adds_to_the_rows_of_c(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_F16, 8, 6, 1, 1);
    struct ggml_tensor *b = leaf(GGML_TYPE_I32, 6, 1, 1, 1);
    struct ggml_tensor *c = f32(8, 20, 1, 1);

    (void)state;
    check_new(ggml_get_rows_back(ctx, a, b, c),
              &(struct want){ .op = GGML_OP_GET_ROWS_BACK,
                              .ne = { 8, 20, 1, 1 },
                              .src = { a, b } });
    check_refused(ggml_get_rows_back(ctx, f32(8, 6, 2, 1), b, c),
                  "get_rows_back");
    check_refused(ggml_get_rows_back(ctx, f32(8, 5, 1, 1), b, c),
                  "get_rows_back");
    check_refused(ggml_get_rows_back(ctx, a, f32(6, 1, 1, 1), c),
                  "get_rows_back");
    check_refused(
        ggml_get_rows_back(ctx, a, leaf(GGML_TYPE_I32, 3, 2, 1, 1), c),
        "get_rows_back");
    check_refused(ggml_get_rows_back(ctx, a, b, f32(7, 20, 1, 1)),
                  "get_rows_back");
    check_refused(ggml_get_rows_back(ctx, a, b, f32(8, 20, 2, 1)),
                  "get_rows_back");
}

static void
diagonals_and_masks(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *row = f32(8, 1, 4, 2), *a = f32(8, 6, 4, 2);
    struct want want = { .op = GGML_OP_DIAG_MASK_INF,
                         .ne = { 8, 6, 4, 2 },
                         .src = { a },
                         .params = { 3 } };

    (void)state;
    check_new(ggml_diag(ctx, row), &(struct want){ .op = GGML_OP_DIAG,
                                                   .ne = { 8, 8, 4, 2 },
                                                   .src = { row } });
    check_refused(ggml_diag(ctx, a), "diag");
    check_new(ggml_diag_mask_inf(ctx, a, 3), &want);
    check_inplace(ggml_diag_mask_inf_inplace(ctx, a, 3), &want);
    check_refused(ggml_diag_mask_inf(ctx, a, -1), "diag_mask_inf");
    want.op = GGML_OP_DIAG_MASK_ZERO;
    check_new(ggml_diag_mask_zero(ctx, a, 3), &want);
    check_inplace(ggml_diag_mask_zero_inplace(ctx, a, 3), &want);
    check_refused(ggml_diag_mask_zero_inplace(ctx, a, -1), "diag_mask_zero");
}

static void
upscale_never_shrinks(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    struct want want = { .op = GGML_OP_UPSCALE,
                         .ne = { 24, 18, 4, 2 },
                         .src = { a } };

    (void)state;
    check_new(ggml_upscale(ctx, a, 3), &want);
    memcpy(want.ne, (int64_t[]){ 9, 7, 5, 2 }, sizeof(want.ne));
    check_new(ggml_upscale_ext(ctx, a, 9, 7, 5, 2), &want);
    check_refused(ggml_upscale(ctx, a, 0), "upscale");
    check_refused(ggml_upscale(ctx, a, -2), "upscale");
    check_refused(ggml_upscale_ext(ctx, a, 9, 7, 5, 1), "upscale");
    check_refused(ggml_upscale_ext(ctx, f32(0, 1, 1, 1), 1, 1, 1, 1),
                  "upscale");
    check_refused(
        ggml_upscale(ctx, leaf(GGML_TYPE_I8, LARGEST >> 2 * sizeof(size_t), 0,
                               1, 1),
                     INT32_MAX),
        "upscale");
}

static void
pad_adds_to_each_dimension(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2);

    (void)state;
    check_new(ggml_pad(ctx, a, 1, 2, 0, 4),
              &(struct want){ .op = GGML_OP_PAD,
                              .ne = { 9, 8, 4, 6 },
                              .src = { a } });
    check_refused(ggml_pad(ctx, a, 0, 0, -1, 0), "pad");
    check_refused(ggml_pad(ctx, leaf(GGML_TYPE_I8, 1, 1, 1 << 30, 0), INT32_MAX,
                           INT32_MAX, INT32_MAX, INT32_MAX),
                  "pad");
}

static void
pad_reflect_needs_what_it_mirrors(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2);

    (void)state;
    check_new(ggml_pad_reflect_1d(ctx, a, 7, 2),
              &(struct want){ .op = GGML_OP_PAD_REFLECT_1D,
                              .ne = { 17, 6, 4, 2 },
                              .src = { a },
                              .params = { 7, 2 } });
    check_refused(ggml_pad_reflect_1d(ctx, a, 8, 2), "pad_reflect_1d");
    check_refused(ggml_pad_reflect_1d(ctx, a, 2, 8), "pad_reflect_1d");
    check_refused(ggml_pad_reflect_1d(ctx, a, -1, 0), "pad_reflect_1d");
    check_refused(ggml_pad_reflect_1d(ctx, a, 0, -1), "pad_reflect_1d");
    check_refused(
        ggml_pad_reflect_1d(ctx, leaf(GGML_TYPE_F16, 8, 6, 4, 2), 1, 1),
        "pad_reflect_1d");
    check_refused(ggml_pad_reflect_1d(ctx, ggml_transpose(ctx, a), 1, 1),
                  "pad_reflect_1d");
}

static void
arange_counts_up(void **state)
{
    struct ggml_context *ctx = world.ctx;

    (void)state;
    check_new(ggml_arange(ctx, 1.0f, 10.0f, 2.5f),
              &(struct want){
                  .op = GGML_OP_ARANGE,
                  .ne = { 4, 1, 1, 1 },
                  .params = { bits(1.0f), bits(10.0f), bits(2.5f) } });
    check_refused(ggml_arange(ctx, 1.0f, 1.0f, 1.0f), "arange");
    check_refused(ggml_arange(ctx, 2.0f, 1.0f, -1.0f), "arange");
    check_refused(ggml_arange(ctx, 1.0f, 2.0f, 0.0f), "arange");
    check_refused(ggml_arange(ctx, 1.0f, 2.0f, -1.0f), "arange");
    check_refused(ggml_arange(ctx, 0.0f, 1e30f, 1e-30f), "arange");
    check_refused(ggml_arange(ctx, 0.0f, 5e18f, 1.0f), "arange");
    check_refused(ggml_arange(ctx, 0.0f, INFINITY, 1.0f), "arange");
    check_refused(ggml_arange(ctx, 0.0f, NAN, 1.0f), "arange");
    check_refused(ggml_arange(ctx, 0.0f, 1.0f, NAN), "arange");
    assert_null(ggml_arange(NULL, 0.0f, 1.0f, 1.0f));
}

static void
timestep_embedding_rounds_up_to_even(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(7, 1, 1, 1);
    struct want want = { .op = GGML_OP_TIMESTEP_EMBEDDING,
                         .ne = { 10, 7, 1, 1 },
                         .src = { a },
                         .params = { 9, 1000 } };

    (void)state;
    check_new(ggml_timestep_embedding(ctx, a, 9, 1000), &want);
    want.params[0] = 10;
    check_new(ggml_timestep_embedding(ctx, a, 10, 1000), &want);
    check_refused(ggml_timestep_embedding(ctx, a, -1, 1000),
                  "timestep_embedding");
    check_refused(ggml_timestep_embedding(ctx, a, 8, 0), "timestep_embedding");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(dup_has_as_type_and_shape),
        TEST(cpy_is_a_view_of_its_target),
        TEST(cast_copies_to_itself),
        TEST(cont_takes_shapes_of_as_many_elements),
        TEST(concat_adds_one_dimension_up),
        TEST(repeat_and_its_gradient_lend_a_shape),
        TEST(reductions_have_one_element_or_one_a_row),
        TEST(orders_are_i32_of_as_shape),
        TEST(get_rows_numbers_rows_of_each_plane),
        TEST(get_rows_back_adds_to_the_rows_of_c),
        TEST(diagonals_and_masks),
        TEST(upscale_never_shrinks),
        TEST(pad_adds_to_each_dimension),
        TEST(pad_reflect_needs_what_it_mirrors),
        TEST(arange_counts_up),
        TEST(timestep_embedding_rounds_up_to_even),
    };

    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
