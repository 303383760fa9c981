/* SPDX-License-Identifier: MIT */
/*
 * Rotary embedding: modes, streams of positions, YaRN, factors, gradient.
 */
#include "tests/cpu/ops/driver.h"

static double
param(const struct ggml_tensor *node, int word)
{
    float value;

    memcpy(&value, &node->op_params[word], sizeof(value));
    return value;
}

/* Where pair J's elements are, and which position and exponent it has. */
static double
angle(const struct ggml_tensor *node, int64_t j, int64_t i2)
{
    const int mode = node->op_params[2];
    const double w = pow(param(node, 5), -2.0 / node->op_params[1]);
    const int32_t *sections = node->op_params + 11;
    int64_t s = j;
    int64_t stream = 0;

    if ((mode & GGML_ROPE_TYPE_MROPE) == 0)
        return at(node->src[1], i2, 0, 0, 0) * pow(w, (double)j);
    s %= sections[0] + sections[1] + sections[2] + sections[3];
    while (s >= sections[stream])
        s -= sections[stream++];
    return at(node->src[1], i2 + stream * node->ne[2], 0, 0, 0) *
           pow(w, (double)(mode == GGML_ROPE_TYPE_VISION ? s : j));
}

static double
correction(const struct ggml_tensor *node, double beta)
{
    return node->op_params[1] *
           log(node->op_params[4] / (2 * 3.14159265358979323846 * beta)) /
           (2 * log(param(node, 5)));
}

/* The angle as YaRN has it, and in *m the factor of lengths. */
static double
blended(const struct ggml_tensor *node, int64_t j, int64_t i2, double *m)
{
    const struct ggml_tensor *factors = node->src[2];
    const double extrapolated =
        angle(node, j, i2) / (factors == NULL ? 1 : at(factors, j, 0, 0, 0));
    const double interpolated = extrapolated * param(node, 6);
    const double lo = fmax(0, floor(correction(node, param(node, 9))));
    const double hi = fmin(node->op_params[1] - 1,
                           ceil(correction(node, param(node, 10))));
    const double y = ((double)j - lo) / fmax(0.001f, hi - lo);
    const double mix = (1 - fmin(1, fmax(0, y))) * param(node, 7);

    *m = param(node, 8);
    if (param(node, 7) == 0)
        return interpolated;
    *m *= 1 + 0.1 * log(1 / param(node, 6));
    return interpolated * (1 - mix) + extrapolated * mix;
}

static double
rope_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    const int mode = node->op_params[2];
    const bool is_vision = mode == GGML_ROPE_TYPE_VISION;
    const int64_t pairs = node->op_params[1] / (is_vision ? 1 : 2);
    const bool is_split =
        (mode & (GGML_ROPE_TYPE_NEOX | GGML_ROPE_TYPE_MROPE)) != 0;
    int64_t j, first;
    double x, y, m, theta;

    if (i0 >= 2 * pairs)
        return at(a, i0, i1, i2, i3);
    j = is_split ? i0 % pairs : i0 / 2;
    first = is_split ? j : 2 * j;
    x = at(a, first, i1, i2, i3);
    y = at(a, first + (is_split ? pairs : 1), i1, i2, i3);
    theta = blended(node, j, i2, &m);
    if (node->op == GGML_OP_ROPE_BACK)
        theta = -theta;
    return i0 == first ? m * (x * cos(theta) - y * sin(theta))
                       : m * (x * sin(theta) + y * cos(theta));
}

static struct ggml_tensor *
positions(struct bench *bench, int64_t n, double below)
{
    struct ggml_tensor *p = tensor(bench, GGML_TYPE_I32, DENSE, n, 1, 1, 1);

    fill(bench, p, 0.0, below);
    return p;
}

/* The bound for floats: angles are exact to 1e-7 of a turn. */
static double
bound(enum ggml_type type)
{
    return type == GGML_TYPE_F32 ? 1e-12 : 1e-6;
}

static void
one_position_a_token(void **state)
{
    static const int dims[] = { 64, 40, 6, 0 };

    (void)state;
    for (int half = 0; half < 2; half++)
        for (int mode = 0; mode <= 2; mode += 2)
            for (int d = 0; d < 4; d++)
                for (int layout = 0; layout < N_LAYOUTS; layout++) {
                    const enum ggml_type type =
                        half ? GGML_TYPE_F16 : GGML_TYPE_F32;
                    struct bench bench = bench_open();
                    struct ggml_tensor *a =
                        tensor(&bench, type, layout, 64, 5, 11, 2);
                    struct ggml_tensor *p = positions(&bench, 11, 512);

                    check(&bench, ggml_rope(bench.ctx, a, p, dims[d], mode),
                          rope_reference, bound(type));
                    check(&bench,
                          ggml_rope_inplace(bench.ctx, a, p, dims[d], mode),
                          rope_reference, bound(type));
                    bench_close(&bench);
                }
}

static void
positions_can_be_large(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 128, 3, 9, 1);
    struct ggml_tensor *p = positions(&bench, 9, 1e6);

    (void)state;
    check(&bench, ggml_rope(bench.ctx, a, p, 128, GGML_ROPE_TYPE_NEOX),
          rope_reference, 1e-12);
    bench_close(&bench);
}

static void
many_tokens_are_several_tiles(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a =
        tensor(&bench, GGML_TYPE_F32, DENSE, 64, 16, 50, 1);
    struct ggml_tensor *p = positions(&bench, 50, 100);

    (void)state;
    check(&bench, ggml_rope(bench.ctx, a, p, 64, 0), rope_reference, 1e-12);
    bench_close(&bench);
}

