/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values-async.cpp - do TMA and MMA of warp groups give what the
 * vendor says?
 *
 * Places in shared memory are those of the PTX ISA's figures, by rows and
 * pieces of 16 bytes; products are compared with plain ones.
 */
#include "tests/gpu-emulator/tensor-map.h"
#include "tests/gpu-emulator/values-run.h"

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
}

#include <math.h>
#include <stdlib.h>
#include <string.h>

namespace {

/* ---- MMA of warp groups ---- */

/* How a panel's rows lie, K-major: PTX ISA, "Shared Memory Matrix Layout". */
struct panel_layout {
    unsigned mode; /* of the descriptor */
    int width;     /* bytes of a row that lie together */
    int per;       /* rows of eight between two xors of the piece's place */
};

const panel_layout panel_layouts[] = {
    { 0, 16, 0 }, { 1, 128, 1 }, { 2, 64, 2 }, { 3, 32, 4 },
};

/* Without swizzling: eight rows of 16 bytes; the second 16 bytes of all rows
 * behind the first ones of all. */
size_t
byte_of(const panel_layout &l, int n_rows, int row, int k)
{
    const int i = 2 * k / 16, rest = 2 * k % 16;

    if (l.mode == 0)
        return (size_t)(i * n_rows * 16 + row / 8 * 128 + row % 8 * 16 + rest);
    return (size_t)(row * l.width +
                    16 * (i ^ row % 8 / l.per % (l.width / 16)) + rest);
}

uint64_t
descriptor_of(const panel_layout &l, int n_rows, int first_k, int at)
{
    const uint64_t start = (uint64_t)(at + 2 * first_k) / 16;
    const uint64_t across = l.mode == 0 ? (uint64_t)n_rows : 1;
    const uint64_t down = (uint64_t)(8 * l.width / 16);

    return start | across << 16 | down << 32 | (uint64_t)l.mode << 62;
}

/* Numbers of modest size, so that sums of them are not all of one term. */
struct half_type {
    const char *kernel;
    uint32_t kept; /* bits by chance: sign and fraction */
    uint32_t least; /* exponent, in its place by SHIFT */
    int shift;
    double (*value)(uint32_t bits);
};

const half_type half_types[] = {
    { "wgmma_f16", 0x83ff, 12, 10, of_f16 },
    { "wgmma_bf16", 0x807f, 124, 7, of_bf16 },
};

struct warp_group_case {
    const half_type &as;
    const panel_layout &layout;
    int first_k; /* of the row */
    gb_value_wgmma_input in;
    double a[64][16], b[128][16];

    void
    fill(uint32_t *state)
    {
        memset(&in, 0xff, sizeof(in));
        in.a = descriptor_of(layout, 64, first_k, 0);
        in.b = descriptor_of(layout, 128, first_k, GB_VALUE_PANEL_A);
        for (int k = 0; k < 16; k++) {
            for (int row = 0; row < 64; row++)
                a[row][k] = put(byte_of(layout, 64, row, first_k + k), state);
            for (int row = 0; row < 128; row++)
                b[row][k] = put(GB_VALUE_PANEL_A +
                                    byte_of(layout, 128, row, first_k + k),
                                state);
        }
        for (auto &thread : in.c)
            for (uint32_t &c : thread)
                c = bits_of((float)next(state) * 0x1p-22f);
    }
    double
    put(size_t at, uint32_t *state)
    {
        const uint32_t wide = (next(state) & as.kept) |
                              (as.least + next(state) % 6) << as.shift;
        const uint16_t bits = (uint16_t)wide;

        memcpy((char *)in.panels + at, &bits, sizeof(bits));
        return as.value(bits);
    }
    void
    compare(const words &out) const
    {
        for (int t = 0; t < 128; t++)
            for (int i = 0; i < 64; i++) {
                const int row = t / 32 * 16 + t % 32 / 4 + (i & 2) * 4;
                const int column = i / 4 * 8 + t % 4 * 2 + (i & 1);
                double sum = float_of(in.c[t][i]), size = fabs(sum);

                for (int k = 0; k < 16; k++) {
                    sum += a[row][k] * b[column][k];
                    size += fabs(a[row][k] * b[column][k]);
                }
                assert_true(fabs(float_of(out[(size_t)(64 * t + i)]) - sum) <=
                            size * 0x1p-24);
            }
    }
};

words
words_of(const void *from, size_t size)
{
    words w(size / sizeof(uint32_t));

    memcpy(w.data(), from, size);
    return w;
}

void
compare_warp_group(const half_type &as, const panel_layout &l, int first_k,
                   uint32_t *state)
{
    warp_group_case *const c =
        new warp_group_case{ as, l, first_k, {}, {}, {} };
    words out(128 * 64);

    c->fill(state);
    run_block(as.kernel, words_of(&c->in, sizeof(c->in)), &out);
    c->compare(out);
    delete c;
}

} // namespace

