/* SPDX-License-Identifier: MIT */
/*
 * bench/llama.h - the graph of a language model as clients make it: norms of
 * squares, rotated keys in a cache of halves, attention by one operation, a gated
 * feed-forward part or a mixture of experts.  No weight has a value.
 */
#ifndef GB_BENCH_LLAMA_H
#define GB_BENCH_LLAMA_H

#include "ggml-backend.h"

enum { BENCH_MAX_LAYERS = 32 };

struct bench_shape {
    enum ggml_type type; /* of weights of products */
    int n_layers, n_embd, n_heads, n_kv_heads, head_size, n_ff;
    int n_experts, n_used; /* 0: no mixture of them */
    int n_vocab;           /* 0: layers alone, without embeddings and output */
};

struct bench_llama {
    struct bench_shape shape;
    int n_tokens;
    int n_positions; /* of the cache, all of which are looked at */
    struct ggml_context *weights, *ctx; /* caches are with the weights */
    struct ggml_cgraph *graph;
    struct ggml_tensor *positions, *mask;
    struct ggml_tensor *stores[BENCH_MAX_LAYERS][4]; /* that move with the
                                                        position */
    ggml_backend_buffer_t buffer; /* of the weights */
    double bytes; /* of all weights, keys and values that a graph of one token
                     needs */
};

/* Weights have memory of BUFT, and no values; the graph has no memory. */
void bench_llama_make(struct bench_llama *m, const struct bench_shape *shape,
                      int n_tokens, int n_positions,
                      ggml_backend_buffer_type_t buft);

/* Let the tokens be stored from POSITION on. */
void bench_llama_go_to(struct bench_llama *m, int position);

void bench_llama_free(struct bench_llama *m);

#endif
