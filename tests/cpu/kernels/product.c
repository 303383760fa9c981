/* SPDX-License-Identifier: MIT */
/*
 * Products of weights and columns, on every variant: right numbers, nothing
 * read behind the rows' ends and nothing written but the results.
 *
 * Bounds follow from what is added, since a sum itself may cancel.  Each of the
 * K additions of floats rounds off up to 2^-24 of what is added up by then, which
 * is less than the products' magnitudes, up or down by chance.  A quantised
 * column's value is rounded to a step of 1/127 of the largest beside it, by an
 * error that is even over the step and so is multiplied with the weight in the
 * sum: its variance is the sum of (weight * step)^2 / 12.  Eight times the root
 * of that is met by chance once in 10^14 products, and the weights of some
 * hundred values are enough for one wrong value to be beyond it.
 */
#include "backends/cpu/kernels/api/kernels.h"
#include "lib/type/blocks.h"

#include "tests/cpu/blocks.h"
#include "tests/cpu/kernels/guard.h"
#include "tests/util/random.h"

#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEVIATIONS 8.0
#define ROUNDED    0x1p-22 /* times the root of K, of the magnitudes */
#define MAX_COLS   15
#define UNTOUCHED  12345.0f

/* An outlier: values from this on among others below 1 get codes of 16 bits, of
 * which the step is a 256th; so do two of them in one block. */
#define OUTLIER 21.0f

/* Rows of weights, activations and what their products are. */
struct work {
    enum ggml_type type;
    int64_t k, rows, cols;
    struct guarded weights;
    struct guarded activations; /* k floats for each column */
    enum ggml_type from;        /* what columns are made of: F32, or */
    char *blocks;               /* such rows, which say the same */
    double *exact;              /* exact[col * rows + row] */
    double *bound;              /* how far from that a product may be */
};

/* Values as a quantiser would meet them: blocks of 32 about different means. */
static void
random_values(struct gb_random *random, int64_t k, float *values)
{
    float mean = 0.0f;

    for (int64_t i = 0; i < k; i++) {
        if (i % 32 == 0)
            mean = gb_random_float(random, -0.5f, 0.5f);
        values[i] = mean + gb_random_float(random, -1.0f, 1.0f);
    }
}

/* A quantised row: one of four as the type's quantiser makes them, the others of
 * any bytes, which have codes, scales and signs that no quantiser writes. */
static void
random_blocks(struct gb_random *random, enum ggml_type type, int64_t k,
              const float *values, char *row)
{
    const size_t bytes = ggml_row_size(type, k);

    if (gb_random_u64(random) % 4 == 0) {
        float *weights = malloc((size_t)k * sizeof(*weights) + 1);

        assert_non_null(weights);
        for (int64_t i = 0; i < k; i++)
            weights[i] = 1.0f;
        assert_int_equal(
            ggml_quantize_chunk(type, values, row, 0, 1, k, weights), bytes);
        free(weights);
        return;
    }
    for (size_t i = 0; i < bytes; i++)
        row[i] = (char)(gb_random_u64(random) >> 40);
    settle_scales(type, bytes / ggml_type_size(type), row);
}

static void
random_row(struct gb_random *random, enum ggml_type type, int64_t k, char *row)
{
    float *values = malloc((size_t)k * sizeof(*values) + 1);

    assert_non_null(values);
    random_values(random, k, values);
    if (k > 0 && ggml_is_quantized(type))
        random_blocks(random, type, k, values, row);
    else if (type == GGML_TYPE_F32)
        memcpy(row, values, (size_t)k * sizeof(*values));
    else if (k > 0)
        ggml_get_type_traits(type)->from_float_ref(values, row, k);
    free(values);
}

static void
read_row(enum ggml_type type, int64_t k, const char *row, float *values)
{
    if (type == GGML_TYPE_F32)
        memcpy(values, row, (size_t)k * sizeof(*values));
    else
        ggml_get_type_traits(type)->to_float(row, values, k);
}