void
products_of_warp_groups_are_those_of_the_layouts(void **)
{
    uint32_t state = 5;

    for (const char *order : orders) {
        setenv("GGMLBACKEND_TEST_EMU_ORDER", order, 1);
        for (const panel_layout &l : panel_layouts)
            for (int k = 0; k < (l.mode == 0 ? 16 : l.width / 2); k += 16)
                for (const half_type &as : half_types)
                    compare_warp_group(as, l, k, &state);
    }
}

/* ---- TMA ---- */

namespace {

struct box_case {
    int span, width, height; /* swizzled bytes, elements of the box, rows */
    int x, y;
};

/* Of a tensor of 30 rows of 50 elements of two bytes, 128 bytes apart. */
const int tensor_rows = 30, tensor_columns = 50, tensor_pitch = 128;

const box_case boxes[] = {
    { 128, 64, 32, 0, 0 },   { 128, 64, 8, 16, 25 }, { 64, 32, 40, -5, -3 },
    { 32, 16, 16, 40, 7 },   { 0, 8, 5, 45, 28 },    { 0, 56, 3, 2, 1 },
    { 128, 64, 32, 100, 0 }, { 64, 32, 4, 0, -9 },
};

uint16_t
tensor_value(int row, int column)
{
    return row < 0 || row >= tensor_rows || column < 0 ||
                   column >= tensor_columns
               ? 0
               : (uint16_t)(1000 + row * tensor_pitch + column);
}

gb_value_tma_input
tma_input(const box_case &b)
{
    gb_value_tma_input in = {};
    emu::tensor_map m = {};

    m.mark = emu::tensor_map_mark;
    m.stride[0] = tensor_pitch;
    m.last[0] = tensor_columns - 1;
    m.last[1] = tensor_rows - 1;
    m.rank = 2;
    m.size = 2;
    m.span = (uint8_t)b.span;
    m.box[0] = (uint16_t)b.width;
    m.box[1] = (uint16_t)b.height;
    m.step[0] = m.step[1] = 1;
    memcpy(in.map, &m, sizeof(m));
    in.x = b.x;
    in.y = b.y;
    in.bytes = 2 * b.width * b.height;
    for (int row = 0; row < tensor_rows; row++)
        for (int i = 0; i < tensor_columns; i++)
            ((uint16_t *)in.tensor)[row * tensor_pitch / 2 + i] =
                tensor_value(row, i);
    return in;
}

/* Where element I of row ROW of the box is. */
size_t
place_in_box(const box_case &b, int row, int i)
{
    for (const panel_layout &l : panel_layouts)
        if (l.mode != 0 && l.width == b.span)
            return byte_of(l, 0, row, i);
    return (size_t)(2 * (row * b.width + i));
}

} // namespace

void
boxes_come_swizzled_with_zeros_outside(void **)
{
    for (const char *order : orders) {
        setenv("GGMLBACKEND_TEST_EMU_ORDER", order, 1);
        for (const box_case &b : boxes) {
            const gb_value_tma_input in = tma_input(b);
            words out(GB_VALUE_BOX / 4);
            size_t n = (size_t)in.bytes / 4;

            run_block("tma", words_of(&in, sizeof(in)), &out);
            for (int row = 0; row < b.height; row++)
                for (int i = 0; i < b.width; i++) {
                    uint16_t value;

                    memcpy(&value,
                           (const char *)out.data() + place_in_box(b, row, i),
                           sizeof(value));
                    assert_int_equal(value, tensor_value(b.y + row, b.x + i));
                }
            for (; n < out.size(); n++)
                assert_int_equal(out[n], 0xdeadbeef);
        }
    }
}
