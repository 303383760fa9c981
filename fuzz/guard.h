/* SPDX-License-Identifier: MIT */
/*
 * fuzz/guard.h - memory for tensors between pages that nobody may touch.
 */
#ifndef GB_FUZZ_GUARD_H
#define GB_FUZZ_GUARD_H

#include "ggml-backend.h"
#include "ggml.h"

/* Pieces of memory, and bytes of each; before and behind it is such a page. */
enum { GUARD_PIECES = 24, GUARD_BYTES = 16384 };

/* Make them, with a buffer over each. */
void guard_open(void);

/* All are free again. */
void guard_reset(void);

/*
 * Give ROOT, which is no view, a piece of its own: its data end where the piece
 * ends, or, if AT_FRONT, begin where that begins.  They are filled with pattern
 * FILL of GUARD_FILLS.  A tensor that is too large, or finds none free, gets no
 * data.
 */
enum { GUARD_FILLS = 12 };
void guard_place(struct ggml_tensor *root, bool at_front, unsigned fill);

/* Remember what is in the pieces now. */
void guard_keep(void);

/* Stops the process if a byte differs that lies in none of the N_PARTS. */
struct guard_part {
    const char *begin, *end;
};
void guard_compare(const struct guard_part *parts, int n_parts);

/* The buffer over piece I, modulo their number. */
ggml_backend_buffer_t guard_buffer(unsigned i);

#endif
