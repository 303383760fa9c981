/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/memory.c - memory of the emulated cards, and pinned memory of
 * the host.
 */
#include "config.h"

#include "tests/gpu-emulator/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void
memory_has_an_end(void **state)
{
    gb_cuda_address memory[2], none = 5;
    size_t free, total;

    (void)state;
    emu_begin_in_context("MEMORY=1048576");
    memory[0] = emu_memory(600000);
    assert_int_equal(cu.memory_alloc(&none, 600000), GB_CUDA_OUT_OF_MEMORY);
    assert_int_equal(cu.memory_alloc(&none, SIZE_MAX), GB_CUDA_OUT_OF_MEMORY);
    assert_int_equal(cu.memory_alloc(&none, 0), GB_CUDA_INVALID_VALUE);
    assert_int_equal(none, 5);
    assert_int_equal(cu.memory_info(&free, &total), GB_CUDA_SUCCESS);
    assert_int_equal(total, 1048576);
    assert_in_range(free, 1, 1048576 - 600000);
    assert_int_equal(cu.memory_free(memory[0]), GB_CUDA_SUCCESS);
    memory[1] = emu_memory(600000);
    assert_int_equal(cu.memory_free(memory[1]), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_info(&free, &total), GB_CUDA_SUCCESS);
    assert_int_equal(free, total);
    emu_end();
}

static void
what_is_freed_must_live(void **state)
{
    gb_cuda_address memory;

    (void)state;
    emu_begin_in_context("");
    memory = emu_memory(16);
    assert_int_equal(cu.memory_free(0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory + 1), GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_INVALID_VALUE);
    emu_end_with_reports(2);
}

static void
freeing_waits_for_the_card(void **state)
{
    gb_cuda_stream stream;
    gb_cuda_address used, other;

    (void)state;
    emu_begin_in_context("");
    stream = emu_stream();
    used = emu_memory(16);
    other = emu_memory(16);
    assert_int_equal(cu.fill(used, 1, 16, stream), GB_CUDA_SUCCESS);
    emu.reset();
    assert_int_equal(cu.memory_free(other), GB_CUDA_SUCCESS);
    assert_int_equal(emu.count(EMU_HOST_WAITS), 1);
    assert_int_equal(emu.queued(), 0);
    assert_int_equal(cu.memory_free(used), GB_CUDA_SUCCESS);
    assert_int_equal(emu.count(EMU_HOST_WAITS), 1);
    assert_int_equal(cu.stream_destroy(stream), GB_CUDA_SUCCESS);
    emu_end();
}

static void
freeing_what_queued_work_uses_is_reported(void **state)
{
    gb_cuda_stream stream;
    gb_cuda_address memory;
    void *pinned;

    (void)state;
    emu_begin_in_context("");
    stream = emu_stream();
    memory = emu_memory(16);
    assert_int_equal(cu.fill(memory, 1, 16, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);

    memory = emu_memory(16);
    assert_int_equal(cu.host_alloc(&pinned, 16, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.copy_to_device(memory, pinned, 16, stream),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.host_free(pinned), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(stream), GB_CUDA_SUCCESS);
    emu_end_with_reports(2);
}

static void
fresh_memory_is_not_zero(void **state)
{
    static const unsigned char zeros[16];
    unsigned char *pinned;

    (void)state;
    emu_begin_in_context("");
    assert_int_equal(cu.host_alloc((void **)&pinned, 16, 0), GB_CUDA_SUCCESS);
    assert_memory_not_equal(pinned, zeros, 16);
    assert_int_equal(cu.host_free(pinned), GB_CUDA_SUCCESS);
    emu_end();
}

static void
memory_of_the_host_is_registered_once(void **state)
{
    static char data[100];

    (void)state;
    emu_begin_in_context("");
    assert_int_equal(cu.host_register(data, 0, 0), GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.host_register(data, 50, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.host_register(data + 49, 10, 0),
                     GB_CUDA_HOST_MEMORY_ALREADY_REGISTERED);
    assert_int_equal(cu.host_register(data + 50, 10, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.host_unregister(data), GB_CUDA_SUCCESS);
    assert_int_equal(cu.host_register(data, 51, 0),
                     GB_CUDA_HOST_MEMORY_ALREADY_REGISTERED);
    assert_int_equal(cu.host_unregister(data + 50), GB_CUDA_SUCCESS);
    assert_int_equal(emu.live(), 0);
    emu_end();
}

static void
pinned_memory_is_given_back_as_it_was_got(void **state)
{
    static char data[100];
    void *pinned;

    (void)state;
    emu_begin_in_context("");
    assert_int_equal(cu.host_alloc(&pinned, 16, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.host_unregister(pinned),
                     GB_CUDA_HOST_MEMORY_NOT_REGISTERED);
    assert_int_equal(cu.host_free(data), GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.host_free(pinned), GB_CUDA_SUCCESS);
    emu_end_with_reports(2);
}

static void
cards_see_pinned_memory(void **state)
{
    char *pinned;
    gb_cuda_address address;

    (void)state;
    emu_begin_in_context("");
    assert_int_equal(cu.host_alloc((void **)&pinned, 16, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.host_address(&address, pinned + 4, 0), GB_CUDA_SUCCESS);
    assert_int_equal(address, (uintptr_t)(pinned + 4));
    assert_int_equal(cu.host_address(&address, pinned + 16, 0),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.host_free(pinned), GB_CUDA_SUCCESS);
    emu_end();
}

static void
managed_memory_is_the_hosts_too(void **state)
{
    gb_cuda_stream stream;
    gb_cuda_address memory;
    char *pinned;

    (void)state;
    emu_begin_in_context("");
    stream = emu_stream();
    assert_int_equal(
        cu.memory_alloc_managed(&memory, 16, GB_CUDA_MANAGED_GLOBAL),
        GB_CUDA_SUCCESS);
    assert_int_equal(cu.host_alloc((void **)&pinned, 16, 0), GB_CUDA_SUCCESS);
    memset((void *)(uintptr_t)memory, 3, 16);
    assert_int_equal(cu.copy_to_host(pinned, memory, 16, stream),
                     GB_CUDA_SUCCESS);
    emu_wait(stream);
    assert_int_equal(pinned[15], 3);
    assert_int_equal(cu.host_free(pinned), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(stream), GB_CUDA_SUCCESS);
    emu_end();
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_has_an_end),
        cmocka_unit_test(what_is_freed_must_live),
        cmocka_unit_test(freeing_waits_for_the_card),
        cmocka_unit_test(freeing_what_queued_work_uses_is_reported),
        cmocka_unit_test(fresh_memory_is_not_zero),
        cmocka_unit_test(memory_of_the_host_is_registered_once),
        cmocka_unit_test(pinned_memory_is_given_back_as_it_was_got),
        cmocka_unit_test(cards_see_pinned_memory),
        cmocka_unit_test(managed_memory_is_the_hosts_too),
    };

    return cmocka_run_group_tests_name("memory of the emulated driver", tests,
                                       emu_open, NULL);
}
