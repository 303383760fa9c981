/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/contexts.c - contexts of the emulated driver: who retains them,
 * which one is current, what ends with them.
 */
#include "config.h"

#include "tests/gpu-emulator/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

static void
nothing_works_before_init(void **state)
{
    gb_cuda_context context;
    int count, version = 0;

    (void)state;
    emu.restart();
    assert_int_equal(cu.device_count(&count), GB_CUDA_NOT_INITIALIZED);
    assert_int_equal(cu.context_retain(&context, 0), GB_CUDA_NOT_INITIALIZED);
    assert_int_equal(cu.version(&version), GB_CUDA_SUCCESS);
    assert_int_equal(version, 13000);
}

static void
a_context_lives_while_it_is_retained(void **state)
{
    gb_cuda_context first, again, later;

    (void)state;
    emu_begin("");
    assert_int_equal(cu.context_push(NULL), GB_CUDA_INVALID_CONTEXT);
    assert_int_equal(cu.context_retain(&first, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_retain(&again, 0), GB_CUDA_SUCCESS);
    assert_ptr_equal(first, again);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_push(first), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_pop(&again), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_push(first), GB_CUDA_INVALID_CONTEXT);
    assert_int_equal(cu.context_retain(&later, 0), GB_CUDA_SUCCESS);
    assert_ptr_not_equal(first, later);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
}

static void
calls_need_a_current_context(void **state)
{
    gb_cuda_context context, popped;
    gb_cuda_address memory;
    gb_cuda_stream stream;
    size_t free, total;

    (void)state;
    emu_begin("");
    assert_int_equal(cu.context_retain(&context, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_info(&free, &total), GB_CUDA_INVALID_CONTEXT);
    assert_int_equal(cu.memory_alloc(&memory, 1), GB_CUDA_INVALID_CONTEXT);
    assert_int_equal(cu.stream_create(&stream, 0), GB_CUDA_INVALID_CONTEXT);
    assert_int_equal(cu.context_push(context), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_info(&free, &total), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_pop(&popped), GB_CUDA_SUCCESS);
    assert_ptr_equal(popped, context);
    assert_int_equal(cu.context_pop(&popped), GB_CUDA_INVALID_CONTEXT);
    assert_int_equal(cu.memory_info(&free, &total), GB_CUDA_INVALID_CONTEXT);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
}

static void
contexts_are_stacked(void **state)
{
    gb_cuda_context contexts[2], popped;
    size_t free, total;

    (void)state;
    emu_begin("DEVICES=2 MEMORY=1000,2000");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cu.context_retain(&contexts[i], i), GB_CUDA_SUCCESS);
        assert_int_equal(cu.context_push(contexts[i]), GB_CUDA_SUCCESS);
    }
    assert_int_equal(cu.memory_info(&free, &total), GB_CUDA_SUCCESS);
    assert_int_equal(total, 2000);
    assert_int_equal(cu.context_pop(&popped), GB_CUDA_SUCCESS);
    assert_ptr_equal(popped, contexts[1]);
    assert_int_equal(cu.memory_info(&free, &total), GB_CUDA_SUCCESS);
    assert_int_equal(total, 1000);
    assert_int_equal(cu.context_release(1), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_pop(&popped), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
}

static void *
ask_without_context(void *result)
{
    size_t free, total;

    *(int *)result = cu.memory_info(&free, &total);
    return NULL;
}

static void
each_thread_has_its_own_current_one(void **state)
{
    pthread_t thread;
    int result = -1;

    (void)state;
    emu_begin_in_context("");
    assert_int_equal(
        pthread_create(&thread, NULL, ask_without_context, &result), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(result, GB_CUDA_INVALID_CONTEXT);
    emu_end();
}

static void
a_forked_child_gets_failures(void **state)
{
    int status;
    pid_t child;

    (void)state;
    emu_begin_in_context("");
    child = fork();
    if (child == 0) {
        size_t free, total;
        int count;

        _exit(cu.init(0) != GB_CUDA_NOT_INITIALIZED ||
              cu.device_count(&count) != GB_CUDA_NOT_INITIALIZED ||
              cu.context_release(0) != GB_CUDA_NOT_INITIALIZED ||
              cu.memory_info(&free, &total) != GB_CUDA_NOT_INITIALIZED);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    emu_end();
}

static bool is_asked_at_the_end;

static void
ask_at_the_end(void)
{
    int count;

    if (is_asked_at_the_end)
        _exit(cu.device_count(&count) == GB_CUDA_DEINITIALIZED ? 7 : 8);
}

static void
nothing_works_when_the_process_ends(void **state)
{
    int status;
    pid_t child;

    (void)state;
    emu.restart();
    child = fork();
    if (child == 0) {
        is_asked_at_the_end = true;
        exit(cu.init(0));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

static void
objects_that_are_left_are_reported_and_end(void **state)
{
    gb_cuda_stream stream;

    (void)state;
    emu_begin_in_context("");
    emu_memory(100);
    stream = emu_stream();
    assert_int_equal(emu.live(), 2);
    emu_end_with_reports(1);
    assert_int_equal(emu.live(), 0);
    assert_int_equal(emu.memory_used(0), 0);

    emu_begin_in_context("");
    assert_int_equal(cu.stream_query(stream), GB_CUDA_INVALID_HANDLE);
    emu_end_with_reports(1);
}

static void
one_release_too_many_is_reported(void **state)
{
    (void)state;
    emu_begin_in_context("");
    emu_end();
    assert_int_equal(cu.context_release(0), GB_CUDA_INVALID_CONTEXT);
}

static void
a_card_that_nobody_may_use_has_no_context(void **state)
{
    gb_cuda_context context;
    int mode;

    (void)state;
    emu_begin("COMPUTE_MODE=2");
    assert_int_equal(cu.device_attribute(&mode, GB_CUDA_COMPUTE_MODE, 0),
                     GB_CUDA_SUCCESS);
    assert_int_equal(mode, 2);
    assert_int_equal(cu.context_retain(&context, 0), GB_CUDA_UNKNOWN);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_works_before_init),
        cmocka_unit_test(a_context_lives_while_it_is_retained),
        cmocka_unit_test(calls_need_a_current_context),
        cmocka_unit_test(contexts_are_stacked),
        cmocka_unit_test(each_thread_has_its_own_current_one),
        cmocka_unit_test(a_forked_child_gets_failures),
        cmocka_unit_test(nothing_works_when_the_process_ends),
        cmocka_unit_test(objects_that_are_left_are_reported_and_end),
        cmocka_unit_test(one_release_too_many_is_reported),
        cmocka_unit_test(a_card_that_nobody_may_use_has_no_context),
    };

    /* Before the driver's own, so that it is called after that. */
    atexit(ask_at_the_end);
    return cmocka_run_group_tests_name("contexts of the emulated driver", tests,
                                       emu_open, NULL);
}
