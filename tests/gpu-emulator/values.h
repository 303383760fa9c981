/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values.h - kernels that hand out what each word of device.h gives.
 *
 * Read by values.cu and values.cpp.
 */
#ifndef GB_GPU_EMULATOR_VALUES_H
#define GB_GPU_EMULATOR_VALUES_H

#include <stdint.h>

struct gb_value_args {
    const uint32_t *in;
    uint32_t *out;
};

/* What a lane gets from each of the words of values.cu's gb_value_warp. */
enum gb_value_warp {
    VALUE_SHUFFLE,
    VALUE_SHUFFLE_8,
    VALUE_XOR,
    VALUE_XOR_ACROSS,
    VALUE_DOWN,
    VALUE_DOWN_8,
    VALUE_UP,
    VALUE_UP_8,
    VALUE_BALLOT_LOW,
    VALUE_BALLOT_HIGH,
    VALUE_ANY,
    VALUE_ALL,
    VALUE_WARP_COUNT,
};

/*
 * Name and threads.  Of matrix instructions, in has the registers of A, B and C
 * of each lane, out those of D.
 */
#define GB_VALUES                          \
    GB_VALUE(warp, 2 * GB_WARP)            \
    GB_VALUE(place, 60)                    \
    GB_VALUE(atomic, 128)                  \
    GB_VALUE(mma_m16n8k8_f16, GB_WARP)     \
    GB_VALUE(mma_m16n8k16_f16, GB_WARP)    \
    GB_VALUE(mma_m16n8k16_bf16, GB_WARP)   \
    GB_VALUE(mma_m8n8k16_s8, GB_WARP)      \
    GB_VALUE(mma_m16n8k32_s8, GB_WARP)     \
    GB_VALUE(ldmatrix, GB_WARP)            \
    GB_VALUE(late, GB_WARP)                \
    GB_VALUE(count, GB_WARP)

#define GB_VALUE(name, threads) \
    extern "C" void gb_value_##name(const struct gb_value_args);
GB_VALUES
#undef GB_VALUE

#endif
