/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/norm.cu - rows, or groups of channels, brought to mean 0 and
 * variance 1, or to a mean square of 1.
 *
 * A warp a row, eight (of 64 lanes: four) a block of 256 threads, up to 512
 * elements; a block of 512 threads for longer rows, and one of 512 for a group.
 * A thread has four neighbouring elements at a time, by one load where rows
 * begin at multiples of 16, and keeps those of a row of up to 8,192 in
 * registers; longer ones, and others, are read again, mostly from cache.  Which
 * thread sums up what is the same for all.  Memory is the limit; of a single row
 * it is the latency of its first load, of the reduction and of blocks of q8.
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

/* ---- rows by fours ---- */

/* What a row is made of, N elements of X, and of Y added to them where it is
 * there; zeros where there is no X.  What is not written has no place.  BY_4:
 * all begin at multiples of 16, and so do fours of them. */
struct gb_norm_rows {
    const float *x, *y;
    const float *weights, *bias;
    float *sum, *normed, *scaled, *dst;
    int64_t n;
    bool by_4;
};

/* Elements that lie in the four from I on: 4 but at the end of a row. */
GB_DEVICE int
gb_four_count(int64_t i, int64_t n)
{
    const int64_t left = n - i;

    return left < 4 ? (int)left : 4;
}

/* Elements I on of ROW, and zeros behind the last. */
template <bool by_4>
GB_DEVICE gb_float4
gb_four_at(const float *row, int64_t i, int64_t n)
{
    if constexpr (by_4) {
        return *(const gb_float4 *)(row + i);
    } else {
        gb_float4 four = { { 0.0f, 0.0f, 0.0f, 0.0f } };

        GB_UNROLL
        for (int j = 0; j < 4; j++)
            if (i + j < n)
                four.at[j] = row[i + j];
        return four;
    }
}

template <bool by_4>
GB_DEVICE void
gb_put_four_if_any(float *row, int64_t i, int64_t n, const gb_float4 &four)
{
    if (row == nullptr)
        return;
    if constexpr (by_4) {
        *(gb_float4 *)(row + i) = four;
    } else {
        GB_UNROLL
        for (int j = 0; j < 4; j++)
            if (i + j < n)
                row[i + j] = four.at[j];
    }
}

template <bool by_4>
GB_DEVICE gb_float4
gb_norm_source(const gb_norm_rows &rows, int64_t i)
{
    gb_float4 x = { { 0.0f, 0.0f, 0.0f, 0.0f } };

    if (rows.x == nullptr)
        return x;
    x = gb_four_at<by_4>(rows.x, i, rows.n);
    if (rows.y != nullptr)
        x = gb_sum_of_4(x, gb_four_at<by_4>(rows.y, i, rows.n));
    return x;
}

/* SUM and the COUNT first of X, one after the other. */
GB_DEVICE float
gb_norm_add(float sum, const gb_float4 &x, int count)
{
    GB_UNROLL
    for (int j = 0; j < 4; j++)
        if (j < count)
            sum += x.at[j];
    return sum;
}

/* The same of the squares of their distances from MEAN. */
GB_DEVICE float
gb_norm_add_squares(float sum, const gb_float4 &x, int count, float mean)
{
    GB_UNROLL
    for (int j = 0; j < 4; j++) {
        const float distance = x.at[j] - mean;

        if (j < count)
            sum = gb_fma(distance, distance, sum);
    }
    return sum;
}

/* What goes with the row besides. */
struct gb_norm_task {
    float eps;
    bool has_mean; /* NORM, else RMS_NORM */
    char *columns;   /* of the row: q8 activations that number FIRST_BLOCK
                        begins, or NULL */
    int64_t first_block;
    char *halves; /* the row's column, or NULL */
};

/* Elements I on, of which X are made: what the kernels of the operations would
 * do one after the other, with the same bits. */
template <bool by_4>
GB_DEVICE gb_float4
gb_norm_four(const gb_norm_rows &rows, int64_t i, gb_float4 x,
             const gb_float4 &weights, float mean, float scale)
{
    gb_float4 bias;

    if (rows.bias != nullptr)
        bias = gb_four_at<by_4>(rows.bias, i, rows.n);
    gb_put_four_if_any<by_4>(rows.sum, i, rows.n, x);
    GB_UNROLL
    for (int j = 0; j < 4; j++)
        x.at[j] = (x.at[j] - mean) * scale;
    gb_put_four_if_any<by_4>(rows.normed, i, rows.n, x);
    if (rows.weights != nullptr) {
        GB_UNROLL
        for (int j = 0; j < 4; j++)
            x.at[j] *= weights.at[j];
    }
    gb_put_four_if_any<by_4>(rows.scaled, i, rows.n, x);
    if (rows.bias != nullptr)
        x = gb_sum_of_4(x, bias);
    gb_put_four_if_any<by_4>(rows.dst, i, rows.n, x);
    return x;
}

