/* SPDX-License-Identifier: MIT */
/*
 * type/half.c - rows of half floats, and the interface's conversions.
 */
#include "config.h"

#include "lib/type/half.h"

#include "ggml.h"

_Static_assert(sizeof(ggml_bf16_t) == sizeof(uint16_t), "bf16 is its bits");

void
gb_f16_to_f32_row(const void *halves, float *values, int64_t n)
{
    const uint16_t *h = halves;

    for (int64_t i = 0; i < n; i++)
        values[i] = gb_f16_to_f32(h[i]);
}

void
gb_f32_to_f16_row(const float *values, void *halves, int64_t n)
{
    uint16_t *h = halves;

    for (int64_t i = 0; i < n; i++)
        h[i] = gb_f32_to_f16(values[i]);
}

void
gb_bf16_to_f32_row(const void *halves, float *values, int64_t n)
{
    const ggml_bf16_t *b = halves;

    for (int64_t i = 0; i < n; i++)
        values[i] = gb_bf16_to_f32(b[i].bits);
}

void
gb_f32_to_bf16_row(const float *values, void *halves, int64_t n)
{
    ggml_bf16_t *b = halves;

    for (int64_t i = 0; i < n; i++)
        b[i].bits = gb_f32_to_bf16(values[i]);
}

float
ggml_fp16_to_fp32(ggml_fp16_t half)
{
    return gb_f16_to_f32(half);
}

ggml_fp16_t
ggml_fp32_to_fp16(float value)
{
    return gb_f32_to_f16(value);
}

void
ggml_fp16_to_fp32_row(const ggml_fp16_t *halves, float *values, int64_t n)
{
    gb_f16_to_f32_row(halves, values, n);
}

void
ggml_fp32_to_fp16_row(const float *values, ggml_fp16_t *halves, int64_t n)
{
    gb_f32_to_f16_row(values, halves, n);
}

float
ggml_bf16_to_fp32(ggml_bf16_t half)
{
    return gb_bf16_to_f32(half.bits);
}

ggml_bf16_t
ggml_fp32_to_bf16(float value)
{
    return (ggml_bf16_t){ gb_f32_to_bf16(value) };
}

void
ggml_bf16_to_fp32_row(const ggml_bf16_t *halves, float *values, int64_t n)
{
    gb_bf16_to_f32_row(halves, values, n);
}

void
ggml_fp32_to_bf16_row(const float *values, ggml_bf16_t *halves, int64_t n)
{
    gb_f32_to_bf16_row(values, halves, n);
}

void
ggml_fp32_to_bf16_row_ref(const float *values, ggml_bf16_t *halves, int64_t n)
{
    gb_f32_to_bf16_row(values, halves, n);
}
