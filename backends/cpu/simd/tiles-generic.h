/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/tiles-generic.h - words of products by tiles in plain C.
 *
 * The reference for the other header, to the bit, and what the variant's tests
 * run by where a machine has no tiles.
 *
 * For each element of the sums, products of the first values of all pairs are
 * added up from 0 on, and those of the second values likewise, by fused
 * multiply-adds; the sums of both are added, and that to the element.  Each of
 * these operations rounds to the nearest, ties to even; subnormal operands are
 * taken for 0, and subnormal results become 0.
 *
 * Source  "Intel 64 and IA-32 Architectures Software Developer's Manual",
 * volume 2, TDPBF16PS, section "Operation".
 *
 * A product of two BF16 values has 16 bits, so it is exact as a float as long
 * as its exponent is one of floats, and a fused multiply-add is then a
 * multiplication and an addition.  Where all values are 0 or between 2^-48 and
 * 2^48, products are multiples of 2^-110 and sums are too: none is subnormal,
 * and none overflows.  Other tiles are computed in double: the sum of such a
 * product and a float, rounded to double and then to float, is what one
 * rounding gives, since it lies between two floats at equal distance, or next
 * to that, only where its bits span less than 53.
 */
#ifndef GB_CPU_SIMD_TILES_GENERIC_H
#define GB_CPU_SIMD_TILES_GENERIC_H

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define TILES_ARE_GENERIC 1
#define TILE_UNITS        16 /* of 32 bits, in a row */

/* Units of 32 bits: a float, or a pair, of which the first value comes first in
 * memory. */
struct tiles {
    uint32_t tile[8][TILE_ROWS][TILE_UNITS];
};

/* The pairs of a tile as floats: the first values of all, and the second. */
struct tile_halves {
    float first[TILE_ROWS][TILE_UNITS];
    float second[TILE_ROWS][TILE_UNITS];
};

static inline void
tiles_configure(struct tiles *t)
{
    (void)t;
}

static inline void
tiles_release(void)
{
}

static inline void
tile_zero(struct tiles *t, int i)
{
    memset(t->tile[i], 0, sizeof(t->tile[i]));
}

static inline void
tile_load(struct tiles *t, int i, const void *p, int64_t pitch)
{
    for (int64_t r = 0; r < TILE_ROWS; r++)
        memcpy(t->tile[i][r], (const char *)p + r * pitch,
               sizeof(t->tile[i][r]));
}

static inline void
tile_store(const struct tiles *t, int i, void *p, int64_t pitch)
{
    for (int64_t r = 0; r < TILE_ROWS; r++)
        memcpy((char *)p + r * pitch, t->tile[i][r], sizeof(t->tile[i][r]));
}

/* Is a BF16 value 0, or between 2^-48 and 2^48?  Its exponent begins at bit 7,
 * 127 too large. */
static inline bool
tile_is_moderate(uint32_t half)
{
    const uint32_t magnitude = half & 0x7fff;

    return magnitude == 0 || magnitude - ((127 - 48) << 7) < (96 << 7);
}

static inline bool
tile_all_moderate(const uint32_t units[TILE_ROWS][TILE_UNITS])
{
    bool all = true;

    for (int r = 0; r < TILE_ROWS; r++)
        for (int i = 0; i < TILE_UNITS; i++) {
            all &= tile_is_moderate(units[r][i] & 0xffff);
            all &= tile_is_moderate(units[r][i] >> 16);
        }
    return all;
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TILE_FIRST(unit)  ((unit) & 0xffff0000)
#define TILE_SECOND(unit) ((unit) << 16)
#else
#define TILE_FIRST(unit)  ((unit) << 16)
#define TILE_SECOND(unit) ((unit) & 0xffff0000)
#endif

static inline void
tile_split(const uint32_t units[TILE_ROWS][TILE_UNITS], struct tile_halves *to)
{
    for (int r = 0; r < TILE_ROWS; r++)
        for (int i = 0; i < TILE_UNITS; i++) {
            const uint32_t first = TILE_FIRST(units[r][i]);
            const uint32_t second = TILE_SECOND(units[r][i]);

            memcpy(&to->first[r][i], &first, sizeof(first));
            memcpy(&to->second[r][i], &second, sizeof(second));
        }
}

/* A subnormal float is 0. */
static inline float
tile_flushed(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0.0f, x) : x;
}

