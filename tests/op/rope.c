/* SPDX-License-Identifier: MIT */
/*
 * tests/op/rope.c - builders of rotary position embeddings.
 */
#include "tests/op/node.h"

#include <math.h>

/* The deprecated builders are part of the interface and tested like others. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* What follows n_dims and mode in all cases here. */
#define ANGLES 4096, 1e4f, 0.5f, 1.0f, 1.5f, 32.0f, 2.0f

static struct ggml_tensor *
positions(int64_t n)
{
    return leaf(GGML_TYPE_I32, n, 1, 1, 1);
}

static struct want
rotated(enum ggml_op op, struct ggml_tensor *a, struct ggml_tensor *b,
        struct ggml_tensor *c, int n_dims, int mode)
{
    return (struct want){ .op = op,
                          .ne = { a->ne[0], a->ne[1], a->ne[2], a->ne[3] },
                          .src = { a, b, c },
                          .params = { 0, n_dims, mode, 0, 4096, bits(1e4f),
                                      bits(0.5f), bits(1.0f), bits(1.5f),
                                      bits(32.0f), bits(2.0f) } };
}

static void
rope_has_the_usual_angles(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = positions(4);
    const struct want want = { .op = GGML_OP_ROPE,
                               .ne = { 8, 6, 4, 2 },
                               .src = { a, b },
                               .params = { 0, 8, 2, 0, 0, bits(1e4f),
                                           bits(1.0f), bits(0.0f),
                                           bits(1.0f) } };

    (void)state;
    check_new(ggml_rope(ctx, a, b, 8, 2), &want);
    check_inplace(ggml_rope_inplace(ctx, a, b, 8, 2), &want);
}

static void
rope_keeps_all_it_is_told(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = positions(4);
    struct ggml_tensor *c = f32(3, 1, 1, 1);
    struct want want = rotated(GGML_OP_ROPE, a, b, c, 6, 2);

    (void)state;
    check_new(ggml_rope_ext(ctx, a, b, c, 6, 2, ANGLES), &want);
    check_inplace(ggml_rope_ext_inplace(ctx, a, b, c, 6, 2, ANGLES), &want);
    want.op = GGML_OP_ROPE_BACK;
    check_new(ggml_rope_ext_back(ctx, a, b, c, 6, 2, ANGLES), &want);
    want = rotated(GGML_OP_ROPE, a, b, NULL, 6, 0);
    check_new(ggml_rope_ext(ctx, a, b, NULL, 6, 0, ANGLES), &want);
    check_new(ggml_rope_custom(ctx, a, b, 6, 0, ANGLES), &want);
    check_inplace(ggml_rope_custom_inplace(ctx, a, b, 6, 0, ANGLES), &want);
}

static void
rope_multi_has_sections(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = positions(16);
    struct ggml_tensor *c = f32(4, 1, 1, 1);
    int sections[4] = { 1, 0, 2, 1 };
    struct want want = rotated(GGML_OP_ROPE, a, b, c, 6, 8);

    (void)state;
    for (int i = 0; i < 4; i++)
        want.params[11 + i] = sections[i];
    check_new(ggml_rope_multi(ctx, a, b, c, 6, sections, 8, ANGLES), &want);
    want.op = GGML_OP_ROPE_BACK;
    check_new(ggml_rope_multi_back(ctx, a, b, c, 6, sections, 8, ANGLES),
              &want);
    want.op = GGML_OP_ROPE;
    want.params[1] = 4;
    want.params[2] = GGML_ROPE_TYPE_VISION;
    check_new(ggml_rope_multi(ctx, a, b, c, 4, sections, 24, ANGLES), &want);
}

static struct ggml_tensor *
turn(struct ggml_tensor *b, struct ggml_tensor *c, int n_dims, int mode)
{
    return ggml_rope_ext(world.ctx, f32(8, 6, 4, 2), b, c, n_dims, mode,
                         ANGLES);
}

