/* SPDX-License-Identifier: MIT */
/*
 * type/validate.c - is this row one that the format can have?
 *
 * Codes need no look: every pattern of bits names a code.  What can be wrong is
 * a scale that is no number.  Scales in blocks are little-endian; values that
 * are in no block are as the machine has them.
 */
#include "config.h"

#include "lib/base/byte-order.h"
#include "lib/base/status.h"
#include "lib/type/half.h"
#include "lib/type/type.h"

#include <math.h>
#include <string.h>

static bool
f16_is_finite(uint16_t half)
{
    return (half & 0x7C00) != 0x7C00;
}

static bool
bf16_is_finite(uint16_t half)
{
    return (half & 0x7F80) != 0x7F80;
}

/* A number of SIZE bytes; rows that come from outside may lie at any address. */
static void
load(bool is_in_block, const char *at, void *number, size_t size)
{
    memcpy(number, at, size);
    if (is_in_block)
        gb_le_bytes(number, size, size);
}

static uint16_t
load_u16(bool is_in_block, const char *at)
{
    uint16_t word;

    load(is_in_block, at, &word, sizeof(word));
    return word;
}

/* The half in the top four bits of each of four words, the lowest first. */
static uint16_t
load_spread_half(const char *at)
{
    unsigned half = 0;

    for (int i = 0; i < 4; i++)
        half |= (unsigned)(load_u16(true, at + 2 * i) >> 12) << 4 * i;
    return (uint16_t)half;
}

static bool
f32_is_finite(bool is_in_block, const char *at)
{
    float value;

    load(is_in_block, at, &value, sizeof(value));
    return isfinite(value);
}

static bool
f64_is_finite(const char *at)
{
    double value;

    memcpy(&value, at, sizeof(value));
    return isfinite(value);
}

/* Is number INDEX of those that TYPE checks at AT what it should be? */
static bool
is_good(const struct gb_type *type, const char *at, int index)
{
    const bool is_in_block = type->block > 1;

    switch (type->check) {
    case GB_CHECK_REFUSE:
        return false;
    case GB_CHECK_ANY:
        return true;
    case GB_CHECK_F16:
        return f16_is_finite(load_u16(is_in_block, at + 2 * index));
    case GB_CHECK_BF16:
        return bf16_is_finite(load_u16(is_in_block, at + 2 * index));
    case GB_CHECK_F32:
        return f32_is_finite(is_in_block, at + 4 * index);
    case GB_CHECK_F64:
        return f64_is_finite(at + 8 * index);
    case GB_CHECK_IQ1_M:
        return f16_is_finite(load_spread_half(at));
    }
    return false;
}

bool
ggml_validate_row_data(enum ggml_type type, const void *data, size_t nbytes)
{
    const struct gb_type *t = gb_type_get(type);
    const char *block = data;

    if (t->bytes == 0 || t->check == GB_CHECK_REFUSE) {
        gb_fail(GGML_STATUS_FAILED, "rows of type %s (%d) cannot be checked",
                t->name, (int)type);
        return false;
    }
    if (nbytes % t->bytes != 0) {
        gb_fail(GGML_STATUS_FAILED,
                "row of %s: %zu bytes are not whole blocks of %zu", t->name,
                nbytes, t->bytes);
        return false;
    }
    for (size_t i = 0; i < nbytes / t->bytes; i++, block += t->bytes) {
        for (int k = 0; k < t->check_count; k++) {
            if (!is_good(t, block + t->check_at, k)) {
                gb_fail(GGML_STATUS_FAILED,
                        "row of %s: block %zu is not finite", t->name, i);
                return false;
            }
        }
    }
    return true;
}
