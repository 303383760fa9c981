/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/nvml.c - the emulated management library tells the cards'
 * memory.
 */
#include "config.h"

#include "tests/gpu-emulator/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

struct memory {
    unsigned long long total, free, used;
};

static int (*init)(void);
static int (*stop)(void);
static int (*device_at)(const char *address, void **device);
static int (*memory_of)(void *device, struct memory *out);

static int
open_it(void **state)
{
    void *library;

    if (emu_open(state) != 0)
        return 1;
    library = dlopen(emu_path(32, "libnvidia-ml.so.1"), RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        print_error("%s\n", dlerror());
        return 1;
    }
    *(void **)&init = dlsym(library, "nvmlInit_v2");
    *(void **)&stop = dlsym(library, "nvmlShutdown");
    *(void **)&device_at = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&memory_of = dlsym(library, "nvmlDeviceGetMemoryInfo");
    return init == NULL || stop == NULL || device_at == NULL ||
           memory_of == NULL;
}

static void
it_knows_the_cards_memory(void **state)
{
    char address[16];
    struct memory m;
    void *device;
    gb_cuda_address some;

    (void)state;
    emu_begin_in_context("DEVICES=2 MEMORY=1048576");
    assert_int_equal(init(), 0);
    assert_int_equal(cu.device_pci(address, sizeof(address), 0),
                     GB_CUDA_SUCCESS);
    assert_int_equal(device_at(address, &device), 0);
    assert_int_equal(memory_of(device, &m), 0);
    assert_int_equal(m.total, 1048576);
    assert_int_equal(m.free, 1048576);
    some = emu_memory(1000);
    assert_int_equal(memory_of(device, &m), 0);
    assert_in_range(m.used, 1000, 100000);
    assert_int_equal(m.free, m.total - m.used);
    assert_int_equal(device_at("00000000:11:00.0", &device), 0);
    assert_int_equal(memory_of(device, &m), 0);
    assert_int_equal(m.used, 0);
    assert_int_equal(device_at("0000:12:00.0", &device), 6);
    assert_int_equal(cu.memory_free(some), GB_CUDA_SUCCESS);
    assert_int_equal(stop(), 0);
    emu_end();
}

static void
it_wants_to_be_initialized(void **state)
{
    void *device;

    (void)state;
    assert_int_equal(device_at("0000:10:00.0", &device), 1);
    assert_int_equal(stop(), 1);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_knows_the_cards_memory),
        cmocka_unit_test(it_wants_to_be_initialized),
    };

    return cmocka_run_group_tests_name("emulated management library", tests,
                                       open_it, NULL);
}
