/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/open.c - the emulated driver, opened for its own tests.
 */
#include "config.h"

#include "tests/gpu-emulator/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

struct gb_cuda_driver cu;
struct emu_control emu;

static uint64_t reports_before;

static bool
look_up(void *library, void *member, const char *name)
{
    void *address = dlsym(library, name);

    memcpy(member, &address, sizeof(address));
    return address != NULL;
}

const char *
emu_path(int lanes, const char *name)
{
    static char path[4096];
    const char *top = getenv("top_builddir");

    snprintf(path, sizeof(path), "%s/tests/gpu-emulator/lanes%d/.libs/%s",
             top == NULL ? "." : top, lanes, name);
    return path;
}

int
emu_open(void **state)
{
    void *library = dlopen(emu_path(32, "libcuda.so.1"), RTLD_NOW | RTLD_LOCAL);
    bool has_all = library != NULL;

    (void)state;
    if (library == NULL) {
        print_error("%s\n", dlerror());
        return 1;
    }
#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments) \
    has_all &= look_up(library, &cu.id, cuda);
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL
#define CONTROL(name) has_all &= look_up(library, &emu.name, "emu_" #name)
    CONTROL(count);
    CONTROL(calls);
    CONTROL(kernel_runs);
    CONTROL(reports);
    CONTROL(reset);
    CONTROL(fail_call);
    CONTROL(failures);
    CONTROL(lose_card);
    CONTROL(order);
    CONTROL(memory_total);
    CONTROL(memory_used);
    CONTROL(live);
    CONTROL(queued);
    CONTROL(restart);
    CONTROL(queue_work);
    CONTROL(work_reads);
    CONTROL(work_writes);
#undef CONTROL
    return !has_all;
}

/* Leaves no variable from before. */
static void
set_environment(const char *settings)
{
    static const char *const names[] = {
        "DEVICES", "ARCH", "MEMORY", "SMS", "NAME", "INTEGRATED", "PAGEABLE",
        "COMPUTE_MODE", "PEER", "DRIVER_VERSION", "INIT_FAIL", "NO_IMAGE",
        "PTX_OLD", "ORDER", "IDLE", "FAIL", "LOST",
    };
    char copy[512], variable[600];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(variable, sizeof(variable), "GGMLBACKEND_TEST_EMU_%s",
                 names[i]);
        unsetenv(variable);
    }
    snprintf(copy, sizeof(copy), "%s", settings);
    for (char *word = strtok(copy, " "); word != NULL;
         word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');

        assert_non_null(value);
        *value = '\0';
        snprintf(variable, sizeof(variable), "GGMLBACKEND_TEST_EMU_%s", word);
        setenv(variable, value + 1, 1);
    }
}

void
emu_begin(const char *settings)
{
    emu.restart();
    set_environment(settings);
    reports_before = emu.reports();
    assert_int_equal(cu.init(0), GB_CUDA_SUCCESS);
}

void
emu_begin_in_context(const char *settings)
{
    gb_cuda_context context;

    emu_begin(settings);
    assert_int_equal(cu.context_retain(&context, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_push(context), GB_CUDA_SUCCESS);
}

void
emu_end_with_reports(unsigned n_reports)
{
    gb_cuda_context context;

    assert_int_equal(cu.context_pop(&context), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
    assert_int_equal(emu.reports() - reports_before, n_reports);
}

void
emu_end(void)
{
    emu_end_with_reports(0);
}

gb_cuda_stream
emu_stream(void)
{
    gb_cuda_stream stream;

    assert_int_equal(cu.stream_create(&stream, GB_CUDA_STREAM_NON_BLOCKING),
                     GB_CUDA_SUCCESS);
    return stream;
}

gb_cuda_event
emu_event(void)
{
    gb_cuda_event event;

    assert_int_equal(cu.event_create(&event, GB_CUDA_EVENT_DISABLE_TIMING),
                     GB_CUDA_SUCCESS);
    return event;
}

gb_cuda_address
emu_memory(size_t size)
{
    gb_cuda_address address;

    assert_int_equal(cu.memory_alloc(&address, size), GB_CUDA_SUCCESS);
    return address;
}

void
emu_wait(gb_cuda_stream stream)
{
    gb_cuda_event event = emu_event();

    assert_int_equal(cu.event_record(event, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_wait(event), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_destroy(event), GB_CUDA_SUCCESS);
}
