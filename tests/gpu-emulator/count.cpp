/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/count.cpp - how often kernels ran, and what their accesses cost.
 */
#include "tests/gpu-emulator/count.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

namespace emu {

bool counting;

namespace {

constexpr uintptr_t sector = 32, line = 128, bank_width = 4, n_banks = 32;

/* Of the cards' memory, all or what emu_watch said. */
struct {
    uintptr_t begin = 0;
    size_t size = SIZE_MAX;
} watched;

/* One place in the code. */
struct place {
    uint32_t times[max_threads]; /* that each thread came here */
};

/* Sectors, or words of shared memory, that the lanes touch. */
struct request {
    std::vector<uintptr_t> units;
    size_t bytes = 0;
    bool is_shared = false, is_read = false, is_written = false;
};

struct request_key {
    const void *pc;
    uint64_t time_and_warp;

    bool operator==(const request_key &other) const
    {
        return pc == other.pc && time_and_warp == other.time_and_warp;
    }
};

struct hash_key {
    size_t operator()(const request_key &key) const
    {
        return ((uintptr_t)key.pc ^ key.time_and_warp * 0x9e3779b97f4a7c15u) *
               0xff51afd7ed558ccdu;
    }
};

} // namespace

/* What a block's threads did so far. */
struct block_counts {
    emu_costs sum = {};
    std::vector<uintptr_t> fetched; /* sectors that were read */
    std::vector<uintptr_t> stored;  /* and written */
    std::unordered_map<const void *, place> places;
    std::unordered_map<request_key, request, hash_key> requests;
};

namespace {

/* By name, written when the process ends. */
class table {
public:
    ~table();
    emu_costs &of(const kernel *k) { return rows[k->name]; }
    emu_costs sum() const;

    std::mutex lock;

private:
    std::map<std::string, emu_costs> rows;
};

table all;

table::~table()
{
    const char *const name = getenv("GGMLBACKEND_TEST_EMU_TABLE");
    FILE *const file =
        name == nullptr || *name == 0 ? nullptr : fopen(name, "a");

    if (file == nullptr)
        return;
    for (const auto &r : rows) {
        const emu_costs &t = r.second;

        fprintf(file, "%s %d", r.first.c_str(), GB_WARP);
        for (const uint64_t n :
             { t.launches, t.blocks, t.read, t.written, t.requests, t.sectors,
               t.full_sectors, t.shared_requests, t.turns, t.full_turns,
               t.fetched, t.lines, t.delivered, t.stored })
            fprintf(file, " %llu", (unsigned long long)n);
        fputc('\n', file);
    }
    fclose(file);
}

emu_costs
table::sum() const
{
    emu_costs all_of_them = {};

    for (const auto &r : rows) {
        const uint64_t *const from = (const uint64_t *)&r.second;
        uint64_t *const to = (uint64_t *)&all_of_them;

        for (size_t i = 0; i < sizeof(emu_costs) / sizeof(*to); i++)
            to[i] += from[i];
    }
    return all_of_them;
}

/* ---- what a request costs ---- */

/* Turns: the most words that one bank has. */
size_t
turns_of(const std::vector<uintptr_t> &words)
{
    size_t n[n_banks] = {};

    for (const uintptr_t word : words)
        n[word % n_banks]++;
    return *std::max_element(n, n + n_banks);
}

/* In order, each once. */
void
tidy(std::vector<uintptr_t> *units)
{
    std::sort(units->begin(), units->end());
    units->erase(std::unique(units->begin(), units->end()), units->end());
}

void
append(std::vector<uintptr_t> *to, const std::vector<uintptr_t> &units)
{
    to->insert(to->end(), units.begin(), units.end());
}

/* Sectors that blocks of the launch that runs touched, some of them several
 * times. */
class sectors {
public:
    void
    add(const std::vector<uintptr_t> &of_block)
    {
        append(&all_of_them, of_block);
        if (all_of_them.size() < tidy_at)
            return;
        tidy(&all_of_them);
        tidy_at = 2 * all_of_them.size() + min_tidy_at;
    }
    /* Bytes, each sector once; there are none afterwards. */
    uint64_t
    end()
    {
        uint64_t bytes;

        tidy(&all_of_them);
        bytes = all_of_them.size() * sector;
        all_of_them.clear();
        tidy_at = min_tidy_at;
        return bytes;
    }

private:
    static constexpr size_t min_tidy_at = 1 << 20;

