/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/free-memory.c - how much memory of a card is free, and what the
 * process may have of it.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { HALF = 100 << 20 };

static void
nothing_is_left(void)
{
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static ggml_backend_buffer_t
buffer_of(size_t size)
{
    return ggml_backend_buft_alloc_buffer(
        ggml_backend_dev_buffer_type(cuda_device("CUDA0")), size);
}

static size_t
free_memory(void)
{
    size_t free, total;

    ggml_backend_dev_memory(cuda_device("CUDA0"), &free, &total);
    CHECK(total == 1 << 30);
    return free;
}

/* What another part of the program does, by the driver itself. */
static struct {
    int (*retain)(void **context, int card);
    int (*release)(int card);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*allocate)(uint64_t *address, size_t size);
    int (*give_back)(uint64_t address);
} driver;

static void
open_driver(void)
{
    void *library = dlopen(DRIVER, RTLD_NOW | RTLD_LOCAL);

    CHECK(library != NULL);
    gb_look_up(library, &driver.retain,
               ON_HIP("cuDevicePrimaryCtxRetain", "hipDevicePrimaryCtxRetain"));
    gb_look_up(library, &driver.release,
               ON_HIP("cuDevicePrimaryCtxRelease_v2",
                      "hipDevicePrimaryCtxRelease"));
    gb_look_up(library, &driver.allocate, ON_HIP("cuMemAlloc_v2", "hipMalloc"));
    gb_look_up(library, &driver.give_back, ON_HIP("cuMemFree_v2", "hipFree"));
    /* HIP's first card is current without it. */
    if (ON_HIP(true, false)) {
        gb_look_up(library, &driver.push, "cuCtxPushCurrent_v2");
        gb_look_up(library, &driver.pop, "cuCtxPopCurrent_v2");
    }
}

static void
enter(void *context)
{
    CHECK(driver.push == NULL || driver.push(context) == 0);
}

static void
leave(void)
{
    void *popped;

    CHECK(driver.pop == NULL || driver.pop(&popped) == 0);
}

/* The management library; the backend finds it opened.  AMD's cards have files of
 * the kernel's instead, which no emulated card has. */
static void
open_management(void)
{
    const char *top = getenv("top_builddir");
    char path[4096];

    snprintf(path, sizeof(path),
             "%s/tests/gpu-emulator/lanes32/.libs/libnvidia-ml.so.1",
             top != NULL ? top : ".");
    CHECK(dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL);
}

/* A megabyte that the backend knows nothing of; what is free meanwhile? */
static size_t
free_beside_others(void)
{
    void *context;
    uint64_t address;
    size_t free;

    open_driver();
    CHECK(driver.retain(&context, 0) == 0);
    enter(context);
    CHECK(driver.allocate(&address, 1 << 20) == 0);
    leave();
    free = free_memory();
    enter(context);
    CHECK(driver.give_back(address) == 0);
    leave();
    CHECK(driver.release(0) == 0);
    return free;
}

static void
ask_the_management_library(void)
{
    CHECK(cuda_load() != NULL);
    open_management();
    CHECK(free_memory() == 1 << 30);
    CHECK(free_beside_others() == (1 << 30) - (1 << 20));
    CHECK(emulator.calls("cuMemGetInfo_v2") == 0);
    nothing_is_left();
}

static void
ask_nobody(void)
{
    CHECK(cuda_load() != NULL);
    CHECK(free_beside_others() == 1 << 30);
    nothing_is_left();
}

static void
ask_the_context(void)
{
    ggml_backend_buffer_t buffer;

    CHECK(cuda_load() != NULL);
    buffer = buffer_of(1 << 20);
    CHECK(buffer != NULL);
    CHECK(free_beside_others() == (1 << 30) - (2 << 20));
    CHECK(emulator.calls("cuMemGetInfo_v2") == 1);
    ggml_backend_buffer_free(buffer);
    nothing_is_left();
}

static void
limit_what_is_free(void)
{
    size_t free, total;

    CHECK(cuda_load() != NULL);
    if (ON_HIP(true, false))
        open_management();
    ggml_backend_dev_memory(cuda_device("CUDA0"), &free, &total);
    CHECK(free == 1 << 20 && total == 1 << 20);
    nothing_is_left();
}

static void
free_memory_is_asked_for_without_a_context(void **state)
{
    (void)state;
    if (ON_HIP(true, false))
        cuda_case(ask_the_management_library, "EMU_MEMORY=1073741824", NULL);
    cuda_case(ask_nobody, "EMU_MEMORY=1073741824", NULL);
    cuda_case(ask_the_context, "EMU_MEMORY=1073741824", NULL);
    cuda_case(limit_what_is_free,
              "EMU_MEMORY=1073741824 GGMLBACKEND_GPU_MEMORY=1M", NULL);
}

/* Half of what the process may have is taken, given back, and taken again. */
static void
take_memory_again(void)
{
    ggml_backend_buffer_t little, half;

    CHECK(cuda_load() != NULL);
    little = buffer_of(4096);
    CHECK(little != NULL);
    for (int turn = 0; turn < 4; turn++) {
        half = buffer_of(HALF);
        CHECK(half != NULL && buffer_of(HALF) == NULL);
        ggml_backend_buffer_free(half);
    }
    ggml_backend_buffer_free(little);
    nothing_is_left();
}

static void
memory_that_is_given_back_can_be_had_again(void **state)
{
    (void)state;
    cuda_case(take_memory_again,
              "GGMLBACKEND_GPU_MEMORY=150M GGMLBACKEND_LOG=none", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_memory_is_asked_for_without_a_context),
        cmocka_unit_test(memory_that_is_given_back_can_be_had_again),
    };

    return cmocka_run_group_tests_name("free memory", tests, NULL, NULL);
}
