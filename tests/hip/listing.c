/* SPDX-License-Identifier: MIT */
/*
 * tests/hip/listing.c - which of AMD's cards are devices, and why others are not.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggml-cuda.h"
#include "ggmlbackend.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void
list_two_cards(void)
{
    ggml_backend_reg_t reg = cuda_load();
    ggml_backend_dev_t dev;

    CHECK(reg != NULL);
    CHECK(strcmp(ggml_backend_reg_name(reg), "ROCm") == 0);
    CHECK(ggml_backend_reg_dev_count(reg) == 2);
    dev = ggml_backend_dev_by_name("ROCm1");
    CHECK(dev != NULL);
    CHECK(strcmp(ggml_backend_dev_description(dev), "Second (integrated)") ==
          0);
    CHECK(strcmp(cuda_property(dev, "architecture"), "gfx1030") == 0);
    CHECK(strcmp(cuda_property(dev, "image"), "gfx1030") == 0);
    CHECK(strcmp(cuda_property(dev, "variant"), "dot4") == 0);
    CHECK(strcmp(cuda_property(dev, "driver"), "6.3") == 0);
    /* The run time's sixteen bytes are a text. */
    CHECK(strcmp(cuda_property(dev, "UUID"), "GPU-0123456789abcd01") == 0);
    CHECK(emulator.calls("hipDevicePrimaryCtxRetain") == 0);
    CHECK(emulator.live() == 0);
}

static void
listing_takes_nothing_of_a_card(void **state)
{
    (void)state;
    cuda_case(list_two_cards,
              "EMU_DEVICES=2 EMU_ARCH=gfx1100,gfx1030 EMU_NAME=First,Second "
              "EMU_INTEGRATED=0,1", NULL);
}

static void
go_by_the_plain_variant(void)
{
    CHECK(cuda_load() != NULL);
    CHECK(strcmp(cuda_property(cuda_device("CUDA0"), "variant"), "plain") == 0);
    cuda_is_well();
}

static void
a_lower_variant_can_be_asked_for(void **state)
{
    (void)state;
    cuda_case(go_by_the_plain_variant, "GGMLBACKEND_GPU_VARIANT=plain", NULL);
}

/* The functions of ggml-cuda.h are those of a card of AMD's where no card of
 * NVIDIA's is. */
static void
begin_by_name(void)
{
    ggml_backend_t backend;

    CHECK(cuda_load() != NULL);
    CHECK(ggml_backend_cuda_get_device_count() == 1);
    backend = ggml_backend_cuda_init(0);
    CHECK(backend != NULL && ggml_backend_is_cuda(backend));
    CHECK(strcmp(ggml_backend_name(backend), "ROCm0") == 0);
    ggml_backend_free(backend);
}

static void
programs_that_name_cuda_reach_it(void **state)
{
    (void)state;
    cuda_case(begin_by_name, "", NULL);
}

/* ---- which come first ---- */

static const char *const *names; /* of ROCm0 and so on; NULL ends */

static void
check_names(void)
{
    ggml_backend_reg_t reg = cuda_load();
    size_t n = 0;

    CHECK(reg != NULL);
    for (; names[n] != NULL; n++) {
        ggml_backend_dev_t dev = ggml_backend_reg_dev_get(reg, n);

        CHECK(dev != NULL);
        CHECK(strcmp(ggml_backend_dev_description(dev), names[n]) == 0);
    }
    CHECK(ggml_backend_reg_dev_count(reg) == n);
    cuda_computes("CUDA0");
}

static void
integrated_cards_come_last(void **state)
{
    static const char cards[] =
        "EMU_DEVICES=4 EMU_INTEGRATED=1,0,1,0 EMU_NAME=A,B,C,D";
    static const char *const usual[] = { "B", "D", "A (integrated)",
                                         "C (integrated)", NULL };
    static const char *const asked[] = { "C (integrated)", "B", NULL };
    static const char *const single[] = { "A (integrated)", NULL };
    char variables[128];

    (void)state;
    names = usual;
    cuda_case(check_names, cards, NULL);
    /* Who asks for cards has them in that order. */
    names = asked;
    snprintf(variables, sizeof(variables), "%s GGMLBACKEND_GPU_DEVICES=2,1",
             cards);
    cuda_case(check_names, variables, NULL);
    names = single;
    cuda_case(check_names, "EMU_INTEGRATED=1 EMU_NAME=A", NULL);
}

