/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/repacked.h - products of repacked weights
 * (api/repacked.h), made of a struct gb_repacked_reader.
 *
 * Lanes are rows, and activations are broadcast: no sum goes across lanes, and
 * no row length leaves part of a vector empty.  Results are the same bits as
 * those of weights that are not repacked.  For that each lane position of those
 * kernels' accumulators (gemv.h, gemm/skinny-int8.c) is an accumulator here, a
 * vector with that position's sum of VF_LEN rows; they take the same integer
 * sums in the same order, and are added in the same order in the end
 * (q64f_sum_rows).  They are 40 vectors, more than there are registers, and lie
 * in the first cache, which has time for them while weights come from memory.
 *
 * Activations are packed as for the other kernels, so a product's columns do
 * not depend on how its weights lie.
 */
#ifndef GB_CPU_KERNELS_FORMAT_REPACKED_H
#define GB_CPU_KERNELS_FORMAT_REPACKED_H

#include "backends/cpu/kernels/api/repacked.h"
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/simd/dot4.h"
#include "lib/base/attr.h"

/* Bytes from a vector of codes to the next one. */
#define REPACKED_STEP (4 * GB_REPACKED_ROWS)

/* Dot4 operands of a row in a block. */
#define REPACKED_DOT4S (GB_REPACKED_VALUES / 4)

/* Blocks that share a super-block of activations. */
#define SUPER_BLOCKS (GB_SUPER_BLOCK / GB_REPACKED_VALUES)

/* Columns of the skinny GEMM at a time: their accumulators stay in the first
 * cache. */
#define REPACKED_COLS 16

_Static_assert(GB_REPACKED_ROWS % VF_LEN == 0, "a group is whole vectors");

struct gb_repacked_reader {
    const struct gb_format *format;
    /* The codes of a block, in the order of the values: vector j has the four
     * from 4 * j on of each row.  X is the block's first vector, at the rows'
     * lane; the next ones are REPACKED_STEP bytes apart. */
    void (*codes)(const char *x, vq *u);
};

/* Where a block's half floats and codes are, for rows LANE and on. */
struct gb_repacked_at {
    const char *halves;
    const char *codes;
};

/* Block I of the N that are left of a group at X. */
GB_INLINE struct gb_repacked_at
repacked_at(const struct gb_format *format, const char *x, int64_t n, int lane,
            int64_t i)
{
    const struct gb_repacked_block b = gb_repacked_block(format, n, i);

    return (struct gb_repacked_at){
        .halves = x + b.halves + 2 * lane,
        .codes = x + b.codes + 4 * lane,
    };
}

/* The scales of a block's rows; M is their mins, or the scales again. */
GB_INLINE vf
repacked_scales(const struct gb_format *format, const struct gb_repacked_at *at,
                vf *m)
{
    const uint16_t *halves = (const void *)at->halves;
    const vf d = vf_load_f16(halves);

    *m = format->has_min ? vf_load_f16(halves + GB_REPACKED_ROWS) : d;
    return d;
}

GB_INLINE vi
repacked_dot(bool is_wide, vi s, vq u, const int8_t *y)
{
    return is_wide ? vi_dot_wide(s, u, vq_broadcast(y))
                   : vi_dot(s, u, vq_broadcast(y));
}

/* ---- GEMV ---- */

/* Where the activations of a block's first four values are, and those of dot4
 * number J; which accumulator its sum belongs to; which has_low is its own. */
GB_INLINE int
repacked_codes_at(bool is_nibbles, int block, int j)
{
    return is_nibbles ? 128 * (block / 4) + 16 * (block % 4) + 4 * (j % 4) +
                            64 * (j / 4)
                      : 32 * block + 4 * j;
}

GB_INLINE int
repacked_acc_of(bool is_nibbles, int block)
{
    return is_nibbles ? 4 * block : 16 * (block / 2 % 2) + 8 * (block % 2);
}

/* Add a block: the sums that a super-block's vectors have of it.  Unless
 * the super-block HAS_ANY_LOW, no low part is looked for. */
