/* SPDX-License-Identifier: MIT */
/*
 * model/graph.h - a model's computation as graphs.
 *
 * There are two: the body makes hidden states of tokens, the head makes logits
 * of hidden states.  A graph belongs to a shape and is computed again and
 * again; where in the cache it writes is moved by graph_set_past.
 *
 * The body of a model on several devices is computed by a scheduler, and a graph
 * of it without results is only queued: it may be under way while another one is
 * made.  Graphs run in the order in which they were queued.
 */
#ifndef TOOLS_MODEL_GRAPH_H
#define TOOLS_MODEL_GRAPH_H

#include "tools/model/kv-cache.h"
#include "tools/model/model.h"

#include <stdbool.h>
#include <stddef.h>

/* A place in the cache that a graph writes to, as a view and as the result of
   the copy, which is a view of the same bytes. */
struct graph_store {
    struct ggml_tensor *view;
    struct ggml_tensor *copy;
    size_t step; /* bytes from one position to the next */
};

/* Zeroed is no graph yet. */
struct graph {
    int64_t n_tokens; /* tokens of a body, rows of a head */
    int64_t n_out;    /* the last of them, whose results are wanted */
    int64_t n_kv;     /* cached positions a body sees, 0 for a head */

    struct ggml_tensor *tokens;     /* I32 [n_tokens] */
    struct ggml_tensor *positions;  /* I32 [n_tokens] */
    struct ggml_tensor *mask;       /* F16 [n_kv, n_tokens], 0 or -inf, and
                                       unused rows, as the operation wants
                                       behind any of them */
    struct ggml_tensor *mask_local; /* the same for windowed layers, or NULL */
    struct ggml_tensor *hidden;     /* of a head: F32 [n_embd, n_tokens] */
    struct ggml_tensor *result;     /* hidden states, or logits, F32 [, n_out];
                                       NULL when there are none */
    bool has_logits;                /* a body whose result is those of a token */

    struct graph_store *stores;
    size_t n_stores;
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    const char *names;           /* of the devices, for messages */
    const struct device *device; /* that computes it, with ALLOC, or */
    ggml_gallocr_t alloc;
    ggml_backend_sched_t sched;  /* what computes it on several, else NULL */
    int n_assigned;              /* of its nodes, which have a device there */
};

/*
 * Make GRAPH compute N_TOKENS tokens that see N_KV positions, and the hidden
 * states of the last N_OUT of them, of one its logits; or the logits of N_ROWS
 * rows.  Does nothing when it does so already.  False after a message.
 */
bool graph_make_body(struct graph *graph, const struct model *model,
                     const struct kv_cache *cache, int64_t n_tokens,
                     int64_t n_out, int64_t n_kv);
bool graph_make_head(struct graph *graph, const struct model *model,
                     int64_t n_rows);

/*
 * Let GRAPH, on several devices, have memory for all bodies of N_TOKENS that see
 * up to N_KV positions: to get more later it would have to wait for what is
 * under way.  False after a message.
 */
bool graph_reserve_body(struct graph *graph, const struct model *model,
                        const struct kv_cache *cache, int64_t n_tokens,
                        int64_t n_out, int64_t n_kv);

/* The first of the tokens is at position N_PAST. */
void graph_set_past(struct graph *graph, int64_t n_past);

/* Compute it, or queue it; false after a message, which may be about what was
 * queued before, or without one when the device was asked to stop. */
bool graph_run(const struct graph *graph);

/* Waits for what is under way. */
void graph_free(struct graph *graph);

#endif
