/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/parts.c - which bytes of operands the dispatches of a node show
 * where operands have more than a binding, without a device: tensors have
 * addresses, and no memory.
 */
#include "config.h"

#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/shaders/params-getrows.h"

#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GIB ((int64_t)1 << 30)

/* Nobody reads or writes there. */
static char *const addresses = (char *)0x100000000000;

/* Bindings of 128 MiB, as lavapipe has, and of 4 GiB. */
static const struct gb_vk_limits small = {
    .range = (size_t)128 << 20, .threads = 256
};
static const struct gb_vk_limits large = {
    .range = 0xfffffffcu, .threads = 256
};

/* ---- dispatches ---- */

enum { MAX_DISPATCHES = 8192, MAX_SHOWN = GB_VK_MAX_BINDINGS };

struct shown {
    int64_t begin, size; /* from the operand's own first byte */
    int64_t ne[GGML_MAX_DIMS];
    bool is_written;
};

struct dispatch {
    struct shown shown[MAX_SHOWN];
    struct gb_vk_get_rows_params params; /* or others */
};

static struct {
    struct gb_vk_emit emit;
    const struct ggml_tensor *node;
    struct dispatch list[MAX_DISPATCHES];
    int n;
} record;

/* The operand that T is, or a part of it: each has addresses of its own. */
static const struct ggml_tensor *
operand_of(const struct ggml_tensor *t)
{
    const struct ggml_tensor *node = record.node;
    const uintptr_t place = (uintptr_t)t->data >> 40;

    if ((uintptr_t)node->data >> 40 == place)
        return node;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != NULL && (uintptr_t)node->src[i]->data >> 40 == place)
            return node->src[i];
    fail_msg("a binding shows something else");
    return NULL;
}

static void
add(struct gb_vk_emit *emit, enum gb_vk_pipeline pipeline, int64_t n_groups,
    const struct gb_vk_bind *binds, int n_binds, void *params, size_t size)
{
    struct dispatch *d = &record.list[record.n++];

    (void)pipeline;
    assert_true(record.n < MAX_DISPATCHES && n_binds <= MAX_SHOWN);
    assert_true(n_groups > 0);
    memset(d, 0, sizeof(*d));
    memcpy(&d->params, params,
           size < sizeof(d->params) ? size : sizeof(d->params));
    for (int i = 0; i < n_binds; i++) {
        const struct ggml_tensor *t = binds[i].tensor;
        const struct ggml_tensor *all = operand_of(t);
        struct shown *shown = &d->shown[i];

        shown->begin =
            (char *)t->data - (char *)all->data + (int64_t)binds[i].offset;
        shown->size = binds[i].size > 0
                          ? (int64_t)binds[i].size
                          : (int64_t)(ggml_nbytes(t) - binds[i].offset);
        memcpy(shown->ne, t->ne, sizeof(shown->ne));
        shown->is_written = binds[i].is_written;
        assert_true(shown->begin >= 0);
        assert_true(shown->size + 256 <= (int64_t)emit->limits->range);
        assert_true(shown->begin + shown->size <= (int64_t)ggml_nbytes(all));
    }
}

/* The dispatches of NODE, whose sources are there. */
static void
dispatch(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    record.emit = (struct gb_vk_emit){ .limits = limits, .add = add };
    record.node = node;
    record.n = 0;
    assert_true(gb_vk_supports(limits, node));
    assert_true(gb_vk_emit_node(&record.emit, node));
    assert_true(record.n > 1);
}

/* ---- nodes ---- */

static struct ggml_context *
new_context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 32 * ggml_tensor_overhead(), .no_alloc = true });

    assert_non_null(ctx);
    return ctx;
}

/* Addresses for NODE and its sources, views of other tensors among them. */
static const struct ggml_tensor *
place(struct ggml_tensor *node)
{
    node->data = addresses;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != NULL)
            node->src[i]->data = addresses + ((int64_t)(i + 1) << 40);
    return node;
}

