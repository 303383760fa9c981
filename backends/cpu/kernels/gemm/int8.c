/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/int8.c - GEMM micro-kernel of int8 panels.
 *
 *     dst[c][r] (+)= sum over sub-blocks b of
 *         scale[b][r] * d[b][c] * dot(codes[b][r], codes[b][c]) +
 *         min[b][r] * sum[b][c]
 *
 * The register tile has MR = VQ_ROWS vectors of VF_LEN rows and NR = VQ_COLS
 * columns.  A step loads four codes of each row (one vector of dot4 operands
 * for VF_LEN rows), spreads four codes of a column over all lanes, and adds
 * their dot4 to a sum of int32 for each row and column.  At the end of a
 * sub-block, 4 or 8 steps, sums become floats, times both scales.  A sub-block
 * of 32 thus costs 8 dot4 instructions and 3 of floats (convert, multiply the
 * scales, multiply and add) for VF_LEN products of 32 values; a min is one
 * more.  Loads are VQ_ROWS of weights and NR of activations for VQ_ROWS * NR
 * dot4.
 *
 * An integer sum begins with the zero-point correction, minus the bias times
 * the sum of the column's codes, which was computed when the column was packed:
 * so codes can be unsigned, as VPDPBUSD wants them, at no cost here.  It cannot
 * overflow: 32 products of 255 * 127 are about 2^20.
 *
 * Where dot4 is two instructions (sums of 16 bits, VQ_HALVES), as many of them
 * are added in 16 bits as the format's codes allow.
 *
 * Outliers, which have zeros among the codes, are added one by one behind a
 * column's sub-blocks: some in a hundred of these have one.
 */
#include "backends/cpu/kernels/gemm/int8.h"
#include "lib/base/attr.h"
#include "lib/type/blocks.h"

/* What differs by type; constants where a tile is computed: values that share a
 * scale, dot4s that a sum of 16 bits can hold (0: wide codes), and whether
 * there are mins. */
struct micro_kernel {
    int sub_block;
    int dot4s;
    int has_min;
};

/* Where the parts of a panel's blocks are, behind their codes. */
#define AT_D          offsetof(struct gb_panel_block_end, d)
#define AT_SUM        offsetof(struct gb_panel_block_end, sum)
#define AT_CORRECTION offsetof(struct gb_panel_block_end, correction)

/* A float and an integer of an activation panel, which is addressed in
 * bytes. */
GB_INLINE float
float_at(const char *p)
{
    float x;

    memcpy(&x, p, sizeof(x));
    return x;
}

GB_INLINE int32_t
int_at(const char *p)
{
    int32_t x;

    memcpy(&x, p, sizeof(x));
    return x;
}

/* Add N dot4s of each row and of COLS columns to the sums in 32 bits: the next
 * 4 * N values of the sub-block. */
GB_INLINE void
add_dot4s(int n, int cols, bool is_wide, const uint8_t *const *codes,
          const char *const *blocks_at, vi s[VQ_ROWS][VQ_COLS])
{
#pragma GCC unroll 8
    for (int q = 0; q < n; q++) {
        vq w[VQ_ROWS];

#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            w[v] = vq_load(codes[v] + 4 * VF_LEN * q);
#pragma GCC unroll 8
        for (int c = 0; c < cols; c++) {
            const vq a = vq_broadcast(blocks_at[c] + 4 * q);

#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++)
                s[v][c] = is_wide ? vi_dot_wide(s[v][c], w[v], a)
                                  : vi_dot(s[v][c], w[v], a);
        }
    }
}

/* The same where the sum of all N fits in 16 bits (struct gb_format, dot4s):
 * the step from 16 to 32 bits is made once instead of N times. */
GB_INLINE void
add_dot4s_halves(int n, int cols, const uint8_t *const *codes,
                 const char *const *blocks_at, vi s[VQ_ROWS][VQ_COLS])
{
    vh h[VQ_ROWS][VQ_COLS];

#pragma GCC unroll 8
    for (int q = 0; q < n; q++) {
        vq w[VQ_ROWS];

#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            w[v] = vq_load(codes[v] + 4 * VF_LEN * q);
#pragma GCC unroll 8
        for (int c = 0; c < cols; c++) {
            const vq a = vq_broadcast(blocks_at[c] + 4 * q);

#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++)
                h[v][c] = q == 0 ? vh_dot(w[v], a)
                                 : vh_dot_more(h[v][c], w[v], a);
        }
    }
#pragma GCC unroll 8
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            s[v][c] = vi_add_pairs(s[v][c], h[v][c]);
}

