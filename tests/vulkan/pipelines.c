/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/pipelines.c - pipelines on a device of Vulkan: what the driver
 * cannot make, many at once, and files of them that are damaged.
 *
 * pipelines.sh runs it on lavapipe, with a folder for files, and with the words
 * "fail-unary" or "short-unary" where the pipeline unary shall not be made.
 */
#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include "tests/util/random.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 40, N_DAMAGES = 200, N_THREADS = 4 };

static ggml_backend_dev_t device;
static const char *folder; /* GGMLBACKEND_VULKAN_CACHE */

static struct ggml_context *
new_context(size_t n_tensors)
{
    const struct ggml_init_params params = {
        .mem_size = n_tensors * ggml_tensor_overhead() +
                    2 * ggml_graph_overhead(),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);

    assert_non_null(ctx);
    return ctx;
}

/* ---- a graph of one pipeline or two ---- */

struct sum {
    struct ggml_context *ctx;
    ggml_backend_t backend;
    ggml_backend_buffer_t buffer;
    struct ggml_tensor *x, *y, *root;
    struct ggml_cgraph *graph;
};

/* root = sqrt(x) + y, or x + y. */
static void
open_sum(struct sum *sum, bool has_root)
{
    float values[N];

    sum->ctx = new_context(8);
    sum->backend = ggml_backend_dev_init(device, NULL);
    assert_non_null(sum->backend);
    sum->x = ggml_new_tensor_1d(sum->ctx, GGML_TYPE_F32, N);
    sum->y = ggml_new_tensor_1d(sum->ctx, GGML_TYPE_F32, N);
    sum->root = ggml_add(
        sum->ctx, has_root ? ggml_sqrt(sum->ctx, sum->x) : sum->x, sum->y);
    sum->graph = ggml_new_graph(sum->ctx);
    ggml_build_forward_expand(sum->graph, sum->root);
    sum->buffer = ggml_backend_alloc_ctx_tensors(sum->ctx, sum->backend);
    assert_non_null(sum->buffer);
    for (int i = 0; i < N; i++)
        values[i] = (float)(i * i);
    ggml_backend_tensor_set(sum->x, values, 0, sizeof(values));
    ggml_backend_tensor_set(sum->y, values, 0, sizeof(values));
}

static void
expect_sums(struct sum *sum, bool has_root)
{
    float values[N];

    assert_int_equal(ggml_backend_graph_compute(sum->backend, sum->graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(sum->root, values, 0, sizeof(values));
    for (int i = 0; i < N; i++)
        assert_true(values[i] ==
                    (float)(has_root ? i : i * i) + (float)(i * i));
}

static void
close_sum(struct sum *sum)
{
    ggml_backend_buffer_free(sum->buffer);
    ggml_backend_free(sum->backend);
    ggml_free(sum->ctx);
}

static void
run_sum(bool has_root)
{
    struct sum sum;

    open_sum(&sum, has_root);
    expect_sums(&sum, has_root);
    close_sum(&sum);
}

/* ---- what is said ---- */

static int n_warnings;

static void
count_warnings(enum ggml_log_level level, const char *text, void *user_data)
{
    (void)user_data;
    if (level == GGML_LOG_LEVEL_WARN || level == GGML_LOG_LEVEL_ERROR) {
        n_warnings++;
        fputs(text, stderr);
    }
}

/* ---- files ---- */

/* The one file in the folder; its size. */
static size_t
find_file(char *path, size_t size)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    struct stat info;

    assert_non_null(dir);
    path[0] = '\0';
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (path[0] != '\0')
            fail_msg("there are two files");
        snprintf(path, size, "%s/%s", folder, entry->d_name);
    }
    closedir(dir);
    assert_int_equal(stat(path, &info), 0);
    return (size_t)info.st_size;
}

static void
read_bytes(const char *path, uint8_t *bytes, size_t size)
{
    FILE *f = fopen(path, "rb");

    assert_non_null(f);
    assert_int_equal(fread(bytes, 1, size, f), size);
    fclose(f);
}

