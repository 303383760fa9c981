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

/* A group in the order of its values, which are d * (256 * high + low). */
struct plain_group {
    int8_t high[GB_GROUP];
    int8_t low[GB_GROUP];
    float d[PIECES];
    bool has_low[PIECES];
};

/* The largest magnitude of N values, 16, 32 or 40; does it stand out?  Behind
 * them are zeros up to whole vectors. */
static float
largest_of(int n, const float *x, bool *stands_out)
{
    vf largest = vf_zero();
    vf sum = vf_zero();
    float max;

    for (int i = 0; i < n; i += VF_LEN) {
        const vf v = vf_abs(vf_load(x + i));

        largest = vf_max(largest, v);
        sum = vf_add(sum, v);
    }
    max = vf_hmax(largest);
    *stands_out = gb_stands_out(max, vf_sum(sum), n);
    return max;
}

/* The largest value gets the code 127 * 256; what is left behind the high half
 * is the low one. */
static void
codes_of(int n, const float *x, float largest, int8_t *high, int8_t *low)
{
    const vf factor =
        vf_set1(largest > 0.0f ? 127.0f * 256.0f / largest : 0.0f);
    const vf limit = vf_set1(127.0f);

    for (int i = 0; i < n; i += VF_LEN) {
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
            largest_of(GB_QK, x + GB_QK * i, &group->has_low[i]);

        group->d[i] = largest / (127.0f * 256.0f);
        codes_of(GB_QK, x + GB_QK * i, largest, group->high + GB_QK * i,
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
        const int8_t *codes;
        float d;

        /* Blocks of halves may lie where one with a float cannot. */
        if (type == GGML_TYPE_Q8_0) {
            codes = q8_0[i].qs;
            d = q_half(&q8_0[i].d);
        } else if (type == GGML_TYPE_Q8_1) {
            codes = q8_1[i].qs;
            d = q_half(&q8_1[i].d);
        } else {
            codes = q8_k->qs + GB_QK * i;
            d = q8_k->d;
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
        const int chunk = gb_turned_chunk(layout->order, l);
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

/* A group by place: a piece is what two lanes have, unit by unit of the first
 * one, then of the other; up to whole vectors there are zeros. */
#define MOST 48

_Static_assert(MOST >= 8 * GB_DIGITS && MOST % VF_LEN == 0, "a piece's place");

struct placed_group {
    int8_t high[PIECES][MOST];
    int8_t low[PIECES][MOST];
    float d[PIECES];
    bool has_low;
};

static int
units_of(const struct gb_layout *layout)
{
    return layout->one == GB_ONE_DIGITS ? GB_DIGITS : 4;
}

/* In which lane of which unit is number I of what lane L of the sums has? */
static int
lane_at(const struct gb_layout *layout, int l, int i)
{
    return layout->one == GB_ONE_QUARTERS ? l / 4 * 4 + l % 2 * 2 + i % 2 : l;
}

static int
unit_at(const struct gb_layout *layout, int l, int i)
{
    return layout->one == GB_ONE_QUARTERS ? l / 2 % 2 + i / 2 * 2 : i;
}

/* Which four of a group's values is that; none: -1. */
static int
four_at(const struct gb_layout *layout, int l, int i)
{
    if (layout->one != GB_ONE_DIGITS)
        return gb_lane_value(layout->order, lane_at(layout, l, i),
                             unit_at(layout, l, i)) / 4;
    if (l < 12)
        return l < 8 ? 8 * i + l : 8 * GB_DIGITS + 4 * i + l - 8;
    return l == 12 && i < 4 ? 12 * GB_DIGITS + i : -1;
}

/* FOUR are the bytes of four values. */
GB_INLINE void
by_place(const struct gb_layout *layout, const void *from, size_t four,
         void *to)
{
    const int units = units_of(layout);

    memset(to, 0, PIECES * MOST / 4 * four);
    for (int l = 0; l < 16; l++) {
        for (int i = 0; i < units; i++) {
            const int at = four_at(layout, l, i);
            const int place = l / 2 * (MOST / 4) + l % 2 * units + i;

            if (at >= 0)
                memcpy((char *)to + (size_t)place * four,
                       (const char *)from + (size_t)at * four, four);
        }
    }
}

static void
place_floats(const struct gb_layout *layout, const float *x,
             struct placed_group *group)
{
    const int n = 8 * units_of(layout);
    float values[PIECES][MOST];

    by_place(layout, x, 4 * sizeof(*x), values);
    group->has_low = false;
    for (int i = 0; i < PIECES; i++) {
        bool stands_out;
        const float largest = largest_of(n, values[i], &stands_out);

        group->has_low |= stands_out;
        group->d[i] = largest / (127.0f * 256.0f);
        codes_of(n, values[i], largest, group->high[i], group->low[i]);
    }
}

static void
place_block(const struct gb_layout *layout, const struct gb_block_q8_k *block,
            struct placed_group *group)
{
    by_place(layout, block->qs, 4, group->high);
    group->has_low = false;
    for (int i = 0; i < PIECES; i++)
        group->d[i] = block->d / 256.0f;
}

/* The sums of the codes of each lane of a unit; LOW may be NULL. */
GB_INLINE void
sums_of_unit(const int8_t *high, const int8_t *low, int32_t *sums)
{
    for (int i = 0; i < 64; i += 32) {
        qs s = qs_dot(qs_first(0), q32_set1(1), q32_load(high + i));

        if (low != NULL)
            s = qs_dot(qs_add_256(qs_first(0), s), q32_set1(1),
                       q32_load(low + i));
        qs_store(sums + i / 4, s);
    }
}

/* The sums of chunks, in the order of their values, get codes as values do. */
static void
put_chunks(const float *sums, struct gb_group *to)
{
    bool stands_out;
    const float largest = largest_of(16, sums, &stands_out);

    codes_of(16, sums, largest, to->chunks.sums, to->chunks.sums + 16);
    for (int i = 0; i < 4; i++) {
        to->chunks.scale[i] = -largest / 127.0f;
        to->chunks.scale[4 + i] = to->chunks.scale[i] / 256.0f;
    }
}

/* TO is a struct gb_group, or gb_digits. */
static void
put_places(const struct gb_layout *layout, const struct placed_group *from,
           void *to)
{
    const int units = units_of(layout);
    const bool is_digits = layout->one == GB_ONE_DIGITS;
    const bool is_quarters = layout->one == GB_ONE_QUARTERS;
    const bool has_sums = is_quarters || layout->one == GB_ONE_SUMS;
    const float factor = is_quarters ? 16.0f : 1.0f;
    struct gb_digits *digits = to;
    struct gb_group *group = to;
    int8_t *high = is_digits ? digits->high : group->high;
    int8_t *low = is_digits ? digits->low : group->low;
    float *scale = is_digits ? digits->scale : group->scale;
    int32_t first[2][16] = { { 0 } };
    float sums[16] = { 0.0f };

    for (int l = 0; l < 16; l++) {
        const int8_t *lane = from->high[l / 2] + l % 2 * 4 * units;
        const int8_t *lane_low = from->low[l / 2] + l % 2 * 4 * units;

        scale[l] =
            (from->has_low ? 1.0f : 256.0f) / factor * from->d[l / 2];
        for (int i = 0; i < units; i++) {
            const int at =
                64 * unit_at(layout, l, i) + 4 * lane_at(layout, l, i);

            memcpy(high + at, lane + 4 * i, 4);
            if (from->has_low)
                memcpy(low + at, lane_low + 4 * i, 4);
        }
    }
    for (int i = 0; i < units; i++) {
        const int pair = layout->one == GB_ONE_PAIRS ? i / 2 : 0;
        int32_t s[16];

        sums_of_unit(high + 64 * i, from->has_low ? low + 64 * i : NULL, s);
        for (int l = 0; l < 16; l++) {
            const int of = is_quarters ? l / 4 * 4 + i % 2 * 2 : l;

            first[pair][l] -= layout->one_offset * s[l];
            if (has_sums)
                sums[gb_order_chunk(layout->order, 4 * i + l / 4)] +=
                    factor * scale[of] * (float)s[l];
        }
    }
    if (is_digits) {
        digits->has_low = from->has_low;
        memcpy(digits->first, first[0], sizeof(digits->first));
        return;
    }
    group->has_low[0] = from->has_low;
    if (has_sums)
        put_chunks(sums, group);
    else
        memcpy(group->first, first, sizeof(first));
}

static void
column_by_place(const struct gb_layout *layout, int64_t n, const void *row,
                enum ggml_type type, char *to)
{
    const size_t bytes = gb_way_column_bytes(layout, GB_WAY_ONE, GB_GROUP);
    const struct gb_block_q8_k *block = row;
    struct placed_group group;

    for (int64_t i = 0; i < n; i += GB_GROUP, to += bytes) {
        if (type == GGML_TYPE_F32)
            place_floats(layout, (const float *)row + i, &group);
        else
            place_block(layout, block++, &group);
        put_places(layout, &group, to);
    }
}

void
GB_K(way_column)(const struct gb_layout *layout, enum gb_way way, int64_t n,
                 const void *row, enum ggml_type type, void *column)
{
    struct gb_group *to = column;
    const char *from = row;
    struct plain_group group;

    if (layout->piece == 0 || way == GB_WAY_MANY) {
        GB_K(column)(layout, n, row, type, column);
        return;
    }
    if (way == GB_WAY_ONE && layout->one != GB_ONE_PIECES) {
        column_by_place(layout, n, row, type, column);
        return;
    }
    for (int64_t i = 0; i < n; i += GB_GROUP, to++) {
        const int64_t left = n - i < GB_GROUP ? n - i : GB_GROUP;

        if (type == GGML_TYPE_F32 && left == GB_GROUP) {
            group_of_floats((const float *)row + i, &group);
        } else if (type == GGML_TYPE_F32) {
            float padded[GB_GROUP] = { 0.0f };

            memcpy(padded, (const float *)row + i,
                   (size_t)left * sizeof(*padded));
            group_of_floats(padded, &group);
        } else {
            group_of_blocks(left, type, from, &group);
            from += GB_K(activation_bytes)(type, left);
        }
        if (way == GB_WAY_FEW)
            turn_group(layout, &group, to);
        else
            put_group(layout, &group, to);
    }
}
