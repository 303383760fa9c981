/* SPDX-License-Identifier: MIT */
/*
 * graph/graph.h - what the library knows of graphs beyond ggml-impl.h.
 */
#ifndef GB_GRAPH_GRAPH_H
#define GB_GRAPH_GRAPH_H

#include "ggml-impl.h"

/*
 * A graph has failed when it is full, or when a failed node or NULL was put
 * into it. Slices and copies of a failed graph have failed too;
 * ggml_graph_clear makes it whole again.  Allocating or computing a failed
 * graph is an error, with the reason that gb_graph_failure gives.  (The mark is
 * a bit in the struct's order.)
 */
bool gb_graph_is_failed(const struct ggml_cgraph *graph);

/*
 * Why it has failed, "" for a graph that has not.  It lives as long as GRAPH.
 */
const char *gb_graph_failure(const struct ggml_cgraph *graph);

/*
 * Can GRAPH be walked?  FAILED, with the reason logged, for one that has
 * failed, whose counts are no counts, or whose lists hold NULL.  Each function
 * that is given a client's graph asks this first; lists may have been edited.
 */
enum ggml_status gb_graph_check_lists(const struct ggml_cgraph *graph);

/* Mark GRAPH as failed. */
void gb_graph_set_failed(struct ggml_cgraph *graph);

/* Let no tensor of GRAPH have a gradient or an accumulator. */
void gb_graph_forget_gradients(struct ggml_cgraph *graph);

/*
 * Has TENSOR sources behind the first GB_FEW_SRC?  Hardly any has, and asking
 * for all of them at once costs less than looking at each.
 */
enum { GB_FEW_SRC = 4 };
static inline bool
gb_tensor_has_many_src(const struct ggml_tensor *tensor)
{
    struct ggml_tensor *const *s = tensor->src;

    _Static_assert(GGML_MAX_SRC == GB_FEW_SRC + 6, "these are all");
    return ((uintptr_t)s[4] | (uintptr_t)s[5] | (uintptr_t)s[6] |
            (uintptr_t)s[7] | (uintptr_t)s[8] | (uintptr_t)s[9]) != 0;
}

/* The order in which sources are visited, whether GRAPH has failed or not. */
enum ggml_cgraph_eval_order gb_graph_order(const struct ggml_cgraph *graph);

#endif
