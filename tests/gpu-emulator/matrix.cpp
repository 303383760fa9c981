/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/matrix.cpp - matrix instructions of a warp, by definition.
 *
 * Layouts are those of the PTX ISA, "Warp-Level Matrix Multiply-Accumulate
 * Instructions": "Matrix Fragments for mma.m16n8k8", "… mma.m16n8k16 with
 * floating point type", "… mma.m8n8k16" and "… mma.m16n8k32" with integer type,
 * and "Warp-level matrix load instruction: ldmatrix".  In all of them, with
 * group = lane / 4 and, within it, rank = lane % 4, and E elements in a register
 * of 32 bits, element e of register i is, of
 *
 *   A   row group + 8 (i % 2), column E rank + e + 4 E (i / 2)
 *   B   row E rank + e + 4 E i, column group
 *
 * and element i of C and D is at row group + 8 (i / 2), column 2 rank + i % 2.
 *
 * With 64 lanes, each half of a warp is one of 32.
 */
#include "tests/gpu-emulator/check.h"
#include "tests/gpu-emulator/count.h"
#include "tests/gpu-emulator/elements.h"

#include <string.h>

namespace emu {

namespace {

constexpr int lanes = 32; /* of an instruction */

/* What a lane brings. */
struct operands {
    void *d;
    const uint32_t *a, *b;
};

/* ---- elements of registers ---- */

int32_t
of_s8(uint32_t bits)
{
    return (int8_t)bits;
}

struct f16 {
    typedef double value;
    typedef float result;
    static constexpr int bits = 16;
    static constexpr value (*read)(uint32_t) = of_f16;
};

struct bf16 {
    typedef double value;
    typedef float result;
    static constexpr int bits = 16;
    static constexpr value (*read)(uint32_t) = of_bf16;
};

/* Sums are modulo 2^32. */
struct s8 {
    typedef int32_t value;
    typedef int32_t result;
    static constexpr int bits = 8;
    static constexpr value (*read)(uint32_t) = of_s8;
};

/* ---- one instruction: D [m][8] += A [m][k] B [k][8] ---- */

template <typename T, int m, int k>
struct product {
    static constexpr int per = 32 / T::bits;
    static constexpr int a_registers = m * k / lanes / per;
    static constexpr int b_registers = 8 * k / lanes / per;
    static constexpr int d_elements = m * 8 / lanes;

    typename T::value a[m][k], b[k][8];

    static typename T::value
    element(uint32_t bits, int e)
    {
        return T::read(bits >> T::bits * e & ((1u << T::bits) - 1));
    }

    void
    collect(const operands &o, int lane)
    {
        const int group = lane / 4, rank = lane % 4;

        for (int i = 0; i < a_registers; i++)
            for (int e = 0; e < per; e++)
                a[group + 8 * (i % 2)][per * rank + e + 4 * per * (i / 2)] =
                    element(o.a[i], e);
        for (int i = 0; i < b_registers; i++)
            for (int e = 0; e < per; e++)
                b[per * rank + e + 4 * per * i][group] = element(o.b[i], e);
    }

    void
    hand_out(const typename T::value sums[m][8], const operands &o, int lane)
    {
        typename T::result *const d = (typename T::result *)o.d;
        const int group = lane / 4, rank = lane % 4;

        for (int i = 0; i < d_elements; i++)
            d[i] = (typename T::result)(
                sums[group + 8 * (i / 2)][2 * rank + i % 2] + d[i]);
    }

    void
    multiply(typename T::value sums[m][8]) const
    {
        for (int row = 0; row < m; row++)
            for (int i = 0; i < k; i++)
                for (int column = 0; column < 8; column++)
                    sums[row][column] += a[row][i] * b[i][column];
    }

