// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/tensor.glsl - operands as bytes of bindings, and the
// numbers of work groups.
//
// An operand is declared by GB_OPERAND(binding, name, access): an array of words,
// name_w.  Positions are in bytes; a value of fewer bytes than a word is cut out of
// it, so that no shader asks for 8- or 16-bit storage, which devices may lack.
// Values of two bytes are written through gb_put_u16, for which the word's other
// half may be another invocation's to write; with GB_STORAGE16 they are written by
// themselves, and operands that are have been declared by GB_OPERAND_OF_HALVES too.
//
// A shader includes this behind "#version 450", its params header and its
// extensions.

#ifndef GB_TENSOR_GLSL
#define GB_TENSOR_GLSL

#define GB_OPERAND(number, name, access)                          \
    layout(set = 0, binding = number, std430) access buffer name##_buffer \
    {                                                             \
        uint name##_w[];                                          \
    }

#ifdef GB_STORAGE16
#define GB_OPERAND_OF_HALVES(number, name)                                   \
    layout(set = 0, binding = number, std430) writeonly buffer name##_halves \
    {                                                                        \
        uint16_t name##_h[];                                                 \
    };
#else
#define GB_OPERAND_OF_HALVES(number, name)
#endif

// The number of this work group: grids are folded, since a dimension may have no
// more than 65,535, so the last ones may be behind the end of what there is to do.
uint gb_group()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

// The number of this invocation over all work groups.  A macro, since compilers take
// the size of work groups for 1 in what stands before the shader's layout.
#define gb_global() (gb_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x)

// Takes an index apart: the part along a dimension of N, and what is left.
uint gb_take(inout uint index, uint n)
{
    const uint rest = index / n;
    const uint part = index - rest * n;

    index = rest;
    return part;
}

// Where element INDEX of a tensor of NE lies, by its strides NB.
uint gb_offset(uint index, uint ne[4], uint nb[4])
{
    uint offset = gb_take(index, ne[0]) * nb[0];

    offset += gb_take(index, ne[1]) * nb[1];
    offset += gb_take(index, ne[2]) * nb[2];
    return offset + index * nb[3];
}

// Reads at byte AT of an operand; of two bytes at a multiple of two, of four at one
// of four.
#define gb_u32(name, at) (name##_w[(at) >> 2])
#define gb_i32(name, at) (int(name##_w[(at) >> 2]))
#define gb_f32(name, at) (uintBitsToFloat(name##_w[(at) >> 2]))
#define gb_u16(name, at) ((name##_w[(at) >> 2] >> (((at) & 2u) << 3)) & 0xffffu)
#define gb_u8(name, at) ((name##_w[(at) >> 2] >> (((at) & 3u) << 3)) & 0xffu)

// Writes.  Those of two bytes leave the word's other half as it is.
#define gb_put_u32(name, at, value) name##_w[(at) >> 2] = (value)
#define gb_put_f32(name, at, value) name##_w[(at) >> 2] = floatBitsToUint(value)
#ifdef GB_STORAGE16
#define gb_put_u16(name, at, value) name##_h[(at) >> 1] = uint16_t(value)
#else
#define gb_put_u16(name, at, value)                                           \
    do {                                                                      \
        atomicAnd(name##_w[(at) >> 2], 0xffff0000u >> (((at) & 2u) << 3));    \
        atomicOr(name##_w[(at) >> 2], ((value) & 0xffffu) << (((at) & 2u) << 3)); \
    } while (false)
#endif
#define gb_put_u8(name, at, value)                                            \
    do {                                                                      \
        atomicAnd(name##_w[(at) >> 2], ~(0xffu << (((at) & 3u) << 3)));       \
        atomicOr(name##_w[(at) >> 2], ((value) & 0xffu) << (((at) & 3u) << 3)); \
    } while (false)

// ---- floating-point types ----

float gb_half_to_float(uint bits)
{
    return unpackHalf2x16(bits & 0xffffu).x;
}

float gb_bf16_to_float(uint bits)
{
    return uintBitsToFloat(bits << 16);
}

// To the nearest, ties to even, by IEEE 754: packHalf2x16 may round otherwise.
uint gb_float_to_half(float value)
{
    const uint bits = floatBitsToUint(value);
    const uint sign = (bits >> 16) & 0x8000u;
    const uint magnitude = bits & 0x7fffffffu;
    uint half_bits;

    if (magnitude >= 0x47800000u) { // 65,536 and more, infinite, NaN
        half_bits = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    } else if (magnitude < 0x38800000u) { // below 2^-14: a multiple of 2^-24
        const uint shift = 126u - (magnitude >> 23);
        const uint mantissa = (magnitude & 0x7fffffu) | 0x800000u;

        if (shift > 24u) {
            half_bits = 0u;
        } else {
            const uint kept = mantissa >> shift;
            const uint lost = mantissa - (kept << shift);
            const uint tie = 1u << (shift - 1u);
            const bool up = lost > tie || (lost == tie && (kept & 1u) != 0u);

            half_bits = kept + uint(up);
        }
    } else {
        const uint rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);

        half_bits = (rounded >> 13) - 0x1c000u;
    }
    return sign | half_bits;
}

// To the nearest, ties to even; NaN stays NaN.
uint gb_float_to_bf16(float value)
{
    const uint bits = floatBitsToUint(value);

    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (bits >> 16) | 0x40u;
    return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}

// A value of TYPE (GB_VK_F32 …) at byte AT of an operand.
#define gb_load(name, type, at)                                        \
    ((type) == GB_VK_F32 ? gb_f32(name, at)                            \
     : (type) == GB_VK_F16 ? gb_half_to_float(gb_u16(name, at))        \
                           : gb_bf16_to_float(gb_u16(name, at)))

#define gb_store(name, type, at, value)                              \
    do {                                                             \
        if ((type) == GB_VK_F32)                                     \
            gb_put_f32(name, at, value);                             \
        else if ((type) == GB_VK_F16)                                \
            gb_put_u16(name, at, gb_float_to_half(value));           \
        else                                                         \
            gb_put_u16(name, at, gb_float_to_bf16(value));           \
    } while (false)

#endif
