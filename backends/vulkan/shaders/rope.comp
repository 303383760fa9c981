#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/rope.comp - rotary position embedding and its gradient.
//
// An invocation a pair of elements of a token, for some heads one after
// another, all of which have the same angle; 256 a work group.  Memory is the
// limit, for few tokens the latency of the angle.
//
// Angles are sums of two floats, and brought below half a turn before they
// become one: at position 100,000 a float's would be off by some thousandths.
//
// Sources: "RoFormer" (arXiv 2104.09864), section 3.2; blending of frequencies:
// "YaRN" (arXiv 2309.00071), section 3.
//
// GB_STORAGE16  may values of two bytes be written by themselves?
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#ifdef GB_STORAGE16
#extension GL_EXT_shader_16bit_storage : require
#endif
#include "params-rope.h"
#include "common/tensor.glsl"
#include "common/math.glsl"
#include "common/twofloat.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND_OF_HALVES(0, dst)
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, positions, readonly);
GB_OPERAND(3, factors, readonly);
GB_OPERAND(4, inner, writeonly);

bool has(uint flag)
{
    return (p.flags & flag) != 0u;
}

uint section(uint stream)
{
    return p.sections[stream / 2u] >> 16u * (stream & 1u) & 0xffffu;
}

// Which position a pair has, and the exponent of its frequency.
struct rope_pair {
    uint stream;
    uint exponent;
};

// Sections follow each other, and begin again behind the last one.
rope_pair pair_of(uint j)
{
    rope_pair pair = rope_pair(0u, j);
    uint within;

    if (!has(GB_VK_ROPE_STREAMS))
        return pair;
    within = j % (section(0u) + section(1u) + section(2u) + section(3u));
    while (pair.stream < 3u && within >= section(pair.stream)) {
        within -= section(pair.stream);
        pair.stream++;
    }
    if (has(GB_VK_ROPE_VISION))
        pair.exponent = within;
    return pair;
}

// What the frequency of pair J is multiplied by.  It keeps a share of the
// unscaled one: ext_factor for fast pairs, nothing for slow ones, between the
// two of corr a linear ramp.
vec2 scale_of(uint j)
{
    const float width = max(p.corr[1] - p.corr[0], 0.001);
    const float ramp = min(max((float(j) - p.corr[0]) / width, 0.0), 1.0);
    const float kept = (1.0 - ramp) * p.ext_factor;

    if (p.ext_factor == 0.0)
        return gb_two_float(p.freq_scale);
    return gb_two_add(
        gb_two_mul(gb_two_float(p.freq_scale), gb_two_sum(1.0, -kept)),
        gb_two_float(kept));
}

// The angle of pair J at position 1, in turns.
vec2 frequency_of(uint j, uint exponent)
{
    vec2 power = vec2(p.power[0], p.power[1]);
    vec2 frequency = vec2(0.159154937, 6.42063824e-9); // 1 / 2 pi

    for (; exponent != 0u; exponent >>= 1) {
        if ((exponent & 1u) != 0u)
            frequency = gb_two_mul(frequency, power);
        power = gb_two_mul(power, power);
    }
    frequency = gb_two_mul(frequency, scale_of(j));
    if (has(GB_VK_ROPE_FACTORS))
        frequency = gb_two_div(frequency,
                               gb_f32(factors, p.at[3] + j * p.factor_nb));
    return frequency;
}

// The angle of pair J of a token.
gb_angle angle_of(uint j, uint token)
{
    const rope_pair pair = pair_of(j);
    const uint at = token + pair.stream * p.ne[2];
    const int position = gb_i32(positions, p.at[2] + at * p.position_nb);
    const int low = position & 0xffff;
    const vec2 turns =
        gb_two_mul(gb_two_sum(float(position - low), float(low)),
                   frequency_of(j, pair.exponent));
    precise float fraction =
        (turns.x - floor(turns.x + 0.5)) + turns.y;
    float quarters;

    // What is left out of many turns may be turns itself.
    fraction = fraction - floor(fraction + 0.5);
    quarters = floor(4.0 * fraction + 0.5);
    return gb_angle((fraction - 0.25 * quarters) * 6.28318531, int(quarters));
}

