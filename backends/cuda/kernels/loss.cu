/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/loss.cu - cross entropy with its gradient, and a step of AdamW.
 *
 * Cross entropy: a warp a row, eight (of 64 lanes: four) a block of 256
 * threads, up to 512 classes; a block of 512 threads for longer rows.  AdamW:
 * one thread an element, 256 a block.  Memory is the limit of all.
 *
 * Source: "Decoupled Weight Decay Regularization" (arXiv 1711.05101), algorithm
 * 2, with the corrections of the bias given as factors.
 */
#include "backends/cuda/kernels/args-loss.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/tensor.cuh"

template <typename team>
GB_DEVICE float
gb_row_max(const float *x, int64_t n)
{
    float max = -GB_INFINITY;

    for (int64_t i = team::rank(); i < n; i += team::size)
        max = x[i] > max ? x[i] : max;
    return team::max(max);
}

/*
 * With l the labels and m the largest logit, the sum of l log(softmax(x)) is
 *     sum(l (x - m)) - sum(l) log(sum(exp(x - m)))
 * A label of 0 adds nothing, even if its logit is -infinity.
 */
template <typename team>
GB_DEVICE void
gb_cross_entropy_row(const gb_cuda_cross_entropy_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.logits.ne);
    const float *x = (const float *)gb_row_data(a.logits, at);
    const float *labels = (const float *)gb_row_data(a.labels, at);
    const int64_t n = a.logits.ne[0];
    const float max = gb_row_max<team>(x, n);
    float weighted = 0.0f;
    float weights = 0.0f;
    float sum = 0.0f;

    for (int64_t i = team::rank(); i < n; i += team::size) {
        const float label = labels[i];

        sum += gb_exp(x[i] - max);
        weights += label;
        weighted =
            label == 0.0f ? weighted : gb_fma(label, x[i] - max, weighted);
    }
    sum = team::sum(sum);
    weights = team::sum(weights);
    weighted = team::sum(weighted);
    if (team::rank() == 0)
        a.parts[row] = gb_fma(-weights, gb_log(sum), weighted);
}

template <typename team>
GB_DEVICE void
gb_cross_entropy_back_row(
    const gb_cuda_cross_entropy_back_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.dst.ne);
    const float *x = (const float *)gb_row_data(a.logits, at);
    const float *labels = (const float *)gb_row_data(a.labels, at);
    float *dst = (float *)gb_row_data(a.dst, at);
    const int64_t n = a.dst.ne[0];
    const float factor = *a.gradient / (float)a.n_rows;
    const float max = gb_row_max<team>(x, n);
    float sum = 0.0f;
    float share;

    for (int64_t i = team::rank(); i < n; i += team::size) {
        const float value = gb_exp(x[i] - max);

        dst[i] = value;
        sum += value;
    }
    share = 1.0f / team::sum(sum);
    for (int64_t i = team::rank(); i < n; i += team::size)
        dst[i] = gb_fma(dst[i], share, -labels[i]) * factor;
}

#define GB_LOSS_KERNELS(name)                                               \
    GB_KERNEL(256, gb_##name##_f32_warp, name)                              \
    {                                                                       \
        gb_each_row<gb_warp_team<256>, gb_cuda_##name##_args,               \
                    gb_##name##_row<gb_warp_team<256>>>(a, a.n_rows);       \
    }                                                                       \
    GB_KERNEL(512, gb_##name##_f32_block, name)                             \
    {                                                                       \
        gb_each_row<gb_block_team<512>, gb_cuda_##name##_args,              \
                    gb_##name##_row<gb_block_team<512>>>(a, a.n_rows);      \
    }

GB_LOSS_KERNELS(cross_entropy)
GB_LOSS_KERNELS(cross_entropy_back)

/* With gradient g and moments m and v:
 *     m = beta1 m + (1 - beta1) g
 *     v = beta2 v + (1 - beta2) g^2
 *     w = (1 - alpha wd) w - alpha m beta1h / (sqrt(v beta2h) + eps) */
GB_DEVICE void
gb_adamw_element(const gb_cuda_adamw_args &a, const gb_index &at)
{
    const float *p = a.params;
    const float g = *(const float *)gb_element(a.gradient, at);
    float *m = (float *)gb_element(a.first, at);
    float *v = (float *)gb_element(a.second, at);
    float *w = (float *)gb_element(a.weights, at);
    const float keep = gb_fma(-p[0], p[4], 1.0f);
    float step;

    *m = gb_fma(*m, p[1], gb_mul(g, 1.0f - p[1]));
    *v = gb_fma(*v, p[2], gb_mul(gb_mul(g, g), 1.0f - p[2]));
    step = gb_mul(*m, p[5]) / (gb_sqrt(gb_mul(*v, p[6])) + p[3]);
    *w = gb_fma(*w, keep, -gb_mul(p[0], step));
}

GB_KERNEL(256, gb_adamw_f32, adamw)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads())
        gb_adamw_element(a, gb_index_of(n, a.weights.ne));
}
