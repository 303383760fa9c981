/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-real.c - weights f32, f16 and bf16, multiplied in float.
 */
#include "backends/cpu/kernels/gemm-reals.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/panel.h"
#include "backends/cpu/kernels/weights.h"

/* How values are read: VF_LEN of them, or the first n; BYTES is one's size.
 * TURN, NULL where there is none, reads TURNED values of VF_LEN rows and puts
 * them side by side. */
struct reals {
    size_t bytes;
    vf (*load)(const void *p);
    vf (*load_n)(const void *p, int64_t n);
    void (*turn)(float *dst, const void *src, int64_t pitch);
};

/* Cache lines of half floats are read as a whole, since rows a power of two
 * apart share the cache's places. */
#define TURNED (2 * VF_LEN)

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

/* N values of a row as floats; of other rows zeros. */
GB_INLINE void
read_row(const struct reals *t, int64_t n, const char *row, float *dst)
{
    for (int i = 0; i < TURNED; i += VF_LEN) {
        const char *from = row + (size_t)i * t->bytes;

        if (n - i >= VF_LEN)
            vf_store(dst + i, t->load(from));
        else if (n > i)
            vf_store(dst + i, t->load_n(from, n - i));
        else
            vf_store(dst + i, vf_zero());
    }
}

/* Up to TURNED values of up to VF_LEN rows become floats and are turned. */
GB_INLINE void
turn_some(const struct reals *t, int64_t k, int64_t rows, const char *x,
          size_t pitch, float *dst)
{
    float square[VF_LEN][TURNED];

    for (int64_t r = 0; r < VF_LEN; r++)
        read_row(t, r < rows ? k : 0, x + (size_t)r * pitch, square[r]);
    for (int j = 0; j < TURNED && j < k; j += VF_LEN)
        vq_transpose(dst + j * VF_LEN, &square[0][j], sizeof(square[0]));
}

GB_INLINE void
real_unpack(const struct reals *t, int64_t k, int64_t rows, const void *x,
            size_t pitch, const struct gb_panel *panel)
{
    for (int64_t i = 0; i < k; i += TURNED) {
        const char *from = (const char *)x + (size_t)i * t->bytes;
        float *dst = panel->reals + i * VF_LEN;

        if (t->turn != NULL && rows >= VF_LEN && k - i >= TURNED)
            t->turn(dst, from, (int64_t)pitch);
        else
            turn_some(t, k - i, rows, from, pitch, dst);
    }
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

GB_INLINE void
turn_f32(float *dst, const void *src, int64_t pitch)
{
    vq_transpose(dst, src, pitch);
    vq_transpose(dst + VF_LEN * VF_LEN, (const float *)src + VF_LEN, pitch);
}

#if VQ_TURNS_HALVES
#define turn_f16  vq_transpose_f16
#define turn_bf16 vq_transpose_bf16
#else
#define turn_f16  NULL
#define turn_bf16 NULL
#endif

static const struct reals f32 = { 4, load_f32, load_f32_n, turn_f32 };
static const struct reals f16 = { 2, load_f16, load_f16_n, turn_f16 };
static const struct reals bf16 = { 2, load_bf16, load_bf16_n, turn_bf16 };

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

/* Up to VF_LEN pairs of up to VF_LEN rows. */
static void
turn_some_pairs(int64_t k, int64_t rows, const char *x, size_t pitch,
                float *dst)
{
    uint16_t square[VF_LEN][TURNED] = { { 0 } };
    const int64_t n = k < TURNED ? k : TURNED;

    for (int64_t r = 0; r < rows && r < VF_LEN; r++)
        memcpy(square[r], x + (size_t)r * pitch, (size_t)n * sizeof(uint16_t));
    vq_transpose(dst, square, sizeof(square[0]));
}

void
GB_K(unpack_pairs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   const struct gb_panel *panel)
{
    for (int64_t i = 0; i < k; i += TURNED) {
        const char *from = (const char *)x + (size_t)i * sizeof(uint16_t);
        float *dst = panel->reals + i / 2 * VF_LEN;

        if (rows >= VF_LEN && k - i >= TURNED)
            vq_transpose(dst, from, (int64_t)pitch);
        else
            turn_some_pairs(k - i, rows, from, pitch, dst);
    }
}