static void
write_bytes(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");

    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void
a_file_is_left_and_used(void **state)
{
    char path[512];
    struct stat before, after;

    (void)state;
    if (folder == NULL)
        skip();
    run_sum(true);
    assert_true(find_file(path, sizeof(path)) >= 128);
    assert_int_equal(stat(path, &before), 0);
    n_warnings = 0;
    run_sum(true);
    assert_int_equal(n_warnings, 0);
    assert_int_equal(stat(path, &after), 0);
    assert_true(before.st_ino == after.st_ino); /* nothing new, not written */
}

static void
damaged_files_are_told_and_replaced(void **state)
{
    struct gb_random random;
    char path[512];
    uint8_t *bytes, *now;
    size_t size;

    (void)state;
    if (folder == NULL)
        skip();
    gb_random_init(&random, gb_test_seed(1126));
    run_sum(false);
    size = find_file(path, sizeof(path));
    bytes = malloc(size);
    now = malloc(size);
    assert_true(bytes != NULL && now != NULL);
    read_bytes(path, bytes, size);
    for (int i = 0; i < N_DAMAGES; i++) {
        const size_t at = gb_random_u64(&random) % size;
        const uint8_t change = (uint8_t)(1 + gb_random_u64(&random) % 255);

        n_warnings = 0;
        bytes[at] ^= change;
        write_bytes(path, bytes, i % 8 == 7 ? at : size); /* cut, sometimes */
        bytes[at] ^= change;
        run_sum(false);
        if (n_warnings != 1)
            fail_msg("byte %zu changed by %d: %d warnings", at, change,
                     n_warnings);
        assert_int_equal(find_file(path, sizeof(path)), size);
        read_bytes(path, now, size);
        assert_memory_equal(now, bytes, size);
    }
    free(now);
    free(bytes);
}

/* ---- many at once ---- */

/* Twenty functions and more of one another, of as many pipelines as are easy to
 * have. */
static struct ggml_tensor *
mix(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b)
{
    struct ggml_tensor *t = ggml_mul_mat(ctx, a, b);

    t = ggml_soft_max(ctx, ggml_rms_norm(ctx, t, 1e-5f));
    t = ggml_add(ctx, t, ggml_repeat(ctx, ggml_sum_rows(ctx, t), t));
    t = ggml_cont(ctx, ggml_transpose(ctx, t));
    t = ggml_concat(ctx, t, ggml_silu(ctx, t), 0);
    t = ggml_group_norm(ctx, ggml_norm(ctx, t, 1e-5f), 1, 1e-5f);
    t = ggml_pad(ctx, ggml_diag_mask_inf(ctx, t, 64), 1, 1, 0, 0);
    return ggml_mean(ctx, ggml_sqr(ctx, t));
}

struct mixing {
    float values[64];
    int64_t n;
    bool fails;
};

static void
run_mix(ggml_backend_t backend, struct mixing *mixing)
{
    struct ggml_context *ctx = new_context(64);
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 40);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 64, 20);
    struct ggml_tensor *out = mix(ctx, a, b);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    ggml_backend_buffer_t buffer;
    float source[64 * 40];

    ggml_build_forward_expand(graph, out);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    for (int i = 0; i < 64 * 40; i++)
        source[i] = sinf((float)i * 0.37f);
    ggml_backend_tensor_set(a, source, 0, ggml_nbytes(a));
    ggml_backend_tensor_set(b, source + 77, 0, ggml_nbytes(b));
    mixing->n = ggml_nelements(out);
    mixing->fails =
        mixing->n > 64 || ggml_backend_graph_compute(backend, graph) !=
                              GGML_STATUS_SUCCESS;
    if (!mixing->fails)
        ggml_backend_tensor_get(out, mixing->values, 0, ggml_nbytes(out));
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void *
mix_in_thread(void *data)
{
    ggml_backend_t backend = ggml_backend_dev_init(device, NULL);

    run_mix(backend, data);
    ggml_backend_free(backend);
    return NULL;
}

/* The name of task ID: a thread has that of its process, unless it takes one. */
static void
read_name(const char *id, char name[32])
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%s/comm", id);
    name[0] = '\0';
    file = fopen(path, "r");
    if (file == NULL)
        return; /* it has ended */
    if (fgets(name, 32, file) == NULL)
        name[0] = '\0';
    fclose(file);
}

/* Threads without a name of their own: the driver's have some, and it begins more
 * of them whenever it has much to write into its own files. */
static int
n_tasks(void)
{
    DIR *dir = opendir("/proc/self/task");
    const struct dirent *entry;
    char ours[32], id[32], name[32];
    int n = 0;

    if (dir == NULL)
        return 0;
    snprintf(id, sizeof(id), "%ld", (long)getpid());
    read_name(id, ours);
    while ((entry = readdir(dir)) != NULL) {
        read_name(entry->d_name, name);
        n += name[0] != '\0' && strcmp(name, ours) == 0;
    }
    closedir(dir);
    return n;
}

/* The number when it has come down to N, or after a second: the system lists a task
 * for a moment after it was joined. */
static int
n_tasks_left(int n)
{
    const struct timespec moment = { .tv_nsec = 10000000 };
    int left = n_tasks();

    for (int i = 0; i < 100 && left > n; i++) {
        nanosleep(&moment, NULL);
        left = n_tasks();
    }
    return left;
}

