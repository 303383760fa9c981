/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/vocabulary.c - every word of the vocabulary on every level,
 * against plain C.
 */
#include "config.h"

#include "tests/cpu/simd/words.h"

#include "ggml.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static const float values[] = {
    0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 1.5f, -1.5f, 2.5f, -2.5f, 3.25f,
    -7.75f, 0.1f, -0.3f, 1e-3f, 123456.7f, -98765.4f, 8388607.5f, -8388607.5f,
    8388608.0f, 16777216.0f, 3e9f, -3e9f, 1e20f, -1e20f, 1e38f, -1e38f,
    FLT_MAX, -FLT_MAX, FLT_MIN, -FLT_MIN, 0x1p-149f, -0x1p-149f, 0x1.8p-140f,
    1e-20f, -1e-20f, INFINITY, -INFINITY, NAN, 0.99999994f
};

#define N_VALUES ((int)(sizeof(values) / sizeof(values[0])))
#define N_PAIRS  (N_VALUES * N_VALUES)

static float a[N_PAIRS], b[N_PAIRS], c[N_PAIRS];

static bool
same(float x, float y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof(x)) == 0;
}

/* All pairs, with a third value that goes its own way. */
static int
fill_pairs(void **state)
{
    (void)state;
    for (int i = 0; i < N_PAIRS; i++) {
        a[i] = values[i / N_VALUES];
        b[i] = values[i % N_VALUES];
        c[i] = values[(i / N_VALUES + 7 * (i % N_VALUES)) % N_VALUES];
    }
    return 0;
}

/* Compare a word with plain C over all pairs, on every level. */
static void
check_word(const char *name, enum simd_word word,
           float (*plain)(float x, float y, float z))
{
    static float out[N_PAIRS];
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    for (int k = 0; k < n; k++) {
        levels[k]->apply(word, N_PAIRS, out, a, b, c);
        for (int i = 0; i < N_PAIRS; i++) {
            const float want = plain(a[i], b[i], c[i]);

            if (!same(out[i], want))
                fail_msg("%s, %s(%a, %a, %a) gives %a, not %a", levels[k]->name,
                         name, (double)a[i], (double)b[i], (double)c[i],
                         (double)out[i], (double)want);
        }
    }
}

static float
plain_add(float x, float y, float z)
{
    (void)z;
    return x + y;
}

static float
plain_sub(float x, float y, float z)
{
    (void)z;
    return x - y;
}

static float
plain_mul(float x, float y, float z)
{
    (void)z;
    return x * y;
}

static float
plain_div(float x, float y, float z)
{
    (void)z;
    return x / y;
}

static float
plain_sqrt(float x, float y, float z)
{
    (void)y;
    (void)z;
    return sqrtf(x);
}

static void
arithmetic_is_exact(void **state)
{
    (void)state;
    check_word("add", SIMD_ADD, plain_add);
    check_word("sub", SIMD_SUB, plain_sub);
    check_word("mul", SIMD_MUL, plain_mul);
    check_word("div", SIMD_DIV, plain_div);
    check_word("sqrt", SIMD_SQRT, plain_sqrt);
}

/* Rounded once or twice, as the machine can. */
static void
check_fused(const char *name, enum simd_word word, float sign)
{
    static float out[N_PAIRS];
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    for (int k = 0; k < n; k++) {
        levels[k]->apply(word, N_PAIRS, out, a, b, c);
        for (int i = 0; i < N_PAIRS; i++) {
            const float product = sign * a[i] * b[i];

            if (!same(out[i], fmaf(sign * a[i], b[i], c[i])) &&
                !same(out[i], product + c[i]))
                fail_msg("%s, %s(%a, %a, %a) gives %a", levels[k]->name, name,
                         (double)a[i], (double)b[i], (double)c[i],
                         (double)out[i]);
        }
    }
}

static void
a_product_is_added_with_one_rounding_or_two(void **state)
{
    (void)state;
    check_fused("fma", SIMD_FMA, 1.0f);
    check_fused("fnma", SIMD_FNMA, -1.0f);
}

static float
plain_min(float x, float y, float z)
{
    (void)z;
    return x < y ? x : y;
}

static float
plain_max(float x, float y, float z)
{
    (void)z;
    return x > y ? x : y;
}

