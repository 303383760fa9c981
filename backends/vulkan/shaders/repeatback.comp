#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/repeatback.comp - sums of tiles.
//
// An invocation an element of dst, 256 a work group, for many elements; or,
// with GB_BY_GROUP, a work group an element, for few of many tiles.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-repeatback.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, src, readonly);

#ifdef GB_BY_GROUP
shared float sums[256];
#endif

// The element of tile TILE that is added to the element of dst whose like in
// the first tile is at byte FIRST.
float of_tile(uint first, uint tile)
{
    uint at = first;

    at += gb_take(tile, p.tiles[0]) * p.ne[0] * p.src_nb[0];
    at += gb_take(tile, p.tiles[1]) * p.ne[1] * p.src_nb[1];
    at += gb_take(tile, p.tiles[2]) * p.ne[2] * p.src_nb[2];
    at += tile * p.ne[3] * p.src_nb[3];
    return gb_load(src, p.src_type, at);
}

float sum_of(uint first, uint from, uint step)
{
    float sum = 0.0;

    for (uint tile = from; tile < p.n_tiles; tile += step)
        sum += of_tile(first, tile);
    return sum;
}

void main()
{
#ifdef GB_BY_GROUP
    const uint i = gb_group();
    const uint me = gl_LocalInvocationID.x;
#else
    const uint i = gb_global();
#endif
    uint first;

    if (i >= p.n)
        return;
    first = p.at[1] + gb_offset(i, p.ne, p.src_nb);
#ifdef GB_BY_GROUP
    sums[me] = sum_of(first, me, 256u);
    for (uint half_of = 128u; half_of > 0u; half_of >>= 1) {
        barrier();
        if (me < half_of)
            sums[me] += sums[me + half_of];
    }
    if (me == 0u)
        gb_put_f32(dst, p.at[0] + gb_offset(i, p.ne, p.dst_nb), sums[0]);
#else
    gb_put_f32(dst, p.at[0] + gb_offset(i, p.ne, p.dst_nb),
               sum_of(first, 0u, 1u));
#endif
}
