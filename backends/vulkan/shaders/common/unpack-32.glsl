// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/unpack-32.glsl - blocks of 32 values; see unpack.glsl.
//
// Value e of nibbles is in byte e % 16, the low one for e < 16.

#if defined GB_TYPE_Q4_0
#define GB_AT_NIBBLES 2u
#define GB_MIDDLE 8.0
#elif defined GB_TYPE_Q4_1
#define GB_AT_NIBBLES 4u
#elif defined GB_TYPE_Q5_0
#define GB_AT_FIFTH 2u
#define GB_AT_NIBBLES 6u
#define GB_MIDDLE 16.0
#elif defined GB_TYPE_Q5_1
#define GB_AT_FIFTH 4u
#define GB_AT_NIBBLES 8u
#else
#define GB_CODES_ARE_SIGNED
#endif

uvec2 gb_codes8(uint at, uint part)
{
#ifdef GB_TYPE_Q8_0
    return gb_words2(at + 2u + 8u * part);
#else
    const uvec2 words = gb_words2(at + GB_AT_NIBBLES + 8u * (part & 1u));
    const uvec2 low = gb_nibbles8(words, part >> 1 << 2);
#ifdef GB_AT_FIFTH
    return low | gb_spread8(gb_word(at + GB_AT_FIFTH) >> 8u * part) << 4;
#else
    return low;
#endif
#endif
}

float gb_scale8(uint at, uint part)
{
    return gb_half(at);
}

float gb_min8(uint at, uint part)
{
#if defined GB_TYPE_Q8_0
    return 0.0;
#elif defined GB_MIDDLE
    return GB_MIDDLE * gb_half(at);
#else
    return -gb_half(at + 2u);
#endif
}
