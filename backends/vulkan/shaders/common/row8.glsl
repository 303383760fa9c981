// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/row8.glsl - eight values of a row as floats.
//
// GB_FLOATS8 makes a reader of an operand of a floating-point type, known by
// its number; GB_ROW8 one of the operand weights, whose type the pipeline
// defines.  A shader includes format.glsl before, and unpack.glsl for types in
// blocks.
#ifndef GB_ROW8_GLSL
#define GB_ROW8_GLSL

// Two floats of TYPE, which has two bytes, out of a word.
vec2 gb_two_of(uint type, uint word)
{
    return type == GB_VK_F16 ? unpackHalf2x16(word)
                             : vec2(uintBitsToFloat(word << 16),
                                    uintBitsToFloat(word & 0xffff0000u));
}

// FUNCTION(type, row, i, end, v): values I … I + 7 of the row at byte ROW, of
// which those from END on are 0 and not read.  I is a multiple of 8; rows of
// types of two bytes begin at any multiple of two.
#define GB_FLOATS8(function, name)                                             \
    void function(uint type, uint row, uint i, uint end, out float v[8])       \
    {                                                                          \
        const uint size = type == GB_VK_F32 ? 4u : 2u;                         \
        const uint at = row + i * size;                                        \
                                                                               \
        if (i + 8u > end) {                                                    \
            [[unroll]] for (uint j = 0u; j < 8u; j++) {                        \
                v[j] = 0.0;                                                    \
                if (i + j < end)                                               \
                    v[j] = gb_load(name, type, at + size * j);                 \
            }                                                                  \
        } else if (type == GB_VK_F32) {                                        \
            [[unroll]] for (uint j = 0u; j < 8u; j++)                          \
                v[j] = gb_f32(name, at + 4u * j);                              \
        } else if ((at & 2u) == 0u) {                                          \
            [[unroll]] for (uint j = 0u; j < 4u; j++) {                        \
                const vec2 two = gb_two_of(type, gb_u32(name, at + 4u * j));      \
                                                                               \
                v[2u * j] = two.x;                                             \
                v[2u * j + 1u] = two.y;                                        \
            }                                                                  \
        } else {                                                               \
            [[unroll]] for (uint j = 0u; j < 8u; j++)                          \
                v[j] = gb_load(name, type, at + 2u * j);                       \
        }                                                                      \
    }

// gb_row8(row, i, end, v): the same of weights.  Rows in blocks have whole
// ones.
#if defined GB_IS_FLOAT
#if defined GB_TYPE_F32
#define GB_WEIGHTS_FLOAT GB_VK_F32
#elif defined GB_TYPE_F16
#define GB_WEIGHTS_FLOAT GB_VK_F16
#else
#define GB_WEIGHTS_FLOAT GB_VK_BF16
#endif
#define GB_ROW8                                              \
    GB_FLOATS8(gb_weights8, weights)                         \
    void gb_row8(uint row, uint i, uint end, out float v[8]) \
    {                                                        \
        gb_weights8(GB_WEIGHTS_FLOAT, row, i, end, v);       \
    }
#else
#define GB_ROW8                                                             \
    void gb_row8(uint row, uint i, uint end, out float v[8])                \
    {                                                                       \
        gb_unpack8(row + i / GB_BLOCK * GB_BLOCK_BYTES, i % GB_BLOCK / 8u, v); \
    }
#endif

#endif
