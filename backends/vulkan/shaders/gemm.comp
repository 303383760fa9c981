#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/gemm.comp - products of matrices with many columns, and with
// one that is chosen for each pair of a token and an expert, pairs sorted by
// expert.
//
// A work group makes a tile of TILE rows and COLS columns of dst, an invocation
// SIDE_M by SIDE_N of them in registers.  16 values of k at a time come as
// floats into shared memory, 8 of a row and 8 of a column by each invocation,
// which reads the next ones before it multiplies; four of a row are one vector,
// and rows begin 20 floats apart, so that eight neighbouring ones have all 32
// banks.
//
// With tiles of 64 (128 invocations, 8 by 4 each, 10 KiB) there are 32 fused
// multiply-adds for 3 reads of shared memory; with tiles of 32 (64 invocations,
// 4 by 4 each, 5 KiB) 16 for 2, for products that have too few tiles of 64.  Few
// columns have tiles of 64 by 16 (64 invocations, 4 by 4 each, 6 KiB).
//
// GB_TYPE_…  type of the weights
// TILE       rows
// THREADS    invocations
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-matmul.h"
#include "common/format.glsl"
#include "common/tensor.glsl"

#define ACROSS (TILE == THREADS ? 16u : 8u) // invocations along rows
#define SIDE_M (TILE / ACROSS)
#define SIDE_N 4
#define DOWN   (THREADS / ACROSS) // along columns: from one of its own to the next
#define COLS   (DOWN * SIDE_N)
#define LOADS  (2 * TILE / THREADS) // pieces of rows that an invocation reads
#define STEP   16                   // values of k
#define STRIDE (STEP / 4 + 1)

layout(constant_id = 0) const uint TILE = 64;
layout(constant_id = 1) const uint THREADS = 128;
layout(local_size_x_id = 1, local_size_x = 128) in; // THREADS
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, weights, readonly);
GB_OPERAND(2, columns, readonly);
GB_OPERAND(3, chosen, readonly);
#ifdef GB_USES_TABLE
GB_OPERAND(4, tables, readonly);
#endif

#ifndef GB_IS_FLOAT
#include "common/unpack.glsl"
#endif
#include "common/row8.glsl"
#include "common/wide8.glsl"
GB_ROW8
GB_FLOATS8(columns8, columns)
GB_TILE8

shared vec4 a[TILE * STRIDE];
shared vec4 b[COLS * STRIDE];
shared uint from[COLS]; // columns of the tile
shared uint to[COLS];   // and where their results go

// Column C of those that meet matrix INDEX.
void find_column(uint c, uint index, uint which)
{
    const uint a2 = index % p.weights_ne2;
    const uint a3 = index / p.weights_ne2;
    const uint i1 = gb_take(c, p.n);
    const uint i2 = a2 * p.r2 + gb_take(c, p.r2);
    const uint i3 = a3 * p.r3 + c;

    from[which] = p.at[2] + i1 * p.columns_nb[0] + i2 * p.columns_nb[1] +
                  i3 * p.columns_nb[2];
    to[which] = p.at[0] + i1 * p.dst_nb[0] + i2 * p.dst_nb[1] +
                i3 * p.dst_nb[2];
}

// The pair that is number PLACE of those sorted by expert.
void find_pair(uint place, uint which)
{
    uint pair = gb_u32(chosen, p.at[3] + place * 4u);
    const uint x = gb_take(pair, p.n);

    from[which] = p.at[2] + x % p.r2 * p.columns_nb[0] + pair * p.columns_nb[1];
    to[which] = p.at[0] + x * p.dst_nb[0] + pair * p.dst_nb[1];
}

void keep(uint at, float v[8], bool of_a)
{
    const vec4 first = vec4(v[0], v[1], v[2], v[3]);
    const vec4 second = vec4(v[4], v[5], v[6], v[7]);

    if (of_a) {
        a[at] = first;
        a[at + 1u] = second;
    } else {
        b[at] = first;
        b[at + 1u] = second;
    }
}

float sums[SIDE_M][SIDE_N];

