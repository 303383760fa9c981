/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/model.h - a small transformer with random weights.
 *
 * Three layers with attention over 5 tokens, rotated positions, a mask, and
 * weights of several formats.
 */
#ifndef GB_TESTS_SCHED_MODEL_H
#define GB_TESTS_SCHED_MODEL_H

#include "ggml-backend.h"

#define MODEL_LAYERS 3
#define MODEL_TOKENS 5
#define MODEL_WORDS  48
#define MODEL_LOGITS (MODEL_WORDS * MODEL_TOKENS)

struct model_layer {
    struct ggml_context *ctx;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *attn_norm, *q, *k, *v, *o;
    struct ggml_tensor *ffn_norm, *gate, *up, *down;
};

struct model {
    struct ggml_context *ctx_in, *ctx_out;
    ggml_backend_buffer_t in, out;
    struct ggml_tensor *words, *norm, *head;
    struct model_layer layers[MODEL_LAYERS];
};

/*
 * Weights of the first step in memory of FIRST, those of layer i in memory of
 * LAYERS[i % n_layers], and those of the last step with the last layer's; the
 * same numbers wherever they are.  False, and nothing is left, when there is no
 * memory.
 */
bool model_new(struct model *m, ggml_backend_t first,
               const ggml_backend_t *layers, int n_layers);
void model_free(struct model *m);

/* One graph of the model: without places, and with no data in its inputs. */
struct model_graph {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *ids, *positions, *mask; /* inputs */
    struct ggml_tensor *logits;                 /* F32 [words, tokens] */
    int end_of[MODEL_LAYERS]; /* node behind the last of each layer */
};

/* False, and nothing is left, when there is no memory. */
bool model_build(const struct model *m, struct model_graph *g);
void model_graph_free(struct model_graph *g);

/* Write the inputs, which have their places: text number TEXT. */
void model_set_inputs(const struct model_graph *g, int text);

/* What BACKEND alone computes for the text. */
void model_reference(ggml_backend_t backend, int text, float *logits);

#endif
