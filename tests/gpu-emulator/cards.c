/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/cards.c - the emulated driver has the cards that the environment
 * tells.
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

static int
attribute(int attribute, int device)
{
    int value = -1;

    assert_int_equal(cu.device_attribute(&value, attribute, device),
                     GB_CUDA_SUCCESS);
    return value;
}

static void
there_is_one_unless_told(void **state)
{
    char name[64], address[16];
    size_t bytes;
    int n = 0, device = -1;

    (void)state;
    emu_begin("");
    assert_int_equal(cu.device_count(&n), GB_CUDA_SUCCESS);
    assert_int_equal(n, 1);
    assert_int_equal(cu.device_get(&device, 0), GB_CUDA_SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(cu.device_get(&device, 1), GB_CUDA_INVALID_DEVICE);
    assert_int_equal(cu.device_name(name, sizeof(name), 0), GB_CUDA_SUCCESS);
    assert_string_equal(name, "Emulated GPU");
    assert_int_equal(cu.device_pci(address, sizeof(address), 0),
                     GB_CUDA_SUCCESS);
    assert_string_equal(address, "0000:10:00.0");
    assert_int_equal(cu.device_memory(&bytes, 0), GB_CUDA_SUCCESS);
    assert_int_equal(bytes, (size_t)8 << 30);
    assert_int_equal(attribute(GB_CUDA_MAJOR, 0), 9);
    assert_int_equal(attribute(GB_CUDA_MINOR, 0), 0);
    assert_int_equal(attribute(GB_CUDA_WARP_SIZE, 0), 32);
    assert_int_equal(attribute(GB_CUDA_INTEGRATED, 0), 0);
    assert_int_equal(attribute(GB_CUDA_MAX_SHARED_OPTIN, 0), 227 << 10);
}

static void
lists_have_an_entry_a_card(void **state)
{
    struct gb_cuda_uuid uuid[2];
    size_t bytes[3];
    int n;

    (void)state;
    emu_begin("DEVICES=3 ARCH=75,86 MEMORY=1000,2000 SMS=8 INTEGRATED=0,1 "
              "PAGEABLE=2,0 DRIVER_VERSION=12040");
    assert_int_equal(cu.device_count(&n), GB_CUDA_SUCCESS);
    assert_int_equal(n, 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(cu.device_memory(&bytes[i], i), GB_CUDA_SUCCESS);
    assert_int_equal(bytes[0], 1000);
    assert_int_equal(bytes[1], 2000);
    assert_int_equal(bytes[2], 2000);
    assert_int_equal(attribute(GB_CUDA_MAJOR, 0), 7);
    assert_int_equal(attribute(GB_CUDA_MINOR, 0), 5);
    assert_int_equal(attribute(GB_CUDA_MINOR, 2), 6);
    assert_int_equal(attribute(GB_CUDA_MULTIPROCESSORS, 2), 8);
    assert_int_equal(attribute(GB_CUDA_INTEGRATED, 0), 0);
    assert_int_equal(attribute(GB_CUDA_INTEGRATED, 1), 1);
    assert_int_equal(attribute(GB_CUDA_PAGEABLE_BY_HOST_TABLES, 0), 1);
    assert_int_equal(attribute(GB_CUDA_PAGEABLE_ACCESS, 1), 0);
    assert_int_equal(cu.version(&n), GB_CUDA_SUCCESS);
    assert_int_equal(n, 12040);
    for (int i = 0; i < 2; i++)
        assert_int_equal(cu.device_uuid(&uuid[i], i), GB_CUDA_SUCCESS);
    assert_memory_not_equal(&uuid[0], &uuid[1], sizeof(uuid[0]));
}

static void
init_fails_without_cards_and_when_told(void **state)
{
    (void)state;
    emu.restart();
    setenv("GGMLBACKEND_TEST_EMU_DEVICES", "0", 1);
    assert_int_equal(cu.init(0), GB_CUDA_NO_DEVICE);
    emu.restart();
    setenv("GGMLBACKEND_TEST_EMU_DEVICES", "1", 1);
    setenv("GGMLBACKEND_TEST_EMU_INIT_FAIL", "803", 1);
    assert_int_equal(cu.init(0), GB_CUDA_SYSTEM_DRIVER_MISMATCH);
}

static void
results_have_names_and_texts(void **state)
{
    const char *text;

    (void)state;
    emu_begin("");
    assert_int_equal(cu.error_name(GB_CUDA_OUT_OF_MEMORY, &text),
                     GB_CUDA_SUCCESS);
    assert_string_equal(text, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_int_equal(cu.error_text(GB_CUDA_OUT_OF_MEMORY, &text),
                     GB_CUDA_SUCCESS);
    assert_string_equal(text, "out of memory");
    assert_int_equal(cu.error_text(123456, &text), GB_CUDA_INVALID_VALUE);
    assert_null(text);
}

static void
unknown_attributes_and_cards_are_refused(void **state)
{
    int value = 5, possible;

    (void)state;
    emu_begin("");
    assert_int_equal(cu.device_attribute(&value, 12345, 0),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.device_attribute(&value, GB_CUDA_MAJOR, 1),
                     GB_CUDA_INVALID_DEVICE);
    assert_int_equal(cu.peer_possible(&possible, 0, 1), GB_CUDA_INVALID_DEVICE);
    assert_int_equal(value, 5);
}

static void
a_flavour_of_it_has_64_lanes(void **state)
{
    void *library = dlopen(emu_path(64, "libcuda.so.1"), RTLD_NOW | RTLD_LOCAL);
    int (*init)(unsigned), (*ask)(int *, int, int);
    void (*restart)(void);
    int lanes;

    (void)state;
    emu_begin("");
    assert_non_null(library);
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&ask = dlsym(library, "cuDeviceGetAttribute");
    *(void **)&restart = dlsym(library, "emu_restart");
    assert_int_equal(init(0), GB_CUDA_SUCCESS);
    assert_int_equal(ask(&lanes, GB_CUDA_WARP_SIZE, 0), GB_CUDA_SUCCESS);
    assert_int_equal(lanes, 64);
    restart();
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_one_unless_told),
        cmocka_unit_test(lists_have_an_entry_a_card),
        cmocka_unit_test(init_fails_without_cards_and_when_told),
        cmocka_unit_test(results_have_names_and_texts),
        cmocka_unit_test(unknown_attributes_and_cards_are_refused),
        cmocka_unit_test(a_flavour_of_it_has_64_lanes),
    };

    return cmocka_run_group_tests_name("cards of the emulated driver", tests,
                                       emu_open, NULL);
}
