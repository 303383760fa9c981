/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-attention.h - arguments of the kernels of attention.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_ATTENTION_H
#define GB_CUDA_KERNELS_ARGS_ATTENTION_H

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/formats.h"

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
    float *dst;
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
    int32_t k_format, v_format; /* enum gb_cuda_format each */
    int32_t k_is_aligned, v_is_aligned; /* may four floats be read at once? */
    int32_t has_mask;
    float scale;    /* of products, divided by the softcap if there is one */
    float softcap;  /* 0: none */
    float max_bias; /* 0: slopes are 1 */
};

/* The parts' results joined; columns dst as q8 activations, or it is NULL. */
struct gb_cuda_attention_join_args {
    float *dst;
    char *columns;
    const float *parts;
    int64_t d;
    int64_t n_rows; /* of dst */
    int64_t n_parts;
};

#endif