/* ---- what holds of all ---- */

/* Where the element of T at PLACE begins. */
static int64_t
offset_at(const struct ggml_tensor *t, const int64_t at[GGML_MAX_DIMS])
{
    int64_t offset = 0;

    for (int d = 0; d < GGML_MAX_DIMS; d++)
        offset += at[d] * (int64_t)t->nb[d];
    return offset;
}

/* The element of NODE, which has no gaps and no blocks, that begins at OFFSET. */
static void
place_of(const struct ggml_tensor *node, int64_t offset,
         int64_t at[GGML_MAX_DIMS])
{
    int64_t rest = offset / (int64_t)ggml_type_size(node->type);

    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        at[d] = rest % node->ne[d];
        rest /= node->ne[d];
    }
}

/* Does each byte of NODE, which has no gaps, belong to one dispatch? */
static void
expect_each_byte_once(const struct ggml_tensor *node)
{
    int64_t sum = 0;

    for (int i = 0; i < record.n; i++) {
        const struct shown *a = &record.list[i].shown[0];

        assert_true(a->is_written);
        sum += a->size;
        for (int k = 0; k < i; k++) {
            const struct shown *b = &record.list[k].shown[0];

            if (a->begin < b->begin + b->size && b->begin < a->begin + a->size)
                fail_msg("dispatches %d and %d write the same", k, i);
        }
    }
    assert_int_equal(sum, ggml_nbytes(node));
}

/* The same for parts with rows of others between theirs. */
static void
expect_each_element_once(const struct ggml_tensor *node)
{
    int64_t sum = 0;

    for (int i = 0; i < record.n; i++) {
        const struct shown *a = &record.list[i].shown[0];
        int64_t at[GGML_MAX_DIMS], other[GGML_MAX_DIMS];

        place_of(node, a->begin, at);
        sum += a->ne[0] * a->ne[1] * a->ne[2] * a->ne[3];
        for (int k = 0; k < i; k++) {
            const struct shown *b = &record.list[k].shown[0];
            bool is_apart = false;

            place_of(node, b->begin, other);
            for (int d = 0; d < GGML_MAX_DIMS; d++)
                is_apart |= at[d] + a->ne[d] <= other[d] ||
                            other[d] + b->ne[d] <= at[d];
            assert_true(is_apart);
        }
    }
    assert_int_equal(sum, ggml_nelements(node));
}

/* Does each dispatch read, as operand I + 1, the part of source I that has the
 * places of the part of the node? */
static void
expect_alike(const struct ggml_tensor *node, int i)
{
    const struct ggml_tensor *source = node->src[i];

    for (int k = 0; k < record.n; k++) {
        const struct shown *to = &record.list[k].shown[0];
        const struct shown *from = &record.list[k].shown[i + 1];
        int64_t at[GGML_MAX_DIMS];

        place_of(node, to->begin, at);
        assert_int_equal(from->begin, offset_at(source, at));
        assert_memory_equal(from->ne, to->ne, sizeof(to->ne));
    }
}

/* ---- claims ---- */

static void
expect_all_elements(const struct gb_vk_limits *limits, const int64_t ne[4])
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *a = ggml_new_tensor(ctx, GGML_TYPE_F32, 4, ne);
    const struct ggml_tensor *node = place(ggml_sqr(ctx, a));

    assert_true(ggml_nbytes(node) >= (size_t)(5 * GIB));
    dispatch(limits, node);
    expect_each_byte_once(node);
    expect_alike(node, 0);
    assert_true(record.n <= 2 * (int)(ggml_nbytes(node) / limits->range + 1));
    ggml_free(ctx);
}

