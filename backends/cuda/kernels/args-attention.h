/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-attention.h - arguments of the kernels of attention.
 */
#ifndef GB_CUDA_KERNELS_ARGS_ATTENTION_H
#define GB_CUDA_KERNELS_ARGS_ATTENTION_H

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/formats.h"

/* How many heads of queries, and batches, have the same matrix of keys or of
 * values. */
struct gb_cuda_sharing {
    int64_t heads, batches;
};

/*
 * Attention of queries q [d, N, H, b] to keys k [d, M, Hk, bk] and values v:
 * dst [d, H, N, b], contiguous.
 *
 * Heads that share a key and a value head are a group.  A group's queries,
 * those of the first token, of the second and so on, are rows; a tile has some
 * rows of a group, a part of the keys, and a range of the d elements of its
 * results.
 */
struct gb_cuda_attention_args {
    struct gb_cuda_tensor q, k, v, mask;
    struct gb_cuda_sharing of_k, of_v;
    const uint8_t *block_mask; /* for tensor cores: enum gb_cuda_seen_keys of
                              each tile of rows and each GB_CUDA_MASK_KEYS keys;
                              NULL: there is no mask */
    const float *k_factors, *v_factors; /* by which each GB_CUDA_MASK_KEYS
                              keys or values of a matrix were multiplied; NULL:
                              they are as they came */
    float *dst;
    char *columns; /* of decode on tensor cores: dst as q8 activations besides, or
                      NULL; there is one part then, and d is a multiple of 32 */
    float *parts; /* results of parts, where there are several: for each part
                     and row of dst the maximum of the scores, the sum of the
                     exponentials, d sums of values */
    int64_t n_tiles;
    int64_t n_keys;
    int64_t group;       /* heads */
    int64_t groups;      /* of all heads */
    int64_t rows;        /* of a group */
    int64_t row_tiles;
    int64_t n_parts;
    int64_t part;        /* keys of a part */
    int64_t ranges;      /* of elements */
    int64_t key_tiles;   /* of GB_CUDA_MASK_KEYS */
    int32_t k_format, v_format; /* enum gb_cuda_format each */
    int32_t k_is_aligned, v_is_aligned; /* may four floats be read at once? */
    int32_t has_mask;
    int32_t mask_is_paired; /* may two values be read at once? */
    int32_t mask_is_wide;   /* may eight of them? */
    float scale;    /* of products, divided by the softcap if there is one */
    float softcap;  /* 0: none */
    float max_bias; /* 0: slopes are 1 */
};

/*
 * The same by warp groups, which have keys and values by TMA: four dimensions, the
 * elements of a head first; GB_CUDA_WGMMA_KEYS keys and 64 elements a box.
 */
#define GB_CUDA_WGMMA_QUERIES 128 /* rows of a tile */
#define GB_CUDA_WGMMA_KEYS    128 /* taken at a time */
#define GB_CUDA_WGMMA_ATTENTION_64_SHARED  84592 /* bytes that a block has */
#define GB_CUDA_WGMMA_ATTENTION_128_SHARED 166512

struct gb_cuda_wgmma_attention_args {
    struct gb_cuda_tensor_map k_map, v_map;
    struct gb_cuda_attention_args of;
    int32_t k_heads_first; /* the second dimension are heads, the third keys */
    int32_t v_heads_first;
    int32_t unused[4];
};

#define GB_CUDA_MASK_KEYS 64

/* What a tile of rows sees of some keys. */
enum gb_cuda_seen_keys {
    GB_CUDA_SEES_SOME, /* the mask has to be looked at */
    GB_CUDA_SEES_ALL,  /* all of its values are 0 */
    GB_CUDA_SEES_NONE, /* all are -infinity */
};

/* What a mask says of blocks of keys. */
struct gb_cuda_block_mask_args {
    struct gb_cuda_tensor mask;
    uint8_t *block_mask;
    int64_t n_keys;
    int64_t group;
    int64_t rows; /* of a group */
    int64_t rows_of_tile;
    int64_t row_tiles, key_tiles;
};

/*
 * Keys or values as f16: matrices one behind the other, without gaps.  Each
 * GB_CUDA_MASK_KEYS rows of a matrix are multiplied by a power of two.
 */
struct gb_cuda_halves_args {
    struct gb_cuda_tensor from;
    char *to;
    float *factors;
    int64_t n_keys; /* of a matrix: the first rows */
    int64_t key_tiles;
    int32_t format; /* enum gb_cuda_format */
    int32_t is_aligned;
};

/* The parts' results joined; columns dst as q8 activations, or it is NULL; of
 * gb_attention_join_halves as columns of halves. */
struct gb_cuda_attention_join_args {
    float *dst;
    char *columns;
    const float *parts;
    int64_t d;
    int64_t n_rows; /* of dst */
    int64_t n_parts;
    int64_t width; /* of a column of halves: the results of some rows */
};

#endif
