/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/norm.cu - rows, or groups of channels, brought to mean 0 and
 * variance 1, or to a mean square of 1.
 *
 * A warp a row, eight (of 64 lanes: four) a block of 256 threads, up to 512
 * elements; a block of 512 threads for longer rows, and one of 512 for a group.
 * A row is read two to three times, mostly from cache, and its result once more
 * where that is packed as halves; memory is the limit.
 * The variance is summed around the mean, since the difference of two large
 * sums would lose its digits.
 */
#include "backends/cuda/kernels/args-norm.h"
#include "backends/cuda/kernels/columns.cuh"

/* 1 / sqrt(SUM_SQ / N + EPS). */
GB_DEVICE float
gb_norm_factor(float sum_sq, int64_t n, float eps)
{
    return 1.0f / gb_sqrt(sum_sq / (float)n + eps);
}

/* A row's elements: N of X, and of Y added to them where it is there; with N of
 * 0 it is a row of zeros, which add nothing to sums. */
struct gb_norm_source {
    const float *x, *y;
    int64_t n;
};

GB_DEVICE float
gb_norm_at(const gb_norm_source &source, int64_t i)
{
    return source.y == nullptr ? source.x[i] : source.x[i] + source.y[i];
}

template <typename team>
GB_DEVICE float
gb_norm_mean(const gb_norm_source &source, int64_t n)
{
    float sum = 0.0f;

    for (int64_t i = team::rank(); i < source.n; i += team::size)
        sum += gb_norm_at(source, i);
    return team::sum(sum) / (float)n;
}

/* What the distance from MEAN is multiplied by; RMS_NORM's is that from 0. */
template <typename team>
GB_DEVICE float
gb_norm_scale(const gb_norm_source &source, int64_t n, float mean, float eps)
{
    float sum_sq = 0.0f;

    for (int64_t i = team::rank(); i < source.n; i += team::size) {
        const float x = gb_norm_at(source, i) - mean;

        sum_sq = gb_fma(x, x, sum_sq);
    }
    return gb_norm_factor(team::sum(sum_sq), n, eps);
}

template <typename team>
GB_DEVICE void
gb_norm_row(const gb_cuda_norm_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.dst.ne);
    const int64_t n = a.dst.ne[0];
    const gb_norm_source source = {
        (const float *)gb_row_data(a.src0, at), nullptr, n
    };
    float *dst = (float *)gb_row_data(a.dst, at);
    const float mean = gb_norm_mean<team>(source, n);
    const float scale = gb_norm_scale<team>(source, n, mean, a.eps);

    for (int64_t i = team::rank(); i < n; i += team::size)
        dst[i] = (source.x[i] - mean) * scale;
}

template <typename team>
GB_DEVICE void
gb_rms_norm_row(const gb_cuda_norm_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.dst.ne);
    const int64_t n = a.dst.ne[0];
    const gb_norm_source source = {
        (const float *)gb_row_data(a.src0, at), nullptr, n
    };
    float *dst = (float *)gb_row_data(a.dst, at);
    const float scale = gb_norm_scale<team>(source, n, 0.0f, a.eps);

    for (int64_t i = team::rank(); i < n; i += team::size)
        dst[i] = source.x[i] * scale;
}

/* The part of dz along x is taken off, since a longer x gives the same result
 * but for eps, and the rest is scaled as x was. */
template <typename team>
GB_DEVICE void
gb_rms_norm_back_row(const gb_cuda_norm_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.dst.ne);
    const float *dz = (const float *)gb_row_data(a.src0, at);
    const float *x = (const float *)gb_row_data(a.src1, at);
    float *dst = (float *)gb_row_data(a.dst, at);
    const int64_t n = a.dst.ne[0];
    float sum_sq = 0.0f;
    float along = 0.0f;
    float part;
    float factor;

    for (int64_t i = team::rank(); i < n; i += team::size) {
        sum_sq = gb_fma(x[i], x[i], sum_sq);
        along = gb_fma(x[i], dz[i], along);
    }
    sum_sq = team::sum(sum_sq);
    part = team::sum(along) / gb_fma((float)n, a.eps, sum_sq);
    factor = gb_norm_factor(sum_sq, n, a.eps);
    for (int64_t i = team::rank(); i < n; i += team::size)
        dst[i] = gb_fma(-part, x[i], dz[i]) * factor;
}

