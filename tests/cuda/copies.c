/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/copies.c - long asynchronous copies from and to pageable memory.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* More than the ring has room for, and no multiple of its chunks, of which it
 * takes so many. */
enum { SIZE = (37 << 20) + 12345, N_CHUNKS = 38 };

struct copies {
    struct ggml_context *ctx;
    struct ggml_tensor *tensor;
    ggml_backend_buffer_t buffer;
    ggml_backend_t backend;
    uint8_t *sent, *received;
};

static uint8_t
byte_at(size_t i, int seed)
{
    return (uint8_t)(i * 31 + (i >> 13) + (size_t)seed);
}

static struct copies
copies_make(void)
{
    ggml_backend_dev_t dev = cuda_device("CUDA0");
    struct copies c = { .sent = malloc(SIZE), .received = calloc(1, SIZE) };

    c.ctx = ggml_init((struct ggml_init_params){
        .mem_size = 2 * ggml_tensor_overhead(), .no_alloc = true });
    c.tensor = ggml_new_tensor_1d(c.ctx, GGML_TYPE_I8, SIZE);
    c.buffer = ggml_backend_alloc_ctx_tensors_from_buft(
        c.ctx, ggml_backend_dev_buffer_type(dev));
    c.backend = ggml_backend_dev_init(dev, NULL);
    CHECK(c.buffer != NULL && c.backend != NULL && c.sent != NULL &&
          c.received != NULL);
    return c;
}

static void
copies_free(struct copies *c)
{
    ggml_backend_free(c->backend);
    ggml_backend_buffer_free(c->buffer);
    ggml_free(c->ctx);
    free(c->sent);
    free(c->received);
}

/* There and back; did it arrive? */
static bool
arrives(struct copies *c, int seed)
{
    for (size_t i = 0; i < SIZE; i++)
        c->sent[i] = byte_at(i, seed);
    memset(c->received, 0, SIZE);
    ggmlbackend_clear_failure();
    ggml_backend_tensor_set_async(c->backend, c->tensor, c->sent, 0, SIZE);
    ggml_backend_tensor_get_async(c->backend, c->tensor, c->received, 0,
                                  SIZE);
    ggml_backend_synchronize(c->backend);
    return ggmlbackend_last_failure()[0] == '\0' &&
           memcmp(c->sent, c->received, SIZE) == 0;
}

static void
copy_there_and_back(void)
{
    struct copies c;

    CHECK(cuda_load() != NULL);
    c = copies_make();
    CHECK(arrives(&c, 1) && arrives(&c, 2));
    CHECK(emulator.count(EMU_HOST_ALLOCATIONS) == 1);
    CHECK(emulator.calls("cuMemcpyHtoDAsync_v2") == 2 * N_CHUNKS);
    CHECK(emulator.calls("cuMemcpyDtoHAsync_v2") == 2 * N_CHUNKS);
    copies_free(&c);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
long_copies_go_through_pinned_memory(void **state)
{
    (void)state;
    cuda_case(copy_there_and_back, "EMU_ORDER=0", NULL);
    cuda_case(copy_there_and_back, "EMU_ORDER=1", NULL);
    cuda_case(copy_there_and_back, "EMU_ORDER=7", NULL);
}

static int most_threads; /* that the system makes from then on */
static bool are_few;

/* In the place of libc's. */
__attribute__((visibility("default")))
int
pthread_create(pthread_t *thread, const pthread_attr_t *attr,
               void *(*run)(void *), void *data)
{
    static int (*real)(pthread_t *, const pthread_attr_t *,
                       void *(*)(void *), void *);

    if (real == NULL) {
        void *address = dlsym(RTLD_NEXT, "pthread_create");

        memcpy(&real, &address, sizeof(address));
    }
    if (are_few && most_threads-- <= 0)
        return EAGAIN;
    return real(thread, attr, run, data);
}

static void
copy_with_few_threads(void)
{
    struct copies c;

    CHECK(cuda_load() != NULL);
    c = copies_make();
    are_few = true;
    for (int n = 0; n < 3; n++) {
        most_threads = n;
        CHECK(arrives(&c, n));
        CHECK(most_threads < n); /* somebody has asked for more */
    }
    copies_free(&c);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
long_copies_take_as_many_threads_as_there_are(void **state)
{
    (void)state;
    cuda_case(copy_with_few_threads, "EMU_ORDER=0", NULL);
    cuda_case(copy_with_few_threads, "EMU_ORDER=1", NULL);
}

static void
copy_without_pinned_memory(void)
{
    struct copies c;

    CHECK(cuda_load() != NULL);
    c = copies_make();
    emulator.fail_call("cuMemHostAlloc", 1, 2);
    CHECK(arrives(&c, 1) && arrives(&c, 2));
    CHECK(emulator.calls("cuMemHostAlloc") == 1);
    CHECK(emulator.calls("cuMemcpyHtoDAsync_v2") == 2);
    copies_free(&c);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
without_pinned_memory_the_driver_copies(void **state)
{
    (void)state;
    cuda_case(copy_without_pinned_memory, "EMU_DEVICES=1", NULL);
}

/* The N-th call of NAME fails; false: there were not so many. */
static bool
fail_call(const char *name, uint64_t n)
{
    struct copies c = copies_make();
    bool has_failed;

    emulator.reset();
    emulator.fail_call(name, n, 700);
    arrives(&c, 3);
    has_failed = emulator.failures() > 0;
    emulator.reset();
    copies_free(&c);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
    return has_failed;
}

static void
fail_each_call(void)
{
    static const char *const names[] = {
        "cuMemHostAlloc",       "cuEventCreate",        "cuEventRecord",
        "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventQuery",
        "cuEventSynchronize",
    };
    uint64_t n_failed = 0;

    CHECK(cuda_load() != NULL);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        uint64_t n = 1;

        while (n < 12 && fail_call(names[i], n))
            n++;
        n_failed += n - 1;
    }
    CHECK(n_failed > 30);
}

static void
nothing_is_left_of_a_copy_that_failed(void **state)
{
    (void)state;
    cuda_case(fail_each_call, "GGMLBACKEND_LOG=none", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_copies_go_through_pinned_memory),
        cmocka_unit_test(long_copies_take_as_many_threads_as_there_are),
        cmocka_unit_test(without_pinned_memory_the_driver_copies),
        cmocka_unit_test(nothing_is_left_of_a_copy_that_failed),
    };

    return cmocka_run_group_tests_name("copies", tests, NULL, NULL);
}
