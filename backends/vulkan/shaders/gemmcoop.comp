#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/gemmcoop.comp - what gemm.comp makes, by cooperative matrices of
// F16 that are summed in F32.
//
// A work group makes a tile of TILE rows and columns of dst, each of its subgroups
// a part of it, in matrices of M by N.  32 values of k at a time come as F16 into
// shared memory, 16 of a row and 16 of a column by each invocation, which reads
// the next ones before the matrices are multiplied; rows begin 40 halves apart, so
// that eight neighbouring ones have all 32 banks.
//
// F16 has few exponents, so each row and each column is multiplied by a power of
// two, and its sums by the inverse.  A first pass takes a fixed one, which suits
// what models have, and finds the largest values by the way; where one of the tile
// turns out too large or too small, a second pass takes the powers that the largest
// values ask for.  So what is lost is what F16 rounds, or less than 2^-36 of the
// largest value of a row.
//
// 10 KiB of shared memory with tiles of 64 (128 invocations), 20 KiB with 128 (256
// invocations); the sums leave through it.
//
// GB_TYPE_…  type of the weights
// TILE       64 or 128
// M, N, K    of a matrix: M and N divide the part of a subgroup, K divides 32
// SUBGROUP   invocations of one
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#pragma use_vulkan_memory_model
#include "params-matmul.h"
#include "common/format.glsl"
#include "common/tensor.glsl"
#include "common/halves.glsl"

#define THREADS (2 * TILE)
#define STEP    32             // values of k
#define STRIDE  (STEP / 8 + 1) // of eight halves
#define B_AT    (TILE * STRIDE)

// What weights are multiplied by at first: those of models are far below 4,094.
#ifdef GB_TYPE_F16
#define WEIGHTS_BY 1.0
#else
#define WEIGHTS_BY 16.0
#endif

layout(constant_id = 0) const uint TILE = 64;
layout(local_size_x_id = 1, local_size_x = 128) in; // THREADS
layout(constant_id = 2) const uint M = 16;
layout(constant_id = 3) const uint N = 16;
layout(constant_id = 4) const uint K = 16;
layout(constant_id = 5) const uint SUBGROUP = 32;

// Subgroups along columns and rows, and matrices of each.
const uint SUBGROUPS = THREADS / SUBGROUP;
const uint S_COLS = SUBGROUPS >= 16 ? 4 : SUBGROUPS >= 4 ? 2 : 1;
const uint S_ROWS = SUBGROUPS / S_COLS;
const uint SIDE_M = TILE / (S_ROWS * M);
const uint SIDE_N = TILE / (S_COLS * N);

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

// Rows, then columns, eight halves each; at the end sums.
shared uvec4 ab[2 * TILE * STRIDE];
// The largest values of a row, and of a column, that each invocation met; at the
// end inverses of the row's and column's powers.
shared vec2 most[THREADS];
shared uint to[TILE]; // where the results of columns go
shared uint is_off;

// Column C of those that meet matrix INDEX: where it is, and where its results go.
uvec2 find_column(uint c, uint index)
{
    const uint a2 = index % p.weights_ne2;
    const uint a3 = index / p.weights_ne2;
    const uint i1 = gb_take(c, p.n);
    const uint i2 = a2 * p.r2 + gb_take(c, p.r2);
    const uint i3 = a3 * p.r3 + c;

    return uvec2(p.at[2] + i1 * p.columns_nb[0] + i2 * p.columns_nb[1] +
                     i3 * p.columns_nb[2],
                 p.at[0] + i1 * p.dst_nb[0] + i2 * p.dst_nb[1] +
                     i3 * p.dst_nb[2]);
}

// The same of the pair that is number PLACE of those sorted by expert.
uvec2 find_pair(uint place)
{
    uint pair = gb_u32(chosen, p.at[3] + place * 4u);
    const uint x = gb_take(pair, p.n);

    return uvec2(p.at[2] + x % p.r2 * p.columns_nb[0] + pair * p.columns_nb[1],
                 p.at[0] + x * p.dst_nb[0] + pair * p.dst_nb[1]);
}

