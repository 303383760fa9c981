#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/gemv.comp - products of matrices with few columns, and with
// one that is chosen for each pair of a token and an expert.
//
// 64 invocations, of which p.lanes share k: each takes every p.lanes-th piece
// of 8 values of GB_ROWS rows, and multiplies it by those of COLS columns.
// Their sums are added up in shared memory in one order, whatever subgroups
// are.  So weights are read once for all columns, a subgroup's pieces beside
// each other, and a column once for GB_ROWS rows; memory is the limit.
//
// GB_TYPE_…  type of the weights
// COLS       columns
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-matmul.h"
#include "common/format.glsl"
#include "common/tensor.glsl"

#define GB_ROWS  4
#define THREADS 64
#define STRIDE  65 // floats for an accumulator, without conflicts of banks

layout(constant_id = 0) const uint COLS = 8;
layout(local_size_x = THREADS) in;
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
#include "common/epilogue.glsl"
#include "common/gemv.glsl"
GB_ROW8
GB_FLOATS8(columns8, columns)

void main()
{
    const uint lane = gl_LocalInvocationID.x % p.lanes;
    uint end;

    if (!gb_find_work())
        return;
    end = is_nothing ? 0u : min((split + 1u) * p.split_k, p.k);
    for (uint i = split * p.split_k + lane * 8u; i < end; i += p.lanes * 8u) {
        float w[GB_ROWS][8];

        [[unroll]] for (uint r = 0u; r < GB_ROWS; r++)
            gb_row8(row[r], i, p.k, w[r]);
        [[unroll]] for (uint c = 0u; c < COLS; c++) {
            float x[8];

            columns8(p.column_type, from[c], i, p.k, x);
            [[unroll]] for (uint r = 0u; r < GB_ROWS; r++)
                [[unroll]] for (uint j = 0u; j < 8u; j++)
                    sums[r][c] = fma(w[r][j], x[j], sums[r][c]);
        }
    }
    gb_write_sums();
}
