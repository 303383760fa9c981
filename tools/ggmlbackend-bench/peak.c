/* SPDX-License-Identifier: MIT */
/*
 * bench/peak.c - the best code there is, and plain C for any machine.
 */
#include "tools/ggmlbackend-bench/peak.h"

#include <string.h>

#define N_SUMS 12
#define LANES  16

/* Hides from the compiler that VALUE is never read. */
#define KEEP(value) __asm__ volatile("" : : "r"(&(value)) : "memory")

static bool
always(void)
{
    return true;
}

/* Independent sums, enough of them to hide the latency of one addition. */
static void
multiply_reals(uint64_t rounds)
{
    float sums[N_SUMS][LANES] = { { 0 } };

    for (uint64_t r = 0; r < rounds; r++) {
        for (int i = 0; i < N_SUMS; i++)
            for (int j = 0; j < LANES; j++)
                sums[i][j] = sums[i][j] * 0.999f + 0.001f;
        KEEP(sums);
    }
}

static void
multiply_bytes(uint64_t rounds)
{
    int8_t a[64], b[64];
    int32_t sums[LANES] = { 0 };

    memset(a, 1, sizeof(a));
    memset(b, 2, sizeof(b));
    for (uint64_t r = 0; r < rounds; r++) {
        KEEP(a);
        for (int j = 0; j < LANES; j++)
            for (int i = 0; i < 4; i++)
                sums[j] += a[j * 4 + i] * b[j * 4 + i];
        KEEP(sums);
    }
}

static uint64_t
read_words(const void *bytes, size_t size)
{
    const size_t part = size / READ_PLACES / sizeof(uint64_t);
    const uint64_t *words = bytes;
    uint64_t sums[READ_PLACES] = { 0 }, sum = 0;

    for (size_t i = 0; i < part; i++)
        for (size_t j = 0; j < READ_PLACES; j++)
            sums[j] ^= words[j * part + i];
    for (size_t j = 0; j < READ_PLACES; j++)
        sum ^= sums[j];
    return sum;
}

/* Without an instruction of its own bfloat16 is computed as F32. */
static const struct peak_row portable_rows[] = {
    { PEAK_INT8, "C", always, 2.0 * 64, multiply_bytes },
    { PEAK_BF16, "C, in fp32", always, 2.0 * N_SUMS * LANES, multiply_reals },
    { PEAK_FP32, "C", always, 2.0 * N_SUMS * LANES, multiply_reals },
    { PEAK_F16, "C, in fp32", always, 2.0 * N_SUMS * LANES, multiply_reals },
};

static const struct read_row portable_read = { "C", always, read_words };

const struct peak_row *
peak_best(enum peak peak)
{
    size_t n;
    const struct peak_row *rows = peak_rows_machine(&n);

    for (size_t i = 0; i < n; i++)
        if (rows[i].peak == peak && rows[i].is_there())
            return &rows[i];
    return &portable_rows[peak];
}

const struct read_row *
read_best(void)
{
    size_t n;
    const struct read_row *rows = read_rows_machine(&n);

    for (size_t i = 0; i < n; i++)
        if (rows[i].is_there())
            return &rows[i];
    return &portable_read;
}

const char *
peak_name(enum peak peak)
{
    static const char *const names[N_PEAKS] = { "int8", "bf16", "fp32",
                                                "f16" };

    return names[peak];
}
