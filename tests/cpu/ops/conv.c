/* SPDX-License-Identifier: MIT */
/*
 * Windows over images: im2col, transposed convolutions, pooling.
 */
#include "tests/cpu/ops/driver.h"

/* s0 s1 p0 p1 d0 d1 of an im2col. */
static const int steps[][6] = {
    { 1, 1, 0, 0, 1, 1 }, { 2, 1, 1, 0, 1, 2 }, { 3, 2, 0, 2, 2, 1 },
    { 1, 3, 2, 1, 3, 1 },
};

static double
pixel(const struct ggml_tensor *image, int64_t x, int64_t y, int64_t c,
      int64_t n, bool is_2d)
{
    if (x < 0 || x >= image->ne[0] || y < 0 ||
        y >= (is_2d ? image->ne[1] : 1))
        return 0;
    return is_2d ? at(image, x, y, c, n) : at(image, x, c, n, 0);
}

static double
im2col_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                 int64_t i2, int64_t i3)
{
    const struct ggml_tensor *kernel = node->src[0];
    const int32_t *p = node->op_params;
    const bool is_2d = p[6] != 0;
    const int64_t kw = i0 % kernel->ne[0];
    const int64_t rest = i0 / kernel->ne[0];
    const int64_t kh = is_2d ? rest % kernel->ne[1] : 0;
    const int64_t c = is_2d ? rest / kernel->ne[1] : rest;

    return pixel(node->src[1], i1 * p[0] + kw * p[4] - p[2],
                 is_2d ? i2 * p[1] + kh * p[5] - p[3] : 0, c, is_2d ? i3 : i2,
                 is_2d);
}

static void
windows_become_rows(void **state)
{
    (void)state;
    for (int s = 0; s < 4; s++)
        for (int half = 0; half < 2; half++)
            for (int layout = DENSE; layout < N_LAYOUTS; layout++) {
                const int *p = steps[s];
                const enum ggml_type type =
                    half ? GGML_TYPE_F16 : GGML_TYPE_F32;
                struct bench bench = bench_open();
                struct ggml_tensor *k2 =
                    tensor(&bench, type, DENSE, 3, 2, 4, 2);
                struct ggml_tensor *image =
                    tensor(&bench, GGML_TYPE_F32, layout, 13, 9, 4, 2);
                struct ggml_tensor *k1 =
                    tensor(&bench, type, DENSE, 3, 4, 2, 1);
                struct ggml_tensor *line =
                    tensor(&bench, GGML_TYPE_F32, layout, 13, 4, 2, 1);

                check(&bench,
                      ggml_im2col(bench.ctx, k2, image, p[0], p[1], p[2],
                                  p[3], p[4], p[5], true, type),
                      im2col_reference, half ? 1e-6 : 0.0);
                check(&bench,
                      ggml_im2col(bench.ctx, k1, line, p[0], 0, p[2], 0, p[4],
                                  0, false, type),
                      im2col_reference, half ? 1e-6 : 0.0);
                bench_close(&bench);
            }
}

/* Sum over the windows' elements that read this pixel. */
static double
im2col_back_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                      int64_t i2, int64_t i3)
{
    const struct ggml_tensor *g = node->src[0];
    const struct ggml_tensor *kernel = node->src[1];
    const int32_t *p = node->op_params;
    const bool is_2d = p[6] != 0;
    const int64_t n_kh = is_2d ? kernel->ne[1] : 1;
    const int64_t c = is_2d ? i2 : i1;
    double sum = 0;

    for (int64_t oh = 0; oh < (is_2d ? g->ne[2] : 1); oh++)
        for (int64_t ow = 0; ow < g->ne[1]; ow++)
            for (int64_t kh = 0; kh < n_kh; kh++)
                for (int64_t kw = 0; kw < kernel->ne[0]; kw++)
                    if (ow * p[0] + kw * p[4] - p[2] == i0 &&
                        (!is_2d || oh * p[1] + kh * p[5] - p[3] == i1))
                        sum += at(g, (c * n_kh + kh) * kernel->ne[0] + kw, ow,
                                  is_2d ? oh : i2, is_2d ? i3 : 0);
    return sum;
}

