/* SPDX-License-Identifier: MIT */
/*
 * bench/peak.h - code that does nothing but compute, or nothing but read, as
 * fast as one core can.
 *
 * An operation is one multiplication or one addition.
 */
#ifndef TOOLS_BENCH_PEAK_H
#define TOOLS_BENCH_PEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum peak {
    PEAK_INT8, /* products of bytes, summed in 32 bits */
    PEAK_BF16, /* products of bfloat16, summed in F32 */
    PEAK_FP32,
    PEAK_F16, /* of cards: a CPU computes them as F32, and counts them so */
    N_PEAKS,
};

struct peak_row {
    enum peak peak;
    const char *instruction;
    bool (*is_there)(void); /* on this machine */
    double ops;             /* of one round */
    void (*run)(uint64_t rounds);
};

/* Tiles of AMX, which are told beside the others: no product of vectors is held
 * against them.  Rows as above, *N of them; is_there() asks the kernel for the
 * permission, once, and tries a tile in a child, since a machine may say that it has
 * them and fail. */
const struct peak_row *peak_rows_tiles(size_t *n);

/*
 * A sum over SIZE bytes, a multiple of READ_STEP, at an address that is one of
 * 64; what it is does not matter.  It is read at eight places in turns: on a
 * Zen 4 one place alone gave 26 GB/s where eight gave 35.
 */
#define READ_PLACES 8
#define READ_STEP   4096

struct read_row {
    const char *instruction;
    bool (*is_there)(void);
    uint64_t (*run)(const void *bytes, size_t size);
};

/*
 * Rows for this kind of processor, best first, *N of them; those that are not
 * there() may not be run.
 */
const struct peak_row *peak_rows_machine(size_t *n);
const struct read_row *read_rows_machine(size_t *n);

/* The best there is; always something. */
const struct peak_row *peak_best(enum peak peak);
const struct read_row *read_best(void);

const char *peak_name(enum peak peak);

#endif
