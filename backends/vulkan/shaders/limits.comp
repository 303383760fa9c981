#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/limits.comp - one thing, as fast as a device can: it reads,
// copies, multiplies, or does nothing.
//
// Reads and copies are of 16 bytes an invocation, neighbours beside each other,
// eight or four under way at once; what is read is added up, so that no load can
// be left out.  Products are of numbers from memory, in eight sums of four that
// do not wait for each other.
//
// WORK  GB_VK_LIMIT_…
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-limits.h"
#include "common/tensor.glsl"

layout(constant_id = 0) const uint WORK = GB_VK_LIMIT_READ;
layout(local_size_x = GB_VK_LIMIT_THREADS) in;
layout(set = 0, binding = 0, std430) writeonly buffer to_buffer
{
    uvec4 to[];
};
layout(set = 0, binding = 1, std430) readonly buffer from_buffer
{
    uvec4 from[];
};

#define SUMS  8
#define TURNS 16

// Bits that look as if by chance, another number for each I.
uint bits_of(uint i)
{
    i = (i ^ i >> 16) * 0x45d9f3bu;
    i = (i ^ i >> 15) * 0x2c1b3c6du;
    return i ^ i >> 16;
}

void fill(uint me)
{
    for (uint i = me; i < p.n; i += p.threads)
        to[i] = uvec4(bits_of(4u * i), bits_of(4u * i + 1u),
                      bits_of(4u * i + 2u), bits_of(4u * i + 3u));
}

void read(uint me)
{
    uvec4 sum = uvec4(0u);

    for (uint round = 0u; round < p.rounds; round++) {
        uint i = me;

        for (; i + 7u * p.threads < p.n; i += 8u * p.threads) {
            uvec4 pieces[8];

            [[unroll]] for (uint j = 0u; j < 8u; j++)
                pieces[j] = from[i + j * p.threads];
            [[unroll]] for (uint j = 0u; j < 8u; j++)
                sum += pieces[j];
        }
        for (; i < p.n; i += p.threads)
            sum += from[i];
    }
    to[me] = sum;
}

void copy(uint me)
{
    for (uint round = 0u; round < p.rounds; round++) {
        uint i = me;

        for (; i + 3u * p.threads < p.n; i += 4u * p.threads) {
            uvec4 pieces[4];

            [[unroll]] for (uint j = 0u; j < 4u; j++)
                pieces[j] = from[i + j * p.threads];
            [[unroll]] for (uint j = 0u; j < 4u; j++)
                to[i + j * p.threads] = pieces[j];
        }
        for (; i < p.n; i += p.threads)
            to[i] = from[i];
    }
}

// As floats of [1/2, 1): no sum of such products grows without end.
vec4 floats_of(uvec4 bits)
{
    return uintBitsToFloat((bits & 0x7fffffu) | 0x3f000000u);
}

void multiply(uint me)
{
    const vec4 factor = floats_of(from[0]), addend = floats_of(from[1]);
    vec4 sums[SUMS], all = vec4(0.0);

    [[unroll]] for (uint i = 0u; i < SUMS; i++)
        sums[i] = floats_of(from[2u + i]);
    [[dont_unroll]] for (uint round = 0u; round < p.rounds; round++)
        [[unroll]] for (uint turn = 0u; turn < TURNS; turn++)
            [[unroll]] for (uint i = 0u; i < SUMS; i++)
                sums[i] = fma(sums[i], factor, addend);
    [[unroll]] for (uint i = 0u; i < SUMS; i++)
        all += sums[i];
    to[me] = floatBitsToUint(all);
}

void main()
{
    const uint me = gb_global();

    if (me >= p.threads)
        return;
    if (WORK == GB_VK_LIMIT_FILL)
        fill(me);
    else if (WORK == GB_VK_LIMIT_READ)
        read(me);
    else if (WORK == GB_VK_LIMIT_COPY)
        copy(me);
    else if (WORK == GB_VK_LIMIT_F32)
        multiply(me);
}