/* steps[i] = the widest step that value i of a column may be rounded to: that of
 * its super-block. */
static void
find_steps(int64_t k, const float *x, double *steps)
{
    for (int64_t i = 0; i < k; i += GB_SUPER_BLOCK) {
        const int64_t end = i + GB_SUPER_BLOCK < k ? i + GB_SUPER_BLOCK : k;
        float largest = 0.0f;

        for (int64_t j = i; j < end; j++) {
            const float size = fabsf(x[j]);

            largest =
                fmaxf(largest, size < OUTLIER ? size : size / 256.0f);
        }
        for (int64_t j = i; j < end; j++)
            steps[j] = (double)largest / 127.0;
    }
}

/* Mins are multiplied with sums of activations, of sub-blocks of 16, that one
 * column's super-blocks keep with 16 bits: a step for all sums of a super-block.
 * A min is taken to be at most twice the largest weight beside it. */
static double
variance_of_sums(int64_t k, const float *values, const float *x)
{
    double variance = 0.0;

    for (int64_t i = 0; i < k; i += GB_SUPER_BLOCK) {
        double largest = 0.0;
        double squares = 0.0;

        for (int64_t j = i; j < i + GB_SUPER_BLOCK && j < k; j += 16) {
            float weight = 0.0f;
            double sum = 0.0;

            for (int64_t e = j; e < j + 16; e++) {
                weight = fmaxf(weight, fabsf(values[e]));
                sum += x[e];
            }
            largest = fabs(sum) > largest ? fabs(sum) : largest;
            squares += 4.0 * weight * weight;
        }
        largest /= 127.0 * 256.0;
        variance += squares * largest * largest / 12.0;
    }
    return variance;
}

/* What products are, of which blocks' values are not rounded before. */
static void
find_exact(struct work *w)
{
    const size_t pitch = ggml_row_size(w->type, w->k);
    const bool is_rounded =
        ggml_is_quantized(w->type) && w->from == GGML_TYPE_F32;
    const bool has_min = gb_cpu_kernels()->format(w->type)->format->has_min;
    const float *x = w->activations.data;
    const int64_t k = w->k;
    float *values = malloc((size_t)k * sizeof(*values));
    double *steps = malloc((size_t)(k * w->cols) * sizeof(*steps));

    assert_non_null(values);
    assert_non_null(steps);
    for (int64_t c = 0; c < w->cols; c++)
        find_steps(k, x + c * k, steps + c * k);
    for (int64_t r = 0; r < w->rows; r++) {
        read_row(w->type, k, (const char *)w->weights.data + (size_t)r * pitch,
                 values);
        for (int64_t c = 0; c < w->cols; c++) {
            double sum = 0.0;
            double magnitudes = 0.0;
            double variance =
                has_min ? variance_of_sums(k, values, x + c * k) : 0.0;

            for (int64_t i = 0; i < k; i++) {
                const double product =
                    (double)values[i] * (double)x[c * k + i];
                const double step = values[i] * steps[c * k + i];

                sum += product;
                magnitudes += fabs(product);
                if (is_rounded)
                    variance += step * step / 12.0;
            }
            w->exact[c * w->rows + r] = sum;
            w->bound[c * w->rows + r] =
                DEVIATIONS * sqrt(variance) +
                ROUNDED * sqrt((double)k) * magnitudes;
        }
    }
    free(values);
    free(steps);
}

