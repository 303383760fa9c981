/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/softmax.cu - softmax of rows, with a scale and a mask, its
 * gradient, and softmax of what other nodes scaled and masked.
 *
 * A warp a row, eight (of 64 lanes: four) a block of 256 threads, up to 512
 * elements; a block of 512 threads for longer rows.  Three passes: the largest
 * score, the exponentials and their sum, the division.  A thread sees the same
 * elements in each pass, so that the exponentials wait in the result, and dst
 * may be src0.  Memory is the limit, mostly the cache.
 */
#include "backends/cuda/kernels/args-softmax.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/rows.cuh"

/*
 * How much the mask counts for HEAD (ALiBi, "Train Short, Test Long", arXiv
 * 2108.12409, section 3): the first POWER heads have a geometric sequence of
 * slopes, those beyond every other one of the sequence for twice as many.
 */
GB_DEVICE float
gb_slope(float max_bias, int64_t power, int64_t head)
{
    if (max_bias <= 0.0f)
        return 1.0f;
    if (head < power)
        return gb_exp2(-max_bias / (float)power * (float)(head + 1));
    return gb_exp2(-max_bias / (float)(2 * power) *
                   (float)(2 * (head - power) + 1));
}

/* A row's scores: scale x + slope mask. */
template <typename M>
struct gb_scores {
    const float *x;
    const M *mask;
    float scale;
    float slope;
};

template <typename M>
GB_DEVICE float
gb_score(const gb_scores<M> &scores, int64_t i)
{
    const float score = scores.scale * scores.x[i];

    if (scores.mask == nullptr)
        return score;
    return gb_fma(scores.slope, gb_float(scores.mask[i]), score);
}

/* The same, for the last time. */
template <typename M>
GB_DEVICE float
gb_last_score(const gb_scores<M> &scores, int64_t i)
{
    return gb_score(scores, i);
}

/* A row's scores as nodes made them, one after the other. */
struct gb_chain_scores {
    const float *x;
    const float *addend; /* NULL: none */
    float *scaled;       /* NULL: nobody sees it */
    float *masked;
    int64_t n_seen;      /* elements in front of the mask */
    float factor, scale;
};

GB_DEVICE float
gb_masked(const gb_chain_scores &scores, float scaled, int64_t i)
{
    if (i >= scores.n_seen)
        return -GB_INFINITY;
    if (scores.addend == nullptr)
        return scaled;
    return scaled + scores.addend[i];
}

GB_DEVICE float
gb_score(const gb_chain_scores &scores, int64_t i)
{
    return scores.scale *
           gb_masked(scores, scores.factor * scores.x[i], i);
}

/* What lies where x or the addend does is written when those were read for the
 * last time. */
GB_DEVICE float
gb_last_score(const gb_chain_scores &scores, int64_t i)
{
    const float scaled = scores.factor * scores.x[i];
    const float masked = gb_masked(scores, scaled, i);

    if (scores.scaled != nullptr)
        scores.scaled[i] = scaled;
    if (scores.masked != nullptr)
        scores.masked[i] = masked;
    return scores.scale * masked;
}

/* Softmax of N scores. */
template <typename team, typename S>
GB_DEVICE void
gb_soft_max_of(const S &scores, float *dst, int64_t n)
{
    float max = -GB_INFINITY;
    float sum = 0.0f;
    float factor;

    for (int64_t i = team::rank(); i < n; i += team::size) {
        const float score = gb_score(scores, i);

        max = score > max ? score : max;
    }
    max = team::max(max);
    /* Of nothing but -infinity any shift makes zeros, but -infinity itself. */
    max = max == -GB_INFINITY ? 0.0f : max;
    for (int64_t i = team::rank(); i < n; i += team::size) {
        const float value = gb_exp(gb_last_score(scores, i) - max);

        dst[i] = value;
        sum += value;
    }
    sum = team::sum(sum);
    factor = sum == 0.0f ? 0.0f : 1.0f / sum;
    for (int64_t i = team::rank(); i < n; i += team::size)
        dst[i] *= factor;
}