/* However the five GiB lie: offsets are beyond what 32 bits hold. */
static void
five_gib_are_seen_wherever_they_lie(void **state)
{
    static const int64_t shapes[][4] = {
        { 5 * GIB / 4, 1, 1, 1 },       { 1280, 1 << 20, 1, 1 },
        { 1280, 1024, 1024, 1 },        { 128, 128, 128, 640 },
        { (5 * GIB + 4) / 4, 1, 1, 1 }, { 64, 3, 5, 1398102 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        expect_all_elements(&small, shapes[i]);
        expect_all_elements(&large, shapes[i]);
    }
}

/* Rows of the one are columns of the other: both are cut. */
static void
a_permuted_source_is_cut_along_its_own_strides(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *a =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 64, 4096, 5120);
    const struct ggml_tensor *node =
        place(ggml_cont(ctx, ggml_permute(ctx, a, 0, 2, 1, 3)));

    (void)state;
    dispatch(&small, node);
    expect_each_element_once(node);
    expect_alike(node, 0);
    assert_true(record.n <= 4096);
    ggml_free(ctx);
}

/* 1.3 GiB from row to row. */
static void
rows_that_lie_far_apart_are_reached(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *root =
        ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4 * 358000000 + 64);
    struct ggml_tensor *far =
        ggml_view_2d(ctx, root, 64, 5, (size_t)358000000 * 4, 0);
    struct ggml_tensor *near = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 5);
    const struct ggml_tensor *node = place(ggml_add(ctx, near, far));

    (void)state;
    dispatch(&small, node);
    expect_each_byte_once(node);
    expect_alike(node, 0);
    expect_alike(node, 1);
    node = place(ggml_rms_norm(ctx, far, 1e-5f));
    dispatch(&large, node);
    expect_each_byte_once(node);
    expect_alike(node, 0);
    ggml_free(ctx);
}

/* One row for all, and a row for each three. */
static void
what_is_repeated_is_seen_as_a_whole(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *a =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4096, 300000);
    struct ggml_tensor *one = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4096, 1);
    struct ggml_tensor *three =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 4096, 3);
    const struct ggml_tensor *nodes[] = { ggml_mul(ctx, a, one),
                                          ggml_mul(ctx, a, three) };

    (void)state;
    for (int i = 0; i < 2; i++) {
        const int64_t rows = nodes[i]->src[1]->ne[1];

        dispatch(&small, place((struct ggml_tensor *)nodes[i]));
        expect_each_byte_once(nodes[i]);
        expect_alike(nodes[i], 0);
        for (int k = 0; k < record.n; k++) {
            const struct dispatch *d = &record.list[k];

            assert_int_equal(d->shown[0].begin / (4096 * 4) % rows, 0);
            assert_int_equal(d->shown[2].begin, 0);
            assert_int_equal(d->shown[2].ne[1], rows);
        }
    }
    ggml_free(ctx);
}

/* The mask's rows go with the scores', whichever head they are of. */
static void
masks_and_positions_follow(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *scores =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 8192, 8192, 20);
    struct ggml_tensor *mask =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 8192, 8192);
    const struct ggml_tensor *node =
        place(ggml_soft_max_ext(ctx, scores, mask, 1.0f, 0.0f));
    struct ggml_tensor *q, *positions;

    (void)state;
    dispatch(&small, node);
    expect_each_byte_once(node);
    expect_alike(node, 0);
    for (int i = 0; i < record.n; i++) {
        const int64_t row = record.list[i].shown[0].begin / (8192 * 4) % 8192;

        assert_int_equal(record.list[i].shown[2].begin, row * 8192 * 2);
    }
    q = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 128, 32, 330000);
    positions = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 330000);
    node = place(ggml_rope(ctx, q, positions, 128, 0));
    dispatch(&small, node);
    expect_each_byte_once(node);
    expect_alike(node, 0);
    for (int i = 0; i < record.n; i++) {
        const int64_t token =
            record.list[i].shown[0].begin / (128 * 32 * 4);

        assert_int_equal(record.list[i].shown[2].begin, token * 4);
    }
    ggml_free(ctx);
}

