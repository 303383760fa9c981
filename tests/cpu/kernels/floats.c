/* SPDX-License-Identifier: MIT */
/*
 * Products of float weights with columns, on every variant: every number of
 * columns, which are packed or lie somewhere, every remainder of the numbers of
 * rows and of what rows are long.
 *
 * All numbers are small multiples of a power of two, which each of the types has,
 * and so are all sums of their products: nothing is rounded, in whatever order
 * they are added, and the results are those of integers.
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

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_COLS  31 /* a few groups, and what is left */
#define MAX_ROWS  70
#define UNTOUCHED 12345.0f
#define UNIT      0x1p-6f

static const enum ggml_type types[] = {
    GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_BF16,
};

/* Columns of floats. */
enum place {
    ANYWHERE,
    APART,   /* each as far from the one before */
    ALIASED, /* the same, by a multiple of 4096 bytes */
    PACKED,  /* by pack() */
};

/* Rows of weights, activations and what their products are. */
struct work {
    enum ggml_type type;
    int64_t k;
    int64_t rows;
    struct guarded weights;
    int *activations;  /* of MAX_COLS columns, over UNIT */
    float *exact;      /* exact[col * rows + row] */
    void *scratch;
    float *results;    /* MAX_ROWS + 1 of each column */
    char *packed;
    float *columns;
    char *row;
};

static int
draw(struct gb_random *random)
{
    return (int)((gb_random_u64(random) >> 33) % 129) - 64;
}

/* As N values of TYPE. */
static void
write_values(enum ggml_type type, int64_t n, const int *values, void *to)
{
    for (int64_t i = 0; i < n; i++) {
        const float value = (float)values[i] * UNIT;

        if (type == GGML_TYPE_F32)
            ((float *)to)[i] = value;
        else
            ((uint16_t *)to)[i] = type == GGML_TYPE_F16
                                      ? ggml_fp32_to_fp16(value)
                                      : ggml_fp32_to_bf16(value).bits;
    }
}

/* Floats from one column to the next. */
static int64_t
apart(enum place place, int64_t k)
{
    return place == ALIASED ? (k + 1023) / 1024 * 1024 : k + 3;
}

static struct work
work_new(struct gb_random *random, enum ggml_type type, int64_t k,
         int64_t rows)
{
    struct work w = { .type = type, .k = k, .rows = rows };
    const size_t pitch = ggml_row_size(type, k);
    int *values = malloc((size_t)k * sizeof(*values));
    const size_t column_floats =
        (size_t)apart(APART, k) + (size_t)apart(ALIASED, k);

    w.weights = guarded_new(pitch * (size_t)rows);
    w.activations = malloc((size_t)(k * MAX_COLS) * sizeof(int));
    w.exact = malloc((size_t)(rows * MAX_COLS) * sizeof(float));
    w.scratch = aligned_alloc(64, GB_PRODUCT_SCRATCH);
    w.results = malloc(MAX_COLS * (MAX_ROWS + 1) * sizeof(float));
    w.packed = aligned_alloc(64, gb_float_panel_bytes(k) * 2 * GB_PACKED_COLS * 2);
    w.columns = malloc(column_floats * MAX_COLS * sizeof(float));
    w.row = malloc((size_t)k * sizeof(float));
    assert_non_null(values);
    assert_non_null(w.weights.data);
    assert_non_null(w.activations);
    assert_non_null(w.exact);
    assert_non_null(w.scratch);
    assert_non_null(w.results);
    assert_non_null(w.packed);
    assert_non_null(w.columns);
    assert_non_null(w.row);
    for (int64_t i = 0; i < k * MAX_COLS; i++)
        w.activations[i] = draw(random);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < k; i++)
            values[i] = draw(random);
        write_values(type, k, values,
                     (char *)w.weights.data + (size_t)r * pitch);
        for (int64_t c = 0; c < MAX_COLS; c++) {
            long sum = 0;

            for (int64_t i = 0; i < k; i++)
                sum += (long)values[i] * w.activations[c * k + i];
            w.exact[c * rows + r] = (float)sum * UNIT * UNIT;
        }
    }
    free(values);
    return w;
}

static void
work_free(struct work *w)
{
    guarded_free(&w->weights);
    free(w->activations);
    free(w->exact);
    free(w->scratch);
    free(w->results);
    free(w->packed);
    free(w->columns);
    free(w->row);
}

/* The first COLS columns at PLACE, packed from rows of type FROM. */
static void
place_columns(const struct gb_cpu_kernels *k, const struct work *w,
              enum place place, enum ggml_type from, int64_t cols,
              struct gb_product *product, const void **columns)
{
    const struct gb_format *format = k->format(w->type)->format;

    if (place == PACKED) {
        product->packed = w->packed;
        for (int64_t c = 0; c < cols; c++) {
            write_values(from, w->k, w->activations + c * w->k, w->row);
            k->pack_floats(format, w->k, cols, c, w->row, from, w->packed);
        }
        return;
    }
    product->columns = columns;
    if (place == APART)
        product->column_pitch = (size_t)apart(place, w->k) * sizeof(float);
    for (int64_t c = 0; c < cols; c++) {
        float *at = w->columns + c * apart(place, w->k);

        /* Two of them change places. */
        if (place == ANYWHERE && c + 2 >= cols && cols > 1)
            at = w->columns + (2 * cols - 3 - c) * apart(place, w->k);
        write_values(GGML_TYPE_F32, w->k, w->activations + c * w->k, at);
        columns[c] = at;
    }
}

