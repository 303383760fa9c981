/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/failures.c - the emulated driver fails where it is told to.
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
the_nth_call_fails_once(void **state)
{
    gb_cuda_address memory[3];

    (void)state;
    emu_begin_in_context("");
    emu.fail_call("cuMemAlloc_v2", 2, 0);
    assert_int_equal(cu.memory_alloc(&memory[0], 16), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_alloc(&memory[1], 16), GB_CUDA_OUT_OF_MEMORY);
    assert_int_equal(emu.failures(), 1);
    assert_int_equal(cu.memory_alloc(&memory[2], 16), GB_CUDA_SUCCESS);
    assert_int_equal(emu.failures(), 1);
    assert_int_equal(cu.memory_free(memory[0]), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory[2]), GB_CUDA_SUCCESS);
    emu_end();
}

static void
each_call_may_be_the_one(void **state)
{
    gb_cuda_stream stream;

    (void)state;
    emu_begin_in_context("");
    stream = emu_stream();
    emu.fail_call("any", 2, 0);
    assert_int_equal(cu.stream_query(stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_query(stream), GB_CUDA_UNKNOWN);
    emu.fail_call("stream_query", 1, GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.stream_query(stream), GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.stream_query(stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(stream), GB_CUDA_SUCCESS);
    emu_end();
}

static void
calls_are_counted(void **state)
{
    gb_cuda_stream stream;

    (void)state;
    emu_begin_in_context("");
    stream = emu_stream();
    emu.reset();
    assert_int_equal(cu.stream_query(stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_query(stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(stream), GB_CUDA_SUCCESS);
    assert_int_equal(emu.calls("cuStreamQuery"), 2);
    assert_int_equal(emu.calls("stream_query"), 2);
    assert_int_equal(emu.calls("any"), 3);
    assert_int_equal(emu.count(EMU_CALLS), 3);
    assert_int_equal(emu.calls("cuNothing"), 0);
    emu_end();
}

static void
the_environment_says_it_too(void **state)
{
    gb_cuda_context context;
    gb_cuda_address memory;

    (void)state;
    emu_begin_in_context("FAIL=cuMemAlloc_v2:1:700");
    assert_int_equal(cu.memory_alloc(&memory, 16), GB_CUDA_ILLEGAL_ADDRESS);
    assert_int_equal(cu.memory_alloc(&memory, 16), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    emu_end();

    emu_begin_in_context("LOST=1:999");
    assert_int_equal(cu.memory_alloc(&memory, 16), GB_CUDA_UNKNOWN);
    assert_int_equal(cu.context_pop(&context), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
}

static void
what_gives_back_fails_after_it_did_so(void **state)
{
    gb_cuda_context context;
    gb_cuda_address memory;
    void *pinned;

    (void)state;
    emu_begin_in_context("");
    memory = emu_memory(16);
    assert_int_equal(cu.host_alloc(&pinned, 16, 0), GB_CUDA_SUCCESS);
    emu.fail_call("cuMemFree_v2", 1, 0);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_UNKNOWN);
    assert_int_equal(emu.memory_used(0), 0);
    emu.fail_call("cuMemFreeHost", 1, 0);
    assert_int_equal(cu.host_free(pinned), GB_CUDA_UNKNOWN);
    assert_int_equal(emu.live(), 0);
    emu.fail_call("cuCtxPopCurrent_v2", 1, 0);
    assert_int_equal(cu.context_pop(&context), GB_CUDA_UNKNOWN);
    assert_int_equal(cu.context_pop(&context), GB_CUDA_INVALID_CONTEXT);
    assert_int_equal(cu.context_push(context), GB_CUDA_SUCCESS);
    emu_end();
}

static void
a_lost_card_fails_until_its_context_ends(void **state)
{
    gb_cuda_context context;
    gb_cuda_stream stream;
    gb_cuda_event event;
    gb_cuda_address memory;
    uint64_t reports;

    (void)state;
    emu_begin_in_context("");
    reports = emu.reports();
    assert_int_equal(cu.context_retain(&context, 0), GB_CUDA_SUCCESS);
    stream = emu_stream();
    event = emu_event();
    memory = emu_memory(16);
    assert_int_equal(cu.fill(memory, 1, 16, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_record(event, stream), GB_CUDA_SUCCESS);
    emu.lose_card(2, 0);
    assert_int_equal(cu.stream_query(stream), GB_CUDA_NOT_READY);
    assert_int_equal(cu.event_wait(event), GB_CUDA_LAUNCH_FAILED);
    assert_int_equal(cu.event_query(event), GB_CUDA_LAUNCH_FAILED);
    assert_int_equal(cu.fill(memory, 1, 16, stream), GB_CUDA_LAUNCH_FAILED);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_LAUNCH_FAILED);

    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_query(stream), GB_CUDA_LAUNCH_FAILED);
    assert_int_equal(cu.context_pop(&context), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
    assert_int_equal(emu.live(), 0);

    assert_int_equal(cu.context_retain(&context, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_push(context), GB_CUDA_SUCCESS);
    memory = emu_memory(16);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    emu_end();
    assert_int_equal(emu.reports(), reports);
}

static void
another_card_goes_on(void **state)
{
    gb_cuda_context first, second, popped;
    gb_cuda_address memory;

    (void)state;
    emu_begin_in_context("DEVICES=2");
    assert_int_equal(cu.context_retain(&second, 1), GB_CUDA_SUCCESS);
    emu.lose_card(1, GB_CUDA_UNKNOWN);
    assert_int_equal(cu.memory_alloc(&memory, 16), GB_CUDA_UNKNOWN);
    assert_int_equal(cu.context_push(second), GB_CUDA_SUCCESS);
    memory = emu_memory(16);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_pop(&popped), GB_CUDA_SUCCESS);
    assert_ptr_equal(popped, second);
    assert_int_equal(cu.context_release(1), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_pop(&first), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
}

static void
names_that_no_call_has_are_reported(void **state)
{
    (void)state;
    emu_begin_in_context("");
    emu.fail_call("cuNothing", 1, 0);
    emu_end_with_reports(1);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nth_call_fails_once),
        cmocka_unit_test(each_call_may_be_the_one),
        cmocka_unit_test(calls_are_counted),
        cmocka_unit_test(the_environment_says_it_too),
        cmocka_unit_test(what_gives_back_fails_after_it_did_so),
        cmocka_unit_test(a_lost_card_fails_until_its_context_ends),
        cmocka_unit_test(another_card_goes_on),
        cmocka_unit_test(names_that_no_call_has_are_reported),
    };

    return cmocka_run_group_tests_name("failures of the emulated driver", tests,
                                       emu_open, NULL);
}
