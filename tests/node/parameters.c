/* SPDX-License-Identifier: MIT */
/*
 * What nodes' parameters say, by name: of nodes that builders made, each
 * parameter another number.
 */
#include "lib/node/im2col.h"
#include "lib/node/part.h"
#include "lib/node/pool.h"
#include "lib/node/recurrent.h"
#include "lib/node/rope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

static int
setup(void **state)
{
    const struct ggml_init_params params = {
        .mem_size = 64 * ggml_tensor_overhead(),
        .no_alloc = true,
    };

    *state = ggml_init(params);
    return *state == NULL;
}

static int
teardown(void **state)
{
    ggml_free(*state);
    return 0;
}

static struct ggml_tensor *
f32(struct ggml_context *ctx, int64_t n0, int64_t n1, int64_t n2, int64_t n3)
{
    return ggml_new_tensor_4d(ctx, GGML_TYPE_F32, n0, n1, n2, n3);
}

static void
assert_shape(const struct ggml_tensor *t, int64_t n0, int64_t n1, int64_t n2,
             int64_t n3)
{
    assert_int_equal(t->ne[0], n0);
    assert_int_equal(t->ne[1], n1);
    assert_int_equal(t->ne[2], n2);
    assert_int_equal(t->ne[3], n3);
}

/* ---- im2col ---- */

/* (40 + 2 * 4 - 7 * (3 - 1) - 1) / 2 + 1 = 17 windows along x, and
 * (17 + 2 * 5 - 1 * (4 - 1) - 1) / 3 + 1 = 8 along y. */
static void
im2col_in_two_dimensions(void **state)
{
    struct ggml_tensor *kernel = f32(*state, 3, 4, 6, 1);
    struct ggml_tensor *image = f32(*state, 40, 17, 6, 2);
    const struct ggml_tensor *node = ggml_im2col(
        *state, kernel, image, 2, 3, 4, 5, 7, 1, true, GGML_TYPE_F32);
    const struct gb_node_im2col c = gb_node_im2col_of(node);

    assert_true(c.is_2d);
    assert_shape(&c.image, 40, 17, 6, 2);
    assert_shape(&c.windows, 3 * 4 * 6, 17, 8, 2);
    assert_int_equal(c.kernel[0], 3);
    assert_int_equal(c.kernel[1], 4);
    assert_int_equal(c.stride[0], 2);
    assert_int_equal(c.stride[1], 3);
    assert_int_equal(c.padding[0], 4);
    assert_int_equal(c.padding[1], 5);
    assert_int_equal(c.dilation[0], 7);
    assert_int_equal(c.dilation[1], 1);
    assert_int_equal(c.image.nb[1], 40 * 4);
    assert_int_equal(c.windows.nb[2], 72 * 17 * 4);
}

/* Tensors get a height of 1; what is said of heights is not taken. */
static void
im2col_in_one_dimension(void **state)
{
    struct ggml_tensor *kernel = f32(*state, 3, 6, 1, 1);
    struct ggml_tensor *image = f32(*state, 40, 6, 1, 1);
    const struct ggml_tensor *node = ggml_im2col(
        *state, kernel, image, 2, 9, 4, 9, 7, 9, false, GGML_TYPE_F32);
    const struct gb_node_im2col c = gb_node_im2col_of(node);

    assert_false(c.is_2d);
    assert_shape(&c.image, 40, 1, 6, 1);
    assert_shape(&c.windows, 3 * 6, 17, 1, 1);
    assert_int_equal(c.image.nb[2], 40 * 4);
    assert_int_equal(c.windows.nb[1], 18 * 4);
    assert_int_equal(c.kernel[1], 1);
    assert_int_equal(c.stride[1], 1);
    assert_int_equal(c.padding[1], 0);
    assert_int_equal(c.dilation[1], 1);
}

