#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/slices.comp - a product element by element, and the sum of slices
// of it: of a mixture of experts, what they made by their weights.
//
// An invocation an element of the sum, 256 a work group; memory is the limit.  Each
// step is rounded as the operation by itself rounds it.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-slices.h"
#include "common/tensor.glsl"
#include "common/exact.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, weights, readonly);
GB_OPERAND(3, product, writeonly);
GB_OPERAND(4, sum1, writeonly);
GB_OPERAND(5, sum2, writeonly);
GB_OPERAND(6, sum3, writeonly);
GB_OPERAND(7, sum4, writeonly);

// Element I of slice S of row R.
float element(uint i, uint s, uint r)
{
    const uint from = p.at[1] + i * p.src_nb[0] + s * p.src_nb[1] +
                      r * p.src_nb[2];
    const uint with = p.at[2] + i * p.weights_nb[0] + s * p.weights_nb[1] +
                      r * p.weights_nb[2];

    return gb_mul(gb_f32(src, from), gb_f32(weights, with));
}

uint slice(uint number)
{
    return p.slices[number / 4u] >> 8u * (number & 3u) & 0xffu;
}

void put_inner(uint number, uint to, float sum)
{
    if ((p.written >> number & 1u) == 0u)
        return;
    switch (number) {
    case 1u:
        gb_put_f32(sum1, p.at[4] + to, sum);
        break;
    case 2u:
        gb_put_f32(sum2, p.at[5] + to, sum);
        break;
    case 3u:
        gb_put_f32(sum3, p.at[6] + to, sum);
        break;
    case 4u:
        gb_put_f32(sum4, p.at[7] + to, sum);
        break;
    }
}

void main()
{
    const uint i = gb_global();
    uint r = i;
    uint i0;
    float sum;

    if (i >= p.n)
        return;
    i0 = gb_take(r, p.ne[0]);
    sum = element(i0, slice(0u), r);
    for (uint number = 1u; number < p.n_slices; number++) {
        sum = gb_add(sum, element(i0, slice(number), r));
        if (number + 1u < p.n_slices)
            put_inner(number, 4u * i, sum);
    }
    if ((p.written & 1u) != 0u) {
        const uint to = p.at[3] + 4u * (r * p.ne[1] * p.ne[0] + i0);

        for (uint s = 0u; s < p.ne[1]; s++)
            gb_put_f32(product, to + 4u * s * p.ne[0], element(i0, s, r));
    }
    gb_put_f32(dst, p.at[0] + 4u * i, sum);
}
