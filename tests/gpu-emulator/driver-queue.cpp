// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-queue.cpp - streams as queues that run only when the host
 * waits.
 *
 * A real card runs ahead of the host or lags behind it as it likes.  Here
 * nothing runs before somebody waits, and then streams take turns in an order
 * that the test chooses: work that relies on luck gives wrong results in one of
 * them.
 */
#include "tests/gpu-emulator/driver.h"

#include <algorithm>

namespace emu {

namespace {

/* In the order in which they were made. */
std::vector<std::shared_ptr<stream>> streams;

uint64_t order, seed;

uint64_t
random_number()
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return seed >> 33;
}

bool
is_ready(const std::shared_ptr<stream> &s)
{
    return !s->queue.empty() && s->queue.front()->is_ready();
}

/* NULL: there is nothing that may run. */
std::shared_ptr<stream>
next_stream()
{
    std::vector<std::shared_ptr<stream>> ready;

    for (const auto &s : streams)
        if (is_ready(s))
            ready.push_back(s);
    return ready.empty() ? nullptr : ready[queue_choice(ready.size())];
}

void
forget_ended_streams()
{
    streams.erase(
        std::remove_if(streams.begin(), streams.end(),
                       [](const std::shared_ptr<stream> &s) {
                           return s->is_destroyed && s->queue.empty();
                       }),
        streams.end());
}

bool
run_next()
{
    const std::shared_ptr<stream> s = next_stream();

    if (s == nullptr)
        return false;

    const std::unique_ptr<item> what = std::move(s->queue.front());

    s->queue.pop_front();
    s->on->error = what->run();
    if (s->on->error != 0)
        queue_drop(s->on);
    forget_ended_streams();
    return true;
}

} // namespace

void
queue_order(uint64_t new_order)
{
    order = seed = new_order;
}

size_t
queue_choice(size_t n)
{
    return order == 0 ? 0 : order == 1 ? n - 1 : random_number() % n;
}

void
queue_add(stream &to, std::unique_ptr<item> what)
{
    to.queue.push_back(std::move(what));
}

/*
 * Something can always run: an item waits for items that were queued before it
 * alone.
 */
void
queue_run_until(const std::function<bool()> &is_done)
{
    while (!is_done())
        if (!run_next())
            return;
}

void
queue_run_one()
{
    run_next();
}

void
queue_run_card(const card *on)
{
    queue_run_until([on] { return !queue_has_work(on); });
}

bool
queue_has_work(const card *on)
{
    for (const auto &s : streams)
        if (s->on == on && !s->queue.empty())
            return true;
    return false;
}

bool
queue_may_use(const range &what)
{
    for (const auto &s : streams)
        for (const auto &i : s->queue)
            if (i->may_use(what))
                return true;
    return false;
}

void
queue_each(const std::function<void(item &)> &see)
{
    for (const auto &s : streams)
        for (const auto &i : s->queue)
            see(*i);
}

void
queue_drop(const card *on)
{
    for (const auto &s : streams)
        if (s->on == on)
            s->queue.clear();
    forget_ended_streams();
}

std::shared_ptr<stream>
queue_new(card *on)
{
    const auto s = std::make_shared<stream>();

    s->on = on;
    s->is_destroyed = false;
    streams.push_back(s);
    return s;
}

uint64_t
queue_length()
{
    uint64_t n = 0;

    for (const auto &s : streams)
        n += s->queue.size();
    return n;
}

} // namespace emu
