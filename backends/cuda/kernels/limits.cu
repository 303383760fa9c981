/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/limits.cu - code that does one thing as fast as a card can:
 * reads, copies, multiplies, or nothing.
 *
 * Reads and copies are of 16 bytes a thread, neighbours beside each other, eight
 * under way at once; what is read is added up, so that no load can be left out.
 * Products are of operands by chance, since a card multiplies zeros with less
 * power, and so at a higher clock; each thread or warp has eight sums that do not
 * wait for each other.  Results are stored, for the compiler's sake alone.
 */
#include "backends/cuda/kernels/limits.cuh"
#include "backends/cuda/kernels/mma.cuh"

/* Products of a sum in a round. */
#define GB_LIMIT_TURNS 16

GB_KERNEL(64, gb_limit_nothing, limits)
{
    (void)a;
}

/* ---- memory ---- */

/* Bits that look as if by chance, another number for each I. */
GB_DEVICE uint32_t
gb_limit_bits(uint32_t i)
{
    i = (i ^ i >> 16) * 0x45d9f3bu;
    i = (i ^ i >> 15) * 0x2c1b3c6du;
    return i ^ i >> 16;
}

GB_KERNEL(256, gb_limit_fill, limits)
{
    gb_piece *to = (gb_piece *)a.to;

    for (int64_t i = gb_global_thread(); i < a.n; i += gb_global_threads()) {
        const uint32_t first = (uint32_t)i * 4;

        to[i] = { { gb_limit_bits(first), gb_limit_bits(first + 1),
                    gb_limit_bits(first + 2), gb_limit_bits(first + 3) } };
    }
}

GB_DEVICE uint32_t
gb_limit_add(uint32_t sum, const gb_piece &p)
{
    return sum + (p.words[0] ^ p.words[1]) + (p.words[2] ^ p.words[3]);
}

GB_KERNEL(256, gb_limit_read, limits)
{
    const gb_piece *from = (const gb_piece *)a.from;
    const int64_t step = gb_global_threads();
    uint32_t sum = 0;

    for (int64_t round = 0; round < a.rounds; round++) {
        int64_t i = gb_global_thread();

        for (; i + 7 * step < a.n; i += 8 * step) {
            gb_piece pieces[8];

            GB_UNROLL
            for (int j = 0; j < 8; j++)
                pieces[j] = from[i + j * step];
            GB_UNROLL
            for (int j = 0; j < 8; j++)
                sum = gb_limit_add(sum, pieces[j]);
        }
        for (; i < a.n; i += step)
            sum = gb_limit_add(sum, from[i]);
    }
    ((uint32_t *)a.to)[gb_global_thread()] = sum;
}

GB_KERNEL(256, gb_limit_copy, limits)
{
    const gb_piece *from = (const gb_piece *)a.from;
    gb_piece *to = (gb_piece *)a.to;
    const int64_t step = gb_global_threads();

    for (int64_t round = 0; round < a.rounds; round++) {
        int64_t i = gb_global_thread();

        for (; i + 3 * step < a.n; i += 4 * step) {
            gb_piece pieces[4];

            GB_UNROLL
            for (int j = 0; j < 4; j++)
                pieces[j] = from[i + j * step];
            GB_UNROLL
            for (int j = 0; j < 4; j++)
                to[i + j * step] = pieces[j];
        }
        for (; i < a.n; i += step)
            to[i] = from[i];
    }
}

/* ---- products in registers ---- */

/* As floats of [1/2, 1): no sum of such products grows without end. */
GB_DEVICE float
gb_limit_float(uint32_t bits)
{
    return gb_float_of_bits((bits & 0x7fffff) | 0x3f000000);
}

GB_KERNEL(256, gb_limit_f32, limits)
{
    const float factor = gb_limit_float(gb_limit_operand(a, 0));
    const float addend = gb_limit_float(gb_limit_operand(a, 1));
    float sums[GB_LIMIT_SUMS], all = 0.0f;

    GB_UNROLL
    for (int i = 0; i < GB_LIMIT_SUMS; i++)
        sums[i] = gb_limit_float(gb_limit_operand(a, 2 + i));
    GB_DO_NOT_UNROLL
    for (int64_t round = 0; round < a.rounds; round++) {
        GB_UNROLL
        for (int turn = 0; turn < GB_LIMIT_TURNS; turn++) {
            GB_UNROLL
            for (int i = 0; i < GB_LIMIT_SUMS; i++)
                sums[i] = gb_fma(sums[i], factor, addend);
        }
    }
    GB_UNROLL
    for (int i = 0; i < GB_LIMIT_SUMS; i++)
        all += sums[i];
    ((float *)a.to)[gb_global_thread()] = all;
}

/* By sums of four products, where there are no tensor cores. */
GB_KERNEL(256, gb_limit_int8, limits)
{
    const int factor = (int)gb_limit_operand(a, 0);
    int words[GB_LIMIT_SUMS], sums[GB_LIMIT_SUMS] = {}, all = 0;

    GB_UNROLL
    for (int i = 0; i < GB_LIMIT_SUMS; i++)
        words[i] = (int)gb_limit_operand(a, 1 + i);
    GB_DO_NOT_UNROLL
    for (int64_t round = 0; round < a.rounds; round++) {
        GB_UNROLL
        for (int turn = 0; turn < GB_LIMIT_TURNS; turn++) {
            GB_UNROLL
            for (int i = 0; i < GB_LIMIT_SUMS; i++)
                sums[i] = gb_dot4(words[i], factor, sums[i]);
        }
    }
    GB_UNROLL
    for (int i = 0; i < GB_LIMIT_SUMS; i++)
        all ^= sums[i];
    ((int *)a.to)[gb_global_thread()] = all;
}

