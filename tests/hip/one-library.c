/* SPDX-License-Identifier: MIT */
/*
 * tests/hip/one-library.c - the code of both backends in one program, as
 * --with-cuda=builtin --with-hip=builtin puts it into the library: each has its
 * own driver, and cards of both compute.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "backends/cuda/device/reg.h"
#include "backends/hip/reg.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void *
open_driver(const char *path)
{
    void *library = dlopen(gb_built(path), RTLD_NOW | RTLD_LOCAL);

    CHECK(library != NULL);
    return library;
}

/* Its kernels ran, and nothing is left or was reported. */
static void
check_driver(void *library)
{
    uint64_t (*count)(enum emu_counter which);
    uint64_t (*live)(void), (*reports)(void);

    *(void **)&count = dlsym(library, "emu_count");
    *(void **)&live = dlsym(library, "emu_live");
    *(void **)&reports = dlsym(library, "emu_reports");
    CHECK(count != NULL && live != NULL && reports != NULL);
    CHECK(count(EMU_KERNELS) > 0 && live() == 0 && reports() == 0);
}

static void
compute_on_both(void)
{
    void *nvidia = open_driver("tests/gpu-emulator/lanes32/.libs/libcuda.so.1");
    void *amd =
        open_driver("tests/gpu-emulator/lanes64/.libs/libamdhip64.so.6");
    ggml_backend_reg_t cuda = gb_cuda_reg(), hip = gb_hip_reg();

    CHECK(cuda != NULL && hip != NULL && cuda != hip);
    ggml_backend_register(cuda);
    ggml_backend_register(hip);
    cuda_computes("CUDA0");
    cuda_computes("ROCm0");
    check_driver(nvidia);
    check_driver(amd);
}

static void
cards_of_both_compute(void **state)
{
    (void)state;
    cuda_case(compute_on_both, "", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards_of_both_compute),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