    static void
    run(const meeting &meet)
    {
        for (int first = 0; first < GB_WARP; first += lanes) {
            product p;
            typename T::value sums[m][8] = {};

            if ((meet.arrived >> first & 0xffffffff) != 0xffffffff)
                continue;
            for (int i = 0; i < lanes; i++)
                p.collect(*(const operands *)meet.data[first + i], i);
            p.multiply(sums);
            for (int i = 0; i < lanes; i++)
                p.hand_out(sums, *(const operands *)meet.data[first + i], i);
        }
    }
};

const collective m16n8k8_f16 = { "mma.m16n8k8", product<f16, 16, 8>::run,
                                 false };
const collective m16n8k16_f16 = { "mma.m16n8k16", product<f16, 16, 16>::run,
                                  false };
const collective m16n8k16_bf16 = { "mma.m16n8k16 of bf16",
                                   product<bf16, 16, 16>::run, false };
const collective m8n8k16_s8 = { "mma.m8n8k16", product<s8, 8, 16>::run, false };
const collective m16n8k32_s8 = { "mma.m16n8k32", product<s8, 16, 32>::run,
                                 false };

void
all_lanes(const collective *what, void *data, const void *pc)
{
    this_fiber()->in->meet_all(what, data, pc);
}

/* ---- ldmatrix ---- */

struct loaded {
    uint32_t *r;
    const void *address;
    bool transposed;
    const void *pc;
};

constexpr uintptr_t row_bytes = 16;

uint16_t
load_element(const meeting &m, int row_lane, int column, int to_lane)
{
    const loaded *const from = (const loaded *)m.data[row_lane];
    const uintptr_t at = (uintptr_t)from->address + 2 * (uintptr_t)column;
    /* What a lane brings lies on its fiber's stack. */
    fiber *const f = fiber_of((uintptr_t)m.data[to_lane]);
    uint16_t value;

    check_access(f, at, sizeof(value), reads, from->pc);
    memcpy(&value, (const void *)at, sizeof(value));
    return value;
}

/* Matrix number J, whose rows lanes FIRST + 8 J and following have. */
void
load_matrix(const meeting &m, int first, int j)
{
    for (int i = 0; i < lanes; i++) {
        const loaded *const to = (const loaded *)m.data[first + i];
        const int group = i / 4, rank = i % 4;
        uint32_t value = 0;

        for (int e = 0; e < 2; e++) {
            const int row = to->transposed ? 2 * rank + e : group;
            const int column = to->transposed ? group : 2 * rank + e;

            value |= (uint32_t)load_element(
                         m, first + 8 * j + row, column, first + i)
                     << 16 * e;
        }
        to->r[j] = value;
    }
}

template <int n>
void
load_matrices(const meeting &m)
{
    for (int first = 0; first < GB_WARP; first += lanes)
        for (int j = 0; j < n; j++)
            load_matrix(m, first, j);
}

const collective ldmatrix_x1 = { "ldmatrix.x1", load_matrices<1>, false };
const collective ldmatrix_x2 = { "ldmatrix.x2", load_matrices<2>, false };
const collective ldmatrix_x4 = { "ldmatrix.x4", load_matrices<4>, false };

void
ldmatrix(const collective *what, loaded *l, int n_matrices)
{
    fiber *const f = this_fiber();
    const uintptr_t at = (uintptr_t)l->address;

    if (f->lane % lanes < 8 * n_matrices && at % row_bytes != 0)
        complain(f, l->pc, "%s: the address of a row is not a multiple of 16",
                 what->name);
    if (counting && f->lane % lanes < 8 * n_matrices)
        count_access(f, at, row_bytes, reads, l->pc);
    all_lanes(what, l, l->pc);
}

} // namespace
} // namespace emu

using emu::all_lanes;
using emu::operands;

extern "C" void
gb_emu_mma_m16n8k8_f16(float d[4], const uint32_t a[2], uint32_t b)
{
    operands o = { d, a, &b };

    all_lanes(&emu::m16n8k8_f16, &o, __builtin_return_address(0));
}

extern "C" void
gb_emu_mma_m16n8k16_f16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    operands o = { d, a, b };

    all_lanes(&emu::m16n8k16_f16, &o, __builtin_return_address(0));
}

extern "C" void
gb_emu_mma_m16n8k16_bf16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
    operands o = { d, a, b };

    all_lanes(&emu::m16n8k16_bf16, &o, __builtin_return_address(0));
}

extern "C" void
gb_emu_mma_m8n8k16_s8(int32_t d[2], uint32_t a, uint32_t b)
{
    operands o = { d, &a, &b };

    all_lanes(&emu::m8n8k16_s8, &o, __builtin_return_address(0));
}

extern "C" void
gb_emu_mma_m16n8k32_s8(int32_t d[4], const uint32_t a[4], const uint32_t b[2])
{
    operands o = { d, a, b };

    all_lanes(&emu::m16n8k32_s8, &o, __builtin_return_address(0));
}

extern "C" void
gb_emu_ldmatrix_x1(uint32_t *r, const void *row_address, bool transposed)
{
    emu::loaded l = { r, row_address, transposed, __builtin_return_address(0) };

    emu::ldmatrix(&emu::ldmatrix_x1, &l, 1);
}

extern "C" void
gb_emu_ldmatrix_x2(uint32_t *r, const void *row_address, bool transposed)
{
    emu::loaded l = { r, row_address, transposed, __builtin_return_address(0) };

    emu::ldmatrix(&emu::ldmatrix_x2, &l, 2);
}

extern "C" void
gb_emu_ldmatrix_x4(uint32_t *r, const void *row_address, bool transposed)
{
    emu::loaded l = { r, row_address, transposed, __builtin_return_address(0) };

    emu::ldmatrix(&emu::ldmatrix_x4, &l, 4);
}
