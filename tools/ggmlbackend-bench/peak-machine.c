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

#if defined(__linux__) && defined(__has_include)
#if __has_include(<amxint8intrin.h>) && __has_include(<amxbf16intrin.h>)
#define HAS_TILES
#endif
#endif

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

#ifdef HAS_TILES

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the kernel's interface: arch_prctl's code, and the state of tiles. */
#define REQUEST_PERMISSION 0x1023
#define STATE_OF_TILES     18

#define N_TILES   8
#define TILE_SUMS 6 /* in flight, and two operands */

/* Palette 1: of each tile bytes of a row, and rows. */
struct tile_config {
    uint8_t palette, start_row, unused[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

NEEDS("amx-tile")
static void
begin_tiles(void)
{
    struct tile_config config = { .palette = 1 };

    for (int i = 0; i < N_TILES; i++) {
        config.row_bytes[i] = 64;
        config.rows[i] = 16;
    }
    /* Compilers know of LDTILECFG only that it reads the first bytes. */
    __asm__ volatile("" : "+m"(config));
    _tile_loadconfig(&config);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    _tile_zero(4);
    _tile_zero(5);
    _tile_zero(6);
    _tile_zero(7);
}

/* The word's operands are numbers of tiles, which it wants as constants. */
#define TILE_PEAK(function, features, word)     \
    NEEDS(features)                             \
    static void                                 \
    function(uint64_t rounds)                   \
    {                                           \
        begin_tiles();                          \
        for (uint64_t r = 0; r < rounds; r++) { \
            word(0, 6, 7);                      \
            word(1, 6, 7);                      \
            word(2, 6, 7);                      \
            word(3, 6, 7);                      \
            word(4, 6, 7);                      \
            word(5, 6, 7);                      \
        }                                       \
        _tile_release();                        \
    }

TILE_PEAK(int8_tiles, "amx-tile,amx-int8", _tile_dpbssd)
TILE_PEAK(bf16_tiles, "amx-tile,amx-bf16", _tile_dpbf16ps)

/* Does the system save vectors and tiles?  XCR0, by XGETBV. */
static bool
saves_tiles(void)
{
    const unsigned tiles = 3u << 17;
    unsigned eax, edx;

    __asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
    (void)edx;
    return (eax & tiles) == tiles;
}

/* A child runs a round of RUN: does it come back? */
static bool
comes_back(void (*run)(uint64_t rounds))
{
    const pid_t child = fork();
    int status = -1;

    if (child == 0) {
        run(1);
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* Leaf 7 has BIT of EDX, and tiles are bit 24 there. */
static bool
has_tiles(unsigned bit, void (*run)(uint64_t rounds))
{
    unsigned eax, ebx, ecx, edx;

    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & 1u << 27) == 0 ||
        !saves_tiles() || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) ||
        (edx & 1u << 24) == 0 || (edx & 1u << bit) == 0)
        return false;
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, STATE_OF_TILES) == 0 &&
        comes_back(run);
}

static bool
has_int8_tiles(void)
{
    static enum { UNKNOWN, NO, YES } is_there;

    if (is_there == UNKNOWN)
        is_there = has_tiles(25, int8_tiles) ? YES : NO;
    return is_there == YES;
}

static bool
has_bf16_tiles(void)
{
    static enum { UNKNOWN, NO, YES } is_there;

    if (is_there == UNKNOWN)
        is_there = has_tiles(22, bf16_tiles) ? YES : NO;
    return is_there == YES;
}

/* 16 x 16 sums of 64 products of bytes, or of 32. */
static const struct peak_row tile_rows[] = {
    { PEAK_INT8, "tdpbssd", has_int8_tiles, 2.0 * 16 * 16 * 64 * TILE_SUMS,
      int8_tiles },
    { PEAK_BF16, "tdpbf16ps", has_bf16_tiles, 2.0 * 16 * 16 * 32 * TILE_SUMS,
      bf16_tiles },
};

#define N_TILE_ROWS (sizeof(tile_rows) / sizeof(tile_rows[0]))

#else

#define N_TILE_ROWS 0

static const struct peak_row *const tile_rows = NULL;

#endif

const struct peak_row *
peak_rows_tiles(size_t *n)
{
    *n = N_TILE_ROWS;
    return tile_rows;
}

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
