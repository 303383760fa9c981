// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-tensor-map.cpp - what TMA knows a tensor by.
 *
 * What is refused is what the vendor's header says of cuTensorMapEncodeTiled.
 * Packed types of 4 and 6 bits, interleaved layouts, and swizzling of larger
 * pieces than 16 bytes are not there.
 */
#include "tests/gpu-emulator/driver.h"
#include "tests/gpu-emulator/tensor-map.h"

#include <string.h>

namespace emu {

namespace {

/* Bytes of an element by type: unsigned and signed integers, f16 … tf32. */
constexpr uint8_t sizes[] = { 1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4 };
constexpr int n_types = sizeof(sizes);
constexpr int first_float = 6;
constexpr uint8_t spans[] = { 0, 32, 64, 128 };
constexpr uint64_t most_elements = (uint64_t)1 << 32;
constexpr uint64_t most_stride = (uint64_t)1 << 40;

bool
is_dimension(const tensor_map &m, int i, const uint64_t *dim,
             const uint64_t *stride, const uint32_t *box, const uint32_t *step)
{
    if (dim[i] == 0 || dim[i] > most_elements || box[i] == 0 || box[i] > 256 ||
        step[i] == 0 || step[i] > 8)
        return false;
    if (i + 1 < m.rank &&
        (stride[i] % 16 != 0 || stride[i] >= most_stride ||
         stride[i] < (i == 0 ? dim[0] * m.size : stride[i - 1])))
        return false;
    return i > 0 || (box[0] * m.size % 16 == 0 &&
                     (m.span == 0 || box[0] * m.size <= m.span));
}

void
set_dimension(tensor_map *m, int i, const uint64_t *dim,
              const uint64_t *stride, const uint32_t *box,
              const uint32_t *step)
{
    m->last[i] = (uint32_t)(dim[i] - 1);
    m->box[i] = (uint16_t)box[i];
    m->step[i] = (uint8_t)step[i];
    if (i + 1 < m->rank)
        m->stride[i] = stride[i];
}

/* A card whose TMA there is none of has no such maps. */
bool
is_known(int type, uint32_t rank, int interleave, int swizzle, int l2,
         int outside)
{
    return current_card()->arch >= 90 && type >= 0 && type < n_types &&
           rank > 0 && rank <= (uint32_t)most_dimensions && interleave == 0 &&
           swizzle >= 0 && swizzle < (int)sizeof(spans) && l2 >= 0 && l2 <= 3 &&
           (outside == 0 || (outside == 1 && type >= first_float));
}

} // namespace

int
api::tensor_map(void *map, int type, uint32_t rank, void *address,
                const uint64_t *dim, const uint64_t *stride,
                const uint32_t *box, const uint32_t *step, int interleave,
                int swizzle, int l2, int outside)
{
    emu::tensor_map m = {};

    if (map == nullptr || (uintptr_t)map % 64 != 0 ||
        (uintptr_t)address % 16 != 0 || dim == nullptr || box == nullptr ||
        step == nullptr || (rank > 1 && stride == nullptr) ||
        !is_known(type, rank, interleave, swizzle, l2, outside))
        return GB_CUDA_INVALID_VALUE;
    m.mark = tensor_map_mark;
    m.address = (uintptr_t)address;
    m.rank = (uint8_t)rank;
    m.size = sizes[type];
    m.span = spans[swizzle];
    for (int i = 0; i < (int)rank; i++) {
        if (!is_dimension(m, i, dim, stride, box, step))
            return GB_CUDA_INVALID_VALUE;
        set_dimension(&m, i, dim, stride, box, step);
    }
    memset(map, 0, 128);
    memcpy(map, &m, sizeof(m));
    return 0;
}

} // namespace emu
