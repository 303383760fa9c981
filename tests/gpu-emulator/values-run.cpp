/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values-run.cpp - a kernel of values.cu is run, and numbers.
 */
#include "tests/gpu-emulator/values-run.h"

#include "tests/gpu-emulator/emulator.h"

extern "C" {
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
}

#include <math.h>
#include <string.h>

#define GB_VALUE(name, threads, shared) \
    extern "C" void gb_value_##name(const struct gb_value_args);
GB_VALUES
#undef GB_VALUE

namespace {

/* ---- running a kernel ---- */

template <void (*function)(gb_value_args)>
void
call(const void *args)
{
    function(*(const gb_value_args *)args);
}

struct row {
    const char *name;
    void (*call)(const void *args);
    unsigned threads;
    size_t shared;
};

const row rows[] = {
#define GB_VALUE(name, threads, shared) \
    { #name, call<gb_value_##name>, threads, shared },
    GB_VALUES
#undef GB_VALUE
};

const row &
row_of(const char *name)
{
    for (const row &r : rows)
        if (strcmp(r.name, name) == 0)
            return r;
    fail_msg("no kernel %s", name);
    return rows[0];
}

uint32_t *
upload(const words &from)
{
    uint32_t *const to =
        (uint32_t *)emu::memory_alloc(0, from.size() * sizeof(uint32_t));

    assert_non_null(to);
    memcpy(to, from.data(), from.size() * sizeof(uint32_t));
    emu::memory_wrote(to, from.size() * sizeof(uint32_t));
    return to;
}

} // namespace

unsigned
threads_of(const char *name)
{
    return row_of(name).threads;
}

size_t
shared_of(const char *name)
{
    return row_of(name).shared;
}

static uint64_t
launch(const char *name, const unsigned grid[3], const unsigned block[3],
       int matrix_shares, const words &in, words *out)
{
    const row &r = row_of(name);
    gb_value_args args = { upload(in), upload(words(out->size())) };
    const emu::kernel k = { r.name, "values", r.call, sizeof(args), r.threads,
                            r.shared, 0 };
    const emu::launch l = { &k, 0, { grid[0], grid[1], grid[2] },
                            { block[0], block[1], block[2] }, r.shared, &args,
                            sizeof(args), false, matrix_shares };
    const uint64_t before = emu::reports();

    assert_int_equal(emu::run(l), 0);
    memcpy(out->data(), args.out, out->size() * sizeof(uint32_t));
    emu::memory_free((void *)args.in);
    emu::memory_free(args.out);
    return emu::reports() - before;
}

void
run(const char *name, const unsigned grid[3], const unsigned block[3],
    const words &in, words *out)
{
    assert_int_equal(launch(name, grid, block, 1, in, out), 0);
}

uint64_t
run_shared(const char *name, int matrix_shares, const words &in, words *out)
{
    const unsigned one[3] = { 1, 1, 1 };
    const unsigned block[3] = { row_of(name).threads, 1, 1 };

    return launch(name, one, block, matrix_shares, in, out);
}

void
run_block(const char *name, const words &in, words *out)
{
    const unsigned one[3] = { 1, 1, 1 };
    const unsigned block[3] = { row_of(name).threads, 1, 1 };

    run(name, one, block, in, out);
}

/* ---- numbers ---- */

uint32_t
next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

uint32_t
bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

float
float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

double
small_float(uint32_t bits, int fraction_bits, int bias)
{
    const int exponent =
        (int)(bits >> fraction_bits & ((1u << (15 - fraction_bits)) - 1));
    const double fraction =
        ldexp(bits & ((1u << fraction_bits) - 1), -fraction_bits);
    const double size =
        exponent == 0 ? ldexp(fraction, 1 - bias)
                      : ldexp(1 + fraction, exponent - bias);

    return (bits & 0x8000) != 0 ? -size : size;
}

double
of_f16(uint32_t bits)
{
    return small_float(bits, 10, 15);
}

double
of_bf16(uint32_t bits)
{
    return small_float(bits, 7, 127);
}

/* The driver's part, which these programs have not: nothing is pinned. */
bool
emu::host_is_pinned(const void *, size_t)
{
    return false;
}

bool
emu::host_is_reachable(const void *, size_t)
{
    return false;
}
