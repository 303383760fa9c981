/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/pack-super-blocks.c - activations packed for GEMV and skinny
 * GEMM: q8 super-blocks (struct gb_q8_super_block).
 *
 * 256 values become int8 codes (kernels/gemm/q8.h), which go to their places,
 * in the format's order or lane-interleaved; the sums that mins and biases are
 * multiplied with are made of the codes.
 *
 * Three layouts (kernels/api/packing.h draws them):
 *
 *   in order      GEMV of most types: codes stand in the order in which the
 *                 weights' come out of a register, a scale for each sub-block
 *   interleaved   skinny GEMM: lane l of all vectors has sub-block l
 *   lanes         GEMV of the other types: a lane of all vectors has values of
 *                 one scale of the weights, so that a super-block's products
 *                 are one integer sum for each lane, which becomes a float once
 *
 * For GEMV with lanes it is what two lanes have that shares a scale, so values
 * go to their lanes first.  Either all codes of what is unpacked together have
 * low parts or none, so that a kernel decides once for them whether it reads
 * any.  Super-blocks that are not complete end with zeros.
 */
#include "backends/cpu/kernels/gemm/pack.h"
#include "backends/cpu/kernels/gemm/q8.h"

/* Rows of 32 values in a super-block, each of which has one scale. */
#define SUB_BLOCKS (GB_SUPER_BLOCK / GB_QK)

/* The sum of the values of each sub-block, times FACTOR, which is what a min or
 * a bias is multiplied with.  Codes are added as 256 * high + low. */
GB_INLINE void
put_sums(const struct gb_format *format, const struct gb_q8_sub_blocks *from,
         const bool *has_low, float factor, float *sum)
{
    for (int i = 0; i < SUB_BLOCKS; i++) {
        const q32 one = q32_set1(1);
        const float d = factor * (from->d[i] * (1.0f / 256.0f));
        int32_t s[8];
        qs sums = qs_dot(qs_set_lane0(0), one, q32_load(from->high[i]));

        sums = qs_add_256(qs_set_lane0(0), sums);
        if (has_low[i])
            sums = qs_dot(sums, one, q32_load(from->low[i]));
        qs_store(s, sums);
        s[0] += s[1] + s[2] + s[3];
        s[4] += s[5] + s[6] + s[7];
        if (format->sub_block == 16) {
            sum[2 * i] = d * (float)s[0];
            sum[2 * i + 1] = d * (float)s[4];
        } else {
            sum[i] = d * (float)(s[0] + s[4]);
        }
    }
}

/* A super-block in the format's order, sixteen codes at a time.  Where one of
 * the sub-blocks that are unpacked together has a low part, all have: their
 * scales are then of 256 * high + low, a 256th. */
static void
put_in_order(const struct gb_format *format,
             const struct gb_q8_sub_blocks *from,
             struct gb_q8_super_block *to)
{
    const int sub_blocks = 4 * gb_step_units(format);
    bool has_low[SUB_BLOCKS];

    memset(to->scale, 0, sizeof(to->scale));
    memset(to->sum, 0, sizeof(to->sum));
    memset(to->has_low, 0, sizeof(to->has_low));
    for (int c = 0; c < GB_SUPER_BLOCK / 16; c++) {
        const int at = gb_order_sub_block(format->order, c);

        memcpy(to->high + 16 * c, from->high[at / 2] + at % 2 * 16, 16);
        to->has_low[c / sub_blocks] |= from->has_low[at / 2];
    }
    for (int c = 0; c < GB_SUPER_BLOCK / 16; c++) {
        const int at = gb_order_sub_block(format->order, c);
        const float d = from->d[at / 2];

        has_low[at / 2] = to->has_low[c / sub_blocks] != 0;
        if (has_low[at / 2])
            memcpy(to->low + 16 * c, from->low[at / 2] + at % 2 * 16, 16);
        to->scale[16 * at / format->sub_block] =
            has_low[at / 2] ? d * (1.0f / 256.0f) : d;
    }
    put_sums(format, from, has_low,
             format->has_min ? 1.0f : -(float)format->bias, to->sum);
}

/* A super-block lane-interleaved, for the skinny GEMM: lane l of vector q has
 * the four values from 4 * q on of sub-block l (in the format's order of
 * those), and scale[l] and sum[l] are that sub-block's. */
static void
put_interleaved(const struct gb_format *format,
                const struct gb_q8_sub_blocks *from,
                struct gb_q8_super_block *to)
{
    const float factor = format->has_min ? 1.0f : -(float)format->bias;
    bool has_low = false;

