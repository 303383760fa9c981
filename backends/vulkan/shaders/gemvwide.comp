#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/gemvwide.comp - what gemv.comp makes, where columns are F32 and
// begin at multiples of 16 bytes; so do weights of floats, and k is a multiple of 8.
//
// Then four values of a column, and 16 bytes of weights of floats, are one read.
// On a card reads are what limits: of the first-level cache, which serves a line
// at a time, and of memory, of which many have to be in flight.  An invocation takes
// those PARTS times 8 values of GB_ROWS rows whose codes lie in the same words, so
// that words and scales are read once.
//
// A conversion of an integer costs eight multiplications there.  So a code's bits
// are put into those of a float between 2^GB_CODE_BITS and twice that, which is the
// code and a constant; of one column the constant's share is taken off eight values
// at a time, by their sum.
//
// GB_TYPE_…  type of the weights
// COLS       columns
// THREADS    invocations, of which p.lanes share k
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-matmul.h"
#include "common/format.glsl"
#include "common/tensor.glsl"

#define GB_ROWS 4
#define STRIDE  (THREADS + 1)

layout(constant_id = 0) const uint COLS = 8;
layout(constant_id = 1) const uint THREADS = 64;
layout(local_size_x_id = 1, local_size_x = 64) in; // THREADS
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(3, chosen, readonly);
#ifndef GB_IS_FLOAT
GB_OPERAND(1, weights, readonly);
#ifdef GB_USES_TABLE
GB_OPERAND(4, tables, readonly);
#endif
#include "common/unpack.glsl"
#endif
#include "common/epilogue.glsl"
#include "common/gemv.glsl"
#include "common/wide8.glsl"
#include "common/wideparts.glsl"

// Part U of unit SUB of a block.
uint part_of(uint sub, uint u)
{
    return sub / APART * (APART * PARTS) + sub % APART + APART * u;
}

#ifdef GB_IS_FLOAT

void multiply(uint block, uint sub)
{
    const uint i = block * 8u;
    float w[GB_ROWS][8], x[8];

    [[unroll]] for (uint r = 0u; r < GB_ROWS; r++)
        gb_wide_weights8(row[r], i, w[r]);
    [[unroll]] for (uint c = 0u; c < COLS; c++) {
        gb_wide_column8(from[c], i, x);
        [[unroll]] for (uint r = 0u; r < GB_ROWS; r++)
            [[unroll]] for (uint j = 0u; j < 8u; j++)
                sums[r][c] = fma(w[r][j], x[j], sums[r][c]);
    }
}

#else

// One column: the constant's share, and what is subtracted of each value, by sums.
void multiply_one(uint block, uint sub)
{
    uvec2 codes[GB_ROWS][PARTS];
    float scale[GB_ROWS][PARTS], least[GB_ROWS][PARTS];

    [[unroll]] for (uint r = 0u; r < GB_ROWS; r++) {
        const uint at = row[r] + block * GB_BLOCK_BYTES;

        [[unroll]] for (uint u = 0u; u < PARTS; u++) {
            const uint part = part_of(sub, u);

            codes[r][u] = gb_big_codes8(at, part);
            scale[r][u] = gb_scale8(at, part);
#ifndef GB_MIDDLE
            least[r][u] = gb_min8(at, part);
#endif
        }
    }
    [[unroll]] for (uint u = 0u; u < PARTS; u++) {
        float x[8], all = 0.0;

        gb_wide_column8(from[0], block * GB_BLOCK + part_of(sub, u) * 8u, x);
        [[unroll]] for (uint j = 0u; j < 8u; j++)
            all += x[j];
        [[unroll]] for (uint r = 0u; r < GB_ROWS; r++) {
#ifdef GB_MIDDLE
            float sum = -(GB_CODE_OFFSET + GB_MIDDLE) * all;
#else
            float sum = -GB_CODE_OFFSET * all;
#endif

            [[unroll]] for (uint j = 0u; j < 8u; j++)
                sum = fma(gb_big_code(codes[r][u], j), x[j], sum);
            sums[r][0] = fma(scale[r][u], sum, sums[r][0]);
#ifndef GB_MIDDLE
            sums[r][0] = fma(-least[r][u], all, sums[r][0]);
#endif
        }
    }
}

// Several columns: values by themselves, for all of them.
void multiply_some(uint block, uint sub)
{
    [[unroll]] for (uint u = 0u; u < PARTS; u++) {
        const uint part = part_of(sub, u);
        float w[GB_ROWS][8], x[8];

        [[unroll]] for (uint r = 0u; r < GB_ROWS; r++) {
            const uint at = row[r] + block * GB_BLOCK_BYTES;
            const uvec2 codes = gb_big_codes8(at, part);
            const float scale = gb_scale8(at, part);
#ifdef GB_MIDDLE
            const float least = GB_MIDDLE * scale;
#else
            const float least = gb_min8(at, part);
#endif

            [[unroll]] for (uint j = 0u; j < 8u; j++)
                w[r][j] = fma(scale, gb_big_code(codes, j) - GB_CODE_OFFSET,
                              -least);
        }
        [[unroll]] for (uint c = 0u; c < COLS; c++) {
            gb_wide_column8(from[c], block * GB_BLOCK + part * 8u, x);
            [[unroll]] for (uint r = 0u; r < GB_ROWS; r++)
                [[unroll]] for (uint j = 0u; j < 8u; j++)
                    sums[r][c] = fma(w[r][j], x[j], sums[r][c]);
        }
    }
}

void multiply(uint block, uint sub)
{
    if (COLS == 1u)
        multiply_one(block, sub);
    else
        multiply_some(block, sub);
}

#endif

void main()
{
    const uint lane = gl_LocalInvocationID.x % p.lanes;
    uint end;

    if (!gb_find_work())
        return;
    end = is_nothing ? 0u : min((split + 1u) * p.split_k, p.k);
    for (uint i = split * (p.split_k / UNIT) + lane; i < end / UNIT;
         i += p.lanes)
        multiply(i / (GB_BLOCK / UNIT), i % (GB_BLOCK / UNIT));
    gb_write_sums();
}
