/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/unpack.c - read what pack.c wrote.  Nothing is believed: each count
 * and each distance is held against what there is.
 */
#include "backends/cuda/device/unpack.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    HEAD = 12, /* bytes before the first step */
    FIELD = 7, /* a count that a number is added to */
    UNIT = 4,  /* of distances of kinds 1 and 2 */
};

struct reader {
    const unsigned char *at, *end;
    bool has_failed; /* something was read behind the end, or is too long */
};

static size_t
word_at(const unsigned char *at)
{
    return (size_t)at[0] | (size_t)at[1] << 8 | (size_t)at[2] << 16 |
           (size_t)at[3] << 24;
}

static size_t
take(struct reader *from)
{
    if (from->at < from->end)
        return *from->at++;
    from->has_failed = true;
    return 0;
}

/* A field of a step's first byte, and the number that is added to a full one. */
static size_t
take_count(struct reader *from, size_t field)
{
    size_t value = 0, byte;

    if (field < FIELD)
        return field;
    for (int shift = 0; shift < 28; shift += 7) {
        byte = take(from);
        value |= (byte & 127) << shift;
        if (byte < 128)
            return FIELD + value;
    }
    from->has_failed = true;
    return 0;
}

static size_t
take_distance(struct reader *from, size_t kind)
{
    size_t value = 0;

    for (size_t i = 0; i < kind; i++)
        value |= take(from) << 8 * i;
    return kind < 3 ? UNIT * (value + 1) : value + 1;
}

static size_t
sum_of(const unsigned char *bytes, size_t n)
{
    uint32_t sum = 2166136261u;

    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum;
}

size_t
gb_cuda_unpacked_size(const unsigned char *image, size_t size)
{
    if (size < HEAD || memcmp(image, "GBPK", 4) != 0)
        return 0;
    return word_at(image + 4);
}

const char *
gb_cuda_unpack(const unsigned char *image, size_t size, unsigned char *out)
{
    const size_t most = gb_cuda_unpacked_size(image, size);
    struct reader from = { .at = image + HEAD, .end = image + size };
    size_t n = 0, distance = 0;

    while (n < most) {
        const size_t step = take(&from);
        const size_t run = take_count(&from, step >> 5);
        size_t length;

        if (from.has_failed || run > (size_t)(from.end - from.at))
            return "it ends too early";
        if (run > most - n)
            return "it gives more than it says";
        memcpy(out + n, from.at, run);
        from.at += run;
        n += run;
        if (n == most)
            break;
        if ((step & 3) != 0)
            distance = take_distance(&from, step & 3);
        length = take_count(&from, step >> 2 & FIELD);
        length += (step & 3) != 0 ? 3 : 2;
        if (from.has_failed)
            return "it ends too early";
        if (distance == 0 || distance > n)
            return "it copies what is not there";
        if (length > most - n)
            return "it gives more than it says";
        for (; length > 0; length--, n++)
            out[n] = out[n - distance];
    }
    if (from.at != from.end)
        return "it goes on behind its end";
    return sum_of(out, n) == word_at(image + 8) ? NULL : "its sum is wrong";
}
