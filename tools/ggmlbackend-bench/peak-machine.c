/* SPDX-License-Identifier: MIT */
/*
 * bench/peak-machine.c - the same in each processor's own instructions.
 *
 * The one file with intrinsics.  Every function names the instructions that it
 * needs, so the file is compiled for any machine of its kind, and is_there asks
 * the one that runs.
 */
#include "config.h"

#include "tools/ggmlbackend-bench/peak.h"

/* Sums in flight: a latency of up to six cycles, two instructions a cycle. */
#define N_SUMS 12

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define NEEDS(features) __attribute__((target(features)))

/* Hides from the compiler what a register holds. */
#define HIDE(x) __asm__("" : "+x"(x))
#define HIDE512(x) __asm__("" : "+v"(x))

NEEDS("avx512f,avx512bw,avx512vnni")
static void
int8_vnni512(uint64_t rounds)
{
    __m512i sums[N_SUMS], a = _mm512_set1_epi8(1), b = a;

    for (int i = 0; i < N_SUMS; i++)
        sums[i] = a;
    for (uint64_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < N_SUMS; i++)
            sums[i] = _mm512_dpbusd_epi32(sums[i], a, b);
    for (int i = 0; i < N_SUMS; i++)
        HIDE512(sums[i]);
}

NEEDS("avx2,avxvnni")
static void
int8_vnni256(uint64_t rounds)
{
    __m256i sums[N_SUMS], a = _mm256_set1_epi8(1), b = a;

    for (int i = 0; i < N_SUMS; i++)
        sums[i] = a;
    for (uint64_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < N_SUMS; i++)
            sums[i] = _mm256_dpbusd_avx_epi32(sums[i], a, b);
    for (int i = 0; i < N_SUMS; i++)
        HIDE(sums[i]);
}

NEEDS("avx2")
static void
int8_avx2(uint64_t rounds)
{
    __m256i sums[N_SUMS], a = _mm256_set1_epi8(1), b = a;
    const __m256i ones = _mm256_set1_epi16(1);

    for (int i = 0; i < N_SUMS; i++)
        sums[i] = a;
    for (uint64_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < N_SUMS; i++) {
            __m256i product;

            /* Else the product of two constants is computed once. */
            HIDE(a);
            product = _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), ones);
            sums[i] = _mm256_add_epi32(sums[i], product);
        }
    for (int i = 0; i < N_SUMS; i++)
        HIDE(sums[i]);
}

NEEDS("avx512f,avx512bf16")
static void
bf16_avx512(uint64_t rounds)
{
    __m512 sums[N_SUMS];
    const __m512bh a = _mm512_cvtne2ps_pbh(_mm512_set1_ps(1.0f),
                                           _mm512_set1_ps(1.0f));

    for (int i = 0; i < N_SUMS; i++)
        sums[i] = _mm512_set1_ps(1.0f);
    for (uint64_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < N_SUMS; i++)
            sums[i] = _mm512_dpbf16_ps(sums[i], a, a);
    for (int i = 0; i < N_SUMS; i++)
        HIDE512(sums[i]);
}

NEEDS("avx512f")
static void
fp32_avx512(uint64_t rounds)
{
    __m512 sums[N_SUMS], a = _mm512_set1_ps(0.999f), b = a;

    for (int i = 0; i < N_SUMS; i++)
        sums[i] = a;
    for (uint64_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < N_SUMS; i++)
            sums[i] = _mm512_fmadd_ps(sums[i], a, b);
    for (int i = 0; i < N_SUMS; i++)
        HIDE512(sums[i]);
}

NEEDS("avx2,fma")
static void
fp32_fma(uint64_t rounds)
{
    __m256 sums[N_SUMS], a = _mm256_set1_ps(0.999f), b = a;

    for (int i = 0; i < N_SUMS; i++)
        sums[i] = a;
    for (uint64_t r = 0; r < rounds; r++)
#pragma GCC unroll 12
        for (int i = 0; i < N_SUMS; i++)
            sums[i] = _mm256_fmadd_ps(sums[i], a, b);
    for (int i = 0; i < N_SUMS; i++)
        HIDE(sums[i]);
}

NEEDS("avx512f")
static uint64_t
read_avx512(const void *bytes, size_t size)
{
    const size_t part = size / READ_PLACES / sizeof(__m512i);
    const __m512i *words = bytes;
    __m512i sums[READ_PLACES];

    for (int j = 0; j < READ_PLACES; j++)
        sums[j] = _mm512_setzero_si512();
    for (size_t i = 0; i < part; i++)
#pragma GCC unroll 8
        for (size_t j = 0; j < READ_PLACES; j++)
            sums[j] = _mm512_xor_si512(sums[j], words[j * part + i]);
    for (int j = 1; j < READ_PLACES; j++)
        sums[0] = _mm512_xor_si512(sums[0], sums[j]);
    return (uint64_t)_mm512_reduce_or_epi64(sums[0]);
}

NEEDS("avx2")
static uint64_t
read_avx2(const void *bytes, size_t size)
{
    const size_t part = size / READ_PLACES / sizeof(__m256i);
    const __m256i *words = bytes;
    __m256i sums[READ_PLACES];

    for (int j = 0; j < READ_PLACES; j++)
        sums[j] = _mm256_setzero_si256();
    for (size_t i = 0; i < part; i++)
#pragma GCC unroll 8
        for (size_t j = 0; j < READ_PLACES; j++)
            sums[j] = _mm256_xor_si256(sums[j], words[j * part + i]);
    for (int j = 1; j < READ_PLACES; j++)
        sums[0] = _mm256_xor_si256(sums[0], sums[j]);
    return (uint64_t)_mm256_extract_epi64(sums[0], 0);
}

