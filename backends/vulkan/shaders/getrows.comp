#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/getrows.comp - rows picked by their numbers.
//
// An invocation a value, or eight neighbours of a type in blocks, 256 a work
// group; memory is the limit.  A number that is no row's gives zeros: the host
// does not look at the numbers, and nothing outside the tensor may be read.  Where
// a part of the weights is shown, other rows are other dispatches', and what is
// no row's the first one's.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-getrows.h"
#include "common/tensor.glsl"
#include "common/format.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, weights, readonly);
GB_OPERAND(2, ids, readonly);
#ifdef GB_USES_TABLE
GB_OPERAND(3, tables, readonly);
#endif

#include "common/unpack.glsl"

#if defined GB_TYPE_F32

// As words, which may be integers.
void get(uint to, uint from, uint unit, bool is_row)
{
    const uint at = from + unit * p.src_nb[0];

    gb_put_u32(dst, to, is_row ? gb_u32(weights, at) : 0u);
}

#elif defined GB_IS_FLOAT

void get(uint to, uint from, uint unit, bool is_row)
{
    gb_put_f32(dst, to, is_row ? gb_unpack1(from + unit * p.src_nb[0]) : 0.0);
}

#else

void get(uint to, uint from, uint unit, bool is_row)
{
    const uint parts = GB_BLOCK / 8u;
    float v[8] = float[8](0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);

    if (is_row)
        gb_unpack8(from + unit / parts * GB_BLOCK_BYTES, unit % parts, v);
    for (uint i = 0u; i < 8u; i++)
        gb_put_f32(dst, to + 4u * i, v[i]);
}

#endif

void main()
{
    uint rest = gb_global();
    uint unit, i1, i2, to, from;
    int row;
    bool is_shown;

    if (rest >= p.n)
        return;
    unit = gb_take(rest, p.units[0]);
    i1 = gb_take(rest, p.units[1]);
    i2 = gb_take(rest, p.units[2]);
    row = gb_i32(ids, p.at[2] + i1 * p.ids_nb[0] + i2 * p.ids_nb[1] +
                          rest * p.ids_nb[2]);
    to = p.at[0] + unit * p.dst_nb[0] + i1 * p.dst_nb[1] + i2 * p.dst_nb[2] +
         rest * p.dst_nb[3];
    is_shown = row >= 0 && uint(row) - p.first < p.rows;
    if (!is_shown && (p.first > 0u || uint(row) < p.all_rows))
        return;
    from = p.at[1] + (uint(row) - p.first) * p.src_nb[1] + i2 * p.src_nb[2] +
           rest * p.src_nb[3];
    get(to, from, unit, is_shown);
}
