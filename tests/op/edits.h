/* SPDX-License-Identifier: MIT */
/*
 * tests/op/edits.h - what a client may write into a node after it was built:
 * each field, to values that nobody can have meant.
 */
#ifndef GB_TESTS_OP_EDITS_H
#define GB_TESTS_OP_EDITS_H

#include "ggml-backend.h"
#include "ggml.h"

#include <stdbool.h>

enum { EDITS_MAX_TENSORS = 24 };

/* A graph's tensors; a tensor's buffer may be NULL. */
struct edited {
    struct ggml_tensor *tensor[EDITS_MAX_TENSORS];
    ggml_backend_buffer_t buffer[EDITS_MAX_TENSORS];
    int n;
};

enum edit {
    EDIT_TYPE,
    EDIT_SIZE,
    EDIT_STRIDE,
    EDIT_OP, /* never one of the client's functions */
    EDIT_PARAM,
    EDIT_SOURCE,
    EDIT_VIEW,
    EDIT_DATA,
    EDIT_BUFFER,
    EDIT_OTHERS, /* a name without an end, unknown flags */
    EDIT_COUNT,
};

/* How many ways there are to change a field of a tensor of EDITED. */
int edits_ways(const struct edited *edited, enum edit edit);

/*
 * Change that field of tensor T in way number WAY.  The same in two graphs that
 * are built alike has the same effect.  It is written to WHAT, of SIZE bytes.
 */
void edits_apply(struct edited *edited, enum edit edit, int t, int way,
                 char *what, size_t size);

#endif
