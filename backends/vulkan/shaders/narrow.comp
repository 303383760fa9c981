#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/narrow.comp - products of matrices, and with one that is
// chosen for each pair of a token and an expert, where subgroups are the
// vectors of a processor.
//
// There each read of memory is done lane by lane, and an operation costs a
// tenth of it.  So an invocation has ROWS rows of the weights to itself and
// reads 32 values of them at a time, in whole blocks; a subgroup reads those of
// COLS columns once, a value a lane, and its lanes hand them round.  No barrier
// and no shared memory, and no branch around a read, since both of its sides
// would be gone through.  A sum goes through k in one order, whatever subgroups
// are.
//
// k is a multiple of 32, and columns are F32.  What is added to a product of
// one column is added here.
//
// GB_TYPE_…  type of the weights
// COLS       columns
// ROWS       rows of an invocation
// LANES      of a subgroup: 4, 8 or 16; the device's
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "params-matmul.h"
#include "common/format.glsl"
#include "common/tensor.glsl"

#define THREADS 16
#define STEP    32 // values of k
#define PIECE   8  // that are read by one function

layout(constant_id = 0) const uint COLS = 8;
layout(constant_id = 1) const uint ROWS = 4;
layout(constant_id = 5) const uint LANES = 8;
layout(local_size_x = THREADS) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, weights, readonly);
GB_OPERAND(2, columns, readonly);
GB_OPERAND(3, chosen, readonly);
#ifdef GB_USES_TABLE
GB_OPERAND(4, tables, readonly);
#endif
#include "common/epilogue.glsl"
#include "common/unpack.glsl"

// What a group multiplies.
uint matrix;      // byte of weights
uint from[COLS];  // of columns
uint to[COLS];    // of dst
uint n_here;      // columns that there are
bool is_nothing;  // no such expert: zeros

// Columns from TILE on of those that meet matrix INDEX.
void find_columns(uint tile, uint index)
{
    const uint a2 = index % p.weights_ne2;
    const uint a3 = index / p.weights_ne2;

    n_here = min(p.n_cols - tile, COLS);
    matrix = p.at[1] + a2 * p.weights_nb[1] + a3 * p.weights_nb[2];
    [[unroll]] for (uint c = 0u; c < COLS; c++) {
        uint rest = tile + min(c, n_here - 1u);
        const uint i1 = gb_take(rest, p.n);
        const uint i2 = a2 * p.r2 + gb_take(rest, p.r2);
        const uint i3 = a3 * p.r3 + rest;

        from[c] = p.at[2] + i1 * p.columns_nb[0] + i2 * p.columns_nb[1] +
                  i3 * p.columns_nb[2];
        to[c] = p.at[0] + i1 * p.dst_nb[0] + i2 * p.dst_nb[1] +
                i3 * p.dst_nb[2];
    }
}

// Column C is that of PAIR.
void find_pair(uint pair, uint c)
{
    const uint x = gb_take(pair, p.n);

    from[c] = p.at[2] + x % p.r2 * p.columns_nb[0] + pair * p.columns_nb[1];
    to[c] = p.at[0] + x * p.dst_nb[0] + pair * p.dst_nb[1];
}

// EXPERT's weights; false where it is elsewhere.
bool find_expert(uint expert)
{
    is_nothing = expert >= p.weights_ne2;
    matrix = p.at[1] + (expert - p.first_expert) * p.weights_nb[1];
    return is_nothing ? p.first_expert == 0u
                      : expert >= p.first_expert && expert < p.end_expert;
}

// One pair of a token and one of its ids.
bool find_one(uint pair)
{
    uint token = pair;
    const uint x = gb_take(token, p.n);

    n_here = 1u;
    [[unroll]] for (uint c = 0u; c < COLS; c++)
        find_pair(pair, c);
    return find_expert(
        gb_u32(chosen, p.at[3] + x * p.ids_nb[0] + token * p.ids_nb[1]));
}

// Those of TILE: three words, which are expert, first place, places.
bool find_sorted(uint tile)
{
    const uint at = p.at[3] + p.ids_nb[0] + tile * 12u;
    const uint first = gb_u32(chosen, at + 4u);

    n_here = gb_u32(chosen, at + 8u);
    if (n_here == 0u)
        return false;
    [[unroll]] for (uint c = 0u; c < COLS; c++)
        find_pair(gb_u32(chosen,
                         p.at[3] + (first + min(c, n_here - 1u)) * 4u), c);
    return find_expert(gb_u32(chosen, at));
}

// Values I … I + 7 of the row at byte ROW.
void read8(uint row, uint i, out float v[PIECE])
{
    gb_unpack8(row + i / GB_BLOCK * GB_BLOCK_BYTES, i % GB_BLOCK / PIECE, v);
}

void main()
{
    const uint lane = gl_SubgroupInvocationID;
    const uint tiles = (p.m + THREADS * ROWS - 1u) / (THREADS * ROWS);
    uint index = gb_group();
    uint first_row, tile, row[ROWS], end;
    float sums[ROWS][COLS];
    bool is_here = true;

    if (index >= p.n_groups)
        return;
    first_row =
        gb_take(index, tiles) * THREADS * ROWS + gl_LocalInvocationID.x;
    tile = 0u;
    is_nothing = false;
    if (p.has_ids == GB_VK_BY_PAIR) {
        is_here = find_one(index);
    } else if (p.has_ids == GB_VK_BY_TILE) {
        is_here = find_sorted(index);
    } else {
        tile = gb_take(index, (p.n_cols + COLS - 1u) / COLS) * COLS;
        find_columns(tile, index);
    }
    if (!is_here)
        return;

    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        row[r] = matrix +
                 min(first_row + r * THREADS, p.m - 1u) * p.weights_nb[0];
        [[unroll]] for (uint c = 0u; c < COLS; c++)
            sums[r][c] = 0.0;
    }
    end = is_nothing ? 0u : p.k;
    for (uint i = 0u; i < end; i += STEP) {
        float x[COLS][STEP / LANES];

        [[unroll]] for (uint c = 0u; c < COLS; c++)
            [[unroll]] for (uint j = 0u; j < STEP / LANES; j++)
                x[c][j] =
                    gb_f32(columns, from[c] + (i + j * LANES + lane) * 4u);
        [[unroll]] for (uint piece = 0u; piece < STEP; piece += PIECE) {
            float w[ROWS][PIECE];

            [[unroll]] for (uint r = 0u; r < ROWS; r++)
                read8(row[r], i + piece, w[r]);
            // A loop that began at piece would be unrolled after the array was
            // put into memory.
            [[unroll]] for (uint j = 0u; j < PIECE; j++)
                [[unroll]] for (uint c = 0u; c < COLS; c++) {
                    const uint at = piece + j;
                    const float value =
                        subgroupShuffle(x[c][at / LANES], at % LANES);

                    [[unroll]] for (uint r = 0u; r < ROWS; r++)
                        sums[r][c] = fma(w[r][j], value, sums[r][c]);
                }
        }
    }
    [[unroll]] for (uint r = 0u; r < ROWS; r++)
        [[unroll]] for (uint c = 0u; c < COLS; c++) {
            const uint at_row = first_row + r * THREADS;
            float sum = sums[r][c];

            if (COLS == 1u)
                sum = gb_with_addend(sum, min(at_row, p.m - 1u), tile, index);
            if (at_row < p.m && c < n_here)
                gb_put_f32(dst, to[c] + at_row * 4u, sum);
        }
}
