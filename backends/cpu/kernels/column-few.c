/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/column-few.c - rows of activations as columns of groups.
 */
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/panel.h"
#include "backends/cpu/simd/q32.h"
#include "lib/type/blocks.h"

#include <string.h>

#define PIECES (GB_GROUP / GB_QK)

/* A group in the order of its values, which are d * (256 * high + low), or of
 * the lanes that they are for. */
struct plain_group {
    int8_t high[GB_GROUP];
    int8_t low[GB_GROUP];
    float d[PIECES];
    bool has_low[PIECES];
};

/* The largest magnitude of 32 values; does it stand out?  It does when it is
 * more than five times as large as they are in the mean.  (With one value that
 * is not 0 it is 5.7 times as large.) */
GB_INLINE float
largest_of_32(const float *x, bool *stands_out)
{
    vf largest = vf_zero();
    vf squares = vf_zero();
    float max;

    for (int i = 0; i < GB_QK; i += VF_LEN) {
        const vf v = vf_load(x + i);

        largest = vf_max(largest, vf_abs(v));
        squares = vf_fma(v, v, squares);
    }
    max = vf_hmax(largest);
    *stands_out = max * max > 25.0f / GB_QK * vf_sum(squares);
    return max;
}

/* The largest value gets the code 127 * 256; what is left behind the high half
 * is the low one. */
GB_INLINE void
codes_of_32(const float *x, float largest, int8_t *high, int8_t *low)
{
    const vf factor =
        vf_set1(largest > 0.0f ? 127.0f * 256.0f / largest : 0.0f);
    const vf limit = vf_set1(127.0f);

    for (int i = 0; i < GB_QK; i += VF_LEN) {
        const vf code = vf_mul(vf_load(x + i), factor);
        const vf upper = vf_round(vf_mul(code, vf_set1(1.0f / 256.0f)));
        const vf rest = vf_fnma(upper, vf_set1(256.0f), code);

        vf_store_i8(high + i, upper);
        vf_store_i8(low + i, vf_min(vf_max(rest, vf_neg(limit)), limit));
    }
}

static void
group_of_floats(const float *x, struct plain_group *group)
{
    for (int i = 0; i < PIECES; i++) {
        const float largest =
            largest_of_32(x + GB_QK * i, &group->has_low[i]);

        group->d[i] = largest / (127.0f * 256.0f);
        codes_of_32(x + GB_QK * i, largest, group->high + GB_QK * i,
                    group->low + GB_QK * i);
    }
}

size_t
GB_K(activation_bytes)(enum ggml_type type, int64_t n)
{
    const size_t values = (size_t)n;

    switch ((int)type) {
    case GGML_TYPE_F32:
        return values * sizeof(float);
    case GGML_TYPE_Q8_0:
        return values / GB_QK * sizeof(struct gb_block_q8_0);
    case GGML_TYPE_Q8_1:
        return values / GB_QK * sizeof(struct gb_block_q8_1);
    case GGML_TYPE_Q8_K:
        return values / GB_QK_K * sizeof(struct gb_block_q8_k);
    default:
        return values * sizeof(uint16_t);
    }
}

/* N values that are blocks of TYPE. */
static void
group_of_blocks(int64_t n, enum ggml_type type, const void *blocks,
                struct plain_group *group)
{
    memset(group, 0, sizeof(*group));
    for (int64_t i = 0; i < n / GB_QK; i++) {
        const struct gb_block_q8_0 *q8_0 = blocks;
        const struct gb_block_q8_1 *q8_1 = blocks;
        const struct gb_block_q8_k *q8_k = blocks;
        const int8_t *codes = q8_k->qs + GB_QK * i;
        float d = q8_k->d;

        if (type == GGML_TYPE_Q8_0) {
            codes = q8_0[i].qs;
            d = q_half(&q8_0[i].d);
        } else if (type == GGML_TYPE_Q8_1) {
            codes = q8_1[i].qs;
            d = q_half(&q8_1[i].d);
        }
        memcpy(group->high + GB_QK * i, codes, GB_QK);
        group->d[i] = d / 256.0f;
    }
}

