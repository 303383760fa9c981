#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/accumulate.comp - a part of a tensor replaced or added to.
//
// A work group a row of src, or all of them in order where rows of the part
// overlap; 256 invocations, each of which has elements of all rows.  Memory is
// the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-accumulate.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, coherent);
GB_OPERAND(1, src, readonly);

void take_element(uint to, uint from)
{
    if (p.is_sum != 0u) {
        gb_put_f32(dst, to, gb_f32(dst, to) + gb_f32(src, from));
    } else if (p.size == 2u) {
        gb_put_u16(dst, to, gb_u16(src, from));
    } else if (p.size == 1u) {
        gb_put_u8(dst, to, gb_u8(src, from));
    } else {
        for (uint at = 0u; at < p.size; at += 4u)
            gb_put_u32(dst, to + at, gb_u32(src, from + at));
    }
}

void take_row(uint row)
{
    const uint i1 = gb_take(row, p.ne[1]);
    const uint i2 = gb_take(row, p.ne[2]);
    const uint to = p.at[0] + p.first + i1 * p.dst_nb[1] + i2 * p.dst_nb[2] +
                    row * p.dst_nb[3];
    const uint from =
        p.at[1] + i1 * p.src_nb[1] + i2 * p.src_nb[2] + row * p.src_nb[3];

    for (uint i = gl_LocalInvocationID.x; i < p.ne[0]; i += 256u)
        take_element(to + i * p.dst_nb[0], from + i * p.src_nb[0]);
}

void main()
{
    if (p.rows_of_group == 1u) {
        if (gb_group() < p.rows)
            take_row(gb_group());
        return;
    }
    if (gb_group() > 0u)
        return;
    for (uint row = 0u; row < p.rows; row++) {
        take_row(row);
        memoryBarrierBuffer();
        barrier();
    }
}
