/* SPDX-License-Identifier: MIT */
/*
 * ggml-alloc.h - giving tensors their places in buffers.
 *
 * Three allocators, from simple to thrifty: the linear one puts tensors behind
 * each other into a buffer that the client has; ggml_backend_alloc_ctx_tensors
 * makes a buffer for all tensors of a context; and the graph allocator finds
 * places for the results of a graph, each of which is used again when nobody
 * needs its contents.
 *
 * An allocator is used by one thread at a time, different ones by any threads.
 */
#ifndef GGML_ALLOC_H
#define GGML_ALLOC_H

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GGML_BACKEND_HANDLES
#define GGML_BACKEND_HANDLES
typedef struct ggml_backend_buffer_type *ggml_backend_buffer_type_t;
typedef struct ggml_backend_buffer *ggml_backend_buffer_t;
typedef struct ggml_backend *ggml_backend_t;
#endif

/* ---- linear allocator ---- */

/*
 * The linear allocator.  A plain struct of the client's, which owns nothing and
 * needs no end.
 */
struct ggml_tallocr {
    ggml_backend_buffer_t buffer;
    void *base;        /* of the buffer */
    size_t alignment;  /* of the buffer */
    size_t offset;     /* of the next tensor, from the base */
};

/*
 * An allocator that begins at the first aligned address of BUFFER.  Its buffer
 * is NULL, and every use of it fails, when BUFFER is NULL.
 */
GGML_API struct ggml_tallocr ggml_tallocr_new(ggml_backend_buffer_t buffer);

/*
 * Put TENSOR, which must be no view and have no data yet, behind the last one.
 *
 * Returns what ggml_backend_tensor_alloc does, and GGML_STATUS_ALLOC_FAILED
 * when the buffer has no room left; tensor and allocator are unchanged then.
 */
GGML_API enum ggml_status ggml_tallocr_alloc(
    struct ggml_tallocr *talloc, struct ggml_tensor *tensor);

/* ---- graph allocator ---- */

/* The graph allocator; owns the buffers that its tensors lie in. */
struct ggml_gallocr;
typedef struct ggml_gallocr *ggml_gallocr_t;

/*
 * An allocator with a slot for each of the N_BUFS buffer types, numbered from
 * 0; the short form has one slot.  A slot is a place for tensors: a buffer of
 * its type, but slots with the same type share one.  Freed with
 * ggml_gallocr_free; NULL without memory.
 */
GGML_API ggml_gallocr_t ggml_gallocr_new(ggml_backend_buffer_type_t buft);
GGML_API ggml_gallocr_t ggml_gallocr_new_n(
    ggml_backend_buffer_type_t *bufts, int n_bufs);

/*
 * Free the allocator with its buffers, which no tensor may use any more.  NULL
 * is allowed.
 */
GGML_API void ggml_gallocr_free(ggml_gallocr_t galloc);

/*
 * Plan GRAPH and make the buffers large enough for it, without touching any
 * tensor.  Usually done once with the largest graph to come: buffers grow and
 * never shrink.  When one grows, what lay in it is gone, so graphs that were
 * allocated before have to be built again.  GRAPH itself is not needed
 * afterwards.
 *
 *   node_buffer_ids, leaf_buffer_ids   the slot of each node and each leaf of
 *                                      the graph, in the order of its nodes
 *                                      and leafs (ggml-impl.h); NULL, and the
 *                                      short form, mean slot 0
 *
 * Tensors that have data already, and views, are left where they are.  Leafs,
 * and tensors flagged as inputs, never share memory with each other; after its
 * last reader even an input's memory may be used again, so inputs are to be set
 * before every compute.  Outputs, and results that no node reads, stay to the
 * end.
 *
 * False when there is no memory, a buffer cannot be had, the graph has failed
 * or a slot does not exist.
 */
GGML_API bool ggml_gallocr_reserve(
    ggml_gallocr_t galloc, struct ggml_cgraph *graph);
GGML_API bool ggml_gallocr_reserve_n(
    ggml_gallocr_t galloc, struct ggml_cgraph *graph,
    const int *node_buffer_ids, const int *leaf_buffer_ids);

/*
 * Give every tensor of GRAPH its place: data and buffer, for views too.  Those
 * of a graph that was allocated before must not be used any more.
 *
 * The last plan is used when GRAPH has the same make (nodes, sources, flags)
 * and no tensor that needs more room than its counterpart.  If not, an
 * allocator with one slot plans again, as ggml_gallocr_reserve does, and takes
 * a larger buffer where that is needed, which ggml_gallocr_get_buffer_size
 * shows; one with several gives false and has touched nothing, and the caller
 * reserves with the slots that only it knows.
 *
 * False also when a buffer cannot be had, a backend refuses a tensor, the graph
 * has failed, or a tensor that had data in the plan has none now.
 */
GGML_API bool ggml_gallocr_alloc_graph(
    ggml_gallocr_t galloc, struct ggml_cgraph *graph);

/*
 * Bytes of the slot's buffer; 0 when it has none yet, shares that of a lower
 * slot, or does not exist.
 */
GGML_API size_t ggml_gallocr_get_buffer_size(
    ggml_gallocr_t galloc, int buffer_id);

/* ---- all tensors of a context ---- */

/*
 * Memory for all tensors of CTX (made with no_alloc) that are no views and have
 * no data yet, in the order of their making; then their views get their places.
 *
 *   buft      the kind of memory; the second form uses the backend's default
 *
 * Returns the buffer, which the caller frees after the last use of the tensors:
 * one of exactly the size needed, or a multi-buffer where the type's largest
 * buffer is too small.  NULL when nothing needed memory, and when something
 * failed; no tensor refers to memory then that is gone.
 */
GGML_API struct ggml_backend_buffer *ggml_backend_alloc_ctx_tensors_from_buft(
    struct ggml_context *ctx, ggml_backend_buffer_type_t buft);
GGML_API struct ggml_backend_buffer *ggml_backend_alloc_ctx_tensors(
    struct ggml_context *ctx, ggml_backend_t backend);

#ifdef __cplusplus
}
#endif

#endif
