// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/values-matrix.cpp - the emulator's matrix instructions of AMD's
 * cards are those of AMD's tables of registers.
 *
 * The tables (AMD, "CDNA3 Instruction Set Architecture", 7.1.4, v_mfma_f32_16x16x16;
 * "RDNA3 …", 7.9, and "RDNA4 …", 7.12, v_wmma_f32_16x16x16) name for a register of
 * some lanes the row or column and the values of k; they stand below as they are
 * printed, a case at a time.
 */
#include "tests/gpu-emulator/values-run.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

extern "C" {
#include <cmocka.h>
}

namespace {

struct card {
    const char *name;
    int lanes, shares;
    int halves;           /* of A and of B that a lane has */
    int (*k)(int lane, int half);
    int (*row)(int lane, int sum);
};

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
    { "MFMA", 64, 4, 4, mfma_k, mfma_row },
    { "WMMA of RDNA 3", 32, 1, 16, rdna3_k, rdna3_row },
    { "WMMA of RDNA 4", 32, 2, 8, rdna4_k, rdna4_row },
};

constexpr int per_lane = 2 * GB_VALUE_SHARE + GB_VALUE_SUMS;

struct number {
    const char *kernel;
    uint32_t mask;
    int first_exponent, fraction_bits;
    double (*value)(uint32_t bits);
};

const number numbers[] = {
    { "matrix_f16", 0x83ff, 12, 10, of_f16 },
    { "matrix_bf16", 0x807f, 124, 7, of_bf16 },
};

struct matrices {
    uint32_t a[16][16], b[16][16]; /* [line][k] */
};

void
draw(const number &n, uint32_t *state, matrices *m)
{
    for (int line = 0; line < 16; line++)
        for (int k = 0; k < 16; k++) {
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
    words in((size_t)(GB_WARP * per_lane));

    for (int lane = 0; lane < GB_WARP; lane++) {
        uint32_t *const to = &in[(size_t)(lane * per_lane)];

        for (int i = 0; i < c.halves; i++) {
            const int k = c.k(lane, i);

            to[i / 2] |= m.a[lane % 16][k] << 16 * (i % 2);
            to[GB_VALUE_SHARE + i / 2] |= m.b[lane % 16][k] << 16 * (i % 2);
        }
        for (int i = 0; i < GB_VALUE_SUMS; i++)
            to[2 * GB_VALUE_SHARE + i] =
                bits_of((float)next(state) * 0x1p-22f);
    }
    return in;
}

void
compare(const card &c, const number &n, const matrices &m, const words &in,
        const words &out)
{
    for (int lane = 0; lane < GB_WARP; lane++)
        for (int i = 0; i < GB_VALUE_SUMS; i++) {
            const int row = c.row(lane, i), column = lane % 16;
            double sum = float_of(
                in[(size_t)(lane * per_lane + 2 * GB_VALUE_SHARE + i)]);
            double size = fabs(sum);

            for (int k = 0; k < 16; k++) {
                const double product =
                    n.value(m.a[row][k]) * n.value(m.b[column][k]);

                sum += product;
                size += fabs(product);
            }
            if (fabs(float_of(out[(size_t)(lane * GB_VALUE_SUMS + i)]) - sum) >
                size * 0x1p-24)
                fail_msg("%s, %s: lane %d, sum %d", c.name, n.kernel, lane, i);
        }
}

} // namespace

void
products_of_matrix_cores_are_those_of_the_layouts(void **)
{
    uint32_t state = 11;

    for (const card &c : cards)
        for (const number &n : numbers) {
            words out((size_t)(GB_WARP * GB_VALUE_SUMS));
            matrices m;
            words in;

            if (c.lanes != GB_WARP)
                continue;
            draw(n, &state, &m);
            in = distribute(c, m, &state);
            assert_int_equal(run_shared(n.kernel, c.shares, in, &out), 0);
            compare(c, n, m, in, out);
        }
}

/* On RDNA 3 lanes 16 … 31 repeat what lanes 0 … 15 bring. */
void
lanes_that_share_a_line_bring_the_same(void **)
{
    const card &c = cards[1];
    words out((size_t)(GB_WARP * GB_VALUE_SUMS));
    uint32_t state = 12;
    matrices m;
    words in;

    if (c.lanes != GB_WARP)
        skip();
    draw(numbers[0], &state, &m);
    in = distribute(c, m, &state);
    in[20 * per_lane] ^= 0x400;
    assert_int_equal(run_shared("matrix_f16", c.shares, in, &out), 1);
}
