/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/pack-panels.c - activations packed for the GEMM: an
 * activation panel for each column (kernels/api/packing.h).
 *
 * Codes of a sub-block, then its scale, its sum and its zero-point correction,
 * are written one after another, as the micro-kernel reads them; outliers,
 * which few sub-blocks have, go behind all of them.
 *
 *     for each 32 sub-blocks of 32 values (1024 activations)
 *         take out their outliers
 *         quantise them: d and codes (q8.h)
 *         for each sub-block: | codes | d | sum | correction |
 *
 * With sub-blocks of 16 values, two of them share the scale of 32 values.
 */
#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/kernels/gemm/pack.h"
#include "backends/cpu/kernels/gemm/q8.h"

#include <math.h>
#include <stddef.h>

/* Where the next parts of a column go, and what they are like. */
struct writer {
    const struct gb_format *format;
    char *block_at;
    int32_t *counts;
    struct gb_outlier *outliers;
    int32_t n_outliers; /* so far */
};

_Static_assert(GB_OUTLIER_VALUES % GB_QK == 0 &&
                   GB_Q8_SUB_BLOCKS * GB_QK % GB_OUTLIER_VALUES == 0,
               "sub-blocks that go together begin and end with a count");

/* Take the outliers out of X, the values of a sub-block from PLACE on, which
 * has one: REST is X with zeros there.  *LARGEST is the largest magnitude of X,
 * and of REST afterwards. */
GB_INLINE void
take_out(struct writer *w, int place, const float *x, float *rest,
         float *largest)
{
    float measured[4]; /* four times the same */
    float sums[4];
    int n = 0;

    memcpy(rest, x, GB_QK * sizeof(*rest));
    do {
        int at = 0;

        for (int i = 1; i < GB_QK; i++)
            at = fabsf(rest[i]) == *largest ? i : at;
        w->outliers[w->n_outliers++] =
            (struct gb_outlier){ rest[at], place + at };
        rest[at] = 0.0f;
        gb_q8_measure(1, GB_QK, rest, measured, sums);
        *largest = measured[0];
    } while (++n < GB_OUTLIERS && gb_is_outlier(measured[0], sums[0], GB_QK));
}

/* The next N sub-blocks, of 32 floats, become codes and outliers. */
GB_INLINE void
quantize(struct writer *w, int n, const float *x, struct gb_q8_sub_blocks *to)
{
    float largest[GB_Q8_SUB_BLOCKS];
    float sums[GB_Q8_SUB_BLOCKS];
    float factor[GB_Q8_SUB_BLOCKS];
    float rest[GB_Q8_SUB_BLOCKS][GB_QK];
    const float *values[GB_Q8_SUB_BLOCKS];

    gb_q8_measure(n, GB_QK, x, largest, sums);
    for (int i = 0; i < n; i++) {
        const int place = GB_QK * i % GB_OUTLIER_VALUES;

        values[i] = x + GB_QK * i;
        if (place == 0)
            *w->counts++ = w->n_outliers;
        if (gb_is_outlier(largest[i], sums[i], GB_QK)) {
            take_out(w, place, values[i], rest[i], &largest[i]);
            values[i] = rest[i];
        }
    }
    for (int i = 0; i < n; i++)
        factor[i] = gb_q8_factor(largest[i], &to->d[i]);
    for (int i = 0; i < n; i++)
        gb_q8_high(GB_QK, values[i], factor[i], to->high[i]);
}

/* The next N sub-blocks, of 32 values of a type that has codes, from value I of
 * ROW on. */
GB_INLINE void
copy_codes(struct writer *w, int n, enum ggml_type type, const void *row,
           int64_t i, struct gb_q8_sub_blocks *to)
{
    gb_q8_sub_blocks_of(n, type, row, i, to);
    for (int j = 0; j < n; j += GB_OUTLIER_VALUES / GB_QK)
        *w->counts++ = w->n_outliers;
}

/* The sums of the codes of four sub-blocks of 32: SUMS[i] is that of the first
 * sixteen codes of sub-block i, SUMS[4 + i] that of the last sixteen.  They are
 * dot4 with ones. */
