/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/blas.h - products by the vendor's BLAS where a trial found it
 * faster than our own kernels.
 *
 * A call of the BLAS is no launch that could be a part of a recorded graph: it
 * is a step of a plan, and plans with steps are not recorded.
 */
#ifndef GB_CUDA_DEVICE_BLAS_H
#define GB_CUDA_DEVICE_BLAS_H

#include "backends/cuda/device/plan.h"
#include "backends/cuda/device/stream.h"
#include "backends/cuda/driver/blas.h"

/* A backend's own; all zero: not used yet. */
struct gb_cuda_blas {
    gb_cuda_blas_handle handle;
};

/* Bytes that the BLAS wants in scratch; 0: it is not used on CARD. */
size_t gb_cuda_blas_workspace(struct gb_cuda_card *card);

/* May GEMM be one that the BLAS does faster? */
bool gb_cuda_blas_may_do(
    struct gb_cuda_card *card, const struct gb_cuda_gemm *gemm);

/*
 * Get ready for the steps of PLAN, in the entered context, before its first
 * launch: all that the BLAS allocates it has then.
 */
void gb_cuda_blas_prepare(
    struct gb_cuda_blas *blas, struct gb_cuda_card *card,
    const struct gb_cuda_queue *queue, const struct gb_cuda_plan *plan);

/*
 * Queue the STEP, by the way that was found to be faster.  Where nothing is
 * known of its shape both are tried, and waited for.  A failure of the BLAS is
 * told once; the card does without it from then on.
 */
enum ggml_status gb_cuda_blas_run(
    struct gb_cuda_blas *blas, struct gb_cuda_card *card,
    const struct gb_cuda_queue *queue, const struct gb_cuda_plan *plan,
    const struct gb_cuda_step *step);

/* In the entered context; nothing of it runs any more. */
void gb_cuda_blas_clear(struct gb_cuda_blas *blas, struct gb_cuda_card *card);

#endif
