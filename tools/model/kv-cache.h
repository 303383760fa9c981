/* SPDX-License-Identifier: MIT */
/*
 * model/kv-cache.h - keys and values of the positions seen so far.
 */
#ifndef TOOLS_MODEL_KV_CACHE_H
#define TOOLS_MODEL_KV_CACHE_H

#include "tools/model/model.h"

#include <stdbool.h>
#include <stddef.h>

/* Positions are read in steps of so many, so that few graphs are needed. */
#define KV_STEP 64

/*
 * Each layer has two F16 tensors on its device: keys, a row of all heads for
 * each position, and values.  Those lie likewise where attention is one
 * operation; else they are transposed, a row of all positions for each element,
 * so that the product with attention's weights runs along rows.
 */
struct kv_cache {
    int64_t n_ctx; /* positions there is room for, a multiple of KV_STEP */
    int64_t n_seq; /* sequences that have so many each, one behind the other */
    bool is_fused; /* is attention one operation? */
    struct ggml_tensor **keys;
    struct ggml_tensor **values;
    size_t size; /* bytes */
    struct part *parts; /* one a device */
    int n_parts;
};

/* Room for N_CTX positions of each of N_SEQ sequences, all zero, for attention in
   one operation if it MAY be and all devices have that, which several sequences
   need; false after a message. */
bool kv_cache_open(struct kv_cache *cache, const struct model *model,
                   int64_t n_ctx, int64_t n_seq, bool may_fuse);

void kv_cache_close(struct kv_cache *cache);

#endif
