#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/argmax.comp - the place of a row's largest element.
//
// A work group of 256 a row, each element of which is read once; memory is the
// limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-argmax.h"
#include "common/tensor.glsl"
#include "common/math.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);

struct place {
    float value;
    uint index;
};

shared float values[256];
shared uint indices[256];

// The larger one, of equal ones the later; a NaN is never larger.
place later_largest(place a, place b)
{
    const bool is_b = !gb_is_nan(b.value) &&
                      (b.value > a.value ||
                       (b.value == a.value && b.index > a.index));

    return is_b ? b : a;
}

// The largest of every STEP-th of the N first.
place largest_of(uint first, uint step, uint n)
{
    place largest = place(values[first], indices[first]);

    for (uint i = first + step; i < n; i += step)
        largest = later_largest(largest, place(values[i], indices[i]));
    return largest;
}

void main()
{
    const uint row = gb_group();
    const uint rank = gl_LocalInvocationID.x;
    place largest = place(-GB_INFINITY, 0u);

    if (row >= p.n_rows)
        return;
    for (uint i = rank; i < p.n; i += 256u) {
        const uint from = p.at[1] + row * p.src_nb[1] + i * p.src_nb[0];

        largest = later_largest(
            largest, place(gb_load(src, p.src_type, from), i));
    }
    values[rank] = largest.value;
    indices[rank] = largest.index;
    barrier();
    if (rank < 16u) {
        largest = largest_of(rank, 16u, 256u);
        values[rank] = largest.value;
        indices[rank] = largest.index;
    }
    barrier();
    if (rank == 0u)
        gb_put_u32(dst, p.at[0] + row * p.dst_nb,
                   largest_of(0u, 1u, 16u).index);
}
