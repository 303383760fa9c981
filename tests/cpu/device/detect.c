/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/device/detect.c - what answers of CPUID mean, and which variant
 * they lead to, for machines that are not there.
 *
 * The answers are the bits that matter of those that processors of these
 * families give.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* __WALL */
#endif
#include "config.h"

#include "backends/cpu/isa/compiled.h"
#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/isa/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#if defined(__x86_64__) || defined(__i386__)

#define BITS(feature) GB_CPU_BIT(GB_CPU_##feature)

#define OLD_FEATURES (BITS(SSE3) | BITS(SSSE3))
#define AVX2_FEATURES                                                   \
    (OLD_FEATURES | BITS(AVX) | BITS(AVX2) | BITS(FMA) | BITS(F16C) | \
     BITS(BMI2))
#define VNNI_FEATURES (AVX2_FEATURES | BITS(AVX512) | BITS(AVX512_VNNI))
#define BF16_FEATURES (VNNI_FEATURES | BITS(AVX512_VBMI) | BITS(AVX512_BF16))
#define RAPIDS_FEATURES (BF16_FEATURES | BITS(AVX_VNNI))
#define AMX_FEATURES    (RAPIDS_FEATURES | BITS(AMX_INT8) | BITS(AMX_BF16))

/* Leaf 1: SSE3, SSSE3; with FMA, AVX and F16C */
#define OLD_1  UINT32_C(0x00000201)
#define AVX2_1 UINT32_C(0x30001201)
/* Leaf 7: AVX2 and BMI2; with AVX-512 F, DQ, CD, BW and VL; VNNI; with VBMI */
#define AVX2_7     UINT32_C(0x00000120)
#define AVX512_7   UINT32_C(0xd0030120)
#define VNNI_7_ECX UINT32_C(0x00000800)
#define VBMI_7_ECX UINT32_C(0x00000802)
/* AMX: BF16, tiles, INT8 */
#define AMX_7_EDX UINT32_C(0x03400000)
/* Leaf 7, subleaf 1: AVX-VNNI, AVX512-BF16 */
#define VNNI_71 UINT32_C(0x10)
#define BF16_71 UINT32_C(0x20)

#define SAVES_YMM UINT64_C(0x7)
#define SAVES_ZMM UINT64_C(0xe7)
#define SAVES_AMX UINT64_C(0x600e7)

static const struct machine {
    const char *name;
    uint32_t leaf1_ecx;
    uint32_t leaf7_ebx, leaf7_ecx;
    uint32_t leaf71_eax;
    uint64_t saved;
    uint32_t features;
    const char *variant;
    uint32_t leaf7_edx;
} machines[] = {
    { "Nehalem", OLD_1, 0, 0, 0, 0, OLD_FEATURES, "generic", 0 },
    { "Haswell", AVX2_1, AVX2_7, 0, 0, SAVES_YMM, AVX2_FEATURES, "avx2", 0 },
    { "Haswell, vectors not saved", AVX2_1, AVX2_7, 0, 0, 0x3,
      OLD_FEATURES | BITS(BMI2), "generic", 0 },
    { "Alder Lake", AVX2_1, AVX2_7, 0, VNNI_71, SAVES_YMM,
      AVX2_FEATURES | BITS(AVX_VNNI), "avx2_vnni", 0 },
    { "Alder Lake, vectors not saved", AVX2_1, AVX2_7, 0, VNNI_71, 0x3,
      OLD_FEATURES | BITS(BMI2), "generic", 0 },
    { "Skylake with AVX-512", AVX2_1, AVX512_7, 0, 0, SAVES_ZMM,
      AVX2_FEATURES | BITS(AVX512), "avx512", 0 },
    { "Cascade Lake", AVX2_1, AVX512_7, VNNI_7_ECX, 0, SAVES_ZMM,
      VNNI_FEATURES, "avx512_vnni", 0 },
    { "Cooper Lake", AVX2_1, AVX512_7, VNNI_7_ECX, BF16_71, SAVES_ZMM,
      VNNI_FEATURES | BITS(AVX512_BF16), "avx512_vnni", 0 },
    { "Ice Lake", AVX2_1, AVX512_7, VBMI_7_ECX, 0, SAVES_ZMM,
      VNNI_FEATURES | BITS(AVX512_VBMI), "avx512_vbmi", 0 },
    { "Zen 4", AVX2_1, AVX512_7, VBMI_7_ECX, BF16_71, SAVES_ZMM, BF16_FEATURES,
      "avx512_bf16", 0 },
    { "Zen 5", AVX2_1, AVX512_7, VBMI_7_ECX, VNNI_71 | BF16_71, SAVES_ZMM,
      BF16_FEATURES | BITS(AVX_VNNI), "avx512_bf16", 0 },
    { "Zen 5, long vectors not saved", AVX2_1, AVX512_7, VBMI_7_ECX,
      VNNI_71 | BF16_71, SAVES_YMM, AVX2_FEATURES | BITS(AVX_VNNI),
      "avx2_vnni", 0 },
    { "Sapphire Rapids", AVX2_1, AVX512_7, VBMI_7_ECX, VNNI_71 | BF16_71,
      SAVES_AMX, AMX_FEATURES, "amx", AMX_7_EDX },
    { "Sapphire Rapids, tiles not saved", AVX2_1, AVX512_7, VBMI_7_ECX,
      VNNI_71 | BF16_71, SAVES_ZMM, RAPIDS_FEATURES, "avx512_bf16", AMX_7_EDX },
    { "Sapphire Rapids, data of tiles not saved", AVX2_1, AVX512_7, VBMI_7_ECX,
      VNNI_71 | BF16_71, 0x200e7, RAPIDS_FEATURES, "avx512_bf16", AMX_7_EDX },
    { "Sapphire Rapids, tiles without BF16", AVX2_1, AVX512_7, VBMI_7_ECX,
      VNNI_71 | BF16_71, SAVES_AMX, RAPIDS_FEATURES | BITS(AMX_INT8),
      "avx512_bf16", 0x03000000 },
    { "Sapphire Rapids, BF16 without tiles", AVX2_1, AVX512_7, VBMI_7_ECX,
      VNNI_71 | BF16_71, SAVES_AMX, RAPIDS_FEATURES, "avx512_bf16",
      0x02400000 },
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
        regs[3] = asked->leaf7_edx;
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
    { "amx", "avx512_bf16" },
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
                        built_for("amx"));
}

