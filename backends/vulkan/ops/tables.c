/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/tables.c - the codebooks of the IQ formats.
 *
 * The rows are those of lib/type/grid-*.def, expanded to a byte a value, the
 * first value lowest: four or eight of them are read as one or two words.
 */
#include "backends/vulkan/ops/tables.h"

/* Bytes LEVEL(row, i) … LEVEL(row, i + 3), the first lowest. */
#define FOUR_LEVELS(LEVEL, row, i)                               \
    ((uint32_t)(LEVEL(row, i)) |                                 \
     (uint32_t)(LEVEL(row, i + 1)) << 8 |                        \
     (uint32_t)(LEVEL(row, i + 2)) << 16 |                       \
     (uint32_t)(LEVEL(row, i + 3)) << 24)

/* Levels -1, 0, 1 as 0, 8, 16; an eighth of the distance is the shift. */
#define LEVEL(row, i) (((row) >> 2 * (i) & 3) * 8)
#define R(row) FOUR_LEVELS(LEVEL, row, 0), FOUR_LEVELS(LEVEL, row, 4)
static const uint32_t iq1[] = {
#include "lib/type/grid-iq1.def"
};
#undef R
#undef LEVEL

/* Magnitudes 8, 25, 43. */
#define LEVEL(row, i) \
    (8 + 17 * ((row) >> 2 * (i) & 3) + ((row) >> (2 * (i) + 1) & 1))
#define R(row) FOUR_LEVELS(LEVEL, row, 0), FOUR_LEVELS(LEVEL, row, 4)
static const uint32_t iq2_xxs[] = {
#include "lib/type/grid-iq2-xxs.def"
};
static const uint32_t iq2_xs[] = {
#include "lib/type/grid-iq2-xs.def"
};
static const uint32_t iq2_s[] = {
#include "lib/type/grid-iq2-s.def"
};
#undef R
#undef LEVEL

/* Magnitudes 4, 12, …, 52 and then 62. */
#define LEVEL(row, i) \
    (8 * ((row) >> 3 * (i) & 7) + 4 + 2 * (((row) >> 3 * (i) & 7) == 7))
#define R(row) FOUR_LEVELS(LEVEL, row, 0)
static const uint32_t iq3_xxs[] = {
#include "lib/type/grid-iq3-xxs.def"
};
#undef LEVEL

/* Magnitudes 1, 3, …, 15. */
#define LEVEL(row, i) (2 * ((row) >> 3 * (i) & 7) + 1)
static const uint32_t iq3_s[] = {
#include "lib/type/grid-iq3-s.def"
};

static const struct {
    const uint32_t *words;
    size_t n_words;
} tables[GB_VK_TABLE_COUNT] = {
#define TABLE(NAME, name) \
    [GB_VK_TABLE_##NAME] = { name, sizeof(name) / sizeof(name[0]) }
    TABLE(IQ1, iq1),
    TABLE(IQ2_XXS, iq2_xxs),
    TABLE(IQ2_XS, iq2_xs),
    TABLE(IQ2_S, iq2_s),
    TABLE(IQ3_XXS, iq3_xxs),
    TABLE(IQ3_S, iq3_s),
};

const uint32_t *
gb_vk_table_data(int table, size_t *n_words)
{
    *n_words = tables[table].n_words;
    return tables[table].words;
}
