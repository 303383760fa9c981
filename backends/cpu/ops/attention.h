/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/attention.h - a tile of an attention, and the two paths that
 * compute it: prefill (many queries) and decode (few).
 */
#ifndef GB_CPU_OPS_ATTENTION_H
#define GB_CPU_OPS_ATTENTION_H

#include "backends/cpu/ops/op.h"
#include "lib/base/checked.h"

/* Queries of one key head in a tile at most, and from how many on it is prefill:
 * lanes are then full enough to give each query one. */
#define GB_ATTENTION_QUERIES GB_PREFILL_QUERIES
#define GB_ATTENTION_PREFILL 12

/* Queries of some heads and tokens, and the keys that they look at. */
struct gb_attention {
    const struct gb_cpu_task *task;
    int64_t d;
    int64_t batch;
    int64_t first_head;
    int64_t heads;
    int64_t first_token;
    int64_t tokens;
    int64_t n; /* queries: heads of the first token, of the second and so on */
    int64_t part;
    int64_t parts; /* of the keys; with several, results are joined later */
    int64_t first_key;
    int64_t end_key;
    const uint8_t *block_masks; /* prefill: see struct gb_block_mask; or NULL */
    const char *keys; /* key 0 of the head, and value 0 */
    const char *values;
    float scale; /* with a softcap divided by it */
    float softcap;
};

/* T with the heads that come G times as many later, with their keys and
 * values. */
struct gb_attention gb_attention_later(const struct gb_attention *t, int64_t g);

/* Query C: its row, the slope of its mask, and where the D sums of its values
 * are to be put. */
const float *gb_attention_query(const struct gb_attention *t, int64_t c);
float gb_attention_slope(const struct gb_attention *t, int64_t c);
float *gb_attention_sums(const struct gb_attention *t, int64_t c);

/* The sums of query C are there, of 2^(s - max) * v, SUM being that of
 * 2^(s - max). */
void gb_attention_done(
    const struct gb_attention *t, int64_t c, float max, float sum);

/* N rows from ROW on of K or V as floats: where they lie if that is possible,
 * else in BUFFER.  *STEP is their distance in floats. */
const float *gb_attention_rows(
    const struct gb_attention *t, const struct ggml_tensor *of,
    const char *rows, int64_t row, int64_t n, float *buffer, int64_t *step);

/* Does that need a buffer? */
bool gb_attention_is_plain(const struct ggml_tensor *of);

/* ROWS of N floats in bytes, whole cache lines. */
static inline size_t
gb_attention_lines(size_t rows, int64_t n)
{
    return gb_pad_or_max(
        gb_mul_or_max(gb_mul_or_max(rows, (size_t)n), sizeof(float)), 64);
}

/* Decode: bytes of scratch for N groups of heads, and the work: T is the first
 * one, the others' heads follow. */
size_t gb_attention_decode_scratch(const struct ggml_tensor *node, int64_t n);
void gb_attention_decode(const struct gb_attention *t, int64_t n);
/* Prefill: the same; before that, the mask's blocks are summed up once for all
 * heads. */
size_t gb_attention_mask_bytes(const struct ggml_tensor *node);
int64_t gb_attention_mask_tiles(const struct ggml_tensor *node);
void gb_attention_mask_blocks(
    const struct gb_cpu_task *task, int64_t tile, uint8_t *summaries);
size_t gb_attention_prefill_scratch(const struct ggml_tensor *node);
void gb_attention_prefill(const struct gb_attention *t);

#endif
