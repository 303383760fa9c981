/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values.h - kernels that hand out what each word of device.h gives.
 *
 * Read by values.cu and by the tests.
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

/* Bytes of panels of 64 and of 128 rows of 128 bytes. */
#define GB_VALUE_PANEL_A 8192
#define GB_VALUE_PANEL_B 16384

/*
 * Of wgmma, in has descriptors without addresses, the panels' bytes, and the
 * threads' 64 registers of C; out those of D.  By columns A's panel begins with
 * the threads' four words of A.
 */
struct gb_value_wgmma_input {
    uint64_t a, b;
    uint32_t panels[(GB_VALUE_PANEL_A + GB_VALUE_PANEL_B) / 4];
    uint32_t c[128][64];
};

/* Of TMA, a map without its address, where the box begins, and the tensor; out
 * is shared memory afterwards. */
#define GB_VALUE_TENSOR 4096 /* bytes */
#define GB_VALUE_BOX    4096

struct gb_value_tma_input {
    uint64_t map[16];
    int32_t x, y, z, w, bytes, unused[3];
    uint32_t tensor[GB_VALUE_TENSOR / 4];
};

/* Words of A and of B that a lane has at most for matrix cores, and its sums. */
#define GB_VALUE_SHARE 8
#define GB_VALUE_SUMS  (256 / GB_WARP)
/* The same of the wide ones. */
#define GB_VALUE_WIDE_SHARE 2
#define GB_VALUE_WIDE_SUMS  16

/*
 * Name, threads, bytes of dynamic shared memory.  Of matrix instructions, in
 * has the registers of A, B and C of each lane, out those of D.
 */
#define GB_VALUES                                                         \
    GB_VALUE(warp, 2 * GB_WARP, 0)                                        \
    GB_VALUE(place, 60, 0)                                                \
    GB_VALUE(atomic, 128, 0)                                              \
    GB_VALUE(mma_m16n8k8_f16, GB_WARP, 0)                                 \
    GB_VALUE(mma_m16n8k16_f16, GB_WARP, 0)                                \
    GB_VALUE(mma_m16n8k16_bf16, GB_WARP, 0)                               \
    GB_VALUE(mma_m8n8k16_s8, GB_WARP, 0)                                  \
    GB_VALUE(mma_m16n8k32_s8, GB_WARP, 0)                                 \
    GB_VALUE(matrix_f16, GB_WARP, 0)                                      \
    GB_VALUE(matrix_bf16, GB_WARP, 0)                                     \
    GB_VALUE(matrix_wide_f16, GB_WARP, 0)                                 \
    GB_VALUE(matrix_wide_bf16, GB_WARP, 0)                                \
    GB_VALUE(ldmatrix, GB_WARP, 0)                                        \
    GB_VALUE(late, GB_WARP, 0)                                            \
    GB_VALUE(count, GB_WARP, 0)                                           \
    GB_VALUE(wgmma_f16, 128, 1024 + GB_VALUE_PANEL_A + GB_VALUE_PANEL_B)  \
    GB_VALUE(wgmma_bf16, 128, 1024 + GB_VALUE_PANEL_A + GB_VALUE_PANEL_B) \
    GB_VALUE(wgmma_begin_f16, 128,                                        \
             1024 + GB_VALUE_PANEL_A + GB_VALUE_PANEL_B)                  \
    GB_VALUE(wgmma_columns_128, 128,                                      \
             1024 + GB_VALUE_PANEL_A + GB_VALUE_PANEL_B)                  \
    GB_VALUE(wgmma_columns_64, 128,                                       \
             1024 + GB_VALUE_PANEL_A + GB_VALUE_PANEL_B)                  \
    GB_VALUE(tma, 128, 1024 + GB_VALUE_BOX + 8)                           \
    GB_VALUE(tma_4, 128, 1024 + GB_VALUE_BOX + 8)

#endif
