/* SPDX-License-Identifier: MIT */
/*
 * node/node.h - whether a node is one that its operation defines, for backends
 * that are given nodes of any client's making.
 *
 * A node is valid if the sources that its operation reads are there, it and they
 * are sound (sound.h), and types, shapes and parameters fit together, so that
 * each element of the result is defined and lies in the memory of a tensor that
 * says it has it.  Whatever a client wrote into a node, asking is no error.  Each type of
 * floating-point numbers is as good as another, where the operation does not
 * ask for one.  Strides are any multiples of an element's size, but that elements of a
 * row are next to each other where all backends' kernels go along rows.
 *
 * A backend asks this first and then, of a valid node, what its own kernels
 * cannot do: a type or an alignment that none of them reads, a tensor that is
 * too large.  Whether tensors are in memory that the backend reaches, and end
 * there (gb_node_is_within), it asks when it makes a plan.
 *
 * Public headers alone are used, and nothing is exported: each backend links
 * its own copy.  All functions may be called by any thread; tensors need not
 * have memory yet.
 */
#ifndef GB_NODE_NODE_H
#define GB_NODE_NODE_H

#include "ggml.h"

#include <stdbool.h>

/* Is NODE, of an operation of nodes.def, valid?  False for other operations. */
bool gb_node_is_valid(const struct ggml_tensor *node);

/* The same of a node of the rows of nodes.def that have this name, whose
 * sources are there and sound, as it is. */
#define GB_NODE(op, name, n_sources) \
    bool gb_node_valid_##name(const struct ggml_tensor *node);
#include "lib/node/nodes.def"
#undef GB_NODE

/* The name of NODE's operation for a message: of a UNARY the function's.  Whatever
 * stands in NODE. */
const char *gb_node_word(const struct ggml_tensor *node);

/* For "%.*s" of a message: a name that may have no 0 at its end. */
#define GB_NODE_NAME(t) (int)sizeof((t)->name), (t)->name

#endif