// What is done to elements U and V of some heads.
struct rotation {
    uint u, v;
    float cosine, sine;
};

rotation rotation_of(uint slot, uint token)
{
    rotation turn = rotation(2u * slot, 2u * slot + 1u, 1.0, 0.0);
    gb_angle angle;

    if (slot >= p.n_pairs)
        return turn;
    angle = angle_of(slot, token);
    turn.cosine = gb_sin_quadrant(angle.r, angle.count + 1) * p.factor;
    turn.sine = gb_sin_quadrant(angle.r, angle.count) * p.factor;
    turn.sine = has(GB_VK_ROPE_BACK) ? -turn.sine : turn.sine;
    if (has(GB_VK_ROPE_SPLIT)) {
        turn.u = slot;
        turn.v = slot + p.n_pairs;
    }
    return turn;
}

uint bits_of(float value)
{
    return GB_VK_ROPE_DST_TYPE(p.flags) == GB_VK_F16 ? gb_float_to_half(value)
                                                     : gb_float_to_bf16(value);
}

// X and Y, if there are two, as elements U and V of the row at TO.
void put(rotation turn, bool has_v, uint to, float x, float y)
{
    const uint type = GB_VK_ROPE_DST_TYPE(p.flags);

    if (has(GB_VK_ROPE_WORDS) && turn.v == turn.u + 1u) {
        gb_put_u32(dst, to + 2u * turn.u, bits_of(x) | bits_of(y) << 16);
        return;
    }
    gb_store(dst, type, to + turn.u * p.dst_nb[0], x);
    if (has_v)
        gb_store(dst, type, to + turn.v * p.dst_nb[0], y);
}

// A slot of the row at FROM: its pair rotated, or the two elements behind the
// pairs, or the one that is left.  A pair is read before anything is written:
// dst may be src.  The row begins at INNER_AT in inner.
void rotate(rotation turn, bool is_copy, uint to, uint from, uint inner_at)
{
    const bool has_v = turn.v < p.ne[0];
    const uint from_v = from + (has_v ? turn.v : turn.u) * p.src_nb[0];
    float x = gb_load(src, GB_VK_ROPE_SRC_TYPE(p.flags),
                      from + turn.u * p.src_nb[0]);
    float y = gb_load(src, GB_VK_ROPE_SRC_TYPE(p.flags), from_v);

    if (!is_copy) {
        const float u = x;

        x = u * turn.cosine - y * turn.sine;
        y = u * turn.sine + y * turn.cosine;
    }
    put(turn, has_v, to, x, y);
    if (has(GB_VK_ROPE_HAS_INNER)) {
        gb_put_f32(inner, inner_at + 4u * turn.u, x);
        if (has_v)
            gb_put_f32(inner, inner_at + 4u * turn.v, y);
    }
}

void main()
{
    const uint n_slots = p.n_pairs + (p.ne[0] - 2u * p.n_pairs + 1u) / 2u;
    const uint n_parts = (p.ne[1] + p.per_item - 1u) / p.per_item;
    uint item = gb_global();
    uint slot, first, token, last, to, from, inner_at;
    rotation turn;

    if (item >= p.n_items)
        return;
    slot = gb_take(item, n_slots);
    first = gb_take(item, n_parts) * p.per_item;
    token = gb_take(item, p.ne[2]);
    turn = rotation_of(slot, token);
    last = min(first + p.per_item, p.ne[1]);
    to = p.at[0] + token * p.dst_nb[2] + item * p.dst_nb[3];
    from = p.at[1] + token * p.src_nb[2] + item * p.src_nb[3];
    inner_at = p.at[4] + (item * p.ne[2] + token) * p.ne[1] * p.ne[0] * 4u;
    for (uint head = first; head < last; head++)
        rotate(turn, slot >= p.n_pairs, to + head * p.dst_nb[1],
               from + head * p.src_nb[1], inner_at + head * p.ne[0] * 4u);
}
