/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/registry.c - which backends and devices there are.
 *
 * Each case runs in a child of its own, where nobody has used the registry
 * before.
 */
#include "tests/loader/in-child.h"

#include "tests/backend/fake.h"
#include "tests/util/fault.h"

#include "lib/loader/module.h"
#include "lib/loader/registry.h"

#include "ggmlbackend.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_THREADS 16

static void
look_around(void)
{
    ggml_backend_reg_t reg = ggml_backend_reg_by_name("cPu");
    ggml_backend_dev_t device = ggml_backend_dev_by_name("cpu");

    check(ggml_backend_reg_count() == 1);
    check(ggml_backend_dev_count() == 1);
    check(reg != NULL && reg == ggml_backend_reg_get(0));
    check(device != NULL && device == ggml_backend_dev_get(0));
    check(strcmp(ggml_backend_reg_name(reg), "CPU") == 0);
    check(strcmp(ggml_backend_dev_name(device), "CPU") == 0);
    check(device == ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
    check(ggml_backend_dev_backend_reg(device) == reg);
    check(!fake_failed());
}

static void
the_cpu_is_there_without_any_call_before(void **state)
{
    (void)state;
    run_in_child(look_around);
}

static void
look_for_what_is_not_there(void)
{
    check(ggml_backend_reg_by_name("CP") == NULL);
    check(ggml_backend_dev_by_name("CPU0") == NULL);
    check(ggml_backend_dev_by_name("") == NULL);
    check(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_ACCEL) == NULL);
    check(ggml_backend_init_by_name("none", NULL) == NULL);
    check(ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_GPU, NULL) ==
          NULL);
    check(!fake_failed());
    check(ggml_backend_reg_get(1) == NULL && fake_failed());
    check(ggml_backend_dev_get(SIZE_MAX) == NULL && fake_failed());
    check(ggml_backend_reg_by_name(NULL) == NULL && fake_failed());
    check(ggml_backend_dev_by_name(NULL) == NULL && fake_failed());
    check(ggml_backend_init_by_name(NULL, NULL) == NULL && fake_failed());
}

static void
what_is_not_there_is_null(void **state)
{
    (void)state;
    run_in_child(look_for_what_is_not_there);
}

static void
register_some(void)
{
    static struct fake fakes[10];
    static char names[10][8];

    ggml_backend_register(NULL);
    for (int i = 0; i < 10; i++) {
        strcpy(names[i], "Fake0");
        names[i][4] = (char)('0' + i);
        fake_init(&fakes[i], names[i]);
        ggml_backend_register(&fakes[i].reg);
        ggml_backend_register(&fakes[i].reg);
    }
    check(ggml_backend_reg_count() == 11);
    check(ggml_backend_dev_count() == 11);
    check(ggml_backend_reg_get(0) == ggml_backend_reg_by_name("CPU"));
    for (int i = 0; i < 10; i++) {
        check(ggml_backend_reg_get((size_t)i + 1) == &fakes[i].reg);
        check(ggml_backend_dev_by_name(names[i]) == &fakes[i].device);
    }
    check(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) ==
          &fakes[0].device);
}

static void
registrations_are_kept_in_order_and_once(void **state)
{
    (void)state;
    run_in_child(register_some);
}

static void
register_device(void)
{
    static struct fake fake;

    fake_init(&fake, "Fake0");
    ggml_backend_device_register(&fake.device);
    ggml_backend_device_register(&fake.device);
    check(ggml_backend_dev_count() == 2);
    check(ggml_backend_reg_count() == 1);
    check(!fake_failed());
    ggml_backend_device_register(NULL);
    check(fake_failed());
    ggml_backend_register(&fake.reg);
    check(ggml_backend_reg_count() == 2);
    check(ggml_backend_dev_count() == 2);
}

static void
a_device_may_come_without_a_registration(void **state)
{
    (void)state;
    run_in_child(register_device);
}

static void
make_backends(void)
{
    static struct fake fake;
    ggml_backend_t backend;

    backend = ggml_backend_init_best();
    check(strcmp(ggml_backend_name(backend), "CPU") == 0);
    ggml_backend_free(backend);
    backend = ggml_backend_init_by_name("CPU", NULL);
    check(backend != NULL);
    ggml_backend_free(backend);
    backend = ggml_backend_init_by_type(GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    check(backend != NULL);
    ggml_backend_free(backend);

    fake_init(&fake, "Fake0");
    ggml_backend_register(&fake.reg);
    backend = ggml_backend_init_best();
    check(ggml_backend_get_device(backend) == &fake.device);
    ggml_backend_free(backend);
}

static void
the_best_backend_is_a_gpu_or_else_the_cpu(void **state)
{
    (void)state;
    run_in_child(make_backends);
}

/* All threads begin together, each with another question. */
static pthread_barrier_t start;
static struct fake thread_fakes[N_THREADS];

static void *
use_first(void *data)
{
    struct fake *fake = data;

    pthread_barrier_wait(&start);
    switch ((fake - thread_fakes) % 4) {
    case 0:
        check(ggml_backend_reg_count() >= 1);
        break;
    case 1:
        check(ggml_backend_dev_by_name("CPU") != NULL);
        break;
    case 2:
        ggml_backend_register(&fake->reg);
        break;
    default:
        check(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU) != NULL);
    }
    check(ggml_backend_reg_get(0) == ggml_backend_reg_by_name("CPU"));
    return NULL;
}

