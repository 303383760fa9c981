/* SPDX-License-Identifier: MIT */
/*
 * node/apart.h - whether elements of a tensor share bytes.
 *
 * A header, since the CPU is in the library and does not link lib/node.
 */
#ifndef GB_NODE_APART_H
#define GB_NODE_APART_H

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * True if each byte of T belongs to one element or block alone.  T has elements, and
 * its last byte is within the address space.
 *
 * The dimensions are taken in the order of their strides.  Each stride must be at least
 * the bytes that the dimensions before it span.
 */
static inline bool
gb_node_is_apart(const struct ggml_tensor *t)
{
    size_t below = ggml_type_size(t->type);
    int64_t left[GGML_MAX_DIMS] = {
        t->ne[0] / ggml_blck_size(t->type), t->ne[1], t->ne[2], t->ne[3]
    };

    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        int next = 0;

        for (int d = 1; d < GGML_MAX_DIMS; d++)
            if (left[d] > 1 && (left[next] == 1 || t->nb[d] < t->nb[next]))
                next = d;
        if (left[next] > 1 && t->nb[next] < below)
            return false;
        below += (size_t)(left[next] - 1) * t->nb[next];
        left[next] = 1;
    }
    return true;
}

#endif