static void
gradients_of_windows_add_up(void **state)
{
    (void)state;
    for (int s = 0; s < 4; s++)
        for (int is_2d = 0; is_2d < 2; is_2d++) {
            const int *p = steps[s];
            int64_t ne2[] = { 13, 9, 4, 2 };
            int64_t ne1[] = { 13, 4, 2, 1 };
            int64_t *ne = is_2d ? ne2 : ne1;
            struct bench bench = bench_open();
            struct ggml_tensor *kernel =
                tensor(&bench, GGML_TYPE_F32, DENSE, 3, is_2d ? 2 : 4,
                       is_2d ? 4 : 2, 2);
            struct ggml_tensor *image =
                ggml_new_tensor(bench.ctx, GGML_TYPE_F32, 4, ne);
            struct ggml_tensor *columns = ggml_im2col(
                bench.ctx, kernel, image, p[0], is_2d ? p[1] : 0, p[2],
                is_2d ? p[3] : 0, p[4], is_2d ? p[5] : 0, is_2d,
                GGML_TYPE_F32);

            fill(&bench, columns, -1.0, 1.0);
            check(&bench,
                  ggml_im2col_back(bench.ctx, columns, kernel, ne, p[0],
                                   is_2d ? p[1] : 0, p[2], is_2d ? p[3] : 0,
                                   p[4], is_2d ? p[5] : 0, is_2d),
                  im2col_back_reference, 1e-13);
            bench_close(&bench);
        }
}

/* The input as a half kernel has it. */
static double
rounded(const struct ggml_tensor *node, double x)
{
    if (node->src[0]->type != GGML_TYPE_F16)
        return x;
    return ggml_fp16_to_fp32(ggml_fp32_to_fp16((float)x));
}

static double
transpose_1d_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                       int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    double sum = 0;

    (void)i2;
    (void)i3;
    for (int64_t l = 0; l < b->ne[0]; l++) {
        const int64_t k = i0 - l * node->op_params[0];

        for (int64_t c = 0; c < a->ne[2] && k >= 0 && k < a->ne[0]; c++)
            sum += at(a, k, i1, c, 0) * rounded(node, at(b, l, c, 0, 0));
    }
    return sum;
}

static double
transpose_2d_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                       int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int64_t stride = node->op_params[0];
    double sum = 0;

    for (int64_t y = 0; y < b->ne[1]; y++)
        for (int64_t x = 0; x < b->ne[0]; x++) {
            const int64_t kw = i0 - x * stride;
            const int64_t kh = i1 - y * stride;

            if (kw < 0 || kw >= a->ne[0] || kh < 0 || kh >= a->ne[1])
                continue;
            for (int64_t c = 0; c < a->ne[3]; c++)
                sum += at(a, kw, kh, i2, c) *
                       rounded(node, at(b, x, y, c, i3));
        }
    return sum;
}

static void
transposed_convolutions(void **state)
{
    (void)state;
    for (int stride = 1; stride < 5; stride++)
        for (int half = 0; half < 2; half++) {
            const enum ggml_type type = half ? GGML_TYPE_F16 : GGML_TYPE_F32;
            struct bench bench = bench_open();
            struct ggml_tensor *k1 = tensor(&bench, type, DENSE, 3, 5, 7, 1);
            struct ggml_tensor *line =
                tensor(&bench, GGML_TYPE_F32, DENSE, 600, 7, 1, 1);
            struct ggml_tensor *k2 = tensor(&bench, type, DENSE, 3, 2, 5, 4);
            struct ggml_tensor *image =
                tensor(&bench, GGML_TYPE_F32, PADDED, 6, 5, 4, 3);

            check(&bench,
                  ggml_conv_transpose_1d(bench.ctx, k1, line, stride, 0, 1),
                  transpose_1d_reference, 1e-12);
            if (half)
                check(&bench,
                      ggml_conv_transpose_2d_p0(bench.ctx, k2, image, stride),
                      transpose_2d_reference, 1e-12);
            bench_close(&bench);
        }
}

struct pool {
    int op, k0, k1, s0, s1, p0, p1;
};

static struct pool
pool_of(const struct ggml_tensor *node)
{
    const int32_t *p = node->op_params;
    struct pool flat = { p[0], p[1], 1, p[2], 1, p[3], 0 };
    struct pool pool = { p[0], p[1], p[2], p[3], p[4], p[5], p[6] };

    return node->op == GGML_OP_POOL_1D ? flat : pool;
}