/* The sum of the values of each piece of the layout, times FACTOR. */
GB_INLINE void
put_sums(const struct gb_layout *layout, const struct plain_group *group,
         const bool *has_low, float factor, float *side)
{
    for (int i = 0; i < PIECES; i++) {
        const q32 one = q32_set1(1);
        int32_t s[8];
        qs sums = qs_dot(
            qs_first(0), one, q32_load(group->high + GB_QK * i));

        sums = qs_add_256(qs_first(0), sums);
        if (has_low[i])
            sums = qs_dot(sums, one, q32_load(group->low + GB_QK * i));
        qs_store(s, sums);
        s[0] += s[1] + s[2] + s[3];
        s[4] += s[5] + s[6] + s[7];
        if (layout->piece == 16) {
            side[2 * i] = factor * group->d[i] * (float)s[0];
            side[2 * i + 1] = factor * group->d[i] * (float)s[4];
        } else {
            side[i] = factor * group->d[i] * (float)(s[0] + s[4]);
        }
    }
}

/* Where one piece of a step has low codes, all have. */
static void
put_group(const struct gb_layout *layout, const struct plain_group *from,
          struct gb_group *to)
{
    const int chunks = 4 * gb_step_units(layout);
    bool has_low[PIECES];

    memset(to->scale, 0, sizeof(to->scale));
    memset(to->side, 0, sizeof(to->side));
    memset(to->has_low, 0, sizeof(to->has_low));
    for (int c = 0; c < GB_GROUP / 16; c++) {
        const int at = gb_order_chunk(layout->order, c);

        memcpy(to->high + 16 * c, from->high + 16 * at, 16);
        to->has_low[c / chunks] |= from->has_low[at / 2];
    }
    for (int c = 0; c < GB_GROUP / 16; c++) {
        const int at = gb_order_chunk(layout->order, c);
        const float d = from->d[at / 2];

        has_low[at / 2] = to->has_low[c / chunks] != 0;
        if (has_low[at / 2])
            memcpy(to->low + 16 * c, from->low + 16 * at, 16);
        to->scale[16 * at / layout->piece] =
            has_low[at / 2] ? d : 256.0f * d;
    }
    put_sums(layout, from, has_low,
             layout->has_min ? 1.0f : -(float)layout->offset, to->side);
}

/* The same for a turned group. */
static void
turn_group(const struct gb_layout *layout, const struct plain_group *from,
           struct gb_group *to)
{
    const float factor = layout->has_min ? 1.0f : -(float)layout->offset;
    bool low = false;

    for (int i = 0; i < PIECES; i++)
        low |= from->has_low[i];
    for (int l = 0; l < 16; l++) {
        const int chunk = gb_order_chunk(layout->order, gb_turned_place(l));
        const float d = from->d[chunk / 2];
        int32_t sum = 0;

        for (int i = 0; i < 16; i++)
            sum += 256 * from->high[16 * chunk + i] +
                   (low ? from->low[16 * chunk + i] : 0);
        for (int q = 0; q < 4; q++) {
            memcpy(to->high + 64 * q + 4 * l, from->high + 16 * chunk + 4 * q,
                   4);
            if (low)
                memcpy(to->low + 64 * q + 4 * l, from->low + 16 * chunk + 4 * q,
                       4);
        }
        to->scale[l] = low ? d : 256.0f * d;
        to->side[l] = factor * d * (float)sum;
    }
    to->has_low[0] = low;
}

/* Four neighbours of FROM at a time to where they are side by side with the
 * others of their lane. */
GB_INLINE void
by_lanes(enum gb_order order, const void *from, size_t four, void *to)
{
    char *place = to;

    for (int l = 0; l < 16; l++)
        for (int i = 0; i < 4; i++, place += four)
            memcpy(place,
                   (const char *)from +
                       (size_t)gb_lane_value(order, l, i) / 4 * four,
                   four);
}

