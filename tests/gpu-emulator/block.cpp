/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/block.cpp - which thread of a block runs, and who waits for whom.
 */
#include "tests/gpu-emulator/block.h"
#include "tests/gpu-emulator/check.h"

#include <stdio.h>
#include <string.h>

#include <algorithm>

namespace emu {

block::block()
    : of(nullptr), clock(0), barrier_clock(0), fence_clock(0), acquired(0),
      serial(0), number(0), near{ 0, 0, -1, false }, counts(nullptr),
      n_threads(0), host(nullptr), abandoned(true), order_known(false),
      known_order(0), known_n(0), random(1)
{
}

/* ---- order ---- */

unsigned
block::draw(unsigned below)
{
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    return (unsigned)((uint64_t)random * below >> 32);
}

void
block::order_threads()
{
    const order by = of->in_order;

    if (order_known && known_order == by && known_n == n_threads && by < 2)
        return;
    for (unsigned i = 0; i < n_threads; i++)
        start[i] = (uint16_t)(by == 1 ? n_threads - 1 - i : i);
    if (by > 1)
        for (unsigned i = n_threads; i > 1; i--)
            std::swap(start[i - 1], start[draw(i)]);
    order_known = true;
    known_order = by;
    known_n = n_threads;
}

/* They can go on: in their order, its reverse, or any. */
void
block::make_ready(fiber *const *list, unsigned n)
{
    if (first_ready + n_ready + n > 2 * max_threads) {
        memmove(ready, ready + first_ready, n_ready * sizeof(*ready));
        first_ready = 0;
    }
    for (unsigned i = 0; i < n; i++)
        ready[first_ready + n_ready++] =
            list[of->in_order == 1 ? n - 1 - i : i];
}

fiber *
block::take_ready()
{
    if (of->in_order > 1)
        std::swap(ready[first_ready], ready[first_ready + draw(n_ready)]);
    n_ready--;
    return ready[first_ready++];
}

/* The fiber to run now, which may begin a thread; NULL: none can go on. */
fiber *
block::next()
{
    const bool can_start = n_started < n_threads;

    if (n_ready > 0 && !(can_start && of->in_order > 1 && draw(2) == 0))
        return take_ready();
    if (n_ready == 0)
        first_ready = 0;
    if (!can_start)
        return nullptr;
    return idle[--n_idle];
}

/* ---- switching ---- */

void
block::go(fiber *from, fiber *to)
{
    if (to != from)
        fiber_switch(&from->context, to->context);
}

void
block::wait(fiber *f)
{
    fiber *const to = next();

    if (to != nullptr) {
        go(f, to);
        return;
    }
    explain_deadlock();
    stop(launch_failed);
}

void
block::stop(int result)
{
    failed(result);
    abandoned = true;
    fiber_switch(&this_fiber()->context, host);
    __builtin_unreachable();
}

void
block::failed(int result)
{
    int expected = ok;

    __atomic_compare_exchange_n(&of->result, &expected, result, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* ---- a thread's life ---- */

void
block::begin_thread(fiber *f)
{
    const unsigned t = start[n_started++];

    f->thread = t;
    f->warp = t / GB_WARP;
    f->lane = (int)(t % GB_WARP);
    f->index = { t % dim.x, t / dim.x % dim.y, t / dim.x / dim.y };
    f->stamp = stamp_of(of->serial, number, t);
    f->is_early = of->n_in_front > 0;
    copies[t].list.clear();
    copies[t].n_groups = 0;
}

void
block::end_thread(fiber *f)
{
    warp *const w = &warps[f->warp];

    check_ends(f);
    async_ends(f, n_live == 1);
    n_live--;
    w->live &= ~((uint64_t)1 << f->lane);
    for (lane_group &g : w->groups)
        if (g.arrived != 0)
            try_meeting(f->warp, &g);
    try_release();
}

void
block::fiber_main()
{
    fiber *const f = this_fiber();

    for (;;) {
        block *const b = f->in;

        b->begin_thread(f);
        b->of->what->k->call(b->of->what->args);
        b->end_thread(f);
        b->idle[b->n_idle++] = f;
        fiber *const to = b->next();

        if (to == nullptr && b->n_live > 0) {
            b->explain_deadlock();
            b->stop(launch_failed);
        }
        if (to == nullptr)
            fiber_switch(&f->context, b->host);
        else
            b->go(f, to);
    }
}

/* ---- barriers ---- */

void
block::try_release()
{
    if (n_at_barrier == 0 || n_at_barrier < n_live)
        return;
    barrier_clock = ++clock;
    async.barrier();
    make_ready(at_barrier, n_at_barrier);
    n_at_barrier = 0;
}

void
block::barrier(int place, const void *pc)
{
    fiber *const f = this_fiber();

    if (n_at_barrier == 0)
        barrier_place = place;
    if (place != barrier_place) {
        complain(f, pc, "divergent barrier: other threads of the block wait "
                        "at another one");
        failed(launch_failed);
    }
    at_barrier[n_at_barrier++] = f;
    try_release();
    wait(f);
}

/* ---- warps ---- */

lane_group *
block::group_of(warp *w, uint64_t mask)
{
    lane_group *unused = nullptr;

    for (lane_group &g : w->groups) {
        if (g.arrived != 0 && g.mask == mask)
            return &g;
        if (g.arrived == 0)
            unused = &g;
    }
    if (unused != nullptr) {
        unused->mask = mask;
        unused->n = 0;
        unused->what = nullptr;
    }
    return unused;
}

void
block::try_meeting(unsigned number_of_warp, lane_group *g)
{
    warp *const w = &warps[number_of_warp];

    if (g->arrived != (g->mask & w->live))
        return;
    if (g->what->run != nullptr)
        g->what->run({ this, g->arrived, w->data });
    if (g->what->orders) {
        clock++;
        if ((w->live & ~g->arrived) == 0)
            w->clock = clock;
        else
            w->partial[w->n_partial++ % 4] = { g->arrived, clock };
    }
    g->arrived = 0;
    make_ready(g->waiting, g->n);
}

void
block::meet(
    const collective *what, uint64_t mask, void *data, const void *pc)
{
    fiber *const f = this_fiber();
    const uint64_t mine = (uint64_t)1 << f->lane;
    warp *const w = &warps[f->warp];

    if ((mask & mine) == 0) {
        complain(f, pc, "%s: lane %d is not in its mask %#llx", what->name,
                 f->lane, (unsigned long long)mask);
        failed(launch_failed);
        mask = ~mask;
    }
    lane_group *const g = group_of(w, mask);

    if (g == nullptr) {
        complain(f, pc, "%s: lanes of a warp wait with five masks",
                 what->name);
        stop(launch_failed);
    }
    if (g->what != nullptr && g->what != what) {
        complain(f, pc, "divergent warp: %s, while other lanes of the mask "
                        "are at %s", what->name, g->what->name);
        stop(launch_failed);
    }
    g->what = what;
    g->arrived |= mine;
    g->waiting[g->n++] = f;
    w->data[f->lane] = data;
    try_meeting(f->warp, g);
    wait(f);
}

void
block::meet_all(const collective *what, void *data, const void *pc)
{
    fiber *const f = this_fiber();

    if (warps[f->warp].live != all_of_a_warp) {
        complain(f, pc, "%s: lanes of the warp have ended or never were",
                 what->name);
        stop(launch_failed);
    }
    meet(what, all_of_a_warp, data, pc);
}

/* ---- others ---- */

void
block::sleep(fiber *f)
{
    wait(f);
}

void
block::wake(fiber *const *list, unsigned n)
{
    make_ready(list, n);
}

/* ---- what nobody gets out of ---- */

void
block::explain_deadlock()
{
    char text[256];
    size_t at = 0;

    text[0] = 0;
    if (n_at_barrier > 0)
        at += (size_t)snprintf(text, sizeof(text), "; %u threads at a barrier",
                               n_at_barrier);
    for (unsigned i = 0; i < max_warps; i++)
        for (const lane_group &g : warps[i].groups)
            if (g.arrived != 0 && at < sizeof(text))
                at += (size_t)snprintf(
                    text + at, sizeof(text) - at,
                    "; lanes %#llx of warp %u at %s with mask %#llx",
                    (unsigned long long)g.arrived, i, g.what->name,
                    (unsigned long long)g.mask);
    complain(this_fiber(), (const void *)of->what->k->call,
             "deadlock: %u threads wait for others%s", n_live, text);
}

/* ---- a block ---- */

void
block::prepare()
{
    for (unsigned i = 0; i < max_warps; i++) {
        const unsigned first = i * GB_WARP;
        const unsigned n =
            first >= n_threads
                ? 0
                : std::min<unsigned>(GB_WARP, n_threads - first);

        warps[i].live = n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
        for (lane_group &g : warps[i].groups)
            g.arrived = 0;
        warps[i].clock = 0;
        warps[i].n_partial = 0;
    }
    clock = barrier_clock = fence_clock = acquired = 0;
    serial++;
    near.address = 0;
    async.begin(n_threads);
    n_live = n_threads;
    n_started = n_ready = first_ready = n_at_barrier = 0;
    random = (uint32_t)((of->in_order * 2654435761u) ^
                        (number * 40503u) ^ of->serial) | 1;
    order_threads();
    shared.poison_dynamic();
    if (!checks())
        shared.poison_fixed();
}

bool
block::run(grid *g, uint64_t which)
{
    const launch *const l = g->what;
    const unsigned n = l->block[0] * l->block[1] * l->block[2];

    of = g;
    number = which;
    dim = { l->block[0], l->block[1], l->block[2] };
    grid_dim = { l->grid[0], l->grid[1], l->grid[2] };
    index = { (unsigned)(which % grid_dim.x),
              (unsigned)(which / grid_dim.x % grid_dim.y),
              (unsigned)(which / grid_dim.x / grid_dim.y) };
    if (n != n_threads || abandoned) {
        if (!stacks.reserve(n))
            return false;
        for (unsigned i = 0; i < n; i++) {
            idle[i] = stacks.at(n - 1 - i);
            idle[i]->in = this;
            fibers::reset(idle[i], fiber_main);
        }
        n_idle = n_threads = n;
        abandoned = false;
    }
    prepare();
    host = nullptr;
    fiber_switch(&host, next()->context);
    return true;
}

} // namespace emu
