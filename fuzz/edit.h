/* SPDX-License-Identifier: MIT */
/*
 * fuzz/edit.h - nodes as only another program could have made them.
 */
#ifndef GB_FUZZ_EDIT_H
#define GB_FUZZ_EDIT_H

#include "fuzz/bytes.h"

#include "ggml.h"

/* Set one field of one of the N tensors, which BYTES choose, to what they say;
 * or, if there is one, a place in the list of GRAPH's nodes. */
void edit_something(struct fuzz_bytes *bytes, struct ggml_tensor **tensors,
                    int n, struct ggml_cgraph *graph);

#endif