void main()
{
    const uint thread = gl_LocalInvocationID.x;
    const uint mine = thread / 2u; // the row and the column that it reads
    const uint keep = mine * STRIDE + thread % 2u * 2u;
    const uint s_row = gl_SubgroupID % S_ROWS * SIDE_M * M;
    const uint s_col = gl_SubgroupID / S_ROWS * SIDE_N * N;
    coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>
        sums[SIDE_M][SIDE_N];
    uint index = gb_group();
    uint first_row, split, tile, n_here, matrix, row, begin, end;
    uvec2 column;
    vec2 by = vec2(WEIGHTS_BY, 1.0);
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
        column = find_pair(tile + min(mine, n_here - 1u));
    } else {
        tile = gb_take(index, (p.n_cols + TILE - 1u) / TILE) * TILE;
        n_here = min(p.n_cols - tile, TILE);
        matrix = p.at[1] + index % p.weights_ne2 * p.weights_nb[1] +
                 index / p.weights_ne2 * p.weights_nb[2];
        column = find_column(tile + min(mine, n_here - 1u), index);
    }
    if (thread % 2u == 0u)
        to[mine] = column.y + split * p.split_bytes;
    if (thread == 0u)
        is_off = 0u;
    row = matrix + min(first_row + mine, p.m - 1u) * p.weights_nb[0];
    begin = split * p.split_k;
    end = is_nothing ? begin : min(begin + p.split_k, p.k);

    for (uint pass = 0u;; pass++) {
        vec2 largest = vec2(0.0);

        [[unroll]] for (uint r = 0u; r < SIDE_M; r++)
            [[unroll]] for (uint c = 0u; c < SIDE_N; c++)
                sums[r][c] =
                    coopmat<float, gl_ScopeSubgroup, M, N,
                            gl_MatrixUseAccumulator>(0.0);
        for (uint step = begin;; step += STEP) {
            uvec4 w[2], x[2];

            [[unroll]] for (uint j = 0u; j < 2u; j++) {
                const uint i = step + thread % 2u * 16u + j * 8u;
                float v[8];

                w[j] = x[j] = uvec4(0u);
                if (i < end) {
                    gb_tile_weights8(row, i, v);
                    largest.x = max(largest.x, gb_largest(v));
                    w[j] = gb_halves(v, by.x);
                    gb_tile_column8(column.x, i, v);
                    largest.y = max(largest.y, gb_largest(v));
                    x[j] = gb_halves(v, by.y);
                }
            }
            if (step > begin) {
                [[unroll]] for (uint k = 0u; k < STEP; k += K) {
                    coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA>
                        a[SIDE_M];

                    [[unroll]] for (uint r = 0u; r < SIDE_M; r++)
                        coopMatLoad(a[r], ab, (s_row + r * M) * STRIDE + k / 8u,
                                    STRIDE, gl_CooperativeMatrixLayoutRowMajor);
                    [[unroll]] for (uint c = 0u; c < SIDE_N; c++) {
                        coopmat<float16_t, gl_ScopeSubgroup, K, N,
                                gl_MatrixUseB> b;

                        coopMatLoad(b, ab,
                                    B_AT + (s_col + c * N) * STRIDE + k / 8u,
                                    STRIDE,
                                    gl_CooperativeMatrixLayoutColumnMajor);
                        [[unroll]] for (uint r = 0u; r < SIDE_M; r++)
                            sums[r][c] = coopMatMulAdd(a[r], b, sums[r][c]);
                    }
                }
            }
            if (step >= end)
                break;
            barrier();
            [[unroll]] for (uint j = 0u; j < 2u; j++) {
                ab[keep + j] = w[j];
                ab[B_AT + keep + j] = x[j];
            }
            barrier();
        }

        // Both halves of a row, and of a column.
        most[thread] = largest;
        barrier();
        largest = max(largest, most[thread ^ 1u]);
        if (pass == 0u &&
            (gb_is_off(largest.x, by.x) || gb_is_off(largest.y, by.y)))
            is_off = 1u;
        barrier();
        if (pass > 0u || is_off == 0u)
            break;
        by = vec2(gb_power_for(largest.x), gb_power_for(largest.y));
    }
    if (thread % 2u == 0u)
        most[mine] = vec2(gb_inverse(by.x), gb_inverse(by.y));

    [[unroll]] for (uint c = 0u; c < SIDE_N; c++) {
        [[unroll]] for (uint r = 0u; r < SIDE_M; r++) {
            const uint at = gl_SubgroupID * (M * N / 4u);

            coopMatStore(sums[r][c], ab, at, M / 4u,
                         gl_CooperativeMatrixLayoutColumnMajor);
            barrier();
            for (uint e = gl_SubgroupInvocationID; e < M * N; e += SUBGROUP) {
                const uint of_row = s_row + r * M + e % M;
                const uint of_col = s_col + c * N + e / M;

                if (first_row + of_row < p.m && of_col < n_here)
                    gb_put_f32(dst, to[of_col] + (first_row + of_row) * 4u,
                               gb_scaled(
                                   uintBitsToFloat(ab[at + e / 4u][e % 4u]),
                                   most[of_row].x, most[of_col].y));
            }
            barrier();
        }
    }
}