static void
check_results(const struct gb_cpu_kernels *k, const struct work *w,
              enum place place, enum ggml_type from, int64_t cols)
{
    for (int64_t c = 0; c < MAX_COLS; c++)
        for (int64_t r = 0; r <= MAX_ROWS; r++) {
            const bool is_in = c < cols && r < w->rows;
            const float want = is_in ? w->exact[c * w->rows + r] : UNTOUCHED;
            const float got = w->results[c * (MAX_ROWS + 1) + r];

            if (got != want)
                fail_msg("%s %s: %g, not %g: row %d of %d, column %d of %d, "
                         "k %d, place %d of %s", k->variant,
                         ggml_type_name(w->type), got, want, (int)r,
                         (int)w->rows, (int)c, (int)cols, (int)w->k,
                         (int)place, ggml_type_name(from));
        }
}

static void
check_path(const struct gb_cpu_kernels *k, const struct work *w,
           enum gb_path path, enum place place, enum ggml_type from,
           int64_t cols)
{
    const void *columns[MAX_COLS];
    float *dst[MAX_COLS];
    struct gb_product product = {
        .k = w->k,
        .rows = w->rows,
        .cols = cols,
        .weights = w->weights.data,
        .pitch = ggml_row_size(w->type, w->k),
        .dst = dst,
        .scratch = w->scratch,
    };

    place_columns(k, w, place, from, cols, &product, columns);
    for (int i = 0; i < MAX_COLS * (MAX_ROWS + 1); i++)
        w->results[i] = UNTOUCHED;
    for (int64_t c = 0; c < cols; c++)
        dst[c] = w->results + c * (MAX_ROWS + 1);
    k->multiply(path, k->format(w->type), &product);
    check_results(k, w, place, from, cols);
}

/* By panels of weights, and by the path that so many columns take. */
static void
check(const struct gb_cpu_kernels *k, const struct work *w, enum place place,
      enum ggml_type from, int64_t cols)
{
    check_path(k, w, place == PACKED ? GB_PATH_GEMM_PACKED : GB_PATH_GEMM,
               place, from, cols);
    if (place != PACKED)
        check_path(k, w,
                   gb_path_of(k->format(w->type)->format, w->k, cols), place,
                   from, cols);
}

static void
check_all(const struct work *w)
{
    for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
         *variant != NULL; variant++)
        for (int64_t cols = 1; cols <= MAX_COLS; cols++) {
            for (int place = ANYWHERE; place <= ALIASED; place++)
                check(*variant, w, (enum place)place, GGML_TYPE_F32, cols);
            check(*variant, w, PACKED, types[cols % 3], cols);
        }
}

static void
every_number_of_columns(void **state)
{
    static const int64_t lengths[] = { 1, 5, 16, 29, 64, 103, 520 };
    static const int64_t rows[] = { 1, 2, 7, 32, 33, 51, MAX_ROWS };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(21));
    for (int t = 0; t < 3; t++)
        for (int i = 0; i < 7; i++) {
            struct work w =
                work_new(&random, types[t], lengths[i], rows[(i + t) % 7]);

            check_all(&w);
            work_free(&w);
        }
}

/* Longer than panels are, whose sums are added to; and more of them than there
 * is room for. */
static void
rows_of_several_panels(void **state)
{
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(22));
    for (int t = 0; t < 3; t++) {
        struct work w = work_new(&random, types[t], 2083, 3);

        check_all(&w);
        work_free(&w);
        w = work_new(&random, types[t], 2060, MAX_ROWS);
        for (const struct gb_cpu_kernels *const *variant = gb_cpu_kernels_all();
             *variant != NULL; variant++)
            for (int64_t cols = 17; cols <= MAX_COLS; cols += 7) {
                check(*variant, &w, APART, GGML_TYPE_F32, cols);
                check(*variant, &w, PACKED, GGML_TYPE_F16, cols);
            }
        work_free(&w);
    }
}

/* Rows of activations of each type, of lengths with every remainder. */
static void
packed_rows_of_every_type(void **state)
{
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(23));
    for (int t = 0; t < 3; t++)
        for (int64_t k = 1; k <= 49; k++) {
            struct work w = work_new(&random, types[t], k, 2);

            for (const struct gb_cpu_kernels *const *variant =
                     gb_cpu_kernels_all();
                 *variant != NULL; variant++)
                for (int from = 0; from < 3; from++)
                    check(*variant, &w, PACKED, types[from], 5);
            work_free(&w);
        }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_columns),
        cmocka_unit_test(rows_of_several_panels),
        cmocka_unit_test(packed_rows_of_every_type),
    };

    return cmocka_run_group_tests_name("float products", tests, NULL, NULL);
}
