/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values.cpp - do the words of device.h give what the vendor says?
 *
 * Matrix instructions are compared with plain products, whose matrices are made
 * by the conditions of the PTX ISA's text, element by element ("Matrix Fragments
 * for mma.…").
 */
#include "tests/gpu-emulator/count.h"
#include "tests/gpu-emulator/device.h"
#include "tests/gpu-emulator/emulator.h"
#include "tests/gpu-emulator/values-run.h"

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
}

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

namespace {

/* ---- warps and blocks ---- */

struct lane_values {
    const words &in;
    int lane, first; /* of the lane's warp in IN */

    uint32_t
    of(int other) const
    {
        return in[(size_t)(first + other)];
    }
    /* Where OTHER is in the lane's part of 8, else its own. */
    uint32_t
    within(int other, int width) const
    {
        return other >= 0 && other / width == lane / width ? of(other)
                                                           : of(lane);
    }
};

void
compare_lane(const lane_values &v, const uint32_t *out)
{
    const int lane = v.lane;
    uint64_t votes = 0;
    bool any = false;

    for (int i = 0; i < GB_WARP; i++) {
        votes |= (uint64_t)(v.of(i) % 3 == 0) << i;
        any = any || v.of(i) == 7;
    }
    assert_int_equal(out[VALUE_SHUFFLE], v.of(5));
    assert_int_equal(out[VALUE_SHUFFLE_8], v.of(lane / 8 * 8 + 3));
    assert_int_equal(out[VALUE_XOR], v.of(lane ^ 9));
    assert_int_equal(out[VALUE_XOR_ACROSS],
                     v.of((lane ^ 9) / 8 > lane / 8 ? lane : lane ^ 9));
    assert_int_equal(out[VALUE_DOWN], v.within(lane + 3, GB_WARP));
    assert_int_equal(out[VALUE_DOWN_8], v.within(lane + 3, 8));
    assert_int_equal(out[VALUE_UP], v.within(lane - 3, GB_WARP));
    assert_int_equal(out[VALUE_UP_8], v.within(lane - 3, 8));
    assert_int_equal(out[VALUE_BALLOT_LOW], (uint32_t)votes);
    assert_int_equal(out[VALUE_BALLOT_HIGH], (uint32_t)(votes >> 32));
    assert_int_equal(out[VALUE_ANY], any);
    assert_int_equal(out[VALUE_ALL], 1);
}

void
lanes_get_what_others_have(void **)
{
    const int n = (int)threads_of("warp");

    for (const char *order : orders) {
        words in, out((size_t)n * VALUE_WARP_COUNT);
        uint32_t state = 1;

        setenv("GGMLBACKEND_TEST_EMU_ORDER", order, 1);
        for (int i = 0; i < n; i++)
            in.push_back(next(&state) % 100);
        run_block("warp", in, &out);
        for (int i = 0; i < n; i++)
            compare_lane({ in, i % GB_WARP, i / GB_WARP * GB_WARP },
                         &out[(size_t)i * VALUE_WARP_COUNT]);
    }
}

void
grids_and_blocks_have_three_dimensions(void **)
{
    const unsigned grid[3] = { 2, 3, 4 }, block[3] = { 3, 4, 5 };

    for (const char *order : orders) {
        words out(2 * 3 * 4 * 60 * 4);

        setenv("GGMLBACKEND_TEST_EMU_ORDER", order, 1);
        run("place", grid, block, words(1), &out);
        for (uint32_t b = 0; b < 24; b++)
            for (uint32_t t = 0; t < 60; t++) {
                const uint32_t *const o = &out[(b * 60 + t) * 4];

                assert_int_equal(
                    o[0], t % 3 | t / 3 % 4 << 8 | t / 12 << 16);
                assert_int_equal(
                    o[1], b % 2 | b / 2 % 3 << 8 | b / 6 << 16);
                assert_int_equal(o[2], 3 | 4 << 8 | 5 << 16);
                assert_int_equal(o[3], 2 | 3 << 8 | 4 << 16);
            }
    }
}

void
atomic_operations_lose_nothing(void **)
{
    const unsigned blocks = 50, grid[3] = { blocks, 1, 1 };
    const unsigned block[3] = { 128, 1, 1 };
    words out(9);

    run("atomic", grid, block, words(1), &out);
    assert_int_equal(out[0], blocks * 127 * 128 / 2);
    assert_int_equal(out[1], blocks * 128);
    assert_int_equal(out[2], blocks * 128);
    assert_int_equal(out[3], blocks * 128);
    assert_int_equal(out[4], 27);
    assert_int_equal(out[5], 127);
    assert_int_equal(out[6], 42);
    assert_int_equal(out[7], 9);
    assert_int_equal(out[8], 1);
}

/* ---- matrix instructions ---- */

struct at {
    int row, column;
};

/* Element I of lane's fragment: mma.m16n8k8 with .f16. */
at
a_m16n8k8(int lane, int i)
{
    return { i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1) };
}

