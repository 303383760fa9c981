/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/math.c - exponentials, logarithm, hyperbolic and circular
 * functions on every level, against the C library's in double.
 */
#include "config.h"

#include "tests/cpu/simd/words.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define CHUNK 4096

static float
float_of(uint32_t bits)
{
    float f;

    memcpy(&f, &bits, sizeof(f));
    return f;
}

/* The distance between floats near X. */
static double
ulp_at(double x)
{
    const double a = fabs(x);
    int exponent;

    if (a > FLT_MAX)
        return ldexp(1.0, 104);
    frexp(a, &exponent);
    return ldexp(1.0, exponent < -125 ? -149 : exponent - 24);
}

static double
sigmoid(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

struct function {
    enum simd_word word;
    const char *name;
    double (*reference)(double x);
    double ulps;     /* largest error, in ulp of the result */
    double absolute; /* or this, if that is more */
    float low, high; /* where it is looked at closely */
};

/* The bounds are those that simd/math.h states. */
static const struct function functions[] = {
    { SIMD_EXP, "exp", exp, 1.5, 0, -104.5f, 89.5f },
    { SIMD_EXP2, "exp2", exp2, 1.5, 0, -151.0f, 129.0f },
    { SIMD_EXPM1, "expm1", expm1, 2.5, 0, -20.0f, 89.5f },
    { SIMD_TANH, "tanh", tanh, 2.5, 0, -11.0f, 11.0f },
    { SIMD_SIGMOID, "sigmoid", sigmoid, 2.5, 0, -104.5f, 20.0f },
    { SIMD_LOG, "log", log, 1.5, 0, 0.25f, 4.0f },
    { SIMD_SIN, "sin", sin, 2, 0x1p-24, -8300.0f, 8300.0f },
    { SIMD_COS, "cos", cos, 2, 0x1p-24, -8300.0f, 8300.0f },
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* In units of what is allowed; what must be NaN or infinite is that or is
 * 1e9. */
static double
error_of(const struct function *f, float x, float y)
{
    const double want = f->reference((double)x);
    const double allowed = fmax(f->ulps * ulp_at(want), f->absolute);

    if (isnan(want))
        return isnan(y) ? 0 : 1e9;
    /* A result that rounds to infinity may be infinite, and the other way. */
    if (fabs(want) > FLT_MAX)
        return (double)y * want > 0 && fabs((double)y) >= FLT_MAX * (1 - 1e-6)
                   ? 0 : 1e9;
    if (isinf(y))
        return fabs(want) >= FLT_MAX * (1 - 1e-6) ? 0 : 1e9;
    return isnan(y) ? 1e9 : fabs((double)y - want) / allowed;
}

static void
check_chunk(const struct simd_level *level, const struct function *f,
            const float *x)
{
    static float y[CHUNK];

    level->apply(f->word, CHUNK, y, x, x, x);
    for (int i = 0; i < CHUNK; i++) {
        const double error = error_of(f, x[i], y[i]);

        if (error > 1)
            fail_msg("%s, %s(%a) gives %a, not %a: %g times the bound",
                     level->name, f->name, (double)x[i], (double)y[i],
                     f->reference((double)x[i]), error);
    }
}

/* Every function, on every level, with the arguments that FILL makes. */
static void
check_all(void (*fill)(const struct function *f, int chunk, float *x),
          int n_chunks)
{
    static float x[CHUNK];
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    for (size_t k = 0; k < N_FUNCTIONS; k++) {
        for (int chunk = 0; chunk < n_chunks; chunk++) {
            fill(&functions[k], chunk, x);
            for (int i = 0; i < n; i++)
                check_chunk(levels[i], &functions[k], x);
        }
    }
}

/* Bit patterns from all of them, at odd distances. */
static void
fill_all_floats(const struct function *f, int chunk, float *x)
{
    (void)f;
    for (uint32_t i = 0; i < CHUNK; i++)
        x[i] = float_of(((uint32_t)chunk * CHUNK + i) * 40503u);
}

static void
all_floats_are_within_the_bounds(void **state)
{
    (void)state;
    check_all(fill_all_floats, 26);
}

static void
fill_range(const struct function *f, int chunk, float *x)
{
    for (int i = 0; i < CHUNK; i++) {
        const double at = (chunk * (double)CHUNK + i) / (32.0 * CHUNK);

        x[i] = (float)((double)f->low +
                       ((double)f->high - (double)f->low) * at);
    }
}

static void
the_useful_range_is_within_the_bounds(void **state)
{
    (void)state;
    check_all(fill_range, 32);
}

static void
fill_near_zero(const struct function *f, int chunk, float *x)
{
    (void)f;
    for (int i = 0; i < CHUNK; i++)
        x[i] = (float)((chunk * CHUNK + i) % 16384 - 8192) * 0x1p-13f;
}

static void
small_arguments_are_within_the_bounds(void **state)
{
    (void)state;
    check_all(fill_near_zero, 4);
}

/* Where something ends: overflow, underflow, the reduction's limit. */
static void
fill_edges(const struct function *f, int chunk, float *x)
{
    static const float edges[] = {
        0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX,
        FLT_MIN, -FLT_MIN, 0x1p-149f, -0x1p-149f, 88.7228394f, 88.7228317f,
        -87.3365479f, -103.972076f, -103.972084f, 8192.0f, 8193.0f, -8192.0f,
        10.0f, -10.0f, 1.41421354f, 1.41421366f, 0.707106769f, 0.346573591f,
        1.57079637f, 3.14159274f, 1e10f, -1e30f
    };
    const int n = (int)(sizeof(edges) / sizeof(edges[0]));

    (void)f;
    (void)chunk;
    for (int i = 0; i < CHUNK; i++)
        x[i] = edges[i % n];
}

static void
edges_are_as_in_libm(void **state)
{
    (void)state;
    check_all(fill_edges, 1);
}

/* The same argument gives the same bits in whatever lane it lies; of sine and
 * cosine that is true between neighbours that need no longer pi. */
static void
a_lane_does_not_depend_on_its_number(void **state)
{
    const struct simd_level *levels[3];
    const int n = simd_levels(levels);

    (void)state;
    for (int k = 0; k < n * (int)N_FUNCTIONS; k++) {
        const struct simd_level *level = levels[k / (int)N_FUNCTIONS];
        const struct function *f = &functions[k % (int)N_FUNCTIONS];
        float x[2 * SIMD_MAX_LEN], first[2 * SIMD_MAX_LEN], y[SIMD_MAX_LEN];

        for (int i = 0; i < 2 * SIMD_MAX_LEN; i++)
            x[i] = 0.37f * (float)(i + 1);
        level->apply(f->word, 2 * SIMD_MAX_LEN, first, x, x, x);
        for (int shift = 0; shift < level->len; shift++) {
            level->apply(f->word, level->len, y, x + shift, x, x);
            if (memcmp(y, first + shift,
                       (size_t)level->len * sizeof(y[0])) != 0)
                fail_msg("%s, %s, shift %d", level->name, f->name, shift);
        }
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_floats_are_within_the_bounds),
        cmocka_unit_test(the_useful_range_is_within_the_bounds),
        cmocka_unit_test(small_arguments_are_within_the_bounds),
        cmocka_unit_test(edges_are_as_in_libm),
        cmocka_unit_test(a_lane_does_not_depend_on_its_number),
    };

    return cmocka_run_group_tests_name("simd math", tests, NULL, NULL);
}