static struct work
work_new(struct gb_random *random, enum ggml_type type, int64_t k,
         int64_t rows)
{
    const size_t pitch = ggml_row_size(type, k);
    struct work w = { .type = type, .k = k, .rows = rows, .cols = MAX_COLS };
    float *x;

    w.weights = guarded_new(pitch * (size_t)rows);
    w.activations = guarded_new((size_t)(k * w.cols) * sizeof(float));
    w.exact = malloc((size_t)(rows * w.cols) * sizeof(*w.exact));
    assert_non_null(w.weights.data);
    assert_non_null(w.activations.data);
    w.bound = malloc((size_t)(rows * w.cols) * sizeof(*w.bound));
    assert_non_null(w.exact);
    assert_non_null(w.bound);
    w.from = GGML_TYPE_F32;
    x = w.activations.data;
    for (int64_t i = 0; i < k * w.cols; i++)
        x[i] = gb_random_float(random, -1.0f, 1.0f);
    /* In every third column some value is far from the others; anywhere. */
    for (int64_t c = 0; c < w.cols; c += 3) {
        const uint64_t places = k < 70 ? (uint64_t)k + 1 : 70;

        for (int64_t i = (int64_t)(gb_random_u64(random) % places); i < k;
             i += 70)
            x[c * k + i] *= 300.0f;
    }
    /* Another begins with zeros. */
    for (int64_t i = 0; i < k && i < 64; i++)
        x[4 * k + i] = 0.0f;
    for (int64_t r = 0; r < rows; r++)
        random_row(random, type, k, (char *)w.weights.data + (size_t)r * pitch);
    find_exact(&w);
    return w;
}

static void
work_free(struct work *w)
{
    guarded_free(&w->weights);
    guarded_free(&w->activations);
    free(w->blocks);
    free(w->exact);
    free(w->bound);
}

/* The first COLS columns' products by one variant. */
static void
check_product(const struct gb_cpu_kernels *k, const struct work *w,
              enum gb_path path, int64_t cols)
{
    const struct gb_format_kernels *weight = k->format(w->type);
    const size_t column_bytes =
        gb_path_activation_bytes(weight->format, path, w->k);
    const size_t pitch = ggml_row_size(w->type, w->k);
    struct guarded columns = guarded_new(column_bytes * MAX_COLS);
    struct guarded scratch = guarded_new(GB_PRODUCT_SCRATCH);
    float results[MAX_COLS][130];
    const void *column[MAX_COLS];
    float *dst[MAX_COLS];
    const struct gb_product product = {
        .k = w->k,
        .rows = w->rows,
        .cols = cols,
        .weights = w->weights.data,
        .pitch = pitch,
        .columns = column,
        .dst = dst,
        .scratch = scratch.data,
    };

    assert_non_null(columns.data);
    assert_non_null(scratch.data);
    for (int64_t c = 0; c < cols; c++) {
        char *to = (char *)columns.data + (size_t)c * column_bytes;
        const char *from =
            w->from == GGML_TYPE_F32
                ? (const char *)w->activations.data +
                      (size_t)(c * w->k) * sizeof(float)
                : w->blocks + (size_t)c * ggml_row_size(w->from, w->k);

        k->pack_activations(weight->format, path, w->k, from, w->from, to);
        column[c] = to;
        dst[c] = results[c];
        for (int64_t r = 0; r < 130; r++)
            results[c][r] = UNTOUCHED;
    }
    k->multiply(path, weight, &product);
    for (int64_t c = 0; c < cols; c++) {
        for (int64_t r = 0; r < w->rows; r++) {
            const double want = w->exact[c * w->rows + r];
            const double bound = w->bound[c * w->rows + r];

            if (!(fabs(results[c][r] - want) <= bound))
                fail_msg("%s %s: %g, not %g within %g, with k %d, row %d of "
                         "%d, column %d of %d, path %d",
                         k->variant, ggml_type_name(w->type), results[c][r],
                         want, bound, (int)w->k, (int)r, (int)w->rows, (int)c,
                         (int)cols, (int)path);
        }
        for (int64_t r = w->rows; r < 130; r++)
            if (results[c][r] != UNTOUCHED)
                fail_msg("%s %s: row %d of %d was written", k->variant,
                         ggml_type_name(w->type), (int)r, (int)w->rows);
    }
    guarded_free(&columns);
    guarded_free(&scratch);
}

