/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/threads/together.c - several backends at the same time, with pools
 * of their own and with one for all; first use from many threads, and from a
 * child.
 *
 * The first test must be the process's first use of the library.
 */
#include "config.h"

#include "backends/cpu/pool/pool.h"

#include "ggml-alloc.h"
#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define N_USERS 4
#define N_ROWS  300
#define N_COLS  200

/* One client: a context, a graph and a backend. */
struct user {
    int number;
    int n_threads;
    struct ggml_threadpool *pool; /* NULL: the backend's own */
    int n_rounds;
    bool is_right;
};

/* ((x + number) * 2)^2, x being the column: numbers that are exact. */
static struct ggml_cgraph *
build_graph(struct ggml_context *ctx, int number, struct ggml_tensor **out)
{
    struct ggml_tensor *x =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *c = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N_COLS);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    for (int i = 0; i < N_ROWS * N_COLS; i++)
        ((float *)x->data)[i] = (float)(i % N_COLS);
    for (int i = 0; i < N_COLS; i++)
        ((float *)c->data)[i] = (float)number;
    *out = ggml_sqr(ctx, ggml_scale(ctx, ggml_add(ctx, x, c), 2.0f));
    ggml_build_forward_expand(graph, *out);
    return graph;
}

static bool
is_right(const struct ggml_tensor *out, int number)
{
    const float *y = out->data;

    for (int i = 0; i < N_ROWS * N_COLS; i++) {
        const float want = 2.0f * (float)(i % N_COLS + number);

        if (y[i] != want * want)
            return false;
    }
    return true;
}

/* All of a client's life; nothing of cmocka's, since it may run in any
 * thread. */
static void *
use_library(void *arg)
{
    struct user *user = arg;
    struct ggml_context *ctx = ggml_init(
        (struct ggml_init_params){ .mem_size = (size_t)2 << 20 });
    ggml_backend_t backend = ggml_backend_init_by_type(
        GGML_BACKEND_DEVICE_TYPE_CPU, NULL);
    struct ggml_tensor *out;
    struct ggml_cgraph *graph;

    user->is_right = ctx != NULL && backend != NULL;
    if (!user->is_right)
        return NULL;
    graph = build_graph(ctx, user->number, &out);
    ggml_backend_cpu_set_n_threads(backend, user->n_threads);
    ggml_backend_cpu_set_threadpool(backend, user->pool);
    for (int i = 0; i < user->n_rounds; i++) {
        memset(out->data, 0, ggml_nbytes(out));
        user->is_right =
            user->is_right &&
            ggml_backend_graph_compute(backend, graph) ==
                GGML_STATUS_SUCCESS &&
            is_right(out, user->number);
    }
    ggml_backend_cpu_set_threadpool(backend, NULL);
    ggml_backend_free(backend);
    ggml_free(ctx);
    return NULL;
}

/* N clients, each in a thread. */
static bool
use_by_many(int n_threads, struct ggml_threadpool *pool)
{
    pthread_t threads[N_USERS];
    struct user users[N_USERS];
    bool all_right = true;

    for (int i = 0; i < N_USERS; i++) {
        users[i] = (struct user){ i, n_threads, pool, 20, false };
        if (pthread_create(&threads[i], NULL, use_library, &users[i]) != 0)
            abort();
    }
    for (int i = 0; i < N_USERS; i++) {
        pthread_join(threads[i], NULL);
        all_right = all_right && users[i].is_right;
    }
    return all_right;
}

static bool
child_succeeds(bool (*run)(void))
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0)
        _exit(run() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool
use_alone(void)
{
    struct user user = { 5, 2, NULL, 3, false };

    use_library(&user);
    return user.is_right;
}

static bool
use_together(void)
{
    return use_by_many(2, NULL);
}

static void
children_and_parent_can_be_the_first(void **state)
{
    (void)state;
    assert_true(child_succeeds(use_alone));
    /* First use by many threads at once, in a process that is new to it. */
    assert_true(child_succeeds(use_together));
    assert_true(use_together());
    assert_true(child_succeeds(use_alone));
}

static void
backends_with_pools_of_their_own_do_not_disturb(void **state)
{
    (void)state;
    assert_true(use_by_many(1, NULL));
    assert_true(use_by_many(3, NULL));
}

static void
one_pool_serves_backends_in_several_threads(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(3);
    struct ggml_threadpool *pool = gb_cpu_pool_new(&params, 3);

    (void)state;
    assert_non_null(pool);
    assert_true(use_by_many(3, pool));
    ggml_threadpool_free(pool);
}

/* A backend that has computed with its pool goes on in a child, without it. */
static ggml_backend_t forked_backend;
static struct ggml_cgraph *forked_graph;
static struct ggml_tensor *forked_out;

static bool
compute_forked(void)
{
    const bool has_computed =
        ggml_backend_graph_compute(forked_backend, forked_graph) ==
            GGML_STATUS_SUCCESS &&
        is_right(forked_out, 3);

    ggml_backend_free(forked_backend);
    return has_computed;
}

static void
a_backend_goes_on_in_a_forked_child(void **state)
{
    struct ggml_context *ctx = ggml_init(
        (struct ggml_init_params){ .mem_size = (size_t)2 << 20 });

    (void)state;
    forked_graph = build_graph(ctx, 3, &forked_out);
    forked_backend = ggml_backend_cpu_init();
    ggml_backend_cpu_set_n_threads(forked_backend, 2);
    assert_int_equal(ggml_backend_graph_compute(forked_backend, forked_graph),
                     GGML_STATUS_SUCCESS);
    assert_true(child_succeeds(compute_forked));
    assert_true(compute_forked());
    ggml_free(ctx);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_and_parent_can_be_the_first),
        cmocka_unit_test(backends_with_pools_of_their_own_do_not_disturb),
        cmocka_unit_test(one_pool_serves_backends_in_several_threads),
        cmocka_unit_test(a_backend_goes_on_in_a_forked_child),
    };

    return cmocka_run_group_tests_name(
        "backends together", tests, NULL, NULL);
}
