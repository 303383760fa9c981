/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/weight.h - products with weights of one type, at one level.
 *
 * Columns are what rows of activations become before a product: floats for
 * float weights; for quantised ones records, in which each piece of 16 or
 * 32 activations, of the length that one scale of the weights is for, has
 * everything about it side by side.  For products with one column, which read
 * weights as they lie in memory, they are groups (struct gb_group) of 256
 * activations in the order in which the type's codes come out of a register;
 * for those with a few, turned groups.
 *
 * Activations have codes of 8 bits, and where a value or two in a piece are much
 * larger than the others, which it would cost all their precision, of 16.  The
 * perplexity of SmolLM2-135M is 18.34 with float activations and stays so; with
 * 8 bits it is between 18.40 and 18.49.
 */
#ifndef GB_CPU_ISA_WEIGHT_H
#define GB_CPU_ISA_WEIGHT_H

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Scratch that a product needs, in bytes. */
#define GB_PRODUCT_SCRATCH (128 * 1024)

/* Up to so many columns float weights are read as they lie, and columns are
 * best not packed. */
#define GB_FEW_COLS_REAL 16

/* Columns are packed for float weights from a multiple of this on. */
#define GB_PACKED_COLS 12

/* Columns BYTES apart, all of which lie in the same places of the first cache:
 * there is no room for as many as a product takes together. */
static inline bool
gb_shares_places(size_t bytes)
{
    return bytes % 4096 == 0;
}

/*
 * dst[c][r] = the sum over k of weights[r][k] * columns[c][k], for all r and c.
 * Weights have rows PITCH bytes apart; nothing of dst[c] but the ROWS first
 * floats is written.
 */
struct gb_product {
    int64_t k;    /* length of a row */
    int64_t rows; /* of weights */
    int64_t cols;
    const void *weights;
    size_t pitch; /* bytes from row to row */
    const void *const *columns;
    const void *packed; /* float weights: the columns as pack() left them, or
                           NULL */
    float *const *dst;
    void *scratch; /* GB_PRODUCT_SCRATCH bytes, 64-byte aligned */
};

/*
 * A record: the codes of a piece's activations, whose values are
 * d * (high + low / 256), with what else there is to know about them.  The
 * lower halves of those pieces that have any are apart.
 */
struct gb_record_end { /* behind the codes */
    float d;
    float sum;     /* of the values */
    int32_t first; /* minus the weights' offset times the sum of the codes */
};

struct gb_low_end { /* likewise */
    int32_t first;
};

/* How a product with N columns goes, and what its columns are. */
enum gb_way {
    GB_WAY_ONE, /* one after another; groups, or floats */
    GB_WAY_FEW, /* weights are turned group by group; turned groups */
    GB_WAY_MANY /* weights become panels; records, or floats */
};

#define GB_FEW_COLS      16  /* quantised: at most, in the mean for experts, */
#define GB_FEW_COLS_MAX  264 /* and at a time */
#define GB_ONE_COLS_REAL 3

#define GB_GROUP 256 /* activations in a group; 0 behind the end of a row */

#define GB_DIGITS 5

/* Units of 64 codes, of which a step takes one or two.  Scales and sides are
 * those of 16 pieces or of 8, in the order of the values. */
struct gb_group {
    int8_t high[GB_GROUP];
    float scale[16]; /* what sums are multiplied with: d or d_high */
    union {
        float side[16];    /* what a weight's minimum or scale is multiplied
                              with: the sum of the values, times minus the
                              offset where there are no minima */
        int32_t first[2][16]; /* of lanes */
        struct {              /* by place, with minima */
            int8_t sums[32];  /* of chunks: 16 upper halves, 16 lower ones */
            float scale[8];   /* minus that of the halves, four times each */
        } chunks;
    };
    int32_t has_low[4]; /* of each step */
    int32_t unused[28]; /* up to an odd number of cache lines: else columns of
                           4096 values would share the first cache's places */
    int8_t low[GB_GROUP]; /* valid where has_low */
};

/*
 * A turned group has a chunk of 16 values in each of sixteen lanes: unit i has
 * the four values from 4 * i on of all chunks.  There is a scale and a side for
 * each lane, and has_low[0] is for all units.
 */

