/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/threads.c - the emulated driver is called by several threads.
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

enum { N_THREADS = 4, N_ROUNDS = 200, SIZE = 1000 };

/* Writes, copies and reads in a stream of its own; how many calls failed. */
static int
work(int number)
{
    gb_cuda_stream stream;
    gb_cuda_address memory;
    unsigned char data[SIZE];
    int n = 0;

    n += cu.stream_create(&stream, GB_CUDA_STREAM_NON_BLOCKING) != 0;
    n += cu.memory_alloc(&memory, SIZE) != 0;
    n += cu.fill(memory, (unsigned char)number, SIZE, stream) != 0;
    n += cu.copy_to_host(data, memory, SIZE, stream) != 0;
    n += data[0] != number || data[SIZE - 1] != number;
    n += cu.memory_free(memory) != 0;
    n += cu.stream_destroy(stream) != 0;
    return n;
}

static void *
work_often(void *failures)
{
    const int number = *(const int *)failures;
    gb_cuda_context context, popped;
    int n = 0;

    n += cu.context_retain(&context, 0) != 0;
    n += cu.context_push(context) != 0;
    for (int i = 0; i < N_ROUNDS; i++)
        n += work(number);
    n += cu.context_pop(&popped) != 0;
    n += popped != context;
    n += cu.context_release(0) != 0;
    *(int *)failures = n;
    return NULL;
}

static void
threads_do_not_disturb_each_other(void **state)
{
    pthread_t threads[N_THREADS];
    int failures[N_THREADS];

    (void)state;
    emu_begin_in_context("");
    for (int i = 0; i < N_THREADS; i++) {
        failures[i] = i + 1;
        assert_int_equal(
            pthread_create(&threads[i], NULL, work_often, &failures[i]), 0);
    }
    for (int i = 0; i < N_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(failures[i], 0);
    }
    assert_int_equal(emu.calls("cuStreamCreate"), N_THREADS * N_ROUNDS);
    assert_int_equal(emu.live(), 0);
    emu_end();
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_disturb_each_other),
    };

    return cmocka_run_group_tests_name("threads in the emulated driver", tests,
                                       emu_open, NULL);
}
