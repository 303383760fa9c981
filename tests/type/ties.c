/* SPDX-License-Identifier: MIT */
/*
 * tests/type/ties.c - quantising values of which many are alike: where several
 * codes are as good, it matters which is taken.
 */
#include "ggml.h"

#include "tests/util/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BLOCK  256 /* values in the largest block */
#define BLOCKS 64
#define N      (BLOCKS * BLOCK)

/* ---- the same bytes ---- */

/* FNV-1a of what ggml of 2025-02-28 makes of the values below. */
static const struct published {
    enum ggml_type type;
    uint64_t plain;
    uint64_t weighted;
} published[] = {
    { GGML_TYPE_Q4_0, 0xf0d9a3edfb31d4bd, 0x185cc5bd46183733 },
    { GGML_TYPE_Q4_1, 0x3c7ca394d73f46dd, 0x0b2a083d139680e1 },
    { GGML_TYPE_Q5_0, 0x0fc235c2a32b0c47, 0x658d65cfc16468b0 },
    { GGML_TYPE_Q5_1, 0x450e764aa5124950, 0x3f4236899b69df32 },
    { GGML_TYPE_Q8_0, 0x8925f5fa2388265f, 0x8925f5fa2388265f },
    { GGML_TYPE_Q2_K, 0xa601d77435ea9f14, 0x420cdefb4a75e11f },
    { GGML_TYPE_Q3_K, 0x2e0f787fa4a3beb2, 0x4260c930c542961c },
    { GGML_TYPE_Q4_K, 0xb2dc0875a69aa553, 0x695a9a4b74a08449 },
    { GGML_TYPE_Q5_K, 0xef6234509d31d5f8, 0x674c415db738e6a3 },
    { GGML_TYPE_Q6_K, 0x679c79217e41503c, 0x0284e2a5e93708ff },
    { GGML_TYPE_IQ3_XXS, 0x5b88a152cc233a56, 0x6e97269d587aa67c },
    { GGML_TYPE_IQ3_S, 0x0be9d6cef6483915, 0xf5dbdf09686bb0c4 },
    { GGML_TYPE_IQ4_NL, 0x91d04221b07a1cb3, 0xc7d4ac57522e57f3 },
    { GGML_TYPE_IQ4_XS, 0xfadc3fc838c37535, 0xd263d0ddd0344dd3 },
    { GGML_TYPE_TQ1_0, 0xe53029f70d1e00d9, 0xe53029f70d1e00d9 },
    { GGML_TYPE_TQ2_0, 0x3d1cd5e1721f427e, 0x3d1cd5e1721f427e },
};

static float halves[N], few[N], some[N];
static uint8_t blocks[N * 2];

/* The published generator. */
static int
draw(uint64_t *generator, int n)
{
    *generator = *generator * UINT64_C(6364136223846793005) +
                 UINT64_C(1442695040888963407);
    return (int)(*generator >> 33) % n;
}

/* Halves of whole numbers; weights for few of them, and one to three. */
static int
make_data(void **state)
{
    uint64_t generator = 1;

    (void)state;
    for (int i = 0; i < N; i++) {
        halves[i] = 0.5f * (float)(draw(&generator, 31) - 15);
        few[i] = i % 32 < 4;
        some[i] = (float)(1 + draw(&generator, 3));
    }
    return 0;
}

static uint64_t
checksum(enum ggml_type type, const float *importance)
{
    const size_t size = ggml_quantize_chunk(
        type, halves, blocks, 0, BLOCKS, BLOCK, importance);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    assert_int_equal(size, BLOCKS * ggml_row_size(type, BLOCK));
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ blocks[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static void
ties_give_the_published_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
        const struct published *row = &published[i];
        const bool is_iq3 = row->type == GGML_TYPE_IQ3_XXS ||
                            row->type == GGML_TYPE_IQ3_S;

        if (checksum(row->type, NULL) != row->plain)
            fail_msg("%s has other bytes", ggml_type_name(row->type));
        if (checksum(row->type, is_iq3 ? some : few) != row->weighted)
            fail_msg("%s has other bytes with weights",
                     ggml_type_name(row->type));
    }
}

/* ---- small errors ---- */

