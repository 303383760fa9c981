/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-gguf/held.h - refusing values that a type cannot hold.
 *
 * These are NaN and infinities, and values beyond the range of the type: 70000 of
 * F16, or what the F16 scale of a block cannot reach.
 */
#ifndef GGUF_TOOL_HELD_H
#define GGUF_TOOL_HELD_H

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * True if BLOCKS, of TYPE, hold X: N_ROWS rows of tensor T from row ROW on, of the
 * file PATH.  Else false after a message with the row and the value.
 */
bool held_check(const char *path, const struct ggml_tensor *t,
                enum ggml_type type, int64_t row, int64_t n_rows,
                const float *x, const uint8_t *blocks);

/* The same of all DATA of T, which keeps its type. */
bool held_check_copy(const char *path, const struct ggml_tensor *t,
                     const uint8_t *data);

#endif
