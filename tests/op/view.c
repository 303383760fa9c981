/* SPDX-License-Identifier: MIT */
/*
 * tests/op/view.c - builders of nodes that see data in another shape.
 */
#include "tests/op/node.h"

/* A node's parameters with OFFSET as the bytes in front. */
static struct want
with_offset(struct want want, size_t offset)
{
    memcpy(want.params, &offset, sizeof(offset));
    return want;
}

static void
reshape_keeps_data_and_count(void **state)
{
    static const struct {
        int n_dims;
        int64_t ne[GGML_MAX_DIMS];
        size_t nb[GGML_MAX_DIMS];
    } cases[] = {
        { 1, { 384, 1, 1, 1 }, { 4, 1536, 1536, 1536 } },
        { 2, { 48, 8, 1, 1 }, { 4, 192, 1536, 1536 } },
        { 3, { 48, 4, 2, 1 }, { 4, 192, 768, 1536 } },
        { 4, { 2, 24, 4, 2 }, { 4, 8, 192, 768 } },
    };
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = named(f32(8, 6, 4, 2), "a");

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t *const ne = cases[i].ne;
        struct ggml_tensor *like = leaf(GGML_TYPE_I8, ne[0], ne[1], ne[2],
                                        ne[3]);
        struct ggml_tensor *node =
            i == 0   ? ggml_reshape_1d(ctx, a, ne[0])
            : i == 1 ? ggml_reshape_2d(ctx, a, ne[0], ne[1])
            : i == 2 ? ggml_reshape_3d(ctx, a, ne[0], ne[1], ne[2])
                     : ggml_reshape_4d(ctx, a, ne[0], ne[1], ne[2], ne[3]);
        struct want want = { .op = GGML_OP_RESHAPE,
                             .src = { a },
                             .name = "a (reshaped)" };

        memcpy(want.ne, ne, sizeof(want.ne));
        check_view(node, &want, a, cases[i].nb, 0);
        check_view(ggml_reshape(ctx, a, like), &want, a, cases[i].nb, 0);
        check_view(ggml_reshape(ctx, a, ggml_transpose(ctx, like)),
                   &(struct want){ .op = GGML_OP_RESHAPE,
                                   .ne = { ne[1], ne[0], ne[2], ne[3] },
                                   .src = { a },
                                   .name = "a (reshaped)" },
                   a,
                   (const size_t[]){ 4, (size_t)ne[1] * 4,
                                     (size_t)(ne[1] * ne[0]) * 4,
                                     (size_t)(ne[1] * ne[0] * ne[2]) * 4 },
                   0);
    }
    check_refused(ggml_reshape_1d(ctx, a, 383), "reshape");
    check_refused(ggml_reshape_2d(ctx, a, -48, -8), "reshape");
    check_refused(ggml_reshape_3d(ctx, a, (int64_t)1 << 62, 4, 1), "reshape");
    check_refused(ggml_reshape_4d(ctx, ggml_transpose(ctx, a), 8, 6, 4, 2),
                  "reshape");
    check_refused(ggml_reshape(ctx, a, f32(8, 6, 4, 1)), "reshape");
    check_refused(
        ggml_reshape_1d(ctx, ggml_view_2d(ctx, a, 4, 6, a->nb[1], 0), 24),
        "reshape");
}

static void
views_have_strides_and_offset(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = named(f32(8, 6, 4, 2), "a");
    struct want want = { .op = GGML_OP_VIEW,
                         .ne = { 10, 1, 1, 1 },
                         .src = { a },
                         .name = "a (view)" };

    (void)state;
    want = with_offset(want, 20);
    check_view(ggml_view_1d(ctx, a, 10, 20), &want, a,
               (const size_t[]){ 4, 40, 40, 40 }, 20);
    want.ne[0] = 3;
    want.ne[1] = 4;
    check_view(ggml_view_2d(ctx, a, 3, 4, 32, 20), &want, a,
               (const size_t[]){ 4, 32, 128, 128 }, 20);
    want.ne[2] = 2;
    check_view(ggml_view_3d(ctx, a, 3, 4, 2, 32, 192, 20), &want, a,
               (const size_t[]){ 4, 32, 192, 384 }, 20);
    want.ne[3] = 2;
    check_view(ggml_view_4d(ctx, a, 3, 4, 2, 2, 32, 192, 768, 20), &want, a,
               (const size_t[]){ 4, 32, 192, 768 }, 20);
}

