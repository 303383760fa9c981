// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/sort.glsl - what elements are sorted by, and where they
// go.
//
// A key is an element's value, mapped to an integer of the same order (y),
// above its index (x): keys are all different, and equal elements keep their
// order.
#ifndef GB_SORT_GLSL
#define GB_SORT_GLSL

// NaN are last whatever the order; 0 and -0 are the same.
uvec2 gb_sort_key(float value, uint index, bool is_descending)
{
    const uint magnitude = floatBitsToUint(value) & 0x7fffffffu;
    const uint bits = magnitude == 0u ? 0u : floatBitsToUint(value);
    uint order = (bits >> 31) != 0u ? ~bits : bits | 0x80000000u;

    order = is_descending ? ~order : order;
    order = magnitude > 0x7f800000u ? 0xffffffffu : order;
    return uvec2(index, order);
}

bool gb_is_less(uvec2 a, uvec2 b)
{
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// Puts a key at place I of a row: its index, if that is the end of it.
#define gb_put_key(row, i, key)                                             \
    do {                                                                    \
        if (p.is_last != 0u) {                                              \
            const uvec3 at_row = gb_row_of(p.first_row + (row), p.ne);      \
                                                                            \
            gb_put_u32(dst, p.at[0] + gb_row_offset(at_row, p.dst_nb) +     \
                                4u * (i), (key).x);                         \
        } else {                                                            \
            const uint at_key = p.at[2] + 8u * ((row) * p.n + (i));         \
                                                                            \
            gb_put_u32(to, at_key, (key).x);                                \
            gb_put_u32(to, at_key + 4u, (key).y);                           \
        }                                                                   \
    } while (false)

#endif