// What is in shared memory.
void multiply(uint my_row, uint my_col)
{
    [[unroll]] for (uint k = 0u; k < STEP / 4u; k++) {
        vec4 col[SIDE_N];

        [[unroll]] for (uint c = 0u; c < SIDE_N; c++)
            col[c] = b[(my_col + c * DOWN) * STRIDE + k];
        [[unroll]] for (uint r = 0u; r < SIDE_M; r++) {
            const vec4 four = a[(my_row + r * ACROSS) * STRIDE + k];

            [[unroll]] for (uint c = 0u; c < SIDE_N; c++) {
                sums[r][c] = fma(four.x, col[c].x, sums[r][c]);
                sums[r][c] = fma(four.y, col[c].y, sums[r][c]);
                sums[r][c] = fma(four.z, col[c].z, sums[r][c]);
                sums[r][c] = fma(four.w, col[c].w, sums[r][c]);
            }
        }
    }
}

void main()
{
    const uint thread = gl_LocalInvocationID.x;
    const uint my_row = thread % ACROSS, my_col = thread / ACROSS;
    // The pieces that it reads: of LOADS rows, and of a column.
    const uint mine = thread / 2u, piece = thread % 2u;
    uint index = gb_group();
    uint first_row, split, tile, n_here, matrix, begin, end;
    uint row[LOADS];
    bool is_nothing = false;

    if (index >= p.n_groups)
        return;
    first_row = gb_take(index, (p.m + TILE - 1u) / TILE) * TILE;
    split = gb_take(index, p.n_splits);
    if (p.has_ids != 0u) {
        // Three words of a tile: expert, first place, places.
        const uint at = p.at[3] + p.ids_nb[0] + index * 12u;
        const uint expert = gb_u32(chosen, at);

        tile = gb_u32(chosen, at + 4u);
        n_here = gb_u32(chosen, at + 8u);
        if (n_here == 0u)
            return;
        is_nothing = expert >= p.weights_ne2;
        if (is_nothing ? p.first_expert > 0u
                       : expert < p.first_expert || expert >= p.end_expert)
            return;
        matrix = p.at[1] + (expert - p.first_expert) * p.weights_nb[1];
        if (thread < COLS)
            find_pair(tile + min(thread, n_here - 1u), thread);
    } else {
        tile = gb_take(index, (p.n_cols + COLS - 1u) / COLS) * COLS;
        n_here = min(p.n_cols - tile, COLS);
        matrix = p.at[1] + index % p.weights_ne2 * p.weights_nb[1] +
                 index / p.weights_ne2 * p.weights_nb[2];
        if (thread < COLS)
            find_column(tile + min(thread, n_here - 1u), index, thread);
    }
    barrier();

    [[unroll]] for (uint r = 0u; r < SIDE_M; r++)
        [[unroll]] for (uint c = 0u; c < SIDE_N; c++)
            sums[r][c] = 0.0;
    [[unroll]] for (uint l = 0u; l < LOADS; l++)
        row[l] = matrix + min(first_row + mine + l * (THREADS / 2u), p.m - 1u) *
                              p.weights_nb[0];
    begin = split * p.split_k;
    end = is_nothing ? begin : min(begin + p.split_k, p.k);
    for (uint step = begin;; step += STEP) {
        const uint i = step + piece * 8u;
        float w[LOADS][8], x[8];

        [[unroll]] for (uint j = 0u; j < 8u; j++)
            x[j] = 0.0;
        [[unroll]] for (uint l = 0u; l < LOADS; l++) {
            [[unroll]] for (uint j = 0u; j < 8u; j++)
                w[l][j] = 0.0;
            if (i < end)
                gb_tile_weights8(row[l], i, w[l]);
        }
        if (i < end && mine < COLS)
            gb_tile_column8(from[mine], i, x);
        if (step > begin)
            multiply(my_row, my_col);
        if (step >= end)
            break;
        barrier();
        [[unroll]] for (uint l = 0u; l < LOADS; l++)
            keep((mine + l * (THREADS / 2u)) * STRIDE + 2u * piece, w[l], true);
        if (mine < COLS)
            keep(mine * STRIDE + 2u * piece, x, false);
        barrier();
    }

    [[unroll]] for (uint c = 0u; c < SIDE_N; c++) {
        const uint col = my_col + c * DOWN;
        const uint base = to[col] + split * p.split_bytes;

        [[unroll]] for (uint r = 0u; r < SIDE_M; r++) {
            const uint at_row = first_row + my_row + r * ACROSS;

            if (at_row < p.m && col < n_here)
                gb_put_f32(dst, base + at_row * 4u, sums[r][c]);
        }
    }
}