static void
products_are_right_and_stay_within_their_rows(void **state)
{
    static const int64_t rows[] = { 1, 3, 8, 17, 33, 66 };
    static const int64_t columns[] = { 1, 2, 3, 5, 8, MAX_COLS };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(1));
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        const int64_t block = ggml_blck_size((enum ggml_type)type);

        if (gb_cpu_kernels()->format((enum ggml_type)type) == NULL)
            continue;
        for (int i = 0; i < 6; i++) {
            /* Rows of blocks of 32 values end anywhere in a super-block. */
            const int64_t k =
                block == 1 ? 37 * i + i * i * i + 1
                           : block * (1 + i * (256 / block) / 2 + i / 2);
            struct work w =
                work_new(&random, (enum ggml_type)type, k, rows[i]);

            for (const struct gb_cpu_kernels *const *variant =
                     gb_cpu_kernels_all();
                 *variant != NULL; variant++)
                for (int c = 0; c < 6; c++)
                    for (int path = 0; path <= GB_PATH_GEMM; path++)
                        if (path != GB_PATH_SKINNY || ggml_is_quantized(w.type))
                            check_product(
                                *variant, &w, (enum gb_path)path, columns[c]);
            work_free(&w);
        }
    }
}

/* Three outliers in each 32 values, which meet weights that are zero: what is
 * left of a product is the other values', to be as exact as without. */
static void
outliers_take_nothing_from_their_neighbours(void **state)
{
    static const int places[] = { 3, 17, 30 };
    struct gb_random random;
    struct work w;
    float *x;

    (void)state;
    gb_random_init(&random, gb_test_seed(8));
    w = work_new(&random, GGML_TYPE_Q8_0, 1280, 35);
    x = w.activations.data;
    for (int64_t i = 0; i < w.k * w.cols; i++)
        x[i] = gb_random_float(&random, -1.0f, 1.0f);
    for (int i = 0; i < 3; i++) {
        struct gb_block_q8_0 *blocks = w.weights.data;

        for (int64_t b = 0; b < w.k / 32 * w.rows; b++)
            blocks[b].qs[places[i]] = 0;
        for (int64_t b = 0; b < w.k / 32 * w.cols; b++)
            x[32 * b + places[i]] *= 300.0f;
    }
    find_exact(&w);
    for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
         *variant != NULL; variant++)
        for (int path = 0; path <= GB_PATH_GEMM; path++)
            check_product(*variant, &w, (enum gb_path)path, MAX_COLS);
    work_free(&w);
}

/* The value of element I of a row of quantised activations. */
static float
block_value(enum ggml_type type, const char *row, int64_t i)
{
    const struct gb_block_q8_0 *q8_0 = (const void *)row;
    const struct gb_block_q8_1 *q8_1 = (const void *)row;
    const struct gb_block_q8_k *q8_k = (const void *)row;

    switch ((int)type) {
    case GGML_TYPE_Q8_0:
        return block_half(q8_0[i / 32].d) * q8_0[i / 32].qs[i % 32];
    case GGML_TYPE_Q8_1:
        return block_half(q8_1[i / 32].d) * q8_1[i / 32].qs[i % 32];
    default:
        return block_float(q8_k[i / 256].d) * q8_k[i / 256].qs[i % 256];
    }
}

/* Columns become blocks of the type that WEIGHT's activations may have. */
static void
use_blocks(struct work *w)
{
    const struct gb_cpu_kernels *k = gb_cpu_kernels();
    const enum ggml_type type = k->format(w->type)->format->activation;
    const size_t bytes = ggml_row_size(type, w->k);
    float *x = w->activations.data;

    w->from = type;
    w->blocks = malloc(bytes * (size_t)w->cols);
    assert_non_null(w->blocks);
    for (int64_t c = 0; c < w->cols; c++, x += w->k) {
        char *row = w->blocks + (size_t)c * bytes;

        if (type == GGML_TYPE_Q8_0)
            k->quantize_row_q8_0(x, row, w->k);
        else if (type == GGML_TYPE_Q8_1)
            k->quantize_row_q8_1(x, row, w->k);
        else
            k->quantize_row_q8_K(x, row, w->k);
        for (int64_t i = 0; i < w->k; i++)
            x[i] = block_value(type, row, i);
    }
    find_exact(w);
}

