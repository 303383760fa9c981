/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/floats.c - float weights (F32, F16, BF16): GEMV with a
 * column of floats, packing into panels of the GEMM, conversion to F32.
 *
 * GEMV is dot products along the rows, in F32.  Memory is read at full speed
 * row after row (gemv.h), as long as the column stays in the L1 cache.  How
 * many rows share loads of the column:
 *
 *     k <= SHORT   4 rows, one accumulator each: horizontal sums of four rows
 *                  together take less than those of one after the other
 *     k <= LONG    1 row, four accumulators
 *     k > LONG     LONG_ROWS rows, four accumulators each: the column comes
 *                  from L2, and competes with the weights for line-fill buffers
 *
 * Packing: VF_LEN rows are transposed, with conversion to F32 (gemm/panel.h).
 */
#include "backends/cpu/kernels/gemm/float.h"
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/format/float-types.h"
#include "backends/cpu/kernels/format/formats.h"

#define SHORT     256
#define LONG      4096
#define LONG_ROWS (VF_LEN == 16 ? 4 : 2)

/* N rows, PITCH bytes apart, times a column, with SUMS accumulators for each
 * row: 4, or 1 where there are 4 rows. */
GB_INLINE void
dot_rows(const struct gb_float_type *t, int n, int sums, int64_t k,
         const char *x, size_t pitch, const float *y, float *dst)
{
    const size_t vector_bytes = VF_LEN * t->bytes;
    vf s[4][4];
    int64_t i = 0;

#pragma GCC unroll 16
    for (int j = 0; j < sums * n; j++)
        s[j / sums][j % sums] = vf_zero();
    for (; i + sums * VF_LEN <= k; i += sums * VF_LEN) {
#pragma GCC unroll 4
        for (int j = 0; j < sums; j++, x += vector_bytes) {
            const vf v = vf_load(y + i + j * VF_LEN);

#pragma GCC unroll 4
            for (int r = 0; r < n; r++)
                s[r][j] = vf_fma(t->load(x + (size_t)r * pitch), v, s[r][j]);
        }
    }
    for (; sums > 1 && i + VF_LEN <= k; i += VF_LEN, x += vector_bytes) {
#pragma GCC unroll 4
        for (int r = 0; r < n; r++)
            s[r][0] = vf_fma(t->load(x + (size_t)r * pitch), vf_load(y + i),
                             s[r][0]);
    }
    if (i < k) {
#pragma GCC unroll 4
        for (int r = 0; r < n; r++)
            s[r][sums - 1] = vf_fma(t->load_n(x + (size_t)r * pitch, k - i),
                                    vf_load_n(y + i, k - i), s[r][sums - 1]);
    }
    if (sums == 1) {
        vf_sum4(dst, s[0][0], s[1][0], s[2][0], s[3][0]);
        return;
    }
#pragma GCC unroll 4
    for (int r = 0; r < n; r++)
        dst[r] = vf_sum(
            vf_add(vf_add(s[r][0], s[r][1]), vf_add(s[r][2], s[r][3])));
}

GB_INLINE void
float_gemv(const struct gb_float_type *t, int64_t k, int64_t rows,
           const void *x, size_t pitch, const void *column, float *dst)
{
    const char *row = x;
    int64_t r = 0;

    for (; k <= SHORT && r + 4 <= rows; r += 4, row += 4 * pitch)
        dot_rows(t, 4, 1, k, row, pitch, column, dst + r);
    for (; k > LONG && r + LONG_ROWS <= rows;
         r += LONG_ROWS, row += LONG_ROWS * pitch)
        dot_rows(t, LONG_ROWS, 4, k, row, pitch, column, dst + r);
    for (; r < rows; r++, row += pitch)
        dot_rows(t, 1, 4, k, row, pitch, column, dst + r);
}

/* N values of a row as floats, up to GB_TRANSPOSED; zeros for the rest. */
GB_INLINE void
read_row(const struct gb_float_type *t, int64_t n, const char *row, float *dst)
{
    for (int i = 0; i < GB_TRANSPOSED; i += VF_LEN) {
        const char *from = row + (size_t)i * t->bytes;

        if (n - i >= VF_LEN)
            vf_store(dst + i, t->load(from));
        else if (n > i)
            vf_store(dst + i, t->load_n(from, n - i));
        else
            vf_store(dst + i, vf_zero());
    }
}

/* Transpose less than VF_LEN rows or GB_TRANSPOSED values, which become floats
 * before. */
GB_INLINE void
transpose_tail(const struct gb_float_type *t, int64_t k, int64_t rows,
               const char *x, size_t pitch, float *dst)
{
    float square[VF_LEN][GB_TRANSPOSED];

    for (int64_t r = 0; r < VF_LEN; r++)
        read_row(t, r < rows ? k : 0, x + (size_t)r * pitch, square[r]);
    for (int j = 0; j < GB_TRANSPOSED && j < k; j += VF_LEN)
        vq_transpose(dst + j * VF_LEN, &square[0][j], sizeof(square[0]));
}

GB_INLINE void
float_unpack(const struct gb_float_type *t, int64_t k, int64_t rows,
             const void *x, size_t pitch, const struct gb_panel *panel)
{
    for (int64_t i = 0; i < k; i += GB_TRANSPOSED) {
        const char *from = (const char *)x + (size_t)i * t->bytes;
        float *dst = panel->floats + i * VF_LEN;

        if (t->transpose != NULL && rows >= VF_LEN && k - i >= GB_TRANSPOSED)
            t->transpose(dst, from, (int64_t)pitch);
        else
            transpose_tail(t, k - i, rows, from, pitch, dst);
    }
}

static void
floats_f32(int64_t n, float *dst, const void *x)
{
    memcpy(dst, x, (size_t)n * sizeof(*dst));
}

static void
floats_f16(int64_t n, float *dst, const void *x)
{
    GB_K(f16_to_f32)(n, dst, x);
}

static void
floats_bf16(int64_t n, float *dst, const void *x)
{
    GB_K(bf16_to_f32)(n, dst, x);
}

#define FLOAT_KERNELS(name, TYPE, size)                                   \
    static void gemv_##name(int64_t k, int64_t rows, const void *x,       \
                            size_t pitch, const void *column, float *dst) \
    {                                                                     \
        float_gemv(&gb_##name, k, rows, x, pitch, column, dst);           \
    }                                                                     \
                                                                          \
    static void unpack_##name(int64_t k, int64_t rows, const void *x,     \
                              size_t pitch, const struct gb_panel *panel) \
    {                                                                     \
        float_unpack(&gb_##name, k, rows, x, pitch, panel);               \
    }                                                                     \
                                                                          \
    extern const struct gb_format_kernels GB_K(name##_kernels);           \
                                                                          \
    const struct gb_format_kernels GB_K(name##_kernels) = {               \
        .format = &(const struct gb_format){                              \
            .activation = GGML_TYPE_##TYPE,                               \
            .block = 1,                                                   \
            .bytes = size,                                                \
            .gemv_cols = 1,                                               \
            .skinny_cols = GB_SKINNY_COLS,                                \
        },                                                                \
        .gemv = gemv_##name,                                              \
        .unpack = unpack_##name,                                          \
        .floats = floats_##name,                                          \
    };

FLOAT_KERNELS(f32, F32, 4)
FLOAT_KERNELS(f16, F16, 2)
FLOAT_KERNELS(bf16, BF16, 2)