static void
min_and_max_give_the_second_where_one_is_nan(void **state)
{
    (void)state;
    check_word("min", SIMD_MIN, plain_min);
    check_word("max", SIMD_MAX, plain_max);
}

static float
plain_neg(float x, float y, float z)
{
    (void)y;
    (void)z;
    return -x;
}

static float
plain_abs(float x, float y, float z)
{
    (void)y;
    (void)z;
    return fabsf(x);
}

static float
plain_copysign(float x, float y, float z)
{
    (void)z;
    return copysignf(x, y);
}

static void
signs_are_set_and_cleared(void **state)
{
    (void)state;
    check_word("neg", SIMD_NEG, plain_neg);
    check_word("abs", SIMD_ABS, plain_abs);
    check_word("copysign", SIMD_COPYSIGN, plain_copysign);
}

static void
neighbours_change_places(void **state)
{
    const struct simd_level *levels[3];
    const int n_levels = simd_levels(levels);
    float in[SIMD_MAX_LEN];
    float out[SIMD_MAX_LEN];

    (void)state;
    for (int i = 0; i < SIMD_MAX_LEN; i++)
        in[i] = (float)i;
    for (int k = 0; k < n_levels; k++) {
        levels[k]->apply(SIMD_SWAP_PAIRS, levels[k]->len, out, in, in, in);
        for (int i = 0; i < levels[k]->len; i++)
            assert_true(out[i] == in[i ^ 1]);
    }
}

static float
plain_floor(float x, float y, float z)
{
    (void)y;
    (void)z;
    return floorf(x);
}

static float
plain_round(float x, float y, float z)
{
    (void)y;
    (void)z;
    return nearbyintf(x);
}

static void
rounding_keeps_large_values_and_the_sign_of_zero(void **state)
{
    (void)state;
    check_word("floor", SIMD_FLOOR, plain_floor);
    check_word("round", SIMD_ROUND, plain_round);
}

static float
plain_lt(float x, float y, float z)
{
    return x < y ? y : z;
}

static float
plain_le(float x, float y, float z)
{
    return x <= y ? y : z;
}

static float
plain_gt(float x, float y, float z)
{
    return x > y ? y : z;
}

static float
plain_eq(float x, float y, float z)
{
    return x == y ? y : z;
}

static float
plain_and(float x, float y, float z)
{
    return x < y && y < z ? x : z;
}

static float
plain_or(float x, float y, float z)
{
    return x < y || y < z ? x : z;
}

static float
plain_not(float x, float y, float z)
{
    return !(x < y) ? x : z;
}

static void
masks_select_lanes(void **state)
{
    (void)state;
    check_word("lt", SIMD_SELECT_LT, plain_lt);
    check_word("le", SIMD_SELECT_LE, plain_le);
    check_word("gt", SIMD_SELECT_GT, plain_gt);
    check_word("eq", SIMD_SELECT_EQ, plain_eq);
    check_word("and", SIMD_SELECT_AND, plain_and);
    check_word("or", SIMD_SELECT_OR, plain_or);
    check_word("not", SIMD_SELECT_NOT, plain_not);
}

static float
plain_zero(float x, float y, float z)
{
    (void)x;
    (void)y;
    (void)z;
    return 0.0f;
}

static float
plain_set1(float x, float y, float z)
{
    (void)x;
    (void)y;
    (void)z;
    return 2.5f;
}

static void
all_lanes_can_be_set(void **state)
{
    (void)state;
    check_word("zero", SIMD_ZERO, plain_zero);
    check_word("set1", SIMD_SET1, plain_set1);
}

/* v in [1/4, 4), so that subnormal results are rounded once. */
static void
ldexp_scales_by_powers_of_two(void **state)
{
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);
    float v[SIMD_MAX_LEN], power[SIMD_MAX_LEN], out[SIMD_MAX_LEN];

    (void)state;
    for (int k = 0; k < n; k++) {
        for (int e = -260; e <= 260; e++) {
            const int within = e < -252 ? -252 : e > 252 ? 252 : e;

            for (int i = 0; i < SIMD_MAX_LEN; i++) {
                v[i] = (i % 2 ? -0.25f : 0.25f) * (1.0f + 0.9f * (float)i);
                power[i] = (float)e;
            }
            levels[k]->apply(SIMD_LDEXP, SIMD_MAX_LEN, out, v, power, v);
            for (int i = 0; i < SIMD_MAX_LEN; i++) {
                const float want = (float)ldexp((double)v[i], within);

                if (!same(out[i], want))
                    fail_msg("%s, %a times 2^%d gives %a, not %a",
                             levels[k]->name, (double)v[i], e, (double)out[i],
                             (double)want);
            }
        }
    }
}

