#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/columns.comp - columns of a product as blocks of 32 codes of a byte
// with a scale, for gemmdot.comp.
//
// Eight invocations make a block, four values each.  Scales are F32, so values that
// F16 does not have survive.  In a block with infinite values these have the codes 1
// and -1, others 0, and the scale is infinite; in one with a NaN it is NaN: so are
// sums then.  Values below 2^-119, whose scale would have no inverse, become 0.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-columns.h"
#include "common/tensor.glsl"

#define THREADS 256
#define LANES   8 // of a block

#define LEAST    0x04000000u // 2^-119
#define INFINITE 0x7f800000u

layout(local_size_x = THREADS) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, columns, readonly);

// The largest magnitude of each invocation's values, as bits: NaN is above infinity.
shared uint most[THREADS];

// Byte of codes for a value, by what a block's scale is the inverse of.
uint code_of(float value, float by, uint largest)
{
    if (largest < LEAST || largest > INFINITE)
        return 0u;
    if (largest == INFINITE) {
        const uint bits = floatBitsToUint(value);

        return (bits & INFINITE) != INFINITE ? 0u
               : bits >> 31 != 0u            ? 255u : 1u;
    }
    return uint(int(clamp(roundEven(value * by), -127.0, 127.0))) & 255u;
}

float scale_of(uint largest)
{
    if (largest < LEAST)
        return 0.0;
    return largest >= INFINITE ? uintBitsToFloat(largest)
                               : uintBitsToFloat(largest) / 127.0;
}

void main()
{
    const uint thread = gl_LocalInvocationID.x;
    const uint index = gb_group() * (THREADS / LANES) + thread / LANES;
    const uint lane = thread % LANES;
    const bool is_there = index < p.n;
    uint rest = is_there ? index : 0u, largest = 0u, codes = 0u;
    const uint block = gb_take(rest, p.blocks);
    const uint to = p.at[0] + rest * p.stride;
    const uint size = p.column_type == GB_VK_F32 ? 4u : 2u;
    uint from = p.at[1] + (block * GB_VK_DOT_BLOCK + lane * 4u) * size;
    float v[4], by;

    from += gb_take(rest, p.ne[0]) * p.nb[0];
    from += gb_take(rest, p.ne[1]) * p.nb[1];
    from += rest * p.nb[2];
    [[unroll]] for (uint j = 0u; j < 4u; j++) {
        v[j] = gb_load(columns, p.column_type, from + j * size);
        largest = max(largest, floatBitsToUint(v[j]) & 0x7fffffffu);
    }
    most[thread] = largest;
    barrier();
    [[unroll]] for (uint j = 0u; j < LANES; j++)
        largest = max(largest, most[thread - lane + j]);
    if (!is_there)
        return;
    by = 127.0 / uintBitsToFloat(clamp(largest, LEAST, INFINITE - 1u));
    [[unroll]] for (uint j = 0u; j < 4u; j++)
        codes |= code_of(v[j], by, largest) << 8u * j;
    gb_put_u32(dst, to + block * GB_VK_DOT_BLOCK + lane * 4u, codes);
    if (lane == 0u)
        gb_put_f32(dst, to + p.blocks * GB_VK_DOT_BLOCK + block * 4u,
                   scale_of(largest));
}