static void
run_threads(void)
{
    pthread_t threads[N_THREADS];

    check(pthread_barrier_init(&start, NULL, N_THREADS) == 0);
    for (int i = 0; i < N_THREADS; i++) {
        fake_init(&thread_fakes[i], "Fake0");
        check(pthread_create(&threads[i], NULL, use_first, &thread_fakes[i]) ==
              0);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    check(ggml_backend_reg_count() == 1 + N_THREADS / 4);
    check(ggml_backend_dev_count() == 1 + N_THREADS / 4);
}

static void
many_threads_may_be_first(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        run_in_child(run_threads);
}

static void
fork_first(void)
{
    const pid_t pid = fork();
    int status;

    if (pid == 0) {
        look_around();
        _exit(0);
    }
    look_around();
    check(waitpid(pid, &status, 0) == pid && status == 0);
}

static void
a_fork_before_the_first_use_does_no_harm(void **state)
{
    (void)state;
    run_in_child(fork_first);
}

static void
ask_for_count(void *data)
{
    size_t count;

    (void)data;
    count = ggml_backend_dev_count();
    if (count == 0)
        check(gb_fault_happened() && fake_failed());
    else
        check(count == 1 && ggml_backend_reg_count() == 1);
}

static void
begin_without_memory(void)
{
    check(gb_fault_each(ask_for_count, NULL) >= 2);
    look_around();
}

static void
register_without_memory(void *data)
{
    struct fake *fake = data;

    ggml_backend_register(&fake->reg);
    ggml_backend_device_register(&fake->device);
    check(fake_failed() == gb_fault_happened());
}

static void
fill_without_memory(void)
{
    static struct fake fakes[20];

    check(ggml_backend_reg_count() == 1);
    for (int i = 0; i < 20; i++) {
        fake_init(&fakes[i], "Fake0");
        gb_fault_each(register_without_memory, &fakes[i]);
    }
    check(ggml_backend_reg_count() == 21);
    check(ggml_backend_dev_count() == 21);
}

static void
register_device_without_memory(void *data)
{
    struct fake *fake = data;

    ggml_backend_device_register(&fake->device);
    check(fake_failed() == gb_fault_happened());
}

static void
fill_with_devices_without_memory(void)
{
    static struct fake fakes[20];
    int n_failed = 0;

    check(ggml_backend_dev_count() == 1);
    for (int i = 0; i < 20; i++) {
        fake_init(&fakes[i], "Fake0");
        n_failed +=
            gb_fault_each(register_device_without_memory, &fakes[i]);
    }
    check(n_failed >= 2);
    check(ggml_backend_dev_count() == 21);
    check(ggml_backend_reg_count() == 1);
}

static void
what_there_was_no_memory_for_comes_with_the_next_call(void **state)
{
    (void)state;
    run_in_child(begin_without_memory);
    run_in_child(fill_without_memory);
    run_in_child(fill_with_devices_without_memory);
}

static size_t
two_devices(ggml_backend_reg_t reg)
{
    (void)reg;
    return 2;
}

static struct fake half;

static ggml_backend_dev_t
second_device_only(ggml_backend_reg_t reg, size_t index)
{
    (void)reg;
    return index == 1 ? &half.device : NULL;
}

static void
register_half(void)
{
    fake_init(&half, "Fake0");
    half.reg.iface.get_device_count = two_devices;
    half.reg.iface.get_device = second_device_only;
    ggml_backend_register(&half.reg);
    check(ggml_backend_reg_count() == 2);
    check(ggml_backend_dev_count() == 2);
    check(ggml_backend_dev_get(1) == &half.device);
}

static void
a_device_that_does_not_come_up_is_passed_over(void **state)
{
    (void)state;
    run_in_child(register_half);
}

/* ---- modules, whose handles are any addresses ---- */

static enum gb_registry_answer
add_module(char *handle, struct fake *fake)
{
    char reason[GB_REASON_SIZE];

    return gb_registry_add_module(handle, "/a/module.so", &fake->reg, reason);
}

static void
add_modules(void)
{
    static struct fake fakes[3];
    static char handles[2];

    for (int i = 0; i < 3; i++)
        fake_init(&fakes[i], i == 1 ? "Fake1" : "Fake0");
    check(gb_registry_loaded(&handles[0]) == NULL);
    check(add_module(&handles[0], &fakes[0]) == GB_REGISTRY_ADDED);
    check(gb_registry_loaded(&handles[0]) == &fakes[0].reg);
    /* Its own again is as good; what another gave is not. */
    check(add_module(&handles[0], &fakes[0]) == GB_REGISTRY_ADDED);
    check(add_module(&handles[1], &fakes[0]) == GB_REGISTRY_OF_ANOTHER);
    check(add_module(&handles[1], &fakes[2]) == GB_REGISTRY_NAME_TAKEN);
    /* Nobody's module gave what the program registered itself. */
    ggml_backend_register(&fakes[1].reg);
    check(ggmlbackend_module_path(&fakes[1].reg) == NULL);
    check(add_module(&handles[1], &fakes[1]) == GB_REGISTRY_ADDED);
    check(strcmp(ggmlbackend_module_path(&fakes[1].reg), "/a/module.so") == 0);
    check(ggml_backend_reg_count() == 3);
}

static void
a_registration_belongs_to_one_module(void **state)
{
    (void)state;
    run_in_child(add_modules);
}

struct adding {
    char handle;
    struct fake fake;
};

static void
add_module_without_memory(void *data)
{
    struct adding *adding = data;
    const enum gb_registry_answer answer =
        add_module(&adding->handle, &adding->fake);

    check(answer == (gb_fault_happened() ? GB_REGISTRY_NO_MEMORY
                                         : GB_REGISTRY_ADDED));
    check((gb_registry_loaded(&adding->handle) == &adding->fake.reg) ==
          (answer == GB_REGISTRY_ADDED));
    fake_failed();
}

static void
fill_with_modules(void)
{
    static struct adding all[12];

    check(ggml_backend_reg_count() == 1);
    for (int i = 0; i < 12; i++) {
        static char names[12][8];

        snprintf(names[i], sizeof(names[i]), "Fake%d", i);
        fake_init(&all[i].fake, names[i]);
        check(gb_fault_each(add_module_without_memory, &all[i]) >= 2);
    }
    check(ggml_backend_reg_count() == 13);
}

static void
refuse_without_memory(void *data)
{
    const size_t n = ggmlbackend_refused_count();

    gb_registry_refuse(data, "for a reason");
    check(ggmlbackend_refused_count() == n + !gb_fault_happened());
    fake_failed();
}

static void
fill_with_refused(void)
{
    struct ggmlbackend_refused_module module;
    int n_failed = 0;

    check(ggml_backend_reg_count() == 1);
    for (int i = 0; i < 12; i++) {
        char path[8];

        snprintf(path, sizeof(path), "/%d.so", i);
        n_failed += gb_fault_each(refuse_without_memory, path);
        gb_registry_refuse(path, "for a reason"); /* that is known */
    }
    check(n_failed >= 12 + 2);
    check(ggmlbackend_refused_count() == 12);
    check(ggmlbackend_refused_get(11, &module));
    check(strcmp(module.path, "/11.so") == 0);
}

static void
without_memory_a_module_is_neither_added_nor_remembered(void **state)
{
    (void)state;
    run_in_child(fill_with_modules);
    run_in_child(fill_with_refused);
}

static void
no_module_was_refused(void **state)
{
    struct ggmlbackend_refused_module module;

    (void)state;
    assert_int_equal(ggmlbackend_refused_count(), 0);
    assert_false(ggmlbackend_refused_get(0, &module));
    assert_false(ggmlbackend_refused_get(0, NULL));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cpu_is_there_without_any_call_before),
        cmocka_unit_test(what_is_not_there_is_null),
        cmocka_unit_test(registrations_are_kept_in_order_and_once),
        cmocka_unit_test(a_device_may_come_without_a_registration),
        cmocka_unit_test(the_best_backend_is_a_gpu_or_else_the_cpu),
        cmocka_unit_test(many_threads_may_be_first),
        cmocka_unit_test(a_fork_before_the_first_use_does_no_harm),
        cmocka_unit_test(what_there_was_no_memory_for_comes_with_the_next_call),
        cmocka_unit_test(a_device_that_does_not_come_up_is_passed_over),
        cmocka_unit_test(a_registration_belongs_to_one_module),
        cmocka_unit_test(
            without_memory_a_module_is_neither_added_nor_remembered),
        cmocka_unit_test(no_module_was_refused),
    };

    return cmocka_run_group_tests_name("registry", tests, NULL, NULL);
}
