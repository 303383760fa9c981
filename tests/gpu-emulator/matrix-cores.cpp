// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/matrix-cores.cpp - matrix instructions of AMD's cards, by
 * definition: MFMA with 64 lanes, WMMA with 32.
 *
 * D [16][16] += A [16][16] B [16][16].  Lane L has row L % 16 of A and column
 * L % 16 of B, and of either, where S lanes share a line of 16 values of k, the
 * values 16 / S * (L / 16 % S) and following, two in a word.  Of D it has column
 * L % 16, in element i row (256 / lanes) * (L / 16) + i; but with S = 1 (RDNA 3)
 * row 2 i + L / 16.  (AMD, "CDNA3 Instruction Set Architecture", 7.1, "RDNA3 …",
 * 7.9, "RDNA4 …", 7.12.)
 *
 * The wide ones, D [32][32] += A [32][8] B [8][32], are MFMA's alone
 * (v_mfma_f32_32x32x8): lane L has row L % 32 of A and column L % 32 of B, of both
 * values 4 (L / 32) and following; of D column L % 32, in element i row
 * 8 (i / 4) + 4 (L / 32) + i % 4.
 *
 * With S = 1, lanes L and L + 16 must bring the same.
 */
#include "tests/gpu-emulator/check.h"
#include "tests/gpu-emulator/elements.h"

#include <string.h>

namespace emu {

namespace {

constexpr int size = 16;
constexpr int sums = size * size / GB_WARP; /* of a lane */

int
shares_of(const fiber *f)
{
    return f->in->of->what->matrix_shares;
}

/* What a lane brings. */
struct operands {
    float *d;
    const uint32_t *a, *b;
    const void *pc;
};

struct tile {
    double a[size][size], b[size][size]; /* by line, by k */
};

template <double (*read)(uint32_t)>
void
take_share(double line[size], const uint32_t *words, int share, int shares)
{
    const int n = size / shares;

    for (int i = 0; i < n; i++)
        line[n * share + i] = read(words[i / 2] >> 16 * (i % 2) & 0xffff);
}

void
check_doubles(const meeting &m, const operands &one, const operands &other,
              int lane)
{
    if (memcmp(one.a, other.a, 32) != 0 || memcmp(one.b, other.b, 32) != 0)
        complain(fiber_of((uintptr_t)m.data[lane]), one.pc,
                 "lanes %d and %d bring other operands to an instruction that "
                 "wants the same", lane, lane + size);
}

int
row_of(int lane, int i, int shares)
{
    return shares == 1 ? 2 * i + lane / size : sums * (lane / size) + i;
}

template <double (*read)(uint32_t)>
void
multiply(const meeting &m)
{
    const int shares =
        shares_of(fiber_of((uintptr_t)m.data[0]));
    tile t;

    for (int lane = 0; lane < GB_WARP; lane++) {
        const operands &o = *(const operands *)m.data[lane];
        const int share = lane / size % shares;

        take_share<read>(t.a[lane % size], o.a, share, shares);
        take_share<read>(t.b[lane % size], o.b, share, shares);
        if (shares == 1 && lane < size)
            check_doubles(m, o, *(const operands *)m.data[lane + size], lane);
    }
    for (int lane = 0; lane < GB_WARP; lane++) {
        float *const d = ((const operands *)m.data[lane])->d;

        for (int i = 0; i < sums; i++) {
            const double *const a = t.a[row_of(lane, i, shares)];
            double sum = 0;

            for (int k = 0; k < size; k++)
                sum += a[k] * t.b[lane % size][k];
            d[i] = (float)(sum + d[i]);
        }
    }
}

constexpr int wide = 32, wide_k = 8, wide_sums = 16;

template <double (*read)(uint32_t)>
void
multiply_wide(const meeting &m)
{
    double a[wide][wide_k] = {}, b[wide][wide_k] = {};

    for (int lane = 0; lane < GB_WARP; lane++) {
        const operands &o = *(const operands *)m.data[lane];

        for (int i = 0; i < 4; i++) {
            const int k = 4 * (lane / wide) + i, shift = 16 * (i % 2);

            a[lane % wide][k] = read(o.a[i / 2] >> shift & 0xffff);
            b[lane % wide][k] = read(o.b[i / 2] >> shift & 0xffff);
        }
    }
    for (int lane = 0; lane < GB_WARP; lane++) {
        const operands &o = *(const operands *)m.data[lane];

        for (int i = 0; i < wide_sums; i++) {
            const int row = 8 * (i / 4) + 4 * (lane / wide) + i % 4;
            double sum = 0;

            for (int k = 0; k < wide_k; k++)
                sum += a[row][k] * b[lane % wide][k];
            o.d[i] = (float)(sum + o.d[i]);
        }
    }
    if (GB_WARP != 64)
        complain(fiber_of((uintptr_t)m.data[0]),
                 ((const operands *)m.data[0])->pc,
                 "a matrix instruction of 64 lanes on a card with %d",
                 GB_WARP);
}

const collective of_wide_f16s = { "a wide matrix instruction of f16",
                                  multiply_wide<of_f16>, false };
const collective of_wide_bf16s = { "a wide matrix instruction of bf16",
                                   multiply_wide<of_bf16>, false };
const collective of_f16s = { "a matrix instruction of f16", multiply<of_f16>,
                             false };
const collective of_bf16s = { "a matrix instruction of bf16",
                              multiply<of_bf16>, false };

void
all_lanes(const collective *what, operands *o)
{
    this_fiber()->in->meet_all(what, o, o->pc);
}

} // namespace
} // namespace emu

extern "C" int
gb_emu_matrix_shares()
{
    return emu::shares_of(emu::this_fiber());
}

extern "C" void
gb_matrix_f16(float *d, const uint32_t *a, const uint32_t *b)
{
    emu::operands o = { d, a, b, __builtin_return_address(0) };

    emu::all_lanes(&emu::of_f16s, &o);
}

extern "C" void
gb_matrix_bf16(float *d, const uint32_t *a, const uint32_t *b)
{
    emu::operands o = { d, a, b, __builtin_return_address(0) };

    emu::all_lanes(&emu::of_bf16s, &o);
}

extern "C" void
gb_matrix_wide_multiply_f16(float *d, const uint32_t *a, const uint32_t *b)
{
    emu::operands o = { d, a, b, __builtin_return_address(0) };

    emu::all_lanes(&emu::of_wide_f16s, &o);
}

extern "C" void
gb_matrix_wide_multiply_bf16(float *d, const uint32_t *a, const uint32_t *b)
{
    emu::operands o = { d, a, b, __builtin_return_address(0) };

    emu::all_lanes(&emu::of_wide_bf16s, &o);
}
