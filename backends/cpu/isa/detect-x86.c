/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/detect-x86.c - the features of an x86 processor, by CPUID.
 *
 * A feature counts only when the system also saves its registers at a switch of
 * threads: XCR0, read by XGETBV, has a bit for each set of registers.  Without
 * that AVX-512 or AMX would lose their contents, or fault.
 *
 * Source  "Intel 64 and IA-32 Architectures Software Developer's Manual",
 * volume 2A (CPUID: leaves and bits) and volume 1, section 13.3 (XCR0).
 */
#include "config.h"

#include "backends/cpu/isa/machine.h"

#if defined(__x86_64__) || defined(__i386__)

#include <cpuid.h>
#include <string.h>

enum reg { EAX, EBX, ECX, EDX };

/* Registers that the system must save, as bits of XCR0: those of SSE and AVX
 * (1, 2), of AVX-512 besides (5 to 7: masks and both halves), of AMX (17,
 * 18). */
#define NEEDS_NONE   UINT64_C(0)
#define NEEDS_YMM    UINT64_C(0x6)
#define NEEDS_ZMM    UINT64_C(0xe6)
#define NEEDS_TILES  UINT64_C(0x60000)

/* Where CPUID says whether there is a feature. */
struct bit {
    enum gb_cpu_feature feature;
    uint32_t leaf;
    uint32_t subleaf;
    enum reg reg;
    uint32_t mask; /* all of these */
    uint64_t needs;
};

/* AVX512 is F (16), DQ (17), CD (28), BW (30) and VL (31); of AMX, BF16 (22)
 * and INT8 (25) each come with tiles (24). */
static const struct bit bits[] = {
    { GB_CPU_SSE3, 1, 0, ECX, UINT32_C(1) << 0, NEEDS_NONE },
    { GB_CPU_SSSE3, 1, 0, ECX, UINT32_C(1) << 9, NEEDS_NONE },
    { GB_CPU_FMA, 1, 0, ECX, UINT32_C(1) << 12, NEEDS_YMM },
    { GB_CPU_AVX, 1, 0, ECX, UINT32_C(1) << 28, NEEDS_YMM },
    { GB_CPU_F16C, 1, 0, ECX, UINT32_C(1) << 29, NEEDS_YMM },
    { GB_CPU_AVX2, 7, 0, EBX, UINT32_C(1) << 5, NEEDS_YMM },
    { GB_CPU_BMI2, 7, 0, EBX, UINT32_C(1) << 8, NEEDS_NONE },
    { GB_CPU_AVX512, 7, 0, EBX, UINT32_C(0xd0030000), NEEDS_ZMM },
    { GB_CPU_AVX512_VBMI, 7, 0, ECX, UINT32_C(1) << 1, NEEDS_ZMM },
    { GB_CPU_AVX512_VNNI, 7, 0, ECX, UINT32_C(1) << 11, NEEDS_ZMM },
    { GB_CPU_AMX_INT8, 7, 0, EDX, UINT32_C(3) << 24, NEEDS_TILES },
    { GB_CPU_AMX_BF16, 7, 0, EDX, UINT32_C(0x1400000), NEEDS_TILES },
    { GB_CPU_AVX_VNNI, 7, 1, EAX, UINT32_C(1) << 4, NEEDS_YMM },
    { GB_CPU_AVX512_BF16, 7, 1, EAX, UINT32_C(1) << 5, NEEDS_ZMM },
};

/* XCR0; 0 when the system has not switched XGETBV on (OSXSAVE, bit 27). */
static uint64_t
saved_registers(void)
{
    const uint32_t has_xgetbv = UINT32_C(1) << 27;
    unsigned a, b, c, d;
    uint32_t low, high;

    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & has_xgetbv) == 0)
        return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool
ask_processor(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
    return __get_cpuid_count(leaf, subleaf, &regs[EAX], &regs[EBX], &regs[ECX],
                             &regs[EDX]) != 0;
}

uint32_t
gb_cpu_detect_x86(void)
{
    return gb_cpu_features_x86(ask_processor, saved_registers());
}

uint32_t
gb_cpu_features_x86(gb_cpuid_fn ask, uint64_t saved)
{
    uint32_t features = 0;

    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        const struct bit *bit = &bits[i];
        uint32_t regs[4];

        if (!ask(bit->leaf, bit->subleaf, regs))
            continue;
        if ((regs[bit->reg] & bit->mask) == bit->mask &&
            (saved & bit->needs) == bit->needs)
            features |= GB_CPU_BIT(bit->feature);
    }
    return features;
}

/* The brand string: three leaves of sixteen characters each, padded with blanks
 * on either side.  False where there is none or it does not fit. */
bool
gb_cpu_name_x86(char *out, size_t size)
{
    unsigned regs[3][4];
    char text[sizeof(regs) + 1];
    const char *start = text;
    size_t length;

    for (unsigned i = 0; i < 3; i++) {
        if (!__get_cpuid(0x80000002u + i, &regs[i][EAX], &regs[i][EBX],
                         &regs[i][ECX], &regs[i][EDX]))
            return false;
    }
    memcpy(text, regs, sizeof(regs));
    text[sizeof(regs)] = '\0';
    start += strspn(start, " ");
    length = strlen(start);
    while (length > 0 && start[length - 1] == ' ')
        length--;
    if (length == 0 || length >= size)
        return false;
    memcpy(out, start, length);
    out[length] = '\0';
    return true;
}

#else

uint32_t
gb_cpu_detect_x86(void)
{
    return 0;
}

uint32_t
gb_cpu_features_x86(gb_cpuid_fn ask, uint64_t saved)
{
    (void)ask;
    (void)saved;
    return 0;
}

bool
gb_cpu_name_x86(char *out, size_t size)
{
    (void)out;
    (void)size;
    return false;
}

#endif
