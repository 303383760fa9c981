/* SPDX-License-Identifier: MIT */
/*
 * tests/loader/fork.c - a process forks while its other threads are anywhere in
 * the library: the child can use it.
 *
 * A child that waits for a thread which it does not have is ended by SIGALRM.
 */
#include "tests/loader/in-child.h"

#include "tests/backend/fake.h"
#include "tests/util/sink.h"

#include "ggmlbackend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_FORKS   200
#define N_STARTS  20
#define LIMIT_S   20

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#endif

/*
 * ThreadSanitizer asks for it.  A child inherits the record of its parent's threads,
 * and one that had ended by then, unjoined, would be reported as a leak of the
 * child's, which cannot join it.
 */
const char *__tsan_default_options(void);

const char *
__tsan_default_options(void)
{
    return "report_thread_leaks=0";
}

static atomic_bool is_over;

static void
hook_nothing(const char *reason, void *data)
{
    (void)reason, (void)data;
}

/* What a child, and each thread, does with what is shared. */
static void
log_something(void)
{
    ggml_log_set(gb_sink_ignore, NULL);
    ggmlbackend_log(GGML_LOG_LEVEL_ERROR, "nothing %d\n", 1);
    ggmlbackend_set_precondition_hook(hook_nothing, NULL);
    check(ggml_backend_reg_get(SIZE_MAX) == NULL);
}

static void
list_devices(void)
{
    const size_t n = ggml_backend_dev_count();

    check(n >= 1 && ggml_backend_reg_by_name("CPU") != NULL);
    for (size_t i = 0; i < n; i++) {
        ggml_backend_dev_t device = ggml_backend_dev_get(i);
        struct ggml_backend_dev_props props;

        /* It may have been unloaded in between. */
        if (device == NULL)
            continue;
        ggml_backend_dev_get_props(device, &props);
        check(props.name != NULL && ggml_backend_dev_description(device));
    }
}

static void
quantize_something(void)
{
    float values[256], importance[256];
    char blocks[256];

    for (int i = 0; i < 256; i++) {
        values[i] = (float)(i % 7) - 3;
        importance[i] = 1;
    }
    check(ggml_quantize_chunk(GGML_TYPE_IQ2_XXS, values, blocks, 0, 1, 256,
                              importance) > 0);
}

static void *
keep_logging(void *data)
{
    (void)data;
    while (!atomic_load(&is_over))
        log_something();
    return NULL;
}

static void *
keep_listing(void *data)
{
    (void)data;
    while (!atomic_load(&is_over))
        list_devices();
    return NULL;
}

static void *
keep_registering(void *data)
{
    static struct fake fake;

    (void)data;
    fake_init(&fake, "Fake");
    while (!atomic_load(&is_over)) {
        ggml_backend_register(&fake.reg);
        ggml_backend_unload(&fake.reg);
    }
    return NULL;
}

static void (*const jobs[])(void) = {
    log_something, list_devices, quantize_something
};

#define N_JOBS (sizeof(jobs) / sizeof(jobs[0]))

/* The child does all that there is, and comes to its end. */
static void
fork_and_wait(void)
{
    const pid_t pid = fork();
    int status;

    check(pid >= 0);
    if (pid == 0) {
        alarm(LIMIT_S);
        for (size_t i = 0; i < N_JOBS; i++)
            jobs[i]();
        _exit(0);
    }
    check(waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status))
        fprintf(stderr, "the child was ended by signal %d\n", WTERMSIG(status));
    check(status == 0);
}

static void
fork_among_threads(void)
{
    static void *(*const runs[])(void *) = {
        keep_logging, keep_logging, keep_listing, keep_registering
    };
    enum { N_THREADS = sizeof(runs) / sizeof(runs[0]) };
    pthread_t threads[N_THREADS];

    quantize_something(); /* once, not in each child */
    for (int i = 0; i < N_THREADS; i++)
        check(pthread_create(&threads[i], NULL, runs[i], NULL) == 0);
    for (int i = 0; i < N_FORKS; i++)
        fork_and_wait();
    atomic_store(&is_over, true);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void
a_child_can_log_and_list_devices(void **state)
{
    (void)state;
    run_in_child(fork_among_threads);
}

/* ---- forks while things are done for the first and only time ---- */

static pthread_barrier_t start;

static void *
do_first(void *data)
{
    void (*const *job)(void) = data;

    pthread_barrier_wait(&start);
    (*job)();
    return NULL;
}

static void
fork_at_first_use(void)
{
    pthread_t threads[N_JOBS];

    check(pthread_barrier_init(&start, NULL, N_JOBS + 1) == 0);
    for (size_t i = 0; i < N_JOBS; i++)
        check(pthread_create(&threads[i], NULL, do_first, (void *)&jobs[i]) ==
              0);
    pthread_barrier_wait(&start);
    fork_and_wait();
    for (size_t i = 0; i < N_JOBS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
}

/*
 * Not with AddressSanitizer or ThreadSanitizer.  Their runtimes let a process fork while
 * another thread holds their allocator's lock, and the child's first malloc then waits
 * for ever.  Threads that start all ask for memory at once: a child hangs once in some
 * hundred forks with the first, and once in some thousand with the second.
 */
static void
a_child_may_be_born_in_the_middle_of_the_first_use(void **state)
{
    (void)state;
#if defined(HAS_SANITIZER)
    skip();
#endif
    for (int i = 0; i < N_STARTS; i++)
        run_in_child(fork_at_first_use);
}

/* ---- a fork from inside the library ---- */

static void
fork_in_log(enum ggml_log_level level, const char *text, void *data)
{
    int *n_forks = data;

    (void)level, (void)text;
    if (++*n_forks == 1)
        fork_and_wait();
}

static void
fork_from_log(void)
{
    int n_forks = 0;

    ggml_log_set(fork_in_log, &n_forks);
    check(ggml_backend_reg_get(SIZE_MAX) == NULL);
    check(n_forks == 1);
    list_devices();
}

static void
a_log_function_may_fork(void **state)
{
    (void)state;
    run_in_child(fork_from_log);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_can_log_and_list_devices),
        cmocka_unit_test(a_child_may_be_born_in_the_middle_of_the_first_use),
        cmocka_unit_test(a_log_function_may_fork),
    };

    return cmocka_run_group_tests_name("forks", tests, NULL, NULL);
}
