/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/blocks.c - rows of blocks as panels and as floats.
 */
#include "backends/cpu/kernels/blocks.h"

/* Blocks that are taken at a time, when there are as many. */
static int
blocks_at_a_time(const struct gb_layout *layout)
{
    return 256 / layout->values;
}

/* A row of zeros in its place. */
static void
unpack_nothing(const struct gb_layout *layout, int64_t k, uint8_t *codes,
               float *scales, float *mins)
{
    memset(codes, 0, (size_t)k);
    for (int64_t j = 0; j < k / layout->piece; j++) {
        scales[j * VF_LEN] = 0.0f;
        if (layout->has_min)
            mins[j * VF_LEN] = 0.0f;
    }
}

/* K values of one row, whose place among the panel's scales is the first. */
static void
unpack_row(const struct gb_layout *layout, gb_read_fn read, int64_t k,
           const char *row, uint8_t *codes, float *scales, float *mins)
{
    const int at_a_time = blocks_at_a_time(layout);
    const int pieces = layout->values / layout->piece;

    for (int64_t left = k / layout->values; left > 0; left -= at_a_time) {
        const int n = left < at_a_time ? (int)left : at_a_time;
        float d[GB_GROUP_SCALES];
        float m[GB_GROUP_SCALES];

        read(row, n, codes, d, m);
        for (int j = 0; j < n * pieces; j++) {
            scales[j * VF_LEN] = d[j];
            if (layout->has_min)
                mins[j * VF_LEN] = m[j];
        }
        row += (size_t)n * layout->bytes;
        codes += n * layout->values;
        scales += n * pieces * VF_LEN;
        mins += n * pieces * VF_LEN;
    }
}

void
GB_K(unpack_blocks)(const struct gb_layout *layout, gb_read_fn read,
                    int64_t k, int64_t rows, const void *x, size_t pitch,
                    const struct gb_panel *panel)
{
    for (int64_t r = 0; r < VF_LEN; r++) {
        uint8_t *codes = panel->rows + r * GB_PANEL_K;

        if (r < rows)
            unpack_row(layout, read, k, (const char *)x + (size_t)r * pitch,
                       codes, panel->scales + r, panel->mins + r);
        else
            unpack_nothing(layout, k, codes, panel->scales + r,
                           panel->mins + r);
    }
    for (int64_t i = 0; i < k; i += 4 * VF_LEN)
        vq4_turn(panel->codes + i * VF_LEN, panel->rows + i, GB_PANEL_K);
}

/* N values, whose scales are from D on and minima from M on. */
static void
floats_of_codes(const struct gb_layout *layout, int n, const uint8_t *codes,
                const float *d, const float *m, float *dst)
{
    int8_t values[256];

    for (int i = 0; i < n; i += 32)
        q32_store(values + i,
                  q32_add(q32_load(codes + i), q32_set1(-layout->offset)));
    for (int i = 0; i < n; i += layout->piece, d++, m++) {
        for (int j = i; j < i + layout->piece; j += VF_LEN) {
            vf v = vf_mul(vf_from_i8(values + j), vf_set1(*d));

            if (layout->has_min)
                v = vf_add(v, vf_set1(*m));
            vf_store(dst + j, v);
        }
    }
}

void
GB_K(floats_of_blocks)(const struct gb_layout *layout, gb_read_fn read,
                       int64_t n, float *dst, const void *x)
{
    const int at_a_time = blocks_at_a_time(layout);
    const char *block = x;

    for (int64_t left = n / layout->values; left > 0; left -= at_a_time) {
        const int blocks = left < at_a_time ? (int)left : at_a_time;
        uint8_t codes[256];
        float d[GB_GROUP_SCALES];
        float m[GB_GROUP_SCALES];

        read(block, blocks, codes, d, m);
        floats_of_codes(layout, blocks * layout->values, codes, d, m, dst);
        block += (size_t)blocks * layout->bytes;
        dst += blocks * layout->values;
    }
}