at
b_m16n8k8(int lane, int i)
{
    return { lane % 4 * 2 + i, lane / 4 };
}

/* mma.m16n8k16 with .f16 and .bf16. */
at
a_m16n8k16(int lane, int i)
{
    const bool low = i < 2 || (i >= 4 && i < 6);
    const int column = lane % 4 * 2 + (i & 1);

    return { low ? lane / 4 : lane / 4 + 8, i < 4 ? column : column + 8 };
}

at
b_m16n8k16(int lane, int i)
{
    const int row = lane % 4 * 2 + (i & 1);

    return { i < 2 ? row : row + 8, lane / 4 };
}

/* mma.m8n8k16 with .s8. */
at
a_m8n8k16(int lane, int i)
{
    return { lane / 4, lane % 4 * 4 + i };
}

at
b_m8n8k16(int lane, int i)
{
    return { lane % 4 * 4 + i, lane / 4 };
}

/* mma.m16n8k32 with .s8. */
at
a_m16n8k32(int lane, int i)
{
    const bool low = i < 4 || (i >= 8 && i < 12);
    const int column = lane % 4 * 4 + (i & 3);

    return { low ? lane / 4 : lane / 4 + 8, i < 8 ? column : column + 16 };
}

at
b_m16n8k32(int lane, int i)
{
    const int row = lane % 4 * 4 + (i & 3);

    return { i < 4 ? row : row + 16, lane / 4 };
}

/* C and D of all of them. */
at
c_of(int lane, int i)
{
    return { i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1) };
}

double
of_s8(uint32_t bits)
{
    return bits < 128 ? (int)bits : (int)bits - 256;
}

struct instruction {
    const char *name;
    int m, k, bits;
    bool is_float;
    at (*a)(int lane, int i);
    at (*b)(int lane, int i);
    double (*value)(uint32_t bits);
};

const instruction instructions[] = {
    { "mma_m16n8k8_f16", 16, 8, 16, true, a_m16n8k8, b_m16n8k8, of_f16 },
    { "mma_m16n8k16_f16", 16, 16, 16, true, a_m16n8k16, b_m16n8k16, of_f16 },
    { "mma_m16n8k16_bf16", 16, 16, 16, true, a_m16n8k16, b_m16n8k16, of_bf16 },
    { "mma_m8n8k16_s8", 8, 16, 8, false, a_m8n8k16, b_m8n8k16, of_s8 },
    { "mma_m16n8k32_s8", 16, 32, 8, false, a_m16n8k32, b_m16n8k32, of_s8 },
};

/* Numbers of modest size, so that sums of them are not all of one term. */
uint32_t
draw(const instruction &i, uint32_t *state)
{
    const uint32_t bits = next(state) & ((1u << i.bits) - 1);

    if (i.value == of_f16)
        return (bits & 0x83ff) | (12 + next(state) % 6) << 10;
    if (i.value == of_bf16)
        return (bits & 0x807f) | (124 + next(state) % 6) << 7;
    return bits;
}

struct lane_counts {
    int per, a, b, c; /* elements of a register; registers of a lane */

    explicit lane_counts(const instruction &i)
        : per(32 / i.bits), a(i.m * i.k / 32 / per), b(8 * i.k / 32 / per),
          c(i.m * 8 / 32)
    {
    }
};

uint32_t
element(const instruction &ins, const uint32_t *registers, int i)
{
    const int per = 32 / ins.bits;

    return registers[i / per] >> ins.bits * (i % per) &
           ((1u << ins.bits) - 1);
}

