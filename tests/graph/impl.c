/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/impl.c - what ggml-impl.h gives to writers of backends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ggml-impl.h"

/* The value of a half, by its definition (IEEE 754-2008, section 3.4). */
static double
half_value(unsigned bits)
{
    const int exponent = (int)(bits >> 10 & 31);
    const int fraction = (int)(bits & 1023);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;

    if (exponent == 31)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static void
each_half_has_its_value_and_comes_back(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 65536; bits++) {
        const float f = ggml_compute_fp16_to_fp32((ggml_fp16_t)bits);
        const double wanted = half_value(bits);

        if (isnan(wanted)) {
            assert_true(isnan(f));
            assert_int_equal(ggml_compute_fp32_to_fp16(f),
                             (bits & 0x8000) | 0x7e00);
            continue;
        }
        assert_true((double)f == wanted);
        assert_int_equal(signbit(f) != 0, (bits & 0x8000) != 0);
        assert_int_equal(ggml_compute_fp32_to_fp16(f), bits);
        assert_true(ggml_lookup_fp16_to_fp32((ggml_fp16_t)bits) == f);
    }
}

static void
a_nan_becomes_quiet_and_keeps_its_payload(void **state)
{
    (void)state;
    assert_int_equal(
        ggml_impl_float_bits(ggml_compute_fp16_to_fp32(0x7c01)), 0x7fc02000);
    assert_int_equal(
        ggml_impl_float_bits(ggml_compute_fp16_to_fp32(0xfdff)), 0xffffe000);
}

/* Between two neighbours the nearer is taken, in the middle the even one. */
static void
rounding_to_half_is_to_nearest_even(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 0x7bff; bits++) {
        const double low = half_value(bits), high = half_value(bits + 1);
        const float middle = (float)((low + high) / 2);
        const unsigned even = bits & 1 ? bits + 1 : bits;

        assert_true((double)middle == (low + high) / 2);
        assert_int_equal(ggml_compute_fp32_to_fp16(middle), even);
        assert_int_equal(ggml_compute_fp32_to_fp16(-middle), even | 0x8000);
        assert_int_equal(ggml_compute_fp32_to_fp16(nextafterf(middle, 0.0f)),
                         bits);
        assert_int_equal(
            ggml_compute_fp32_to_fp16(nextafterf(middle, INFINITY)), bits + 1);
    }
    assert_int_equal(ggml_compute_fp32_to_fp16(65519.996f), 0x7bff);
    assert_int_equal(ggml_compute_fp32_to_fp16(65520.0f), 0x7c00);
    assert_int_equal(ggml_compute_fp32_to_fp16(-INFINITY), 0xfc00);
    assert_int_equal(ggml_compute_fp32_to_fp16(1e-30f), 0);
    assert_int_equal(ggml_compute_fp32_to_fp16(-1e-45f), 0x8000);
}

