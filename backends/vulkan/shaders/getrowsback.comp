#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/getrowsback.comp - the gradient of rows picked by their
// numbers.
//
// An invocation a value of dst, 256 a work group, which goes through all
// numbers, so that sums have the order of the numbers; their reading, equal for
// all invocations of a row, is the limit.  A number that is no row's adds
// nothing.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-getrowsback.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, ids, readonly);

void main()
{
    uint row = gb_global();
    float sum = 0.0;
    uint i0;

    if (row >= p.n)
        return;
    i0 = gb_take(row, p.ne0);
    for (uint i = 0u; i < p.n_ids; i++) {
        const uint from = p.at[1] + i0 * p.src_nb[0] + i * p.src_nb[1];

        if (gb_i32(ids, p.at[2] + i * p.ids_nb) == int(row))
            sum += gb_load(src, p.src_type, from);
    }
    gb_put_f32(dst, p.at[0] + i0 * p.dst_nb[0] + row * p.dst_nb[1], sum);
}
