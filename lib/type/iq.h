/* SPDX-License-Identifier: MIT */
/*
 * type/iq.h - reading and quantising rows of the formats that point into grids.
 *
 * As in format.h.  Where no memory is left for the map of a grid, which is
 * logged, quantisers give blocks of zeros.
 */
#ifndef GB_TYPE_IQ_H
#define GB_TYPE_IQ_H

#include <stdint.h>

void gb_iq1_s_to_float(const void *y, float *x, int64_t n);
void gb_iq1_s_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_iq1_m_to_float(const void *y, float *x, int64_t n);
void gb_iq1_m_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_iq2_xxs_to_float(const void *y, float *x, int64_t n);
void gb_iq2_xxs_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_iq2_xs_to_float(const void *y, float *x, int64_t n);
void gb_iq2_xs_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_iq2_s_to_float(const void *y, float *x, int64_t n);
void gb_iq2_s_from_float(const float *x, void *y, int64_t n);
void gb_iq2_s_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_iq3_xxs_to_float(const void *y, float *x, int64_t n);
void gb_iq3_xxs_from_float(const float *x, void *y, int64_t n);
void gb_iq3_xxs_quantize(
    const float *x, void *y, int64_t n, const float *importance);

void gb_iq3_s_to_float(const void *y, float *x, int64_t n);
void gb_iq3_s_from_float(const float *x, void *y, int64_t n);
void gb_iq3_s_quantize(
    const float *x, void *y, int64_t n, const float *importance);

#endif
