/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/kernels.c - modules and launches of the emulated driver.
 */
#include "config.h"

#include "tests/gpu-emulator/add.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
a_launch_runs_late_with_arguments_of_its_time(void **state)
{
    struct add add;
    struct gb_cuda_binary_args args;
    void *params[] = { &args };

    (void)state;
    emu_begin_in_context("");
    add_begin(&add);
    emu.reset();
    args = add_args(&add, 0, 1, 2);
    assert_int_equal(cu.launch(add.function, 1, 1, 1, 256, 1, 1, 0, add.stream,
                               params, NULL), GB_CUDA_SUCCESS);
    memset(&args, 0, sizeof(args));
    assert_int_equal(emu.count(EMU_LAUNCHES), 1);
    assert_int_equal(emu.count(EMU_KERNELS), 0);
    assert_float_equal(add_result(&add, 0), 5.0f, 0.0f);
    assert_int_equal(emu.count(EMU_KERNELS), 1);
    assert_int_equal(emu.kernel_runs(ADD_KERNEL), 1);
    assert_int_equal(emu.kernel_runs("gb_nothing"), 0);
    add_end(&add);
    emu_end();
}

static void
a_driver_that_does_nothing_counts(void **state)
{
    struct add add;

    (void)state;
    emu_begin_in_context("IDLE=1");
    add_begin(&add);
    assert_int_equal(add_launch(&add, 0, 1, 2), GB_CUDA_SUCCESS);
    assert_float_equal(add_result(&add, 0), 1.0f, 0.0f);
    assert_int_equal(emu.kernel_runs(ADD_KERNEL), 1);
    add_end(&add);
    emu_end();
}

/* A launch with another grid, block, or shared memory. */
static int
launch(const struct add *add, unsigned x, unsigned y, unsigned z,
       unsigned block, unsigned shared)
{
    struct gb_cuda_binary_args args = add_args(add, 0, 1, 2);
    void *params[] = { &args };

    return cu.launch(add->function, x, y, z, block, 1, 1, shared, add->stream,
                     params, NULL);
}