static void
exponent_and_mantissa_make_the_number(void **state)
{
    static float e[N_PAIRS], m[N_PAIRS];
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    (void)state;
    for (int k = 0; k < n; k++) {
        levels[k]->apply(SIMD_EXPONENT, N_PAIRS, e, a, a, a);
        levels[k]->apply(SIMD_MANTISSA, N_PAIRS, m, a, a, a);
        for (int i = 0; i < N_PAIRS; i++) {
            if (!(a[i] >= FLT_MIN) || isinf(a[i]))
                continue;
            if (m[i] < 1 || m[i] >= 2 ||
                ldexp((double)m[i], (int)e[i]) != (double)a[i])
                fail_msg("%s, %a is %a times 2^%g", levels[k]->name,
                         (double)a[i], (double)m[i], (double)e[i]);
        }
    }
}

static void
lanes_are_added_and_compared(void **state)
{
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    (void)state;
    for (int k = 0; k < n; k++) {
        for (int largest = 0; largest < levels[k]->len; largest++) {
            float v[SIMD_MAX_LEN];
            float sum = 0;

            for (int i = 0; i < levels[k]->len; i++) {
                v[i] = (float)(1 << i);
                sum += v[i];
            }
            v[largest] = 1e6f;
            assert_true(levels[k]->hmax(v) == 1e6f);
            v[largest] = (float)(1 << largest);
            assert_true(levels[k]->sum(v) == sum);
            assert_false(levels[k]->any_below(v, 0.5f));
            v[largest] = -1.0f;
            assert_true(levels[k]->any_below(v, 0.5f));
        }
    }
}

static void
integers_become_floats(void **state)
{
    const int32_t p[SIMD_MAX_LEN + 1] = {
        9, 0, 1, -1, INT32_MAX, INT32_MIN, 16777217, -16777219, 5, 6, 7, 8, 100,
        -100, 12345678, 3, 2
    };
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    (void)state;
    for (int k = 0; k < n; k++) {
        float out[SIMD_MAX_LEN];

        levels[k]->from_i32(out, p + 1);
        for (int i = 0; i < levels[k]->len; i++)
            assert_true(out[i] == (float)p[i + 1]);
    }
}

static void
bytes_and_nibbles_become_floats(void **state)
{
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);
    uint8_t p[SIMD_MAX_LEN + 1];

    (void)state;
    for (int i = 0; i <= SIMD_MAX_LEN; i++)
        p[i] = (uint8_t)(i * 37 + 111);
    for (int k = 0; k < n; k++) {
        float all[SIMD_MAX_LEN], low[SIMD_MAX_LEN], high[SIMD_MAX_LEN];

        levels[k]->from_i8(all, (const int8_t *)p + 1);
        levels[k]->from_nibbles(low, p + 1, 0);
        levels[k]->from_nibbles(high, p + 1, 1);
        for (int i = 0; i < levels[k]->len; i++) {
            const int byte = p[i + 1];

            assert_true(all[i] == (float)(byte < 128 ? byte : byte - 256));
            assert_true(low[i] == (float)(byte % 16));
            assert_true(high[i] == (float)(byte / 16));
        }
    }
}

static void
four_vectors_are_added_up_together(void **state)
{
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    (void)state;
    for (int k = 0; k < n; k++) {
        float v[4 * SIMD_MAX_LEN];
        float sums[4];

        for (int i = 0; i < 4 * levels[k]->len; i++)
            v[i] = (float)(1 << i % 19);
        levels[k]->sum4(sums, v);
        for (int j = 0; j < 4; j++)
            assert_true(sums[j] == levels[k]->sum(v + j * levels[k]->len));
    }
}