    for (int i = 0; i < SUB_BLOCKS; i++)
        has_low |= from->has_low[i];
    for (int l = 0; l < 16; l++) {
        const int sub_block = gb_interleaved_sub_block(format->order, l);
        const int8_t *high = from->high[sub_block / 2] + sub_block % 2 * 16;
        const int8_t *low = from->low[sub_block / 2] + sub_block % 2 * 16;
        const float d = from->d[sub_block / 2];
        int32_t sum = 0;

        for (int i = 0; i < 16; i++)
            sum += 256 * high[i] +
                   (has_low ? low[i] : 0);
        for (int q = 0; q < 4; q++) {
            memcpy(to->high + 64 * q + 4 * l, high + 4 * q,
                   4);
            if (has_low)
                memcpy(to->low + 64 * q + 4 * l, low + 4 * q,
                       4);
        }
        to->scale[l] = has_low ? d * (1.0f / 256.0f) : d;
        to->sum[l] = factor * (d * (1.0f / 256.0f)) * (float)sum;
    }
    to->has_low[0] = has_low;
}

/* Lane-interleaved for GEMV.  What two neighbouring lanes have gets one scale:
 * such a sub-block is 32 values (of ternary digits 40, and zeros up to 64),
 * those of the first lane in the order of the vectors, then those of the other.
 */
#define LENGTH_MAX (2 * GB_QK)

_Static_assert(LENGTH_MAX >= 8 * GB_TERNARY_DIGITS, "room for two lanes");

/* The codes of a super-block, sub-block by sub-block, before they go to their
 * vectors. */
struct lanes {
    int8_t high[SUB_BLOCKS * LENGTH_MAX];
    int8_t low[SUB_BLOCKS * LENGTH_MAX];
    float d[SUB_BLOCKS];
    bool has_low;
};

/* Vectors of 64 codes in a super-block. */
static int
units_of(const struct gb_format *format)
{
    return format->gemv == GB_GEMV_LANES_TERNARY ? GB_TERNARY_DIGITS : 4;
}

/* Values of a sub-block, with the zeros at the end of one of ternary digits. */
static int
length_of(const struct gb_format *format)
{
    return format->gemv == GB_GEMV_LANES_TERNARY ? LENGTH_MAX : GB_QK;
}

/* A lane has one group of four values in each vector.  In which lane of which
 * vector does group I of lane L stand?  In lane L of vector I; but where lanes
 * are quarters of vectors, two neighbouring lanes of two vectors share what is
 * lane L's. */
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

/* Which group of four of the super-block's values is group I of lane L; -1 for
 * one that has only zeros.  Of ternary digits, lanes 0 to 11 are 48 bytes with
 * five digits each, lane 12 is four bytes with four each: 256 together. */
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

/* Bring the values of a super-block from their own order to sub-blocks as
 * above.  FOUR is the size in bytes of four values, so that it serves floats and
 * codes. */
GB_INLINE void
to_lanes(const struct gb_format *format, const void *from, size_t four, void *to)
{
    const int units = units_of(format);
    const int length = length_of(format);

    memset(to, 0, (size_t)(SUB_BLOCKS * length / 4) * four);
    for (int l = 0; l < 16; l++) {
        for (int i = 0; i < units; i++) {
            const int at = four_at(format, l, i);
            const int place = l / 2 * (length / 4) + l % 2 * units + i;

            if (at >= 0)
                memcpy((char *)to + (size_t)place * four,
                       (const char *)from + (size_t)at * four, four);
        }
    }
}

/* A super-block of floats: to lanes first, then to codes, so that each
 * sub-block has the scale of its own largest value. */
static void
lanes_of_floats(const struct gb_format *format, const float *x,
                struct lanes *lanes)
{
    float values[SUB_BLOCKS * LENGTH_MAX];
    bool has_low[SUB_BLOCKS];

    to_lanes(format, x, 4 * sizeof(*x), values);
    if (length_of(format) == GB_QK)
        gb_q8_quantize(SUB_BLOCKS, GB_QK, GB_QK, GB_Q8_LOWS_IF_ANY, values,
                       lanes->high, lanes->low, lanes->d, has_low);
    else
        gb_q8_quantize(SUB_BLOCKS, LENGTH_MAX, 8 * GB_TERNARY_DIGITS,
                       GB_Q8_LOWS_IF_ANY, values, lanes->high, lanes->low,
                       lanes->d, has_low);
    lanes->has_low = false;
    for (int i = 0; i < SUB_BLOCKS; i++)
        lanes->has_low |= has_low[i];
}

/* A Q8_K block: it has codes and one scale already. */
static void
lanes_of_block(const struct gb_format *format,
               const struct gb_block_q8_k *block, struct lanes *lanes)
{
    to_lanes(format, block->qs, 4, lanes->high);
    lanes->has_low = false;
    for (int i = 0; i < SUB_BLOCKS; i++)
        lanes->d[i] = gb_q8_k_d(block);
}

/* The sums of the four codes of each lane of a vector, as 256 * high + low
 * where there are low codes, else of HIGH alone. */
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

/* The sums of the sixteen sub-blocks, in the order of their values, get codes
 * with high and low parts as values do: mins are integers times a scale, too,
 * so that the part of the mins in a product is an integer dot product. */