/* ---- products on tensor cores, from registers ---- */

/* How D += A * B is done; halves below 2, by the mask, as large ones add up to
 * infinities. */
struct gb_limit_mma_f16_way {
    typedef float sum;
    static constexpr uint32_t mask = 0xbfffbfff;

    GB_DEVICE void
    multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k8_f16(d, a, b[0]);
    }
};

struct gb_limit_mma_int8_way {
    typedef int32_t sum;
    static constexpr uint32_t mask = 0xffffffff;

    GB_DEVICE void
    multiply(int32_t d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m8n8k16_s8(d, a[0], b[0]);
    }
};

struct gb_limit_mma8_f16_way {
    typedef float sum;
    static constexpr uint32_t mask = 0xbfffbfff;

    GB_DEVICE void
    multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k16_f16(d, a, b);
    }
};

struct gb_limit_mma8_bf16_way {
    typedef float sum;
    static constexpr uint32_t mask = 0xbfffbfff;

    GB_DEVICE void
    multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k16_bf16(d, a, b);
    }
};

struct gb_limit_mma8_int8_way {
    typedef int32_t sum;
    static constexpr uint32_t mask = 0xffffffff;

    GB_DEVICE void
    multiply(int32_t d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k32_s8(d, a, b);
    }
};

/* Of integers only the bits count, which may overflow. */
GB_DEVICE uint32_t
gb_limit_bits_of(float value)
{
    return gb_bits_of_float(value);
}

GB_DEVICE uint32_t
gb_limit_bits_of(int32_t value)
{
    return (uint32_t)value;
}

template <typename way>
GB_DEVICE void
gb_limit_mma(const struct gb_cuda_limits_args &a)
{
    uint32_t rows[4], cols[2], all = 0;
    typename way::sum sums[GB_LIMIT_SUMS][4] = {};

    GB_UNROLL
    for (int i = 0; i < 4; i++)
        rows[i] = gb_limit_operand(a, i) & way::mask;
    GB_UNROLL
    for (int i = 0; i < 2; i++)
        cols[i] = gb_limit_operand(a, 4 + i) & way::mask;
    GB_DO_NOT_UNROLL
    for (int64_t round = 0; round < a.rounds; round++) {
        GB_UNROLL
        for (int i = 0; i < GB_LIMIT_SUMS; i++)
            way::multiply(sums[i], rows, cols);
    }
    GB_UNROLL
    for (int i = 0; i < GB_LIMIT_SUMS; i++) {
        GB_UNROLL
        for (int j = 0; j < 4; j++)
            all ^= gb_limit_bits_of(sums[i][j]);
    }
    ((uint32_t *)a.to)[gb_global_thread()] = all;
}

#define MMA(name, there)                            \
    GB_KERNEL(256, gb_limit_##name, limits)         \
    {                                               \
        if constexpr (there)                        \
            gb_limit_mma<gb_limit_##name##_way>(a); \
    }

MMA(mma_f16, gb_has_mma)
MMA(mma_int8, gb_has_mma)
MMA(mma8_f16, gb_has_mma8)
MMA(mma8_bf16, gb_has_mma8)
MMA(mma8_int8, gb_has_mma8)

/* ---- products on tensor cores, by warp groups from shared memory ---- */

/* A panel of 64 rows of 64 halves, then one of 128 columns. */
struct gb_limit_panels {
    uint32_t rows[64 * 32];
    uint32_t cols[128 * 32];
};

static_assert(sizeof(gb_limit_panels) + 1024 == GB_CUDA_LIMITS_SHARED,
              "panels begin at a multiple of 1,024");

/* The panels' values are by chance, in any order. */
template <typename way>
GB_DEVICE void
gb_limit_wgmma(const struct gb_cuda_limits_args &a)
{
    GB_DYNAMIC_SHARED(char, shared);
    gb_limit_panels *p =
        (gb_limit_panels *)(shared + (-(uintptr_t)shared & 1023));
    const uint64_t rows = gb_wgmma_panel(p->rows);
    const uint64_t cols = gb_wgmma_panel(p->cols);
    float sums[64] = {}, all = 0.0f;

    for (int i = gb_thread(); i < (int)sizeof(*p) / 4; i += gb_n_threads())
        ((uint32_t *)p)[i] = ((const uint32_t *)a.from)[i] & 0xbfffbfff;
    gb_async_proxy_fence();
    gb_sync();
    GB_DO_NOT_UNROLL
    for (int64_t round = 0; round < a.rounds; round++) {
        gb_wgmma_fence();
        GB_UNROLL
        for (int i = 0; i < GB_LIMIT_SUMS; i++)
            way::multiply(sums, rows + 2 * (i % 4), cols + 2 * (i % 4));
        gb_wgmma_commit();
        gb_wgmma_wait(sums);
    }
    GB_UNROLL
    for (int i = 0; i < 64; i++)
        all += sums[i];
    ((float *)a.to)[gb_global_thread()] = all;
}

#define WGMMA(name)                         \
    GB_KERNEL(128, gb_limit_##name, limits) \
    {                                       \
        if constexpr (gb_has_wgmma)         \
            gb_limit_wgmma<gb_##name>(a);   \
    }

WGMMA(wgmma_f16)
WGMMA(wgmma_bf16)
