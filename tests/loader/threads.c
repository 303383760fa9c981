/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/threads.c - modules come and go while other threads look around.
 */
#include "tests/loader/in-child.h"

#include "tests/backend/fake.h"
#include "tests/loader/folder.h"

#include "ggmlbackend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define N_READERS 3
#define N_LOADERS 2
#define N_ROUNDS  200

static atomic_int n_loading;
static const char *good, *weighed, *older;

/* Whatever happens, the CPU is there, and what was found can be used. */
static void *
look_around(void *data)
{
    (void)data;
    while (atomic_load(&n_loading) > 0) {
        const size_t n = ggml_backend_dev_count();
        ggml_backend_dev_t cpu = ggml_backend_dev_by_name("CPU");

        check(cpu != NULL && n >= 1 && n <= 1 + N_LOADERS);
        check(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) == cpu);
        check(ggml_backend_reg_by_name("CPU") != NULL);
        for (size_t i = 0; i < n; i++) {
            ggml_backend_dev_t device = ggml_backend_dev_get(i);
            ggml_backend_reg_t reg;

            /* It may have been unloaded in between. */
            if (device == NULL)
                continue;
            reg = ggml_backend_dev_backend_reg(device);
            check(strcmp(ggml_backend_dev_name(device),
                         ggml_backend_reg_name(reg)) == 0);
            ggmlbackend_module_path(reg);
        }
    }
    return NULL;
}

static void *
load_and_unload(void *data)
{
    for (int i = 0; i < N_ROUNDS; i++) {
        ggml_backend_reg_t reg = ggml_backend_load(data);

        check(reg != NULL);
        check(ggml_backend_dev_by_name(ggml_backend_reg_name(reg)) ==
              ggml_backend_reg_dev_get(reg, 0));
        ggml_backend_unload(reg);
        check(ggml_backend_load(older) == NULL);
    }
    atomic_fetch_sub(&n_loading, 1);
    return NULL;
}

static void
run_loaders_and_readers(void)
{
    const char *const paths[N_LOADERS] = { good, weighed };
    pthread_t readers[N_READERS], loaders[N_LOADERS];

    atomic_store(&n_loading, N_LOADERS);
    for (int i = 0; i < N_READERS; i++)
        check(pthread_create(&readers[i], NULL, look_around, NULL) == 0);
    for (int i = 0; i < N_LOADERS; i++)
        check(pthread_create(&loaders[i], NULL, load_and_unload,
                             (void *)paths[i]) == 0);
    for (int i = 0; i < N_LOADERS; i++)
        check(pthread_join(loaders[i], NULL) == 0);
    for (int i = 0; i < N_READERS; i++)
        check(pthread_join(readers[i], NULL) == 0);
    check(ggml_backend_reg_count() == 1 && ggml_backend_dev_count() == 1);
    check(ggmlbackend_refused_count() == 1);
}

static void
devices_may_be_listed_while_modules_come_and_go(void **state)
{
    (void)state;
    run_in_child(run_loaders_and_readers);
}

static void *
load_good(void *data)
{
    (void)data;
    return ggml_backend_load(good);
}

static void
load_at_once(void)
{
    pthread_t threads[N_READERS];

    for (int i = 0; i < N_READERS; i++)
        check(pthread_create(&threads[i], NULL, load_good, NULL) == 0);
    for (int i = 0; i < N_READERS; i++) {
        void *reg;

        check(pthread_join(threads[i], &reg) == 0);
        check(reg != NULL && reg == ggml_backend_reg_by_name("Good"));
    }
    check(ggml_backend_reg_count() == 2 && ggml_backend_dev_count() == 2);
}

static void
threads_that_load_one_module_get_one_registration(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        run_in_child(load_at_once);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_may_be_listed_while_modules_come_and_go),
        cmocka_unit_test(threads_that_load_one_module_get_one_registration),
    };

    /* That modules are refused, and lists get shorter, is not to be read. */
    setenv("GGMLBACKEND_LOG", "none", 1);
    good = module_path("good");
    weighed = module_path("weighed");
    older = module_path("older");
    return cmocka_run_group_tests_name("modules and threads", tests, NULL,
                                       NULL);
}
