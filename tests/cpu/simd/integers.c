/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/integers.c - every word for small integers on every level.
 */
#include "config.h"

#include "tests/cpu/simd/integers.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *level;
    check_integers_fn check;
} built[] = {
    { "generic", gb_cpu_generic_check_integers },
#ifdef GB_ISA_AVX2
    { "avx2", gb_cpu_avx2_check_integers },
#endif
#ifdef GB_ISA_AVX2_VNNI
    { "avx2_vnni", gb_cpu_avx2_vnni_check_integers },
#endif
#ifdef GB_ISA_AVX512
    { "avx512", gb_cpu_avx512_check_integers },
#endif
#ifdef GB_ISA_AVX512_VNNI
    { "avx512_vnni", gb_cpu_avx512_vnni_check_integers },
#endif
#ifdef GB_ISA_AVX512_BF16
    { "avx512_bf16", gb_cpu_avx512_bf16_check_integers },
#endif
#ifdef GB_ISA_NEON
    { "neon", gb_cpu_neon_check_integers },
#endif
#ifdef GB_ISA_DOTPROD
    { "dotprod", gb_cpu_dotprod_check_integers },
#endif
#ifdef GB_ISA_I8MM
    { "i8mm", gb_cpu_i8mm_check_integers },
#endif
#ifdef GB_ISA_SVE
    { "sve", gb_cpu_sve_check_integers },
#endif
};

static check_integers_fn
check_of(const char *level)
{
    for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); i++)
        if (strcmp(built[i].level, level) == 0)
            return built[i].check;
    return NULL;
}

static void
every_word_does_what_it_says(void **state)
{
    const char *level;

    (void)state;
    for (size_t i = 0; (level = ggmlbackend_cpu_level_at(i)) != NULL; i++) {
        const check_integers_fn check = check_of(level);
        const char *word;

        if (check == NULL)
            fail_msg("%s: nobody checks its words", level);
        word = check();
        if (word != NULL)
            fail_msg("%s: %s", level, word);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_does_what_it_says),
    };

    return cmocka_run_group_tests_name("small integers", tests, NULL, NULL);
}
