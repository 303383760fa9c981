/* SPDX-License-Identifier: MIT */
/*
 * node/part.h - the part of a tensor that ACC adds to and SET replaces.
 */
#ifndef GB_NODE_PART_H
#define GB_NODE_PART_H

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>

/* The part of NODE, whose sources are there, as a tensor: the shape of src1,
 * elements of a row next to each other, strides of the parameters.  It begins
 * gb_node_part_offset bytes behind the node's first one; it has no data. */
struct ggml_tensor gb_node_part_of(const struct ggml_tensor *node);
size_t gb_node_part_offset(const struct ggml_tensor *node);

/* Have no two rows of PART, which is not empty, a byte in common? */
bool gb_node_rows_are_apart(const struct ggml_tensor *part);

#endif
