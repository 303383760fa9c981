/* SPDX-License-Identifier: MIT */
/*
 * Rows of blocks as floats, on every level, to the bit as lib/type/ has them.
 */
#include "backends/cpu/isa/kernels.h"

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
                fail_msg("%s, %s, value %d of %d: %a, not %a", (*k)->level,
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

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_have_the_values_of_the_reference),
    };

    return cmocka_run_group_tests_name("rows of blocks", tests, NULL, NULL);
}