/* Slopes of ALiBi need to know all heads. */
static void
heads_with_slopes_stay_together(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *scores =
        ggml_new_tensor_4d(ctx, GGML_TYPE_F32, 1024, 512, 20, 128);
    struct ggml_tensor *mask =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 1024, 512);
    const struct ggml_tensor *node =
        place(ggml_soft_max_ext(ctx, scores, mask, 1.0f, 8.0f));

    (void)state;
    dispatch(&small, node);
    for (int i = 0; i < record.n; i++)
        assert_int_equal(record.list[i].shown[0].ne[2], 20);
    ggml_free(ctx);
}

/* Each row of the weights is shown once for each part of the numbers. */
static void
embeddings_are_looked_up_in_parts(void **state)
{
    struct ggml_context *ctx = new_context();
    const int64_t n_rows = 2441407, n_ids = 10000;
    struct ggml_tensor *weights =
        ggml_new_tensor_2d(ctx, GGML_TYPE_Q4_0, 4096, n_rows);
    struct ggml_tensor *ids = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, n_ids);
    const struct ggml_tensor *node = place(ggml_get_rows(ctx, weights, ids));
    int64_t sum = 0;

    (void)state;
    assert_true(ggml_nbytes(weights) > (size_t)(5 * GIB));
    dispatch(&small, node);
    for (int i = 0; i < record.n; i++) {
        const struct dispatch *d = &record.list[i];
        const int64_t rows = d->params.rows, first = d->params.first;

        assert_int_equal(d->params.all_rows, n_rows);
        assert_int_equal(d->shown[1].begin, first * (4096 / 32 * 18));
        assert_int_equal(d->shown[1].size, rows * (4096 / 32 * 18));
        assert_int_equal(d->shown[0].begin, d->shown[2].begin * 4096);
        assert_int_equal(d->shown[0].size, d->shown[2].size * 4096);
        sum += rows * d->shown[2].size / 4;
    }
    assert_true(sum == n_rows * n_ids);
    ggml_free(ctx);
}

/* Weights of five GiB times a column: rows of the one are values of the other. */
static void
products_are_cut_by_rows(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *a =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F16, 4096, 660000);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4096);
    const struct ggml_tensor *node = place(ggml_mul_mat(ctx, a, b));

    (void)state;
    dispatch(&large, node);
    expect_each_byte_once(node);
    for (int i = 0; i < record.n; i++)
        assert_int_equal(record.list[i].shown[1].begin,
                         record.list[i].shown[0].begin / 4 * 4096 * 2);
    ggml_free(ctx);
}

/* A row that is needed as a whole, and is more than a binding shows. */
static void
what_cannot_be_cut_is_refused(void **state)
{
    struct ggml_context *ctx = new_context();
    struct ggml_tensor *row =
        ggml_new_tensor_1d(ctx, GGML_TYPE_F32, (int64_t)40 << 20);

    (void)state;
    assert_false(gb_vk_supports(&small, place(ggml_rms_norm(ctx, row, 1e-5f))));
    assert_true(gb_vk_supports(&large, place(ggml_rms_norm(ctx, row, 1e-5f))));
    ggml_free(ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_gib_are_seen_wherever_they_lie),
        cmocka_unit_test(a_permuted_source_is_cut_along_its_own_strides),
        cmocka_unit_test(rows_that_lie_far_apart_are_reached),
        cmocka_unit_test(what_is_repeated_is_seen_as_a_whole),
        cmocka_unit_test(masks_and_positions_follow),
        cmocka_unit_test(heads_with_slopes_stay_together),
        cmocka_unit_test(embeddings_are_looked_up_in_parts),
        cmocka_unit_test(products_are_cut_by_rows),
        cmocka_unit_test(what_cannot_be_cut_is_refused),
    };

    if (sizeof(size_t) < 8) {
        puts("1..0 # SKIP addresses have 32 bits");
        return 0;
    }
    return cmocka_run_group_tests_name("parts of nodes on Vulkan", tests, NULL,
                                       NULL);
}
