/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/columns.cuh - columns of halves, made by the threads that made
 * their values.
 *
 * The largest value of a column decides by which power of two all of it is
 * multiplied, so a column is one team's.  Its values are a multiple of
 * GB_CUDA_K_STEP: there are no zeros behind the last.
 */
#ifndef GB_CUDA_KERNELS_COLUMNS_CUH
#define GB_CUDA_KERNELS_COLUMNS_CUH

#include "backends/cuda/kernels/q8.cuh"

GB_DEVICE float
gb_larger_magnitude(float largest, float x)
{
    const float magnitude = gb_magnitude(x);

    return magnitude > largest ? magnitude : largest;
}

GB_DEVICE float
gb_larger_magnitude_of_4(float largest, const gb_float4 &x)
{
    GB_UNROLL
    for (int j = 0; j < 4; j++)
        largest = gb_larger_magnitude(largest, x.at[j]);
    return largest;
}

/* Column NUMBER of those that have N values each and follow each other. */
GB_DEVICE char *
gb_halves_of(char *columns, int64_t number, int64_t n)
{
    return columns + number * (GB_CUDA_HALVES_HEAD + 2 * n);
}

/* What a team's values are multiplied by, where LARGEST is the largest
 * magnitude of this thread's; the column TO begins with its inverse then. */
template <typename team>
GB_DEVICE float
gb_store_halves_head(char *to, float largest)
{
    const float factor = gb_f16_factor(team::max(largest));

    if (team::rank() == 0)
        *(float *)to = 1.0f / factor;
    return factor;
}

/* The N values that a team has stored at FROM as the column TO.  Each thread
 * reads what it wrote itself. */
template <typename team>
GB_DEVICE void
gb_store_halves(char *to, const float *from, int64_t n, float largest)
{
    const float factor = gb_store_halves_head<team>(to, largest);

    for (int64_t i = team::rank(); i < n; i += team::size)
        gb_store((gb_f16 *)(to + GB_CUDA_HALVES_HEAD) + i, from[i] * factor);
}

/* Values I on of the column TO, whose factor is FACTOR. */
GB_DEVICE void
gb_store_halves_four(char *to, int64_t i, const gb_float4 &x, float factor)
{
    struct alignas(8) halves {
        uint32_t words[2];
    };

    *(halves *)(to + GB_CUDA_HALVES_HEAD + 2 * i) = {
        { gb_f16_pair(x.at[0] * factor, x.at[1] * factor),
          gb_f16_pair(x.at[2] * factor, x.at[3] * factor) }
    };
}

/* The same where each thread has four neighbouring values at a time. */
template <typename team>
GB_DEVICE void
gb_store_halves_by_4(char *to, const gb_float4 *from, int64_t n, float largest)
{
    const float factor = gb_store_halves_head<team>(to, largest);

    for (int64_t i = team::rank(); i < n / 4; i += team::size)
        gb_store_halves_four(to, 4 * i, from[i], factor);
}

#endif
