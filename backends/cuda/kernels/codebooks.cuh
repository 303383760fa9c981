/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/codebooks.cuh - the codebooks of the IQ formats.
 *
 * The rows are those of lib/type/grid-*.def, expanded to a byte a value, the
 * first value lowest: four or eight of them are read as one or two words and go
 * into dot4 as they are.  In global memory, since lanes of a warp read
 * different rows, for which constant memory would be read once a row.
 */
#ifndef GB_CUDA_KERNELS_CODEBOOKS_CUH
#define GB_CUDA_KERNELS_CODEBOOKS_CUH

#include "backends/cuda/kernels/device.cuh"

/* Bytes LEVEL(row, i) … LEVEL(row, i + 3), the first lowest. */
#define GB_FOUR_LEVELS(LEVEL, row, i)                           \
    ((uint32_t)(LEVEL(row, i)) |                                \
     (uint32_t)(LEVEL(row, i + 1)) << 8 |                       \
     (uint32_t)(LEVEL(row, i + 2)) << 16 |                      \
     (uint32_t)(LEVEL(row, i + 3)) << 24)

/* Levels -1, 0, 1 as 0, 8, 16; an eighth of the distance is the shift. */
#define GB_LEVEL(row, i) (((row) >> 2 * (i) & 3) * 8)
#define R(row) \
    { GB_FOUR_LEVELS(GB_LEVEL, row, 0), GB_FOUR_LEVELS(GB_LEVEL, row, 4) }
GB_TABLE uint32_t gb_codebook_iq1[2048][2] = {
#include "lib/type/grid-iq1.def"
};
#undef R
#undef GB_LEVEL

/* Magnitudes 8, 25, 43. */
#define GB_LEVEL(row, i) \
    (8 + 17 * ((row) >> 2 * (i) & 3) + ((row) >> (2 * (i) + 1) & 1))
#define R(row) \
    { GB_FOUR_LEVELS(GB_LEVEL, row, 0), GB_FOUR_LEVELS(GB_LEVEL, row, 4) }
GB_TABLE uint32_t gb_codebook_iq2_xxs[256][2] = {
#include "lib/type/grid-iq2-xxs.def"
};
GB_TABLE uint32_t gb_codebook_iq2_xs[512][2] = {
#include "lib/type/grid-iq2-xs.def"
};
GB_TABLE uint32_t gb_codebook_iq2_s[1024][2] = {
#include "lib/type/grid-iq2-s.def"
};
#undef R
#undef GB_LEVEL

/* Magnitudes 4, 12, …, 52 and then 62. */
#define GB_LEVEL(row, i) \
    (8 * ((row) >> 3 * (i) & 7) + 4 + 2 * (((row) >> 3 * (i) & 7) == 7))
#define R(row) GB_FOUR_LEVELS(GB_LEVEL, row, 0)
GB_TABLE uint32_t gb_codebook_iq3_xxs[256] = {
#include "lib/type/grid-iq3-xxs.def"
};
#undef GB_LEVEL

/* Magnitudes 1, 3, …, 15. */
#define GB_LEVEL(row, i) (2 * ((row) >> 3 * (i) & 7) + 1)
GB_TABLE uint32_t gb_codebook_iq3_s[512] = {
#include "lib/type/grid-iq3-s.def"
};
#undef R
#undef GB_LEVEL
#undef GB_FOUR_LEVELS

#endif
