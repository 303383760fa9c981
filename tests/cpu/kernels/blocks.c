/* SPDX-License-Identifier: MIT */
/*
 * Rows of blocks from and to floats, on every variant, to the bit as lib/type/
 * has them.
 */
#include "backends/cpu/kernels/api/kernels.h"

#include "tests/cpu/blocks.h"
#include "tests/cpu/kernels/guard.h"
#include "tests/util/random.h"

#include "ggml.h"
#include "ggml-cpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS 19

/* The same bits, or NaN both: which one says nothing. */
static bool
same(float a, float b)
{
    return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

static void
check_row(enum ggml_type type, int64_t n, const void *row, const float *want)
{
    for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
         *k != NULL; k++) {
        struct guarded out = guarded_new((size_t)n * sizeof(float));
        const float *got = out.data;

        (*k)->floats(type, n, out.data, row);
        for (int64_t i = 0; i < n; i++)
            if (!same(got[i], want[i]))
                fail_msg("%s, %s, value %d of %d: %a, not %a", (*k)->variant,
                         ggml_type_name(type), (int)i, (int)n, (double)got[i],
                         (double)want[i]);
        guarded_free(&out);
    }
}

/* Any bytes are blocks, most of them of very large or no scales. */
static void
any_bytes_have_the_values_of_the_reference(void **state)
{
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(71));
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        const struct ggml_type_traits *traits = ggml_get_type_traits(t);

        if (traits->to_float == NULL)
            continue;
        for (int blocks = 1; blocks <= MAX_BLOCKS; blocks++) {
            const int64_t n = blocks * traits->blck_size;
            struct guarded in =
                guarded_new((size_t)blocks * traits->type_size);
            uint8_t *bytes = in.data;
            static float want[MAX_BLOCKS * 256];

            for (size_t i = 0; i < (size_t)blocks * traits->type_size; i++)
                bytes[i] = (uint8_t)(gb_random_u64(&random) >> 13);
            traits->to_float(in.data, want, n);
            check_row(t, n, in.data, want);
            guarded_free(&in);
        }
    }
}

/* How values are drawn. */
enum kind {
    ANY_SIZE,  /* and one block of four without any */
    HALFWAY,   /* quarters up to 127: there are ties, and equal magnitudes */
    POSITIVE,  /* or zeros of either sign */
    TINY,      /* subnormal */
    INFINITE,  /* some of them */
    NOT_THERE, /* some are NaN */
    N_KINDS
};

static float
draw(enum kind kind, struct gb_random *random, int i)
{
    const uint64_t bits = gb_random_u64(random);
    const float x = gb_random_float(random, -1.0f, 1.0f);

    switch (kind) {
    case ANY_SIZE:
        return i / 32 % 4 == 3 ? 0.0f : ldexpf(x, (int)(bits % 24) - 12);
    case HALFWAY:
        return (float)((int)(bits % 1017) - 508) * 0.25f;
    case POSITIVE:
        return bits % 3 == 0 ? -0.0f : bits % 3 == 1 ? 0.0f : fabsf(x);
    case TINY:
        return ldexpf(x, -126 - (int)(bits % 8));
    case INFINITE:
        return bits % 40 == 0 ? copysignf(INFINITY, x) : x;
    default:
        return bits % 40 == 0 ? (float)NAN : x;
    }
}

/* What can be read from blocks: a NaN may be another one. */
static bool
same_half(const char *a, const char *b)
{
    uint16_t ha, hb;

    memcpy(&ha, a, sizeof(ha));
    memcpy(&hb, b, sizeof(hb));
    return same(block_half(ha), block_half(hb));
}

/* The halves that a block begins with, and the codes behind them. */
static void
check_blocks(const char *variant, enum ggml_type type, enum kind kind, int n,
             const char *got, const char *want)
{
    const size_t size = ggml_type_size(type);
    const size_t halves = type == GGML_TYPE_Q4_1 || type == GGML_TYPE_Q5_1 ||
                                  type == GGML_TYPE_Q8_1
                              ? 4 : 2;

    for (int b = 0; b < n; b++, got += size, want += size)
        if (!same_half(got, want) ||
            !same_half(got + halves - 2, want + halves - 2) ||
            memcmp(got + halves, want + halves, size - halves) != 0)
            fail_msg("%s, %s, values of kind %d: block %d of %d differs",
                     variant, ggml_type_name(type), (int)kind, b, n);
}

static void
check_written(enum ggml_type type, enum kind kind, int blocks,
              struct gb_random *random)
{
    const int n = 32 * blocks;
    const size_t size = (size_t)blocks * ggml_type_size(type);
    struct guarded in = guarded_new((size_t)n * sizeof(float));
    char want[MAX_BLOCKS * 64];
    float *x = in.data;

    for (int i = 0; i < n; i++)
        x[i] = draw(kind, random, i);
    ggml_get_type_traits(type)->from_float_ref(x, want, n);
    for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
         *k != NULL; k++) {
        struct guarded out = guarded_new(size);

        gb_cpu_kernels_use(*k);
        ggml_get_type_traits_cpu(type)->from_float(x, out.data, n);
        check_blocks((*k)->variant, type, kind, blocks, out.data, want);
        guarded_free(&out);
    }
    gb_cpu_kernels_use(NULL);
    guarded_free(&in);
}

static void
blocks_are_written_as_by_the_reference(void **state)
{
    static const enum ggml_type types[] = {
        GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1,
        GGML_TYPE_Q8_0, GGML_TYPE_Q8_1, GGML_TYPE_IQ4_NL,
    };
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(72));
    for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
        for (int kind = 0; kind < N_KINDS; kind++)
            for (int blocks = 1; blocks <= MAX_BLOCKS; blocks++)
                check_written(types[t], kind, blocks, &random);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_have_the_values_of_the_reference),
        cmocka_unit_test(blocks_are_written_as_by_the_reference),
    };

    return cmocka_run_group_tests_name("rows of blocks", tests, NULL, NULL);
}