/* Fours that a thread of a team keeps. */
template <typename team>
GB_DEVICE constexpr int
gb_norm_kept()
{
    return team::teams == 1 ? GB_CUDA_NORM_KEPT / (4 * team::size)
                            : 256 / (4 * team::size);
}

/* The fours of a row that a thread keeps; zeros behind the last. */
template <typename team>
GB_DEVICE void
gb_keep(const float *row, int n, gb_float4 *fours)
{
    GB_UNROLL
    for (int k = 0; k < gb_norm_kept<team>(); k++) {
        const int i = 4 * (team::rank() + k * team::size);

        fours[k] = { { 0.0f, 0.0f, 0.0f, 0.0f } };
        if (i < n)
            fours[k] = *(const gb_float4 *)(row + i);
    }
}

/* What is kept of X, and of Y added to it. */
template <typename team>
GB_DEVICE void
gb_keep_source(const gb_norm_rows &rows, gb_float4 *x)
{
    const int n = rows.x == nullptr ? 0 : (int)rows.n;
    gb_float4 y[gb_norm_kept<team>()];

    gb_keep<team>(rows.x, n, x);
    if (rows.y == nullptr)
        return;
    gb_keep<team>(rows.y, n, y);
    GB_UNROLL
    for (int k = 0; k < gb_norm_kept<team>(); k++)
        x[k] = gb_sum_of_4(x[k], y[k]);
}

/* A row that the team keeps: all that is read of it is on its way before
 * anything waits. */
template <typename team>
GB_DEVICE void
gb_norm_kept_row(const gb_norm_rows &rows, const gb_norm_task &task)
{
    constexpr int kept = gb_norm_kept<team>();
    constexpr int step = 4 * team::size;
    const int n = (int)rows.n;
    const int first = 4 * team::rank();
    gb_float4 x[kept], weights[kept];
    float mean = 0.0f, sum = 0.0f, scale, largest = 0.0f;

    if (rows.weights != nullptr)
        gb_keep<team>(rows.weights, n, weights);
    gb_keep_source<team>(rows, x);
    if (task.has_mean) {
        GB_UNROLL
        for (int k = 0; k < kept; k++)
            if (first + k * step < n)
                sum = gb_norm_add(sum, x[k], 4);
        mean = team::template sum_once<0>(sum) / (float)n;
    }
    sum = 0.0f;
    GB_UNROLL
    for (int k = 0; k < kept; k++)
        if (first + k * step < n)
            sum = gb_norm_add_squares(sum, x[k], 4, mean);
    scale =
        gb_norm_factor(team::template sum_once<1>(sum), n, task.eps);
    GB_UNROLL
    for (int k = 0; k < kept; k++)
        if (first + k * step < n) {
            x[k] = gb_norm_four<true>(rows, first + k * step, x[k], weights[k],
                                      mean, scale);
            largest = gb_larger_magnitude_of_4(largest, x[k]);
        }
    if (task.columns != nullptr) {
        GB_UNROLL
        for (int k = 0; k < kept; k++)
            if (k * step < n) {
                const int i = first + k * step;

                gb_store_q8_by_4(task.columns, task.first_block + i / 32,
                                 i % 32, x[k], i < n);
            }
    }
    if (task.halves != nullptr) {
        const float factor = gb_store_halves_head<team>(task.halves, largest);

        GB_UNROLL
        for (int k = 0; k < kept; k++)
            if (first + k * step < n)
                gb_store_halves_four(task.halves, first + k * step, x[k],
                                     factor);
    }
}