/* The half's value, by its definition. */
static double
half_value(uint16_t h)
{
    const double sign = h & 0x8000 ? -1 : 1;
    const int exponent = h >> 10 & 0x1f;
    const int fraction = h & 0x3ff;

    if (exponent == 0x1f)
        return fraction == 0 ? sign * (double)INFINITY : (double)NAN;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static double
bf16_value(uint16_t h)
{
    const uint32_t bits = (uint32_t)h << 16;
    float f;

    memcpy(&f, &bits, sizeof(f));
    return (double)f;
}

/* The largest finite half, and one step behind it. */
struct half_form {
    enum simd_form form;
    const char *name;
    double (*value)(uint16_t h);
    uint16_t infinity;
};

static const struct half_form halves[] = {
    { SIMD_F16, "f16", half_value, 0x7c00 },
    { SIMD_BF16, "bf16", bf16_value, 0x7f80 },
};

static void
every_half_is_loaded(void **state)
{
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    (void)state;
    for (int k = 0; k < 2 * n; k++) {
        const struct simd_level *level = levels[k / 2];
        const struct half_form *form = &halves[k % 2];

        for (uint32_t h = 0; h < 65536; h += (uint32_t)level->len) {
            uint16_t p[SIMD_MAX_LEN];
            float out[SIMD_MAX_LEN];

            for (int i = 0; i < level->len; i++)
                p[i] = (uint16_t)(h + (uint32_t)i);
            level->load(form->form, out, p);
            for (int i = 0; i < level->len; i++) {
                if (!same(out[i], (float)form->value(p[i])))
                    fail_msg("%s, %s 0x%04x gives %a", level->name, form->name,
                             p[i], (double)out[i]);
            }
        }
    }
}

/* The neighbours of X among halves are H and H + 1: which is nearer?  Ties
 * go to the even one; behind the largest the next step counts as infinite. */
static uint16_t
nearest(const struct half_form *form, uint16_t h, double x)
{
    const double low = form->value(h);
    const double step = low - form->value((uint16_t)(h - 1));
    const double high = h + 1 == form->infinity
                            ? low + step : form->value((uint16_t)(h + 1));

    if (x - low == high - x)
        return h % 2 == 0 ? h : (uint16_t)(h + 1);
    return x - low < high - x ? h : (uint16_t)(h + 1);
}

static void
check_store(const struct simd_level *level, const struct half_form *form,
            uint16_t h, double share)
{
    const double low = form->value(h);
    const double high = h + 1 == form->infinity
                            ? 2 * low - form->value((uint16_t)(h - 1))
                            : form->value((uint16_t)(h + 1));
    const float x = (float)(low + (high - low) * share);
    const uint16_t want = nearest(form, h, (double)x);
    float v[SIMD_MAX_LEN];
    uint16_t out[SIMD_MAX_LEN];

    for (int i = 0; i < level->len; i++)
        v[i] = i % 2 ? -x : x;
    level->store(form->form, out, v);
    for (int i = 0; i < level->len; i++) {
        if (out[i] != (i % 2 ? want | 0x8000 : want))
            fail_msg("%s, %a as %s gives 0x%04x, not 0x%04x", level->name,
                     (double)v[i], form->name, out[i], want);
    }
}

static void
halves_are_stored_to_the_nearest_ties_to_even(void **state)
{
    static const double shares[] = { 0, 0.25, 0.4999, 0.5, 0.5001, 0.75 };
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    (void)state;
    for (int k = 0; k < 2 * n; k++) {
        const struct half_form *form = &halves[k % 2];

        for (uint16_t h = 1; h < form->infinity; h++) {
            for (size_t s = 0; s < sizeof(shares) / sizeof(shares[0]); s++)
                check_store(levels[k / 2], form, h, shares[s]);
        }
    }
}

static void
what_is_no_number_is_stored_as_such(void **state)
{
    static const float special[SIMD_MAX_LEN] = {
        INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, 0.0f, -0.0f, 0x1p-149f,
        INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, 0.0f, -0.0f, 0x1p-149f
    };
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    (void)state;
    for (int k = 0; k < 4 * n; k++) {
        const struct simd_level *level = levels[k / 4];
        const struct half_form *form = &halves[k % 2];
        const int at = level->len == 4 ? 4 * (k / 2 % 2) : 0;
        uint16_t out[SIMD_MAX_LEN];

        level->store(form->form, out, special + at);
        for (int i = 0; i < level->len; i++) {
            const float x = special[at + i];
            const double y = form->value(out[i]);

            if (isnan(x))
                assert_true(isnan(y));
            else if (fabs((double)x) > 1)
                assert_int_equal(out[i],
                                 form->infinity | (x < 0 ? 0x8000 : 0));
            else
                assert_int_equal(out[i], signbit(x) ? 0x8000 : 0);
        }
    }
}

/* Two pages, of which the second may not be touched. */
static char *
guarded_page(size_t *page)
{
    char *map;

    *page = (size_t)sysconf(_SC_PAGESIZE);
    map = mmap(NULL, 2 * *page, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    assert_int_equal(mprotect(map + *page, *page, PROT_NONE), 0);
    return map;
}

static void
parts_of_vectors_touch_nothing_beyond(void **state)
{
    static const size_t sizes[] = { 4, 2, 2 };
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);
    size_t page;
    char *map = guarded_page(&page);

    (void)state;
    for (int k = 0; k < n * SIMD_FORM_COUNT; k++) {
        const struct simd_level *level = levels[k / SIMD_FORM_COUNT];
        const enum simd_form form = (enum simd_form)(k % SIMD_FORM_COUNT);

        for (int m = 0; m <= level->len; m++) {
            const size_t bytes = (size_t)m * sizes[form];
            char *const p = map + page - bytes;
            float v[SIMD_MAX_LEN], out[SIMD_MAX_LEN];

            for (int i = 0; i < level->len; i++)
                v[i] = 0.5f * (float)(i + 1);
            memset(map, 0x55, page);
            level->store_n(form, p, v, m);
            assert_true(m == level->len || p[-1] == 0x55);
            level->load_n(form, out, p, m);
            for (int i = 0; i < level->len; i++) {
                if (out[i] != (i < m ? v[i] : 0.0f))
                    fail_msg("%s, form %d, lane %d of %d is %g", level->name,
                             (int)form, i, m, (double)out[i]);
            }
        }
    }
    munmap(map, 2 * page);
}

static void
vectors_may_lie_at_any_address(void **state)
{
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    (void)state;
    for (int k = 0; k < n; k++) {
        char room[SIMD_MAX_LEN * 4 + 8];

        for (int past = 0; past < 4; past++) {
            float v[SIMD_MAX_LEN], out[SIMD_MAX_LEN];

            for (int i = 0; i < SIMD_MAX_LEN; i++)
                v[i] = (float)i - 3.5f;
            levels[k]->store(SIMD_F32, room + past, v);
            levels[k]->load(SIMD_F32, out, room + past);
            assert_memory_equal(
                out, v, (size_t)levels[k]->len * sizeof(v[0]));
        }
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic_is_exact),
        cmocka_unit_test(a_product_is_added_with_one_rounding_or_two),
        cmocka_unit_test(min_and_max_give_the_second_where_one_is_nan),
        cmocka_unit_test(signs_are_set_and_cleared),
        cmocka_unit_test(neighbours_change_places),
        cmocka_unit_test(rounding_keeps_large_values_and_the_sign_of_zero),
        cmocka_unit_test(masks_select_lanes),
        cmocka_unit_test(all_lanes_can_be_set),
        cmocka_unit_test(ldexp_scales_by_powers_of_two),
        cmocka_unit_test(exponent_and_mantissa_make_the_number),
        cmocka_unit_test(lanes_are_added_and_compared),
        cmocka_unit_test(integers_become_floats),
        cmocka_unit_test(bytes_and_nibbles_become_floats),
        cmocka_unit_test(four_vectors_are_added_up_together),
        cmocka_unit_test(every_half_is_loaded),
        cmocka_unit_test(halves_are_stored_to_the_nearest_ties_to_even),
        cmocka_unit_test(what_is_no_number_is_stored_as_such),
        cmocka_unit_test(parts_of_vectors_touch_nothing_beyond),
        cmocka_unit_test(vectors_may_lie_at_any_address),
    };

    return cmocka_run_group_tests_name(
        "simd vocabulary", tests, fill_pairs, NULL);
}