/* One warp's IN and OUT, of 32 lanes each. */
void
compare_product(const instruction &ins, const uint32_t *in,
                const uint32_t *out)
{
    const lane_counts n(ins);
    const int all = n.a + n.b + n.c;
    double a[16][32] = {}, b[32][8] = {};

    for (int lane = 0; lane < 32; lane++) {
        const uint32_t *const r = in + lane * all;

        for (int i = 0; i < n.a * n.per; i++) {
            const at p = ins.a(lane, i);

            a[p.row][p.column] = ins.value(element(ins, r, i));
        }
        for (int i = 0; i < n.b * n.per; i++) {
            const at p = ins.b(lane, i);

            b[p.row][p.column] = ins.value(element(ins, r + n.a, i));
        }
    }
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < n.c; i++) {
            const at p = c_of(lane, i);
            const uint32_t c = in[lane * all + n.a + n.b + i];
            const uint32_t d = out[lane * n.c + i];
            double sum = ins.is_float ? float_of(c) : (double)(int32_t)c;
            double size = fabs(sum);

            for (int k = 0; k < ins.k; k++) {
                sum += a[p.row][k] * b[k][p.column];
                size += fabs(a[p.row][k] * b[k][p.column]);
            }
            if (ins.is_float)
                assert_true(fabs(float_of(d) - sum) <= size * 0x1p-24);
            else
                assert_int_equal((int32_t)d, (int32_t)sum);
        }
}

void
matrix_products_are_those_of_the_layouts(void **)
{
    uint32_t state = 3;

    for (const instruction &ins : instructions) {
        const lane_counts n(ins);
        words in, out((size_t)(GB_WARP * n.c));

        for (int lane = 0; lane < GB_WARP; lane++) {
            for (int i = 0; i < n.a + n.b; i++) {
                uint32_t bits = 0;

                for (int e = 0; e < n.per; e++)
                    bits |= draw(ins, &state) << ins.bits * e;
                in.push_back(bits);
            }
            for (int i = 0; i < n.c; i++)
                in.push_back(ins.is_float
                                 ? bits_of((float)next(&state) * 0x1p-22f)
                                 : next(&state));
        }
        run_block(ins.name, in, &out);
        for (int first = 0; first < GB_WARP; first += 32)
            compare_product(ins, &in[(size_t)(first * (n.a + n.b + n.c))],
                            &out[(size_t)(first * n.c)]);
    }
}

/* Element (row, column) of matrix J of the half that begins at lane FIRST. */
uint32_t
stored(const words &in, int first, int j, int row, int column)
{
    const uint32_t word =
        in[(size_t)(4 * (first + 8 * j + row) + column / 2)];

    return column % 2 == 0 ? word & 0xffff : word >> 16;
}

/* Thread t gets elements 2 (t % 4) and the next of row t / 4, or of column. */
uint32_t
loaded(const words &in, int lane, int j, bool transposed)
{
    const int first = lane / 32 * 32, t = lane % 32;
    uint32_t e[2];

    for (int i = 0; i < 2; i++)
        e[i] = transposed ? stored(in, first, j, t % 4 * 2 + i, t / 4)
                          : stored(in, first, j, t / 4, t % 4 * 2 + i);
    return e[0] | e[1] << 16;
}

void
ldmatrix_hands_out_rows_and_columns(void **)
{
    static const int matrix[7] = { 0, 0, 1, 0, 1, 2, 3 };
    words in, out(14 * GB_WARP);
    uint32_t state = 4;

    for (int i = 0; i < 4 * GB_WARP; i++)
        in.push_back(next(&state) ^ next(&state) << 16);
    run_block("ldmatrix", in, &out);
    for (int lane = 0; lane < GB_WARP; lane++)
        for (int j = 0; j < 14; j++)
            assert_int_equal(out[(size_t)(14 * lane + j)],
                             loaded(in, lane, matrix[j % 7], j >= 7));
}

void
late_copies_fill_up_with_zeros(void **)
{
    words in, out(12 * GB_WARP);

    for (uint32_t i = 0; i < 4 * GB_WARP; i++)
        in.push_back(i + 1);
    run_block("late", in, &out);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int t = 0; t < GB_WARP; t++)
                assert_int_equal(out[(size_t)((4 * i + j) * GB_WARP + t)],
                                 j < 4 - 2 * i ? in[(size_t)(4 * t + j)] : 0);
}