static void
there_and_back(enum ggml_type type, const float *x, const float *importance,
               float *y)
{
    ggml_quantize_chunk(type, x, blocks, 0, 1, BLOCK, importance);
    ggml_get_type_traits(type)->to_float(blocks, y, BLOCK);
}

/* Of the values' own sum of squares. */
static double
relative_error(const float *x, const float *w, const float *y)
{
    double error = 0.0, whole = 0.0;

    for (int i = 0; i < BLOCK; i++) {
        const double diff = (double)y[i] - (double)x[i];

        error += (double)w[i] * diff * diff;
        whole += (double)w[i] * (double)x[i] * (double)x[i];
    }
    return whole > 0.0 ? error / whole : error;
}

/*
 * Each of the three levels tells a constant exactly, with a scale of its own.
 * The block's scale is stretched by an eighth at most, so that the error is
 * 1/64, if all sub-blocks have the same.
 */
static void
a_constant_has_one_scale_in_iq1(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_IQ1_S, GGML_TYPE_IQ1_M };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(1));
    for (int round = 0; round < 200; round++) {
        const enum ggml_type type = types[round % 2];
        const float value = gb_random_float(&random, -2.0f, 2.0f);
        float x[BLOCK], w[BLOCK], y[BLOCK];
        double error;

        for (int i = 0; i < BLOCK; i++) {
            x[i] = value;
            w[i] = gb_random_float(&random, 0.01f, 10.0f);
        }
        there_and_back(type, x, w, y);
        error = relative_error(x, w, y);
        if (!(error < 0.017))
            fail_msg("%s: %g of a constant is lost", ggml_type_name(type),
                     error);
    }
}

/* Where only zeros count, the least scale is the best. */
static void
weights_of_zeros_alone_give_small_values(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_IQ2_XXS, GGML_TYPE_IQ2_XS, GGML_TYPE_IQ2_S,
        GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ3_S
    };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(2));
    for (int round = 0; round < 100; round++) {
        const enum ggml_type type = types[round % 5];
        const int first = 32 * (round / 5 % 8);
        float x[BLOCK], w[BLOCK], y[BLOCK];

        for (int i = 0; i < BLOCK; i++) {
            x[i] = gb_random_float(&random, 0.1f, 1.0f);
            w[i] = 1.0f;
        }
        for (int i = first; i < first + 32; i++) {
            x[i] = i % 8 == 0 ? 1.0f : 0.0f;
            w[i] = i % 8 == 0 ? 0.0f : 1.0f;
        }
        there_and_back(type, x, w, y);
        for (int i = first; i < first + 32; i++)
            if (!(w[i] * fabsf(y[i]) < 0.05f))
                fail_msg("%s: %g for a zero", ggml_type_name(type),
                         (double)y[i]);
    }
}

/* Means of 400 blocks, as the published bytes have them. */
static void
one_magnitude_loses_no_more_than_is_published(void **state)
{
    static const struct {
        int n_signs;   /* 1: all are the same */
        int n_weights; /* from 1 to that */
        double error;
    } cases[] = {
        { 2, 3, 0.13379535 }, { 2, 1000, 0.10320373 }, { 1, 3, 0.08645878 }
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t generator = 1;
        double sum = 0.0;

        for (int round = 0; round < 400; round++) {
            float x[BLOCK], w[BLOCK], y[BLOCK];

            for (int j = 0; j < BLOCK; j++) {
                x[j] = 0.75f;
                if (cases[i].n_signs == 2 && draw(&generator, 2) == 0)
                    x[j] = -x[j];
                w[j] = (float)(1 + draw(&generator, cases[i].n_weights));
            }
            there_and_back(GGML_TYPE_IQ2_XXS, x, w, y);
            sum += relative_error(x, w, y);
        }
        if (!(sum / 400 <= cases[i].error))
            fail_msg("case %d: %.8f", (int)i, sum / 400);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(ties_give_the_published_bytes),
        cmocka_unit_test(a_constant_has_one_scale_in_iq1),
        cmocka_unit_test(weights_of_zeros_alone_give_small_values),
        cmocka_unit_test(one_magnitude_loses_no_more_than_is_published),
    };

    return cmocka_run_group_tests_name("ties", tests, make_data, NULL);
}
