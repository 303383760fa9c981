/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-rope.h - arguments of the kernels of rope.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_ROPE_H
#define GB_CUDA_KERNELS_ARGS_ROPE_H

#include "backends/cuda/kernels/args.h"

/* Streams of positions: time, height, width, extra. */
#define GB_CUDA_ROPE_STREAMS 4

/* Pair numbers have as many bits. */
#define GB_CUDA_ROPE_BITS 31

struct gb_cuda_rope_args {
    struct gb_cuda_tensor dst, src0; /* [n, heads, tokens, batches] */
    struct gb_cuda_tensor also; /* a store's second result, of F32; no data
                                   where nobody sees it */
    int dst_type, src_type; /* enum gb_cuda_float; of a store's dst enum
                               gb_cuda_store as well */
    const char *positions;           /* I32, a stream after the other */
    int64_t position_stride;
    const char *factors; /* F32, by which frequencies are divided; or NULL */
    int64_t factor_stride;
    int64_t n_pairs; /* that are rotated; elements behind them are copied */
    int64_t n_slots; /* pairs of a row, those that are copied too */
    int64_t per_thread, n_parts; /* heads of a thread; such parts of all */
    int64_t n_items;
    int is_split;    /* pairs are n_pairs apart, not neighbours */
    int is_vision;   /* exponents begin again with each section */
    int64_t section[GB_CUDA_ROPE_STREAMS]; /* pairs of each stream in turn */
    int64_t n_section;                     /* of all; 0: one stream */
    float freq_scale;
    float ext_factor; /* how much frequencies are blended (YaRN) */
    float corr[2];    /* pairs between which they are */
    float cos_factor, sin_factor;
    /* The frequency of pair 2^i; that of pair j is a product of them. */
    double powers[GB_CUDA_ROPE_BITS];
};

/* Types in blocks that a store can write, numbered behind enum gb_cuda_float. */
enum gb_cuda_store {
    GB_CUDA_STORE_NONE = GB_CUDA_BF16,
#define GB_CUDA_PACKED(TYPE, name, n) GB_CUDA_STORE_##TYPE,
#define GB_CUDA_PACKED_BY_TEAM(TYPE, name, n)
#include "backends/cuda/kernels/packed.def"
#undef GB_CUDA_PACKED_BY_TEAM
#undef GB_CUDA_PACKED
    GB_CUDA_STORE_END
};

/* Values that a thread block has rotated before it makes them blocks: rows of a
 * store into blocks are no longer, and hold whole ones. */
#define GB_CUDA_ROPE_TILE 512

/*
 * Rotations, copies, and copies of rotations, which one launch makes: the thread
 * blocks of one behind those of the other.  A copy is a rotation of no pair.
 * Into blocks, n_items are rows, and dst has the blocks one behind the other,
 * nb[0] bytes each.
 */
#define GB_CUDA_MAX_STORES 3
struct gb_cuda_rope_store_args {
    struct gb_cuda_rope_args of[GB_CUDA_MAX_STORES];
    int64_t n_blocks[GB_CUDA_MAX_STORES]; /* thread blocks of each */
};

#endif
