/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/attention.h - a tile of an attention, and the two paths that
 * compute it: prefill (many queries) and decode (few).
 *
 * attention.c decides on the path and the tiles, and joins results.  A path is
 * given a tile, goes through its keys a block of 64 at a time with an online
 * softmax, and leaves for each query the unnormalised sums of its values, the
 * maximum of its scores and the sum of its exponentials.
 */
#ifndef GB_CPU_OPS_ATTENTION_H
#define GB_CPU_OPS_ATTENTION_H

#include "backends/cpu/ops/op.h"
#include "lib/base/checked.h"

/* The most queries of one key head in a tile, and the number from which on a
 * tile is prefill: with 12 queries, one in each lane, even a vector of 16 lanes
 * is mostly full. */
#define GB_ATTENTION_QUERIES GB_PREFILL_QUERIES
#define GB_ATTENTION_PREFILL 12

/* A tile: queries of some heads of one key head and of some tokens, and the
 * range of keys that they are multiplied with. */
struct gb_attention {
    const struct gb_cpu_task *task;
    int64_t d;          /* elements of a query, a key and a value */
    int64_t batch;      /* index along dimension 3 of dst */
    int64_t first_head; /* query heads from here on ... */
    int64_t heads;      /* ... so many, all with one key and one value head */
    int64_t first_token;
    int64_t tokens;
    int64_t n; /* queries: heads of the first token, of the second and so on */
    int64_t part;  /* which part of the keys the tile has */
    int64_t parts; /* how many there are; several are joined behind the run */
    int64_t first_key;
    int64_t end_key; /* behind the last one */
    const uint8_t *block_masks; /* prefill: see struct gb_block_mask; or NULL */
    const char *keys; /* key 0 of the head, and value 0 */
    const char *values;
    float scale;   /* of the products q * k; with a softcap, divided by that */
    float softcap; /* 0: none */
};

/* The tile with the same tokens and keys whose heads come G * T->heads behind
 * those of T, with the addresses of their key and value head. */
struct gb_attention gb_attention_later(const struct gb_attention *t, int64_t g);

/* Of query C, 0 <= C < T->n: its D floats; the slope of its head, with which
 * the mask is multiplied; and the D floats where its sums of values belong, in
 * dst, or with several parts in the shared memory. */
const float *gb_attention_query(const struct gb_attention *t, int64_t c);
float gb_attention_slope(const struct gb_attention *t, int64_t c);
float *gb_attention_sums(const struct gb_attention *t, int64_t c);

/*
 * Finish query C, whose sums are in their place.  With t = s * log2(e) for its
 * scores s, MAX is the largest t, SUM the sum of 2^(t - MAX), and the sums of
 * values are those of 2^(t - MAX) * v.  Divides these by SUM or, with several
 * parts, stores MAX and SUM for the join.
 */
void gb_attention_done(
    const struct gb_attention *t, int64_t c, float max, float sum);

/* N rows as floats, from number ROW on, of the matrix of K or V that begins at
 * ROWS: in place if they are F32, else converted to BUFFER, of N * D floats.
 * *STEP becomes the distance from row to row in floats. */
const float *gb_attention_rows(
    const struct gb_attention *t, const struct ggml_tensor *of,
    const char *rows, int64_t row, int64_t n, float *buffer, int64_t *step);

/* Can rows of K or V be used in place: F32, with a stride of whole floats? */
bool gb_attention_is_plain(const struct ggml_tensor *of);

/* Bytes of ROWS times N floats, rounded up to whole cache lines; SIZE_MAX if
 * that is too much. */
static inline size_t
gb_attention_lines(size_t rows, int64_t n)
{
    return gb_pad_or_max(
        gb_mul_or_max(gb_mul_or_max(rows, (size_t)n), sizeof(float)), 64);
}

/* Decode (attention-decode.c): bytes of scratch for N groups of heads, and the
 * computation for all of them.  T is the tile of the first group; the heads of
 * the others follow (gb_attention_later). */
size_t gb_attention_decode_scratch(const struct ggml_tensor *node, int64_t n);
void gb_attention_decode(const struct gb_attention *t, int64_t n);

/*
 * Prefill (attention-prefill.c): bytes of scratch, and the computation of one
 * tile.  Before that, in the prepare phase, block masks are computed once for
 * all heads, one byte for each token and block of 64 keys: their bytes, 0
 * without a mask; the tiles, ranges of tokens; and the work of one tile.
 */
size_t gb_attention_mask_bytes(const struct ggml_tensor *node);
int64_t gb_attention_mask_tiles(const struct ggml_tensor *node);
void gb_attention_mask_blocks(
    const struct gb_cpu_task *task, int64_t tile, uint8_t *summaries);
size_t gb_attention_prefill_scratch(const struct ggml_tensor *node);
void gb_attention_prefill(const struct gb_attention *t);

#endif