static void
a_view_of_a_view_is_one_of_its_root(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    struct ggml_tensor *part = named(ggml_view_1d(ctx, a, 10, 20), "part");
    const struct want want = { .op = GGML_OP_VIEW,
                               .ne = { 3, 1, 1, 1 },
                               .src = { part },
                               .name = "part (view)" };
    const struct want wanted = with_offset(want, 8);

    (void)state;
    check_view(ggml_view_1d(ctx, part, 3, 8), &wanted, a,
               (const size_t[]){ 4, 12, 12, 12 }, 28);
}

static void
views_count_blocks_of_quantised_types(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *q = leaf(GGML_TYPE_Q8_0, 64, 6, 1, 1);
    const struct want want = { .op = GGML_OP_VIEW,
                               .type = GGML_TYPE_Q8_0,
                               .ne = { 32, 6, 1, 1 },
                               .src = { q },
                               .name = " (view)" };
    const struct want wanted = with_offset(want, 34);

    (void)state;
    check_view(ggml_view_2d(ctx, q, 32, 6, 68, 34), &wanted, q,
               (const size_t[]){ 34, 68, 408, 408 }, 34);
    check_refused(ggml_view_2d(ctx, q, 32, 6, 68, 35), "view");
    check_refused(ggml_view_2d(ctx, q, 33, 6, 68, 0), "view");
    check_refused(ggml_view_1d(ctx, q, 16, 0), "view");
}

static void
views_of_numbers_step_by_numbers(void **state)
{
    struct ggml_context *ctx = world.ctx;

    (void)state;
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const enum ggml_type type = (enum ggml_type)i;
        const size_t bytes = ggml_type_size(type);
        struct ggml_tensor *a;

        if (ggml_blck_size(type) != 1)
            continue;
        a = leaf(type, 8, 6, 4, 3);
        assert_false(gb_tensor_is_failed(
            ggml_view_4d(ctx, a, 3, 2, 2, 2, 5 * bytes, 0, bytes, 7 * bytes)));
        assert_false(gb_tensor_is_failed(
            ggml_view_4d(ctx, a, 3, 1, 1, 1, 1, 3, 5, bytes)));
        assert_int_equal(world.n_messages, 0);
        if (bytes == 1)
            continue;
        check_refused(ggml_view_1d(ctx, a, 2, 1), "view");
        check_refused(ggml_view_1d(ctx, a, 2, bytes / 2), "view");
        check_refused(ggml_view_2d(ctx, a, 2, 2, bytes + 1, 0), "view");
        check_refused(ggml_view_3d(ctx, a, 2, 2, 2, bytes, 3 * bytes / 2, 0),
                      "view");
        check_refused(ggml_view_4d(ctx, a, 2, 1, 1, 2, 0, 0, bytes / 2, 0),
                      "view");
    }
}

/* What does not begin and step by whole blocks, nothing could read. */
static void
views_of_blocks_step_by_blocks(void **state)
{
    struct ggml_context *ctx = world.ctx;

    (void)state;
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const enum ggml_type type = (enum ggml_type)i;
        const size_t block = ggml_type_size(type);
        const int64_t n = ggml_blck_size(type);
        struct ggml_tensor *q, *part;

        if (n <= 1)
            continue;
        q = leaf(type, 2 * n, 6, 4, 3);
        check_refused(ggml_view_1d(ctx, q, n, 1), "view");
        check_refused(ggml_view_1d(ctx, q, n, block - 1), "view");
        check_refused(ggml_view_2d(ctx, q, n, 2, block + 1, 0), "view");
        check_refused(ggml_view_2d(ctx, q, n, 2, 2 * block, 5), "view");
        check_refused(ggml_view_3d(ctx, q, n, 2, 2, q->nb[1], 7, 0), "view");
        check_refused(
            ggml_view_4d(ctx, q, n, 1, 1, 2, 0, 0, q->nb[2] + 1, 0), "view");
        assert_non_null(strstr(world.last, ggml_type_name(type)));

        part = ggml_view_3d(ctx, q, n, 3, 2, q->nb[1], q->nb[2], block);
        assert_false(gb_tensor_is_failed(part));
        check_refused(ggml_view_1d(ctx, part, n, 1), "view");
        assert_false(gb_tensor_is_failed(ggml_view_1d(ctx, part, n, block)));
        /* Rows that lie over one another, and rows in another order. */
        assert_false(gb_tensor_is_failed(
            ggml_view_2d(ctx, q, 2 * n, 3, block, 0)));
        assert_false(gb_tensor_is_failed(
            ggml_view_2d(ctx, q, n, 3, 0, block)));
        /* A stride that is never stepped over means nothing, and neither does
         * one of a view that has no elements. */
        assert_false(gb_tensor_is_failed(
            ggml_view_4d(ctx, q, n, 1, 1, 1, 5, 7, 9, block)));
        assert_false(gb_tensor_is_failed(
            ggml_view_2d(ctx, q, n, 0, 5, 3)));
        assert_int_equal(world.n_messages, 0);
    }
}

