// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/values-matrix.cpp - the emulator's matrix instructions of AMD's
 * cards are those of AMD's tables of registers.
 *
 * The tables (AMD, "CDNA3 Instruction Set Architecture", 7.1.4, v_mfma_f32_16x16x16
 * and v_mfma_f32_32x32x8; "RDNA3 …", 7.9, and "RDNA4 …", 7.12, v_wmma_f32_16x16x16)
 * name for a register of some lanes the row or column and the values of k; they stand
 * below as they are printed, a case at a time.
 */
#include "tests/gpu-emulator/values-run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <string>

extern "C" {
#include <cmocka.h>
}

namespace {

struct card {
    const char *name, *kernel;
    int lanes, shares;
    int lines, n_k;       /* rows and columns of D; values of k */
    int halves;           /* of A and of B that a lane has */
    int words, sums;      /* that the kernel has of a lane: of A and of B, and D */
    int (*k)(int lane, int half);
    int (*row)(int lane, int sum);
};

/* Of 32 x 32: lanes 0 … 31 have k 0 … 3, the others 4 … 7; of sixteen sums, four
 * by four, lanes 0 … 31 rows 0 … 3, 8 … 11, 16 … 19, 24 … 27, the others those
 * between. */
int
wide_k(int lane, int half)
{
    return lane < 32 ? half : 4 + half;
}

int
wide_row(int lane, int sum)
{
    static const int rows[2][4] = { { 0, 8, 16, 24 }, { 4, 12, 20, 28 } };

    return rows[lane / 32][sum / 4] + sum % 4;
}

/* Lanes 0 … 15 have k 0 … 3, 16 … 31 4 … 7, 32 … 47 8 … 11, 48 … 63 12 … 15;
 * their four sums rows 0 … 3, 4 … 7, 8 … 11, 12 … 15. */
int
mfma_k(int lane, int half)
{
    static const int first[] = { 0, 4, 8, 12 };

    return first[lane / 16] + half;
}

int
mfma_row(int lane, int sum)
{
    static const int rows[4][4] = {
        { 0, 1, 2, 3 }, { 4, 5, 6, 7 }, { 8, 9, 10, 11 }, { 12, 13, 14, 15 }
    };

    return rows[lane / 16][sum];
}

/* All lanes have all 16 of k; lanes 0 … 15 the even rows, the others the odd
 * ones. */
int
rdna3_k(int, int half)
{
    return half;
}

int
rdna3_row(int lane, int sum)
{
    static const int rows[2][8] = { { 0, 2, 4, 6, 8, 10, 12, 14 },
                                    { 1, 3, 5, 7, 9, 11, 13, 15 } };

    return rows[lane / 16][sum];
}

/* Lanes 0 … 15 have k 0 … 7, the others 8 … 15; so with rows. */
int
rdna4_k(int lane, int half)
{
    return lane < 16 ? half : 8 + half;
}

int
rdna4_row(int lane, int sum)
{
    return lane < 16 ? sum : 8 + sum;
}

const card cards[] = {
    { "MFMA", "matrix_", 64, 4, 16, 16, 4, GB_VALUE_SHARE, GB_VALUE_SUMS,
      mfma_k, mfma_row },
    { "WMMA of RDNA 3", "matrix_", 32, 1, 16, 16, 16, GB_VALUE_SHARE,
      GB_VALUE_SUMS, rdna3_k, rdna3_row },
    { "WMMA of RDNA 4", "matrix_", 32, 2, 16, 16, 8, GB_VALUE_SHARE,
      GB_VALUE_SUMS, rdna4_k, rdna4_row },
    { "MFMA of 32 x 32", "matrix_wide_", 64, 4, 32, 8, 4, GB_VALUE_WIDE_SHARE,
      GB_VALUE_WIDE_SUMS, wide_k, wide_row },
};

int
per_lane(const card &c)
{
    return 2 * c.words + c.sums;
}

struct number {
    const char *name;
    uint32_t mask;
    int first_exponent, fraction_bits;
    double (*value)(uint32_t bits);
};

const number numbers[] = {
    { "f16", 0x83ff, 12, 10, of_f16 },
    { "bf16", 0x807f, 124, 7, of_bf16 },
};

struct matrices {
    uint32_t a[32][16], b[32][16]; /* [line][k] */
};

void
draw(const card &c, const number &n, uint32_t *state, matrices *m)
{
    for (int line = 0; line < c.lines; line++)
        for (int k = 0; k < c.n_k; k++) {
            m->a[line][k] =
                (next(state) & n.mask) |
                (n.first_exponent + next(state) % 6) << n.fraction_bits;
            m->b[line][k] =
                (next(state) & n.mask) |
                (n.first_exponent + next(state) % 6) << n.fraction_bits;
        }
}

/* The registers of all lanes: A, B and C. */
words
distribute(const card &c, const matrices &m, uint32_t *state)
{
    words in((size_t)(GB_WARP * per_lane(c)));

    for (int lane = 0; lane < GB_WARP; lane++) {
        uint32_t *const to = &in[(size_t)(lane * per_lane(c))];

        for (int i = 0; i < c.halves; i++) {
            const int k = c.k(lane, i);

            to[i / 2] |= m.a[lane % c.lines][k] << 16 * (i % 2);
            to[c.words + i / 2] |= m.b[lane % c.lines][k] << 16 * (i % 2);
        }
        for (int i = 0; i < c.sums; i++)
            to[2 * c.words + i] =
                bits_of((float)next(state) * 0x1p-22f);
    }
    return in;
}

void
compare(const card &c, const number &n, const matrices &m, const words &in,
        const words &out)
{
    for (int lane = 0; lane < GB_WARP; lane++)
        for (int i = 0; i < c.sums; i++) {
            const int row = c.row(lane, i), column = lane % c.lines;
            double sum = float_of(
                in[(size_t)(lane * per_lane(c) + 2 * c.words + i)]);
            double size = fabs(sum);

            for (int k = 0; k < c.n_k; k++) {
                const double product =
                    n.value(m.a[row][k]) * n.value(m.b[column][k]);

                sum += product;
                size += fabs(product);
            }
            if (fabs(float_of(out[(size_t)(lane * c.sums + i)]) - sum) >
                size * 0x1p-24)
                fail_msg("%s, %s: lane %d, sum %d", c.name, n.name, lane, i);
        }
}

} // namespace

void
products_of_matrix_cores_are_those_of_the_layouts(void **)
{
    uint32_t state = 11;

    for (const card &c : cards)
        for (const number &n : numbers) {
            const std::string kernel = std::string(c.kernel) + n.name;
            words out((size_t)(GB_WARP * c.sums));
            matrices m;
            words in;

            if (c.lanes != GB_WARP)
                continue;
            draw(c, n, &state, &m);
            in = distribute(c, m, &state);
            assert_int_equal(run_shared(kernel.c_str(), c.shares, in, &out),
                             0);
            compare(c, n, m, in, out);
        }
}

/* On RDNA 3 lanes 16 … 31 repeat what lanes 0 … 15 bring. */
void
lanes_that_share_a_line_bring_the_same(void **)
{
    const card &c = cards[1];
    words out((size_t)(GB_WARP * c.sums));
    uint32_t state = 12;
    matrices m;
    words in;

    if (c.lanes != GB_WARP)
        skip();
    draw(c, numbers[0], &state, &m);
    in = distribute(c, m, &state);
    in[(size_t)(20 * per_lane(c))] ^= 0x400;
    assert_int_equal(run_shared("matrix_f16", c.shares, in, &out), 1);
}
