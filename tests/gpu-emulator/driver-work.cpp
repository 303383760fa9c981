// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-work.cpp - what other libraries of the vendor's would put
 * into a stream, and the time that a card's work takes.
 *
 * Time is counted and not measured, 100 microseconds for a product of matrices,
 * 10 for any other kernel and 20 for a copy from or to the host: what is compared
 * by it comes out the same on every machine.
 */
#include "tests/gpu-emulator/driver.h"

#include <string.h>

namespace emu {

namespace {

/* Of the work that runs. */
const card *running_on;
bool is_wrong;

struct work_item : item {
    card *on;
    void (*function)(const void *data);
    std::vector<char> data;
    uint64_t us;

    int
    run()
    {
        running_on = on;
        is_wrong = false;
        function(data.data());
        on->clock += us;
        return is_wrong ? (int)GB_CUDA_ILLEGAL_ADDRESS : 0;
    }
    /* Any word of the data that could be an address in there. */
    bool
    may_use(const range &what) const
    {
        for (size_t i = 0; i + sizeof(char *) <= data.size();
             i += sizeof(char *)) {
            const char *word;

            memcpy(&word, &data[i], sizeof(word));
            if (what.overlaps({ word, 1 }))
                return true;
        }
        return false;
    }
};

} // namespace

uint64_t
kernel_time(const kernel &k)
{
    return strstr(k.name, "gemm") != nullptr ? 100 : 10;
}

int
queue_work(gb_cuda_stream stream, void (*run)(const void *data),
           const void *data, size_t size, uint64_t us)
{
    const card *on = current_card();
    int result;

    if (on == nullptr)
        return GB_CUDA_INVALID_CONTEXT;
    if (on->error != 0)
        return on->error;

    const auto s = stream_of(stream, &result);

    if (s == nullptr)
        return result;

    auto work = std::make_unique<work_item>();

    work->on = s->on;
    work->function = run;
    work->data.assign((const char *)data, (const char *)data + size);
    work->us = us;
    queue_add(*s, std::move(work));
    return 0;
}

bool
work_uses(const void *at, size_t size, bool writes)
{
    if (!is_reachable(running_on, (uintptr_t)at, size, "a library")) {
        is_wrong = true;
        return false;
    }
    if (writes)
        memory_wrote((void *)at, size);
    else if (!memory_is_written(at, size))
        report("a library reads %zu bytes, of which some were never written",
               size);
    return true;
}

} // namespace emu
