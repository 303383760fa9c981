/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/blas.c - products of matrices as the vendor's BLAS takes them.
 *
 * It gets weights as they lie and columns as they are packed for our own
 * kernels on tensor cores: halves that a power of two brought into their range.
 * So both ways have the same range; sums are F32 in both.
 */
#include "backends/cuda/ops/matmul.h"
#include "backends/cuda/ops/shape.h"

static bool
fits_int(int64_t n)
{
    return n >= 0 && n <= INT32_MAX;
}

/* Do the matrices of A follow each other at one distance, and meet each as many
 * columns that follow each other? */
static bool
is_one_batch(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    if (a->ne[2] * a->ne[3] == 1)
        return true;
    return a->ne[3] == b->ne[3] &&
           (a->ne[3] == 1 || a->nb[3] == a->nb[2] * (size_t)a->ne[2]);
}

static bool
is_for_blas(const struct gb_cuda_limits *limits,
            const struct gb_cuda_tiling *tiling,
            const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t lda = (int64_t)(a->nb[1] / 2);

    return limits->blas_workspace > 0 && gb_node_is_float(a->type) &&
           (tiling->packing == GB_CUDA_PACK_F16 ||
            tiling->packing == GB_CUDA_PACK_BF16) &&
           is_one_batch(a, node->src[1]) && ggml_is_contiguous(node) &&
           a->ne[0] > 0 && lda >= a->ne[0] && fits_int(lda) &&
           fits_int(a->ne[0] + GB_CUDA_HALVES_HEAD + GB_CUDA_K_STEP) &&
           fits_int(a->ne[1]) && fits_int(ggml_nrows(node)) &&
           fits_int(a->ne[2] * a->ne[3]);
}

size_t
gb_cuda_blas_scratch(const struct gb_cuda_limits *limits,
                     const struct gb_cuda_tiling *tiling,
                     const struct ggml_tensor *node)
{
    return is_for_blas(limits, tiling, node) ? limits->blas_workspace : 0;
}

/* Only halves have factors, by which the sums have to be multiplied. */
static bool
has_factors(const struct gb_cuda_tiling *tiling)
{
    return tiling->packing == GB_CUDA_PACK_F16;
}

bool
gb_cuda_offer_blas(struct gb_cuda_emit *emit,
                   const struct gb_cuda_tiling *tiling,
                   const struct ggml_tensor *node,
                   const struct gb_cuda_tensor *columns, char *workspace)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t batch = a->ne[2] * a->ne[3];
    struct gb_cuda_gemm gemm;

    if (!is_for_blas(emit->limits, tiling, node))
        return false;
    gemm = (struct gb_cuda_gemm){
        .is_bf16 = a->type == GGML_TYPE_BF16,
        .m = (int)a->ne[1],
        .n = (int)(ggml_nrows(node) / batch),
        .k = (int)a->ne[0],
        .batch = (int)batch,
        .lda = (int)(a->nb[1] / 2),
        .ldb = (int)(columns->nb[1] / 2),
        .stride_a = (int64_t)(a->nb[2] / 2),
        .a = a->data,
        .b = columns->data + GB_CUDA_HALVES_HEAD,
        .d = node->data,
        .workspace = workspace,
        .n_own = tiling->n_splits > 1 ? 2 : 1,
        .n_after = has_factors(tiling) ? 1 : 0,
    };
    gemm.stride_b = (int64_t)gemm.ldb * gemm.n;
    return emit->gemm(emit, &gemm);
}

void
gb_cuda_complete_blas(struct gb_cuda_emit *emit,
                      const struct gb_cuda_tiling *tiling,
                      const struct ggml_tensor *node,
                      const struct gb_cuda_tensor *columns)
{
    const struct gb_cuda_rescale_args args = {
        .dst = node->data,
        .columns = columns->data,
        .column_bytes = columns->nb[1],
        .m = node->ne[0],
        .n = ggml_nrows(node),
    };

    if (has_factors(tiling))
        GB_CUDA_LAUNCH(emit, gb_rescale_columns, gb_cuda_blocks(args.n, 1), 0,
                       &args);
}
