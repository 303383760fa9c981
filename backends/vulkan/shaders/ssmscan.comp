#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/ssmscan.comp - scans of state spaces.
//
// Sixteen lanes a channel, 256 invocations a work group; each lane has every
// sixteenth number of the state, in a register where there are no more, or else
// in the place of the result.  The limit is the latency of a token's step,
// since tokens come one after another.
//
// Source: "Mamba" (arXiv 2312.00752), algorithm 2.
//
// GB_IN_MEMORY is 1 for states of more than sixteen numbers.
#define GB_GLSL
#define GB_TEAM GB_VK_SCAN_LANES
#extension GL_GOOGLE_include_directive : require
#include "params-ssmscan.h"
#include "common/tensor.glsl"
#include "common/math.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, first, readonly);
GB_OPERAND(2, x_row, readonly);
GB_OPERAND(3, dt_row, readonly);
GB_OPERAND(4, a_row, readonly);
GB_OPERAND(5, b_row, readonly);
GB_OPERAND(6, c_row, readonly);

// ln(1 + e^x), which is x itself above 20.
float softplus(float x)
{
    return x <= 20.0 ? gb_log1p(gb_exp(x)) : x;
}

// What a token does to a channel's state: with the step softplus(dt), h = h
// e^(step A) + B x step, and y = the sum of h C.  Where rows of A, B, C begin.
struct token_step {
    float step, x_step;
    uint a, b, c;
};

token_step step_of(uint channel, uint token, uint seq)
{
    const float dt =
        gb_f32(dt_row, p.at[3] + 4u * channel + token * p.dt_nb[0] +
                           seq * p.dt_nb[1]);
    const float x =
        gb_f32(x_row, p.at[2] + 4u * channel + token * p.x_nb[0] +
                          seq * p.x_nb[1]);
    token_step s;

    s.step = softplus(dt);
    s.x_step = x * s.step;
    s.a = p.at[4] + channel * p.a_nb;
    s.b = p.at[5] + token * p.b_nb[0] + seq * p.b_nb[1];
    s.c = p.at[6] + token * p.c_nb[0] + seq * p.c_nb[1];
    return s;
}

// Number N of the state H after it.
float next_state(token_step s, uint n, float h)
{
    return h * gb_exp(s.step * gb_f32(a_row, s.a + 4u * n)) +
           gb_f32(b_row, s.b + 4u * n) * s.x_step;
}

float first_state(uint n, uint channel, uint seq)
{
    return gb_f32(first, p.at[1] + 4u * n + channel * p.first_nb[0] +
                             seq * p.first_nb[1]);
}

// All lanes come to the sums; those that have no channel or no number have 0.
void main()
{
    const uint number = gb_team_row();
    const bool is_channel = number < p.n_channels * p.n_seqs;
    const uint seq = number / p.n_channels;
    const uint channel = number - seq * p.n_channels;
    const uint n_state = is_channel ? p.n_state : 0u;
    const uint y = p.at[0] +
                   4u * (seq * p.n_tokens * p.n_channels + channel);
    const uint states =
        p.at[0] + 4u * (p.n_seqs * p.n_tokens * p.n_channels +
                        number * p.n_state);
    float h = 0.0;

    for (uint n = gb_rank(); n < n_state; n += GB_TEAM) {
        h = first_state(n, channel, seq);
        if (GB_IN_MEMORY != 0)
            gb_put_f32(dst, states + 4u * n, h);
    }
    for (uint token = 0u; token < p.n_tokens; token++) {
        float sum = 0.0;

        if (gb_rank() < n_state) {
            const token_step s = step_of(channel, token, seq);

            for (uint n = gb_rank(); n < n_state; n += GB_TEAM) {
                if (GB_IN_MEMORY != 0)
                    h = gb_f32(dst, states + 4u * n);
                h = next_state(s, n, h);
                if (GB_IN_MEMORY != 0)
                    gb_put_f32(dst, states + 4u * n, h);
                sum += h * gb_f32(c_row, s.c + 4u * n);
            }
        }
        sum = gb_team_sum(sum);
        if (is_channel && gb_rank() == 0u)
            gb_put_f32(dst, y + 4u * token * p.n_channels, sum);
    }
    if (GB_IN_MEMORY == 0 && gb_rank() < n_state)
        gb_put_f32(dst, states + 4u * gb_rank(), h);
}
