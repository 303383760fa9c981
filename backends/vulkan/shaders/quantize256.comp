#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/quantize256.comp - floats into blocks of 256 values, of the
// type that -D names, with the bits that lib/type/ makes.
//
// 64 invocations a work group, of which a team of 8 or 16 makes a block, each
// with the 32 or 16 values of a sub-block, in three steps with a barrier
// between them (common/pack-*.glsl):
//
//   pack_search(b, x)   what sub-block B alone says
//   pack_code(b, x)     the block's scales, codes against them
//   block_byte(j)       byte J of the block, from what the whole team found
//
// Limited by the search for scales.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-quantize.h"
#include "common/tensor.glsl"

#if defined GB_TYPE_Q2_K || defined GB_TYPE_Q3_K || defined GB_TYPE_Q6_K
#define GB_SUB 16
#else
#define GB_SUB 32
#endif
#define SUBS (256 / GB_SUB)
#define TEAMS (64 / SUBS)

layout(local_size_x = 64) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);

// What the invocations of a team tell each other.
struct packing {
    float scales[SUBS], mins[SUBS]; // that the searches found
    float d, dmin;
    uint scale_codes[SUBS], min_codes[SUBS];
    uint codes[256];
};

shared packing packings[TEAMS];

#define TEAM packings[gl_LocalInvocationID.x / SUBS]

#include "common/pack.glsl"
#if defined GB_TYPE_Q2_K || defined GB_TYPE_Q4_K || defined GB_TYPE_Q5_K
#include "common/pack-asym.glsl"
#elif defined GB_TYPE_Q3_K || defined GB_TYPE_Q6_K
#include "common/pack-sym.glsl"
#elif defined GB_TYPE_IQ4_XS
#include "common/pack-iq4xs.glsl"
#else
#include "common/pack-largest.glsl"
#endif

void load_values(uint block, uint b, out float x[GB_SUB])
{
    const uint size = p.src_type == GB_VK_F32 ? 4u : 2u;
    const uint first = block * 256u + b * GB_SUB;
    const uint from = p.at[1] + gb_offset(first, p.src_ne, p.src_nb);

    for (uint i = 0u; i < GB_SUB; i++)
        x[i] = gb_load(src, p.src_type, from + size * i);
}

// Bytes J … J + 3 of the block, the first lowest; 0 for those before and behind
// it, which are another block's.
uint block_word(int j)
{
    uint word = 0u;

    for (int k = 0; k < 4; k++)
        if (j + k >= 0 && j + k < BLOCK_BYTES)
            word |= block_byte(uint(j + k)) << 8 * k;
    return word;
}

// The team's words of the block that begins at byte TO, a multiple of 2.
void store_block(uint to, uint b)
{
    const uint first = to & ~3u;

    for (uint at = first + 4u * b; at < to + BLOCK_BYTES; at += 4u * SUBS) {
        const int j = int(at - first) - int(to & 2u);
        const uint word = block_word(j);

        if (j < 0)
            gb_put_u16(dst, at + 2u, word >> 16);
        else if (j + 2 < BLOCK_BYTES)
            gb_put_u32(dst, at, word);
        else
            gb_put_u16(dst, at, word);
    }
}

// All invocations come to the barriers, those without a block too.
void main()
{
    const uint block = gb_global() / SUBS;
    const uint b = gl_LocalInvocationID.x % SUBS;
    const bool has_block = block < p.n;
    float x[GB_SUB];

    if (has_block) {
        load_values(block, b, x);
        pack_search(b, x);
    }
    barrier();
    if (has_block)
        pack_code(b, x);
    barrier();
    if (has_block)
        store_block(p.at[0] + gb_offset(block, p.dst_ne, p.dst_nb), b);
}
