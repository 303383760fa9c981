#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/crossentropy.comp - cross entropy of rows, or its gradient.
//
// A team a row: 32 invocations of 256 up to 512 classes, all of them for longer
// rows.  Memory is the limit.
//
// GB_BACK is 1 for the gradient, which has a fourth operand.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-loss.h"
#include "common/tensor.glsl"
#include "common/math.glsl"
#include "common/rows.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, logits, readonly);
GB_OPERAND(2, labels, readonly);
GB_OPERAND(3, gradient, readonly);

float row_max(uint x, uint n)
{
    float largest = -GB_INFINITY;

    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        largest = max(largest, gb_f32(logits, x + 4u * i));
    return gb_team_max(largest);
}

// With l the labels and m the largest logit, the sum of l log(softmax(x)) is
//     sum(l (x - m)) - sum(l) log(sum(exp(x - m)))
// A label of 0 adds nothing, even if its logit is -infinity.
float share_of(uint x, uint l, uint n)
{
    const float largest = row_max(x, n);
    float sum = 0.0;
    float weights = 0.0;
    float weighted = 0.0;

    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float label = gb_f32(labels, l + 4u * i);
        const float distance = gb_f32(logits, x + 4u * i) - largest;

        sum += gb_exp(distance);
        weights += label;
        weighted += label == 0.0 ? 0.0 : label * distance;
    }
    sum = gb_team_sum(sum);
    weights = gb_team_sum(weights);
    weighted = gb_team_sum(weighted);
    return weighted - weights * gb_log(sum);
}

// dst = (softmax(logits) - labels) * gradient / rows.
void put_gradient(uint to, uint x, uint l, uint n)
{
    const float factor = gb_f32(gradient, p.at[3]) / float(p.n_rows);
    const float largest = row_max(x, n);
    float sum = 0.0;
    float share;

    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        sum += gb_exp(gb_f32(logits, x + 4u * i) - largest);
    share = 1.0 / gb_team_sum(sum);
    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float value = gb_exp(gb_f32(logits, x + 4u * i) - largest);

        gb_put_f32(dst, to + 4u * i,
                   (value * share - gb_f32(labels, l + 4u * i)) * factor);
    }
}

void main()
{
    const uint number = gb_team_row();
    const uint n = number < p.n_rows ? p.n : 0u;
    const uvec3 row = gb_row_of(number, p.ne);
    const uint x = p.at[1] + gb_row_offset(row, p.logits_nb);
    const uint l = p.at[2] + gb_row_offset(row, p.labels_nb);

    if (GB_BACK != 0) {
        put_gradient(p.at[0] + gb_row_offset(row, p.dst_nb), x, l, n);
    } else {
        const float share = share_of(x, l, n);

        if (gb_rank() == 0u && number < p.n_rows)
            gb_put_f32(dst, p.at[0] + 4u * number, share);
    }
}