/* The blocks of a row cannot stand apart: only whole rows are reordered. */
static void
blocks_stay_in_their_row(void **state)
{
    static const int stay[][4] = {
        { 0, 1, 2, 3 }, { 0, 2, 1, 3 }, { 0, 3, 1, 2 }, { 0, 3, 2, 1 },
    };
    static const int move[][4] = {
        { 1, 0, 2, 3 }, { 2, 0, 1, 3 }, { 3, 2, 1, 0 }, { 1, 2, 0, 3 },
    };
    struct ggml_context *ctx = world.ctx;

    (void)state;
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const enum ggml_type type = (enum ggml_type)i;
        const int64_t n = ggml_blck_size(type);
        struct ggml_tensor *q, *none;

        if (n <= 1)
            continue;
        q = leaf(type, n, 4, 2, 3);
        none = leaf(type, n, 0, 2, 3);
        for (int j = 0; j < 4; j++) {
            struct ggml_tensor *node = ggml_permute(
                ctx, q, stay[j][0], stay[j][1], stay[j][2], stay[j][3]);

            assert_false(gb_tensor_is_failed(node));
            assert_false(gb_tensor_is_failed(ggml_cont(ctx, node)));
            assert_int_equal(node->ne[0], n);
            assert_int_equal(node->ne[stay[j][1]], 4);
            check_refused(ggml_permute(ctx, q, move[j][0], move[j][1],
                                       move[j][2], move[j][3]),
                          "permute");
            assert_false(gb_tensor_is_failed(
                ggml_permute(ctx, none, move[j][0], move[j][1], move[j][2],
                             move[j][3])));
        }
        check_refused(ggml_transpose(ctx, q), "transpose");
        assert_non_null(strstr(world.last, ggml_type_name(type)));
        assert_false(gb_tensor_is_failed(ggml_transpose(ctx, none)));
        check_refused(ggml_reshape_2d(ctx, q, n / 2, 48), "view of ''");
        assert_false(gb_tensor_is_failed(ggml_reshape_2d(ctx, q, 2 * n, 12)));
        assert_int_equal(world.n_messages, 0);
    }
}

static void
views_end_within_the_data(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    struct ggml_tensor *part = ggml_view_1d(ctx, a, 10, 1496);

    (void)state;
    assert_false(gb_tensor_is_failed(part));
    assert_false(gb_tensor_is_failed(ggml_view_1d(ctx, a, 384, 0)));
    assert_false(gb_tensor_is_failed(ggml_view_2d(ctx, a, 8, 2, 1504, 0)));
    check_refused(ggml_view_1d(ctx, a, 385, 0), "view");
    check_refused(ggml_view_1d(ctx, a, 384, 4), "view");
    check_refused(ggml_view_1d(ctx, a, 1, 1536), "view");
    check_refused(ggml_view_1d(ctx, a, 1, SIZE_MAX), "view");
    check_refused(ggml_view_1d(ctx, a, -1, 0), "view");
    check_refused(ggml_view_1d(ctx, a, INT64_MAX, 0), "view");
    check_refused(ggml_view_1d(ctx, part, 10, 4), "view");
    check_refused(ggml_view_2d(ctx, a, 8, 2, 1508, 0), "view");
    check_refused(ggml_view_2d(ctx, a, 8, 3, SIZE_MAX / 2, 0), "view");
    check_refused(ggml_view_2d(ctx, a, 1, -1, 4, 0), "view");
    check_refused(ggml_view_3d(ctx, a, 1, 1, 2, 4, 1536, 0), "view");
    check_refused(ggml_view_3d(ctx, a, 1, 1, INT64_MAX, 0, 0, 0), "view");
    check_refused(ggml_view_4d(ctx, a, 1, 1, 1, 2, 4, 4, SIZE_MAX, 0), "view");
    check_refused(ggml_view_4d(ctx, a, 8, 6, 4, 2, 32, 192, 772, 0), "view");
    /* Overlapping rows count as contiguous ones. */
    check_refused(ggml_view_2d(ctx, a, 200, 2, 4, 0), "view of ''");
}