GB_INLINE void
repacked_add_block(const struct gb_repacked_reader *b, int block,
                   const struct gb_repacked_at *at,
                   const struct gb_q8_super_block *y, bool has_any_low,
                   vf *acc, vf *mins)
{
    const struct gb_format *format = b->format;
    const bool is_nibbles = format->order == GB_ORDER_NIBBLES;
    const bool is_wide = format->dot4s == 0;
    const int sums = is_nibbles ? 4 : 8;
    const bool has_low =
        has_any_low && y->has_low[block / (is_nibbles ? 4 : 2)] != 0;
    vf *to = acc + repacked_acc_of(is_nibbles, block);
    vq u[REPACKED_DOT4S];
    vf m;
    vf d = repacked_scales(format, at, &m);

    if (format->has_min || format->bias != 0)
        mins[block] = vf_fma(m, vf_set1(y->sum[block]), mins[block]);
    d = vf_mul(d, vf_set1(y->scale[block]));
    b->codes(at->codes, u);
#pragma GCC unroll 8
    for (int i = 0; i < sums; i++) {
        vi s = vi_set1(0);

#pragma GCC unroll 2
        for (int j = i; j < REPACKED_DOT4S; j += sums)
            s = repacked_dot(is_wide, s, u[j],
                             y->high + repacked_codes_at(is_nibbles, block, j));
        if (has_low) {
            s = vi_add_256(vi_set1(0), s);
#pragma GCC unroll 2
            for (int j = i; j < REPACKED_DOT4S; j += sums)
                s = repacked_dot(
                    is_wide, s, u[j],
                    y->low + repacked_codes_at(is_nibbles, block, j));
        }
        to[i] = vf_fma(vf_from_vi(s), d, to[i]);
    }
}

/* VF_LEN rows from LANE on of the group at X. */
GB_INLINE void
repacked_gemv_lanes(const struct gb_repacked_reader *b, int64_t k,
                    const char *x, int lane,
                    const struct gb_q8_super_block *y, float *dst)
{
    const size_t bytes = GB_REPACKED_ROWS * b->format->bytes;
    vf acc[2 * 16];
    vf mins[SUPER_BLOCKS];

    /* Unrolled, since the instruction that clears memory takes long to begin. */
#pragma GCC unroll 32
    for (int i = 0; i < 2 * 16; i++)
        acc[i] = vf_zero();
#pragma GCC unroll 8
    for (int i = 0; i < SUPER_BLOCKS; i++)
        mins[i] = vf_zero();
    for (int64_t left = k / GB_REPACKED_VALUES; left > 0;
         left -= SUPER_BLOCKS, y++) {
        const int n = left < SUPER_BLOCKS ? (int)left : SUPER_BLOCKS;
        const bool has_low = (y->has_low[0] | y->has_low[1] | y->has_low[2] |
                              y->has_low[3]) != 0;

        /* What is usual has no branches, and addresses that are constants. */
        if (n == SUPER_BLOCKS && !has_low) {
#pragma GCC unroll 8
            for (int i = 0; i < SUPER_BLOCKS; i++) {
                const struct gb_repacked_at at =
                    repacked_at(b->format, x, SUPER_BLOCKS, lane, i);

                repacked_add_block(b, i, &at, y, false, acc, mins);
            }
        } else {
            for (int i = 0; i < n; i++) {
                const struct gb_repacked_at at =
                    repacked_at(b->format, x, n, lane, i);

                repacked_add_block(b, i, &at, y, has_low, acc, mins);
            }
        }
        x += (size_t)n * bytes;
    }
    vf_store(dst, q64f_sum_rows(acc, acc + 16, mins));
}

