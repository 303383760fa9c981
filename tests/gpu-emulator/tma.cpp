// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/tma.cpp - boxes of tensors that TMA brings to shared memory, and
 * the barriers that it tells.
 *
 * A box arrives when a thread waits for its barrier's phase and nothing else is
 * missing, not earlier: without the wait there are old data, and reading them
 * is reported (PTX ISA, "mbarrier", "cp.async.bulk.tensor").  Values outside
 * the tensor are zeros; pieces of 16 bytes are swizzled by the bits of the
 * address in shared memory (PTX ISA, "Swizzling Modes").
 *
 * A wait lets a thread see what TMA brought, and orders what a warp did before
 * its last synchronisation in front of an arrival; what the arriving thread did
 * since is not taken as ordered.
 */
#include "tests/gpu-emulator/check.h"
#include "tests/gpu-emulator/count.h"

#include <string.h>

#include <algorithm>

namespace emu {

namespace {

constexpr int piece = 16;
constexpr uintptr_t barrier_size = 8;

/* ---- a box ---- */

int
row_bytes(const tensor_map &m)
{
    return m.box[0] * m.size;
}

int
box_rows(const tensor_map &m)
{
    int n = 1;

    for (int i = 1; i < m.rank; i++)
        n *= m.box[i];
    return n;
}

int
box_bytes(const tensor_map &m)
{
    return row_bytes(m) * box_rows(m);
}

/* Where the box's row J is in memory, the second dimension's first; NULL:
 * outside. */
const char *
row_of(const tma_copy &c, int j)
{
    const char *at = (const char *)(uintptr_t)c.map.address;

    for (int i = 1; i < c.map.rank; j /= c.map.box[i++]) {
        const int64_t y = c.at[i] + j % c.map.box[i];

        if (y < 0 || y > (int64_t)c.map.last[i])
            return nullptr;
        at += (uint64_t)y * c.map.stride[i - 1];
    }
    return at;
}

/* Bytes FIRST to END of a row of the box are inside the tensor. */
void
find_inside(const tma_copy &c, int *first, int *end)
{
    const int64_t left = (int64_t)c.map.last[0] + 1 - c.at[0];

    *first =
        (int)(std::clamp<int64_t>(-c.at[0], 0, c.map.box[0])) * c.map.size;
    *end = (int)(std::clamp<int64_t>(left, 0, c.map.box[0])) * c.map.size;
}

void
check_source(fiber *f, const tma_copy &c)
{
    int first, end;

    find_inside(c, &first, &end);
    for (int j = 0; j < box_rows(c.map); j++) {
        const uintptr_t at = (uintptr_t)row_of(c, j) +
                             (uintptr_t)(c.at[0] * c.map.size + first);

        if (row_of(c, j) == nullptr || first >= end)
            continue;
        if (counting)
            count_access(f, at, (size_t)(end - first), reads, c.pc);
        check_access(f, at, (size_t)(end - first), reads, c.pc);
    }
}

/* Bytes AT and following of the box's row J. */
void
bring_piece(const tma_copy &c, int j, int at)
{
    const uintptr_t to =
        swizzled((uintptr_t)c.to + (uintptr_t)(j * row_bytes(c.map) + at),
                 c.map.span);
    const char *const row = row_of(c, j);
    int first, end;
    char bytes[piece] = {};

    find_inside(c, &first, &end);
    for (int i = 0; i < piece && row != nullptr; i++)
        if (at + i >= first && at + i < end)
            bytes[i] = row[c.at[0] * c.map.size + at + i];
    memcpy((void *)to, bytes, piece);
}

void
bring(fiber *f, const tma_copy &c)
{
    for (int j = 0; j < box_rows(c.map); j++)
        for (int at = 0; at < row_bytes(c.map); at += piece)
            bring_piece(c, j, at);
    check_tma_arrives(f, (uintptr_t)c.to, (size_t)box_bytes(c.map));
}

/* ---- barriers ---- */

mbarrier *
find(fiber *f, const void *address, const void *pc)
{
    auto &all = f->in->async.barriers;
    const auto at = all.find((uintptr_t)address);

    if (at != all.end())
        return &at->second;
    complain(f, pc, "mbarrier: it was not initialized");
    f->in->stop(launch_failed);
}

/* Those who wait look again. */
void
wake(fiber *f, mbarrier *b)
{
    f->in->wake(b->waiting.data(), (unsigned)b->waiting.size());
    b->waiting.clear();
}

/* Each of CLOCKS is at least that of OTHERS. */
void
raise(uint32_t *clocks, const std::vector<uint32_t> &others)
{
    for (size_t i = 0; i < others.size(); i++)
        clocks[i] = std::max(clocks[i], others[i]);
}

/* All have arrived: what is on its way comes, and the phase may be over. */
void
try_complete(fiber *f, mbarrier *b, const void *pc)
{
    std::vector<tma_copy> copies;

    copies.swap(b->copies);
    for (const tma_copy &c : copies) {
        bring(f, c);
        b->bytes -= box_bytes(c.map);
    }
    if (b->bytes < 0) {
        complain(f, pc, "mbarrier: %lld bytes came that nobody expected",
                 (long long)-b->bytes);
        f->in->stop(launch_failed);
    }
    if (b->bytes > 0)
        return;
    b->phase++;
    b->pending = b->count;
    raise(b->released.data(), b->arriving);
    raise(b->released_fence.data(), b->arriving_fence);
    wake(f, b);
}

/* F arrives: what its warp did before it met last. */
void
note_arrival(const fiber *f, mbarrier *b)
{
    const std::vector<uint32_t> &fence = f->in->async.fence;
    const size_t n = (f->in->n_threads + GB_WARP - 1) / GB_WARP;
    const size_t first = f->warp * GB_WARP;
    const size_t end = std::min(first + GB_WARP, fence.size());

    b->arriving.resize(n);
    b->released.resize(n);
    b->noted.resize(n);
    b->arriving[f->warp] = f->in->warps[f->warp].clock;
    b->arriving_fence.resize(fence.size());
    b->released_fence.resize(fence.size());
    std::copy(fence.begin() + (long)first, fence.begin() + (long)end,
              b->arriving_fence.begin() + (long)first);
}

/* F has waited for the phase before the one that goes on. */
void
note_wait(const fiber *f, mbarrier *b)
{
    async_state *const s = &f->in->async;
    const size_t n_warps = b->released.size(), n_threads = f->in->n_threads;

    if (n_warps == 0)
        return; /* nobody has arrived yet: it is the phase before the first one */
    s->n_warps = (unsigned)n_warps;
    s->seen.resize(n_threads * n_warps);
    s->shown.resize(n_warps * n_threads);
    raise(&s->seen[f->thread * n_warps], b->released);
    if (b->noted[f->warp] != b->phase)
        raise(&s->shown[f->warp * n_threads], b->released_fence);
    b->noted[f->warp] = b->phase;
}

bool
is_over(const mbarrier *b, int parity)
{
    return (int)(b->phase & 1) != parity;
}

bool
is_placed(fiber *f, const void *shared, const void *barrier,
          const tensor_map &m)
{
    return f->in->shared.allows((uintptr_t)shared, (size_t)box_bytes(m)) &&
           (uintptr_t)shared % 128 == 0 &&
           (uintptr_t)barrier % barrier_size == 0;
}

/* As far as it is one of RANK dimensions that can be done. */
bool
is_map(const tensor_map &m, int rank)
{
    for (int i = 0; i < rank; i++)
        if (m.step[i] != 1)
            return false;
    return m.mark == tensor_map_mark && m.rank == rank;
}

void
begin(fiber *f, const tma_copy &c, mbarrier *b)
{
    if (!b->is_fenced)
        complain(f, c.pc, "TMA: no fence since its mbarrier was initialized");
    check_source(f, c);
    check_copy_begins(f, (uintptr_t)c.to, (size_t)box_bytes(c.map), c.pc);
    b->copies.push_back(c);
    wake(f, b);
}

void
load_box(fiber *f, const tma_copy &box, const void *map, int rank,
         void *barrier)
{
    mbarrier *const b = find(f, barrier, box.pc);
    tma_copy c = box;

    memcpy(&c.map, map, sizeof(c.map));
    if (!is_map(c.map, rank)) {
        complain(f, c.pc, "TMA: this is no map of a tensor of %s dimensions",
                 rank == 2 ? "two" : "four");
        f->in->stop(launch_failed);
    }
    if (!is_placed(f, c.to, barrier, c.map)) {
        complain(f, c.pc, "TMA: a box of %d bytes does not fit there, or not at "
                          "a multiple of 128", box_bytes(c.map));
        f->in->stop(misaligned_address);
    }
    begin(f, c, b);
}

} // namespace

/* ---- a block ---- */

void
async_state::begin(unsigned n_threads)
{
    barriers.clear();
    lanes.resize((n_threads + mma_lanes - 1) / mma_lanes);
    for (lane_mmas &l : lanes) {
        l.pending.clear();
        l.sums.clear();
        l.n_groups = 0;
        l.is_fenced = false;
    }
    fence.assign(n_threads, 0);
    fence_before_barrier.assign(n_threads, 0);
    waited.assign(n_threads, 0);
    has_fences = false;
    seen.clear();
    shown.clear();
}

void
async_state::barrier()
{
    if (has_fences)
        fence_before_barrier = fence;
    has_fences = false;
}

void
async_ends(fiber *f, bool is_last)
{
    lane_mmas *const l = &f->in->async.lanes[f->thread / mma_lanes];

    if (!l->pending.empty())
        complain(f, l->pending[0].pc,
                 "wgmma: a thread ends that never waited for it");
    l->pending.clear();
    if (!is_last)
        return;
    for (const auto &b : f->in->async.barriers)
        if (!b.second.copies.empty())
            complain(f, b.second.copies[0].pc,
                     "TMA: a block ends that never waited for it");
}

} // namespace emu

