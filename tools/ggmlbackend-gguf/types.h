/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/types.h - the types that weights of models have.
 */
#ifndef GGUF_TOOL_TYPES_H
#define GGUF_TOOL_TYPES_H

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>

/* True if the library can make real numbers of TYPE. */
bool type_has_floats(enum ggml_type type);

/* Reads NAME into *OUT, in any case of letters; false after a message with the
 * names of all types that convert writes. */
bool type_find(const char *name, enum ggml_type *out);

/* Puts these names into OUT, of SIZE bytes: "f32, f16, …"; returns OUT. */
const char *type_names(char *out, size_t size);

/* The type for rows that are not whole blocks of TYPE: one with smaller blocks
 * and at least as many bits, or TYPE itself if there is none. */
enum ggml_type type_with_smaller_blocks(enum ggml_type type);

/* The number that general.file_type has for a file whose weights are mostly of
 * TYPE; -1 if there is none. */
int type_file_number(enum ggml_type type);

#endif