/* Activations may come with codes of eight bits: those are used.  Columns are
 * longer than what is made of them at a time. */
static void
activations_that_are_blocks_already(void **state)
{
    static const int64_t columns[] = { 1, 5, MAX_COLS };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(6));
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        struct work w;

        if (!ggml_is_quantized((enum ggml_type)type) ||
            gb_cpu_kernels()->format((enum ggml_type)type) == NULL)
            continue;
        w = work_new(&random, (enum ggml_type)type, 1536, 35);
        for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
             *variant != NULL; variant++)
            check_product(*variant, &w, GB_PATH_GEMM, 5);
        use_blocks(&w);
        for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
             *variant != NULL; variant++)
            for (int c = 0; c < 3; c++)
                for (int path = 0; path <= GB_PATH_GEMM; path++)
                    check_product(*variant, &w, (enum gb_path)path, columns[c]);
        work_free(&w);
    }
}

/* Sums of nothing are zeros; what there are no weights of has no products. */
static void
rows_of_no_length_and_types_that_are_none(void **state)
{
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(7));
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        struct work w;

        if (gb_cpu_kernels()->format((enum ggml_type)type) == NULL)
            continue;
        w = work_new(&random, (enum ggml_type)type, 0, 5);
        for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
             *variant != NULL; variant++) {
            check_product(*variant, &w, GB_PATH_GEMV, 1);
            check_product(*variant, &w, GB_PATH_GEMV, 4);
            assert_null((*variant)->format(GGML_TYPE_COUNT));
            assert_null((*variant)->format(GGML_TYPE_F64));
        }
        work_free(&w);
    }
}

/* Threads share rows out as they come: none knows who its neighbours are. */
static void
check_rows_alone(const struct gb_cpu_kernels *k, const struct work *w)
{
    const struct gb_format_kernels *weight = k->format(w->type);
    const size_t pitch = ggml_row_size(w->type, w->k);
    const size_t bytes =
        gb_path_activation_bytes(weight->format, GB_PATH_GEMV, w->k);
    struct guarded column = guarded_new(bytes);
    float together[130], alone[130];

    assert_non_null(column.data);
    k->pack_activations(weight->format, GB_PATH_GEMV, w->k,
                        w->activations.data, GGML_TYPE_F32, column.data);
    weight->gemv(w->k, w->rows, w->weights.data, pitch, column.data, together);
    for (int64_t r = 0; r < w->rows; r++)
        weight->gemv(w->k, 1, (char *)w->weights.data + (size_t)r * pitch,
                     pitch, column.data, alone + r);
    assert_memory_equal(together, alone, (size_t)w->rows * sizeof(*alone));
    guarded_free(&column);
}

static void
a_long_column_meets_several_rows(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16, GGML_TYPE_Q8_0,
        GGML_TYPE_Q2_K,
    };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(5));
    for (int t = 0; t < 10; t++) {
        const enum ggml_type type = types[t % 5];
        /* Whole vectors, and not. */
        const int64_t k = ggml_is_quantized(type) ? 4352
                          : t < 5                 ? 4211
                                                  : 4224;
        struct work w = work_new(&random, type, k, 7);

        for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
             *variant != NULL; variant++) {
            check_product(*variant, &w, GB_PATH_GEMV, 1);
            check_rows_alone(*variant, &w);
        }
        work_free(&w);
    }
}