static bool
has_vnni512(void)
{
    return __builtin_cpu_supports("avx512vnni") &&
        __builtin_cpu_supports("avx512bw");
}

static bool
has_vnni256(void)
{
    unsigned eax, ebx, ecx, edx;

    /* Leaf 7.1, EAX, bit 4; compilers' names for it are younger. */
    return __builtin_cpu_supports("avx2") &&
        __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax & 1u << 4) != 0;
}

static bool
has_bf16(void)
{
    return __builtin_cpu_supports("avx512bf16");
}

static bool
has_avx512(void)
{
    return __builtin_cpu_supports("avx512f");
}

static bool
has_fma(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static const struct peak_row rows[] = {
    { PEAK_INT8, "vpdpbusd zmm", has_vnni512, 128.0 * N_SUMS, int8_vnni512 },
    { PEAK_INT8, "vpdpbusd ymm", has_vnni256, 64.0 * N_SUMS, int8_vnni256 },
    { PEAK_INT8, "vpmaddubsw ymm", has_fma, 64.0 * N_SUMS, int8_avx2 },
    { PEAK_BF16, "vdpbf16ps zmm", has_bf16, 64.0 * N_SUMS, bf16_avx512 },
    { PEAK_BF16, "vfmadd zmm", has_avx512, 32.0 * N_SUMS, fp32_avx512 },
    { PEAK_BF16, "vfmadd ymm", has_fma, 16.0 * N_SUMS, fp32_fma },
    { PEAK_FP32, "vfmadd zmm", has_avx512, 32.0 * N_SUMS, fp32_avx512 },
    { PEAK_FP32, "vfmadd ymm", has_fma, 16.0 * N_SUMS, fp32_fma },
};

static const struct read_row readers[] = {
    { "zmm", has_avx512, read_avx512 },
    { "ymm", has_fma, read_avx2 },
};

#define N_ROWS    (sizeof(rows) / sizeof(rows[0]))
#define N_READERS (sizeof(readers) / sizeof(readers[0]))

#elif defined(__aarch64__) && defined(__linux__) && !defined(__clang__)

/* GCC takes an architecture for one function; with other compilers the machine
   is measured in plain C. */

#include <arm_neon.h>
#include <sys/auxv.h>

#define HIDE(x) __asm__("" : "+w"(x))

/* What AT_HWCAP and AT_HWCAP2 say, from the kernel's own interface. */
#define CAP_DOT   (1ul << 20)
#define CAP2_I8MM (1ul << 13)
#define CAP2_BF16 (1ul << 14)

/* The instructions by name: a baseline's headers have no words for them. */
#define PEAK(function, arch, instruction)                                  \
    __attribute__((target(arch))) static void                              \
    function(uint64_t rounds)                                              \
    {                                                                      \
        int32x4_t sums[N_SUMS], a = vdupq_n_s32(0x01010101);               \
                                                                           \
        for (int i = 0; i < N_SUMS; i++)                                   \
            sums[i] = a;                                                   \
        for (uint64_t r = 0; r < rounds; r++)                              \
            _Pragma("GCC unroll 12") for (int i = 0; i < N_SUMS; i++)      \
                __asm__(instruction : "+w"(sums[i]) : "w"(a));             \
        for (int i = 0; i < N_SUMS; i++)                                   \
            HIDE(sums[i]);                                                 \
    }

PEAK(int8_i8mm, "arch=armv8.2-a+i8mm", "smmla %0.4s, %1.16b, %1.16b")
PEAK(int8_dot, "arch=armv8.2-a+dotprod", "sdot %0.4s, %1.16b, %1.16b")
PEAK(bf16_mm, "arch=armv8.2-a+bf16", "bfmmla %0.4s, %1.8h, %1.8h")
PEAK(fp32_fma, "arch=armv8-a", "fmla %0.4s, %1.4s, %1.4s")

static bool
has_i8mm(void)
{
    return (getauxval(AT_HWCAP2) & CAP2_I8MM) != 0;
}

static bool
has_dot(void)
{
    return (getauxval(AT_HWCAP) & CAP_DOT) != 0;
}

static bool
has_bf16(void)
{
    return (getauxval(AT_HWCAP2) & CAP2_BF16) != 0;
}

static bool
has_fma(void)
{
    return true;
}

static const struct peak_row rows[] = {
    { PEAK_INT8, "smmla", has_i8mm, 64.0 * N_SUMS, int8_i8mm },
    { PEAK_INT8, "sdot", has_dot, 32.0 * N_SUMS, int8_dot },
    { PEAK_BF16, "bfmmla", has_bf16, 32.0 * N_SUMS, bf16_mm },
    { PEAK_BF16, "fmla", has_fma, 8.0 * N_SUMS, fp32_fma },
    { PEAK_FP32, "fmla", has_fma, 8.0 * N_SUMS, fp32_fma },
};

#define N_ROWS    (sizeof(rows) / sizeof(rows[0]))
#define N_READERS 0

static const struct read_row *const readers = NULL;

#else

#define N_ROWS    0
#define N_READERS 0

static const struct peak_row *const rows = NULL;
static const struct read_row *const readers = NULL;

#endif

const struct peak_row *
peak_rows_machine(size_t *n)
{
    *n = N_ROWS;
    return rows;
}

const struct read_row *
read_rows_machine(size_t *n)
{
    *n = N_READERS;
    return readers;
}
