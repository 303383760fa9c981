/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/builtin.c - backends that are part of the library, and ask the
 * registry while it asks them.
 *
 * The list of such backends is this file's: it stands in for lib/loader/builtin.c.
 */
#include "tests/loader/in-child.h"

#include "tests/backend/fake.h"

#include "lib/loader/registry.h"

#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include <pthread.h>
#include <unistd.h>

enum { N_THREADS = 8 };

static size_t n_seen; /* devices, by the second backend */

static void
look_around(void)
{
    n_seen = ggml_backend_dev_count();
    for (size_t i = 0; i < n_seen; i++)
        check(ggml_backend_dev_get(i) != NULL);
    check(ggml_backend_dev_by_name("none") == NULL);
}

/* As a backend does that asks a driver once. */
static ggml_backend_reg_t
ask_the_registry(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    alarm(60); /* who waits for himself waits for ever */
    pthread_once(&once, look_around);
    return ggmlbackend_not_here("the card is %s already", "another's");
}

size_t
gb_builtin_count(void)
{
    return 3;
}

ggml_backend_reg_t
gb_builtin_reg(size_t index)
{
    return index == 1 ? ask_the_registry() : ggml_backend_cpu_reg();
}

const char *
gb_builtin_name(size_t index)
{
    static const char *const names[] = { "cpu", "asking", "cpu" };

    return names[index];
}

static void
count_devices(void)
{
    check(ggml_backend_dev_count() == 1);
    check(n_seen == 1); /* of the backend before it */
    check(ggml_backend_reg_count() == 1);
    check(!fake_failed());
}

static void
a_backend_finds_those_before_it(void **state)
{
    (void)state;
    run_in_child(count_devices);
}

static void *
count_in_thread(void *data)
{
    (void)data;
    count_devices();
    return NULL;
}

static void
count_in_threads(void)
{
    pthread_t threads[N_THREADS];

    for (int i = 0; i < N_THREADS; i++)
        check(pthread_create(&threads[i], NULL, count_in_thread, NULL) == 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void
threads_that_ask_at_once_all_get_the_whole(void **state)
{
    (void)state;
    run_in_child(count_in_threads);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backend_finds_those_before_it),
        cmocka_unit_test(threads_that_ask_at_once_all_get_the_whole),
    };

    return cmocka_run_group_tests_name("built-in backends", tests, NULL, NULL);
}