using emu::this_fiber;

extern "C" void
gb_emu_mbarrier_init(void *barrier, int n_threads)
{
    emu::fiber *const f = this_fiber();
    const void *const pc = __builtin_return_address(0);

    emu::check_access(f, (uintptr_t)barrier, emu::barrier_size, emu::writes,
                      pc);
    f->in->async.barriers[(uintptr_t)barrier] = {
        f->thread, false, n_threads, n_threads, 0, 0, {}, {}, {}, {}, {}, {}, {}
    };
}

extern "C" void
gb_emu_mbarrier_init_fence()
{
    const emu::fiber *const f = this_fiber();

    for (auto &b : f->in->async.barriers)
        if (b.second.by == f->thread)
            b.second.is_fenced = true;
}

extern "C" void
gb_emu_mbarrier_arrive_expect(void *barrier, int n_bytes)
{
    emu::fiber *const f = this_fiber();
    const void *const pc = __builtin_return_address(0);
    emu::mbarrier *const b = emu::find(f, barrier, pc);

    emu::check_access(f, (uintptr_t)barrier, emu::barrier_size, emu::changes,
                      pc);
    if (b->pending == 0)
        emu::try_complete(f, b, pc);
    if (b->pending == 0) {
        complain(f, pc, "mbarrier: more threads arrive than a phase has");
        f->in->stop(emu::launch_failed);
    }
    b->bytes += n_bytes;
    b->pending--;
    emu::note_arrival(f, b);
    emu::wake(f, b);
}

