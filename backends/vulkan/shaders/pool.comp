#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/pool.comp - the largest or the mean of windows over rows and
// planes, or where the largest is.
//
// An invocation a window, 256 a work group; memory is the limit.
//
// GB_PLACES is 1 for places: in the order of the results.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-pool.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, src, readonly);

const float least = -3.402823466e38;

// A window's largest element, the first of equal ones, its place in the plane,
// and the sum of all.
struct window {
    float largest;
    float sum;
    uint place;
};

// The window of result (x, y) of the plane at PLANE.
window look_at(uint plane, ivec2 at)
{
    const ivec2 size = ivec2(p.src_ne[0], p.src_ne[1]);
    const ivec2 begin = at * ivec2(p.s[0], p.s[1]) - ivec2(p.pad[0], p.pad[1]);
    const ivec2 first = max(begin, ivec2(0));
    const ivec2 last = min(begin + ivec2(p.k[0], p.k[1]), size);
    window seen = window(least, 0.0, GB_VK_NO_PLACE);

    for (int y = first.y; y < last.y; y++)
        for (int x = first.x; x < last.x; x++) {
            const uint from =
                plane + uint(y) * p.src_nb[1] + uint(x) * p.src_nb[0];
            const float value = gb_load(src, p.src_type, from);

            seen.sum += value;
            if (value > seen.largest) {
                seen.largest = value;
                seen.place = uint(y) * p.src_ne[0] + uint(x);
            }
        }
    return seen;
}

void main()
{
    const uint number = gb_global();
    uint index = number, x, y, i2, plane;
    window seen;

    if (number >= p.n)
        return;
    x = gb_take(index, p.ne[0]);
    y = gb_take(index, p.ne[1]);
    i2 = gb_take(index, p.ne[2]);
    plane = p.at[1] + y * p.row_plane + i2 * p.src_nb[2] +
            index * p.src_nb[3];
    seen = look_at(plane, ivec2(x, y));
    if (GB_PLACES != 0)
        gb_put_u32(dst, p.at[0] + 4u * number, seen.place);
    else
        gb_put_f32(dst, p.at[0] + gb_offset(number, p.ne, p.dst_nb),
                   p.is_max != 0u ? seen.largest
                                  : seen.sum / float(p.k[0] * p.k[1]));
}
