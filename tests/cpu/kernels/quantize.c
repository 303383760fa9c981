/* SPDX-License-Identifier: MIT */
/*
 * Rows of activations in the Q8 formats, on every variant, against the formats'
 * definitions.
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
#include <stdlib.h>
#include <string.h>

#define N 768

/* Values of very different size; every fourth 32, and a whole 256, are
 * zeros. */
static void
fill(float *x)
{
    struct gb_random random;

    gb_random_init(&random, gb_test_seed(5));
    for (int i = 0; i < N; i++) {
        const float size = ldexpf(1.0f, (int)(gb_random_u64(&random) % 12) - 6);

        x[i] = i / 32 % 4 == 3 || i / 256 == 1
                   ? 0.0f
                   : gb_random_float(&random, -size, size);
    }
}

/* A code may be the one on the other side where x / d is half way. */
static void
check_codes(const char *what, int n, const float *x, double d,
            const int8_t *q)
{
    for (int i = 0; i < n; i++) {
        const double code = d != 0.0 ? x[i] / d : 0.0;

        if (fabs(q[i] - code) > 0.5001)
            fail_msg("%s: code %d for %g / %g", what, q[i], x[i], d);
    }
}

static double
largest(int n, const float *x)
{
    double max = 0.0;

    /* Without fmax, over which GCC 12 stops on arm64. */
    for (int i = 0; i < n; i++)
        max = fabs((double)x[i]) > max ? fabs((double)x[i]) : max;
    return max;
}

static void
q8_0_and_q8_1(void **state)
{
    struct guarded in = guarded_new(N * sizeof(float));
    float *x = in.data;

    (void)state;
    assert_non_null(x);
    fill(x);
    for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
         *k != NULL; k++) {
        struct guarded out0 =
            guarded_new(N / 32 * sizeof(struct gb_block_q8_0));
        struct guarded out1 =
            guarded_new(N / 32 * sizeof(struct gb_block_q8_1));
        const struct gb_block_q8_0 *b0 = out0.data;
        const struct gb_block_q8_1 *b1 = out1.data;

        (*k)->quantize_row_q8_0(x, out0.data, N);
        (*k)->quantize_row_q8_1(x, out1.data, N);
        for (int b = 0; b < N / 32; b++) {
            const double d = largest(32, x + 32 * b) / 127.0;
            const float half = ggml_fp16_to_fp32(ggml_fp32_to_fp16((float)d));
            int sum = 0;

            check_codes((*k)->variant, 32, x + 32 * b, d, b0[b].qs);
            assert_memory_equal(b0[b].qs, b1[b].qs, 32);
            assert_true(block_half(b0[b].d) == half);
            assert_true(block_half(b1[b].d) == half);
            for (int i = 0; i < 32; i++)
                sum += b1[b].qs[i];
            assert_true(fabs(block_half(b1[b].s) - d * sum) <=
                        fabs(d * sum) * 0x1p-10 + 0x1p-24);
        }
        guarded_free(&out0);
        guarded_free(&out1);
    }
    guarded_free(&in);
}

static void
q8_K(void **state)
{
    struct guarded in = guarded_new(N * sizeof(float));
    float *x = in.data;

    (void)state;
    assert_non_null(x);
    fill(x);
    /* Two values of the same magnitude: the first one's sign counts. */
    x[520] = 0x1p7f;
    x[700] = -0x1p7f;
    for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
         *k != NULL; k++) {
        struct guarded out =
            guarded_new(N / 256 * sizeof(struct gb_block_q8_k));
        const struct gb_block_q8_k *b = out.data;

        (*k)->quantize_row_q8_K(x, out.data, N);
        for (int i = 0; i < N / 256; i++) {
            const float d = block_float(b[i].d);

            check_codes((*k)->variant, 256, x + 256 * i, d, b[i].qs);
            assert_true(fabs(fabs(d) * 127.0 -
                             largest(256, x + 256 * i)) <=
                        largest(256, x + 256 * i) * 1e-6);
            for (int j = 0; j < 16; j++) {
                int sum = 0;

                for (int e = 0; e < 16; e++)
                    sum += b[i].qs[16 * j + e];
                assert_int_equal((int16_t)gb_le16((uint16_t)b[i].bsums[j]),
                                 sum);
            }
        }
        assert_int_equal(b[2].qs[520 - 512], -127);
        assert_int_equal(b[2].qs[700 - 512], 127);
        guarded_free(&out);
    }
    guarded_free(&in);
}

/* There is nothing that they could be scaled by; what is beside them is. */
static void
blocks_of_nan_and_of_zeros(void **state)
{
    float x[768];

    (void)state;
    for (int i = 0; i < 768; i++)
        x[i] = i < 256 ? NAN : i < 512 ? 0.0f : 2.0f;
    for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
         *k != NULL; k++) {
        struct gb_block_q8_k b[3];

        memset(b, 0x55, sizeof(b));
        (*k)->quantize_row_q8_K(x, b, 768);
        assert_false(fabsf(block_float(b[0].d)) > 0.0f);
        assert_true(b[1].d == 0.0f);
        assert_true(block_float(b[2].d) == -2.0f / 127.0f);
        for (int i = 0; i < 256; i++) {
            assert_int_equal(b[1].qs[i], 0);
            assert_int_equal(b[2].qs[i], -127);
        }
        for (int i = 0; i < 16; i++) {
            assert_int_equal(b[1].bsums[i], 0);
            assert_int_equal((int16_t)gb_le16((uint16_t)b[2].bsums[i]),
                             -127 * 16);
        }
        /* No block writes nothing. */
        memset(b, 0x55, sizeof(b));
        (*k)->quantize_row_q8_K(x, b, 0);
        (*k)->quantize_row_q8_0(x, b, 0);
        (*k)->quantize_row_q8_1(x, b, 0);
        for (size_t i = 0; i < sizeof(b); i++)
            assert_int_equal(((const char *)b)[i], 0x55);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(q8_0_and_q8_1),
        cmocka_unit_test(q8_K),
        cmocka_unit_test(blocks_of_nan_and_of_zeros),
    };

    return cmocka_run_group_tests_name("activations", tests, NULL, NULL);
}