/* gb_gemv_fn made of a struct gb_repacked_reader; ROWS are whole groups. */
GB_INLINE void
repacked_gemv(const struct gb_repacked_reader *b, int64_t k, int64_t rows,
              const void *x, size_t pitch, const void *column, float *dst)
{
    const char *group = x;

    for (int64_t r = 0; r < rows;
         r += GB_REPACKED_ROWS, group += GB_REPACKED_ROWS * pitch)
        for (int lane = 0; lane < GB_REPACKED_ROWS; lane += VF_LEN)
            repacked_gemv_lanes(b, k, group, lane, column, dst + r + lane);
}

/* ---- skinny GEMM ---- */

/* S + the products of sixteen values with the activations at Y, which are
 * lane-interleaved: 64 bytes from four to four. */
GB_INLINE vi
repacked_dot16(bool is_wide, vi s, const vq *u, const int8_t *y)
{
#pragma GCC unroll 4
    for (int q = 0; q < 4; q++)
        s = repacked_dot(is_wide, s, u[q], y + 64 * q);
    return s;
}

/* Add sixteen values of a block, U: lane L of the activations Y. */
GB_INLINE void
repacked_add_half(bool is_wide, const vq *u, vf d, vf m,
                  const struct gb_q8_super_block *y, int l, vf *acc)
{
    vi s = repacked_dot16(is_wide, vi_set1(0), u, y->high + 4 * l);

    if (y->has_low[0] != 0)
        s = repacked_dot16(is_wide, vi_add_256(vi_set1(0), s), u,
                           y->low + 4 * l);
    acc[l] = vf_fma(m, vf_set1(y->sum[l]), acc[l]);
    acc[l] = vf_fma(vf_from_vi(s), vf_mul(d, vf_set1(y->scale[l])), acc[l]);
}

/* VF_LEN rows from LANE on of the group at X times N columns. */
GB_INLINE void
repacked_skinny_lanes(const struct gb_repacked_reader *b, int64_t k,
                      const char *x, int lane, int64_t n_cols,
                      const void *const *columns, int64_t row,
                      float *const *dst)
{
    const struct gb_format *format = b->format;
    const bool is_wide = format->dot4s == 0;
    const int64_t blocks = k / GB_REPACKED_VALUES;
    vf acc[REPACKED_COLS][16];
    vf none[16];
    int lane_of[16];

    for (int i = 0; i < 16; i++) {
        lane_of[gb_interleaved_sub_block(format->order, i)] = i;
        none[i] = vf_zero();
        for (int64_t c = 0; c < n_cols; c++)
            acc[c][i] = vf_zero();
    }
    for (int64_t i = 0; i < blocks; i++) {
        const int l = 2 * (int)(i % SUPER_BLOCKS);
        const struct gb_repacked_at at =
            repacked_at(format, x, blocks, lane, i);
        vq u[REPACKED_DOT4S];
        vf m;
        const vf d = repacked_scales(format, &at, &m);

        b->codes(at.codes, u);
        for (int64_t c = 0; c < n_cols; c++) {
            const struct gb_q8_super_block *y =
                (const struct gb_q8_super_block *)columns[c] +
                i / SUPER_BLOCKS;

            repacked_add_half(is_wide, u, d, m, y, lane_of[l], acc[c]);
            repacked_add_half(is_wide, u + 4, d, m, y, lane_of[l + 1], acc[c]);
        }
    }
    for (int64_t c = 0; c < n_cols; c++)
        vf_store(dst[c] + row + lane, q64f_sum_rows(acc[c], none, none));
}

/* gb_skinny_fn made of a struct gb_repacked_reader. */
GB_INLINE void
repacked_skinny(const struct gb_repacked_reader *b, const struct gb_product *p)
{
    const char *group = p->weights;

    for (int64_t r = 0; r < p->rows;
         r += GB_REPACKED_ROWS, group += GB_REPACKED_ROWS * p->pitch)
        for (int64_t c = 0; c < p->cols; c += REPACKED_COLS)
            for (int lane = 0; lane < GB_REPACKED_ROWS; lane += VF_LEN)
                repacked_skinny_lanes(
                    b, p->k, group, lane,
                    p->cols - c < REPACKED_COLS ? p->cols - c : REPACKED_COLS,
                    p->columns + c, r, p->dst + c);
}