static void
launches_are_checked(void **state)
{
    struct add add;

    (void)state;
    emu_begin_in_context("");
    add_begin(&add);
    assert_int_equal(launch(&add, 0, 1, 1, 256, 0), GB_CUDA_INVALID_VALUE);
    assert_int_equal(launch(&add, 0x80000000u, 1, 1, 256, 0),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(launch(&add, 1, 65536, 1, 256, 0), GB_CUDA_INVALID_VALUE);
    assert_int_equal(launch(&add, 1, 1, 65536, 256, 0), GB_CUDA_INVALID_VALUE);
    assert_int_equal(launch(&add, 1, 1, 1, 128, 0), GB_CUDA_INVALID_VALUE);
    assert_int_equal(launch(&add, 1, 1, 1, 256, 16), GB_CUDA_INVALID_VALUE);
    assert_int_equal(launch(&add, 0x7fffffff, 65535, 65535, 256, 0),
                     GB_CUDA_SUCCESS);
    emu.lose_card(1, 0);
    assert_int_equal(launch(&add, 1, 1, 1, 256, 0), GB_CUDA_LAUNCH_FAILED);
    emu_end_with_reports(6);
}

static void
arguments_must_be_there(void **state)
{
    struct add add;
    void *none[] = { NULL };

    (void)state;
    emu_begin_in_context("");
    add_begin(&add);
    assert_int_equal(cu.launch(add.function, 1, 1, 1, 256, 1, 1, 0, add.stream,
                               NULL, NULL), GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.launch(add.function, 1, 1, 1, 256, 1, 1, 0, add.stream,
                               none, NULL), GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.launch(NULL, 1, 1, 1, 256, 1, 1, 0, add.stream, none,
                               NULL), GB_CUDA_INVALID_HANDLE);
    add_end(&add);
    emu_end();
}

static void
memory_that_a_launch_may_use_is_not_freed(void **state)
{
    struct add add;

    (void)state;
    emu_begin_in_context("");
    add_begin(&add);
    assert_int_equal(add_launch(&add, 0, 1, 2), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(add.memory), GB_CUDA_SUCCESS);
    assert_int_equal(emu.count(EMU_KERNELS), 1);
    add.memory = 0;
    add_end(&add);
    emu_end_with_reports(1);
}

static void
images_have_kernels_of_their_own(void **state)
{
    gb_cuda_module module;
    gb_cuda_function function, again;

    (void)state;
    emu_begin_in_context("");
    assert_int_equal(cu.module_load(&module, "GB-IMAGE other\n"),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.module_function(&function, module, ADD_KERNEL),
                     GB_CUDA_NOT_FOUND);
    assert_int_equal(cu.module_unload(module), GB_CUDA_SUCCESS);
    assert_int_equal(cu.module_unload(module), GB_CUDA_INVALID_HANDLE);

    assert_int_equal(
        cu.module_load(&module, "//\n.version 7.0\n"
                                ".visible .entry " ADD_KERNEL "(\n.param x"), GB_CUDA_SUCCESS);
    assert_int_equal(cu.module_function(&function, module, ADD_KERNEL),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.module_function(&again, module, ADD_KERNEL),
                     GB_CUDA_SUCCESS);
    assert_ptr_equal(function, again);
    assert_int_equal(cu.module_function(&function, module, "gb_binary_f32"),
                     GB_CUDA_NOT_FOUND);
    assert_int_equal(cu.module_unload(module), GB_CUDA_SUCCESS);

    assert_int_equal(cu.module_load(&module, "\x50\xed\x55\xba and so on"),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.module_function(&function, module, ADD_KERNEL),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.module_unload(module), GB_CUDA_SUCCESS);
    assert_int_equal(cu.module_load(&module, "anything else"),
                     GB_CUDA_INVALID_IMAGE);
    emu_end();
}

static void
images_are_refused_when_told(void **state)
{
    gb_cuda_module module;

    (void)state;
    emu_begin_in_context("NO_IMAGE=1");
    assert_int_equal(cu.module_load(&module, "GB-IMAGE binary\n"),
                     GB_CUDA_NO_BINARY_FOR_GPU);
    emu_end();
    emu_begin_in_context("PTX_OLD=1");
    assert_int_equal(cu.module_load(&module, "GB-IMAGE binary\n"),
                     GB_CUDA_UNSUPPORTED_PTX_VERSION);
    emu_end();
}

static void
old_cards_lack_kernels(void **state)
{
    gb_cuda_module module;
    gb_cuda_function function;

    (void)state;
    emu_begin_in_context("ARCH=50");
    assert_int_equal(cu.module_load(&module, "GB-IMAGE binary\n"),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.module_function(&function, module, ADD_KERNEL),
                     GB_CUDA_NOT_FOUND);
    assert_int_equal(cu.module_unload(module), GB_CUDA_SUCCESS);
    emu_end();
}

static void
functions_have_limits(void **state)
{
    struct add add;
    int value;

    (void)state;
    emu_begin_in_context("ARCH=75");
    add_begin(&add);
    assert_int_equal(cu.function_attribute(&value, GB_CUDA_FUNCTION_MAX_THREADS,
                                           add.function), GB_CUDA_SUCCESS);
    assert_int_equal(value, 256);
    assert_int_equal(cu.function_set(add.function,
                                     GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED,
                                     65536),
                     GB_CUDA_SUCCESS);
    assert_int_equal(
        cu.function_attribute(&value, GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED,
                              add.function), GB_CUDA_SUCCESS);
    assert_int_equal(value, 65536);
    assert_int_equal(cu.function_set(add.function,
                                     GB_CUDA_FUNCTION_MAX_DYNAMIC_SHARED,
                                     65537),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(
        cu.function_attribute(&value, 12345, add.function),
        GB_CUDA_INVALID_VALUE);
    add_end(&add);
    emu_end();
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_launch_runs_late_with_arguments_of_its_time),
        cmocka_unit_test(a_driver_that_does_nothing_counts),
        cmocka_unit_test(launches_are_checked),
        cmocka_unit_test(arguments_must_be_there),
        cmocka_unit_test(memory_that_a_launch_may_use_is_not_freed),
        cmocka_unit_test(images_have_kernels_of_their_own),
        cmocka_unit_test(images_are_refused_when_told),
        cmocka_unit_test(old_cards_lack_kernels),
        cmocka_unit_test(functions_have_limits),
    };

    return cmocka_run_group_tests_name("kernels of the emulated driver", tests,
                                       emu_open, NULL);
}
