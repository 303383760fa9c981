#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/mergeruns.comp - sorted runs of rows merged two by two.
//
// An invocation a key, 256 a work group: its place is its own in its run plus
// the number of smaller keys in the other one, found by binary search.  The
// latency of the cache is the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-sort.h"
#include "common/tensor.glsl"
#include "common/rows.glsl"
#include "common/sort.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, from, readonly);
GB_OPERAND(2, to, );

uvec2 key_at(uint i)
{
    const uint at = p.at[1] + 8u * i;

    return uvec2(gb_u32(from, at), gb_u32(from, at + 4u));
}

// How many of the N sorted keys from FIRST on are smaller than KEY.
uint count_smaller(uint first, uint n, uvec2 key)
{
    const uint begin = first;

    while (n > 0u) {
        const uint half_n = n / 2u;

        if (gb_is_less(key_at(first + half_n), key)) {
            first += half_n + 1u;
            n -= half_n + 1u;
        } else {
            n = half_n;
        }
    }
    return first - begin;
}

void main()
{
    uint row = gb_global();
    uint i, number, first, other, n_other, place;
    uvec2 key;

    if (row >= p.n_rows * p.n)
        return;
    i = gb_take(row, p.n);
    number = i / p.run;
    first = number * p.run;
    other = (number ^ 1u) * p.run;
    n_other = other < p.n ? min(p.n - other, p.run) : 0u;
    key = key_at(row * p.n + i);
    place = min(first, other) + (i - first) +
            count_smaller(row * p.n + other, n_other, key);
    gb_put_key(row, place, key);
}