_Static_assert(VQ_COLS % 2 == 0, "columns have partners");

/* The same for N dot4s, a multiple of four, by two columns at a time, where an
 * instruction multiplies small matrices of bytes (VQ_TILES). */
GB_INLINE void
add_dot4s_tiles(int n, int cols, bool is_wide, const uint8_t *const *codes,
                const char *const *blocks_at, vi s[VQ_ROWS][VQ_COLS])
{
    vi2 t[VQ_ROWS][VQ_COLS / 2];

#pragma GCC unroll 8
    for (int c = 0; c < cols; c += 2)
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            t[v][c / 2] = vi2_join(s[v][c], s[v][c + 1]);
#pragma GCC unroll 2
    for (int q = 0; q < n; q += 4) {
        va2 a[VQ_COLS / 2];

#pragma GCC unroll 8
        for (int c = 0; c < cols; c += 2)
            a[c / 2] = va2_load(blocks_at[c] + 4 * q, blocks_at[c + 1] + 4 * q);
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++) {
            const vq4 w = vq4_load(codes[v] + 4 * VF_LEN * q);

#pragma GCC unroll 8
            for (int c = 0; c < cols / 2; c++)
                t[v][c] = is_wide ? vi2_dot_wide(t[v][c], w, a[c])
                                  : vi2_dot(t[v][c], w, a[c]);
        }
    }
#pragma GCC unroll 8
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            s[v][c] = vi2_sums(t[v][c / 2], c % 2);
}

/* Add the products of one sub-block: 4 or 8 dot4 for each row and column, in
 * the form that the instruction set is best at. */
GB_INLINE void
add_sub_block(const struct micro_kernel *kernel, int cols,
              const uint8_t *const *panels, const char *const *blocks_at,
              vi s[VQ_ROWS][VQ_COLS])
{
    const bool in_halves = VQ_HALVES && kernel->dot4s > 1;
    const int step = in_halves ? kernel->dot4s : 1;

    if (VQ_TILES) {
        add_dot4s_tiles(kernel->sub_block / 4, cols, kernel->dot4s == 0, panels,
                        blocks_at, s);
        return;
    }
#pragma GCC unroll 8
    for (int q = 0; q < kernel->sub_block / 4; q += step) {
        const uint8_t *codes[VQ_ROWS];
        const char *dot4s[VQ_COLS];

#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            codes[v] = panels[v] + 4 * VF_LEN * q;
#pragma GCC unroll 8
        for (int c = 0; c < cols; c++)
            dot4s[c] = blocks_at[c] + 4 * q;
        if (in_halves)
            add_dot4s_halves(step, cols, codes, dot4s, s);
        else
            add_dot4s(step, cols, kernel->dot4s == 0, codes, dot4s, s);
    }
}

/* Values whose codes lie together in a panel. */
#define TOGETHER (VQ_TILES ? 16 : 4)

/* The weights' codes for value K of the tile's part, less the bias: their dot4
 * with a column that is 1 there. */
GB_INLINE void
codes_of(const struct gb_gemm_tile *tile, const struct micro_kernel *kernel,
         int64_t k, vi s[VQ_ROWS][VQ_COLS])
{
    static const int8_t one[2 * TOGETHER - 1] = { [TOGETHER - 1] = 1 };
    const char *const at = (const char *)one + TOGETHER - 1 - k % TOGETHER;
    const char *const columns[VQ_COLS] = { at, at };
    const struct micro_kernel few = { TOGETHER, kernel->dot4s != 0, 0 };
    const uint8_t *codes[VQ_ROWS];

#pragma GCC unroll 8
    for (int v = 0; v < VQ_ROWS; v++) {
        codes[v] = tile->panels[v].codes + k / TOGETHER * TOGETHER * VF_LEN;
        s[v][0] = s[v][1] = vi_set1(-tile->bias);
    }
    add_sub_block(&few, VQ_TILES ? 2 : 1, codes, columns, s);
}

