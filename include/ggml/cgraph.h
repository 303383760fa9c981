/* SPDX-License-Identifier: MIT */
/*
 * ggml/cgraph.h - the graph struct, part of ggml-impl.h; and of ggml.h for
 * backends of 2023, which found it there.
 */
#ifndef GGML_H_PARTS
#error "include ggml-impl.h instead of its parts"
#endif
#ifndef GGML_CGRAPH_H
#define GGML_CGRAPH_H

/* One bit each, 32 to a word. */
typedef uint32_t ggml_bitset_t;

/* Open addressing; a slot's number also indexes arrays beside the set. */
struct ggml_hash_set {
    size_t size;               /* slots */
    ggml_bitset_t *used;       /* one bit a slot */
    struct ggml_tensor **keys; /* valid where the bit is set */
};

enum ggml_cgraph_eval_order {
    GGML_CGRAPH_EVAL_ORDER_LEFT_TO_RIGHT = 0,
    GGML_CGRAPH_EVAL_ORDER_RIGHT_TO_LEFT = 1,
    GGML_CGRAPH_EVAL_ORDER_COUNT         = 2
};

/*
 * Nodes are computed in their order.  A slice (ggml_graph_view) has no leafs,
 * no gradients and a set of size 0: never ask it for a tensor.
 */
struct ggml_cgraph {
    int size;                       /* room for nodes, and for leafs */
    int n_nodes;
    int n_leafs;
    struct ggml_tensor **nodes;     /* with an operation, or parameters */
    struct ggml_tensor **grads;     /* by slot of the set; NULL without */
    struct ggml_tensor **grad_accs; /* by slot of the set; NULL without */
    struct ggml_tensor **leafs;     /* without an operation */
    struct ggml_hash_set visited_hash_set;
    enum ggml_cgraph_eval_order order;
};

#endif