static void
im2col_back_has_other_roles(void **state)
{
    int64_t ne[] = { 40, 17, 6, 2 };
    struct ggml_tensor *kernel = f32(*state, 3, 4, 6, 1);
    struct ggml_tensor *windows = f32(*state, 72, 17, 8, 2);
    const struct ggml_tensor *node = ggml_im2col_back(
        *state, windows, kernel, ne, 2, 3, 4, 5, 7, 1, true);
    const struct gb_node_im2col c = gb_node_im2col_of(node);

    assert_shape(&c.image, 40, 17, 6, 2);
    assert_shape(&c.windows, 72, 17, 8, 2);
    assert_int_equal(c.kernel[1], 4);
    assert_int_equal(c.padding[1], 5);
}

/* ---- pool ---- */

static void
pool_in_one_dimension_and_in_two(void **state)
{
    struct ggml_tensor *a = f32(*state, 30, 20, 2, 1);
    const struct gb_node_pool one = gb_node_pool_of(
        ggml_pool_1d(*state, a, GGML_OP_POOL_MAX, 4, 3, 1));
    const struct gb_node_pool two = gb_node_pool_of(
        ggml_pool_2d(*state, a, GGML_OP_POOL_AVG, 5, 4, 3, 2, 1, 0));

    assert_true(one.is_1d && one.is_max);
    assert_int_equal(one.kernel[0], 4);
    assert_int_equal(one.stride[0], 3);
    assert_int_equal(one.padding[0], 1);
    assert_int_equal(one.kernel[1], 1);
    assert_int_equal(one.stride[1], 0);
    assert_int_equal(one.padding[1], 0);
    assert_false(two.is_1d || two.is_max);
    assert_int_equal(two.kernel[0], 5);
    assert_int_equal(two.kernel[1], 4);
    assert_int_equal(two.stride[0], 3);
    assert_int_equal(two.stride[1], 2);
    assert_int_equal(two.padding[0], 1);
    assert_int_equal(two.padding[1], 0);
}

/* ---- rope ---- */

static struct ggml_tensor *
rope(struct ggml_context *ctx, int n_dims, int mode, float ext_factor)
{
    return ggml_rope_ext(
        ctx, f32(ctx, 64, 2, 3, 1), ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 3),
        NULL, n_dims, mode, 4096, 10000.0f, 0.25f, ext_factor, 1.5f, 32.0f,
        1.0f);
}

static void
rope_says_which_pairs_are_rotated(void **state)
{
    int sections[] = { 3, 5, 7, 1 };
    const struct gb_node_rope plain =
        gb_node_rope_of(rope(*state, 48, 0, 0.0f));
    const struct gb_node_rope neox =
        gb_node_rope_of(rope(*state, 64, GGML_ROPE_TYPE_NEOX, 0.0f));
    const struct gb_node_rope vision = gb_node_rope_of(ggml_rope_multi(
        *state, f32(*state, 64, 2, 3, 1),
        ggml_new_tensor_1d(*state, GGML_TYPE_I32, 12), NULL, 32, sections,
        GGML_ROPE_TYPE_VISION, 4096, 10000.0f, 1.0f, 0.0f, 1.0f, 0.0f, 0.0f));

    assert_int_equal(plain.n_pairs, 24);
    assert_false(plain.is_split || plain.is_vision || plain.has_streams);
    assert_int_equal(plain.sections[0], 0);
    assert_int_equal(neox.n_pairs, 32);
    assert_true(neox.is_split);
    assert_int_equal(vision.n_pairs, 32);
    assert_true(vision.is_split && vision.is_vision && vision.has_streams);
    for (int i = 0; i < GB_NODE_ROPE_STREAMS; i++)
        assert_int_equal(vision.sections[i], sections[i]);
}

/* The pair that rotates R times in C positions of a base B is
 * n log(C / (2 pi R)) / (2 log B), which is rounded outwards (YaRN). */
static double
pair_of(double n_dims, double context, double rotations, double base)
{
    return n_dims * log(context / (rotations * 2.0 * 3.14159265358979)) /
           (2.0 * log(base));
}

