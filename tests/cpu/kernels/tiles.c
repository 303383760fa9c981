/* SPDX-License-Identifier: MIT */
/*
 * Products by tiles (GB_PATH_TILES), on every variant that has them: right
 * numbers, the same bits on all and beside any other columns, nothing read
 * behind the rows' ends, nothing written but the results.
 *
 * Bounds follow from what is rounded.  Values that become BF16 are off by up to
 * 2^-9 of themselves, with a variance of a third of that squared; eight times
 * the deviation of the whole sum is met by chance once in 10^14 products. 
 * Floats are multiplied exactly, and sums of K products are rounded as in
 * product.c.
 */
#include "backends/cpu/kernels/api/kernels.h"

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
#define MAX_ROWS   70
#define MAX_COLS   50
#define UNTOUCHED  12345.0f

/* Results lie one column behind the other, with some floats between, or the
 * columns change places. */
enum order { IN_ORDER, MIXED };

struct work {
    enum ggml_type type;
    int64_t k, rows;
    struct guarded weights;
    float *values;      /* of the weights */
    float *activations; /* k floats for each column */
};

static void
make_row(struct gb_random *random, enum ggml_type type, int64_t k, void *row)
{
    float *values = malloc((size_t)k * sizeof(*values));
    float *importance = malloc((size_t)k * sizeof(*importance));

    assert_non_null(values);
    assert_non_null(importance);
    for (int64_t i = 0; i < k; i++) {
        values[i] = gb_random_float(random, -1.0f, 1.0f) + (i / 32 % 3 == 0);
        importance[i] = 1.0f;
    }
    if (type == GGML_TYPE_F32)
        memcpy(row, values, (size_t)k * sizeof(*values));
    else
        ggml_quantize_chunk(type, values, row, 0, 1, k, importance);
    free(values);
    free(importance);
}

static struct work
work_new(struct gb_random *random, enum ggml_type type, int64_t k, int64_t rows)
{
    const size_t pitch = ggml_row_size(type, k);
    struct work w = { .type = type, .k = k, .rows = rows };

    w.weights = guarded_new(pitch * (size_t)rows);
    w.values = malloc((size_t)(k * rows) * sizeof(float));
    w.activations = malloc((size_t)(k * MAX_COLS) * sizeof(float));
    assert_non_null(w.weights.data);
    assert_non_null(w.values);
    assert_non_null(w.activations);
    for (int64_t r = 0; r < rows; r++) {
        char *row = (char *)w.weights.data + (size_t)r * pitch;

        make_row(random, type, k, row);
        if (type == GGML_TYPE_F32)
            memcpy(w.values + r * k, row, pitch);
        else
            ggml_get_type_traits(type)->to_float(row, w.values + r * k, k);
    }
    for (int64_t i = 0; i < k * MAX_COLS; i++)
        w.activations[i] = gb_random_float(random, -1.0f, 1.0f) *
                           (gb_random_u64(random) % 70 == 0 ? 300.0f : 1.0f);
    return w;
}

static void
work_free(struct work *w)
{
    guarded_free(&w->weights);
    free(w->values);
    free(w->activations);
}

/* The products of COLS columns from column FIRST on; whatever lies in the
 * memory that is given has no part in them. */
static void
multiply(const struct gb_cpu_kernels *k, const struct work *w, int64_t first,
         int64_t cols, enum order order, float results[MAX_COLS][MAX_ROWS + 1])
{
    const struct gb_format_kernels *weight = k->format(w->type);
    const size_t column_bytes =
        gb_path_activation_bytes(weight->format, GB_PATH_TILES, w->k);
    const size_t packed_bytes = column_bytes * (size_t)((cols + 15) / 16 * 16);
    struct guarded packed = guarded_new(packed_bytes);
    struct guarded scratch = guarded_new(GB_PRODUCT_SCRATCH);
    const size_t sums_bytes = gb_tile_sums_bytes(w->rows, cols);
    struct guarded sums = guarded_new(sums_bytes);
    float *dst[MAX_COLS];
    const struct gb_product product = {
        .k = w->k,
        .rows = w->rows,
        .cols = cols,
        .weights = w->weights.data,
        .pitch = ggml_row_size(w->type, w->k),
        .packed = packed.data,
        .dst = dst,
        .scratch = scratch.data,
        .sums = sums.data,
    };

    assert_non_null(packed.data);
    assert_non_null(scratch.data);
    assert_non_null(sums.data);
    memset(packed.data, 0xff, packed_bytes); /* NaN */
    memset(scratch.data, 0xff, GB_PRODUCT_SCRATCH);
    memset(sums.data, 0xff, sums_bytes);
    for (int64_t c = 0; c < cols; c++) {
        const int64_t at = order == MIXED ? (c + cols / 2) % cols : c;

        k->pack_tiles(weight->format, w->k, cols, c,
                      w->activations + (first + c) * w->k, GGML_TYPE_F32,
                      packed.data);
        dst[c] = results[at];
        for (int64_t r = 0; r <= MAX_ROWS; r++)
            results[at][r] = UNTOUCHED;
    }
    k->multiply(GB_PATH_TILES, weight, &product);
    k->release_tiles();
    if (order == MIXED) { /* back to their places */
        float copy[MAX_COLS][MAX_ROWS + 1];

        memcpy(copy, results, sizeof(copy));
        for (int64_t c = 0; c < cols; c++)
            memcpy(results[c], copy[(c + cols / 2) % cols], sizeof(copy[c]));
    }
    guarded_free(&packed);
    guarded_free(&scratch);
    guarded_free(&sums);
}

