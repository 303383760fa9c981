/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/levels.c - which levels of the vocabulary can be run here.
 */
#include "config.h"

#include "tests/cpu/simd/words.h"

#include "ggmlbackend.h"

#include <string.h>

extern const struct simd_level gb_cpu_generic_simd;
extern const struct simd_level gb_cpu_avx2_simd;
extern const struct simd_level gb_cpu_avx512_simd;
extern const struct simd_level gb_cpu_neon_simd;
extern const struct simd_level gb_cpu_sve_simd;

static const struct simd_level *const built[] = {
    &gb_cpu_generic_simd,
#ifdef GB_ISA_AVX2
    &gb_cpu_avx2_simd,
#endif
#ifdef GB_ISA_AVX512
    &gb_cpu_avx512_simd,
#endif
#ifdef GB_ISA_NEON
    &gb_cpu_neon_simd,
#endif
#ifdef GB_ISA_SVE
    &gb_cpu_sve_simd,
#endif
};

int
simd_levels(const struct simd_level *out[3])
{
    int n = 0;

    for (size_t i = 0; ggmlbackend_cpu_level_at(i) != NULL; i++) {
        for (size_t k = 0; k < sizeof(built) / sizeof(built[0]); k++) {
            if (strcmp(built[k]->name, ggmlbackend_cpu_level_at(i)) == 0)
                out[n++] = built[k];
        }
    }
    return n;
}
