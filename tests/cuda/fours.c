/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/fours.c - rows that kernels take by fours: those that a thread
 * keeps, longer ones, and those that do not begin at a multiple of 16, have the
 * same bits, alone and as a part of a group, and are right.
 */
#include "config.h"

#include "tests/cuda/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum {
    N_ROWS = 3, MAX_WIDTH = 12292,
    N_COLUMNS = 64, N_PRODUCTS = 16, /* of a product; the first is more */
};

static float source[(MAX_WIDTH + 4) * N_ROWS], addends[MAX_WIDTH * N_ROWS];
static float weights[MAX_WIDTH];
static float result[4][MAX_WIDTH * N_ROWS];

static float
value(int i, int seed)
{
    return sinf((float)(i % 4093 * (seed + 3) + seed)) *
           (float)(1 + i % 7 * (seed + 1));
}

static void
fill(float *values, size_t n, int seed)
{
    for (size_t i = 0; i < n; i++)
        values[i] = value((int)i, seed);
}

/* ---- norms ---- */

/* What is computed: of rows of N elements that begin SHIFT elements behind a
 * multiple of 16 bytes, with GAP elements behind each. */
struct norm_form {
    int n, shift, gap;
    bool has_mean, has_addend, has_scale;
};

static struct ggml_tensor *
norm_node(struct ggml_context *ctx, const struct norm_form *form,
          struct ggml_tensor *leaves[3])
{
    const size_t stride = (size_t)(form->n + form->gap) * sizeof(float);
    struct ggml_tensor *x;

    leaves[0] = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, form->n + 4, N_ROWS);
    leaves[1] = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, form->n, N_ROWS);
    leaves[2] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, form->n);
    x = ggml_view_2d(ctx, leaves[0], form->n, N_ROWS, stride,
                     (size_t)form->shift * sizeof(float));
    if (form->has_addend)
        x = ggml_add(ctx, x, leaves[1]);
    x = form->has_mean ? ggml_norm(ctx, x, 1e-5f)
                       : ggml_rms_norm(ctx, x, 1e-5f);
    return form->has_scale ? ggml_mul(ctx, x, leaves[2]) : x;
}

/* The rows' values are those of SOURCE without a shift, from SHIFT on. */
static void
norm_into(const struct norm_form *form, float *to)
{
    static float shifted[(MAX_WIDTH + 4) * N_ROWS];
    struct scene scene = scene_begin();
    struct ggml_tensor *leaves[3];
    struct ggml_tensor *node = norm_node(scene.ctx, form, leaves);

    for (int row = 0; row < N_ROWS; row++)
        memcpy(shifted + row * (form->n + form->gap) + form->shift,
               source + row * form->n, (size_t)form->n * sizeof(float));
    scene_place(&scene);
    scene_set(leaves[0], shifted);
    scene_set(leaves[1], addends);
    scene_set(leaves[2], weights);
    scene_compute(&scene, node, to);
    scene_end(&scene);
}

static void
check_norm(const struct norm_form *form, const float *is)
{
    for (int row = 0; row < N_ROWS; row++) {
        const float *x = source + row * form->n;
        const float *y = addends + row * form->n;
        double sum = 0.0, sum_sq = 0.0, mean, scale;

        for (int i = 0; i < form->n; i++)
            sum += (double)x[i] + (form->has_addend ? y[i] : 0.0);
        mean = form->has_mean ? sum / form->n : 0.0;
        for (int i = 0; i < form->n; i++) {
            const double d =
                (double)x[i] + (form->has_addend ? y[i] : 0.0) - mean;

            sum_sq += d * d;
        }
        scale = 1.0 / sqrt(sum_sq / form->n + 1e-5);
        for (int i = 0; i < form->n; i++) {
            const double w = form->has_scale ? weights[i] : 1.0;
            const double normed =
                ((double)x[i] + (form->has_addend ? y[i] : 0.0) - mean) *
                scale;

            CHECK(fabs(is[row * form->n + i] - normed * w) <=
                  1e-5 * (1.0 + fabs(w)));
        }
    }
}

/* Alone; times weights, by one kernel, with gaps, without, and not at multiples
 * of 16. */