template <typename team, typename M>
GB_DEVICE void
gb_soft_max_row(const gb_cuda_softmax_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.dst.ne);
    gb_scores<M> scores;

    scores.x = (const float *)gb_row_data(a.src0, at);
    scores.mask = a.mask == nullptr
                      ? nullptr
                      : (const M *)(a.mask + at.i1 * a.mask_stride);
    scores.scale = a.scale;
    scores.slope = gb_slope(a.max_bias, a.power, at.i2);
    gb_soft_max_of<team>(scores, (float *)gb_row_data(a.dst, at), a.dst.ne[0]);
}

/* Row AT of T; NULL: there is none. */
GB_DEVICE float *
gb_row_if_any(const gb_cuda_tensor &t, const gb_row &at)
{
    return t.data == nullptr ? nullptr : (float *)gb_row_data(t, at);
}

template <typename team>
GB_DEVICE void
gb_soft_max_chain_row(const gb_cuda_softmax_chain_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.dst.ne);
    gb_chain_scores scores;

    scores.x = (const float *)gb_row_data(a.src0, at);
    scores.addend = gb_row_if_any(a.addend, at);
    scores.scaled = gb_row_if_any(a.scaled, at);
    scores.masked = gb_row_if_any(a.masked, at);
    scores.n_seen = a.n_past + at.i1 + 1;
    scores.factor = a.factor;
    scores.scale = a.scale;
    gb_soft_max_of<team>(scores, (float *)gb_row_data(a.dst, at), a.dst.ne[0]);
}

/* scale y (dy - the sum of y dy). */
template <typename team>
GB_DEVICE void
gb_soft_max_back_row(const gb_cuda_softmax_back_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.dst.ne);
    const int64_t n = a.dst.ne[0];
    const float *dy = (const float *)gb_row_data(a.src0, at);
    const float *y = (const float *)gb_row_data(a.src1, at);
    float *dst = (float *)gb_row_data(a.dst, at);
    float sum = 0.0f;

    for (int64_t i = team::rank(); i < n; i += team::size)
        sum = gb_fma(y[i], dy[i], sum);
    sum = team::sum(sum);
    for (int64_t i = team::rank(); i < n; i += team::size)
        dst[i] = a.scale * y[i] * (dy[i] - sum);
}

/* With masks of F32 (or none) and of F16. */
#define GB_SOFT_MAX_KERNELS(name, mask)                                     \
    GB_KERNEL(256, gb_soft_max_##name##_warp, softmax)                      \
    {                                                                       \
        gb_each_row<gb_warp_team<256>, gb_cuda_softmax_args,                \
                    gb_soft_max_row<gb_warp_team<256>, mask>>(a, a.n_rows); \
    }                                                                       \
    GB_KERNEL(512, gb_soft_max_##name##_block, softmax)                     \
    {                                                                       \
        gb_each_row<gb_block_team<512>, gb_cuda_softmax_args,               \
                    gb_soft_max_row<gb_block_team<512>, mask>>(a, a.n_rows); \
    }

GB_SOFT_MAX_KERNELS(f32_f32, float)
GB_SOFT_MAX_KERNELS(f32_f16, gb_f16)

GB_KERNEL(256, gb_soft_max_chain_warp, softmax_chain)
{
    gb_each_row<gb_warp_team<256>, gb_cuda_softmax_chain_args,
                gb_soft_max_chain_row<gb_warp_team<256>>>(a, a.n_rows);
}

GB_KERNEL(512, gb_soft_max_chain_block, softmax_chain)
{
    gb_each_row<gb_block_team<512>, gb_cuda_softmax_chain_args,
                gb_soft_max_chain_row<gb_block_team<512>>>(a, a.n_rows);
}

GB_KERNEL(256, gb_soft_max_back_f32_warp, softmax_back)
{
    gb_each_row<gb_warp_team<256>, gb_cuda_softmax_back_args,
                gb_soft_max_back_row<gb_warp_team<256>>>(a, a.n_rows);
}

GB_KERNEL(512, gb_soft_max_back_f32_block, softmax_back)
{
    gb_each_row<gb_block_team<512>, gb_cuda_softmax_back_args,
                gb_soft_max_back_row<gb_block_team<512>>>(a, a.n_rows);
}