/*
 * Groups by place have a scale for each of sixteen lanes, so that a lane's
 * products with a block of 256 values are one sum of integers; has_low[0] is for
 * all units.  A lane has its four bytes of each unit; with GB_ONE_QUARTERS lanes
 * 4 * l and 4 * l + 1 have quarter l of units 0 and 2, the next two that of units
 * 1 and 3, sixteen times.
 */
enum gb_one {
    GB_ONE_PIECES,   /* not by place */
    GB_ONE_SUMS,     /* by place, with sums of chunks */
    GB_ONE_QUARTERS, /* the same with lanes of quarters */
    GB_ONE_FIRST,    /* with the sum that each lane begins with: minus an offset
                        (ONE_OFFSET) times the sum of its codes */
    GB_ONE_PAIRS,    /* with one for units 0 and 1, and one for 2 and 3 */
    GB_ONE_DIGITS,   /* as GB_ONE_FIRST (struct gb_digits) */
};

/*
 * Weights that are ternary digits, five to a byte, have five units, one for
 * each digit of 52 bytes.
 */
struct gb_digits {
    int8_t high[GB_DIGITS * 64];
    float scale[16];
    int32_t first[16];
    int32_t has_low;
    int32_t unused[15];
    int8_t low[GB_DIGITS * 64];
};

/* How a group's chunks of 16 values are ordered. */
enum gb_order {
    GB_ORDER_PLAIN,
    /* sixteen bytes have 32 values: 0 to 15 in their low nibbles */
    GB_ORDER_NIBBLES,
    /* thirty-two bytes have 64 values: 0 to 31 in their low nibbles */
    GB_ORDER_HALVES,
    /* thirty-two bytes have 128 values, 0 to 31 in their lowest two bits */
    GB_ORDER_QUARTERS,
    /* Those of grids, whose turned groups have a chunk in each lane; elsewhere
     * plain.  For one column unit i has the eight values from 8 * i on of all
     * pieces of 32, or chunks have a lane here too. */
    GB_ORDER_ROWS,
    GB_ORDER_LANES,
};

/* The chunk at place I. */
static inline int
gb_order_chunk(enum gb_order order, int i)
{
    switch (order) {
    case GB_ORDER_NIBBLES:
        return i / 8 * 8 + i % 4 * 2 + i / 4 % 2;
    case GB_ORDER_HALVES:
        return i / 8 * 8 + i / 2 % 2 * 4 + i / 4 % 2 * 2 + i % 2;
    case GB_ORDER_QUARTERS:
        return i / 2 % 2 * 8 + i / 4 * 2 + i % 2;
    default:
        return i;
    }
}

/* The chunk in lane I of a turned group: what turning four by four quads makes
 * of units in that order. */
static inline int
gb_turned_chunk(enum gb_order order, int i)
{
    return order == GB_ORDER_ROWS || order == GB_ORDER_LANES
               ? i
               : gb_order_chunk(order, i % 4 * 4 + i / 4);
}

/* The first of the four values of lane L in unit I of a group by place. */
static inline int
gb_lane_value(enum gb_order order, int l, int i)
{
    switch (order) {
    case GB_ORDER_ROWS:
        return l / 2 * 32 + i * 8 + l % 2 * 4;
    case GB_ORDER_LANES:
        return l * 16 + i * 4;
    default:
        return gb_order_chunk(order, 4 * i + l / 4) * 16 + l % 4 * 4;
    }
}

struct gb_panel; /* kernels/panel.h */
struct gb_codes; /* kernels/turned.h */

/* dst[r] = row r of weights times COLUMN, which is one of groups or of floats;
 * rows begin at X, PITCH bytes apart. */
typedef void (*gb_dots_fn)(int64_t k, int64_t rows, const void *x, size_t pitch,
                           const void *column, float *dst);

/* K values of ROWS rows from X on into a panel; rows up to its width are 0. */
typedef void (*gb_unpack_fn)(int64_t k, int64_t rows, const void *x,
                             size_t pitch, const struct gb_panel *panel);

/* N values of a row from X on. */
typedef void (*gb_floats_fn)(int64_t n, float *dst, const void *x);

