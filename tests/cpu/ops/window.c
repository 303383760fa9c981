/* SPDX-License-Identifier: MIT */
/*
 * Windows of images, relative positions, and values made from numbers.
 */
#include "tests/cpu/ops/driver.h"

static double
win_part_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                   int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    const int32_t *p = node->op_params;
    const int64_t x = i3 % p[0] * p[2] + i1;
    const int64_t y = i3 / p[0] * p[2] + i2;

    return x < a->ne[1] && y < a->ne[2] ? at(a, i0, x, y, 0) : 0;
}

/* Cutting and joining again gives the image. */
static double
image_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                int64_t i2, int64_t i3)
{
    (void)i3;
    return at(node->src[0]->src[0], i0, i1, i2, 0);
}

static void
images_are_cut_and_joined(void **state)
{
    (void)state;
    for (int w = 1; w < 9; w++)
        for (int layout = DENSE; layout < N_LAYOUTS; layout++) {
            struct bench bench = bench_open();
            struct ggml_tensor *a =
                tensor(&bench, GGML_TYPE_F32, layout, 5, 7, 6, 1);
            struct ggml_tensor *parts = ggml_win_part(bench.ctx, a, w);

            check(&bench, parts, win_part_reference, 0.0);
            check(&bench, ggml_win_unpart(bench.ctx, parts, 7, 6, w),
                  image_reference, 0.0);
            bench_close(&bench);
        }
}

static double
get_rel_pos_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                      int64_t i2, int64_t i3)
{
    (void)i3;
    return at(node->src[0], i0, node->ne[1] - 1 - i1 + i2, 0, 0);
}

static double
add_rel_pos_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                      int64_t i2, int64_t i3)
{
    const struct ggml_tensor *pw = node->src[1];
    const struct ggml_tensor *ph = node->src[2];
    const int64_t e = pw->ne[0];
    const int64_t u = i1 % pw->ne[1];
    const int64_t v = i1 / pw->ne[1];

    return at(node->src[0], i0, i1, i2, i3) + at(pw, i0 % e, u, v, i2) +
           at(ph, i0 / e, u, v, i2);
}

static void
relative_positions(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *rel = tensor(&bench, GGML_TYPE_F16, PADDED, 6, 9, 1, 1);
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 25, 12, 2, 1);
    struct ggml_tensor *pw = tensor(&bench, GGML_TYPE_F32, DENSE, 5, 3, 4, 2);
    struct ggml_tensor *ph = tensor(&bench, GGML_TYPE_F32, DENSE, 5, 3, 4, 2);

    (void)state;
    check(&bench, ggml_get_rel_pos(bench.ctx, rel, 5, 5),
          get_rel_pos_reference, 0.0);
    check(&bench, ggml_add_rel_pos(bench.ctx, a, pw, ph),
          add_rel_pos_reference, 1e-13);
    check(&bench, ggml_add_rel_pos_inplace(bench.ctx, a, pw, ph),
          add_rel_pos_reference, 1e-13);
    bench_close(&bench);
}

static double
arange_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                 int64_t i2, int64_t i3)
{
    float params[3];

    (void)i1;
    (void)i2;
    (void)i3;
    memcpy(params, node->op_params, sizeof(params));
    return params[0] + params[2] * (float)i0;
}

static void
steps_from_a_start(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *node = ggml_arange(bench.ctx, -2.0f, 9.5f, 0.25f);

    (void)state;
    assert_int_equal(node->ne[0], 46);
    check(&bench, node, arange_reference, 0.0);
    /* A range has one row, whatever somebody made of the node. */
    assert_true(can_run(node));
    node->ne[0] = 23;
    node->ne[1] = 2;
    node->nb[1] = 23 * sizeof(float);
    node->nb[2] = node->nb[3] = 46 * sizeof(float);
    assert_false(can_run(node));
    bench_close(&bench);
}

static double
timestep_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                   int64_t i2, int64_t i3)
{
    const int64_t half = node->op_params[0] / 2;
    const double step = exp(-log(node->op_params[1]) *
                            (double)(i0 % (half > 0 ? half : 1)) /
                            (double)half);
    const double phase = at(node->src[0], i1, 0, 0, 0) * step;

    (void)i2;
    (void)i3;
    if (i0 >= 2 * half)
        return 0;
    return i0 < half ? cos(phase) : sin(phase);
}

static void
waves_of_a_time(void **state)
{
    (void)state;
    for (int dim = 1; dim < 40; dim += 6) {
        struct bench bench = bench_open();
        struct ggml_tensor *a =
            tensor(&bench, GGML_TYPE_F32, DENSE, 5, 1, 1, 1);

        fill(&bench, a, 0.0, 1000.0);
        check(&bench, ggml_timestep_embedding(bench.ctx, a, dim, 10000),
              timestep_reference, 1e-13);
        bench_close(&bench);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_cut_and_joined),
        cmocka_unit_test(relative_positions),
        cmocka_unit_test(steps_from_a_start),
        cmocka_unit_test(waves_of_a_time),
    };

    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