static void
check_results(const struct gb_cpu_kernels *k, const struct work *w,
              int64_t cols, float results[MAX_COLS][MAX_ROWS + 1])
{
    const bool is_exact = w->type == GGML_TYPE_F32 || w->type == GGML_TYPE_F16;

    for (int64_t c = 0; c < cols; c++) {
        for (int64_t r = 0; r < w->rows; r++) {
            const float *x = w->activations + c * w->k;
            const float *y = w->values + r * w->k;
            double sum = 0.0;
            double magnitudes = 0.0;
            double squares = 0.0;
            double bound;

            for (int64_t i = 0; i < w->k; i++) {
                const double product = (double)x[i] * (double)y[i];

                sum += product;
                magnitudes += fabs(product);
                squares += product * product;
            }
            bound = ROUNDED * sqrt((double)w->k) * magnitudes;
            if (!is_exact)
                bound += DEVIATIONS * sqrt(squares * 2.0 * 0x1p-18 / 3.0);
            if (!(fabs(results[c][r] - sum) <= bound))
                fail_msg("%s %s: %g, not %g within %g, with k %d, row %d of "
                         "%d, column %d of %d",
                         k->variant, ggml_type_name(w->type), results[c][r],
                         sum, bound, (int)w->k, (int)r, (int)w->rows, (int)c,
                         (int)cols);
        }
        for (int64_t r = w->rows; r <= MAX_ROWS; r++)
            if (results[c][r] != UNTOUCHED)
                fail_msg("%s %s: row %d of %d was written", k->variant,
                         ggml_type_name(w->type), (int)r, (int)w->rows);
    }
}

/* On all variants with tiles, their results to the bit. */
static void
check_work(const struct work *w, int64_t cols)
{
    static float first[MAX_COLS][MAX_ROWS + 1];
    static float results[MAX_COLS][MAX_ROWS + 1];
    const char *variant = NULL;

    for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
         *k != NULL; k++) {
        if ((*k)->pack_tiles == NULL)
            continue;
        multiply(*k, w, 0, cols, IN_ORDER, results);
        check_results(*k, w, cols, results);
        if (variant == NULL) {
            memcpy(first, results, sizeof(first));
            variant = (*k)->variant;
        } else {
            assert_memory_equal(results, first,
                                (size_t)cols * sizeof(results[0]));
        }
        multiply(*k, w, 0, cols, MIXED, results);
        assert_memory_equal(results, first, (size_t)cols * sizeof(results[0]));
        /* Without the first columns. */
        if (cols > 20) {
            multiply(*k, w, 3, cols - 3, IN_ORDER, results);
            assert_memory_equal(results, first[3],
                                (size_t)(cols - 3) * sizeof(results[0]));
        }
    }
    assert_non_null(variant);
}

static void
products_are_right_and_stay_within_their_rows(void **state)
{
    static const int64_t rows[] = { 33, 16, 1, 66, 32, 17 };
    static const int64_t columns[] = { 33, 17, 50, 16, 32, 1 };
    static const int64_t lengths[] = { 33, 320, 321, 545, 700, 1 };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(31));
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        const int64_t block = ggml_blck_size((enum ggml_type)type);

        if (gb_cpu_kernels()->format((enum ggml_type)type) == NULL)
            continue;
        for (int i = 0; i < 6; i++) {
            const int64_t k = block == 1    ? lengths[i]
                              : block == 32 ? 32 * (1 + i * i + 3 * i)
                                            : 256 * (1 + i);
            struct work w =
                work_new(&random, (enum ggml_type)type, k, rows[i]);

            check_work(&w, columns[i]);
            work_free(&w);
        }
    }
}

/* Root of the mean of the squares of differences from the exact sums; of a sum
 * by fused multiply-adds in order too. */
