/* SPDX-License-Identifier: MIT */
/*
 * type/format.h - reading and quantising rows, format by format.
 *
 *   to_float    N values out of N / block blocks, exactly as blocks.h says
 *   from_float  the reference quantiser of a row
 *   quantize    the one for models: of the same quality, or better where
 *               IMPORTANCE (N weights, or NULL) says which values matter
 *
 * N is a multiple of the block.  Blocks may begin wherever their widest member
 * may.  A NaN or an infinity gives some block, and never undefined behaviour.
 * Any thread.  Everybody else takes them from the table (type.h); the formats
 * with grids are in iq.h.
 */
#ifndef GB_TYPE_FORMAT_H
#define GB_TYPE_FORMAT_H

#include <stdint.h>

void gb_f32_quantize(
    const float *x, void *y, int64_t n, const float *importance);
void gb_f16_quantize(
    const float *x, void *y, int64_t n, const float *importance);
void gb_bf16_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q4_0_to_float(const void *y, float *x, int64_t n);
void gb_q4_0_from_float(const float *x, void *y, int64_t n);
void gb_q4_0_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q4_1_to_float(const void *y, float *x, int64_t n);
void gb_q4_1_from_float(const float *x, void *y, int64_t n);
void gb_q4_1_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q5_0_to_float(const void *y, float *x, int64_t n);
void gb_q5_0_from_float(const float *x, void *y, int64_t n);
void gb_q5_0_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q5_1_to_float(const void *y, float *x, int64_t n);
void gb_q5_1_from_float(const float *x, void *y, int64_t n);
void gb_q5_1_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q8_0_to_float(const void *y, float *x, int64_t n);
void gb_q8_0_from_float(const float *x, void *y, int64_t n);
void gb_q8_0_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q8_1_from_float(const float *x, void *y, int64_t n);

void gb_q2_k_to_float(const void *y, float *x, int64_t n);
void gb_q2_k_from_float(const float *x, void *y, int64_t n);
void gb_q2_k_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q3_k_to_float(const void *y, float *x, int64_t n);
void gb_q3_k_from_float(const float *x, void *y, int64_t n);
void gb_q3_k_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q4_k_to_float(const void *y, float *x, int64_t n);
void gb_q4_k_from_float(const float *x, void *y, int64_t n);
void gb_q4_k_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q5_k_to_float(const void *y, float *x, int64_t n);
void gb_q5_k_from_float(const float *x, void *y, int64_t n);
void gb_q5_k_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_q6_k_to_float(const void *y, float *x, int64_t n);
void gb_q6_k_from_float(const float *x, void *y, int64_t n);
void gb_q6_k_quantize(
    const float *x, void *y, int64_t n, const float *importance);

/* Activations only; the public table has no row quantiser for them. */
void gb_q8_k_from_float(const float *x, void *y, int64_t n);

void gb_tq1_0_to_float(const void *y, float *x, int64_t n);
void gb_tq1_0_from_float(const float *x, void *y, int64_t n);
void gb_tq1_0_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_tq2_0_to_float(const void *y, float *x, int64_t n);
void gb_tq2_0_from_float(const float *x, void *y, int64_t n);
void gb_tq2_0_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_iq4_nl_to_float(const void *y, float *x, int64_t n);
void gb_iq4_nl_from_float(const float *x, void *y, int64_t n);
void gb_iq4_nl_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_iq4_xs_to_float(const void *y, float *x, int64_t n);
void gb_iq4_xs_from_float(const float *x, void *y, int64_t n);
void gb_iq4_xs_quantize(
    const float *x, void *y, int64_t n, const float *importance);

#endif