static void
what_does_not_rotate_is_refused(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *b = positions(4);

    (void)state;
    check_refused(turn(b, NULL, 8, 1), "rope");
    check_refused(turn(b, NULL, 8, 8), "rope");
    check_refused(turn(positions(16), NULL, 8, 8), "rope");
    check_refused(turn(b, NULL, 4, 24), "rope");
    check_refused(turn(b, NULL, 7, 0), "rope");
    check_refused(turn(b, NULL, 10, 0), "rope");
    check_refused(turn(b, NULL, -2, 0), "rope");
    check_refused(turn(positions(5), NULL, 8, 0), "rope");
    check_refused(turn(leaf(GGML_TYPE_I32, 4, 2, 1, 1), NULL, 8, 0), "rope");
    check_refused(turn(f32(4, 1, 1, 1), NULL, 8, 0), "rope");
    check_refused(turn(b, f32(3, 1, 1, 1), 8, 0), "rope");
    check_refused(turn(b, leaf(GGML_TYPE_F16, 4, 1, 1, 1), 8, 0), "rope");
    check_refused(ggml_rope_inplace(ctx, f32(8, 6, 4, 2), b, 10, 0), "rope");
    check_refused(
        ggml_rope_ext_back(ctx, f32(8, 6, 3, 2), b, NULL, 8, 0, ANGLES),
        "rope_back");
}

static struct ggml_tensor *
turn_multi(struct ggml_tensor *b, struct ggml_tensor *c, int n_dims,
           int *sections, int mode)
{
    return ggml_rope_multi(world.ctx, f32(8, 6, 4, 2), b, c, n_dims, sections,
                           mode, ANGLES);
}

static void
sections_that_do_not_fit_are_refused(void **state)
{
    static int good[4] = { 1, 0, 2, 1 }, negative[4] = { 4, -1, 0, 0 };
    static int long_ones[4] = { 4, 4, 1, 0 }, last_only[4] = { 0, 0, 0, 4 };
    static int huge[4] = { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX };
    struct ggml_tensor *b = positions(16);

    (void)state;
    check_refused(turn_multi(b, NULL, 8, NULL, 8), "rope");
    check_refused(turn_multi(b, NULL, 8, negative, 8), "rope");
    check_refused(turn_multi(b, NULL, 8, long_ones, 8), "rope");
    check_refused(turn_multi(b, NULL, 8, last_only, 8), "rope");
    check_refused(turn_multi(b, NULL, 8, huge, 8), "rope");
    check_refused(turn_multi(b, NULL, 6, good, 24), "rope");
    check_refused(turn_multi(b, NULL, 8, good, 9), "rope");
    check_refused(turn_multi(positions(4), NULL, 8, good, 8), "rope");
    /* In vision mode each of the n_dims pairs has a factor. */
    check_refused(turn_multi(b, f32(3, 1, 1, 1), 4, good, 24), "rope");
    check_refused(ggml_rope_multi_back(world.ctx, f32(8, 6, 4, 2), b, NULL, 8,
                                       last_only, 8, ANGLES),
                  "rope_back");
}

/* With the definition of YaRN's section 3.2, in double. */
static void
yarn_blends_between_two_pairs(void **state)
{
    static const struct {
        int n_dims, n_ctx;
        float base, fast, slow;
    } cases[] = {
        { 128, 4096, 1e4f, 32.0f, 1.0f },
        { 64, 32768, 5e5f, 32.0f, 1.0f },
        { 32, 16, 1e4f, 32.0f, 1.0f },
        { 32, 1 << 24, 10.0f, 4.0f, 1.0f },
    };
    float dims[2];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const double n = cases[i].n_dims, ln_base = log(cases[i].base);
        const double turns = cases[i].n_ctx / (2.0 * 3.14159265358979323846);
        const double fast = n * log(turns / cases[i].fast) / (2.0 * ln_base);
        const double slow = n * log(turns / cases[i].slow) / (2.0 * ln_base);

        ggml_rope_yarn_corr_dims(cases[i].n_dims, cases[i].n_ctx,
                                 cases[i].base, cases[i].fast, cases[i].slow,
                                 dims);
        assert_true(dims[0] == (float)fmax(0.0, floor(fast)));
        assert_true(dims[1] == (float)fmin(n - 1.0, ceil(slow)));
    }
    /* No context that the model was trained with: no pair is blended. */
    ggml_rope_yarn_corr_dims(128, 0, 1e4f, 32.0f, 1.0f, dims);
    assert_true(dims[0] == 0.0f);
    assert_true(dims[1] == -INFINITY);
    ggml_rope_yarn_corr_dims(128, 0, 1e4f, 32.0f, 1.0f, NULL);
    assert_int_equal(world.n_messages, 1);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(rope_has_the_usual_angles),
        TEST(rope_keeps_all_it_is_told),
        TEST(rope_multi_has_sections),
        TEST(what_does_not_rotate_is_refused),
        TEST(sections_that_do_not_fit_are_refused),
        TEST(yarn_blends_between_two_pairs),
    };

    return cmocka_run_group_tests_name("rope", tests, NULL, NULL);
}
