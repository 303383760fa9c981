/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/detect-arm.c - the features of an arm64 processor, as the system
 * tells them.
 *
 * User programs cannot read the processor's identification registers, so Linux
 * hands a summary to each process: AT_HWCAP and AT_HWCAP2 of the auxiliary
 * vector.  Elsewhere the architecture's baseline alone is known.
 *
 * Source  Linux, Documentation/arch/arm64/elf_hwcaps.rst and asm/hwcap.h (the
 * bits), Documentation/arch/arm64/sve.rst (the length of vectors).
 */
#include "config.h"

#include "backends/cpu/isa/machine.h"

#ifdef __aarch64__

#ifdef __linux__
#include <sys/auxv.h>
#include <sys/prctl.h>

/* Where the system says whether there is a feature. */
struct bit {
    enum gb_cpu_feature feature;
    unsigned long type; /* AT_HWCAP or AT_HWCAP2 */
    int bit;
};

static const struct bit bits[] = {
    { GB_CPU_FP16_VA, AT_HWCAP, 10 },
    { GB_CPU_DOTPROD, AT_HWCAP, 20 },
    { GB_CPU_SVE, AT_HWCAP, 22 },
    { GB_CPU_MATMUL_INT8, AT_HWCAP2, 13 },
    { GB_CPU_SME, AT_HWCAP2, 23 },
};

static uint32_t
ask_system(void)
{
    uint32_t features = 0;

    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        if ((getauxval(bits[i].type) >> bits[i].bit & 1) != 0)
            features |= GB_CPU_BIT(bits[i].feature);
    }
    return features;
}

/* The length of this process's SVE vectors in bytes, 0 when the system does not
 * say.  The upper bits of the answer are flags. */
static int
ask_sve_bytes(void)
{
    const int sve_get_vector_length = 51;
    const int answer = prctl(sve_get_vector_length, 0, 0, 0, 0);

    return answer > 0 ? answer & 0xffff : 0;
}

#else

static uint32_t
ask_system(void)
{
    return 0;
}

static int
ask_sve_bytes(void)
{
    return 0;
}

#endif

uint32_t
gb_cpu_detect_arm(int *sve_bytes)
{
    const uint32_t features = GB_CPU_BIT(GB_CPU_NEON) |
                              GB_CPU_BIT(GB_CPU_ARM_FMA) | ask_system();

    if ((features & GB_CPU_BIT(GB_CPU_SVE)) != 0)
        *sve_bytes = ask_sve_bytes();
    return features;
}

#else

uint32_t
gb_cpu_detect_arm(int *sve_bytes)
{
    (void)sve_bytes;
    return 0;
}

#endif
