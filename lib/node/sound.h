/* SPDX-License-Identifier: MIT */
/*
 * node/sound.h - whether a tensor alone can be worked on, whatever a client
 * wrote into it.
 *
 * Pointers are believed: one that is not NULL points to what its type says.
 * Values of elements, such as row numbers, are not looked at.
 */
#ifndef GB_NODE_SOUND_H
#define GB_NODE_SOUND_H

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most elements of a tensor: an int64_t then counts bytes of elements of
 * eight bytes, and sums of a few such numbers. */
#define GB_NODE_MAX_ELEMENTS (INT64_C(1) << 58)

/*
 * *bytes = the bytes from T's first one to its last one, 0 for an empty tensor.
 *
 * False if T has no extent: its type has no values, a dimension is negative,
 * there are more than GB_NODE_MAX_ELEMENTS elements, a row does not consist of
 * whole blocks, a stride is no multiple of the size of an element or block, or
 * the bytes are more than a quarter of all addresses.  *bytes is then undefined.
 */
bool gb_node_extent(const struct ggml_tensor *t, size_t *bytes);

/* True if T has an extent, and its address, if it has one yet, is aligned for
 * its type.  A view of a quantised tensor begins with a block of that. */
bool gb_node_is_sound(const struct ggml_tensor *t);

/* True if T has an extent, in which each element has bytes of its own: what is
 * written to others would depend on the order of threads, and with strides of 0
 * a result could take any time.  Sources need none, since strides of 0 repeat
 * values. */
bool gb_node_has_places(const struct ggml_tensor *t);

/* True if T has an address and an extent, all of it in the SIZE bytes at
 * BASE. */
bool gb_node_is_within(const struct ggml_tensor *t, uintptr_t base, size_t size);

#endif