/* What a column gets does not depend on what it is computed with. */
static void
a_column_is_the_same_beside_others(void **state)
{
    static const struct {
        enum ggml_type type;
        enum gb_path path;
    } products[] = {
        { GGML_TYPE_F32, GB_PATH_SKINNY },  { GGML_TYPE_F32, GB_PATH_GEMM },
        { GGML_TYPE_Q4_0, GB_PATH_SKINNY }, { GGML_TYPE_Q4_0, GB_PATH_GEMM },
        { GGML_TYPE_Q8_0, GB_PATH_GEMM },   { GGML_TYPE_Q6_K, GB_PATH_SKINNY },
        { GGML_TYPE_Q6_K, GB_PATH_GEMM },
    };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(2));
    for (size_t t = 0; t < sizeof(products) / sizeof(products[0]); t++) {
        const enum ggml_type type = products[t].type;
        const enum gb_path path = products[t].path;
        struct work w = work_new(&random, type, 768, 40);

        for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
             *variant != NULL; variant++) {
            const struct gb_cpu_kernels *k = *variant;
            const struct gb_format_kernels *weight = k->format(type);
            const size_t bytes =
                gb_path_activation_bytes(weight->format, path, w.k);
            char *columns = malloc(bytes * MAX_COLS);
            void *scratch = aligned_alloc(64, GB_PRODUCT_SCRATCH);
            float alone[MAX_COLS][40];
            float again[3][40];
            float all[MAX_COLS][40];
            const void *column[MAX_COLS];
            float *dst[MAX_COLS];
            struct gb_product product = {
                .k = w.k,
                .rows = w.rows,
                .weights = w.weights.data,
                .pitch = ggml_row_size(type, w.k),
                .columns = column,
                .dst = dst,
                .scratch = scratch,
            };

            assert_non_null(columns);
            assert_non_null(scratch);
            for (int c = 0; c < MAX_COLS; c++) {
                k->pack_activations(
                    weight->format, path, w.k,
                    (const float *)w.activations.data + c * w.k,
                    GGML_TYPE_F32, columns + (size_t)c * bytes);
                for (int i = 0; i < 4; i++) {
                    column[i] = columns + (size_t)c * bytes;
                    dst[i] = i == 0 ? alone[c] : again[i - 1];
                }
                product.cols = 4;
                k->multiply(path, weight, &product);
            }
            for (int c = 0; c < MAX_COLS; c++) {
                column[c] = columns + (size_t)c * bytes;
                dst[c] = all[c];
            }
            product.cols = MAX_COLS;
            k->multiply(path, weight, &product);
            if (memcmp(alone, all, sizeof(all)) != 0)
                fail_msg("%s %s: columns change each other, path %d",
                         k->variant, ggml_type_name(type), (int)path);
            free(columns);
            free(scratch);
        }
        work_free(&w);
    }
}

/* A row of weights and a row of the type that it is multiplied with. */
static void
dots_of_two_rows(void **state)
{
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(3));
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        const struct gb_format_kernels *weight =
            gb_cpu_kernels()->format((enum ggml_type)type);
        struct work w;

        if (weight == NULL)
            continue;
        w = work_new(&random, (enum ggml_type)type, 1280, 1);
        for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
             *variant != NULL; variant++) {
            const struct gb_cpu_kernels *k = *variant;
            const enum ggml_type act = weight->format->activation;
            struct guarded row = guarded_new(ggml_row_size(act, w.k));
            /* A column without outliers, which 8 bits may round. */
            const float *x = (const float *)w.activations.data + w.k;
            float got;

            assert_non_null(row.data);
            if (act == GGML_TYPE_F32)
                memcpy(row.data, x, (size_t)w.k * sizeof(*x));
            else if (act == GGML_TYPE_F16)
                k->f32_to_f16(w.k, row.data, x);
            else if (act == GGML_TYPE_BF16)
                k->f32_to_bf16(w.k, row.data, x);
            else if (act == GGML_TYPE_Q8_0)
                k->quantize_row_q8_0(x, row.data, w.k);
            else if (act == GGML_TYPE_Q8_1)
                k->quantize_row_q8_1(x, row.data, w.k);
            else
                k->quantize_row_q8_K(x, row.data, w.k);
            got = k->dot((enum ggml_type)type, w.k, w.weights.data, row.data);
            /* One sum may be small by chance: compared with the root of the
             * squares' sum of its terms, which it is of the size of. */
            {
                float values[1280];
                double squares = 0.0;

                read_row((enum ggml_type)type, w.k, w.weights.data, values);
                for (int64_t i = 0; i < w.k; i++)
                    squares += (double)values[i] * values[i] * x[i] * x[i];
                if (!(fabs(got - w.exact[1]) < 0.03 * sqrt(squares)))
                    fail_msg("%s %s: %g, not %g (terms %g)", k->variant,
                             ggml_type_name((enum ggml_type)type), got,
                             w.exact[1], sqrt(squares));
            }
            guarded_free(&row);
        }
        work_free(&w);
    }
}

