#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/outprod.comp - sums of outer products.
//
// A work group of 256 a tile of 64 x 64 values, 16 of each invocation in
// registers; 16 terms of each at a time come through shared memory, 8 KiB, into
// which weights are unpacked once a tile.  Arithmetic is the limit, for few
// terms memory.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-outprod.h"
#include "common/tensor.glsl"
#include "common/format.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, weights, readonly);
GB_OPERAND(2, b, readonly);
#ifdef GB_USES_TABLE
GB_OPERAND(3, tables, readonly);
#endif

#include "common/unpack.glsl"
#include "common/row8.glsl"

GB_ROW8

#define TILE GB_VK_OUT_PROD_TILE
#define DEPTH 16

shared float a_tile[DEPTH * TILE];
shared float b_tile[DEPTH * TILE];

// Terms K … of the weights, whose matrix is at FROM, for values I … of
// dimension 0: eight each of the first invocations.
void load_a(uint from, uint i, uint k)
{
    const uint invocation = gl_LocalInvocationID.x;
    const uint row = invocation / (TILE / 8u);
    const uint first = invocation % (TILE / 8u) * 8u;
    float v[8] = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);

    if (row >= DEPTH)
        return;
    if (i + first < p.ne[0] && k + row < p.n_k)
        gb_row8(from + (k + row) * p.a_nb[0], i + first, p.ne[0], v);
    for (uint c = 0u; c < 8u; c++)
        a_tile[row * TILE + first + c] = v[c];
}

// The same of b for values J … of dimension 1.
void load_b(uint from, uint j, uint k)
{
    for (uint c = gl_LocalInvocationID.x; c < DEPTH * TILE; c += 256u) {
        const uint column = j + c % TILE;
        const uint row = k + c / TILE;

        b_tile[c] = column < p.ne[1] && row < p.n_k
                        ? gb_f32(b, from + column * p.b_nb[0] +
                                        row * p.b_nb[1])
                        : 0.0;
    }
}

// Invocations have every sixteenth value along both dimensions.
void main()
{
    const uint across = gl_LocalInvocationID.x % 16u;
    const uint down = gl_LocalInvocationID.x / 16u;
    uint number = gb_group();
    const uint i = gb_take(number, p.n_tiles[0]) * TILE;
    const uint j = gb_take(number, p.n_tiles[1]) * TILE;
    const uint i2 = gb_take(number, p.ne[2]);
    const uint i3 = number;
    const uint a_at = p.at[1] + i2 / p.share[0] * p.a_nb[1] +
                      i3 / p.share[1] * p.a_nb[2];
    const uint b_at = p.at[2] + i2 * p.b_nb[2] + i3 * p.b_nb[3];
    float sums[16];

    if (i3 >= p.ne[3])
        return;
    [[unroll]] for (uint c = 0u; c < 16u; c++)
        sums[c] = 0.0;
    for (uint k = 0u; k < p.n_k; k += DEPTH) {
        barrier();
        load_a(a_at, i, k);
        load_b(b_at, j, k);
        barrier();
        for (uint row = 0u; row < DEPTH; row++)
            [[unroll]] for (uint c = 0u; c < 16u; c++)
                sums[c] += a_tile[row * TILE + across + 16u * (c % 4u)] *
                           b_tile[row * TILE + down + 16u * (c / 4u)];
    }
    [[unroll]] for (uint c = 0u; c < 16u; c++) {
        const uint x = i + across + 16u * (c % 4u);
        const uint y = j + down + 16u * (c / 4u);

        if (x < p.ne[0] && y < p.ne[1])
            gb_put_f32(dst, p.at[0] + x * p.dst_nb[0] + y * p.dst_nb[1] +
                                i2 * p.dst_nb[2] + i3 * p.dst_nb[3],
                       sums[c]);
    }
}
