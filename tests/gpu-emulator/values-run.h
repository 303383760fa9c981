/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values-run.h - a kernel of values.cu is run, and numbers.
 */
#ifndef GB_GPU_EMULATOR_VALUES_RUN_H
#define GB_GPU_EMULATOR_VALUES_RUN_H

#include "tests/gpu-emulator/values.h"

#include <stddef.h>
#include <stdint.h>

#include <vector>

typedef std::vector<uint32_t> words;

/* Of threads: all that tests go through. */
static const char *const orders[] = { "0", "1", "2" };

/* ---- kernels, by the name after gb_value_ ---- */

unsigned threads_of(const char *name);
size_t shared_of(const char *name); /* bytes of dynamic shared memory */
/* OUT's words are 0 before.  Nothing may be reported. */
void run(const char *name, const unsigned grid[3], const unsigned block[3],
         const words &in, words *out);
/* The same on a card where so many lanes share a line of a matrix instruction's;
 * how often something is reported. */
uint64_t run_shared(const char *name, int matrix_shares, const words &in,
                    words *out);
void run_block(const char *name, const words &in, words *out);

/* ---- numbers ---- */

/* The next one by chance, of 24 bits. */
uint32_t next(uint32_t *state);
uint32_t bits_of(float value);
float float_of(uint32_t bits);
/* By the formats' definition: sign, exponent, fraction. */
double small_float(uint32_t bits, int fraction_bits, int bias);
double of_f16(uint32_t bits);
double of_bf16(uint32_t bits);

/* ---- tests of values-matrix.cpp ---- */

void products_of_matrix_cores_are_those_of_the_layouts(void **);
void lanes_that_share_a_line_bring_the_same(void **);

/* ---- tests of values-async.cpp ---- */

void products_of_warp_groups_are_those_of_the_layouts(void **);
void products_by_columns_are_those_of_the_layouts(void **);
void boxes_come_swizzled_with_zeros_outside(void **);
void boxes_of_four_dimensions_come_row_by_row(void **);

#endif