static void
norm_rows(int n, bool has_mean, bool has_addend)
{
    struct norm_form form = { n, 0, 4, has_mean, has_addend, false };
    const size_t bytes = (size_t)n * N_ROWS * sizeof(float);

    norm_into(&form, result[0]);
    check_norm(&form, result[0]);
    form.has_scale = true;
    norm_into(&form, result[1]);
    check_norm(&form, result[1]);
    form.gap = 0;
    norm_into(&form, result[2]);
    CHECK(memcmp(result[1], result[2], bytes) == 0);
    form.gap = 4;
    form.shift = 1;
    norm_into(&form, result[2]);
    CHECK(memcmp(result[1], result[2], bytes) == 0);
    form.has_scale = false;
    norm_into(&form, result[2]);
    CHECK(memcmp(result[0], result[2], bytes) == 0);
    for (int i = 0; i < n * N_ROWS; i++)
        CHECK(result[0][i] * weights[i % n] == result[1][i]);
}

static void
norms_of_all_widths(void)
{
    static const int widths[] = { 4,    252,  256,  260,  508,  512,  515, 516,
                                  2048, 2052, 4096, 8192, 8196, MAX_WIDTH };

    fill(source, sizeof(source) / sizeof(*source), 1);
    fill(addends, sizeof(addends) / sizeof(*addends), 2);
    fill(weights, sizeof(weights) / sizeof(*weights), 3);
    for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
        for (int form = 0; form < 4; form++)
            norm_rows(widths[i], form % 2 != 0, form >= 2);
    CHECK(emulator.kernel_runs("gb_norm_mul_f32_block") > 0);
    CHECK(emulator.kernel_runs("gb_norm_mul_f32_plain") > 0);
    CHECK(emulator.kernel_runs("gb_norm_mul_f32_warp") > 0);
}

static void
norms_have_the_same_bits(void **state)
{
    (void)state;
    cuda_case(norms_of_all_widths, "", NULL);
    cuda_case(norms_of_all_widths, "EMU_ORDER=2", NULL);
}

/* ---- columns of products ---- */

/* What makes columns: of rows X, and Y beside them, N long. */
typedef struct ggml_tensor *(*make_columns)(
    struct ggml_context *ctx, struct ggml_tensor *x, struct ggml_tensor *y);

static struct ggml_tensor *
norm_times(struct ggml_context *ctx, struct ggml_tensor *x,
           struct ggml_tensor *y)
{
    return ggml_mul(ctx, ggml_rms_norm(ctx, x, 1e-5f), y);
}

static struct ggml_tensor *
silu_times(struct ggml_context *ctx, struct ggml_tensor *x,
           struct ggml_tensor *y)
{
    return ggml_mul(ctx, ggml_silu(ctx, x), y);
}

static struct ggml_tensor *
gelu_times(struct ggml_context *ctx, struct ggml_tensor *x,
           struct ggml_tensor *y)
{
    return ggml_mul(ctx, ggml_gelu(ctx, x), y);
}

struct product {
    make_columns make; /* NULL: the columns are given */
    int n, n_columns;
};

/* Columns of the product's, or the product of those that are given. */
static void
product_into(const struct product *product, const float *given, float *columns,
             float *to)
{
    const size_t n_values = (size_t)product->n * (size_t)product->n_columns;
    float *values =
        malloc((size_t)product->n * N_COLUMNS * sizeof(*values));
    char *packed = malloc((size_t)product->n * N_PRODUCTS * 2);
    struct scene scene = scene_begin();
    struct ggml_tensor *a =
        ggml_new_tensor_2d(scene.ctx, GGML_TYPE_Q8_0, product->n, N_PRODUCTS);
    struct ggml_tensor *x = ggml_new_tensor_2d(
        scene.ctx, GGML_TYPE_F32, product->n, product->n_columns);
    struct ggml_tensor *y = ggml_new_tensor_2d(
        scene.ctx, GGML_TYPE_F32, product->n, product->n_columns);
    struct ggml_tensor *b =
        product->make == NULL ? x : product->make(scene.ctx, x, y);
    struct ggml_tensor *node = ggml_mul_mat(scene.ctx, a, b);

    CHECK(values != NULL && packed != NULL);
    scene_place(&scene);
    fill(values, (size_t)product->n * N_PRODUCTS, 4);
    ggml_quantize_chunk(GGML_TYPE_Q8_0, values, packed, 0, N_PRODUCTS,
                        product->n, NULL);
    scene_set(a, packed);
    fill(values, n_values, 5);
    scene_set(y, values);
    fill(values, n_values, 6);
    scene_set(x, given == NULL ? values : given);
    scene_compute(&scene, node, to);
    if (columns != NULL)
        ggml_backend_tensor_get(b, columns, 0, ggml_nbytes(b));
    scene_end(&scene);
    free(values);
    free(packed);
}

/* Columns that a group's kernel packs are those that a kernel of their own
 * does. */