static void
rounding_to_bfloat_is_to_nearest_even(void **state)
{
    static const struct {
        uint32_t bits;
        unsigned rounded;
    } cases[] = {
        { 0x3f800000, 0x3f80 }, { 0x3f808000, 0x3f80 }, { 0x3f808001, 0x3f81 },
        { 0x3f818000, 0x3f82 }, { 0x3f817fff, 0x3f81 }, { 0x7f7fffff, 0x7f80 },
        { 0x00000001, 0x0000 }, { 0x00018000, 0x0002 }, { 0x80010000, 0x8001 },
        { 0x7f800000, 0x7f80 }, { 0x7f800001, 0x7fc0 }, { 0xffa00000, 0xffe0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ggml_bf16_t h =
            ggml_compute_fp32_to_bf16(ggml_impl_bits_float(cases[i].bits));

        assert_int_equal(h.bits, cases[i].rounded);
        assert_int_equal(ggml_impl_float_bits(ggml_compute_bf16_to_fp32(h)),
                         cases[i].rounded << 16);
    }
}

static void
bits_are_set_and_cleared_alone(void **state)
{
    ggml_bitset_t bits[3] = { 0, 0, 0 };

    (void)state;
    assert_int_equal(ggml_bitset_size(0), 0);
    assert_int_equal(ggml_bitset_size(1), 1);
    assert_int_equal(ggml_bitset_size(32), 1);
    assert_int_equal(ggml_bitset_size(33), 2);
    for (size_t i = 0; i < 96; i++) {
        ggml_bitset_set(bits, i);
        for (size_t k = 0; k < 96; k++)
            assert_int_equal(ggml_bitset_get(bits, k), k == i);
        ggml_bitset_clear(bits, i);
    }
}

static void
a_sets_size_is_the_next_prime(void **state)
{
    static const size_t sizes[][2] = {
        { 0, 2 },       { 2, 2 },       { 3, 3 },       { 4, 5 },
        { 6, 11 },      { 4096, 4099 }, { 4099, 4099 }, { 4100, 8209 },
        { 2147483659u, 2147483659u },
        { 2147483660u, 2147483661u },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        assert_true(ggml_hash_size(sizes[i][0]) == sizes[i][1]);
}

static void
a_set_holds_each_tensor_once(void **state)
{
    enum { n = 37 };
    static struct ggml_tensor all[n + 1];
    struct ggml_hash_set set = ggml_hash_set_new(n);

    (void)state;
    assert_int_equal(set.size, n);
    for (int i = 0; i < n; i++) {
        assert_false(ggml_hash_contains(&set, &all[i]));
        assert_true(ggml_hash_insert(&set, &all[i]) < n);
        assert_true(ggml_hash_contains(&set, &all[i]));
        assert_true(ggml_hash_insert(&set, &all[i]) ==
                    GGML_HASHSET_ALREADY_EXISTS);
    }
    /* Full, it still answers, and ends its search. */
    assert_true(ggml_hash_insert(&set, &all[n]) == GGML_HASHSET_FULL);
    assert_true(ggml_hash_find(&set, &all[n]) == GGML_HASHSET_FULL);
    assert_true(ggml_hash_find_or_insert(&set, &all[n]) == GGML_HASHSET_FULL);
    assert_false(ggml_hash_contains(&set, &all[n]));
    for (int i = 0; i < n; i++) {
        const size_t slot = ggml_hash_find_or_insert(&set, &all[i]);

        assert_ptr_equal(set.keys[slot], &all[i]);
    }
    ggml_hash_set_reset(&set);
    assert_false(ggml_hash_contains(&set, &all[0]));
    ggml_hash_set_free(&set);
    assert_int_equal(set.size, 0);
    assert_false(ggml_hash_contains(&set, &all[0]));
}

static void
parameters_are_words(void **state)
{
    struct ggml_tensor t = { .op = GGML_OP_SCALE };
    const float f[] = { 1.5f, -2.0f };

    (void)state;
    ggml_set_op_params(&t, f, sizeof(f));
    assert_true(ggml_get_op_params_f32(&t, 1) == -2.0f);
    assert_int_equal(ggml_get_op_params_i32(&t, 0), 0x3fc00000);
    ggml_set_op_params_i32(&t, 15, -7);
    ggml_set_op_params_f32(&t, 14, 0.25f);
    assert_int_equal(ggml_get_op_params_i32(&t, 15), -7);
    assert_true(ggml_get_op_params_f32(&t, 14) == 0.25f);
    assert_int_equal(t.flags, 0);
}

static void
aligned_memory_is_aligned_and_given_back(void **state)
{
    (void)state;
    for (size_t size = 1; size < 300; size++) {
        char *block = ggml_aligned_malloc(size);

        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        memset(block, 1, size);
        ggml_aligned_free(block, size);
    }
    assert_null(ggml_aligned_malloc(0));
    assert_null(ggml_aligned_malloc(SIZE_MAX));
    ggml_aligned_free(NULL, 5);
}

static void
helpers_round_up(void **state)
{
    (void)state;
    assert_int_equal(ggml_up32(0), 0);
    assert_int_equal(ggml_up32(33), 64);
    assert_int_equal(ggml_up(17, 16), 32);
    assert_int_equal(ggml_up(16, 16), 16);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_half_has_its_value_and_comes_back),
        cmocka_unit_test(a_nan_becomes_quiet_and_keeps_its_payload),
        cmocka_unit_test(rounding_to_half_is_to_nearest_even),
        cmocka_unit_test(rounding_to_bfloat_is_to_nearest_even),
        cmocka_unit_test(bits_are_set_and_cleared_alone),
        cmocka_unit_test(a_sets_size_is_the_next_prime),
        cmocka_unit_test(a_set_holds_each_tensor_once),
        cmocka_unit_test(parameters_are_words),
        cmocka_unit_test(aligned_memory_is_aligned_and_given_back),
        cmocka_unit_test(helpers_round_up),
    };

    return cmocka_run_group_tests_name("ggml-impl.h", tests, NULL, NULL);
}
