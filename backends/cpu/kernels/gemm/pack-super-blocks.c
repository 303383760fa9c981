/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/pack-super-blocks.c - activations packed for GEMV and skinny
 * GEMM: q8 super-blocks (struct gb_q8_super_block).
 *
 * Three steps: 256 floats, or blocks that are int8 already, become high and low
 * parts with a scale for each 32 values; these go to their places, in the format's
 * order or lane-interleaved; the sums that mins and biases are multiplied with are
 * made of the codes.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/gemm/panel.h"
#include "backends/cpu/simd/q32.h"
#include "lib/type/blocks.h"

#include <string.h>

#define SUB_BLOCKS (GB_SUPER_BLOCK / GB_QK)

/* A super-block in the order of its values, d * (256 * high + low). */
struct q8_values {
    int8_t high[GB_SUPER_BLOCK];
    int8_t low[GB_SUPER_BLOCK];
    float d[SUB_BLOCKS];
    bool has_low[SUB_BLOCKS];
};

/* The largest magnitude of N values, 16, 32 or 40; is it an outlier?  Behind
 * them are zeros up to whole vectors. */
static float
largest_of(int n, const float *x, bool *is_outlier)
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
    *is_outlier = gb_is_outlier(max, vf_sum(sum), n);
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
values_of_floats(const float *x, struct q8_values *plain)
{
    for (int i = 0; i < SUB_BLOCKS; i++) {
        const float largest =
            largest_of(GB_QK, x + GB_QK * i, &plain->has_low[i]);

        plain->d[i] = largest / (127.0f * 256.0f);
        codes_of(GB_QK, x + GB_QK * i, largest, plain->high + GB_QK * i,
                 plain->low + GB_QK * i);
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
values_of_blocks(int64_t n, enum ggml_type type, const void *blocks,
                struct q8_values *plain)
{
    memset(plain, 0, sizeof(*plain));
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
        memcpy(plain->high + GB_QK * i, codes, GB_QK);
        plain->d[i] = d / 256.0f;
    }
}

/* The sum of the values of each sub-block, times FACTOR. */
GB_INLINE void
put_sums(const struct gb_format *format, const struct q8_values *plain,
         const bool *has_low, float factor, float *sum)
{
    for (int i = 0; i < SUB_BLOCKS; i++) {
        const q32 one = q32_set1(1);
        int32_t s[8];
        qs sums = qs_dot(
            qs_set_lane0(0), one, q32_load(plain->high + GB_QK * i));

        sums = qs_add_256(qs_set_lane0(0), sums);
        if (has_low[i])
            sums = qs_dot(sums, one, q32_load(plain->low + GB_QK * i));
        qs_store(s, sums);
        s[0] += s[1] + s[2] + s[3];
        s[4] += s[5] + s[6] + s[7];
        if (format->sub_block == 16) {
            sum[2 * i] = factor * plain->d[i] * (float)s[0];
            sum[2 * i + 1] = factor * plain->d[i] * (float)s[4];
        } else {
            sum[i] = factor * plain->d[i] * (float)(s[0] + s[4]);
        }
    }
}

/* In the format's order.  Where one of the sub-blocks that are unpacked together
 * has a low part, all have. */
static void
put_in_order(const struct gb_format *format, const struct q8_values *from,
          struct gb_q8_super_block *to)
{
    const int sub_blocks = 4 * gb_step_units(format);
    bool has_low[SUB_BLOCKS];

    memset(to->scale, 0, sizeof(to->scale));
    memset(to->sum, 0, sizeof(to->sum));
    memset(to->has_low, 0, sizeof(to->has_low));
    for (int c = 0; c < GB_SUPER_BLOCK / 16; c++) {
        const int at = gb_order_sub_block(format->order, c);

        memcpy(to->high + 16 * c, from->high + 16 * at, 16);
        to->has_low[c / sub_blocks] |= from->has_low[at / 2];
    }
    for (int c = 0; c < GB_SUPER_BLOCK / 16; c++) {
        const int at = gb_order_sub_block(format->order, c);
        const float d = from->d[at / 2];

        has_low[at / 2] = to->has_low[c / sub_blocks] != 0;
        if (has_low[at / 2])
            memcpy(to->low + 16 * c, from->low + 16 * at, 16);
        to->scale[16 * at / format->sub_block] =
            has_low[at / 2] ? d : 256.0f * d;
    }
    put_sums(format, from, has_low,
             format->has_min ? 1.0f : -(float)format->bias, to->sum);
}

/* The same lane-interleaved, for the skinny GEMM. */
static void
interleave_super_block(const struct gb_format *format, const struct q8_values *from,
           struct gb_q8_super_block *to)
{
    const float factor = format->has_min ? 1.0f : -(float)format->bias;
    bool low = false;

    for (int i = 0; i < SUB_BLOCKS; i++)
        low |= from->has_low[i];
    for (int l = 0; l < 16; l++) {
        const int sub_block = gb_interleaved_sub_block(format->order, l);
        const float d = from->d[sub_block / 2];
        int32_t sum = 0;

        for (int i = 0; i < 16; i++)
            sum += 256 * from->high[16 * sub_block + i] +
                   (low ? from->low[16 * sub_block + i] : 0);
        for (int q = 0; q < 4; q++) {
            memcpy(to->high + 64 * q + 4 * l, from->high + 16 * sub_block + 4 * q,
                   4);
            if (low)
                memcpy(to->low + 64 * q + 4 * l, from->low + 16 * sub_block + 4 * q,
                       4);
        }
        to->scale[l] = low ? d : 256.0f * d;
        to->sum[l] = factor * d * (float)sum;
    }
    to->has_low[0] = low;
}

/* Lane-interleaved for GEMV: 32 values are what two lanes have, vector by vector
 * of the first lane, then of the other; up to whole vectors there are zeros. */
#define MOST 48

_Static_assert(MOST >= 8 * GB_TERNARY_DIGITS && MOST % VF_LEN == 0, "room for two lanes");

struct lanes {
    int8_t high[SUB_BLOCKS][MOST];
    int8_t low[SUB_BLOCKS][MOST];
    float d[SUB_BLOCKS];
    bool has_low;
};

static int
units_of(const struct gb_format *format)
{
    return format->gemv == GB_GEMV_LANES_TERNARY ? GB_TERNARY_DIGITS : 4;
}

/* In which lane of which unit is number I of what lane L of the sums has? */
static int
lane_at(const struct gb_format *format, int l, int i)
{
    return format->gemv == GB_GEMV_LANES_QUARTERS ? l / 4 * 4 + l % 2 * 2 + i % 2 : l;
}

static int
unit_at(const struct gb_format *format, int l, int i)
{
    return format->gemv == GB_GEMV_LANES_QUARTERS ? l / 2 % 2 + i / 2 * 2 : i;
}

/* Which four of the super-block's values is that; none: -1. */
static int
four_at(const struct gb_format *format, int l, int i)
{
    if (format->gemv != GB_GEMV_LANES_TERNARY)
        return gb_lane_value(format->order, lane_at(format, l, i),
                             unit_at(format, l, i)) / 4;
    if (l < 12)
        return l < 8 ? 8 * i + l : 8 * GB_TERNARY_DIGITS + 4 * i + l - 8;
    return l == 12 && i < 4 ? 12 * GB_TERNARY_DIGITS + i : -1;
}

/* FOUR are the bytes of four values. */
GB_INLINE void
to_lanes(const struct gb_format *format, const void *from, size_t four,
         void *to)
{
    const int units = units_of(format);

    memset(to, 0, SUB_BLOCKS * MOST / 4 * four);
    for (int l = 0; l < 16; l++) {
        for (int i = 0; i < units; i++) {
            const int at = four_at(format, l, i);
            const int place = l / 2 * (MOST / 4) + l % 2 * units + i;

            if (at >= 0)
                memcpy((char *)to + (size_t)place * four,
                       (const char *)from + (size_t)at * four, four);
        }
    }
}

static void
lanes_of_floats(const struct gb_format *format, const float *x,
             struct lanes *lanes)
{
    const int n = 8 * units_of(format);
    float values[SUB_BLOCKS][MOST];

    to_lanes(format, x, 4 * sizeof(*x), values);
    lanes->has_low = false;
    for (int i = 0; i < SUB_BLOCKS; i++) {
        bool is_outlier;
        const float largest = largest_of(n, values[i], &is_outlier);

        lanes->has_low |= is_outlier;
        lanes->d[i] = largest / (127.0f * 256.0f);
        codes_of(n, values[i], largest, lanes->high[i], lanes->low[i]);
    }
}

static void
lanes_of_block(const struct gb_format *format, const struct gb_block_q8_k *block,
            struct lanes *lanes)
{
    to_lanes(format, block->qs, 4, lanes->high);
    lanes->has_low = false;
    for (int i = 0; i < SUB_BLOCKS; i++)
        lanes->d[i] = block->d / 256.0f;
}

/* The sums of the codes of each lane of a unit; LOW may be NULL. */
GB_INLINE void
sums_of_unit(const int8_t *high, const int8_t *low, int32_t *sums)
{
    for (int i = 0; i < 64; i += 32) {
        qs s = qs_dot(qs_set_lane0(0), q32_set1(1), q32_load(high + i));

        if (low != NULL)
            s = qs_dot(qs_add_256(qs_set_lane0(0), s), q32_set1(1),
                       q32_load(low + i));
        qs_store(sums + i / 4, s);
    }
}

/* The sums of sub-blocks, in the order of their values, get codes as values do. */
static void
put_sub_block_sums(const float *sums, struct gb_q8_super_block *to)
{
    bool is_outlier;
    const float largest = largest_of(16, sums, &is_outlier);

    codes_of(16, sums, largest, to->sub_block_sums.codes, to->sub_block_sums.codes + 16);
    for (int i = 0; i < 4; i++) {
        to->sub_block_sums.scale[i] = -largest / 127.0f;
        to->sub_block_sums.scale[4 + i] = to->sub_block_sums.scale[i] / 256.0f;
    }
}

/* TO is a struct gb_q8_super_block, or gb_q8_ternary. */
static void
put_lanes(const struct gb_format *format, const struct lanes *from,
           void *to)
{
    const int units = units_of(format);
    const bool is_digits = format->gemv == GB_GEMV_LANES_TERNARY;
    const bool is_quarters = format->gemv == GB_GEMV_LANES_QUARTERS;
    const bool has_sums = is_quarters || format->gemv == GB_GEMV_LANES_SUMS;
    const float factor = is_quarters ? 16.0f : 1.0f;
    struct gb_q8_ternary *digits = to;
    struct gb_q8_super_block *super_block = to;
    int8_t *high = is_digits ? digits->high : super_block->high;
    int8_t *low = is_digits ? digits->low : super_block->low;
    float *scale = is_digits ? digits->scale : super_block->scale;
    int32_t correction[2][16] = { { 0 } };
    float sums[16] = { 0.0f };

    for (int l = 0; l < 16; l++) {
        const int8_t *lane = from->high[l / 2] + l % 2 * 4 * units;
        const int8_t *lane_low = from->low[l / 2] + l % 2 * 4 * units;

        scale[l] =
            (from->has_low ? 1.0f : 256.0f) / factor * from->d[l / 2];
        for (int i = 0; i < units; i++) {
            const int at =
                64 * unit_at(format, l, i) + 4 * lane_at(format, l, i);

            memcpy(high + at, lane + 4 * i, 4);
            if (from->has_low)
                memcpy(low + at, lane_low + 4 * i, 4);
        }
    }
    for (int i = 0; i < units; i++) {
        const int pair = format->gemv == GB_GEMV_LANES_PAIRS ? i / 2 : 0;
        int32_t s[16];

        sums_of_unit(high + 64 * i, from->has_low ? low + 64 * i : NULL, s);
        for (int l = 0; l < 16; l++) {
            const int of = is_quarters ? l / 4 * 4 + i % 2 * 2 : l;

            correction[pair][l] -= format->gemv_bias * s[l];
            if (has_sums)
                sums[gb_order_sub_block(format->order, 4 * i + l / 4)] +=
                    factor * scale[of] * (float)s[l];
        }
    }
    if (is_digits) {
        digits->has_low = from->has_low;
        memcpy(digits->correction, correction[0], sizeof(digits->correction));
        return;
    }
    super_block->has_low[0] = from->has_low;
    if (has_sums)
        put_sub_block_sums(sums, super_block);
    else
        memcpy(super_block->correction, correction, sizeof(correction));
}

static void
interleaved_activations(const struct gb_format *format, int64_t n, const void *row,
                enum ggml_type type, char *to)
{
    const size_t bytes = gb_path_activation_bytes(format, GB_PATH_GEMV, GB_SUPER_BLOCK);
    const struct gb_block_q8_k *block = row;
    struct lanes lanes;

    for (int64_t i = 0; i < n; i += GB_SUPER_BLOCK, to += bytes) {
        if (type == GGML_TYPE_F32)
            lanes_of_floats(format, (const float *)row + i, &lanes);
        else
            lanes_of_block(format, block++, &lanes);
        put_lanes(format, &lanes, to);
    }
}

void
GB_K(pack_activations)(const struct gb_format *format, enum gb_path path, int64_t n,
                 const void *row, enum ggml_type type, void *column)
{
    struct gb_q8_super_block *to = column;
    const char *from = row;
    struct q8_values plain;

    if (format->sub_block == 0 || path == GB_PATH_GEMM) {
        GB_K(pack_panel)(format, n, row, type, column);
        return;
    }
    if (path == GB_PATH_GEMV && format->gemv != GB_GEMV_IN_ORDER) {
        interleaved_activations(format, n, row, type, column);
        return;
    }
    for (int64_t i = 0; i < n; i += GB_SUPER_BLOCK, to++) {
        const int64_t left = n - i < GB_SUPER_BLOCK ? n - i : GB_SUPER_BLOCK;

        if (type == GGML_TYPE_F32 && left == GB_SUPER_BLOCK) {
            values_of_floats((const float *)row + i, &plain);
        } else if (type == GGML_TYPE_F32) {
            float padded[GB_SUPER_BLOCK] = { 0.0f };

            memcpy(padded, (const float *)row + i,
                   (size_t)left * sizeof(*padded));
            values_of_floats(padded, &plain);
        } else {
            values_of_blocks(left, type, from, &plain);
            from += GB_K(activation_bytes)(type, left);
        }
        if (path == GB_PATH_SKINNY)
            interleave_super_block(format, &plain, to);
        else
            put_in_order(format, &plain, to);
    }
}