static void
compare_products(make_columns make, int n, int n_columns)
{
    const struct product whole = { make, n, n_columns };
    const struct product given = { NULL, n, n_columns };
    const size_t n_values = (size_t)n * (size_t)n_columns;
    float *columns = malloc(n_values * sizeof(*columns));
    static float x[N_COLUMNS * N_PRODUCTS], y[N_COLUMNS * N_PRODUCTS];

    CHECK(columns != NULL);
    product_into(&whole, NULL, columns, x);
    product_into(&given, columns, NULL, y);
    CHECK(memcmp(x, y, (size_t)n_columns * N_PRODUCTS * sizeof(*x)) == 0);
    free(columns);
}

static void
compare_all_products(void)
{
    static const int widths[] = { 64, 288, 544, 2080, 8192, 8224 };

    for (size_t i = 0; i < sizeof(widths) / sizeof(*widths); i++)
        for (int n = 1; n <= N_COLUMNS; n += N_COLUMNS - 1) {
            compare_products(norm_times, widths[i], n);
            compare_products(silu_times, widths[i], n);
        }
    compare_products(silu_times, 16416, N_COLUMNS);
    compare_products(gelu_times, 2080, 1);
    compare_products(gelu_times, 2080, N_COLUMNS);
    CHECK(emulator.kernel_runs("gb_gate_f32") > 0);
    CHECK(emulator.kernel_runs("gb_norm_mul_f32_plain") > 0);
}

static void
compare_products_of_halves(void)
{
    compare_all_products();
    CHECK(emulator.kernel_runs("gb_gate_halves") > 0);
}

static void
columns_have_the_same_bits(void **state)
{
    (void)state;
    cuda_case(compare_products_of_halves, "", NULL);
    cuda_case(compare_all_products, "GGMLBACKEND_GPU_VARIANT=plain", NULL);
}

/* ---- products whose k is split ---- */

enum { SPLIT_K = 2304 };

/* Weights by a column: one launch makes two parts of the sums, and what joins
 * them adds two vectors, four elements at a time. */
static void
join_with_addends(void)
{
    static float w[SPLIT_K * N_PRODUCTS], x[SPLIT_K], more[2][N_PRODUCTS];
    struct scene scene = scene_begin();
    struct ggml_tensor *a =
        ggml_new_tensor_2d(scene.ctx, GGML_TYPE_F32, SPLIT_K, N_PRODUCTS);
    struct ggml_tensor *b =
        ggml_new_tensor_1d(scene.ctx, GGML_TYPE_F32, SPLIT_K);
    struct ggml_tensor *node = ggml_mul_mat(scene.ctx, a, b);
    struct ggml_tensor *addends[2];
    float y[N_PRODUCTS];

    for (int i = 0; i < 2; i++) {
        addends[i] =
            ggml_new_tensor_1d(scene.ctx, GGML_TYPE_F32, N_PRODUCTS);
        node = ggml_add(scene.ctx, node, addends[i]);
    }
    scene_place(&scene);
    for (int i = 0; i < 2; i++) {
        for (int row = 0; row < N_PRODUCTS; row++)
            more[i][row] = (float)(row + 1) * (i == 0 ? 1e5f : -3e5f);
        scene_set(addends[i], more[i]);
    }
    fill(w, SPLIT_K * N_PRODUCTS, 9);
    fill(x, SPLIT_K, 10);
    scene_set(a, w);
    scene_set(b, x);
    scene_compute(&scene, node, y);
    CHECK(emulator.kernel_runs("gb_join_splits") == 1);
    CHECK(emulator.count(EMU_KERNELS) == 2);
    for (int row = 0; row < N_PRODUCTS; row++) {
        double sum = (double)more[0][row] + (double)more[1][row], all = 0.0;

        for (int k = 0; k < SPLIT_K; k++) {
            const double one = (double)w[row * SPLIT_K + k] * (double)x[k];

            sum += one;
            all += fabs(one);
        }
        /* An addend is more than what rounding may be. */
        CHECK(1e5 > 1e-5 * all);
        CHECK(fabs((double)y[row] - sum) <= 1e-6 * all);
    }
    scene_end(&scene);
}

static void
joined_parts_and_what_is_added(void **state)
{
    (void)state;
    cuda_case(join_with_addends, "", NULL);
    cuda_case(join_with_addends, "GGMLBACKEND_GPU_VARIANT=plain", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_have_the_same_bits),
        cmocka_unit_test(columns_have_the_same_bits),
        cmocka_unit_test(joined_parts_and_what_is_added),
    };

    return cmocka_run_group_tests_name("rows by fours", tests, NULL, NULL);
}
