/* SPDX-License-Identifier: MIT */
/*
 * ggml/graph.h - part of ggml.h: graphs, and the parameters of thread pools.
 *
 * A graph is used by one thread at a time.  NULL where a graph is needed is
 * logged as a failure; nothing happens, and NULL, false or 0 comes back.
 */
#ifndef GGML_H_PARTS
#error "include ggml.h instead of its parts"
#endif
#ifndef GGML_GRAPH_H
#define GGML_GRAPH_H

#ifdef __cplusplus
extern "C" {
#endif

/* -- Graphs -------------------------------------------------------------- */

/*
 * A graph: nodes in the order in which they are computed, and leafs, which are
 * not.  It lives in its context's pool and has room for a number of nodes, and
 * as many leafs, that is fixed when it is made.
 *
 * A graph has failed when it was too small, or was given a failed node or NULL.
 * Allocating or computing it then fails with the reason; ggml_graph_clear makes
 * it whole again.
 */
struct ggml_cgraph;

/*
 * An empty graph for GGML_DEFAULT_GRAPH_SIZE nodes, or for SIZE, with places
 * for gradients if GRADS.  ggml_graph_overhead says how much of the pool it
 * takes.  The graph is CTX's, and used by one thread at a time.  NULL, logged,
 * when the pool has no room, and for NULL.
 */
GGML_API struct ggml_cgraph *ggml_new_graph(struct ggml_context *ctx);
GGML_API struct ggml_cgraph *ggml_new_graph_custom(
    struct ggml_context *ctx, size_t size, bool grads);

/*
 * A graph of the same size with the same tensors, in CTX.  NULL when there is
 * no room.
 */
GGML_API struct ggml_cgraph *ggml_graph_dup(
    struct ggml_context *ctx, struct ggml_cgraph *cgraph);

/*
 * Put SRC's tensors, order and gradients in the place of DST's.  DST has
 * failed, and keeps its tensors, when it is smaller than SRC or has no places
 * for gradients where SRC does.
 */
GGML_API void ggml_graph_cpy(struct ggml_cgraph *src, struct ggml_cgraph *dst);

/* Take all tensors out; a graph that had failed is whole again. */
GGML_API void ggml_graph_clear(struct ggml_cgraph *cgraph);

/*
 * Bytes of a pool that a graph takes.  0 when no graph can be that large.  Any
 * thread.
 */
GGML_API size_t ggml_graph_overhead(void);
GGML_API size_t ggml_graph_overhead_custom(size_t size, bool grads);

/* -- Nodes --------------------------------------------------------------- */

/*
 * Append TENSOR and, before it, everything that it is computed from and that is
 * not there yet: depth first, sources in their order.  Tensors with the
 * operation NONE that are no parameters become leafs.  Those without a name get
 * "node_<n>" or "leaf_<n>".  The graph has failed when there is no room, or
 * when TENSOR is NULL or one of them has failed.
 */
GGML_API void ggml_build_forward_expand(
    struct ggml_cgraph *cgraph, struct ggml_tensor *tensor);

/*
 * Append TENSOR alone: without its sources, and without a look whether it is
 * there.  The graph has failed when it is full.
 */
GGML_API void ggml_graph_add_node(
    struct ggml_cgraph *cgraph, struct ggml_tensor *tensor);

/* How many nodes there is room for. */
GGML_API int ggml_graph_size(struct ggml_cgraph *cgraph);

/*
 * Node I, or for I < 0 the one that many before the end.  NULL when there is
 * none.
 */
GGML_API struct ggml_tensor *ggml_graph_node(
    struct ggml_cgraph *cgraph, int i);

/* The nodes, in an array that is the graph's, and their number. */
GGML_API struct ggml_tensor * *ggml_graph_nodes(struct ggml_cgraph *cgraph);
GGML_API int ggml_graph_n_nodes(struct ggml_cgraph *cgraph);

/*
 * The first leaf, else the first node, with this name; NULL when there is none.
 */
GGML_API struct ggml_tensor *ggml_graph_get_tensor(
    const struct ggml_cgraph *cgraph, const char *name);

/* -- Gradients ----------------------------------------------------------- */

/*
 * Append what computes the gradients of the loss (ggml_set_loss, one F32 value)
 * by the parameters (ggml_set_param) and by all between: reverse accumulation
 * over the nodes that are there, of a graph made with places for gradients and
 * with room for about three times the nodes.  ggml_graph_get_grad gives them.
 *
 * New nodes are made in CTX_COMPUTE.  The loss gets an accumulator in
 * CTX_STATIC, which ggml_graph_reset sets to 1; if ACCUMULATE, so do the
 * parameters, and their gradients are added up there over several runs.  The
 * contexts belong to the caller and must outlive the graph.
 *
 * The graph has failed when there is no parameter or no loss, when an operation
 * in between has no derivative or overwrites what its derivative needs, or when
 * there is no room.  Gradients flow through values of F32 and F16; through
 * indices, positions and a copy's destination they do not.
 */
GGML_API void ggml_build_backward_expand(
    struct ggml_context *ctx_static, struct ggml_context *ctx_compute,
    struct ggml_cgraph *cgraph, bool accumulate);

/*
 * Begin anew, in a graph with gradients: accumulators become 0, those of losses
 * 1, and the moments of AdamW steps 0, if the graph has such.  Once before the
 * first run is enough where nothing is accumulated.
 */
GGML_API void ggml_graph_reset(struct ggml_cgraph *cgraph);

/*
 * The gradient of NODE after the last run, and the accumulator that adds it up
 * over several; with an accumulator the first has the sum, too.  NULL where
 * there is none.
 */
GGML_API struct ggml_tensor *ggml_graph_get_grad(
    const struct ggml_cgraph *cgraph, const struct ggml_tensor *node);
GGML_API struct ggml_tensor *ggml_graph_get_grad_acc(
    const struct ggml_cgraph *cgraph, const struct ggml_tensor *node);

/* -- Showing graphs ------------------------------------------------------ */

/*
 * Log a line for each node and leaf.  Level INFO; the default sink shows it
 * whatever its level.
 */
GGML_API void ggml_graph_print(const struct ggml_cgraph *cgraph);

/*
 * Write GB to a file as a drawing for Graphviz: yellow parameters, pink leafs,
 * green and light blue nodes with a gradient, the green ones in GF too.  GF may
 * be NULL.  A file that cannot be written is logged.
 */
GGML_API void ggml_graph_dump_dot(
    const struct ggml_cgraph *gb, const struct ggml_cgraph *gf,
    const char *filename);

/* Graph files are no more: both log that, write nothing, and give NULL. */
GGML_API void ggml_graph_export(
    const struct ggml_cgraph *cgraph, const char *fname);
GGML_API struct ggml_cgraph *ggml_graph_import(
    const char *fname, struct ggml_context **ctx_data,
    struct ggml_context **ctx_eval);

/* -- Parameters of thread pools ------------------------------------------ */

/*
 * Priority of a pool's threads; above NORMAL the system may want rights for it.
 */
enum ggml_sched_priority {
    GGML_SCHED_PRIO_NORMAL   = 0,
    GGML_SCHED_PRIO_MEDIUM   = 1,
    GGML_SCHED_PRIO_HIGH     = 2,
    GGML_SCHED_PRIO_REALTIME = 3
};

/* How a pool of threads is made (ggml-cpu.h). */
struct ggml_threadpool_params {
    bool cpumask[GGML_MAX_N_THREADS]; /* CPUs to run on; none set: any */
    int n_threads;
    enum ggml_sched_priority prio;
    uint32_t poll;   /* how long to spin before sleeping: 0 never, 100 most */
    bool strict_cpu; /* each thread on one CPU of the mask */
    bool paused;     /* start asleep */
};

struct ggml_threadpool;
typedef struct ggml_threadpool *ggml_threadpool_t;

/*
 * N_THREADS threads of normal priority that wait at half of the spinning (poll
 * 50), are bound to no CPU and not paused; nothing is written to a P of NULL.
 * Any thread.
 */
GGML_API struct ggml_threadpool_params ggml_threadpool_params_default(
    int n_threads);
GGML_API void ggml_threadpool_params_init(
    struct ggml_threadpool_params *p, int n_threads);

/*
 * Could a pool made with P0 serve for P1?  All but paused is compared.  False
 * when one is NULL.  Any thread.
 */
GGML_API bool ggml_threadpool_params_match(
    const struct ggml_threadpool_params *p0,
    const struct ggml_threadpool_params *p1);

#ifdef __cplusplus
}
#endif

#endif