/* Rows side by side, narrower and wider than panels; added to what is there. */
static void
outer_products(void **state)
{
    static const int64_t widths[] = { 1, 7, 32, 33, 100 };
    static const int64_t lengths[] = { 0, 1, 5, 300, 1100 };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(4));
    for (int i = 0; i < 25; i++) {
        const int64_t n = widths[i % 5];
        const int64_t k = lengths[i / 5];
        const size_t pitch = (size_t)(n + i % 2) * sizeof(float);
        struct guarded weights = guarded_new(
            k == 0 ? 0 : pitch * (size_t)(k - 1) + (size_t)n * sizeof(float));
        struct guarded column = guarded_new((size_t)k * sizeof(float));
        struct guarded scratch = guarded_new(GB_PRODUCT_SCRATCH);

        assert_non_null(scratch.data);
        for (int64_t j = 0; j < k; j++) {
            ((float *)column.data)[j] = gb_random_float(&random, -1.0f, 1.0f);
            for (int64_t r = 0; r < n; r++)
                ((float *)(void *)((char *)weights.data +
                                   (size_t)j * pitch))[r] =
                    gb_random_float(&random, -1.0f, 1.0f);
        }
        for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
             *variant != NULL; variant++) {
            for (int add = 0; add <= 1; add++) {
                const void *columns[] = { column.data };
                struct guarded result =
                    guarded_new((size_t)n * sizeof(float));
                float *dst[] = { result.data };

                for (int64_t r = 0; r < n; r++)
                    dst[0][r] = 0.5f;
                (*variant)->outer(
                    &(const struct gb_product){
                        .k = k, .rows = n, .cols = 1,
                        .weights = weights.data, .pitch = pitch,
                        .columns = columns, .dst = dst,
                        .scratch = scratch.data },
                    add != 0);
                for (int64_t r = 0; r < n; r++) {
                    double want = add != 0 ? 0.5 : 0.0;

                    for (int64_t j = 0; j < k; j++)
                        want += (double)((const float *)column.data)[j] *
                                ((const float *)(const void *)(
                                    (const char *)weights.data +
                                    (size_t)j * pitch))[r];
                    if (!(fabs(dst[0][r] - want) < 1e-5 * (1.0 + (double)k)))
                        fail_msg("%s: %g, not %g (n %d, k %d, add %d)",
                                 (*variant)->variant, dst[0][r], want, (int)n,
                                 (int)k, add);
                }
                guarded_free(&result);
            }
        }
        guarded_free(&weights);
        guarded_free(&column);
        guarded_free(&scratch);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right_and_stay_within_their_rows),
        cmocka_unit_test(outliers_take_nothing_from_their_neighbours),
        cmocka_unit_test(activations_that_are_blocks_already),
        cmocka_unit_test(rows_of_no_length_and_types_that_are_none),
        cmocka_unit_test(a_long_column_meets_several_rows),
        cmocka_unit_test(a_column_is_the_same_beside_others),
        cmocka_unit_test(dots_of_two_rows),
        cmocka_unit_test(outer_products),
    };

    const int failed =
        cmocka_run_group_tests_name("product kernels", tests, NULL, NULL);

    ggml_quantize_free();
    return failed;
}
