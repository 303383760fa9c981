/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/tensor-map.h - what is in the 128 bytes of a tensor map of the
 * emulated driver.
 */
#ifndef GB_GPU_EMULATOR_TENSOR_MAP_H
#define GB_GPU_EMULATOR_TENSOR_MAP_H

#include <stdint.h>

namespace emu {

constexpr uint32_t tensor_map_mark = 0x3a9d51c7;
constexpr int most_dimensions = 5;

struct tensor_map {
    uint64_t address;
    uint64_t stride[most_dimensions - 1];  /* bytes; from dimension 1 on */
    uint32_t last[most_dimensions];        /* one less than there are */
    uint32_t mark;
    uint16_t box[most_dimensions];
    uint8_t step[most_dimensions];
    uint8_t rank;
    uint8_t size;                          /* bytes of an element */
    uint8_t span;                          /* swizzled bytes; 0: none */
};

static_assert(sizeof(tensor_map) <= 128, "it is no larger");

} // namespace emu

#endif