GB_INLINE void
sums_of_codes(const int8_t codes[4][GB_QK], int32_t *sums)
{
    qs s[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        s[i] = qs_dot(qs_set_lane0(0), q32_set1(1), q32_load(codes[i]));
    qs_store_sums4(sums, s);
}

/* A panel's block of SUB_BLOCK codes, whose sum is given.  Member by member: what
 * is behind the codes would be read from the stack before its parts had arrived
 * there. */
GB_INLINE void
put_panel_block(char *block_at, const struct gb_format *format, int sub_block,
                const int8_t *codes, float d, int32_t sum)
{
    const float of_values = d * (float)sum;
    const int32_t correction = -format->bias * sum;
    char *const end = block_at + sub_block;

    memcpy(block_at, codes, (size_t)sub_block);
    memcpy(end + offsetof(struct gb_panel_block_end, d), &d, sizeof(d));
    memcpy(end + offsetof(struct gb_panel_block_end, sum), &of_values,
           sizeof(of_values));
    memcpy(end + offsetof(struct gb_panel_block_end, correction), &correction,
           sizeof(correction));
}

/* N sub-blocks of 32 values become blocks of the panel, four at a time: one for
 * each, or two of 16. */
GB_INLINE void
put_panel_blocks(struct writer *w, int sub_block, int n,
                 const struct gb_q8_sub_blocks *from)
{
    const struct gb_format *const format = w->format;
    const size_t bytes = (size_t)sub_block + sizeof(struct gb_panel_block_end);
    const int n_blocks = GB_QK / sub_block;
    char *block_at = w->block_at;

    for (int i = 0; i < n; i += 4) {
        int32_t sums[8];

        sums_of_codes(from->high + i, sums);
        for (int j = 0; j < 4 && i + j < n; j++) {
            const int8_t *codes = from->high[i + j];
            const float d = from->d[i + j];

            if (n_blocks == 1) {
                put_panel_block(block_at, format, sub_block, codes, d,
                                sums[j] + sums[4 + j]);
            } else {
                put_panel_block(block_at, format, sub_block, codes, d,
                                sums[j]);
                put_panel_block(block_at + bytes, format, sub_block,
                                codes + sub_block, d, sums[4 + j]);
            }
            block_at += (size_t)n_blocks * bytes;
        }
    }
    w->block_at = block_at;
}

/* A block's sum, which mins are multiplied with, is that of its values, so its
 * outliers count.  COLUMN has N values and all their outliers. */
static void
add_to_sums(const struct gb_format *format, int64_t n, char *column)
{
    const int32_t *counts =
        (const void *)(column + gb_panel_counts_at(format, n));
    const struct gb_outlier *const outliers =
        (const void *)(column + gb_panel_outliers_at(format, n));

    for (int64_t k = 0; k < n; k += GB_OUTLIER_VALUES, counts++) {
        for (int32_t i = counts[0]; i < counts[1]; i++) {
            char *const at =
                column + gb_panel_block_at(format, k + outliers[i].place) +
                format->sub_block + offsetof(struct gb_panel_block_end, sum);
            float sum;

            memcpy(&sum, at, sizeof(sum));
            sum += outliers[i].value;
            memcpy(at, &sum, sizeof(sum));
        }
    }
}

/* N is a multiple of 32. */
void
GB_K(pack_panel)(const struct gb_format *format, int64_t n, const void *row,
                 enum ggml_type type, void *column)
{
    struct writer w = {
        .format = format,
        .block_at = column,
        .counts = (void *)((char *)column + gb_panel_counts_at(format, n)),
        .outliers = (void *)((char *)column + gb_panel_outliers_at(format, n)),
    };
    struct gb_q8_sub_blocks sub_blocks;

    for (int64_t i = 0; i < n; i += GB_Q8_SUB_BLOCKS * GB_QK) {
        const int64_t left = (n - i) / GB_QK;
        const int count =
            left < GB_Q8_SUB_BLOCKS ? (int)left : GB_Q8_SUB_BLOCKS;

        if (type == GGML_TYPE_F32)
            quantize(&w, count, (const float *)row + i, &sub_blocks);
        else
            copy_codes(&w, count, type, row, i, &sub_blocks);
        if (format->sub_block == GB_QK)
            put_panel_blocks(&w, GB_QK, count, &sub_blocks);
        else
            put_panel_blocks(&w, GB_QK / 2, count, &sub_blocks);
    }
    *w.counts = w.n_outliers;
    add_to_sums(format, n, column);
}
