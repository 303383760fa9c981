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

/* A row times a column; four sums are in flight. */
GB_INLINE float
dot_of_row(const struct reals *t, int64_t k, const char *x, const float *y)
{
    const size_t step = VF_LEN * t->bytes;
    vf s[4] = { vf_zero(), vf_zero(), vf_zero(), vf_zero() };
    int64_t i = 0;

    for (; i + 4 * VF_LEN <= k; i += 4 * VF_LEN, x += 4 * step) {
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++)
            s[j] = vf_fma(t->load(x + (size_t)j * step),
                          vf_load(y + i + j * VF_LEN), s[j]);
    }
    for (; i + VF_LEN <= k; i += VF_LEN, x += step)
        s[0] = vf_fma(t->load(x), vf_load(y + i), s[0]);
    if (i < k)
        s[1] = vf_fma(t->load_n(x, k - i), vf_load_n(y + i, k - i), s[1]);
    return vf_sum(vf_add(vf_add(s[0], s[1]), vf_add(s[2], s[3])));
}

/* Row after row, see kernels/blocks.h. */
GB_INLINE void
real_dots(const struct reals *t, int64_t k, int64_t rows, const void *x,
          size_t pitch, const void *column, float *dst)
{
    for (int64_t r = 0; r < rows; r++)
        dst[r] = dot_of_row(t, k, (const char *)x + (size_t)r * pitch, column);
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
