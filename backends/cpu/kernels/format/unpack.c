/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/unpack.c - rows of blocks as panels and as floats.
 */
#include "backends/cpu/kernels/format/reader.h"

/* Blocks that are taken at a time, when there are as many. */
static int
blocks_at_a_time(const struct gb_format *format)
{
    return 256 / format->block;
}

/* A row of zeros in its place. */
static void
unpack_nothing(const struct gb_format *format, int64_t k, uint8_t *codes,
               float *scales, float *mins)
{
    memset(codes, 0, (size_t)k);
    for (int64_t j = 0; j < k / format->sub_block; j++) {
        scales[j * VF_LEN] = 0.0f;
        if (format->has_min)
            mins[j * VF_LEN] = 0.0f;
    }
}

/* K values of one row, whose place among the panel's scales is the first. */
static void
unpack_row(const struct gb_format *format, gb_read_fn read, int64_t k,
           const char *row, uint8_t *codes, float *scales, float *mins)
{
    const int at_a_time = blocks_at_a_time(format);
    const int pieces = format->block / format->sub_block;

    for (int64_t left = k / format->block; left > 0; left -= at_a_time) {
        const int n = left < at_a_time ? (int)left : at_a_time;
        float d[GB_SUPER_BLOCK_SCALES];
        float m[GB_SUPER_BLOCK_SCALES];

        read(row, n, codes, d, m);
        for (int j = 0; j < n * pieces; j++) {
            scales[j * VF_LEN] = d[j];
            if (format->has_min)
                mins[j * VF_LEN] = m[j];
        }
        row += (size_t)n * format->bytes;
        codes += n * format->block;
        scales += n * pieces * VF_LEN;
        mins += n * pieces * VF_LEN;
    }
}

void
GB_K(unpack_blocks)(const struct gb_format *format, gb_read_fn read,
                    int64_t k, int64_t rows, const void *x, size_t pitch,
                    const struct gb_panel *panel)
{
    for (int64_t r = 0; r < VF_LEN; r++) {
        uint8_t *codes = panel->rows + r * GB_PANEL_K;

        if (r < rows)
            unpack_row(format, read, k, (const char *)x + (size_t)r * pitch,
                       codes, panel->scales + r, panel->mins + r);
        else
            unpack_nothing(format, k, codes, panel->scales + r,
                           panel->mins + r);
    }
    for (int64_t i = 0; i < k; i += 4 * VF_LEN)
        vq4_transpose(panel->codes + i * VF_LEN, panel->rows + i, GB_PANEL_K);
}

/* N values, whose scales are from D on and minima from M on. */
static void
floats_of_codes(const struct gb_format *format, int n, const uint8_t *codes,
                const float *d, const float *m, float *dst)
{
    int8_t values[256];

    for (int i = 0; i < n; i += 32)
        q32_store(values + i,
                  q32_add(q32_load(codes + i), q32_set1(-format->bias)));
    for (int i = 0; i < n; i += format->sub_block, d++, m++) {
        for (int j = i; j < i + format->sub_block; j += VF_LEN) {
            vf v = vf_mul(vf_from_i8(values + j), vf_set1(*d));

            if (format->has_min)
                v = vf_add(v, vf_set1(*m));
            vf_store(dst + j, v);
        }
    }
}

void
GB_K(floats_of_blocks)(const struct gb_format *format, gb_read_fn read,
                       int64_t n, float *dst, const void *x)
{
    const int at_a_time = blocks_at_a_time(format);
    const char *block = x;

    for (int64_t left = n / format->block; left > 0; left -= at_a_time) {
        const int blocks = left < at_a_time ? (int)left : at_a_time;
        uint8_t codes[256];
        float d[GB_SUPER_BLOCK_SCALES];
        float m[GB_SUPER_BLOCK_SCALES];

        read(block, blocks, codes, d, m);
        floats_of_codes(format, blocks * format->block, codes, d, m, dst);
        block += (size_t)blocks * format->bytes;
        dst += blocks * format->block;
    }
}