static void
place_floats(enum gb_order order, const float *x, struct plain_group *group)
{
    float by_lane[GB_GROUP];

    by_lanes(order, x, 4 * sizeof(*x), by_lane);
    group_of_floats(by_lane, group);
}

static void
place_codes(enum gb_order order, struct plain_group *group)
{
    int8_t by_lane[GB_GROUP];

    by_lanes(order, group->high, 4, by_lane);
    memcpy(group->high, by_lane, sizeof(by_lane));
}

/* The sums of the codes of each lane in unit I. */
GB_INLINE void
sums_of_unit(const struct gb_group *group, int i, int32_t *sums)
{
    for (int h = 0; h < 2; h++) {
        const size_t at = (size_t)(64 * i + 32 * h);
        qs s = qs_dot(qs_first(0), q32_set1(1), q32_load(group->high + at));

        if (group->has_low[0] != 0)
            s = qs_dot(qs_add_256(qs_first(0), s), q32_set1(1),
                       q32_load(group->low + at));
        qs_store(sums + 8 * h, s);
    }
}

/* The same for a group by place, FROM being in the order of lanes. */
static void
put_places(const struct gb_layout *layout, const struct plain_group *from,
           struct gb_group *to)
{
    const float factor = layout->has_min ? 1.0f : -(float)layout->offset;
    int32_t first[16] = { 0 };
    float side[16];
    bool low = false;

    for (int i = 0; i < PIECES; i++)
        low |= from->has_low[i];
    to->has_low[0] = low;
    for (int l = 0; l < 16; l++) {
        to->scale[l] = low ? from->d[l / 2] : 256.0f * from->d[l / 2];
        for (int i = 0; i < 4; i++) {
            memcpy(to->high + 64 * i + 4 * l, from->high + 16 * l + 4 * i, 4);
            memcpy(to->low + 64 * i + 4 * l, from->low + 16 * l + 4 * i, 4);
        }
    }
    for (int i = 0; i < 4; i++) {
        int32_t sums[16];

        sums_of_unit(to, i, sums);
        for (int l = 0; l < 16; l++)
            first[l] -= layout->one_offset * sums[l];
        for (int l = 0; l < 4; l++) {
            const float *scale = to->scale + 4 * l;
            const int32_t *s = sums + 4 * l;

            side[4 * l + i] = factor * (scale[0] * (float)(s[0] + s[1]) +
                                        scale[2] * (float)(s[2] + s[3]));
        }
    }
    if (layout->one == GB_ONE_FIRST)
        memcpy(to->first, first, sizeof(first));
    else
        memcpy(to->side, side, sizeof(side));
}

void
GB_K(way_column)(const struct gb_layout *layout, enum gb_way way, int64_t n,
                 const void *row, enum ggml_type type, void *column)
{
    struct gb_group *to = column;
    const bool by_place = way == GB_WAY_ONE && layout->one != GB_ONE_PIECES;
    const char *from = row;
    struct plain_group group;

    if (layout->piece == 0 || way == GB_WAY_MANY) {
        GB_K(column)(layout, n, row, type, column);
        return;
    }
    for (int64_t i = 0; i < n; i += GB_GROUP, to++) {
        const int64_t left = n - i < GB_GROUP ? n - i : GB_GROUP;

        if (type == GGML_TYPE_F32 && by_place) {
            place_floats(layout->order, (const float *)row + i, &group);
        } else if (type == GGML_TYPE_F32 && left == GB_GROUP) {
            group_of_floats((const float *)row + i, &group);
        } else if (type == GGML_TYPE_F32) {
            float padded[GB_GROUP] = { 0.0f };

            memcpy(padded, (const float *)row + i,
                   (size_t)left * sizeof(*padded));
            group_of_floats(padded, &group);
        } else {
            group_of_blocks(left, type, from, &group);
            from += GB_K(activation_bytes)(type, left);
            if (by_place)
                place_codes(layout->order, &group);
        }
        if (way == GB_WAY_FEW)
            turn_group(layout, &group, to);
        else if (by_place)
            put_places(layout, &group, to);
        else
            put_group(layout, &group, to);
    }
}