    std::vector<uintptr_t> all_of_them;
    size_t tidy_at = min_tidy_at;
};

sectors launch_fetched, launch_stored;

void
add_request(block_counts *counts, request *r)
{
    emu_costs *const sum = &counts->sum;
    std::vector<uintptr_t> *const units = &r->units;

    tidy(units);
    if (r->is_read && !r->is_shared)
        append(&counts->fetched, *units);
    if (r->is_written && !r->is_shared)
        append(&counts->stored, *units);
    if (r->is_shared) {
        sum->shared_requests++;
        sum->turns += turns_of(*units);
        sum->full_turns += (units->size() + n_banks - 1) / n_banks;
    } else {
        sum->requests++;
        sum->sectors += units->size();
        sum->full_sectors += (r->bytes + sector - 1) / sector;
        for (size_t i = 0; i < units->size(); i++)
            sum->lines += i == 0 || (*units)[i] / (line / sector) !=
                                        (*units)[i - 1] / (line / sector);
    }
}

} // namespace

emu_costs
costs_of(const kernel *k)
{
    const std::lock_guard<std::mutex> alone(all.lock);

    return all.of(k);
}

emu_costs
costs_of_all()
{
    const std::lock_guard<std::mutex> alone(all.lock);

    return all.sum();
}

void
watch(const void *address, uint64_t size)
{
    const std::lock_guard<std::mutex> alone(all.lock);

    watched.begin = size == 0 ? 0 : (uintptr_t)address;
    watched.size = size == 0 ? SIZE_MAX : (size_t)size;
}

void
count_access(const fiber *f, uintptr_t address, size_t size, access what,
             const void *pc)
{
    block *const b = f->in;

    if (b->counts == nullptr)
        b->counts = new block_counts;
    const bool is_shared = b->shared.has(address);

    if (!is_shared && address - watched.begin >= watched.size)
        return;
    const uintptr_t unit = is_shared ? bank_width : sector;
    const uint64_t time = b->counts->places[pc].times[f->thread]++;
    request *const r = &b->counts->requests[{ pc, time << 8 | f->warp }];

    r->is_shared = is_shared;
    r->is_read = what != writes;
    r->is_written = what != reads;
    r->bytes += size;
    for (uintptr_t u = address / unit; u <= (address + size - 1) / unit; u++)
        r->units.push_back(u);
    if (!is_shared && what != writes)
        b->counts->sum.read += size;
    if (!is_shared && what != reads)
        b->counts->sum.written += size;
}

void
count_launch(const launch &what)
{
    const std::lock_guard<std::mutex> alone(all.lock);

    counting = setting("GGMLBACKEND_TEST_EMU_COUNT", 0) != 0;
    all.of(what.k).launches++;
}

void
count_block(block *b)
{
    block_counts *const counts = b->counts;
    const std::lock_guard<std::mutex> alone(all.lock);
    emu_costs &t = all.of(b->of->what->k);

    t.blocks++;
    if (counts == nullptr)
        return;
    for (auto &r : counts->requests)
        add_request(counts, &r.second);
    tidy(&counts->fetched);
    tidy(&counts->stored);
    launch_fetched.add(counts->fetched);
    launch_stored.add(counts->stored);
    t.fetched += counts->fetched.size() * sector;
    t.read += counts->sum.read;
    t.written += counts->sum.written;
    t.requests += counts->sum.requests;
    t.sectors += counts->sum.sectors;
    t.full_sectors += counts->sum.full_sectors;
    t.shared_requests += counts->sum.shared_requests;
    t.turns += counts->sum.turns;
    t.full_turns += counts->sum.full_turns;
    t.lines += counts->sum.lines;
    delete counts;
    b->counts = nullptr;
}

void
count_launch_end(const launch &what)
{
    const std::lock_guard<std::mutex> alone(all.lock);
    emu_costs &t = all.of(what.k);

    t.delivered += launch_fetched.end();
    t.stored += launch_stored.end();
}

} // namespace emu