/* Add the products of the outliers in the tile's part of COLUMN, whose sums are
 * acc[..][c]. */
GB_INLINE void
add_outliers(const struct gb_gemm_tile *tile, const struct micro_kernel *kernel,
             const void *column, int c, vf acc[VQ_ROWS][VQ_COLS])
{
    const int32_t *const counts =
        (const void *)((const char *)column + tile->counts);
    const struct gb_outlier *const outliers =
        (const void *)((const char *)column + tile->outliers);
    const int32_t end =
        counts[(tile->k + GB_OUTLIER_VALUES - 1) / GB_OUTLIER_VALUES];

    for (int32_t i = counts[0]; i < end; i++) {
        const int64_t k =
            outliers[i].place + (i < counts[1] ? 0 : GB_OUTLIER_VALUES);
        const vf value = vf_set1(outliers[i].value);
        vi s[VQ_ROWS][VQ_COLS];

        codes_of(tile, kernel, k, s);
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++) {
            const vf scale = vf_load(tile->panels[v].scales +
                                     k / kernel->sub_block * VF_LEN);

            acc[v][c] = vf_fma(vf_from_vi(s[v][0]), vf_mul(scale, value),
                               acc[v][c]);
        }
    }
}

/* Rows of the tile that are in panel V. */
GB_INLINE int64_t
rows_of(const struct gb_gemm_tile *tile, int v)
{
    const int64_t rows = tile->rows - v * VF_LEN;

    return rows < 0 ? 0 : rows > VF_LEN ? VF_LEN : rows;
}

/* The micro-kernel: MR rows times VQ_COLS columns, all sub-blocks of the tile's
 * part of k.  Sums stay in registers from the first sub-block to the last.
 * Meanwhile the sub-blocks of the next columns are prefetched, which lie AHEAD
 * bytes behind these.  The processor's own prefetcher would go on in the same
 * column, whose further values are not wanted before the next KC. */
GB_INLINE void
add_columns(const struct gb_gemm_tile *tile, const struct micro_kernel *kernel,
            const void *const *columns, float *const *dst, ptrdiff_t ahead)
{
    const int sub_block = kernel->sub_block;
    const int64_t blocks = tile->k / kernel->sub_block;
    vf acc[VQ_ROWS][VQ_COLS];
    vf first[VQ_ROWS][VQ_COLS]; /* of two sub-blocks of 16: its products */
    int64_t rest[VQ_ROWS];
    const char *blocks_at[VQ_COLS];
    const uint8_t *codes[VQ_ROWS];

#pragma GCC unroll 8
    for (int v = 0; v < VQ_ROWS; v++) {
        rest[v] = rows_of(tile, v);
        codes[v] = tile->panels[v].codes;
    }
#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++) {
        blocks_at[c] = (const char *)columns[c] + tile->from;
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            acc[v][c] =
                tile->is_first
                    ? vf_zero()
                    : vf_load_n(dst[c] + tile->dst_row + v * VF_LEN, rest[v]);
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            first[v][c] = vf_zero();
    }
    /* Sub-block by sub-block: integer sums from the zero-point correction on,
     * then scales, then mins.  Two sub-blocks of 16 have one scale of
     * activations, which meets both their products. */
    for (int64_t p = 0; p < blocks; p++) {
        vi s[VQ_ROWS][VQ_COLS];
        vf d[VQ_ROWS];

#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c++)
#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++)
                s[v][c] = vi_set1(
                    int_at(blocks_at[c] + sub_block + AT_CORRECTION));
        add_sub_block(kernel, VQ_COLS, codes, blocks_at, s);
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++) {
            d[v] = vf_load(tile->panels[v].scales + p * VF_LEN);
            codes[v] += kernel->sub_block * VF_LEN;
        }
#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c++) {
            const vf scale = vf_set1(float_at(blocks_at[c] + sub_block + AT_D));