static void
put_sub_block_sums(const float *sums, struct gb_q8_super_block *to)
{
    float x[GB_QK] = { 0.0f };
    int8_t high[GB_QK];
    int8_t low[GB_QK];
    float d;
    bool has_low;

    memcpy(x, sums, 16 * sizeof(*x));
    gb_q8_quantize(1, GB_QK, 16, GB_Q8_LOWS_ALL, x, high, low, &d, &has_low);
    memcpy(to->sub_block_sums.codes, high, 16);
    memcpy(to->sub_block_sums.codes + 16, low, 16);
    for (int i = 0; i < 4; i++) {
        to->sub_block_sums.scale[i] = -d;
        to->sub_block_sums.scale[4 + i] = -d * (1.0f / 256.0f);
    }
}

/* Write a super-block: codes to their vectors, a scale for each lane, and for
 * each lane the zero-point correction or, where the type has mins, the sums of
 * sub-blocks.  TO is a struct gb_q8_super_block, or gb_q8_ternary. */
static void
put_lanes(const struct gb_format *format, const struct lanes *from, void *to)
{
    const int units = units_of(format);
    const int length = length_of(format);
    const bool is_digits = format->gemv == GB_GEMV_LANES_TERNARY;
    const bool is_quarters = format->gemv == GB_GEMV_LANES_QUARTERS;
    const bool has_sums = is_quarters || format->gemv == GB_GEMV_LANES_SUMS;
    const bool has_low = from->has_low;
    const float factor = is_quarters ? 16.0f : 1.0f;
    struct gb_q8_ternary *digits = to;
    struct gb_q8_super_block *super_block = to;
    int8_t *high = is_digits ? digits->high : super_block->high;
    int8_t *low = is_digits ? digits->low : super_block->low;
    float *scale = is_digits ? digits->scale : super_block->scale;
    int32_t correction[2][16] = { { 0 } };
    float sums[16] = { 0.0f };

    for (int l = 0; l < 16; l++) {
        const int8_t *lane = from->high + l / 2 * length + l % 2 * 4 * units;
        const int8_t *lane_low = from->low + l / 2 * length + l % 2 * 4 * units;

        scale[l] = (has_low ? 1.0f / 256.0f : 1.0f) / factor * from->d[l / 2];
        for (int i = 0; i < units; i++) {
            const int at =
                64 * unit_at(format, l, i) + 4 * lane_at(format, l, i);

            memcpy(high + at, lane + 4 * i, 4);
            if (has_low)
                memcpy(low + at, lane_low + 4 * i, 4);
        }
    }
    for (int i = 0; i < units; i++) {
        const int pair = format->gemv == GB_GEMV_LANES_PAIRS ? i / 2 : 0;
        int32_t s[16];

        sums_of_unit(high + 64 * i, has_low ? low + 64 * i : NULL, s);
        for (int l = 0; l < 16; l++) {
            const int of = is_quarters ? l / 4 * 4 + i % 2 * 2 : l;

            correction[pair][l] -= format->gemv_bias * s[l];
            if (has_sums)
                sums[gb_order_sub_block(format->order, 4 * i + l / 4)] +=
                    factor * scale[of] * (float)s[l];
        }
    }
    if (is_digits) {
        digits->has_low = has_low;
        memcpy(digits->correction, correction[0], sizeof(digits->correction));
        return;
    }
    super_block->has_low[0] = has_low;
    if (has_sums)
        put_sub_block_sums(sums, super_block);
    else
        memcpy(super_block->correction, correction, sizeof(correction));
}

/* All super-blocks of a row; N is a multiple of 256, as such types have no
 * smaller blocks. */
static void
pack_lanes(const struct gb_format *format, int64_t n, const void *row,
           enum ggml_type type, char *to)
{
    const size_t bytes =
        gb_path_activation_bytes(format, GB_PATH_GEMV, GB_SUPER_BLOCK);
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
GB_K(pack_super_blocks)(const struct gb_format *format, enum gb_path path,
                        int64_t n, const void *row, enum ggml_type type,
                        void *column)
{
    struct gb_q8_super_block *to = column;

    if (path == GB_PATH_GEMV && format->gemv != GB_GEMV_IN_ORDER) {
        pack_lanes(format, n, row, type, column);
        return;
    }
    for (int64_t i = 0; i < n; i += GB_SUPER_BLOCK, to++) {
        const int64_t left = (n - i) / GB_QK;
        const int count = left < SUB_BLOCKS ? (int)left : SUB_BLOCKS;
        struct gb_q8_sub_blocks sub_blocks;

        gb_q8_sub_blocks_of(count, type, row, i, &sub_blocks);
        for (int j = count; j < SUB_BLOCKS; j++) {
            memset(sub_blocks.high[j], 0, sizeof(sub_blocks.high[j]));
            memset(sub_blocks.low[j], 0, sizeof(sub_blocks.low[j]));
            sub_blocks.d[j] = 0.0f;
            sub_blocks.has_low[j] = false;
        }
        if (path == GB_PATH_SKINNY)
            put_interleaved(format, &sub_blocks, to);
        else
            put_in_order(format, &sub_blocks, to);
    }
}