static void
rope_says_its_frequencies(void **state)
{
    const struct gb_node_frequencies plain =
        gb_node_frequencies_of(rope(*state, 48, 0, 0.0f));
    const struct gb_node_frequencies yarn =
        gb_node_frequencies_of(rope(*state, 64, 0, 0.75f));
    const struct gb_node_frequencies none =
        gb_node_frequencies_of(rope(*state, 0, 0, 0.0f));

    assert_true(fabs(plain.power - pow(10000.0, -2.0 / 48.0)) < 1e-12);
    assert_float_equal(plain.scale, 0.25f, 0.0f);
    assert_float_equal(plain.factor, 1.5f, 0.0f);
    assert_float_equal(plain.corr[1], 0.0f, 0.0f);
    assert_float_equal(yarn.ext_factor, 0.75f, 0.0f);
    assert_float_equal(yarn.corr[0],
                       (float)floor(pair_of(64, 4096, 32, 10000)), 0.0f);
    assert_float_equal(yarn.corr[1],
                       (float)ceil(pair_of(64, 4096, 1, 10000)), 0.0f);
    assert_float_equal(yarn.factor, 1.5f * (1.0f + 0.1f * logf(4.0f)), 1e-6f);
    assert_true(none.power == 1.0);
}

/* ---- parts, and states ---- */

static void
a_part_has_the_strides_of_the_parameters(void **state)
{
    struct ggml_tensor *a = f32(*state, 10, 8, 6, 4);
    struct ggml_tensor *b = f32(*state, 3, 2, 2, 2);
    const struct ggml_tensor *node = ggml_set(
        *state, a, b, a->nb[1], a->nb[2], a->nb[3], a->nb[1] + 8);
    struct ggml_tensor part = gb_node_part_of(node);

    assert_int_equal(gb_node_part_offset(node), 48);
    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        assert_int_equal(part.ne[d], b->ne[d]);
        assert_int_equal(part.nb[d], a->nb[d]);
    }
    assert_true(gb_node_rows_are_apart(&part));
    part.nb[1] = 8; /* rows of twelve bytes */
    assert_false(gb_node_rows_are_apart(&part));
    part.ne[1] = 1;
    assert_true(gb_node_rows_are_apart(&part));
}

static void
the_state_is_the_last_source(void **state)
{
    struct ggml_tensor *k = f32(*state, 8, 2, 5, 1);
    struct ggml_tensor *s = f32(*state, 8 * 8 * 2, 1, 1, 1);
    struct ggml_tensor *decay = f32(*state, 8, 2, 5, 1);
    const struct ggml_tensor *wkv = ggml_rwkv_wkv6(
        *state, k, f32(*state, 8, 2, 5, 1), f32(*state, 8, 2, 5, 1),
        f32(*state, 8, 2, 1, 1), decay, s);
    const struct ggml_tensor *gla = ggml_gated_linear_attn(
        *state, k, f32(*state, 8, 2, 5, 1), f32(*state, 8, 2, 5, 1), decay, s,
        1.0f);

    assert_true(gb_node_has_bonus(wkv));
    assert_ptr_equal(gb_node_decay_of(wkv), decay);
    assert_ptr_equal(gb_node_state_of(wkv), s);
    assert_false(gb_node_has_bonus(gla));
    assert_ptr_equal(gb_node_decay_of(gla), decay);
    assert_ptr_equal(gb_node_state_of(gla), s);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(im2col_in_two_dimensions),
        cmocka_unit_test(im2col_in_one_dimension),
        cmocka_unit_test(im2col_back_has_other_roles),
        cmocka_unit_test(pool_in_one_dimension_and_in_two),
        cmocka_unit_test(rope_says_which_pairs_are_rotated),
        cmocka_unit_test(rope_says_its_frequencies),
        cmocka_unit_test(a_part_has_the_strides_of_the_parameters),
        cmocka_unit_test(the_state_is_the_last_source),
    };

    return cmocka_run_group_tests_name("parameters of nodes", tests, setup,
                                       teardown);
}
