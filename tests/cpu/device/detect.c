/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/device/detect.c - what answers of CPUID mean, and which variant they
 * lead to, for machines that are not there.
 *
 * The answers are the bits that matter of those that processors of these
 * families give.
 */
#include "config.h"

#include "backends/cpu/isa/compiled.h"
#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/isa/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#if defined(__x86_64__) || defined(__i386__)

#define BITS(feature) GB_CPU_BIT(GB_CPU_##feature)

#define OLD_FEATURES (BITS(SSE3) | BITS(SSSE3))
#define AVX2_FEATURES                                                   \
    (OLD_FEATURES | BITS(AVX) | BITS(AVX2) | BITS(FMA) | BITS(F16C) | \
     BITS(BMI2))
#define VNNI_FEATURES (AVX2_FEATURES | BITS(AVX512) | BITS(AVX512_VNNI))
#define BF16_FEATURES (VNNI_FEATURES | BITS(AVX512_VBMI) | BITS(AVX512_BF16))

/* Leaf 1: SSE3, SSSE3; with FMA, AVX and F16C */
#define OLD_1  UINT32_C(0x00000201)
#define AVX2_1 UINT32_C(0x30001201)
/* Leaf 7: AVX2 and BMI2; with AVX-512 F, DQ, CD, BW and VL; VNNI; with VBMI */
#define AVX2_7     UINT32_C(0x00000120)
#define AVX512_7   UINT32_C(0xd0030120)
#define VNNI_7_ECX UINT32_C(0x00000800)
#define VBMI_7_ECX UINT32_C(0x00000802)
/* Leaf 7, subleaf 1: AVX-VNNI, AVX512-BF16 */
#define VNNI_71 UINT32_C(0x10)
#define BF16_71 UINT32_C(0x20)

#define SAVES_YMM UINT64_C(0x7)
#define SAVES_ZMM UINT64_C(0xe7)

static const struct machine {
    const char *name;
    uint32_t leaf1_ecx;
    uint32_t leaf7_ebx, leaf7_ecx;
    uint32_t leaf71_eax;
    uint64_t saved;
    uint32_t features;
    const char *variant;
} machines[] = {
    { "Nehalem", OLD_1, 0, 0, 0, 0, OLD_FEATURES, "generic" },
    { "Haswell", AVX2_1, AVX2_7, 0, 0, SAVES_YMM, AVX2_FEATURES, "avx2" },
    { "Haswell, vectors not saved", AVX2_1, AVX2_7, 0, 0, 0x3,
      OLD_FEATURES | BITS(BMI2), "generic" },
    { "Alder Lake", AVX2_1, AVX2_7, 0, VNNI_71, SAVES_YMM,
      AVX2_FEATURES | BITS(AVX_VNNI), "avx2_vnni" },
    { "Alder Lake, vectors not saved", AVX2_1, AVX2_7, 0, VNNI_71, 0x3,
      OLD_FEATURES | BITS(BMI2), "generic" },
    { "Skylake with AVX-512", AVX2_1, AVX512_7, 0, 0, SAVES_ZMM,
      AVX2_FEATURES | BITS(AVX512), "avx512" },
    { "Cascade Lake", AVX2_1, AVX512_7, VNNI_7_ECX, 0, SAVES_ZMM,
      VNNI_FEATURES, "avx512_vnni" },
    { "Cooper Lake", AVX2_1, AVX512_7, VNNI_7_ECX, BF16_71, SAVES_ZMM,
      VNNI_FEATURES | BITS(AVX512_BF16), "avx512_vnni" },
    { "Ice Lake", AVX2_1, AVX512_7, VBMI_7_ECX, 0, SAVES_ZMM,
      VNNI_FEATURES | BITS(AVX512_VBMI), "avx512_vbmi" },
    { "Zen 4", AVX2_1, AVX512_7, VBMI_7_ECX, BF16_71, SAVES_ZMM, BF16_FEATURES,
      "avx512_bf16" },
    { "Zen 5", AVX2_1, AVX512_7, VBMI_7_ECX, VNNI_71 | BF16_71, SAVES_ZMM,
      BF16_FEATURES | BITS(AVX_VNNI), "avx512_bf16" },
    { "Zen 5, long vectors not saved", AVX2_1, AVX512_7, VBMI_7_ECX,
      VNNI_71 | BF16_71, SAVES_YMM, AVX2_FEATURES | BITS(AVX_VNNI),
      "avx2_vnni" },
};

