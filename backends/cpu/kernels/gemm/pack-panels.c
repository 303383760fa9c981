/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/pack-panels.c - activations packed for the GEMM: an
 * activation panel for each column (kernels/api/packing.h).
 *
 * Codes of a sub-block, then its scale, its sum and its zero-point correction,
 * are written one after another, as the micro-kernel reads them; low parts,
 * which few sub-blocks have, go behind all of them, and the outlier masks say
 * whose they are.
 *
 *     for each 32 sub-blocks of 32 values (1024 activations)
 *         quantise them: d, high codes, and low codes of outliers (q8.h)
 *         for each sub-block: | codes | d | sum | correction |
 *         for each sub-block with an outlier: its low part, and its mask bit
 *
 * With sub-blocks of 16 values, two of them share the scale of 32 values.
 */
#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/kernels/gemm/pack.h"
#include "backends/cpu/kernels/gemm/q8.h"

#include <stddef.h>

/* Where the next parts of a column go, and what they are like. */
struct writer {
    const struct gb_format *format;
    char *block_at;
    struct gb_outlier_mask *masks;
    char *low;
    int n_low; /* so far */
};

_Static_assert(GB_Q8_SUB_BLOCKS * GB_QK % GB_MASK_VALUES == 0,
               "sub-blocks that go together begin and end with their masks");

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

/* The low part of the block at BLOCK_AT goes to LOW.  The block's sum is that
 * of values, so the low codes count in it, too; its correction is that of the
 * high codes, and the low part has one of its own. */
GB_INLINE void
put_low(char *block_at, char *low, const struct gb_format *format, int sub_block,
        const int8_t *codes)
{
    const int8_t *high = (const int8_t *)block_at;
    struct gb_panel_block_end end;
    struct gb_low_block_end low_end;
    int sum_high = 0;
    int sum = 0;

    for (int i = 0; i < sub_block; i++) {
        sum_high += high[i];
        sum += codes[i];
    }
    memcpy(&end, block_at + sub_block, sizeof(end));
    end.sum = end.d * ((float)sum_high + (float)sum * (1.0f / 256.0f));
    memcpy(block_at + sub_block, &end, sizeof(end));
    low_end.correction = -format->bias * sum;
    memcpy(low, codes, (size_t)sub_block);
    memcpy(low + sub_block, &low_end, sizeof(low_end));
}

/* N sub-blocks of 32 values become blocks of the panel: one for each, or two of
 * 16.  First all blocks are written, four sub-blocks at a time, then the masks
 * and the low parts of those that have any: the first loop has no branch that
 * depends on the values. */
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
    for (int i = 0; i < n * n_blocks; i++) {
        const int bit = i % (GB_MASK_VALUES / sub_block);

        if (bit == 0)
            *w->masks++ = (struct gb_outlier_mask){ .before = w->n_low };
        if (from->has_low[i / n_blocks]) {
            w->masks[-1].blocks |= 1u << bit;
            put_low(w->block_at + (size_t)i * bytes, w->low, format, sub_block,
                    from->low[i / n_blocks] + i % n_blocks * sub_block);
            w->low += (size_t)sub_block + sizeof(struct gb_low_block_end);
            w->n_low++;
        }
    }
    w->block_at = block_at;
}

/* N is a multiple of 32. */
void
GB_K(pack_panel)(const struct gb_format *format, int64_t n, const void *row,
                 enum ggml_type type, void *column)
{
    struct writer w = {
        .format = format,
        .block_at = column,
        .masks = (void *)((char *)column + gb_panel_masks_at(format, n)),
        .low = (char *)column + gb_panel_lows_at(format, n),
    };
    struct gb_q8_sub_blocks sub_blocks;

    for (int64_t i = 0; i < n; i += GB_Q8_SUB_BLOCKS * GB_QK) {
        const int64_t left = (n - i) / GB_QK;
        const int count =
            left < GB_Q8_SUB_BLOCKS ? (int)left : GB_Q8_SUB_BLOCKS;

        gb_q8_sub_blocks_of(count, GB_Q8_LOWS_OF_OUTLIERS, type, row, i,
                            &sub_blocks);
        if (format->sub_block == GB_QK)
            put_panel_blocks(&w, GB_QK, count, &sub_blocks);
        else
            put_panel_blocks(&w, GB_QK / 2, count, &sub_blocks);
    }
}
