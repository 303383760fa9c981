#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/window.comp - images divided into windows, and positions
// inside of them: elements moved as they are.
//
// An invocation an element of the result, 256 a work group; memory is the
// limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-window.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);

// Where the element at TO of dst comes from, along all dimensions.
uvec4 source_of(uvec4 to)
{
    if (p.kind == GB_VK_PART)
        return uvec4(to.x, to.w % p.across * p.side + to.y,
                     to.w / p.across * p.side + to.z, 0u);
    if (p.kind == GB_VK_UNPART)
        return uvec4(to.x, to.y % p.side, to.z % p.side,
                     to.z / p.side * p.across + to.y / p.side);
    return uvec4(to.x, p.ne[1] - 1u - to.y + to.z, 0u, 0u);
}

// Moves the element at byte FROM; 0 where there is none.
void move(uint to, uint from, bool is_there)
{
    if (p.size == 1u) {
        gb_put_u8(dst, to, is_there ? gb_u8(src, from) : 0u);
    } else if (p.size == 2u) {
        gb_put_u16(dst, to, is_there ? gb_u16(src, from) : 0u);
    } else {
        gb_put_u32(dst, to, is_there ? gb_u32(src, from) : 0u);
        if (p.size == 8u)
            gb_put_u32(dst, to + 4u, is_there ? gb_u32(src, from + 4u) : 0u);
    }
}

void main()
{
    const uint number = gb_global();
    uint index = number;
    uvec4 to, from;

    if (number >= p.n)
        return;
    to.x = gb_take(index, p.ne[0]);
    to.y = gb_take(index, p.ne[1]);
    to.z = gb_take(index, p.ne[2]);
    to.w = index;
    from = source_of(to);
    move(p.at[0] + gb_offset(number, p.ne, p.dst_nb),
         p.at[1] + from.x * p.src_nb[0] + from.y * p.src_nb[1] +
             from.z * p.src_nb[2] + from.w * p.src_nb[3],
         p.kind != GB_VK_PART ||
             (from.y < p.src_ne[0] && from.z < p.src_ne[1]));
}
