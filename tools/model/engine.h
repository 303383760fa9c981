/* SPDX-License-Identifier: MIT */
/*
 * model/engine.h - tokens in, logits out.
 */
#ifndef TOOLS_MODEL_ENGINE_H
#define TOOLS_MODEL_ENGINE_H

#include "tools/model/graph.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine {
    const struct model *model;
    struct kv_cache cache;
    int64_t n_ctx;   /* positions there may be */
    int64_t n_past;  /* positions there are */
    int64_t n_batch; /* tokens that one call may bring */
    int64_t n_rows;  /* rows of logits that one call may ask for */

    struct graph prompt; /* many tokens */
    struct graph more;   /* on several devices, a prompt's before its last one */
    struct graph step;   /* one token */
    struct graph head;
    struct graph *last;  /* the one of them that ran last */
    bool is_queued;      /* it may be under way */
    int32_t *positions;  /* n_batch */
    uint16_t *mask;      /* n_batch rows of up to n_ctx */
    bool (*is_stopped)(void); /* asked before each graph, or NULL: where it says
                                 so engine_append fails without a message */
};

/* Room for N_CTX positions; keeps MODEL.  Attention is one operation where it MAY
   be and the model's devices have that.  False after a message. */
bool engine_open(struct engine *engine, const struct model *model,
                 int64_t n_ctx, bool may_fuse);

/*
 * The same for N_SEQ sequences, which have as many positions at all times:
 * engine_append then takes a token of each, with logits after all of them.  The
 * devices have to have attention in one operation; *IS_SUPPORTED says so.
 */
bool engine_open_many(struct engine *engine, const struct model *model,
                      int64_t n_ctx, int64_t n_seq, bool *is_supported);

void engine_close(struct engine *engine);

/* Forget all positions, or all but the first N, which there are. */
void engine_reset(struct engine *engine);
void engine_keep(struct engine *engine, int64_t n);

/*
 * Append N tokens, 1 to n_batch, which must fit into n_ctx; all are below
 * n_vocab.  Logits can be had after the last N_OUT of them.  On several devices
 * tokens without any are only queued, and a later call may fail for them.  False
 * after a message.
 */
bool engine_append(struct engine *engine, const int32_t *ids, int64_t n,
                   int64_t n_out);

/* The same for any N that fits, with logits after the last one. */
bool engine_append_all(struct engine *engine, const int32_t *ids, int64_t n);

/*
 * The logits after N of the n_out tokens of the last engine_append, from the
 * one on that is number FIRST of them; N is at most n_rows: N rows of n_vocab
 * floats.  False after a message.
 */
bool engine_logits(struct engine *engine, int64_t first, int64_t n,
                   float *logits);

/*
 * The logits after the one token of the last engine_append whose n_out was 1:
 * where they were computed, until the next call, or in ROOM where the host does
 * not reach them.  NULL after a message.
 */
const float *engine_last_logits(struct engine *engine, float *room);

#endif
