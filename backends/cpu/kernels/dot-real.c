/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-real.c - weights f32, f16 and bf16, multiplied in float.
 */
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/panel.h"
#include "backends/cpu/kernels/weights.h"

/* How values are read: VF_LEN of them, or the first n; BYTES is one's size. */
struct reals {
    size_t bytes;
    vf (*load)(const void *p);
    vf (*load_n)(const void *p, int64_t n);
};

/* dst[r] = N rows, at most 4, times a column; two sums for each row are in
 * flight. */
GB_INLINE void
dots_of_rows(const struct reals *t, int n, int64_t k, const char *x,
             size_t pitch, const float *y, float *dst)
{
    vf even[4];
    vf odd[4];
    int64_t i = 0;

    for (int r = 0; r < n; r++) {
        even[r] = vf_zero();
        odd[r] = vf_zero();
    }
    for (; i + 2 * VF_LEN <= k; i += 2 * VF_LEN) {
        const vf y0 = vf_load(y + i);
        const vf y1 = vf_load(y + i + VF_LEN);
        const char *p = x + (size_t)i * t->bytes;

#pragma GCC unroll 4
        for (int r = 0; r < n; r++, p += pitch) {
            even[r] = vf_fma(t->load(p), y0, even[r]);
            odd[r] = vf_fma(t->load(p + VF_LEN * t->bytes), y1, odd[r]);
        }
    }
    for (; i < k; i += VF_LEN) {
        const int64_t rest = k - i < VF_LEN ? k - i : VF_LEN;
        const vf y0 = vf_load_n(y + i, rest);
        const char *p = x + (size_t)i * t->bytes;

        for (int r = 0; r < n; r++, p += pitch)
            even[r] = vf_fma(t->load_n(p, rest), y0, even[r]);
    }
    for (int r = 0; r < n; r++)
        dst[r] = vf_sum(vf_add(even[r], odd[r]));
}

GB_INLINE void
real_dots(const struct reals *t, int64_t k, int64_t rows, const void *x,
          size_t pitch, const void *column, float *dst)
{
    const char *row = x;
    int64_t r = 0;

    for (; r + 4 <= rows; r += 4, row += 4 * pitch)
        dots_of_rows(t, 4, k, row, pitch, column, dst + r);
    for (; r < rows; r++, row += pitch)
        dots_of_rows(t, 1, k, row, pitch, column, dst + r);
}

/* Rows are made floats, zeros behind their ends, and then turned. */
GB_INLINE void
real_unpack(const struct reals *t, int64_t k, int64_t rows, const void *x,
            size_t pitch, const struct gb_panel *panel)
{
    const int64_t padded = (k + VF_LEN - 1) / VF_LEN * VF_LEN;
    float *turned = (float *)(void *)panel->rows;

    for (int64_t r = 0; r < VF_LEN; r++) {
        const char *row = (const char *)x + (size_t)r * pitch;
        float *to = turned + r * GB_PANEL_K_REAL;
        int64_t i = 0;

        if (r < rows) {
            for (; i + VF_LEN <= k; i += VF_LEN)
                vf_store(to + i, t->load(row + (size_t)i * t->bytes));
            if (i < k)
                vf_store(to + i, t->load_n(row + (size_t)i * t->bytes, k - i));
        } else {
            for (; i < padded; i += VF_LEN)
                vf_store(to + i, vf_zero());
        }
    }
    for (int64_t i = 0; i < padded; i += VF_LEN)
        vq_transpose(panel->reals + i * VF_LEN, turned + i,
                     GB_PANEL_K_REAL * sizeof(float));
}

GB_INLINE vf
load_f32(const void *p)
{
    return vf_load(p);
}

GB_INLINE vf
load_f32_n(const void *p, int64_t n)
{
    return vf_load_n(p, n);
}

GB_INLINE vf
load_f16(const void *p)
{
    return vf_load_f16(p);
}

GB_INLINE vf
load_f16_n(const void *p, int64_t n)
{
    return vf_load_f16_n(p, n);
}

GB_INLINE vf
load_bf16(const void *p)
{
    return vf_load_bf16(p);
}

GB_INLINE vf
load_bf16_n(const void *p, int64_t n)
{
    return vf_load_bf16_n(p, n);
}

static const struct reals f32 = { 4, load_f32, load_f32_n };
static const struct reals f16 = { 2, load_f16, load_f16_n };
static const struct reals bf16 = { 2, load_bf16, load_bf16_n };

void
GB_K(dots_f32)(int64_t k, int64_t rows, const void *x, size_t pitch,
               const void *column, float *dst)
{
    real_dots(&f32, k, rows, x, pitch, column, dst);
}

void
GB_K(dots_f16)(int64_t k, int64_t rows, const void *x, size_t pitch,
               const void *column, float *dst)
{
    real_dots(&f16, k, rows, x, pitch, column, dst);
}

void
GB_K(dots_bf16)(int64_t k, int64_t rows, const void *x, size_t pitch,
                const void *column, float *dst)
{
    real_dots(&bf16, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_f32)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 const struct gb_panel *panel)
{
    real_unpack(&f32, k, rows, x, pitch, panel);
}

void
GB_K(unpack_f16)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 const struct gb_panel *panel)
{
    real_unpack(&f16, k, rows, x, pitch, panel);
}

void
GB_K(unpack_bf16)(int64_t k, int64_t rows, const void *x, size_t pitch,
                  const struct gb_panel *panel)
{
    real_unpack(&bf16, k, rows, x, pitch, panel);
}
