/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/unpack.c - rows of blocks unpacked into panels of the
 * GEMM, and converted to floats.
 *
 * A panel (gemm/panel.h) has VF_LEN rows.  Each is unpacked to a row of codes,
 * with its scales and mins written VF_LEN apart, one lane a row; then codes are
 * transposed, four of a row becoming a lane's operand of dot4.  Rows that are
 * not there are zeros.
 *
 * Floats are d * (code - bias) + m, rounded after each operation as lib/type/
 * does.
 *
 * Both take a super-block of 256 values at a time: one block, or eight of 32.
 */
#include "backends/cpu/kernels/format/reader.h"

/* Blocks of a super-block. */
static int
super_block_blocks(const struct gb_format *format)
{
    return 256 / format->block;
}

/* K zeros, for a row that is not there. */
static void
unpack_zeros(const struct gb_format *format, int64_t k, uint8_t *codes,
             float *scales, float *mins)
{
    memset(codes, 0, (size_t)k);
    for (int64_t j = 0; j < k / format->sub_block; j++) {
        scales[j * VF_LEN] = 0.0f;
        if (format->has_min)
            mins[j * VF_LEN] = 0.0f;
    }
}

/* K values of one row; SCALES and MINS are its lane of the panel's first
 * vectors. */
static void
unpack_row(const struct gb_format *format, gb_read_fn read, int64_t k,
           const char *row, uint8_t *codes, float *scales, float *mins)
{
    const int at_a_time = super_block_blocks(format);
    const int sub_blocks = format->block / format->sub_block;

    for (int64_t left = k / format->block; left > 0; left -= at_a_time) {
        const int n = left < at_a_time ? (int)left : at_a_time;
        float d[GB_SUPER_BLOCK_SCALES];
        float m[GB_SUPER_BLOCK_SCALES];

        read(row, n, codes, d, m);
        for (int j = 0; j < n * sub_blocks; j++) {
            scales[j * VF_LEN] = d[j];
            if (format->has_min)
                mins[j * VF_LEN] = m[j];
        }
        row += (size_t)n * format->bytes;
        codes += n * format->block;
        scales += n * sub_blocks * VF_LEN;
        mins += n * sub_blocks * VF_LEN;
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
            unpack_zeros(format, k, codes, panel->scales + r, panel->mins + r);
    }
    for (int64_t i = 0; i < k; i += 4 * VF_LEN)
        vq4_transpose(panel->codes + i * VF_LEN, panel->rows + i, GB_PANEL_K);
}

/* N values from their codes, the scales D and the mins M of their
 * sub-blocks. */
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
    const int at_a_time = super_block_blocks(format);
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