/* ---- GEMM ---- */

/* The codes of block BLOCK to their place in the panel; where that wants tiles
 * of its own, to the panel's rows. */
GB_INLINE void
repacked_put_codes(const struct gb_panel *panel, int64_t block, const vq *u)
{
#pragma GCC unroll 8
    for (int j = 0; j < REPACKED_DOT4S; j++) {
        const int64_t at = GB_REPACKED_VALUES * block + 4 * j;

        if (VQ_TILES) {
            uint8_t codes[4 * VF_LEN];

            vq_store(codes, u[j]);
            for (int r = 0; r < VF_LEN; r++)
                memcpy(panel->rows + r * GB_PANEL_K + at, codes + 4 * r, 4);
        } else {
            vq_store(panel->codes + at * VF_LEN, u[j]);
        }
    }
}

/* gb_unpack_lanes_fn made of a struct gb_repacked_reader: no transpose. */
GB_INLINE void
repacked_unpack(const struct gb_repacked_reader *b, int64_t k, int lane,
                const char *x, const struct gb_panel *panel)
{
    const struct gb_format *format = b->format;
    const int64_t blocks = k / GB_REPACKED_VALUES;

    for (int64_t i = 0; i < blocks; i++) {
        const struct gb_repacked_at at =
            repacked_at(format, x, blocks, lane, i);
        vq u[REPACKED_DOT4S];
        vf m;

        vf_store(panel->scales + i * VF_LEN, repacked_scales(format, &at, &m));
        if (format->has_min)
            vf_store(panel->mins + i * VF_LEN, m);
        b->codes(at.codes, u);
        repacked_put_codes(panel, i, u);
    }
    for (int64_t i = 0; VQ_TILES && i < k; i += 4 * VF_LEN)
        vq4_transpose(panel->codes + i * VF_LEN, panel->rows + i, GB_PANEL_K);
}

/* NAME_repacked, the struct gb_format_kernels of repacked weights: CODES is the
 * reader's function, and GB_FORMAT_KERNELS(name) stands before. */
#define GB_REPACKED_KERNELS(name, codes_)                                      \
    static const struct gb_repacked_reader repacked_##name = {                 \
        .format = &name##_format,                                              \
        .codes = codes_,                                                       \
    };                                                                         \
                                                                               \
    static void repacked_gemv_##name(int64_t k, int64_t rows, const void *x,   \
                                     size_t pitch, const void *column,         \
                                     float *dst)                               \
    {                                                                          \
        repacked_gemv(&repacked_##name, k, rows, x, pitch, column, dst);       \
    }                                                                          \
                                                                               \
    static void repacked_unpack_##name(int64_t k, int lane, const void *x,     \
                                       const struct gb_panel *panel)           \
    {                                                                          \
        repacked_unpack(&repacked_##name, k, lane, x, panel);                  \
    }                                                                          \
                                                                               \
    static void repacked_skinny_##name(const struct gb_product *p)             \
    {                                                                          \
        repacked_skinny(&repacked_##name, p);                                  \
    }                                                                          \
                                                                               \
    extern const struct gb_format_kernels GB_K(name##_repacked);               \
                                                                               \
    const struct gb_format_kernels GB_K(name##_repacked) = {                   \
        .format = &name##_format,                                              \
        .gemv = repacked_gemv_##name,                                          \
        .unpack = unpack_##name,                                               \
        .floats = floats_##name,                                               \
        .unpack_lanes = repacked_unpack_##name,                                \
        .skinny = repacked_skinny_##name,                                      \
    };

/* Codes of four bits: byte e has value e, and in the upper half 16 + e. */
GB_INLINE void
repacked_nibbles(const char *x, vq *u)
{
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        const vq v = vq_load(x + REPACKED_STEP * j);

        u[j] = vq_low_nibbles(v);
        u[4 + j] = vq_high_nibbles(v);
    }
}

#endif
