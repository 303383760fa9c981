// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/wide8.glsl - eight values of a column of F32, or of weights of
// floats, that begin at a multiple of 16 bytes.
//
// Bindings 1 and 2 are shown once more, as vectors.
#ifndef GB_WIDE8_GLSL
#define GB_WIDE8_GLSL

layout(set = 0, binding = 2, std430) readonly buffer columns_vectors
{
    vec4 columns_v[];
};

// Values I … I + 7 of the column at byte COLUMN.
void gb_wide_column8(uint column, uint i, out float x[8])
{
    const uint at = (column >> 4) + (i >> 2);
    const vec4 first = columns_v[at], second = columns_v[at + 1u];

    [[unroll]] for (uint j = 0u; j < 4u; j++) {
        x[j] = first[j];
        x[4u + j] = second[j];
    }
}

#ifdef GB_IS_FLOAT

layout(set = 0, binding = 1, std430) readonly buffer weights_vectors
{
    uvec4 weights_v[];
};

// The same of the row of weights at byte ROW.
void gb_wide_weights8(uint row, uint i, out float w[8])
{
#ifdef GB_TYPE_F32
    const uvec4 first = weights_v[(row >> 4) + (i >> 2)];
    const uvec4 second = weights_v[(row >> 4) + (i >> 2) + 1u];

    [[unroll]] for (uint j = 0u; j < 4u; j++) {
        w[j] = uintBitsToFloat(first[j]);
        w[4u + j] = uintBitsToFloat(second[j]);
    }
#else
    const uvec4 words = weights_v[(row >> 4) + (i >> 3)];

    [[unroll]] for (uint j = 0u; j < 4u; j++) {
#ifdef GB_TYPE_F16
        const vec2 two = unpackHalf2x16(words[j]);
#else
        const vec2 two = uintBitsToFloat(
            uvec2(words[j] << 16, words[j] & 0xffff0000u));
#endif

        w[2u * j] = two.x;
        w[2u * j + 1u] = two.y;
    }
#endif
}

#endif

// A tile's eight values of a row, and of a column of any floating-point type, where
// p.lanes says whether reads may be wide.
#define GB_TILE8                                                             \
    void gb_tile_column8(uint column, uint i, out float x[8])                \
    {                                                                        \
        if (p.lanes != 0u)                                                   \
            gb_wide_column8(column, i, x);                                   \
        else                                                                 \
            columns8(p.column_type, column, i, p.k, x);                      \
    }                                                                        \
    GB_TILE_WEIGHTS8
#ifdef GB_IS_FLOAT
#define GB_TILE_WEIGHTS8                                                     \
    void gb_tile_weights8(uint row, uint i, out float w[8])                  \
    {                                                                        \
        if (p.lanes != 0u)                                                   \
            gb_wide_weights8(row, i, w);                                     \
        else                                                                 \
            gb_row8(row, i, p.k, w);                                         \
    }
#else
#define GB_TILE_WEIGHTS8                                                     \
    void gb_tile_weights8(uint row, uint i, out float w[8])                  \
    {                                                                        \
        gb_row8(row, i, p.k, w);                                             \
    }
#endif

#endif
