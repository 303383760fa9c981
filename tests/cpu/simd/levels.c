/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/levels.c - which levels of the vocabulary can be run here.
 */
#include "config.h"

#include "backends/cpu/kernels/api/variant-name.h"

#include "tests/cpu/simd/words.h"

#include "ggmlbackend.h"

#include <string.h>

/* Variants share their floats' words; each table has the name of its own. */
#define DECLARE(variant, floats) \
    extern const struct simd_level GB_CPU_NAME(floats, simd);
#define ROW(variant, floats) { #variant, &GB_CPU_NAME(floats, simd) },

GB_CPU_VARIANTS(DECLARE)

static const struct {
    const char *variant;
    const struct simd_level *words;
} built[] = {
    GB_CPU_VARIANTS(ROW)
};

static const struct simd_level *
find(const char *variant)
{
    for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); i++) {
        if (strcmp(built[i].variant, variant) == 0)
            return built[i].words;
    }
    return NULL;
}

int
simd_levels(const struct simd_level *out[3])
{
    const char *variant;
    int n = 0;

    for (size_t i = 0; (variant = ggmlbackend_cpu_level_at(i)) != NULL; i++) {
        const struct simd_level *words = find(variant);

        if (words != NULL && strcmp(words->name, variant) == 0)
            out[n++] = words;
    }
    return n;
}