/* Their pipelines are the device's: who comes first makes one, others wait. */
static void
threads_want_the_same_pipelines(void **state)
{
    struct mixing mixings[N_THREADS], expected;
    pthread_t threads[N_THREADS];
    ggml_backend_t cpu = ggml_backend_cpu_init();
    struct sum sum;
    int n_before;

    (void)state;
    run_mix(cpu, &expected);
    ggml_backend_free(cpu);
    assert_false(expected.fails);
    open_sum(&sum, false);
    expect_sums(&sum, false);
    n_before = n_tasks();
    assert_true(n_before >= 1);
    for (int i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, mix_in_thread,
                                        &mixings[i]), 0);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(n_tasks_left(n_before), n_before);
    close_sum(&sum);
    for (int i = 0; i < N_THREADS; i++) {
        assert_false(mixings[i].fails);
        assert_int_equal(mixings[i].n, expected.n);
        assert_memory_equal(mixings[i].values, mixings[0].values,
                            (size_t)expected.n * sizeof(float));
        for (int64_t k = 0; k < expected.n; k++)
            assert_true(fabsf(mixings[i].values[k] - expected.values[k]) <=
                        1e-4f * fabsf(expected.values[k]) + 1e-5f);
    }
}

/* ---- what cannot be made ---- */

static bool
supports_root(void)
{
    struct ggml_context *ctx = new_context(4);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    const bool supports =
        ggml_backend_dev_supports_op(device, ggml_sqrt(ctx, x)) &&
        ggml_backend_dev_supports_op(device, ggml_silu(ctx, x));

    ggml_free(ctx);
    return supports;
}

/* By the scheduler, which has the CPU too. */
static void
expect_root_by_others(void)
{
    ggml_backend_t backends[] = { ggml_backend_dev_init(device, NULL),
                                  ggml_backend_cpu_init() };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, 2, 64, false);
    struct ggml_context *ctx = new_context(8);
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    struct ggml_tensor *y;
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    float values[N];

    ggml_set_input(x);
    y = ggml_add(ctx, ggml_sqrt(ctx, x), x);
    ggml_build_forward_expand(graph, y);
    assert_true(ggml_backend_sched_alloc_graph(sched, graph));
    for (int i = 0; i < N; i++)
        values[i] = (float)(i * i);
    ggml_backend_tensor_set(x, values, 0, sizeof(values));
    assert_int_equal(ggml_backend_sched_graph_compute(sched, graph),
                     GGML_STATUS_SUCCESS);
    ggml_backend_tensor_get(y, values, 0, sizeof(values));
    for (int i = 0; i < N; i++)
        assert_true(values[i] == (float)(i + i * i));
    ggml_backend_sched_free(sched);
    ggml_backend_free(backends[1]);
    ggml_backend_free(backends[0]);
    ggml_free(ctx);
}

static void
what_cannot_be_made_is_left_to_others(void **state)
{
    struct sum sum;

    (void)state;
    assert_true(supports_root()); /* nobody knows */
    open_sum(&sum, true);
    n_warnings = 0;
    assert_int_equal(ggml_backend_graph_compute(sum.backend, sum.graph),
                     GGML_STATUS_FAILED);
    assert_non_null(strstr(ggmlbackend_last_failure(), "unary"));
    assert_int_equal(n_warnings, 1);
    close_sum(&sum);
    assert_false(supports_root());
    run_sum(false); /* what needs it not goes on */
    expect_root_by_others();
    n_warnings = 0;
    assert_false(supports_root());
    assert_int_equal(n_warnings, 0);
}

/* A driver that has no memory may have some later, and may never have any. */
static void
what_finds_no_memory_is_tried_twice(void **state)
{
    struct sum sum;

    (void)state;
    open_sum(&sum, true);
    assert_int_equal(ggml_backend_graph_compute(sum.backend, sum.graph),
                     GGML_STATUS_ALLOC_FAILED);
    assert_true(supports_root());
    assert_int_equal(ggml_backend_graph_compute(sum.backend, sum.graph),
                     GGML_STATUS_FAILED);
    assert_false(supports_root());
    close_sum(&sum);
    run_sum(false);
    expect_root_by_others();
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_want_the_same_pipelines),
    cmocka_unit_test(a_file_is_left_and_used),
    cmocka_unit_test(damaged_files_are_told_and_replaced),
};

static const struct CMUnitTest broken[] = {
    cmocka_unit_test(what_cannot_be_made_is_left_to_others),
};

static const struct CMUnitTest shortage[] = {
    cmocka_unit_test(what_finds_no_memory_is_tried_twice),
};

/* By the words that the device was told. */
static int
run_told(const char *words)
{
    if (strstr(words, "fail-unary") != NULL)
        return cmocka_run_group_tests_name("a pipeline that fails", broken,
                                           NULL, NULL);
    if (strstr(words, "short-unary") != NULL)
        return cmocka_run_group_tests_name("no memory for a pipeline",
                                           shortage, NULL, NULL);
    return cmocka_run_group_tests_name("pipelines", tests, NULL, NULL);
}

int
main(void)
{
    const char *words = ggmlbackend_env_value("GGMLBACKEND_VULKAN_TEST");

    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan, which pipelines.sh "
             "brings");
        return 0;
    }
    folder = ggmlbackend_env_value("GGMLBACKEND_VULKAN_CACHE");
    ggml_log_set(count_warnings, NULL);
    return run_told(words != NULL ? words : "");
}