/* Any row: the same sums in the same order. */
template <typename team, bool by_4>
GB_DEVICE void
gb_norm_any_row(const gb_norm_rows &rows, const gb_norm_task &task)
{
    constexpr int step = 4 * team::size;
    const int64_t n = rows.n;
    const int64_t first = 4 * team::rank();
    float mean = 0.0f, sum = 0.0f, scale, largest = 0.0f;

    if (task.has_mean) {
        GB_DO_NOT_UNROLL
        for (int64_t i = first; i < n; i += step)
            sum = gb_norm_add(sum, gb_norm_source<by_4>(rows, i),
                              gb_four_count(i, n));
        mean = team::template sum_once<0>(sum) / (float)n;
    }
    sum = 0.0f;
    GB_DO_NOT_UNROLL
    for (int64_t i = first; i < n; i += step)
        sum = gb_norm_add_squares(sum, gb_norm_source<by_4>(rows, i),
                                  gb_four_count(i, n), mean);
    scale =
        gb_norm_factor(team::template sum_once<1>(sum), n, task.eps);
    GB_DO_NOT_UNROLL
    for (int64_t begin = 0; begin < n; begin += step) {
        const int64_t i = begin + first;
        gb_float4 x = { { 0.0f, 0.0f, 0.0f, 0.0f } };

        if (i < n) {
            gb_float4 weights = x;

            if (rows.weights != nullptr)
                weights = gb_four_at<by_4>(rows.weights, i, n);
            x = gb_norm_four<by_4>(rows, i, gb_norm_source<by_4>(rows, i),
                                   weights, mean, scale);
        }
        largest = gb_larger_magnitude_of_4(largest, x);
        if (task.columns != nullptr)
            gb_store_q8_by_4(task.columns, task.first_block + i / 32,
                             (int)(i % 32), x, i < n);
    }
    if (task.halves != nullptr) {
        const float factor = gb_store_halves_head<team>(task.halves, largest);

        GB_DO_NOT_UNROLL
        for (int64_t i = first; i < n; i += step)
            gb_store_halves_four(task.halves, i,
                                 gb_four_at<by_4>(rows.dst, i, n), factor);
    }
}

template <typename team>
GB_DEVICE void
gb_norm_rows_by(const gb_norm_rows &rows, const gb_norm_task &task)
{
    if (rows.by_4 && rows.n <= 4 * team::size * gb_norm_kept<team>())
        gb_norm_kept_row<team>(rows, task);
    else if (rows.by_4)
        gb_norm_any_row<team, true>(rows, task);
    else
        gb_norm_any_row<team, false>(rows, task);
}

/* Do all of these begin at multiples of 16? */
GB_DEVICE bool
gb_is_by_4(const gb_norm_rows &r)
{
    const uintptr_t all = (uintptr_t)r.x | (uintptr_t)r.y |
                          (uintptr_t)r.weights | (uintptr_t)r.bias |
                          (uintptr_t)r.sum | (uintptr_t)r.normed |
                          (uintptr_t)r.scaled | (uintptr_t)r.dst |
                          (uintptr_t)(4 * r.n);

    return all % 16 == 0;
}

/* ROW(a, row number) by all threads of a team.  A grid has as many teams as there
 * are rows: in a loop over rows the compiler would keep what all of them have in
 * common, which is most of a kernel's argument, in registers. */
template <typename team, typename args, void (*row)(const args &, int64_t)>
GB_DEVICE void
gb_one_row(const args &a, int64_t n_rows)
{
    const int64_t n = gb_block() * team::teams + team::number();

    if (n < n_rows)
        row(a, n);
}

/* ---- alone ---- */

template <typename team, bool has_mean>
GB_DEVICE void
gb_plain_norm_row(const gb_cuda_norm_args &a, int64_t row)
{
    const gb_row at = gb_quick_row_of(row, a.dst.ne);
    gb_norm_rows rows = {};
    gb_norm_task task = {};

    rows.x = (const float *)gb_row_data(a.src0, at);
    rows.dst = (float *)gb_row_data(a.dst, at);
    rows.n = a.dst.ne[0];
    rows.by_4 = gb_is_by_4(rows);
    task.eps = a.eps;
    task.has_mean = has_mean;
    gb_norm_rows_by<team>(rows, task);
}

template <typename team>
GB_DEVICE void
gb_norm_row(const gb_cuda_norm_args &a, int64_t row)
{
    gb_plain_norm_row<team, true>(a, row);
}

template <typename team>
GB_DEVICE void
gb_rms_norm_row(const gb_cuda_norm_args &a, int64_t row)
{
    gb_plain_norm_row<team, false>(a, row);
}

/* The part of dz along x is taken off, since a longer x gives the same result
 * but for eps, and the rest is scaled as x was. */