/* ---- tiles: what the system says to them ---- */

static int n_asked;
static bool is_permitted, is_working;

static bool
permit(void)
{
    n_asked++;
    return is_permitted;
}

static bool
can_use(void)
{
    n_asked++;
    return is_working;
}

static const struct gb_cpu_tile_system tile_system = { permit, can_use };

static void
tiles_that_the_system_refuses_are_not_there(void **state)
{
    const char *why;

    (void)state;
    is_permitted = is_working = true;
    n_asked = 0;
    assert_int_equal(gb_cpu_usable_tiles(AMX_FEATURES, &tile_system, &why),
                     AMX_FEATURES);
    assert_null(why);
    assert_int_equal(n_asked, 2);

    is_permitted = false;
    n_asked = 0;
    assert_int_equal(gb_cpu_usable_tiles(AMX_FEATURES, &tile_system, &why),
                     RAPIDS_FEATURES);
    assert_non_null(strstr(why, "permit"));
    assert_int_equal(n_asked, 1); /* what is not permitted is not tried */

    is_permitted = true;
    is_working = false;
    assert_int_equal(gb_cpu_usable_tiles(AMX_FEATURES, &tile_system, &why),
                     RAPIDS_FEATURES);
    assert_non_null(strstr(why, "do not work"));
}

static void
a_machine_without_tiles_is_not_asked(void **state)
{
    const char *why = "";

    (void)state;
    n_asked = 0;
    assert_int_equal(gb_cpu_usable_tiles(RAPIDS_FEATURES, &tile_system, &why),
                     RAPIDS_FEATURES);
    assert_int_equal(n_asked, 0);
    assert_null(why);
}

/* What kinds of ends a trial in a child may have. */
static void
return_at_once(void)
{
}

/* UD2, as an instruction that faults. */
static void
fault(void)
{
    __asm__ volatile("ud2");
}

static volatile sig_atomic_t n_signals;

static void
count_signal(int signal)
{
    (void)signal;
    n_signals++;
}

/* A trial that faults ends neither this process nor in a handler of its, and
 * nobody hears of a child's end. */
static void
a_fault_of_the_trial_is_the_childs_own(void **state)
{
    static const int signals[] = { SIGILL, SIGCHLD };
    struct sigaction old[2];
    sigset_t before, after;

    (void)state;
#if !defined(__x86_64__) || !defined(__linux__)
    skip();
#endif
    n_signals = 0;
    for (int i = 0; i < 2; i++) {
        struct sigaction action;

        memset(&action, 0, sizeof(action));
        action.sa_handler = count_signal;
        sigemptyset(&action.sa_mask);
        assert_int_equal(sigaction(signals[i], &action, &old[i]), 0);
    }
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_true(gb_cpu_returns_in_child(return_at_once));
    assert_false(gb_cpu_returns_in_child(fault));
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int i = 0; i < 2; i++)
        sigaction(signals[i], &old[i], NULL);
    assert_int_equal(n_signals, 0);
    for (int signal = 1; signal < 32; signal++)
        assert_int_equal(sigismember(&before, signal),
                         sigismember(&after, signal));
    /* No child is left. */
    assert_int_equal(waitpid(-1, NULL, __WALL), -1);
    assert_int_equal(errno, ECHILD);
}

/* The variant with tiles in plain C runs anywhere, and where it is named
 * only. */
static void
what_is_for_tests_is_never_the_best(void **state)
{
    bool is_there = false;

    (void)state;
    for (const struct gb_cpu_kernels *const *k = gb_cpu_kernels_all();
         *k != NULL; k++)
        if (strcmp((*k)->variant, "amx_generic") == 0) {
            is_there = true;
            assert_true((*k)->is_for_tests);
            assert_non_null((*k)->pack_tiles);
            assert_string_not_equal(
                gb_cpu_kernels_for((*k)->needs, false)->variant, "amx_generic");
        } else {
            assert_int_equal((*k)->is_for_tests,
                             (*k)->pack_tiles != NULL &&
                                 ((*k)->needs & BITS(AMX_BF16)) == 0);
        }
    assert_true(is_there);
}

static void
slow_pairs_leave_the_variant_without_them(void **state)
{
    (void)state;
    if (GB_CPU_COMPILED != 0)
        skip();
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        const char *expected = built_for(machines[i].variant);
        const char *variant =
            gb_cpu_kernels_for(machines[i].features, true)->variant;

        if (strcmp(expected, "avx512_bf16") == 0)
            expected = built_for("avx512_vbmi");
        if (strcmp(variant, expected) != 0)
            fail_msg("%s: %s", machines[i].name, variant);
    }
}

/* Each variant that this machine can run is asked. */
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
        cmocka_unit_test(tiles_that_the_system_refuses_are_not_there),
        cmocka_unit_test(a_machine_without_tiles_is_not_asked),
        cmocka_unit_test(a_fault_of_the_trial_is_the_childs_own),
        cmocka_unit_test(what_is_for_tests_is_never_the_best),
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
