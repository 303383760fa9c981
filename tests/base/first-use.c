/* SPDX-License-Identifier: MIT */
/*
 * tests/base/first-use.c - many threads, and children, use the library first.
 *
 * Each case runs in a child that was forked before anything of the library was
 * used.  What is looked for is found best by ThreadSanitizer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/base/env.h"
#include "lib/base/log.h"
#include "lib/base/status.h"

#include "ggmlbackend.h"

#include "tests/util/child.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS 8

static struct gb_child child;

/* Start FN in many threads and wait for all of them. */
static void
run_threads(void *(*fn)(void *), void *data)
{
    pthread_t threads[N_THREADS];

    for (int i = 0; i < N_THREADS; i++) {
        if (pthread_create(&threads[i], NULL, fn, data) != 0)
            abort();
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *
read_environment(void *data)
{
    (void)data;
    if (strcmp(gb_env_string(GB_ENV_CPU_LEVEL), "generic") != 0)
        abort();
    gb_env_int(GB_ENV_N_THREADS);
    return NULL;
}

static void
read_from_all(void)
{
    setenv("GGMLBACKEND_CPU_LEVEL", "generic", 1);
    setenv("GGMLBACKEND_N_THREADS", "none", 1);
    run_threads(read_environment, NULL);
}

static void
all_threads_see_one_environment(void **state)
{
    (void)state;
    gb_child_run(read_from_all, &child);
    assert_true(child.is_done);
    assert_string_equal(
        child.errors, "GGMLBACKEND_N_THREADS: 'none' is no number, using 0\n");
}

static void *
log_one(void *data)
{
    (void)data;
    gb_log(GGML_LOG_LEVEL_WARN, "one");
    gb_log(GGML_LOG_LEVEL_DEBUG, "not this");
    return NULL;
}

static void
log_from_all(void)
{
    unsetenv("GGMLBACKEND_LOG");
    run_threads(log_one, NULL);
}

static void
all_threads_log_whole_lines(void **state)
{
    (void)state;
    gb_child_run(log_from_all, &child);
    assert_true(child.is_done);
    assert_string_equal(child.errors,
                        "one\none\none\none\none\none\none\none\n");
}

static void
count(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)level;
    (void)text;
    (void)user_data;
}

static void
ignore(const char *reason, void *user_data)
{
    (void)reason;
    (void)user_data;
}

static void *
set_and_use(void *data)
{
    for (int i = 0; i < 100; i++) {
        ggml_log_set(count, data);
        ggmlbackend_set_precondition_hook(ignore, data);
        gb_precondition("thread %d", i);
    }
    return NULL;
}

static void
set_from_all(void)
{
    run_threads(set_and_use, NULL);
}

static void
sinks_and_hooks_may_be_set_by_any_thread(void **state)
{
    (void)state;
    gb_child_run(set_from_all, &child);
    assert_true(child.is_done);
    assert_string_equal(child.errors, "");
}

static void *
make_contexts(void *data)
{
    const struct ggml_init_params params = { .mem_size = 4096 };

    (void)data;
    for (int i = 0; i < 100; i++) {
        struct ggml_context *ctx = ggml_init(params);

        if (ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4) == NULL)
            abort();
        ggml_free(ctx);
    }
    return NULL;
}

static void
init_from_all(void)
{
    run_threads(make_contexts, NULL);
}

static void
contexts_are_made_by_any_thread(void **state)
{
    (void)state;
    gb_child_run(init_from_all, &child);
    assert_true(child.is_done);
    assert_string_equal(child.errors, "");
}

/* Forked before first use, both sides use the library for the first time. */
static void
fork_first(void)
{
    const pid_t pid = fork();
    int status = 0;

    setenv("GGMLBACKEND_CPU_LEVEL", "generic", 1);
    read_environment(NULL);
    make_contexts(NULL);
    if (pid == 0)
        _exit(0);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        abort();
}

static void
a_fork_before_first_use_harms_nobody(void **state)
{
    (void)state;
    gb_child_run(fork_first, &child);
    assert_true(child.is_done);
    assert_string_equal(child.errors, "");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_see_one_environment),
        cmocka_unit_test(all_threads_log_whole_lines),
        cmocka_unit_test(sinks_and_hooks_may_be_set_by_any_thread),
        cmocka_unit_test(contexts_are_made_by_any_thread),
        cmocka_unit_test(a_fork_before_first_use_harms_nobody),
    };

    return cmocka_run_group_tests_name("first use", tests, NULL, NULL);
}
