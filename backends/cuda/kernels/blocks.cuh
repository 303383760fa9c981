/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/blocks.cuh - the blocks of the quantised formats, as device code
 * reads them.
 *
 * Members are as wide as a block's alignment lets them be read: most blocks are
 * multiples of 2 bytes long, a few of 4, 8 or 16, and lie at multiples of that.  lib/type/blocks.h says what the bytes
 * mean; how values come out of them is in unpack.cuh.
 *
 *   values    in a block
 *   sub       neighbouring values, 16 or 32, with the same scale and min
 *   has_mins  values are scale * code - min, else scale * code
 */
#ifndef GB_CUDA_KERNELS_BLOCKS_CUH
#define GB_CUDA_KERNELS_BLOCKS_CUH

#include "backends/cuda/kernels/device.cuh"

template <int n_values, int n_sub, bool mins = false>
struct gb_block_of {
    static constexpr int values = n_values;
    static constexpr int sub = n_sub;
    static constexpr bool has_mins = mins;
};

/* ---- 32 values ---- */

struct gb_q4_0 : gb_block_of<32, 32> {
    gb_f16 d;
    uint16_t qs[8];
};
static_assert(sizeof(gb_q4_0) == 18, "q4_0");

struct gb_q4_1 : gb_block_of<32, 32, true> {
    gb_f16 d, m;
    uint32_t qs[4];
};
static_assert(sizeof(gb_q4_1) == 20, "q4_1");

struct gb_q5_0 : gb_block_of<32, 32> {
    gb_f16 d;
    uint16_t qh[2];
    uint16_t qs[8];
};
static_assert(sizeof(gb_q5_0) == 22, "q5_0");

struct alignas(8) gb_q5_1 : gb_block_of<32, 32, true> {
    gb_f16 d, m;
    uint32_t qh;
    uint32_t qs[4];
};
static_assert(sizeof(gb_q5_1) == 24, "q5_1");

struct gb_q8_0 : gb_block_of<32, 32> {
    gb_f16 d;
    uint16_t qs[16];
};
static_assert(sizeof(gb_q8_0) == 34, "q8_0");

struct gb_q8_1 : gb_block_of<32, 32> {
    gb_f16 d, s;
    uint32_t qs[8];
};
static_assert(sizeof(gb_q8_1) == 36, "q8_1");

struct gb_iq4_nl : gb_block_of<32, 32> {
    gb_f16 d;
    uint16_t qs[8];
};
static_assert(sizeof(gb_iq4_nl) == 18, "iq4_nl");

/* ---- 256 values in sub-blocks ---- */

struct gb_q2_k : gb_block_of<256, 16, true> {
    uint8_t scales[16];
    uint32_t qs[16];
    gb_f16 d, dmin;
};
static_assert(sizeof(gb_q2_k) == 84, "q2_K");

struct gb_q3_k : gb_block_of<256, 16> {
    uint16_t hmask[16];
    uint16_t qs[32];
    uint8_t scales[12];
    gb_f16 d;
};
static_assert(sizeof(gb_q3_k) == 110, "q3_K");

struct alignas(16) gb_q4_k : gb_block_of<256, 32, true> {
    gb_f16 d, dmin;
    uint8_t scales[12];
    uint32_t qs[32];
};
static_assert(sizeof(gb_q4_k) == 144, "q4_K");

struct alignas(16) gb_q5_k : gb_block_of<256, 32, true> {
    gb_f16 d, dmin;
    uint8_t scales[12];
    uint32_t qh[8];
    uint32_t qs[32];
};
static_assert(sizeof(gb_q5_k) == 176, "q5_K");

struct gb_q6_k : gb_block_of<256, 16> {
    uint16_t ql[64];
    uint16_t qh[32];
    int8_t scales[16];
    gb_f16 d;
};
static_assert(sizeof(gb_q6_k) == 210, "q6_K");

struct gb_q8_k : gb_block_of<256, 32> {
    float d;
    uint32_t qs[64];
    int16_t bsums[16];
};
static_assert(sizeof(gb_q8_k) == 292, "q8_K");

struct gb_tq1_0 : gb_block_of<256, 32> {
    uint16_t qs[24];
    uint16_t qh[2];
    gb_f16 d;
};
static_assert(sizeof(gb_tq1_0) == 54, "tq1_0");

struct gb_tq2_0 : gb_block_of<256, 32> {
    uint16_t qs[32];
    gb_f16 d;
};
static_assert(sizeof(gb_tq2_0) == 66, "tq2_0");

struct alignas(8) gb_iq4_xs : gb_block_of<256, 32> {
    gb_f16 d;
    uint16_t scales_h;
    uint8_t scales_l[4];
    uint32_t qs[32];
};
static_assert(sizeof(gb_iq4_xs) == 136, "iq4_xs");

/* ---- 256 values by codebook ---- */

struct gb_iq2_xxs : gb_block_of<256, 32> {
    gb_f16 d;
    struct {
        uint8_t rows[4];
        uint16_t word[2];
    } sub_blocks[8];
};
static_assert(sizeof(gb_iq2_xxs) == 66, "iq2_xxs");

struct gb_iq2_xs : gb_block_of<256, 16> {
    gb_f16 d;
    uint16_t qs[32];
    uint8_t scales[8];
};
static_assert(sizeof(gb_iq2_xs) == 74, "iq2_xs");

struct gb_iq2_s : gb_block_of<256, 16> {
    gb_f16 d;
    uint8_t qs[32];
    uint8_t signs[32];
    uint8_t qh[8];
    uint8_t scales[8];
};
static_assert(sizeof(gb_iq2_s) == 82, "iq2_s");

struct gb_iq3_xxs : gb_block_of<256, 32> {
    gb_f16 d;
    uint8_t qs[64];
    uint16_t words[16];
};
static_assert(sizeof(gb_iq3_xxs) == 98, "iq3_xxs");

struct gb_iq3_s : gb_block_of<256, 32> {
    gb_f16 d;
    uint8_t qs[64];
    uint8_t qh[8];
    uint8_t signs[32];
    uint8_t scales[4];
};
static_assert(sizeof(gb_iq3_s) == 110, "iq3_s");

struct gb_iq1_s : gb_block_of<256, 32> {
    gb_f16 d;
    uint8_t qs[32];
    uint16_t qh[8];
};
static_assert(sizeof(gb_iq1_s) == 50, "iq1_s");

struct alignas(8) gb_iq1_m : gb_block_of<256, 16> {
    uint8_t qs[32];
    uint8_t qh[16];
    uint16_t scales[4];
};
static_assert(sizeof(gb_iq1_m) == 56, "iq1_m");

#endif
