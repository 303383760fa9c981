/* SPDX-License-Identifier: MIT */
/*
 * tests/type/quantize.c - quantisers against published bytes and errors.
 */
#include "lib/base/byte-order.h"
#include "tests/type/tsv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PI 3.14159265358979323846

#define N_ROWS  16
#define N       4096 /* values in a row */
#define N_INPUT 256

/* Columns of quant_error.tsv. */
enum column {
    TYPE,
    COSINE_CPU,
    COSINE_ROW,
    COSINE_CHUNK,
    COSINE_ONES,
    DOT,
    GAUSS_CHUNK,
    GAUSS_ONES,
    GAUSS_RANDOM,
    GAUSS_RANDOM_WEIGHTED,
};

static float gauss[N_ROWS * N], cosine[N], importance[N], ones[N];
static float values[N_ROWS * N];
static uint8_t blocks[N_ROWS * N * sizeof(float)];

/* The published generator: uniform numbers in [0, 1). */
static double
uniform(uint64_t *generator)
{
    *generator = *generator * UINT64_C(6364136223846793005) +
                 UINT64_C(1442695040888963407);
    return ldexp((double)(*generator >> 11), -53);
}

static int
make_data(void **state)
{
    uint64_t generator = 1;

    (void)state;
    for (int i = 0; i < N_ROWS * N; i++) {
        const double a = uniform(&generator);
        const double b = uniform(&generator);

        gauss[i] = (float)(sqrt(-2 * log(1 - a)) * cos(2 * PI * b));
    }
    for (int i = 0; i < N; i++) {
        importance[i] = (float)(0.1 + uniform(&generator));
        ones[i] = 1;
        cosine[i] = (float)(0.1 + 2 * (double)cosf((float)i));
    }
    return 0;
}

/* sum(w (x - y)^2) over the rows, w NULL for ones. */
static double
squared_error(int n_rows, const float *x, const float *w)
{
    double sum = 0;

    for (int i = 0; i < n_rows * N; i++) {
        const double diff = (double)x[i] - (double)values[i];

        sum += (w != NULL ? (double)w[i % N] : 1) * diff * diff;
    }
    return sum;
}

static double
energy(const float *x, const float *w)
{
    double sum = 0;

    for (int i = 0; i < N_ROWS * N; i++)
        sum += (w != NULL ? (double)w[i % N] : 1) * (double)x[i] * (double)x[i];
    return sum;
}

/* Quantise and read back into values. */
static void
there_and_back(enum ggml_type type, int n_rows, const float *x,
               const float *imatrix)
{
    const size_t size = ggml_quantize_chunk(type, x, blocks, 0, n_rows, N,
                                            imatrix);

    if (size != (size_t)n_rows * ggml_row_size(type, N))
        fail_msg("%s was not quantised", ggml_type_name(type));
    ggml_get_type_traits(type)->to_float(blocks, values, (int64_t)n_rows * N);
}

/* The published figure, with the two per cent that it may be exceeded by. */
static void
expect_at_most(const struct tsv *tsv, enum column column, double error)
{
    if (!(error <= 1.02 * atof(tsv->columns[column])))
        fail_msg("%s, column %d: %.8f is above %s", tsv->columns[TYPE],
                 (int)column, error, tsv->columns[column]);
}

static bool
is_given(const struct tsv *tsv, enum column column)
{
    return strcmp(tsv->columns[column], "-") != 0;
}

static void
errors_on_a_cosine_are_the_published_ones(void **state)
{
    struct tsv tsv;
    int n = 0;

    (void)state;
    assert_true(tsv_open(&tsv, "quant_error.tsv"));
    for (; tsv_next(&tsv); n++) {
        const enum ggml_type type = tsv_type(tsv.columns[TYPE]);
        const struct ggml_type_traits *traits = ggml_get_type_traits(type);

        if (is_given(&tsv, COSINE_ROW)) {
            assert_non_null(traits->from_float_ref);
            traits->from_float_ref(cosine, blocks, N);
            traits->to_float(blocks, values, N);
            expect_at_most(&tsv, COSINE_ROW,
                           sqrt(squared_error(1, cosine, NULL)) / N);
        }
        if (is_given(&tsv, COSINE_CHUNK)) {
            there_and_back(type, 1, cosine, NULL);
            expect_at_most(&tsv, COSINE_CHUNK,
                           sqrt(squared_error(1, cosine, NULL)) / N);
        }
        there_and_back(type, 1, cosine, ones);
        expect_at_most(&tsv, COSINE_ONES,
                       sqrt(squared_error(1, cosine, NULL)) / N);
    }
    assert_int_equal(n, 23);
    tsv_close(&tsv);
}

static void
errors_on_normal_values_are_the_published_ones(void **state)
{
    const double plain = energy(gauss, NULL);
    struct tsv tsv;

    (void)state;
    assert_true(tsv_open(&tsv, "quant_error.tsv"));
    while (tsv_next(&tsv)) {
        const enum ggml_type type = tsv_type(tsv.columns[TYPE]);

        if (is_given(&tsv, GAUSS_CHUNK)) {
            there_and_back(type, N_ROWS, gauss, NULL);
            expect_at_most(&tsv, GAUSS_CHUNK,
                           sqrt(squared_error(N_ROWS, gauss, NULL) / plain));
        }
        there_and_back(type, N_ROWS, gauss, ones);
        expect_at_most(&tsv, GAUSS_ONES,
                       sqrt(squared_error(N_ROWS, gauss, NULL) / plain));
        there_and_back(type, N_ROWS, gauss, importance);
        expect_at_most(&tsv, GAUSS_RANDOM,
                       sqrt(squared_error(N_ROWS, gauss, NULL) / plain));
        expect_at_most(&tsv, GAUSS_RANDOM_WEIGHTED,
                       sqrt(squared_error(N_ROWS, gauss, importance) /
                            energy(gauss, importance)));
    }
    tsv_close(&tsv);
}

