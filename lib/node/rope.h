/* SPDX-License-Identifier: MIT */
/*
 * node/rope.h - rotary position embedding and its gradient.
 */
#ifndef GB_NODE_ROPE_H
#define GB_NODE_ROPE_H

#include "ggml.h"

#include <stdbool.h>
#include <stdint.h>

/* Streams of positions: time, height, width, extra. */
#define GB_NODE_ROPE_STREAMS 4

struct gb_node_rope {
    int64_t n_pairs;  /* that are rotated; elements behind them are copied */
    bool is_split;    /* pairs are n_pairs apart, not neighbours */
    bool is_vision;   /* exponents begin again with each section */
    bool has_streams; /* each token has a position in every stream, and each
                         pair a section that says which one it takes */
    int32_t sections[GB_NODE_ROPE_STREAMS]; /* pairs of each; 0 without */
};

struct gb_node_frequencies {
    double power; /* the quotient of those of neighbouring pairs */
    float scale;
    float ext_factor; /* how much they are blended (YaRN) */
    float corr[2];    /* pairs between which they are; 0 where they are not */
    float factor;     /* of results */
};

/* What NODE, a ROPE or a ROPE_BACK, rotates, and by what. */
struct gb_node_rope gb_node_rope_of(const struct ggml_tensor *node);
struct gb_node_frequencies
gb_node_frequencies_of(const struct ggml_tensor *node);

#endif
