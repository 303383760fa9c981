// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-stream.cpp - streams and events.
 */
#include "tests/gpu-emulator/driver.h"

namespace emu {

namespace {

/* One recording of an event: done when its place in the stream is reached. */
struct mark {
    bool is_done;
    uint64_t time; /* of the card, then */
};

struct event {
    card *on;
    bool has_time;
    std::shared_ptr<mark> last; /* NULL: never recorded, which counts as done */
};

struct record_item : item {
    const card *on;
    std::shared_ptr<mark> what;

    /* Also when it never runs, so that nobody waits for a lost card. */
    ~record_item()
    {
        what->is_done = true;
    }
    int
    run()
    {
        what->time = on->clock;
        return 0;
    }
};

struct wait_item : item {
    std::shared_ptr<mark> what;

    bool
    is_ready() const
    {
        return what->is_done;
    }
    int
    run()
    {
        return 0;
    }
};

handles<stream, gb_cuda_stream> streams;
handles<event, gb_cuda_event> events;

bool
is_done(const event &e)
{
    return e.last == nullptr || e.last->is_done;
}

} // namespace

std::shared_ptr<stream>
stream_of(gb_cuda_stream handle, int *result)
{
    const std::shared_ptr<stream> s = streams.find(handle);

    *result = 0;
    if (s != nullptr && s->on == current_card())
        return s;
    *result = GB_CUDA_INVALID_HANDLE;
    report("a stream that %s is used",
           handle == nullptr ? "is the default one"
           : s == nullptr    ? "does not live"
                             : "belongs to another context");
    return nullptr;
}

int
host_wait(card *on, const std::function<bool()> &is_done)
{
    if (!is_done()) {
        counts[EMU_HOST_WAITS]++;
        queue_run_until(is_done);
    }
    return on->error;
}

size_t
streams_drop(const card *on)
{
    return streams.drop_those([on](const stream &s) { return s.on == on; }) +
           events.drop_those([on](const event &e) { return e.on == on; });
}

size_t
streams_live()
{
    return streams.size() + events.size();
}

int
api::stream_create(gb_cuda_stream *stream, unsigned flags)
{
    if (stream == nullptr || (flags & ~1u) != 0)
        return GB_CUDA_INVALID_VALUE;
    *stream = streams.add(queue_new(current_card()));
    return 0;
}

/* What is queued there still runs. */
int
api::stream_destroy(gb_cuda_stream stream)
{
    int result;
    const auto s = stream_of(stream, &result);

    if (s == nullptr)
        return result;
    s->is_destroyed = true;
    streams.drop(stream);
    return 0;
}

int
api::stream_query(gb_cuda_stream stream)
{
    int result;
    const auto s = stream_of(stream, &result);

    if (s == nullptr)
        return result;
    if (s->queue.empty())
        return 0;
    queue_run_one();
    return s->on->error != 0 ? s->on->error : GB_CUDA_NOT_READY;
}

int
api::stream_wait_event(gb_cuda_stream stream, gb_cuda_event event,
                       unsigned flags)
{
    int result;
    const auto s = stream_of(stream, &result);
    const auto e = events.find(event);

    if (s == nullptr)
        return result;
    if (e == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    if (flags != 0)
        return GB_CUDA_INVALID_VALUE;
    if (is_done(*e))
        return 0;

    auto wait = std::make_unique<wait_item>();

    wait->what = e->last;
    queue_add(*s, std::move(wait));
    return 0;
}

int
api::event_create(gb_cuda_event *event, unsigned flags)
{
    if (event == nullptr || (flags & ~3u) != 0)
        return GB_CUDA_INVALID_VALUE;

    const auto e = std::make_shared<emu::event>();

    e->on = current_card();
    e->has_time = (flags & GB_CUDA_EVENT_DISABLE_TIMING) == 0;
    *event = events.add(e);
    return 0;
}

int
api::event_destroy(gb_cuda_event event)
{
    return events.drop(event) ? 0 : (int)GB_CUDA_INVALID_HANDLE;
}

int
api::event_record(gb_cuda_event event, gb_cuda_stream stream)
{
    int result;
    const auto s = stream_of(stream, &result);
    const auto e = events.find(event);

    if (s == nullptr)
        return result;
    if (e == nullptr || e->on != s->on)
        return GB_CUDA_INVALID_HANDLE;
    e->last = std::make_shared<mark>();

    auto record = std::make_unique<record_item>();

    record->on = s->on;
    record->what = e->last;
    queue_add(*s, std::move(record));
    return 0;
}

int
api::event_query(gb_cuda_event event)
{
    const auto e = events.find(event);

    if (e == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    if (e->on->error != 0)
        return e->on->error;
    if (is_done(*e))
        return 0;
    queue_run_one();
    return e->on->error != 0 ? e->on->error : GB_CUDA_NOT_READY;
}

int
api::event_wait(gb_cuda_event event)
{
    const auto e = events.find(event);

    if (e == nullptr)
        return GB_CUDA_INVALID_HANDLE;
    if (e->on->error != 0)
        return e->on->error;
    return host_wait(e->on, [&e] { return is_done(*e); });
}

int
api::event_elapsed(float *ms, gb_cuda_event from, gb_cuda_event to)
{
    const auto first = events.find(from), last = events.find(to);

    if (ms == nullptr)
        return GB_CUDA_INVALID_VALUE;
    for (const auto &e : { first, last }) {
        if (e == nullptr || !e->has_time || e->last == nullptr)
            return GB_CUDA_INVALID_HANDLE;
        if (e->on->error != 0)
            return e->on->error;
        if (!is_done(*e))
            return GB_CUDA_NOT_READY;
    }
    *ms = (float)(last->last->time - first->last->time) / 1000.0f;
    return 0;
}

} // namespace emu