void
accesses_are_counted_by_warp(void **)
{
    const emu::kernel k = { "count", "values", nullptr, 0, 0, 0, 0 };
    const uint64_t lanes = GB_WARP;
    emu_costs n;

    if (!emu::checks()) {
        print_message("kernels are compiled without hooks\n");
        skip();
    }
    words out(GB_WARP);

    setenv("GGMLBACKEND_TEST_EMU_COUNT", "1", 1);
    run_block("count", words(8 * GB_WARP), &out);
    unsetenv("GGMLBACKEND_TEST_EMU_COUNT");
    n = emu::costs_of(&k);
    assert_int_equal(n.launches, 1);
    assert_int_equal(n.blocks, 1);
    assert_int_equal(n.read, 8 * lanes);
    assert_int_equal(n.written, 4 * lanes);
    assert_int_equal(n.requests, 3);
    assert_int_equal(n.sectors, lanes / 8 + lanes + lanes / 8);
    assert_int_equal(n.full_sectors, 3 * lanes / 8);
    assert_int_equal(n.shared_requests, 2);
    assert_int_equal(n.turns, 2 * (2 * lanes / 32));
    assert_int_equal(n.full_turns, 2 * (lanes / 32));
    assert_int_equal(n.fetched, 32 * lanes);
    assert_int_equal(n.delivered, 32 * lanes);
    assert_int_equal(n.stored, 4 * lanes);
    assert_int_equal(n.lines, lanes / 32 + lanes / 4 + lanes / 32);
}

/* ---- arithmetic ---- */

void
halves_are_converted_both_ways(void **)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const float value = gb_emu_float_of_f16((uint16_t)bits);
        const bool is_nan = (bits & 0x7fff) > 0x7c00;

        assert_int_equal(is_nan, isnan(value) != 0);
        if ((bits & 0x7fff) < 0x7c00)
            assert_true(value == small_float(bits, 10, 15));
        if (!is_nan)
            assert_int_equal(gb_emu_f16_of_float(value), bits);
    }
    /* Halfway between two: the even one; just beside it: the nearer. */
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        const float low = gb_emu_float_of_f16((uint16_t)bits);
        const float high = bits == 0x7bff
                               ? 65536.0f
                               : gb_emu_float_of_f16((uint16_t)(bits + 1));
        const float middle = low + (high - low) / 2;

        assert_int_equal(gb_emu_f16_of_float(middle), bits + (bits & 1));
        assert_int_equal(gb_emu_f16_of_float(nextafterf(middle, 0)), bits);
        assert_int_equal(
            gb_emu_f16_of_float(nextafterf(middle, INFINITY)), bits + 1);
    }
    assert_int_equal(gb_emu_f16_of_float(1e30f), 0x7c00);
    assert_int_equal(gb_emu_f16_of_float(-INFINITY), 0xfc00);
    assert_true((gb_emu_f16_of_float(NAN) & 0x7fff) > 0x7c00);
}

void
integers_are_put_together(void **)
{
    assert_int_equal(__dp4a(0x7f80ff01, 0x02030405, 100),
                     100 + 127 * 2 - 128 * 3 - 4 + 5);
    assert_int_equal(__byte_perm(0x33221100, 0x77665544, 0x7531), 0x77553311);
    assert_int_equal(__byte_perm(0x00008000, 0, 0x8 + 1), 0xff);
    assert_int_equal(__umulhi(0x80000000u, 6), 3);
    assert_int_equal(__popc(0xf0f0), 8);
    assert_int_equal(__clz(1), 31);
    assert_int_equal(__clz(0), 32);
    assert_int_equal(__ffs(8), 4);
}

} // namespace

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_get_what_others_have),
        cmocka_unit_test(grids_and_blocks_have_three_dimensions),
        cmocka_unit_test(atomic_operations_lose_nothing),
        cmocka_unit_test(matrix_products_are_those_of_the_layouts),
        cmocka_unit_test(ldmatrix_hands_out_rows_and_columns),
        cmocka_unit_test(late_copies_fill_up_with_zeros),
        cmocka_unit_test(products_of_warp_groups_are_those_of_the_layouts),
        cmocka_unit_test(products_by_columns_are_those_of_the_layouts),
        cmocka_unit_test(boxes_come_swizzled_with_zeros_outside),
        cmocka_unit_test(boxes_of_four_dimensions_come_row_by_row),
        cmocka_unit_test(products_of_matrix_cores_are_those_of_the_layouts),
        cmocka_unit_test(lanes_that_share_a_line_bring_the_same),
        cmocka_unit_test(accesses_are_counted_by_warp),
        cmocka_unit_test(halves_are_converted_both_ways),
        cmocka_unit_test(integers_are_put_together),
    };

    return cmocka_run_group_tests_name(
        "the emulator's words", tests, nullptr, nullptr);
}
