/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/q8.cuh - blocks of q8 activations, made by neighbouring lanes.
 */
#ifndef GB_CUDA_KERNELS_Q8_CUH
#define GB_CUDA_KERNELS_Q8_CUH

#include "backends/cuda/kernels/args-matmul.h"
#include "backends/cuda/kernels/tensor.cuh"

/* |X|, infinite for a NaN, so that the largest of values tells of one. */
GB_DEVICE float
gb_magnitude(float x)
{
    return x != x ? gb_float_of_bits(0x7f800000) : x < 0.0f ? -x : x;
}

/* To nearest, ties away from zero; 0 where the block has an infinity or a NaN,
 * whose results are NaN by the scale. */
GB_DEVICE int
gb_q8_code(float x, float largest)
{
    const float scaled = 127.0f / largest * x;

    if (!(largest > 0.0f && largest < gb_float_of_bits(0x7f800000)))
        return 0;
    return (int)(scaled + (scaled < 0.0f ? -0.5f : 0.5f));
}

/* Block NUMBER of columns. */
struct gb_q8_place {
    gb_cuda_q8_group *group;
    int at;
};

GB_DEVICE gb_q8_place
gb_q8_place_of(char *columns, int64_t number)
{
    return { (gb_cuda_q8_group *)columns + number / GB_CUDA_Q8_GROUP,
             (int)(number % GB_CUDA_Q8_GROUP) };
}

/* A block as it is read, where GROUP points to one behind a group's first. */
struct gb_q8_block {
    gb_cuda_q8_half codes[2];
    gb_cuda_q8_head head;
};

/*
 * With its sum, with the sums of its codes, or with its scale alone.  Nothing else is
 * loaded: a register for what nobody uses would become another value's while the load
 * is on its way, and that waits for it.
 */
template <bool with_sum, bool with_code_sums>
GB_DEVICE gb_q8_block
gb_load_q8(const gb_cuda_q8_group *group)
{
    const gb_cuda_q8_head &head = group->heads[0];
    gb_q8_block block = { { group->codes[0][0], group->codes[1][0] }, {} };

    static_assert(!(with_sum && with_code_sums), "three words of four");
    block.head.d = with_code_sums ? head.same_d : head.d;
    if (with_sum)
        block.head.sum = head.sum;
    if (with_code_sums) {
        block.head.code_sums[0] = head.code_sums[0];
        block.head.code_sums[1] = head.code_sums[1];
    }
    return block;
}

/* The scale of a block, and what is known of its half HALF, whose codes have the sum
 * SUM, and those of the other half OTHER. */
GB_DEVICE void
gb_store_q8_head(const gb_q8_place &block, int half, float d, float sum,
                 float other)
{
    gb_cuda_q8_head *head = &block.group->heads[block.at];

    if (half == 0) {
        head->d = d;
        head->sum = d * sum + d * other;
    } else {
        head->same_d = d;
    }
    head->code_sums[half] = (int16_t)sum;
}

/* X as value I of block NUMBER, if IS_INSIDE.  All threads of a warp, 32 of them
 * for the same block. */
GB_DEVICE void
gb_store_q8(char *columns, int64_t number, int i, float x, bool is_inside)
{
    const gb_q8_place block = gb_q8_place_of(columns, number);
    const float largest = gb_warp_max<32>(gb_magnitude(x));
    const float d = largest / 127.0f;
    const int code = gb_q8_code(x, largest);
    const float sum = gb_warp_sum<16>((float)code);
    const float other = gb_shuffle_xor(sum, 16);

    if (!is_inside)
        return;
    ((int8_t *)block.group->codes[i / 16][block.at].words)[i % 16] =
        (int8_t)code;
    if (i % 16 == 0)
        gb_store_q8_head(block, i / 16, d, sum, other);
}

/* The same with four values a thread, from I on: eight threads a block.  Sums of
 * codes are whole numbers, so that their order does not count. */
GB_DEVICE void
gb_store_q8_by_4(char *columns, int64_t number, int i, const gb_float4 &x,
                 bool is_inside)
{
    const gb_q8_place block = gb_q8_place_of(columns, number);
    float largest = 0.0f;
    float sum = 0.0f;
    float d, other;
    uint32_t codes = 0;

    GB_UNROLL
    for (int j = 0; j < 4; j++) {
        const float magnitude = gb_magnitude(x.at[j]);

        largest = magnitude > largest ? magnitude : largest;
    }
    largest = gb_warp_max<8>(largest);
    d = largest / 127.0f;
    GB_UNROLL
    for (int j = 0; j < 4; j++) {
        const int code = gb_q8_code(x.at[j], largest);

        codes |= (uint32_t)(uint8_t)code << 8 * j;
        sum += (float)code;
    }
    sum = gb_warp_sum<4>(sum);
    other = gb_shuffle_xor(sum, 4);
    if (!is_inside)
        return;
    block.group->codes[i / 16][block.at].words[i % 16 / 4] = (int32_t)codes;
    if (i % 16 == 0)
        gb_store_q8_head(block, i / 16, d, sum, other);
}

#endif
