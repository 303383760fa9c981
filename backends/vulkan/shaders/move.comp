#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/move.comp - values moved to other places, bit by bit.
//
// An invocation a unit of dst, 256 a work group.  Limited by memory where units
// are large and rows dense, else by the divisions that find an element.  Where
// units are parts of words and rows of dst are dense, an invocation collects a
// word, which takes no atomics.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-move.h"
#include "common/tensor.glsl"
#include "common/exact.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, a, readonly);
GB_OPERAND(2, b, readonly);

// Element I of a row of dst's as one of the N of a: a quotient of floats, as
// programs that use this interface expect, without its fraction.
uint nearest(uint i, uint factor, uint n)
{
    return min(uint(gb_divide(float(i), uintBitsToFloat(factor))), n - 1u);
}

// The same number as I, in the shape of a.
uvec4 renumbered(uvec4 i)
{
    const uint row = p.dst_ne[0] * p.parts;
    uint rest = ((i.w * p.dst_ne[2] + i.z) * p.dst_ne[1] + i.y) * row + i.x;
    uvec4 j;

    j.x = gb_take(rest, p.a_ne[0]);
    j.y = gb_take(rest, p.a_ne[1]);
    j.z = gb_take(rest, p.a_ne[2]);
    j.w = rest;
    return j;
}

uint reflected(uint i)
{
    const int last = int(p.a_ne[0]) - 1;
    const int at = abs(int(i) - int(p.before));

    return uint(at > last ? 2 * last - at : at);
}

uint offset_of(uvec4 i, uint nb[4])
{
    return i.x * nb[0] + i.y * nb[1] + i.z * nb[2] + i.w * nb[3];
}

// Where the unit I of dst comes from: bytes of a, or of b; nowhere.
struct source {
    uint at;
    bool is_b, is_nowhere;
};

source source_of(uvec4 i)
{
    const uvec4 ne = uvec4(p.a_ne[0], p.a_ne[1], p.a_ne[2], p.a_ne[3]);
    source from = source(0u, false, false);

    switch (p.kind) {
    case GB_VK_MOVE_COPY:
        i = renumbered(i);
        break;
    case GB_VK_MOVE_REPEAT:
        i %= ne;
        break;
    case GB_VK_MOVE_CONCAT:
        if (i[p.dim] >= ne[p.dim]) {
            i[p.dim] -= ne[p.dim];
            from.is_b = true;
            from.at = p.at[2] + offset_of(i, p.more);
            return from;
        }
        break;
    case GB_VK_MOVE_PAD:
        from.is_nowhere = any(greaterThanEqual(i, ne));
        break;
    case GB_VK_MOVE_REFLECT:
        i.x = reflected(i.x);
        break;
    case GB_VK_MOVE_UPSCALE:
        for (uint d = 0u; d < 4u; d++)
            i[d] = nearest(i[d], p.more[d], p.a_ne[d]);
        break;
    }
    from.at = p.at[1] + offset_of(i, p.a_nb);
    return from;
}

// The unit, of at most a word.
uint value_of(source from)
{
    const uint word = from.is_nowhere ? 0u
                      : from.is_b     ? gb_u32(b, from.at)
                                      : gb_u32(a, from.at);

    if (p.size >= 4u)
        return word;
    return word >> ((from.at & 3u) << 3) & (p.size == 2u ? 0xffffu : 0xffu);
}

void move_words(uint to, uvec4 i)
{
    source from = source_of(i);

    for (uint at = 0u; at < p.size; at += 4u) {
        gb_put_u32(dst, to + at, value_of(from));
        from.at += 4u;
    }
}

void move_parts(uint to, uvec4 i)
{
    uint word = 0u;

    i.x *= p.parts;
    for (uint part = 0u; part < p.parts; part++) {
        word |= value_of(source_of(i)) << 8u * p.size * part;
        i.x++;
    }
    if (p.size * p.parts == 4u)
        gb_put_u32(dst, to, word);
    else if (p.size == 2u)
        gb_put_u16(dst, to, word);
    else
        gb_put_u8(dst, to, word);
}

void main()
{
    uint rest = gb_global();
    uvec4 i;
    uint to;

    if (rest >= p.n)
        return;
    i.x = gb_take(rest, p.dst_ne[0]);
    i.y = gb_take(rest, p.dst_ne[1]);
    i.z = gb_take(rest, p.dst_ne[2]);
    i.w = rest;
    to = p.at[0] + offset_of(i, p.dst_nb);
    if (p.size >= 4u)
        move_words(to, i);
    else
        move_parts(to, i);
}