/* ---- what the environment claims ---- */

static void
be_taken_for_another(void)
{
    CHECK(cuda_load() != NULL);
    CHECK(strcmp(cuda_property(cuda_device("CUDA0"), "architecture"),
                 "gfx1030") == 0);
    CHECK(strcmp(cuda_property(cuda_device("CUDA1"), "image"), "gfx1030") ==
          0);
    cuda_computes("CUDA0");
    cuda_computes("CUDA1");
}

static void
an_architecture_that_is_claimed_is_followed_and_told_once(void **state)
{
    static const char text[] =
        "hip: cards are taken for gfx1030, whatever they are: "
        "HSA_OVERRIDE_GFX_VERSION=10.3.0";
    const char *errors, *at;

    (void)state;
    cuda_case(be_taken_for_another,
              "EMU_DEVICES=2 EMU_ARCH=gfx1036,gfx1031 "
              "HSA_OVERRIDE_GFX_VERSION=10.3.0", &errors);
    at = strstr(errors, text);
    assert_non_null(at);
    assert_null(strstr(at + strlen(text), "HSA_OVERRIDE"));
    cuda_case(go_by_the_plain_variant,
              "GGMLBACKEND_GPU_VARIANT=plain HSA_OVERRIDE_GFX_VERSION=",
              &errors);
    assert_null(strstr(errors, "HSA_OVERRIDE"));
}

/* ---- refused ---- */

static const char *expected_reason;

static void
expect_refusal(void)
{
    cuda_expect_refusal(expected_reason);
}

static void
each_reason_to_refuse_is_told(void **state)
{
    static const struct {
        const char *variables, *reason;
    } cases[] = {
        { "EMU_DEVICES=0",
          "hipInit: no ROCm-capable device is detected (hipErrorNoDevice)" },
        { "EMU_DRIVER_VERSION=40421401", "of ROCm 4.4, needed is 5.0" },
        { "EMU_ARCH=gfx803",
          "none of the images (gfx906 gfx90a gfx942 gfx1030 gfx1100 gfx1200) "
          "fits architecture gfx803 with a driver of ROCm 6.3; configure "
          "--with-hip-arch=gfx803" },
        { "EMU_ARCH=gfx1036 EMU_DRIVER_VERSION=50221153",
          "fits architecture gfx1036 with a driver of ROCm 5.2" },
        { "EMU_FAIL=hipGetDeviceCount:1:999", "hipGetDeviceCount" },
        { "EMU_FAIL=hipDeviceGetAttribute:1:999", "hipDeviceGetAttribute" },
        { "EMU_FAIL=hipDeviceGetName:1:999", "hipDeviceGetName" },
        { "EMU_FAIL=hipDeviceTotalMem:1:999", "hipDeviceTotalMem" },
        { "EMU_FAIL=hipDriverGetVersion:1:999", "hipDriverGetVersion" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *errors;

        expected_reason = cases[i].reason;
        cuda_case(expect_refusal, cases[i].variables, &errors);
        print_message("# [%s] %s", cases[i].variables, errors);
        /* The library's line, and that of cuda_check_refusal. */
        assert_int_equal(cuda_count_lines(errors), 2);
    }
}

static void
expect_refusal_of_64_lanes(void)
{
    CHECK(cuda_load_on(gb_built(
              "tests/gpu-emulator/lanes64/.libs/libamdhip64.so.6")) == NULL);
    cuda_check_refusal("fits architecture gfx908:sramecc+:xnack- with a "
                       "driver of ROCm 6.3; configure --with-hip-arch=gfx908");
}

static void
features_are_no_part_of_a_name(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(expect_refusal_of_64_lanes, "EMU_ARCH=gfx908", &errors);
    assert_null(strstr(errors, "arch=gfx908:"));
}

/* ---- a run time that is not there, or not whole ---- */

static char linker_said[256];
static char *(*real_dlerror)(void);

/* In the place of libc's: what dlerror said is gone with the next call, as POSIX
 * lets it be. */
__attribute__((visibility("default")))
void *
dlopen(const char *name, int flags)
{
    static void *(*real)(const char *, int);

    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
        *(void **)&real_dlerror = dlsym(RTLD_NEXT, "dlerror");
    }
    strcpy(linker_said, "what another call has written there");
    return real(name, flags);
}

