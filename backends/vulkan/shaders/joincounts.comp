#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/joincounts.comp - the sum of counts, a number of 64 bits: it
// is that of elements of a binding, whose number fits 32.
//
// One work group of 256.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-joincounts.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, parts, readonly);

shared uint counts[256];

void main()
{
    const uint rank = gl_LocalInvocationID.x;
    uint count = 0u;

    if (gb_group() != 0u)
        return;
    for (uint i = rank; i < p.n_parts; i += 256u)
        count += uint(gb_f32(parts, p.at[1] + 4u * i));
    counts[rank] = count;
    barrier();
    if (rank != 0u)
        return;
    for (uint i = 1u; i < 256u; i++)
        count += counts[i];
    gb_put_u32(dst, p.at[0], count);
    gb_put_u32(dst, p.at[0] + 4u, 0u);
}
