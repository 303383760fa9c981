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
    bool is_shared = false, is_read = false;
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
    std::unordered_map<const void *, place> places;
    std::unordered_map<request_key, request, hash_key> requests;
};

namespace {

/* By name, written when the process ends. */
class table {
public:
    ~table();
    emu_costs &of(const kernel *k) { return rows[k->name]; }

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
               t.fetched, t.lines })
            fprintf(file, " %llu", (unsigned long long)n);
        fputc('\n', file);
    }
    fclose(file);
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
add_request(block_counts *counts, request *r)
{
    emu_costs *const sum = &counts->sum;
    std::vector<uintptr_t> *const units = &r->units;

    tidy(units);
    if (r->is_read && !r->is_shared)
        counts->fetched.insert(counts->fetched.end(), units->begin(),
                               units->end());
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

} // namespace emu
