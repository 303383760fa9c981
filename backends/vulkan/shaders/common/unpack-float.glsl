// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/unpack-float.glsl - types without blocks; see
// unpack.glsl.

#if defined GB_TYPE_F32

float gb_unpack1(uint at)
{
    return gb_f32(weights, at);
}

void gb_unpack8(uint at, uint part, out float v[8])
{
    const uint first = (at >> 2) + 8u * part;

    for (uint i = 0u; i < 8u; i++)
        v[i] = uintBitsToFloat(weights_w[first + i]);
}

#else

float gb_unpack1(uint at)
{
#if defined GB_TYPE_F16
    return gb_half_to_float(gb_u16(weights, at));
#else
    return gb_bf16_to_float(gb_u16(weights, at));
#endif
}

// The two values of a word.
vec2 gb_two(uint word)
{
#if defined GB_TYPE_F16
    return unpackHalf2x16(word);
#else
    return uintBitsToFloat(uvec2(word << 16, word & 0xffff0000u));
#endif
}

// The last of the five words is read only by blocks that begin amid a word.
void gb_unpack8(uint at, uint part, out float v[8])
{
    const uint from = at + 16u * part;
    const uint first = from >> 2;
    const bool is_amid = (from & 2u) != 0u;
    uint words[5];

    for (uint i = 0u; i < 4u; i++)
        words[i] = weights_w[first + i];
    words[4] = weights_w[(from + 14u) >> 2];
    for (uint i = 0u; i < 4u; i++) {
        const vec2 two = gb_two(
            is_amid ? words[i] >> 16 | words[i + 1u] << 16 : words[i]);

        v[2u * i] = two.x;
        v[2u * i + 1u] = two.y;
    }
}

#endif
