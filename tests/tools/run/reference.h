/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/reference.h - a language model in double precision, plainly.
 */
#ifndef TESTS_TOOLS_RUN_REFERENCE_H
#define TESTS_TOOLS_RUN_REFERENCE_H

#include <stddef.h>

/*
 * The logits after each of N tokens of the tiny model at PATH: N rows of
 * *N_VOCAB numbers, to be freed.  Everything is double but the cached keys and
 * values, which are rounded to halves as the program's cache holds them.
 */
double *reference_logits(const char *path, const int *ids, size_t n,
                         size_t *n_vocab);

#endif
