/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/emit.h - what an operation's row calls to put launches into a plan.
 *
 * Launches run in the order in which they come, each after the one before it is
 * done.  Grids have one dimension, so that only the limit of 2^31 - 1 blocks
 * counts; kernels work out what a block is for.
 */
#ifndef GB_CUDA_OPS_EMIT_H
#define GB_CUDA_OPS_EMIT_H

#include "backends/cuda/ops/limits.h"

#include <stdbool.h>
#include <stdint.h>

/* One name a kernel: GB_CUDA_KERNEL_gb_add_f32 … */
enum gb_cuda_kernel {
#define GB_CUDA_KERNEL(file, name, args, threads, shared, variant) \
    GB_CUDA_KERNEL_##name,
#include "backends/cuda/kernels/kernels.def"
#undef GB_CUDA_KERNEL
    GB_CUDA_KERNEL_COUNT
};

struct ggml_tensor;
struct gb_cuda_tensor_map;

/* Numbers of a row that a box of TMA has: 128 bytes. */
enum { GB_CUDA_MAPPED_COLUMNS = 64 };

/* Rows of numbers of two bytes. */
struct gb_cuda_mapped {
    char *data;      /* at a multiple of 16 */
    uint64_t n;      /* numbers of a row, at most 2^32 */
    uint64_t rows;   /* at most 2^32 */
    uint64_t stride; /* bytes from row to row: a multiple of 16 below 2^40 */
    uint32_t box_rows;
    /* Two dimensions more, strides no smaller from one to the next; N 0: there
     * are none. */
    struct {
        uint64_t n, stride;
        uint32_t box;
    } more[2];
};

/* What lies packed at the columns' place, or will: rows of B by PACKING. */
struct gb_cuda_kept {
    const struct ggml_tensor *b; /* NULL: nothing */
    int packing;
};

/* Which pairs of IDS, of a product by expert, lie sorted in scratch. */
struct gb_cuda_sorted {
    const struct ggml_tensor *ids; /* NULL: none */
    int n_experts, col_step, n_tiles;
};

/* Block masks that are kept: models have one mask, or a second one for layers
 * that see the last positions alone. */
enum { GB_CUDA_BLOCK_MASKS = 2 };

/* What lies in one's place: what tiles of ROWS_OF_TILE rows see of a mask. */
struct gb_cuda_kept_mask {
    const struct ggml_tensor *mask; /* NULL: nothing */
    int64_t n_keys, group, rows, rows_of_tile;
};

/*
 * D = A^T * B for BATCH matrices, in the words of BLAS: all are stored column
 * by column, those of A and of B have K values.  A row of a tensor is a column.
 */
struct gb_cuda_gemm {
    bool is_bf16; /* A and B; else F16.  D is F32, and so are sums. */
    int m, n, k, batch;
    int lda, ldb; /* values from column to column; of D M */
    int64_t stride_a, stride_b; /* values from matrix to matrix; of D M * N */
    const char *a, *b;
    char *d, *workspace;
    int n_own, n_after; /* launches, see below */
};

struct gb_cuda_emit {
    const struct gb_cuda_limits *limits;
    char *columns; /* address of as many bytes as the row's columns asked for;
                      products with the same right side share what is there */
    struct gb_cuda_kept kept;
    struct gb_cuda_sorted sorted;
    struct gb_cuda_kept next; /* what is packed next, if something is before
                                 this is over */
    char *block_masks; /* address of as many bytes as the row asked for, for each
                          that is kept: until somebody writes to the mask, or
                          another one needs the place */
    size_t block_mask_size;
    struct gb_cuda_kept_mask masks[GB_CUDA_BLOCK_MASKS];
    int next_mask; /* place of the next one that is made */
    char *scratch; /* address of as many bytes as the row's scratch asked for;
                      their content is undefined, and lost after the node,
                      but for what is sorted; block masks are elsewhere */
    void (*add)(struct gb_cuda_emit *emit, enum gb_cuda_kernel kernel,
                unsigned n_blocks, size_t shared, const void *args, size_t size);
    /* Write what TMA knows MAPPED by, its boxes swizzled by 128 bytes; WGMMA.
     * What fails is kept, and the node not launched. */
    void (*map)(struct gb_cuda_emit *emit, const struct gb_cuda_mapped *mapped,
                struct gb_cuda_tensor_map *out);
    /*
     * May the vendor's BLAS do GEMM, where limits have a workspace for it?
     * Then come n_own launches that do the same, of which one way is chosen
     * when they run, and n_after that complete what the BLAS made.
     */
    bool (*gemm)(struct gb_cuda_emit *emit, const struct gb_cuda_gemm *gemm);
};

/*
 * Launch KERNEL with N_BLOCKS thread blocks (none for 0), SHARED bytes of
 * dynamic shared memory a block, and a copy of the struct ARGS.
 */
#define GB_CUDA_LAUNCH(emit, kernel, n_blocks, shared, args)                  \
    (emit)->add(emit, GB_CUDA_KERNEL_##kernel, n_blocks, shared, args,        \
                sizeof(*(args)))

/*
 * Thread blocks for N_ITEMS when each block takes PER_BLOCK at once: enough to
 * take them all, but at most 2^31 - 1; a kernel that may get fewer than it
 * needs goes on by the size of the grid.
 */
static inline unsigned
gb_cuda_blocks(int64_t n_items, int64_t per_block)
{
    const int64_t n = (n_items + per_block - 1) / per_block;

    return n > INT32_MAX ? INT32_MAX : (unsigned)n;
}

/* Bytes of a part of scratch, so that the next one begins at a multiple of
 * 256. */
static inline size_t
gb_cuda_scratch_up(size_t size)
{
    return (size + 255) & ~(size_t)255;
}

#endif
