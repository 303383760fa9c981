/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/reentry.c - backends, modules and log functions that ask the
 * registry, or load modules, while they are called.
 *
 * Each case runs in a child of its own, which a deadlock ends by SIGALRM.
 */
#include "tests/loader/in-child.h"

#include "tests/backend/fake.h"
#include "tests/loader/folder.h"

#include "ggmlbackend.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_S 30

static void
set_limit(void)
{
    alarm(LIMIT_S);
}

/* All that the registry can be asked, whatever it answers. */
static void
ask_all(void)
{
    const enum ggml_backend_dev_type type = GGML_BACKEND_DEVICE_TYPE_CPU;
    ggml_backend_reg_t cpu = ggml_backend_reg_by_name("CPU");

    check(cpu != NULL && ggml_backend_dev_by_type(type) != NULL);
    check(ggml_backend_reg_count() > 0 && ggml_backend_reg_get(0) == cpu);
    check(ggml_backend_dev_count() > 0 && ggml_backend_dev_get(0) != NULL);
    check(ggml_backend_dev_by_name("none") == NULL);
    check(ggmlbackend_module_path(cpu) == NULL);
    check(ggmlbackend_refused_count() == 0);
    ggml_backend_unload(NULL);
}

/* ---- a backend that asks in each of its functions ---- */

static struct fake curious, whole;
static int n_asked;

static void
ask_again(void)
{
    n_asked++;
    ask_all();
}

static const char *
curious_reg_name(ggml_backend_reg_t reg)
{
    ask_again();
    return whole.reg.iface.get_name(reg);
}

static size_t
curious_reg_count(ggml_backend_reg_t reg)
{
    ask_again();
    return whole.reg.iface.get_device_count(reg);
}

static ggml_backend_dev_t
curious_reg_device(ggml_backend_reg_t reg, size_t index)
{
    ask_again();
    return whole.reg.iface.get_device(reg, index);
}

static const char *
curious_device_name(ggml_backend_dev_t device)
{
    ask_again();
    return whole.device.iface.get_name(device);
}

static enum ggml_backend_dev_type
curious_device_type(ggml_backend_dev_t device)
{
    ask_again();
    return whole.device.iface.get_type(device);
}

static void
make_curious(void)
{
    set_limit();
    fake_init(&whole, "Whole");
    fake_init(&curious, "Curious");
    curious.reg.iface.get_name = curious_reg_name;
    curious.reg.iface.get_device_count = curious_reg_count;
    curious.reg.iface.get_device = curious_reg_device;
    curious.device.iface.get_name = curious_device_name;
    curious.device.iface.get_type = curious_device_type;
}

static void
look_for_curious(void)
{
    check(n_asked > 0);
    check(ggml_backend_dev_by_name("curious") == &curious.device);
    check(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU) ==
          &curious.device);
    check(ggml_backend_dev_count() == 2);
    check(!fake_failed());
}

static void
register_curious(void)
{
    make_curious();
    ggml_backend_register(&curious.reg);
    look_for_curious();
    check(ggml_backend_reg_by_name("CURIOUS") == &curious.reg);
    check(ggml_backend_reg_count() == 2);
    ggml_backend_unload(&curious.reg);
    check(ggml_backend_dev_count() == 1 && ggml_backend_reg_count() == 1);
}

static void
register_curious_device(void)
{
    make_curious();
    ggml_backend_device_register(&curious.device);
    look_for_curious();
}

static void
a_backend_may_ask_while_it_is_asked(void **state)
{
    (void)state;
    run_in_child(register_curious);
    run_in_child(register_curious_device);
}

/* ---- modules that load modules ---- */

static const char *greedy;
static int n_told_no;

static void
count_told_no(enum ggml_log_level level, const char *text, void *data)
{
    (void)level, (void)data;
    n_told_no += strstr(text, "is loading a module already") != NULL;
}

/* Its loads are refused, and it is loaded itself. */
static void
load_greedy(void)
{
    set_limit();
    ggml_log_set(count_told_no, NULL);
    check(ggml_backend_load(module_path(greedy)) != NULL);
    check(ggml_backend_reg_count() == 2 && ggml_backend_dev_count() == 2);
    check(ggml_backend_reg_by_name("Greedy") != NULL);
    check(n_told_no == 1 && ggmlbackend_refused_count() == 0);
    /* When it is there, others may be loaded again. */
    ggml_backend_load_all_from_path(TEST_MODULE_DIR);
    check(n_told_no == 1);
}

static void
a_module_that_loads_modules_is_told_no(void **state)
{
    static const char *const names[] = {
        "greedy_init", "greedy_search", "greedy_start"
    };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        greedy = names[i];
        run_in_child(load_greedy);
    }
}

/* ---- log functions ---- */

static int n_tries, n_loaded;

/* Messages of its own loads are passed over. */
static void
load_and_log(enum ggml_log_level level, const char *text, void *data)
{
    static bool is_busy;

    (void)level, (void)text;
    if (is_busy)
        return;
    is_busy = true;
    n_tries++;
    n_loaded += ggml_backend_load(data) != NULL;
    ask_all();
    is_busy = false;
}

static void
load_from_log(void)
{
    set_limit();
    ggml_log_set(load_and_log, (void *)module_path("good"));
    check(ggml_backend_load(module_path("weighed")) != NULL);
    check(n_tries == 1 && n_loaded == 0);
    check(ggml_backend_reg_by_name("Good") == NULL);
    /* After that call it may. */
    check(ggml_backend_reg_get(1000) == NULL);
    check(n_tries == 2 && n_loaded == 1);
    check(ggml_backend_reg_by_name("Good") != NULL);
}

static void
a_log_function_may_load_when_nothing_is_loaded(void **state)
{
    (void)state;
    run_in_child(load_from_log);
}

/* A client's own lock, which its log function takes as an interpreter does. */
static pthread_mutex_t client_lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_logging;

static void
log_with_lock(enum ggml_log_level level, const char *text, void *data)
{
    const pthread_t *owner = data;

    (void)level, (void)text;
    if (pthread_equal(pthread_self(), *owner))
        return;
    sem_post(&is_logging);
    pthread_mutex_lock(&client_lock);
    pthread_mutex_unlock(&client_lock);
}

static void *
load_weighed(void *data)
{
    (void)data;
    return ggml_backend_load(module_path("weighed"));
}

static void
load_with_lock(void)
{
    pthread_t self = pthread_self(), thread;
    void *reg;

    set_limit();
    check(sem_init(&is_logging, 0, 0) == 0);
    ggml_log_set(log_with_lock, &self);
    pthread_mutex_lock(&client_lock);
    check(pthread_create(&thread, NULL, load_weighed, NULL) == 0);
    sem_wait(&is_logging);
    check(ggml_backend_load(module_path("good")) != NULL);
    check(ggml_backend_load(module_path("weighed")) != NULL);
    pthread_mutex_unlock(&client_lock);
    check(pthread_join(thread, &reg) == 0 && reg != NULL);
    check(ggml_backend_reg_count() == 3);
}

static void
a_log_function_that_waits_stops_no_other_thread(void **state)
{
    (void)state;
    run_in_child(load_with_lock);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backend_may_ask_while_it_is_asked),
        cmocka_unit_test(a_module_that_loads_modules_is_told_no),
        cmocka_unit_test(a_log_function_may_load_when_nothing_is_loaded),
        cmocka_unit_test(a_log_function_that_waits_stops_no_other_thread),
    };

    return cmocka_run_group_tests_name("registry and modules, called again",
                                       tests, NULL, NULL);
}