static void
empty_views_may_lie_anywhere(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    const struct want want = { .op = GGML_OP_VIEW,
                               .ne = { 8, 0, 4, 1 },
                               .src = { a },
                               .name = " (view)" };
    const struct want wanted = with_offset(want, 5000);

    (void)state;
    check_view(ggml_view_3d(ctx, a, 8, 0, 4, 9000, 9000, 5000), &wanted, a,
               (const size_t[]){ 4, 9000, 9000, 36000 }, 5000);
}

static void
permute_moves_sizes_and_strides(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = named(f32(8, 6, 4, 2), "a");

    (void)state;
    check_view(ggml_permute(ctx, a, 2, 0, 1, 3),
               &(struct want){ .op = GGML_OP_PERMUTE,
                               .ne = { 6, 4, 8, 2 },
                               .src = { a },
                               .params = { 2, 0, 1, 3 },
                               .name = "a (permuted)" },
               a, (const size_t[]){ 32, 192, 4, 768 }, 0);
    check_refused(ggml_permute(ctx, a, 0, 0, 1, 2), "permute");
    check_refused(ggml_permute(ctx, a, 0, 1, 2, 4), "permute");
    check_refused(ggml_permute(ctx, a, -1, 1, 2, 3), "permute");
    check_refused(ggml_permute(ctx, a, 32, 1, 2, 3), "permute");
}

static void
permute_keeps_strides_above_4_gib(void **state)
{
    struct ggml_tensor *a;
    const struct ggml_tensor *node;

    (void)state;
    if (SIZE_MAX == UINT32_MAX) {
        print_message("sizes have 32 bits here: no tensor is as large\n");
        skip();
    }
    a = leaf(GGML_TYPE_I8, (int64_t)1 << 33, 2, 1, 1);
    node = ggml_permute(world.ctx, a, 1, 0, 2, 3);
    assert_true(node->nb[0] == UINT64_C(1) << 33);
    assert_int_equal(node->nb[1], 1);
    assert_int_equal(node->ne[1], (int64_t)1 << 33);
}

static void
transpose_exchanges_rows_and_columns(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = named(f32(8, 6, 4, 2), "a");
    struct ggml_tensor *part =
        named(ggml_view_2d(ctx, a, 3, 4, 32, 20), "part");

    (void)state;
    check_view(ggml_transpose(ctx, part),
               &(struct want){ .op = GGML_OP_TRANSPOSE,
                               .ne = { 4, 3, 1, 1 },
                               .src = { part },
                               .name = "part (transposed)" },
               a, (const size_t[]){ 32, 4, 128, 128 }, 20);
}

static void
names_are_cut_at_63_bytes(void **state)
{
    static const char sixty[] =
        "123456789.123456789.123456789.123456789.123456789.123456789.";
    struct ggml_tensor *a = named(f32(8, 6, 4, 2), sixty);

    (void)state;
    assert_string_equal(
        ggml_transpose(world.ctx, a)->name,
        "123456789.123456789.123456789.123456789.123456789.123456789. (t");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(reshape_keeps_data_and_count),
        TEST(views_have_strides_and_offset),
        TEST(a_view_of_a_view_is_one_of_its_root),
        TEST(views_count_blocks_of_quantised_types),
        TEST(views_of_numbers_step_by_numbers),
        TEST(views_of_blocks_step_by_blocks),
        TEST(blocks_stay_in_their_row),
        TEST(views_end_within_the_data),
        TEST(empty_views_may_lie_anywhere),
        TEST(permute_moves_sizes_and_strides),
        TEST(permute_keeps_strides_above_4_gib),
        TEST(transpose_exchanges_rows_and_columns),
        TEST(names_are_cut_at_63_bytes),
    };

    return cmocka_run_group_tests_name("views", tests, NULL, NULL);
}