static void
yarn_factors_and_gradient(void **state)
{
    static const int contexts[] = { 0, 512, 32768 };
    static const float ext[] = { 0.0f, 0.7465f };

    (void)state;
    for (int c = 0; c < 3; c++)
        for (int e = 0; e < 2; e++)
            for (int with_factors = 0; with_factors < 2; with_factors++)
                for (int mode = 0; mode <= 2; mode += 2) {
                    struct bench bench = bench_open();
                    struct ggml_tensor *a =
                        tensor(&bench, GGML_TYPE_F32, DENSE, 48, 3, 7, 2);
                    struct ggml_tensor *p = positions(&bench, 7, 512);
                    struct ggml_tensor *factors =
                        tensor(&bench, GGML_TYPE_F32, DENSE, 16, 1, 1, 1);

                    fill(&bench, factors, 0.9, 1.1);
                    if (!with_factors)
                        factors = NULL;
                    check(&bench,
                          ggml_rope_ext(bench.ctx, a, p, factors, 32, mode,
                                        contexts[c], 10000.0f, 0.25f, ext[e],
                                        1.4245f, 32.0f, 1.0f),
                          rope_reference, 1e-11);
                    check(&bench,
                          ggml_rope_ext_back(bench.ctx, a, p, factors, 32,
                                             mode, contexts[c], 10000.0f,
                                             0.25f, ext[e], 1.4245f, 32.0f,
                                             1.0f),
                          rope_reference, 1e-11);
                    bench_close(&bench);
                }
}

static void
four_positions_a_token(void **state)
{
    static int sections[][4] = {
        { 8, 8, 8, 8 }, { 16, 24, 24, 0 }, { 4, 0, 6, 2 },
        { 0, 5, 0, 0 }, { 3, 1, 2, 1 },
    };

    (void)state;
    for (int s = 0; s < 5; s++)
        for (int vision = 0; vision < 2; vision++)
            for (int with_factors = 0; with_factors < 2; with_factors++) {
                const int mode =
                    vision ? GGML_ROPE_TYPE_VISION : GGML_ROPE_TYPE_MROPE;
                const int n_dims = vision ? 32 : 64;
                struct bench bench = bench_open();
                struct ggml_tensor *a =
                    tensor(&bench, GGML_TYPE_F32, DENSE, 64, 3, 5, 2);
                struct ggml_tensor *p = positions(&bench, 20, 300);
                struct ggml_tensor *factors =
                    tensor(&bench, GGML_TYPE_F32, DENSE, 32, 1, 1, 1);
                struct ggml_tensor *node;

                fill(&bench, factors, 0.9, 1.1);
                node = ggml_rope_multi(
                    bench.ctx, a, p, with_factors ? factors : NULL, n_dims,
                    sections[s], mode, 0, 10000.0f, 1.0f, 0.0f, 1.0f, 32.0f,
                    1.0f);
                check(&bench, node, rope_reference, 1e-12);
                bench_close(&bench);
            }
}

/* A rotation keeps lengths, and its gradient turns it back. */
static void
the_gradient_turns_back(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 32, 2, 4, 1);
    struct ggml_tensor *p = positions(&bench, 4, 100);
    struct ggml_tensor *there = ggml_rope(bench.ctx, a, p, 32, 2);
    struct ggml_tensor *back =
        ggml_rope_ext_back(bench.ctx, there, p, NULL, 32, 2, 0, 10000.0f,
                           1.0f, 0.0f, 1.0f, 0.0f, 0.0f);

    (void)state;
    for (int i = 0; gb_cpu_kernels_all()[i] != NULL; i++) {
        compute(there, gb_cpu_kernels_all()[i], false);
        compute(back, gb_cpu_kernels_all()[i], false);
        for (int64_t j = 0; j < ggml_nelements(a); j++)
            assert_true(fabsf(((float *)a->data)[j] -
                              ((float *)back->data)[j]) < 1e-6f);
    }
    bench_close(&bench);
}

static void
what_is_not_computed_is_refused(void **state)
{
    static int sections[] = { 0, 0, 4, 4 };
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 16, 2, 4, 1);
    struct ggml_tensor *ints =
        tensor(&bench, GGML_TYPE_I32, DENSE, 16, 2, 4, 1);
    struct ggml_tensor *p = positions(&bench, 4, 100);
    struct ggml_tensor *p4 = positions(&bench, 16, 100);
    struct ggml_tensor *node = ggml_rope(bench.ctx, a, p, 16, 0);

    (void)state;
    assert_true(can_run(node));
    node->op_params[1] = 20;
    assert_false(can_run(node));
    node->op_params[1] = 7;
    assert_false(can_run(node));
    node->op_params[1] = 16;
    node->src[0] = ints;
    assert_false(can_run(node));
    node = ggml_rope_multi(bench.ctx, a, p4, NULL, 16, sections,
                           GGML_ROPE_TYPE_MROPE, 0, 10000.0f, 1.0f, 0.0f, 1.0f,
                           32.0f, 1.0f);
    assert_true(can_run(node));
    node->op_params[13] = 0;
    assert_false(can_run(node));
    bench_close(&bench);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_position_a_token),
        cmocka_unit_test(positions_can_be_large),
        cmocka_unit_test(many_tokens_are_several_tiles),
        cmocka_unit_test(yarn_factors_and_gradient),
        cmocka_unit_test(four_positions_a_token),
        cmocka_unit_test(the_gradient_turns_back),
        cmocka_unit_test(what_is_not_computed_is_refused),
    };

    return cmocka_run_group_tests_name("rope", tests, NULL, NULL);
}