/* X rounded to float, 0 where that is subnormal: it is not if rounding with 24
 * bits brings it up to the least normal number. */
static inline float
tile_rounded(double x)
{
    const double least = 0x1p-126 * (1.0 - 0x1p-25);

    return fabs(x) < least ? copysignf(0.0f, (float)x) : (float)x;
}

static inline float
tile_fma(float a, float b, float c)
{
    return tile_rounded((double)tile_flushed(a) * (double)tile_flushed(b) +
                        (double)tile_flushed(c));
}

/* Row A of the rows times all columns, each operation on its own. */
static inline void
tile_row_exactly(const float *first, const float *second,
                 const struct tile_halves *b, float *sums)
{
    for (int n = 0; n < TILE_UNITS; n++) {
        float even = 0.0f;
        float odd = 0.0f;
        float both;

        for (int k = 0; k < TILE_ROWS; k++) {
            even = tile_fma(first[k], b->first[k][n], even);
            odd = tile_fma(second[k], b->second[k][n], odd);
        }
        both = tile_flushed(even + odd);
        sums[n] = tile_flushed(tile_flushed(sums[n]) + both);
    }
}

/* The same where none of a product's operations leaves the normal floats. */
static inline void
tile_row_fast(const float *first, const float *second,
              const struct tile_halves *b, float *sums)
{
    vf even[TILE_UNITS / VF_LEN];
    vf odd[TILE_UNITS / VF_LEN];

    for (int i = 0; i < TILE_UNITS / VF_LEN; i++)
        even[i] = odd[i] = vf_zero();
    for (int k = 0; k < TILE_ROWS; k++) {
        const vf a = vf_set1(first[k]);
        const vf a2 = vf_set1(second[k]);

        for (int i = 0; i < TILE_UNITS / VF_LEN; i++) {
            even[i] = vf_fma(a, vf_load(b->first[k] + VF_LEN * i), even[i]);
            odd[i] = vf_fma(a2, vf_load(b->second[k] + VF_LEN * i), odd[i]);
        }
    }
    for (int i = 0; i < TILE_UNITS / VF_LEN; i++) {
        float both[VF_LEN];

        vf_store(both, vf_add(even[i], odd[i]));
        for (int j = 0; j < VF_LEN; j++) {
            float *sum = &sums[VF_LEN * i + j];

            *sum = tile_flushed(tile_flushed(*sum) + both[j]);
        }
    }
}

static __attribute__((unused, noinline)) void
tile_dot_bf16(struct tiles *t, int c, int a, int b)
{
    const bool is_fast =
        tile_all_moderate((const uint32_t(*)[TILE_UNITS])t->tile[a]) &&
        tile_all_moderate((const uint32_t(*)[TILE_UNITS])t->tile[b]);
    struct tile_halves rows;
    struct tile_halves columns;

    tile_split((const uint32_t(*)[TILE_UNITS])t->tile[a], &rows);
    tile_split((const uint32_t(*)[TILE_UNITS])t->tile[b], &columns);
    for (int r = 0; r < TILE_ROWS; r++) {
        float sums[TILE_UNITS];

        memcpy(sums, t->tile[c][r], sizeof(sums));
        if (is_fast)
            tile_row_fast(rows.first[r], rows.second[r], &columns, sums);
        else
            tile_row_exactly(rows.first[r], rows.second[r], &columns, sums);
        memcpy(t->tile[c][r], sums, sizeof(sums));
    }
}

static inline void
tile_store_bf16(uint16_t *p, vf v)
{
    const vm is_subnormal = vf_lt(vf_abs(v), vf_set1(FLT_MIN));

    vf_store_bf16(
        p, vf_select(is_subnormal, vf_copysign(vf_zero(), v), v));
}

static inline void
tile_transpose(void *dst, const void *src, int64_t pitch)
{
    for (int64_t i = 0; i < TILE_UNITS; i++)
        for (int64_t j = 0; j < TILE_UNITS; j++)
            memcpy((char *)dst + 64 * j + 4 * i,
                   (const char *)src + i * pitch + 4 * j, 4);
}

#endif
