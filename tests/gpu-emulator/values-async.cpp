/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values-async.cpp - do TMA and MMA of warp groups give what the
 * vendor says?
 *
 * Places in shared memory are those of the PTX ISA's figures, by rows and
 * pieces of 16 bytes; products are compared with plain ones.
 */
#include "tests/gpu-emulator/tensor-map.h"
#include "tests/gpu-emulator/values-panels.h"
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

/* Numbers of modest size, so that sums of them are not all of one term. */
struct half_type {
    const char *kernel;
    uint32_t kept; /* bits by chance: sign and fraction */
    uint32_t least; /* exponent, in its place by SHIFT */
    int shift;
    double (*value)(uint32_t bits);
    bool begins; /* what is in C does not count */
};

const half_type half_types[] = {
    { "wgmma_f16", 0x83ff, 12, 10, of_f16, false },
    { "wgmma_bf16", 0x807f, 124, 7, of_bf16, false },
    { "wgmma_begin_f16", 0x83ff, 12, 10, of_f16, true },
};

/* One by chance. */
uint16_t
half_of(const half_type &as, uint32_t *state)
{
    return (uint16_t)((next(state) & as.kept) |
                      (as.least + next(state) % 6) << as.shift);
}

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
        const uint16_t bits = half_of(as, state);

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
                double sum = as.begins ? 0 : float_of(in.c[t][i]);
                double size = fabs(sum);

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

/* ---- by columns: A in registers, lines of B for each k ---- */

namespace {

struct columns_case {
    const panel_layout &layout;
    int columns;
    gb_value_wgmma_input in;
    double a[64][16], b[16][128];

    void
    fill(uint32_t *state)
    {
        memset(&in, 0xff, sizeof(in));
        in.b = descriptor_by_columns(layout, GB_VALUE_PANEL_A);
        for (int t = 0; t < 128; t++)
            for (int i = 0; i < 8; i++) {
                /* Rows, and elements of k, as in mma.cuh. */
                const int row = t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8;
                const int k = t % 4 * 2 + i / 4 * 8 + i % 2;

                a[row][k] = put((size_t)(16 * t + 2 * i), state);
            }
        for (int k = 0; k < 16; k++)
            for (int column = 0; column < columns; column++)
                b[k][column] =
                    put(GB_VALUE_PANEL_A + byte_by_columns(layout, k, column),
                        state);
        for (auto &thread : in.c)
            for (uint32_t &c : thread)
                c = bits_of((float)next(state) * 0x1p-22f);
    }
    double
    put(size_t at, uint32_t *state)
    {
        const uint16_t bits = half_of(half_types[0], state);

        memcpy((char *)in.panels + at, &bits, sizeof(bits));
        return of_f16(bits);
    }
    void
    compare(const words &out) const
    {
        for (int t = 0; t < 128; t++)
            for (int i = 0; i < 64; i++) {
                const int row = t / 32 * 16 + t % 32 / 4 + (i & 2) * 4;
                const int column = i / 4 * 8 + t % 4 * 2 + (i & 1);
                double sum = float_of(in.c[t][i]), size = fabs(sum);

                for (int k = 0; k < 16 && column < columns; k++) {
                    sum += a[row][k] * b[k][column];
                    size += fabs(a[row][k] * b[k][column]);
                }
                assert_true(fabs(float_of(out[(size_t)(64 * t + i)]) - sum) <=
                            size * 0x1p-24);
            }
    }
};

} // namespace

void
products_by_columns_are_those_of_the_layouts(void **)
{
    uint32_t state = 7;

    for (const char *order : orders) {
        setenv("GGMLBACKEND_TEST_EMU_ORDER", order, 1);
        for (const panel_layout &l : panel_layouts)
            for (int columns = 64; columns <= 128 && l.mode != 0;
                 columns += 64) {
                columns_case *const c =
                    new columns_case{ l, columns, {}, {}, {} };
                words out(128 * 64);

                c->fill(&state);
                run_block(columns == 64 ? "wgmma_columns_64"
                                        : "wgmma_columns_128",
                          words_of(&c->in, sizeof(c->in)), &out);
                c->compare(out);
                delete c;
            }
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

namespace {

/* A tensor of 16 x 5 x 4 x 3 elements of two bytes, and boxes of 16 x 3 x 2. */
const int sizes_4[] = { 16, 5, 4, 3 };
const int strides_4[] = { 48, 240, 960 };
const int box_4[] = { 16, 3, 2, 1 };

/* Where it is, in bytes; -1: outside. */
int
place_4(const int at[4])
{
    int place = 2 * at[0];

    for (int i = 0; i < 4; i++) {
        if (at[i] < 0 || at[i] >= sizes_4[i])
            return -1;
        if (i > 0)
            place += at[i] * strides_4[i - 1];
    }
    return place;
}

gb_value_tma_input
tma_4_input(const int first[4])
{
    gb_value_tma_input in = {};
    emu::tensor_map m = {};

    m.mark = emu::tensor_map_mark;
    m.rank = 4;
    m.size = 2;
    m.span = 32;
    for (int i = 0; i < 4; i++) {
        m.last[i] = (uint32_t)sizes_4[i] - 1;
        m.box[i] = (uint16_t)box_4[i];
        m.step[i] = 1;
        if (i > 0)
            m.stride[i - 1] = (uint64_t)strides_4[i - 1];
    }
    memcpy(in.map, &m, sizeof(m));
    in.x = first[0];
    in.y = first[1];
    in.z = first[2];
    in.w = first[3];
    in.bytes = 2 * 16 * 3 * 2;
    for (int i = 0; i < GB_VALUE_TENSOR / 2; i++)
        ((uint16_t *)in.tensor)[i] = (uint16_t)(1000 + i);
    return in;
}

} // namespace

void
boxes_of_four_dimensions_come_row_by_row(void **)
{
    static const int firsts[][4] = { { 0, 0, 0, 0 }, { 0, 1, 2, 2 },
                                     { 4, 3, -1, 1 }, { -2, -1, 3, 0 },
                                     { 0, 0, 0, 3 } };

    for (const auto &first : firsts) {
        const gb_value_tma_input in = tma_4_input(first);
        words out(GB_VALUE_BOX / 4);

        run_block("tma_4", words_of(&in, sizeof(in)), &out);
        for (int row = 0; row < 6; row++)
            for (int i = 0; i < 16; i++) {
                const int at[] = { first[0] + i, first[1] + row % 3,
                                   first[2] + row / 3, first[3] };
                const int place = place_4(at);
                uint16_t value;

                memcpy(&value,
                       (const char *)out.data() +
                           byte_of(panel_layouts[3], 0, row, i),
                       sizeof(value));
                assert_int_equal(value, place < 0 ? 0 : 1000 + place / 2);
            }
        assert_int_equal(out[6 * 8], 0xdeadbeef);
    }
}