#define GB_NORM_KERNELS(name)                                             \
    GB_KERNEL(256, gb_##name##_f32_warp, norm)                            \
    {                                                                     \
        gb_each_row<gb_warp_team<256>, gb_cuda_norm_args,                 \
                    gb_##name##_row<gb_warp_team<256>>>(a, a.n_rows);     \
    }                                                                     \
    GB_KERNEL(512, gb_##name##_f32_block, norm)                           \
    {                                                                     \
        gb_each_row<gb_block_team<512>, gb_cuda_norm_args,                \
                    gb_##name##_row<gb_block_team<512>>>(a, a.n_rows);    \
    }

GB_NORM_KERNELS(norm)
GB_NORM_KERNELS(rms_norm)
GB_NORM_KERNELS(rms_norm_back)

/* ---- with what stands round it ---- */

/* A row of T; NULL where T has no data. */
GB_DEVICE float *
gb_row_if_any(const gb_cuda_tensor &t, const gb_row &at)
{
    return t.data == nullptr ? nullptr : (float *)gb_row_data(t, at);
}

GB_DEVICE void
gb_store_if_any(float *row, int64_t i, float value)
{
    if (row != nullptr)
        row[i] = value;
}

/* What row AT of dst is made of: zeros where its number is no row's. */
GB_DEVICE gb_norm_source
gb_norm_source_of(const gb_cuda_norm_mul_args &a, const gb_row &at)
{
    const float *const y = gb_row_if_any(a.addend, at);
    gb_row from = at;

    if (a.ids.data != nullptr) {
        from.i1 = *(const int32_t *)(a.ids.data + at.i1 * a.ids.nb[0]);
        if (from.i1 < 0 || from.i1 >= a.src.ne[1])
            return { nullptr, nullptr, 0 };
    }
    return { (const float *)gb_row_data(a.src, from), y, a.dst.ne[0] };
}

/* The rows that a team works on, of what there is of them. */
struct gb_norm_rows {
    gb_norm_source source;
    const float *weights, *bias;
    float *sum, *normed, *scaled, *dst;
};

GB_DEVICE gb_norm_rows
gb_norm_rows_of(const gb_cuda_norm_mul_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.dst.ne);

    return {
        gb_norm_source_of(a, at),
        (const float *)gb_row_data(a.weights, at),
        gb_row_if_any(a.bias, at),
        gb_row_if_any(a.sum, at),
        gb_row_if_any(a.normed, at),
        gb_row_if_any(a.scaled, at),
        (float *)gb_row_data(a.dst, at),
    };
}

/* Element I: what the kernels of the operations would do one after the other,
 * with the same bits.  It is read by the thread that writes in its place. */
GB_DEVICE float
gb_norm_element(const gb_norm_rows &rows, int64_t i, float mean, float scale)
{
    const float x =
        i < rows.source.n ? gb_norm_at(rows.source, i) : 0.0f;
    const float normed = (x - mean) * scale;
    const float scaled = normed * rows.weights[i];
    const float result =
        rows.bias == nullptr ? scaled : scaled + rows.bias[i];

    gb_store_if_any(rows.sum, i, x);
    gb_store_if_any(rows.normed, i, normed);
    gb_store_if_any(rows.scaled, i, scaled);
    rows.dst[i] = result;
    return result;
}

template <typename team>
GB_DEVICE void
gb_norm_mul_row(const gb_cuda_norm_mul_args &a, int64_t row)
{
    const gb_norm_rows rows = gb_norm_rows_of(a, row);
    const int64_t n = a.dst.ne[0];
    const int64_t first_block = row * (n / 32);
    const float mean =
        a.has_mean ? gb_norm_mean<team>(rows.source, n) : 0.0f;
    const float scale = gb_norm_scale<team>(rows.source, n, mean, a.eps);
    float largest = 0.0f;

    for (int64_t first = 0; first < n; first += team::size) {
        const int64_t i = first + team::rank();
        const float result =
            i < n ? gb_norm_element(rows, i, mean, scale) : 0.0f;

        largest = gb_larger_magnitude(largest, result);
        if (a.columns != nullptr)
            gb_store_q8(a.columns, first_block + i / 32, (int)(i % 32), result,
                        i < n);
    }
    if (a.halves != nullptr)
        gb_store_halves<team>(gb_halves_of(a.halves, row, n), rows.dst, n,
                              largest);
}

#define GB_NORM_MUL_KERNEL(kind, threads)                                 \
    GB_KERNEL(threads, gb_norm_mul_f32_##kind, norm_mul)                  \
    {                                                                     \
        gb_each_row<gb_##kind##_team<threads>, gb_cuda_norm_mul_args,     \
                    gb_norm_mul_row<gb_##kind##_team<threads>>>(          \
            a, a.n_rows);                                                 \
    }

GB_NORM_MUL_KERNEL(warp, 256)
GB_NORM_MUL_KERNEL(block, 512)

/* ---- groups ---- */

/* A group: channels from FIRST on of batch I3, and N elements. */
struct gb_group {
    int64_t first, i3, n;
};

GB_DEVICE gb_group
gb_group_of(const gb_cuda_group_norm_args &a, int64_t number)
{
    gb_group group;
    int64_t channels;

    group.first = gb_take_index(&number, a.n_groups) * a.per_group;
    group.i3 = number;
    channels = a.dst.ne[2] - group.first;
    group.n = a.dst.ne[0] * a.dst.ne[1] *
              (channels < a.per_group ? channels : a.per_group);
    return group;
}

/* Element I of a group of T. */
GB_DEVICE float *
gb_group_element(const gb_cuda_tensor &t, const gb_group &group, int64_t i)
{
    const int64_t i0 = gb_take_index(&i, t.ne[0]);
    gb_row row;

    row.i1 = gb_take_index(&i, t.ne[1]);
    row.i2 = group.first + i;
    row.i3 = group.i3;
    return (float *)gb_row_data(t, row) + i0;
}

GB_DEVICE void
gb_group_norm_of(const gb_cuda_group_norm_args &a, int64_t number)
{
    const gb_group group = gb_group_of(a, number);
    float sum = 0.0f;
    float sum_sq = 0.0f;
    float mean;
    float factor;

    for (int64_t i = gb_thread(); i < group.n; i += 512)
        sum += *gb_group_element(a.src0, group, i);
    mean = gb_block_sum<512>(sum) / (float)group.n;
    for (int64_t i = gb_thread(); i < group.n; i += 512) {
        const float x = *gb_group_element(a.src0, group, i) - mean;

        sum_sq = gb_fma(x, x, sum_sq);
    }
    factor = gb_norm_factor(gb_block_sum<512>(sum_sq), group.n, a.eps);
    for (int64_t i = gb_thread(); i < group.n; i += 512)
        *gb_group_element(a.dst, group, i) =
            (*gb_group_element(a.src0, group, i) - mean) * factor;
}

GB_KERNEL(512, gb_group_norm_f32, group_norm)
{
    gb_each_row<gb_block_team<512>, gb_cuda_group_norm_args,
                gb_group_norm_of>(a, a.n_groups * a.dst.ne[3]);
}
