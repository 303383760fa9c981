/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/sortkey.cuh - what elements are sorted by.
 *
 * A key is an element's value, mapped to an integer of the same order, above
 * its index: keys are all different, and equal elements keep their order.
 */
#ifndef GB_CUDA_KERNELS_SORTKEY_CUH
#define GB_CUDA_KERNELS_SORTKEY_CUH

#include "backends/cuda/kernels/device.cuh"

/* An integer that grows with the float; the same for 0 and -0. */
GB_DEVICE uint32_t
gb_ordered_bits(float value)
{
    const uint32_t bits = gb_bits_of_float(value == 0.0f ? 0.0f : value);

    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

/* NaN are last whatever the order. */
GB_DEVICE uint64_t
gb_sort_key(float value, int64_t index, int is_descending)
{
    uint32_t order = gb_ordered_bits(value);

    order = is_descending ? ~order : order;
    order = value == value ? order : 0xffffffffu;
    return (uint64_t)order << 32 | (uint32_t)index;
}

#endif