__attribute__((visibility("default")))
char *
dlerror(void)
{
    const char *text = real_dlerror != NULL ? real_dlerror() : NULL;

    if (text == NULL)
        return NULL;
    snprintf(linker_said, sizeof(linker_said), "%s", text);
    return linker_said;
}

static void
load_without_run_time(void)
{
    CHECK(cuda_load_module() == NULL);
    cuda_check_refusal(expected_reason);
}

static void
without_a_run_time_the_reason_is_the_linkers(void **state)
{
    static const char *const names[] = { "libamdhip64.so.7",
                                         "libamdhip64.so.6",
                                         "libamdhip64.so.5" };

    (void)state;
    for (int i = 0; i < 3; i++) {
        if (dlopen(names[i], RTLD_NOW | RTLD_LOCAL) != NULL) {
            print_message("# this machine has %s\n", names[i]);
            skip();
        }
    }
    expected_reason = "no driver: libamdhip64.so.7: cannot open shared object";
    cuda_case(load_without_run_time, "", NULL);
}

static const char *missing;

static void
expect_that_it_is_needed(void)
{
    CHECK(cuda_load_without(missing) == NULL);
    cuda_check_refusal(expected_reason);
}

static void
what_is_missing_is_named(void **state)
{
    static const char *const names[] = {
        "hipMalloc", "hipSetDevice", "hipGetDeviceProperties",
        "hipModuleLaunchKernel",
    };
    char reason[128];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        missing = names[i];
        snprintf(reason, sizeof(reason),
                 "the driver is too old: it has no %s", missing);
        expected_reason = reason;
        cuda_case(expect_that_it_is_needed, "", NULL);
    }
}

static void
compute_without_it(void)
{
    CHECK(cuda_load_without(missing) != NULL);
    cuda_is_well();
}

static void
what_can_be_missed_is_not_needed(void **state)
{
    static const char *const names[] = { "hipGraphAddKernelNode",
                                         "hipGraphInstantiateWithFlags",
                                         "hipDeviceGetUuid",
                                         "hipEventElapsedTime" };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        missing = names[i];
        cuda_case(compute_without_it, "", NULL);
    }
}

/* ---- the caller's device ---- */

static void
compute_beside_a_program(void)
{
    int (*set)(int), (*get)(int *);
    void *library;
    int device = -1;

    CHECK(cuda_load() != NULL);
    library = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
    CHECK(library != NULL);
    *(void **)&set = dlsym(library, "hipSetDevice");
    *(void **)&get = dlsym(library, "hipGetDevice");
    CHECK(set(1) == 0);
    cuda_computes("CUDA0");
    CHECK(get(&device) == 0 && device == 1);
    cuda_computes("CUDA1");
    CHECK(get(&device) == 0 && device == 1);
}

static void
the_callers_device_stays_current(void **state)
{
    (void)state;
    cuda_case(compute_beside_a_program, "EMU_DEVICES=2", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(listing_takes_nothing_of_a_card),
        cmocka_unit_test(a_lower_variant_can_be_asked_for),
        cmocka_unit_test(programs_that_name_cuda_reach_it),
        cmocka_unit_test(integrated_cards_come_last),
        cmocka_unit_test(
            an_architecture_that_is_claimed_is_followed_and_told_once),
        cmocka_unit_test(each_reason_to_refuse_is_told),
        cmocka_unit_test(features_are_no_part_of_a_name),
        cmocka_unit_test(without_a_run_time_the_reason_is_the_linkers),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(what_can_be_missed_is_not_needed),
        cmocka_unit_test(the_callers_device_stays_current),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