/* K values of ROWS rows from X on as turned groups, those of a row one behind
 * the other. */
typedef void (*gb_turn_fn)(int64_t k, int64_t rows, const void *x, size_t pitch,
                           struct gb_codes *to);

struct gb_layout {
    enum ggml_type activation; /* what activations may be instead of F32 */
    int values;   /* in a block of the type */
    size_t bytes; /* of a block */
    int piece;    /* values in a record: 16 or 32; 0 for columns of floats */
    int offset;   /* a weight's code minus its value */
    int has_min;  /* are there minima beside the scales? */
    int steps;    /* quads whose products fit a sum of 16 bits; 0: wide codes */
    enum gb_order order;
    enum gb_one one; /* the groups of products with one column */
    int one_offset;
};

struct gb_weight {
    struct gb_layout layout;
    gb_dots_fn dots;
    gb_unpack_fn unpack;
    gb_floats_fn floats;
    gb_turn_fn turn; /* NULL for floats */
};

static inline enum gb_way
gb_way_of(const struct gb_layout *layout, int64_t cols)
{
    if (layout->piece == 0)
        return cols <= GB_ONE_COLS_REAL ? GB_WAY_ONE : GB_WAY_MANY;
    return cols == 1             ? GB_WAY_ONE
           : cols <= GB_FEW_COLS ? GB_WAY_FEW
                                 : GB_WAY_MANY;
}

/* Units in a step: where nibbles lie so, both have codes of the same pieces. */
static inline int
gb_step_units(const struct gb_layout *layout)
{
    return layout->order == GB_ORDER_NIBBLES ? 2 : 1;
}

/* Where value K of a column is, K a multiple of the type's block. */
static inline size_t
gb_column_offset(const struct gb_layout *layout, int64_t k)
{
    const size_t n = (size_t)k;

    if (layout->piece == 0)
        return n * sizeof(float);
    return n / (size_t)layout->piece *
           ((size_t)layout->piece + sizeof(struct gb_record_end));
}

/* Behind the records of a column of K values are marks for each GB_MARKED
 * values. */
#define GB_MARKED 512

struct gb_marks {
    uint32_t pieces; /* a bit for each that has lower halves */
    int32_t before;  /* how many have any before these */
};

static inline size_t
gb_column_marks(const struct gb_layout *layout, int64_t k)
{
    return gb_column_offset(layout, k);
}

/* Then come the lower halves, as many as there are; bytes when all have. */
static inline size_t
gb_column_lows(const struct gb_layout *layout, int64_t k)
{
    const size_t marks = (size_t)(k + GB_MARKED - 1) / GB_MARKED;

    return gb_column_marks(layout, k) + marks * sizeof(struct gb_marks);
}

static inline size_t
gb_column_low_bytes(const struct gb_layout *layout, int64_t k)
{
    return layout->piece == 0
               ? 0
               : (size_t)(k / layout->piece) *
                     ((size_t)layout->piece + sizeof(struct gb_low_end));
}

/* Bytes of a column of K values among packed ones. */
static inline size_t
gb_packed_bytes(int64_t k)
{
    return (size_t)((k + 15) / 16 * 16) * sizeof(float);
}

/* Bytes of a column of K values: whole cache lines, an odd number of them,
 * since columns a power of two apart would share the cache's places. */
static inline size_t
gb_column_bytes(const struct gb_layout *layout, int64_t k)
{
    const size_t bytes =
        gb_column_lows(layout, k) + gb_column_low_bytes(layout, k);

    return (bytes + 127) / 128 * 128 + 64;
}

/* Bytes of a column of K values for WAY. */
static inline size_t
gb_way_column_bytes(const struct gb_layout *layout, enum gb_way way, int64_t k)
{
    const size_t n = (size_t)k;

    if (layout->piece == 0 || way == GB_WAY_MANY)
        return gb_column_bytes(layout, k);
    return (n + GB_GROUP - 1) / GB_GROUP *
           (way == GB_WAY_ONE && layout->one == GB_ONE_DIGITS
                ? sizeof(struct gb_digits)
                : sizeof(struct gb_group));
}

#endif
