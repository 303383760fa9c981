/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/launch.cpp - a kernel's blocks, dealt out to threads of the host.
 */
#include "tests/gpu-emulator/block.h"
#include "tests/gpu-emulator/check.h"
#include "tests/gpu-emulator/count.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

namespace emu {

namespace {

constexpr int max_workers = 16;
constexpr int out_of_memory = 2;

/* One launch runs at a time, by all workers. */
std::mutex running;
std::unique_ptr<block> blocks[max_workers];
uint32_t n_launches;

struct work {
    grid *of;
    uint64_t n_blocks, next;     /* next: changed atomically */
    uint64_t first, step;        /* the n-th is number first + n * step */
    int n_unable;                /* workers without memory */
};

uint64_t
number_of(const work *w, uint64_t n)
{
    return (w->first + (unsigned __int128)n * w->step) % w->n_blocks;
}

void
work_on(work *w, block *b)
{
    if (!b->shared.prepare(w->of->what->shared)) {
        __atomic_fetch_add(&w->n_unable, 1, __ATOMIC_RELAXED);
        return;
    }
    for (;;) {
        const uint64_t n = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);

        if (n >= w->n_blocks ||
            __atomic_load_n(&w->of->result, __ATOMIC_RELAXED) != ok)
            break;
        if (!b->run(w->of, number_of(w, n))) {
            __atomic_fetch_add(&w->n_unable, 1, __ATOMIC_RELAXED);
            break;
        }
        count_block(b);
    }
}

/* Any order is a step that has no divisor in common with the count. */
void
order_blocks(work *w, order by)
{
    const uint64_t n = w->n_blocks;

    w->first = by == 0 ? 0 : n - 1;
    w->step = by == 0 ? 1 : n - 1;
    if (by < 2 || n < 3)
        return;
    w->first = by % n;
    w->step = (by * 2654435761u) % n;
    while (std::gcd(w->step, n) != 1)
        w->step++;
}

/* ---- threads of the host, which stay for the next launch ---- */

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t begins = PTHREAD_COND_INITIALIZER;
pthread_cond_t ends = PTHREAD_COND_INITIALIZER;
work *now;          /* NULL: none */
int n_wanted;       /* workers that have not begun with it yet */
int n_busy;         /* and those that have not ended */
int n_threads;      /* that there are */
pid_t process;      /* that has them: a forked child has none */

void *
work_for_ever(void *argument)
{
    block *const b = (block *)argument;

    pthread_mutex_lock(&lock);
    for (;;) {
        while (n_wanted == 0)
            pthread_cond_wait(&begins, &lock);
        n_wanted--;
        pthread_mutex_unlock(&lock);
        work_on(now, b);
        pthread_mutex_lock(&lock);
        if (--n_busy == 0)
            pthread_cond_signal(&ends);
    }
    return nullptr;
}

bool
add_thread()
{
    std::unique_ptr<block> *const b = &blocks[n_threads];
    pthread_t thread;

    if (*b == nullptr)
        b->reset(new block);
    if (pthread_create(&thread, nullptr, work_for_ever, b->get()) != 0)
        return false;
    pthread_detach(thread);
    n_threads++;
    return true;
}

int
work_together(work *w, int n_workers)
{
    if (process != getpid()) {
        process = getpid();
        n_threads = 0;
    }
    while (n_threads < n_workers && add_thread())
        ;
    if (n_threads == 0)
        return out_of_memory;
    pthread_mutex_lock(&lock);
    now = w;
    n_wanted = n_busy = std::min(n_threads, n_workers);
    pthread_cond_broadcast(&begins);
    while (n_busy > 0)
        pthread_cond_wait(&ends, &lock);
    pthread_mutex_unlock(&lock);
    if (w->of->result != ok)
        return w->of->result;
    return w->next < w->n_blocks || w->n_unable == n_workers ? out_of_memory
                                                             : ok;
}

/* Is it a launch that a card would take? */
bool
is_valid(const launch &l)
{
    const uint64_t threads = (uint64_t)l.block[0] * l.block[1] * l.block[2];
    const uint64_t blocks_yz = std::max(l.grid[1], l.grid[2]);

    if (l.grid[0] == 0 || l.grid[1] == 0 || l.grid[2] == 0 ||
        l.grid[0] > INT32_MAX || blocks_yz > 65535) {
        report("kernel %s: a grid of %u x %u x %u blocks", l.k->name,
               l.grid[0], l.grid[1], l.grid[2]);
        return false;
    }
    if (threads != l.k->threads || threads > max_threads) {
        report("kernel %s: launched with %llu threads a block, made for %u",
               l.k->name, (unsigned long long)threads, l.k->threads);
        return false;
    }
    if (l.shared > l.k->shared) {
        report("kernel %s: %zu bytes of dynamic shared memory, %zu at most",
               l.k->name, l.shared, l.k->shared);
        return false;
    }
    if (l.args_size != 0 && l.args_size != l.k->args_size) {
        report("kernel %s: arguments of %zu bytes, made for %zu", l.k->name,
               l.args_size, l.k->args_size);
        return false;
    }
    return true;
}

/*
 * How many launches WHAT may begin before the end of: those of its card since
 * the last that began after all others.  As many as stamps tell apart.
 */
uint32_t
count_in_front(const launch &what)
{
    static std::map<int, uint32_t> first; /* by card: its launch's number */

    if (!what.is_early || first.count(what.card) == 0)
        first[what.card] = n_launches;
    return std::min(n_launches - first[what.card],
                    (uint32_t)(1u << launch_bits) - 1);
}

order
chosen_order()
{
    const long by = setting("GGMLBACKEND_TEST_EMU_ORDER", 0);

    return (order)(by < 2 ? by : by + setting("GGMLBACKEND_TEST_EMU_SEED", 0));
}

} // namespace

int
run(const launch &what)
{
    const std::lock_guard<std::mutex> alone(running);
    const int n_workers = (int)std::clamp<long>(
        setting("GGMLBACKEND_TEST_EMU_THREADS", 2), 1, max_workers);
    grid g = { &what, 0, chosen_order(), ok, {}, 0 };
    work w = { &g, 0, 0, 0, 1, 0 };
    int result;

    if (!is_valid(what))
        return invalid_value;
    g.serial = ++n_launches;
    g.n_in_front = count_in_front(what);
    w.n_blocks = (uint64_t)what.grid[0] * what.grid[1] * what.grid[2];
    order_blocks(&w, g.in_order);
    count_launch(what);
    check_begins(&g, w.n_blocks);
    result = work_together(
        &w, (int)std::min<uint64_t>(w.n_blocks, (uint64_t)n_workers));
    count_launch_end(what);
    return result;
}

} // namespace emu

/* ---- what kernels call ---- */

using emu::this_fiber;

extern "C" gb_emu_dim
gb_emu_thread_index()
{
    return this_fiber()->index;
}

extern "C" gb_emu_dim
gb_emu_block_index()
{
    return this_fiber()->in->index;
}

extern "C" gb_emu_dim
gb_emu_block_dim()
{
    return this_fiber()->in->dim;
}

extern "C" gb_emu_dim
gb_emu_grid_dim()
{
    return this_fiber()->in->grid_dim;
}

extern "C" int
gb_emu_lane()
{
    return this_fiber()->lane;
}

extern "C" void *
gb_emu_dynamic_shared()
{
    return (void *)this_fiber()->in->shared.dynamic;
}

extern "C" void
gb_emu_wait_for_kernels_before()
{
    this_fiber()->is_early = false;
}

extern "C" void
gb_emu_barrier(int place)
{
    this_fiber()->in->barrier(place, __builtin_return_address(0));
}