static const struct machine *asked;

static bool
answer(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
    memset(regs, 0, 4 * sizeof(regs[0]));
    if (leaf == 1) {
        regs[2] = asked->leaf1_ecx;
    } else if (leaf == 7 && subleaf == 0) {
        regs[1] = asked->leaf7_ebx;
        regs[2] = asked->leaf7_ecx;
    } else if (leaf == 7 && subleaf == 1) {
        regs[0] = asked->leaf71_eax;
    } else {
        return false;
    }
    return true;
}

static void
features_need_their_bit_and_saved_registers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        uint32_t features;

        asked = &machines[i];
        features = gb_cpu_features_x86(answer, asked->saved);
        if (features != asked->features)
            fail_msg("%s: %#x", asked->name, (unsigned)features);
    }
}

/* What a machine takes when this build lacks a variant. */
static const struct {
    const char *variant, *lesser;
} lesser[] = {
    { "avx512_bf16", "avx512_vbmi" },
    { "avx512_vbmi", "avx512_vnni" },
    { "avx512_vnni", "avx512" },
    { "avx512", "avx2" },
    { "avx2_vnni", "avx2" },
    { "avx2", "generic" },
};

static bool
is_built(const char *variant)
{
#define NAME(variant, floats) #variant,
    static const char *const built[] = { GB_CPU_VARIANTS(NAME) };
#undef NAME

    for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); i++) {
        if (strcmp(built[i], variant) == 0)
            return true;
    }
    return false;
}

/* VARIANT, or the next lesser one that is built. */
static const char *
built_for(const char *variant)
{
    for (size_t i = 0; i < sizeof(lesser) / sizeof(lesser[0]); i++) {
        if (strcmp(lesser[i].variant, variant) == 0 && !is_built(variant))
            variant = lesser[i].lesser;
    }
    return variant;
}

static void
machines_get_the_best_variant_they_can_run(void **state)
{
    (void)state;
    if (GB_CPU_COMPILED != 0) {
        print_message("CFLAGS demand more than any x86 has\n");
        skip();
    }
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        const char *variant =
            gb_cpu_kernels_for(machines[i].features, false)->variant;

        if (strcmp(variant, built_for(machines[i].variant)) != 0)
            fail_msg("%s: %s", machines[i].name, variant);
    }
    assert_string_equal(gb_cpu_kernels_for(0, false)->variant, "generic");
    assert_string_equal(gb_cpu_kernels_for(UINT32_MAX, false)->variant,
                        built_for("avx512_bf16"));
}

static void
slow_pairs_leave_the_variant_without_them(void **state)
{
    (void)state;
    if (GB_CPU_COMPILED != 0)
        skip();
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        const char *expected = machines[i].variant;
        const char *variant =
            gb_cpu_kernels_for(machines[i].features, true)->variant;

        if (strcmp(expected, "avx512_bf16") == 0)
            expected = "avx512_vbmi";
        if (strcmp(variant, built_for(expected)) != 0)
            fail_msg("%s: %s", machines[i].name, variant);
    }
}

/* All variants that this machine can run are asked; how long that takes is
 * bounded, as it is part of a process's first graph. */
static void
slow_pairs_are_only_those_that_are_there(void **state)
{
    const struct gb_cpu_kernels *const *all = gb_cpu_kernels_all();

    (void)state;
    for (size_t i = 0; all[i] != NULL; i++) {
        const bool is_slow = all[i]->pairs_are_slow();

        if (is_slow)
            assert_true(all[i]->has_pairs());
        assert_int_equal(all[i]->has_pairs(),
                         strcmp(all[i]->variant, "avx512_bf16") == 0);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_pairs_leave_the_variant_without_them),
        cmocka_unit_test(slow_pairs_are_only_those_that_are_there),
        cmocka_unit_test(features_need_their_bit_and_saved_registers),
        cmocka_unit_test(machines_get_the_best_variant_they_can_run),
    };

    return cmocka_run_group_tests_name("detection", tests, NULL, NULL);
}

#else

static void
variants_follow_from_features(void **state)
{
    (void)state;
    assert_string_equal(gb_cpu_kernels_for(0, false)->variant, "generic");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_follow_from_features),
    };

    return cmocka_run_group_tests_name("detection", tests, NULL, NULL);
}

#endif