#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++) {
                const vf sum = vf_from_vi(s[v][c]);

                if (sub_block == GB_QK)
                    acc[v][c] = vf_fma(sum, vf_mul(d[v], scale), acc[v][c]);
                else if (p % 2 == 0)
                    first[v][c] = vf_mul(sum, d[v]);
                else
                    acc[v][c] =
                        vf_fma(vf_fma(sum, d[v], first[v][c]), scale, acc[v][c]);
            }
        }
        if (kernel->has_min) {
#pragma GCC unroll 8
            for (int v = 0; v < VQ_ROWS; v++)
                d[v] = vf_load(tile->panels[v].mins + p * VF_LEN);
#pragma GCC unroll 8
            for (int c = 0; c < VQ_COLS; c++) {
                const vf sum = vf_set1(
                    float_at(blocks_at[c] + sub_block + AT_SUM));

#pragma GCC unroll 8
                for (int v = 0; v < VQ_ROWS; v++)
                    acc[v][c] = vf_fma(d[v], sum, acc[v][c]);
            }
        }
#pragma GCC unroll 8
        for (int c = 0; c < VQ_COLS; c++) {
            GB_PREFETCH(blocks_at[c] + ahead);
            blocks_at[c] += sub_block + (int)sizeof(struct gb_panel_block_end);
        }
    }
#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++)
        add_outliers(tile, kernel, columns[c], c, acc);
#pragma GCC unroll 8
    for (int c = 0; c < VQ_COLS; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VQ_ROWS; v++)
            vf_store_n(dst[c] + tile->dst_row + v * VF_LEN, acc[v][c],
                       rest[v]);
}

/* The sums of the columns from FIRST on, which are next, on their way. */
GB_INLINE void
prefetch_sums(const struct gb_gemm_tile *tile, int64_t first)
{
    for (int64_t c = first; c < tile->cols && c < first + VQ_COLS; c++)
        for (int v = 0; v < VQ_ROWS; v++)
            GB_PREFETCH_TO(tile->dst[c] + tile->dst_row + v * VF_LEN);
}

/* All columns, the last ones more than once where they do not fill a tile: the
 * same sum is then written again. */
GB_INLINE void
all_columns(const struct gb_gemm_tile *tile, const struct micro_kernel *kernel)
{
    for (int64_t c = 0; c < tile->cols; c += VQ_COLS) {
        const int64_t left = tile->cols - c;
        const int64_t next = left > VQ_COLS ? c + VQ_COLS : c;
        const void *columns[VQ_COLS];
        float *dst[VQ_COLS];

        for (int i = 0; i < VQ_COLS; i++) {
            const int64_t from = c + (i < left ? i : left - 1);

            columns[i] = tile->columns[from];
            dst[i] = tile->dst[from];
        }
        prefetch_sums(tile, c + VQ_COLS);
        add_columns(tile, kernel, columns, dst,
                    (const char *)tile->columns[next] -
                        (const char *)tile->columns[c]);
    }
}

/* Functions of their own, so that the compiler has all registers for each. */
#define GB_MICRO_KERNEL(sub_block, dot4s, has_min)                            \
    static void tile_##sub_block##_##dot4s##_##has_min(                       \
        const struct gb_gemm_tile *tile)                                      \
    {                                                                         \
        all_columns(tile, &(const struct micro_kernel){ sub_block, dot4s,     \
                                                        has_min });           \
    }
#include "backends/cpu/kernels/api/micro-kernels.def"
#undef GB_MICRO_KERNEL

static void (*const micro_kernels[])(const struct gb_gemm_tile *tile) = {
#define GB_MICRO_KERNEL(sub_block, dot4s, has_min)                            \
    [GB_MICRO_KERNEL_##sub_block##_##dot4s##_##has_min] =                     \
        tile_##sub_block##_##dot4s##_##has_min,
#include "backends/cpu/kernels/api/micro-kernels.def"
#undef GB_MICRO_KERNEL
};

/* Each format names its micro-kernel (struct gb_format). */
void
GB_K(gemm_int8_tile)(
    const struct gb_format *format, const struct gb_gemm_tile *tile)
{
    micro_kernels[format->micro_kernel](tile);
}
