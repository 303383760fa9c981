/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/matrixlimits.cu - products on matrix cores as fast as a card can,
 * from registers, as limits.cu has those on tensor cores.
 */
#include "backends/cuda/kernels/limits.cuh"
#include "backends/cuda/kernels/matrix.cuh"

/* A block does the same whatever its waves are. */
#define SUMS (GB_LIMIT_SUMS * GB_WARP / 32)

/* A lane's share of 32 values of k, from word FIRST on: halves below 2, since
 * large ones add up to infinities; of lanes that have to have the same, the
 * same. */
GB_DEVICE gb_matrix_share
gb_limit_share(const struct gb_cuda_limits_args &a, int first)
{
    const int from = gb_lane() % (16 * GB_MATRIX_SHARES);
    gb_matrix_share share;

    GB_UNROLL
    for (int i = 0; i < GB_MATRIX_WORDS; i++)
        share.words[i] = gb_shuffle(gb_limit_operand(a, first + i), from) &
                         0xbfffbfff;
    return share;
}

template <typename how>
GB_DEVICE void
gb_limit_matrix(const struct gb_cuda_limits_args &a)
{
    const gb_matrix_share rows = gb_limit_share(a, 0);
    const gb_matrix_share cols = gb_limit_share(a, GB_MATRIX_WORDS);
    float sums[SUMS][GB_MATRIX_SUMS] = {}, all = 0.0f;

    GB_DO_NOT_UNROLL
    for (int64_t round = 0; round < a.rounds; round++) {
        GB_UNROLL
        for (int i = 0; i < SUMS; i++)
            how::multiply(sums[i], rows, cols);
    }
    GB_UNROLL
    for (int i = 0; i < SUMS; i++)
        GB_UNROLL
        for (int j = 0; j < GB_MATRIX_SUMS; j++)
            all += sums[i][j];
    ((float *)a.to)[gb_global_thread()] = all;
}

#define MATRIX(name)                                    \
    GB_KERNEL(256, gb_limit_matrix_##name, limits)      \
    {                                                   \
        if constexpr (gb_has_matrix)                    \
            gb_limit_matrix<gb_matrix_multiply_##name>(a); \
    }

MATRIX(f16)
MATRIX(bf16)