static void
read_input(float *x)
{
    struct tsv tsv;
    int n = 0;

    assert_true(tsv_open(&tsv, "quant_input.tsv"));
    for (; tsv_next(&tsv); n++) {
        const uint32_t bits = tsv_hex(tsv.columns[1], 8);

        assert_in_range(n, 0, N_INPUT - 1);
        memcpy(&x[n], &bits, sizeof(bits));
    }
    assert_int_equal(n, N_INPUT);
    tsv_close(&tsv);
}

/* Files made with these formats are compared by their hashes. */
static bool
is_exact(enum ggml_type type)
{
    switch ((int)type) {
    case GGML_TYPE_F16:
    case GGML_TYPE_BF16:
    case GGML_TYPE_Q4_0:
    case GGML_TYPE_Q4_1:
    case GGML_TYPE_Q5_0:
    case GGML_TYPE_Q5_1:
    case GGML_TYPE_Q8_0:
    case GGML_TYPE_Q8_1:
    case GGML_TYPE_TQ1_0:
    case GGML_TYPE_TQ2_0:
        return true;
    }
    return false;
}

static void
exact_formats_give_the_published_bytes(void **state)
{
    float x[N_INPUT];
    struct tsv tsv;
    int n = 0;

    (void)state;
    read_input(x);
    assert_memory_equal(x, gauss, sizeof(x));
    assert_true(tsv_open(&tsv, "quant_vectors.tsv"));
    while (tsv_next(&tsv)) {
        const enum ggml_type type = tsv_type(tsv.columns[0]);
        uint8_t expected[1024];
        const size_t size = tsv_bytes(tsv.columns[2], expected);

        if (!is_exact(type) || strcmp(tsv.columns[1], "ref") != 0)
            continue;
        n++;
        ggml_get_type_traits(type)->from_float_ref(x, blocks, N_INPUT);
        /* Published as in files; halves by themselves are the machine's. */
        if (ggml_blck_size(type) == 1)
            gb_le_bytes(blocks, ggml_type_size(type), size);
        for (size_t i = 0; i < size; i++)
            if (blocks[i] != expected[i])
                fail_msg("%s: byte %d is %02x, not %02x",
                         ggml_type_name(type), (int)i, blocks[i], expected[i]);
    }
    assert_int_equal(n, 10);
    tsv_close(&tsv);
}

static void
a_block_of_zeros_comes_back_as_zeros(void **state)
{
    static const float zeros[N_INPUT];

    (void)state;
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;
        const struct ggml_type_traits *traits = ggml_get_type_traits(type);

        if (traits->to_float == NULL)
            continue;
        assert_int_equal(
            ggml_quantize_chunk(type, zeros, blocks, 0, 1, N_INPUT, ones),
            ggml_row_size(type, N_INPUT));
        traits->to_float(blocks, values, N_INPUT);
        for (int i = 0; i < N_INPUT; i++)
            if (fabsf(values[i]) > 0)
                fail_msg("%s: value %d is %g", traits->type_name, i,
                         (double)values[i]);
    }
}

/* One to three weights of a block are far larger than all the others. */
static void
outliers_make_no_block_worse_than_zeros(void **state)
{
    static float x[N_INPUT];
    uint64_t generator = 7;

    (void)state;
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const enum ggml_type type = (enum ggml_type)t;
        const struct ggml_type_traits *traits = ggml_get_type_traits(type);

        for (int k = 0; traits->is_quantized && traits->to_float != NULL &&
                        k < 400; k++) {
            const double large = 10.0 * pow(10.0, k % 4);
            double error = 0.0, zeros = 0.0;

            for (int i = 0; i < N_INPUT; i++)
                x[i] = (float)(uniform(&generator) - 0.5);
            for (int i = 0; i <= k % 3; i++)
                x[(int)(uniform(&generator) * N_INPUT)] =
                    (float)(k % 2 == 0 ? large : -large);
            ggml_quantize_chunk(
                type, x, blocks, 0, 1, N_INPUT,
                ggml_quantize_requires_imatrix(type) ? ones : NULL);
            traits->to_float(blocks, values, N_INPUT);
            for (int i = 0; i < N_INPUT; i++) {
                const double diff = (double)x[i] - (double)values[i];

                error += diff * diff;
                zeros += (double)x[i] * (double)x[i];
            }
            if (!(error <= zeros))
                fail_msg("%s: the error is %g times that of zeros",
                         traits->type_name, error / zeros);
        }
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_formats_give_the_published_bytes),
        cmocka_unit_test(errors_on_a_cosine_are_the_published_ones),
        cmocka_unit_test(errors_on_normal_values_are_the_published_ones),
        cmocka_unit_test(a_block_of_zeros_comes_back_as_zeros),
        cmocka_unit_test(outliers_make_no_block_worse_than_zeros),
    };

    return cmocka_run_group_tests_name("quantisers", tests, make_data, NULL);
}
