#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/linear.comp - linear attention: RWKV_WKV6 and
// GATED_LINEAR_ATTN.
//
// With the state M of a head, decays d and, where there is one, the bonus f of
// the present token:
//
//     bonus   out[j] = sum over i of r[i] (f[i] k[i] v[j] + M[i][j]), then
//             M[i][j] = d[i] M[i][j] + k[i] v[j]
//     none    M[i][j] = d[i] M[i][j] + k[i] v[j], then
//             out[j] = scale * sum over i of r[i] M[i][j]
//
// An invocation a column of a head's state, 64 a work group.  A head of 64
// elements is a work group, whose states stay in registers and whose rows are
// shared; states of others stay in the place of the result.  The limit is the
// latency of a token's step, since tokens come one after another.
//
// Sources: "Eagle and Finch" (arXiv 2404.05892), section 4; "Gated Linear
// Attention" (arXiv 2312.06635), section 4.
//
// GB_BONUS is 1 with a bonus, GB_OF_64 for heads of 64 elements.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-linear.h"
#include "common/tensor.glsl"

layout(local_size_x = 64) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, k_row, readonly);
GB_OPERAND(2, v_row, readonly);
GB_OPERAND(3, r_row, readonly);
GB_OPERAND(4, decay_row, readonly);
GB_OPERAND(5, bonus_row, readonly);
GB_OPERAND(6, first, readonly);

struct linear_row {
    float k, r, decay, bonus;
};

// Row I of a head whose elements of this token begin at number AT.
linear_row row_of(uint at, uint head, uint i)
{
    linear_row row;

    row.k = gb_f32(k_row, p.at[1] + 4u * (at + i));
    row.r = gb_f32(r_row, p.at[3] + 4u * (at + i));
    row.decay = gb_f32(decay_row, p.at[4] + 4u * (at + i));
    row.bonus = GB_BONUS != 0
                    ? gb_f32(bonus_row, p.at[5] + 4u * (head * p.z + i))
                    : 0.0;
    return row;
}

// One row of the state: that of a column changes, the result is what it adds to
// out[j].
float step(linear_row row, float v, inout float state)
{
    const float kv = row.k * v;
    const float before = state;

    state = before * row.decay + kv;
    return GB_BONUS != 0 ? row.r * (row.bonus * kv + before) : row.r * state;
}

// Where column J of head NUMBER begins, in the first states and in the last
// ones.
uint state_of(uint number, uint j)
{
    return 4u * (number * p.z * p.z + j);
}

void put(uint at, float sum)
{
    gb_put_f32(dst, p.at[0] + 4u * at, GB_BONUS != 0 ? sum : sum * p.scale);
}

#if GB_OF_64

shared linear_row rows[64];

void main()
{
    const uint number = gb_group();
    const uint seq = number / p.n_heads;
    const uint head = number - seq * p.n_heads;
    const uint j = gl_LocalInvocationID.x;
    const uint at_state = state_of(number, j);
    const uint states =
        p.at[0] + 4u * p.n_seqs * p.n_tokens * p.n_heads * 64u;
    float state[64];

    if (seq >= p.n_seqs)
        return;
    [[unroll]] for (uint i = 0u; i < 64u; i++)
        state[i] = gb_f32(first, p.at[6] + at_state + 256u * i);
    for (uint t = seq * p.n_tokens; t < (seq + 1u) * p.n_tokens; t++) {
        const uint at = (t * p.n_heads + head) * 64u;
        const float v = gb_f32(v_row, p.at[2] + 4u * (at + j));
        float sum = 0.0;

        barrier();
        rows[j] = row_of(at, head, j);
        barrier();
        [[unroll]] for (uint i = 0u; i < 64u; i++)
            sum += step(rows[i], v, state[i]);
        put(at + j, sum);
    }
    [[unroll]] for (uint i = 0u; i < 64u; i++)
        gb_put_f32(dst, states + at_state + 256u * i, state[i]);
}

#else

void main()
{
    uint number = gb_global();
    const uint j = gb_take(number, p.z);
    const uint seq = number / p.n_heads;
    const uint head = number - seq * p.n_heads;
    const uint at_state = state_of(number, j);
    const uint states =
        p.at[0] + 4u * p.n_seqs * p.n_tokens * p.n_heads * p.z;

    if (seq >= p.n_seqs)
        return;
    for (uint i = 0u; i < p.z; i++)
        gb_put_f32(dst, states + at_state + 4u * p.z * i,
                   gb_f32(first, p.at[6] + at_state + 4u * p.z * i));
    for (uint t = seq * p.n_tokens; t < (seq + 1u) * p.n_tokens; t++) {
        const uint at = (t * p.n_heads + head) * p.z;
        const float v = gb_f32(v_row, p.at[2] + 4u * (at + j));
        float sum = 0.0;

        for (uint i = 0u; i < p.z; i++) {
            const uint place = states + at_state + 4u * p.z * i;
            float state = gb_f32(dst, place);

            sum += step(row_of(at, head, i), v, state);
            gb_put_f32(dst, place, state);
        }
        put(at + j, sum);
    }
}

#endif
