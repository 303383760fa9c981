// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver.cpp - the entry points, under the vendor's names.
 *
 * Each is made of its row of driver.def: it takes the lock, asks
 * driver-call.cpp whether it may be done, and calls the function of the same
 * name in emu::api.
 */
#include "tests/gpu-emulator/driver.h"

#include <atomic>
#include <mutex>

#include <pthread.h>
#include <stdlib.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

/* Never freed: threads that end late may still call. */
std::mutex &
lock()
{
    static std::mutex *const one = new std::mutex;

    return *one;
}

/* cuInit was called. */
std::atomic<bool> has_begun;

/* Nothing works in a child of the process that called it, the lock neither. */
std::atomic<bool> is_child;

void
note_child()
{
    is_child = has_begun.load();
}

/*
 * The process ends, but others may still have something to free, when what is
 * here is destroyed.
 */
std::atomic<bool> is_over;

void
end()
{
    is_over = true;
    if (!is_child)
        emu::kernel_runs_write();
}

void
begin()
{
    static const int registered =
        atexit(end) | pthread_atfork(nullptr, nullptr, note_child);

    (void)registered;
    has_begun = true;
}

template <typename F>
int
enter(emu::call which, F function)
{
    if (is_over)
        return GB_CUDA_DEINITIALIZED;
    if (is_child)
        return GB_CUDA_NOT_INITIALIZED;

    const std::lock_guard<std::mutex> held(lock());
    int after = 0;
    int result = emu::call_begins(which, &after);

    if (result == 0)
        result = function();
    if (result == 0)
        result = after;
    if (result == 0 && which == emu::CALL_init)
        begin();
    return result;
}

} // namespace

#define GB_DRIVER_CALL(need, id, cuda, hip, parameters, arguments)       \
    EXPORTED int emu_entry_##id parameters                               \
        __asm__(GB_CUDA_NAME_OF(cuda, hip));                             \
    int emu_entry_##id parameters                                        \
    {                                                                    \
        return enter(emu::CALL_##id,                                     \
                     [&] { return emu::api::id arguments; });            \
    }
#include "backends/cuda/driver/driver.def"
#undef GB_DRIVER_CALL

/* ---- the driver itself ---- */

namespace emu {

bool
is_ready()
{
    return has_begun;
}

int
api::init(unsigned flags)
{
    if (set.init_failure != 0)
        return set.init_failure;
    if (flags != 0)
        return GB_CUDA_INVALID_VALUE;
    return cards.empty() ? GB_CUDA_NO_DEVICE : 0;
}

int
api::version(int *version)
{
    if (version == nullptr)
        return GB_CUDA_INVALID_VALUE;
    *version = set.version;
    return 0;
}

} // namespace emu

/* ---- control.h ---- */

#define CONTROL const std::lock_guard<std::mutex> held(lock()); \
    emu::settings_read()

EXPORTED uint64_t
emu_count(enum emu_counter which)
{
    CONTROL;
    return (unsigned)which < EMU_COUNTERS ? emu::counts[which] : 0;
}

EXPORTED uint64_t
emu_calls(const char *name)
{
    CONTROL;
    return emu::calls_of(emu::call_named(name));
}

EXPORTED uint64_t
emu_kernel_runs(const char *kernel)
{
    CONTROL;
    return emu::kernel_runs(kernel);
}

EXPORTED void
emu_costs_of(const char *kernel, struct emu_costs *costs_out)
{
    CONTROL;
    const emu::kernel *const k =
        kernel == nullptr ? nullptr : emu::find_kernel(kernel);

    *costs_out = kernel == nullptr ? emu::costs_of_all()
                 : k == nullptr    ? emu_costs{}
                                   : emu::costs_of(k);
}

EXPORTED void
emu_watch(const void *address, uint64_t size)
{
    CONTROL;
    emu::watch(address, size);
}

EXPORTED uint64_t
emu_reports(void)
{
    return emu::reports();
}

EXPORTED void
emu_reset(void)
{
    CONTROL;
    emu::calls_reset();
    emu::kernel_runs_reset();
}

EXPORTED void
emu_fail_call(const char *name, uint64_t n, int result)
{
    CONTROL;
    emu::fail_call(name, n, result);
}

EXPORTED uint64_t
emu_failures(void)
{
    CONTROL;
    return emu::failed_calls();
}

EXPORTED void
emu_lose_card(uint64_t n, int result)
{
    CONTROL;
    emu::lose_card(n, result);
}

EXPORTED void
emu_order(uint64_t order)
{
    CONTROL;
    emu::queue_order(order);
}

EXPORTED uint64_t
emu_memory_total(int card)
{
    CONTROL;
    return emu::card_of(card) == nullptr ? 0 : emu::card_of(card)->memory;
}

EXPORTED uint64_t
emu_memory_used(int card)
{
    CONTROL;
    return emu::card_of(card) == nullptr ? 0 : emu::memory_used(card);
}

EXPORTED uint64_t
emu_live(void)
{
    CONTROL;
    return emu::memory_live() + emu::host_live() + emu::streams_live() +
           emu::modules_live() + emu::graphs_live();
}

EXPORTED uint64_t
emu_queued(void)
{
    CONTROL;
    return emu::queue_length();
}

EXPORTED int
emu_queue_work(void *stream, void (*run)(const void *data), const void *data,
               size_t size, uint64_t us)
{
    CONTROL;
    return emu::queue_work((gb_cuda_stream)stream, run, data, size, us);
}

/* The lock is held where work runs. */
EXPORTED int
emu_work_reads(const void *at, size_t size)
{
    return emu::work_uses(at, size, false);
}

EXPORTED int
emu_work_writes(void *at, size_t size)
{
    return emu::work_uses(at, size, true);
}

EXPORTED void
emu_restart(void)
{
    const std::lock_guard<std::mutex> held(lock());

    emu::contexts_forget();
    emu::calls_reset();
    emu::kernel_runs_reset();
    emu::settings_forget();
    has_begun = is_child = false;
}