static double
pool_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    const struct pool p = pool_of(node);
    const bool is_flat = node->op == GGML_OP_POOL_1D;
    double max = -FLT_MAX;
    double sum = 0;

    for (int64_t ky = 0; ky < p.k1; ky++)
        for (int64_t kx = 0; kx < p.k0; kx++) {
            const int64_t x = i0 * p.s0 - p.p0 + kx;
            const int64_t y = is_flat ? i1 : i1 * p.s1 - p.p1 + ky;

            if (x < 0 || x >= a->ne[0] || y < 0 || y >= a->ne[1])
                continue;
            max = fmax(max, at(a, x, y, i2, i3));
            sum += at(a, x, y, i2, i3);
        }
    return p.op == GGML_OP_POOL_MAX ? max : sum / (p.k0 * p.k1);
}

static double
pool_back_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                    int64_t i2, int64_t i3)
{
    const struct ggml_tensor *g = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const struct pool p = pool_of(node);
    double sum = 0;

    for (int64_t oy = 0; oy < g->ne[1]; oy++)
        for (int64_t ox = 0; ox < g->ne[0]; ox++) {
            int64_t best_x = -1, best_y = -1;
            double max = -FLT_MAX;
            bool covers = false;

            for (int64_t y = oy * p.s1 - p.p1; y < oy * p.s1 - p.p1 + p.k1;
                 y++)
                for (int64_t x = ox * p.s0 - p.p0;
                     x < ox * p.s0 - p.p0 + p.k0; x++) {
                    if (x < 0 || x >= b->ne[0] || y < 0 || y >= b->ne[1])
                        continue;
                    covers |= x == i0 && y == i1;
                    if (at(b, x, y, i2, i3) > max) {
                        max = at(b, x, y, i2, i3);
                        best_x = x;
                        best_y = y;
                    }
                }
            if (p.op == GGML_OP_POOL_AVG)
                sum += covers ? at(g, ox, oy, i2, i3) / (p.k0 * p.k1) : 0;
            else if (best_x == i0 && best_y == i1)
                sum += at(g, ox, oy, i2, i3);
        }
    return sum;
}

/* k0 k1 s0 s1 p0 p1 */
static const float pools[][6] = {
    { 2, 2, 2, 2, 0, 0 }, { 3, 2, 1, 2, 1, 0 },     { 3, 3, 2, 1, 1, 1 },
    { 1, 4, 3, 2, 0, 2 }, { 2, 2, 2, 2, 0.5, 0.5 },
};

static void
largest_and_mean_of_windows(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        for (int op = 0; op < GGML_OP_POOL_COUNT; op++)
            for (int layout = DENSE; layout < N_LAYOUTS; layout++) {
                const float *p = pools[i];
                struct bench bench = bench_open();
                struct ggml_tensor *a = tensor(
                    &bench, layout % 2 ? GGML_TYPE_F16 : GGML_TYPE_F32,
                    layout, 11, 10, 3, 2);
                struct ggml_tensor *node = ggml_pool_2d(
                    bench.ctx, a, op, (int)p[0], (int)p[1], (int)p[2],
                    (int)p[3], p[4], p[5]);
                struct ggml_tensor *input =
                    tensor(&bench, GGML_TYPE_F32, layout, 11, 10, 3, 2);
                struct ggml_tensor *g =
                    tensor(&bench, GGML_TYPE_F32, PADDED, node->ne[0],
                           node->ne[1], 3, 2);

                /* Of equal values the first gets the gradient. */
                for (int64_t y = 0; y < 10; y++)
                    for (int64_t x = 0; x < 11; x++)
                        put(input, x, y, 0, 0, floor(draw(&bench, 0, 3)));
                check(&bench, node, pool_reference, 1e-12);
                check(&bench,
                      ggml_pool_2d_back(bench.ctx, g, input, op, (int)p[0],
                                        (int)p[1], (int)p[2], (int)p[3], p[4],
                                        p[5]),
                      pool_back_reference, 1e-12);
                check(&bench, ggml_pool_1d(bench.ctx, a, op, 3, 3, 0),
                      pool_reference, 1e-12);
                bench_close(&bench);
            }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_become_rows),
        cmocka_unit_test(gradients_of_windows_add_up),
        cmocka_unit_test(transposed_convolutions),
        cmocka_unit_test(largest_and_mean_of_windows),
    };

    return cmocka_run_group_tests_name("conv", tests, NULL, NULL);
}
