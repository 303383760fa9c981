/* SPDX-License-Identifier: MIT */
/*
 * tests/type/half.c - half floats against their definition in double.
 */
#include "tests/type/tsv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static float
from_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static uint32_t
bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* What the bits of a finite F16 mean. */
static double
f16_value(unsigned half)
{
    const int exponent = half >> 10 & 31;
    const double fraction = (half & 1023) / 1024.0;
    const double magnitude = exponent == 0
                                 ? ldexp(fraction, -14)
                                 : ldexp(1.0 + fraction, exponent - 15);

    return half & 0x8000 ? -magnitude : magnitude;
}

static void
every_f16_has_its_value(void **state)
{
    (void)state;
    for (unsigned half = 0; half < 0x10000; half++) {
        const float x = ggml_fp16_to_fp32((ggml_fp16_t)half);

        if ((half & 0x7C00) != 0x7C00) {
            if ((double)x != f16_value(half) ||
                !signbit(x) != !(half & 0x8000))
                fail_msg("%04x became %.9g", half, (double)x);
        } else if ((half & 0x3FF) == 0) {
            assert_true(isinf(x) && !signbit(x) == !(half & 0x8000));
        } else {
            const uint32_t quiet = (half & 0x8000u) << 16 | 0x7FC00000 |
                                   (half & 0x3FF) << 13;

            assert_int_equal(bits_of(x), quiet);
        }
    }
}

/* Between neighbours the middle goes to the even one; what is nearer goes to
 * the nearer one. */
static void
every_f16_border_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (unsigned half = 0; half < 0x7C00; half++) {
        const double low = f16_value(half);
        const double high = half == 0x7BFF ? 65536.0 : f16_value(half + 1);
        const float middle = (float)((low + high) / 2);
        const unsigned even = half % 2 == 0 ? half : half + 1;

        assert_int_equal(ggml_fp32_to_fp16((float)low), half);
        assert_int_equal(ggml_fp32_to_fp16(middle), even);
        assert_int_equal(ggml_fp32_to_fp16(-middle), even | 0x8000);
        assert_int_equal(ggml_fp32_to_fp16(nextafterf(middle, 0)), half);
        assert_int_equal(ggml_fp32_to_fp16(nextafterf(middle, INFINITY)),
                         half + 1);
    }
}

static void
every_bf16_comes_back(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const ggml_bf16_t half = { (uint16_t)bits };
        const float x = ggml_bf16_to_fp32(half);
        const unsigned quiet = isnan(x) ? 0x0040 : 0;

#ifdef __i386__
        /* Functions return floats on a stack that makes NaN quiet. */
        assert_int_equal(bits_of(x), (bits | quiet) << 16);
#else
        assert_int_equal(bits_of(x), bits << 16);
#endif
        assert_int_equal(ggml_fp32_to_bf16(x).bits, bits | quiet);
    }
}

static void
bf16_rounds_to_nearest_even(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7F80; bits++) {
        const uint32_t even = bits + bits % 2;
        const uint32_t middle = bits << 16 | 0x8000;

        assert_int_equal(ggml_fp32_to_bf16(from_bits(middle)).bits, even);
        assert_int_equal(ggml_fp32_to_bf16(from_bits(middle - 1)).bits, bits);
        assert_int_equal(ggml_fp32_to_bf16(from_bits(middle + 1)).bits,
                         bits + 1);
    }
}

static void
published_conversions_hold(void **state)
{
    struct tsv tsv;
    int n = 0;

    (void)state;
    assert_true(tsv_open(&tsv, "half_conversions.tsv"));
    for (; tsv_next(&tsv); n++) {
        const float x = from_bits(tsv_hex(tsv.columns[0], 8));

        assert_int_equal(ggml_fp32_to_fp16(x), tsv_hex(tsv.columns[1], 4));
        assert_int_equal(ggml_fp32_to_bf16(x).bits, tsv_hex(tsv.columns[2], 4));
    }
    assert_int_equal(n, 39);
    tsv_close(&tsv);
}

static void
rows_of_any_length_equal_single_values(void **state)
{
    float x[40], back[40];
    ggml_fp16_t f16[40];
    ggml_bf16_t bf16[40], bf16_ref[40];

    (void)state;
    for (int i = 0; i < 40; i++)
        x[i] = ldexpf((float)(i * 7919 % 4001 - 2000), i % 37 - 30);
    for (int first = 0; first < 3; first++) {
        for (int n = 0; n <= 36; n++) {
            memset(f16, 0x55, sizeof(f16));
            memset(bf16, 0x55, sizeof(bf16));
            memset(bf16_ref, 0x55, sizeof(bf16_ref));
            ggml_fp32_to_fp16_row(x + first, f16 + first, n);
            ggml_fp32_to_bf16_row(x + first, bf16 + first, n);
            ggml_fp32_to_bf16_row_ref(x + first, bf16_ref + first, n);
            assert_memory_equal(bf16, bf16_ref, sizeof(bf16));
            for (int i = 0; i < n; i++) {
                assert_int_equal(f16[first + i],
                                 ggml_fp32_to_fp16(x[first + i]));
                assert_int_equal(bf16[first + i].bits,
                                 ggml_fp32_to_bf16(x[first + i]).bits);
            }
            assert_int_equal(f16[first + n], 0x5555);
            assert_int_equal(bf16[first + n].bits, 0x5555);

            back[n] = 1.5f;
            ggml_fp16_to_fp32_row(f16 + first, back, n);
            for (int i = 0; i < n; i++)
                assert_true(back[i] == ggml_fp16_to_fp32(f16[first + i]));
            ggml_bf16_to_fp32_row(bf16 + first, back, n);
            for (int i = 0; i < n; i++)
                assert_true(back[i] == ggml_bf16_to_fp32(bf16[first + i]));
            assert_true(back[n] == 1.5f);
        }
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_f16_has_its_value),
        cmocka_unit_test(every_f16_border_rounds_to_nearest_even),
        cmocka_unit_test(every_bf16_comes_back),
        cmocka_unit_test(bf16_rounds_to_nearest_even),
        cmocka_unit_test(published_conversions_hold),
        cmocka_unit_test(rows_of_any_length_equal_single_values),
    };

    return cmocka_run_group_tests_name("half floats", tests, NULL, NULL);
}