static void
floats_are_as_exact_as_by_fma(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16 };
    static const int64_t lengths[] = { 64, 576, 4096 };
    static float results[MAX_COLS][MAX_ROWS + 1];
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(32));
    for (int t = 0; t < 2; t++)
        for (int l = 0; l < 3; l++) {
            struct work w = work_new(&random, types[t], lengths[l], 32);

            for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
                 *k != NULL; k++) {
                double tiles = 0.0;
                double fma = 0.0;

                if ((*k)->pack_tiles == NULL)
                    continue;
                multiply(*k, &w, 0, 32, IN_ORDER, results);
                for (int c = 0; c < 32; c++)
                    for (int r = 0; r < 32; r++) {
                        const float *x = w.activations + c * w.k;
                        const float *y = w.values + r * w.k;
                        double exact = 0.0;
                        float sum = 0.0f;

                        for (int64_t i = 0; i < w.k; i++) {
                            exact += (double)x[i] * (double)y[i];
                            sum = fmaf(x[i], y[i], sum);
                        }
                        tiles += pow(results[c][r] - exact, 2.0);
                        fma += pow(sum - exact, 2.0);
                    }
                if (!(tiles <= fma))
                    fail_msg("%s %s, k %d: error %g, by FMA %g", (*k)->variant,
                             ggml_type_name(types[t]), (int)w.k,
                             sqrt(tiles / 1024.0), sqrt(fma / 1024.0));
            }
            work_free(&w);
        }
}

/* What is no number stays with its row and its column. */
static void
infinities_and_nan_stay_where_they_are(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16
    };
    static const float values[] = { NAN, INFINITY, -INFINITY, 0x1.fffffep127f };
    static float results[MAX_COLS][MAX_ROWS + 1];
    static float clean[MAX_COLS][MAX_ROWS + 1];
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(33));
    for (int t = 0; t < 3; t++)
        for (int v = 0; v < 4; v++) {
            struct work w = work_new(&random, types[t], 100, 40);
            char *row =
                (char *)w.weights.data + 20 * ggml_row_size(types[t], 100);

            for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
                 *k != NULL; k++) {
                if ((*k)->pack_tiles == NULL)
                    continue;
                multiply(*k, &w, 0, 20, IN_ORDER, clean);
                w.activations[5 * w.k + 50] = values[v];
                if (types[t] == GGML_TYPE_F32)
                    ((float *)(void *)row)[7] = values[v];
                else
                    ggml_get_type_traits(types[t])->from_float_ref(
                        &values[v], row + 2 * 7, 1);
                multiply(*k, &w, 0, 20, IN_ORDER, results);
                for (int c = 0; c < 20; c++)
                    for (int r = 0; r < 40; r++) {
                        if (c != 5 && r != 20)
                            assert_true(results[c][r] == clean[c][r]);
                        else if (v < 3)
                            assert_false(isfinite(results[c][r]));
                    }
                w.activations[5 * w.k + 50] = 0.5f;
            }
            work_free(&w);
        }
}

/* Activations of float weights may have their type. */
static void
activations_of_the_weights_type(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F16, GGML_TYPE_BF16 };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(34));
    for (int t = 0; t < 2; t++) {
        uint16_t halves[77];
        float floats[77];

        for (int i = 0; i < 77; i++)
            floats[i] = gb_random_float(&random, -3.0f, 3.0f);
        ggml_get_type_traits(types[t])->from_float_ref(floats, halves, 77);
        ggml_get_type_traits(types[t])->to_float(halves, floats, 77);
        for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
             *k != NULL; k++) {
            const struct gb_format *format = (*k)->format(types[t])->format;
            const size_t bytes = gb_tile_column_bytes(format, 77) * 16;
            struct guarded of_halves = guarded_new(bytes);
            struct guarded of_floats = guarded_new(bytes);

            assert_non_null(of_halves.data);
            assert_non_null(of_floats.data);
            if ((*k)->pack_tiles != NULL) {
                (*k)->pack_tiles(format, 77, 1, 0, halves, types[t],
                                 of_halves.data);
                (*k)->pack_tiles(format, 77, 1, 0, floats, GGML_TYPE_F32,
                                 of_floats.data);
                assert_memory_equal(of_halves.data, of_floats.data, bytes);
            }
            guarded_free(&of_halves);
            guarded_free(&of_floats);
        }
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_right_and_stay_within_their_rows),
        cmocka_unit_test(floats_are_as_exact_as_by_fma),
        cmocka_unit_test(infinities_and_nan_stay_where_they_are),
        cmocka_unit_test(activations_of_the_weights_type),
    };

    return cmocka_run_group_tests_name("products by tiles", tests, NULL, NULL);
}