template <typename team>
GB_DEVICE void
gb_rms_norm_back_row(const gb_cuda_norm_args &a, int64_t row)
{
    const gb_row at = gb_quick_row_of(row, a.dst.ne);
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

#define GB_NORM_KERNELS(name, rows)                                         \
    GB_KERNEL_RESIDENT(256, 4, gb_##name##_f32_warp, norm)                  \
    {                                                                       \
        rows<gb_warp_team<256>, gb_cuda_norm_args,                          \
             gb_##name##_row<gb_warp_team<256>>>(a, a.n_rows);              \
    }                                                                       \
    GB_KERNEL_RESIDENT(512, 2, gb_##name##_f32_block, norm)                 \
    {                                                                       \
        rows<gb_block_team<512>, gb_cuda_norm_args,                         \
             gb_##name##_row<gb_block_team<512>>>(a, a.n_rows);             \
    }

GB_NORM_KERNELS(norm, gb_one_row)
GB_NORM_KERNELS(rms_norm, gb_one_row)
GB_NORM_KERNELS(rms_norm_back, gb_each_row)

/* ---- with what stands round it ---- */

/* A row of T; NULL where T has no data. */
GB_DEVICE float *
gb_row_if_any(const gb_cuda_tensor &t, const gb_row &at)
{
    return t.data == nullptr ? nullptr : (float *)gb_row_data(t, at);
}

/* What row AT of dst is made of: NULL where its number is no row's. */
GB_DEVICE const float *
gb_norm_source_of(const gb_cuda_norm_mul_args &a, const gb_row &at)
{
    gb_row from = at;

    if (a.ids.data != nullptr) {
        from.i1 = *(const int32_t *)(a.ids.data + at.i1 * a.ids.nb[0]);
        if (from.i1 < 0 || from.i1 >= a.src.ne[1])
            return nullptr;
    }
    return (const float *)gb_row_data(a.src, from);
}

template <typename team>
GB_DEVICE void
gb_norm_mul_row(const gb_cuda_norm_mul_args &a, int64_t row)
{
    const gb_row at = gb_quick_row_of(row, a.dst.ne);
    const int64_t n = a.dst.ne[0];
    gb_norm_rows rows = {
        gb_norm_source_of(a, at),
        gb_row_if_any(a.addend, at),
        (const float *)gb_row_data(a.weights, at),
        gb_row_if_any(a.bias, at),
        gb_row_if_any(a.sum, at),
        gb_row_if_any(a.normed, at),
        gb_row_if_any(a.scaled, at),
        (float *)gb_row_data(a.dst, at),
        n,
        false,
    };
    const gb_norm_task task = {
        a.eps,
        a.has_mean != 0,
        a.columns,
        row * (n / 32),
        a.halves == nullptr ? nullptr : gb_halves_of(a.halves, row, n),
    };

    rows.by_4 = gb_is_by_4(rows);
    gb_norm_rows_by<team>(rows, task);
}

/* Nothing writes weights while a model runs, but where something does they are
 * only in the cache early. */
GB_DEVICE void
gb_prefetch_weights(const char *weights, int64_t n)
{
    const int64_t at = 128 * gb_thread();

    if (gb_block() == 0 && at < 4 * n)
        gb_prefetch(weights + at);
}

#define GB_NORM_MUL_KERNEL(kind, threads, blocks)                             \
    GB_KERNEL_AHEAD(GB_RESIDENT(threads, blocks), gb_norm_mul_f32_##kind,     \
                    norm_mul)                                                 \
    {                                                                         \
        gb_let_next_begin();                                                  \
        gb_prefetch_weights(a.weights.data, a.dst.ne[0]);                     \
        gb_wait_for_kernels_before();                                         \
        gb_one_row<gb_##kind##_team<threads>, gb_cuda_norm_mul_args,          \
                   gb_norm_mul_row<gb_##kind##_team<threads>>>(a, a.n_rows);  \
    }

GB_NORM_MUL_KERNEL(warp, 256, 3)
GB_NORM_MUL_KERNEL(block, 512, 2)

/* A thread block a row, as above, and with the same bits.  With a token's row
 * 120 instructions less are in front of the first load. */
GB_KERNEL_AHEAD(GB_RESIDENT(512, 2), gb_norm_mul_f32_plain, norm_plain)
{
    const int64_t row = gb_block();
    gb_norm_rows rows = {};
    gb_norm_task task = {};

    gb_let_next_begin();
    gb_prefetch_weights((const char *)a.weights, a.n);
    gb_wait_for_kernels_before();
    rows.x = a.src + row * a.n;
    rows.weights = a.weights;
    rows.dst = a.dst + row * a.n;
    rows.normed = a.normed == nullptr ? nullptr : a.normed + row * a.n;
    rows.n = a.n;
    task.eps = a.eps;
    task.has_mean = a.has_mean != 0;
    task.columns = a.columns;
    task.first_block = row * (a.n / 32);
    if (a.halves != nullptr)
        task.halves = gb_halves_of(a.halves, row, a.n);
    gb_norm_kept_row<gb_block_team<512>>(rows, task);
}

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