extern "C" void
gb_emu_mbarrier_wait(void *barrier, int parity)
{
    emu::fiber *const f = this_fiber();
    const void *const pc = __builtin_return_address(0);
    emu::mbarrier *const b = emu::find(f, barrier, pc);

    emu::check_access(f, (uintptr_t)barrier, emu::barrier_size, emu::changes,
                      pc);
    while (!emu::is_over(b, parity)) {
        if (b->pending == 0)
            emu::try_complete(f, b, pc);
        if (emu::is_over(b, parity))
            break;
        b->waiting.push_back(f);
        f->in->sleep(f);
    }
    f->in->async.waited[f->thread] = ++f->in->clock;
    emu::note_wait(f, b);
}

extern "C" void
gb_emu_tma_load(void *shared, const void *map, int x, int y, void *barrier)
{
    const emu::tma_copy c = { {}, (char *)shared, { x, y, 0, 0 },
                              __builtin_return_address(0) };

    emu::load_box(this_fiber(), c, map, 2, barrier);
}

extern "C" void
gb_emu_tma_load_4(void *shared, const void *map, int x, int y, int z, int w,
                  void *barrier)
{
    const emu::tma_copy c = { {}, (char *)shared, { x, y, z, w },
                              __builtin_return_address(0) };

    emu::load_box(this_fiber(), c, map, 4, barrier);
}

extern "C" void
gb_emu_async_proxy_fence()
{
    emu::fiber *const f = this_fiber();

    f->in->async.fence[f->thread] = ++f->in->clock;
    f->in->async.has_fences = true;
}
