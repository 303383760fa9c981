#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/sortruns.comp - runs of rows sorted, all of a row where it is
// short.
//
// A work group of 256 sorts a run of up to GB_RUN keys in shared memory by a
// bitonic network; shared memory is the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-sort.h"
#include "common/tensor.glsl"
#include "common/rows.glsl"
#include "common/sort.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, to, );

shared uvec2 keys[GB_RUN];

// Sort N keys, a power of two: each step compares keys that are DISTANCE apart,
// in blocks of SIZE that are ascending and descending in turn.
void sort(uint n)
{
    for (uint size = 2u; size <= n; size *= 2u)
        for (uint distance = size / 2u; distance > 0u; distance /= 2u) {
            for (uint i = gl_LocalInvocationID.x; i < n / 2u; i += 256u) {
                const uint low = 2u * i - (i & (distance - 1u));
                const uint high = low + distance;
                const uvec2 a = keys[low];
                const uvec2 b = keys[high];

                if (gb_is_less(b, a) == ((low & size) == 0u)) {
                    keys[low] = b;
                    keys[high] = a;
                }
            }
            barrier();
        }
}

// N places of a run have keys, those up to a power of two the largest number.
void main()
{
    uint number = gb_group();
    const uint first = gb_take(number, p.n_runs) * p.run;
    const uvec3 row = gb_row_of(p.first_row + number, p.ne);
    const uint from = p.at[1] + row.x * p.src_nb[1] + row.y * p.src_nb[2] +
                      row.z * p.src_nb[3];
    const uint n = min(p.n - first, p.run);
    uint padded = 1u;

    if (number >= p.n_rows)
        return;
    while (padded < n)
        padded *= 2u;
    for (uint i = gl_LocalInvocationID.x; i < padded; i += 256u) {
        uvec2 key = uvec2(0xffffffffu);

        if (i < n) {
            const uint at = from + (first + i) * p.src_nb[0];

            key = gb_sort_key(gb_load(src, p.src_type, at), first + i,
                              p.is_descending != 0u);
        }
        keys[i] = key;
    }
    barrier();
    sort(padded);
    for (uint i = gl_LocalInvocationID.x; i < n; i += 256u)
        gb_put_key(number, first + i, keys[i]);
}
