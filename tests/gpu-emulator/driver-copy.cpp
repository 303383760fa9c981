// SPDX-License-Identifier: MIT
/*
 * gpu-emulator/driver-copy.cpp - copies and fills, as operations of streams.
 *
 * Pinned memory is read and written when the stream comes to it; pageable
 * memory is read at once, and written before the call returns, as the vendor
 * says ("API synchronization behavior" in the driver's manual).
 */
#include "tests/gpu-emulator/driver.h"

#include <string.h>

namespace emu {

namespace {

char *
memory_at(gb_cuda_address address)
{
    return (char *)(uintptr_t)address;
}

uint64_t
checksum(const char *data, size_t size)
{
    uint64_t sum = size;

    for (; size >= 8; size -= 8, data += 8) {
        uint64_t word;

        memcpy(&word, data, 8);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    for (; size > 0; size--, data++)
        sum = (sum ^ (unsigned char)*data) * 0x100000001b3u;
    return sum;
}

/* Memory may have been freed by another card's context meanwhile. */
int
check_again(const card *on, const range &what, const char *name)
{
    return is_reachable(on, (uintptr_t)what.from, what.size, name)
               ? 0
               : (int)GB_CUDA_ILLEGAL_ADDRESS;
}

struct to_device_item : item {
    card *on;
    range to, from;
    std::vector<char> staged; /* empty: FROM is pinned */
    uint64_t sum;             /* of pinned memory, when it was queued */

    int
    run()
    {
        const int result = check_again(on, to, "copy_to_device");

        if (result != 0)
            return result;
        check_source();
        memcpy((char *)to.from, staged.empty() ? from.from : staged.data(),
               to.size);
        memory_wrote((char *)to.from, to.size);
        on->clock += host_copy_time;
        return 0;
    }
    bool
    may_use(const range &what) const
    {
        return to.overlaps(what) || (staged.empty() && from.overlaps(what));
    }
    void
    before_host_write(const range &what)
    {
        if (may_use(what))
            check_source();
    }
    void
    after_host_write(const range &what)
    {
        if (staged.empty() && from.overlaps(what))
            sum = checksum(from.from, from.size);
    }

private:
    void
    check_source() const
    {
        if (staged.empty() && checksum(from.from, from.size) != sum)
            report("pinned memory changed while a copy of it to card %d was "
                   "queued", on->number);
    }
};

/* Writing host memory: copies of it that are queued learn of that. */
void
write_host(const range &to, const char *from)
{
    queue_each([&to](item &i) { i.before_host_write(to); });
    memcpy((char *)to.from, from, to.size);
    queue_each([&to](item &i) { i.after_host_write(to); });
}

struct to_host_item : item {
    card *on;
    range to, from;

    int
    run()
    {
        const int result = check_again(on, from, "copy_to_host");

        if (result != 0)
            return result;
        if (!memory_is_written(from.from, from.size))
            report("copy_to_host: some of %zu bytes were never written",
                   from.size);
        write_host(to, from.from);
        on->clock += host_copy_time;
        return 0;
    }
    bool
    may_use(const range &what) const
    {
        return to.overlaps(what) || from.overlaps(what);
    }
};

struct device_item : item {
    const card *on, *from_card;
    range to, from;
    bool is_corrupted; /* as between cards that cannot reach each other */

    int
    run()
    {
        if (check_again(on, to, "copy") != 0 ||
            check_again(from_card, from, "copy") != 0)
            return GB_CUDA_ILLEGAL_ADDRESS;
        memmove((char *)to.from, from.from, to.size);
        memory_copied((char *)to.from, from.from, to.size);
        for (size_t i = to.size - 1; is_corrupted && i < to.size; i -= 4096)
            ((char *)to.from)[i] ^= 0x10;
        return 0;
    }
    bool
    may_use(const range &what) const
    {
        return to.overlaps(what) || from.overlaps(what);
    }
};

struct fill_item : item {
    const card *on;
    range to;
    unsigned char value;

    int
    run()
    {
        const int result = check_again(on, to, "fill");

        if (result != 0)
            return result;
        memset((char *)to.from, value, to.size);
        memory_wrote((char *)to.from, to.size);
        return 0;
    }
    bool
    may_use(const range &what) const
    {
        return to.overlaps(what);
    }
};

void
count_copy(size_t size)
{
    counts[EMU_COPIES]++;
    counts[EMU_COPIED_BYTES] += size;
}

bool
may_corrupt(const card *one, const card *other)
{
    return set.peer == PEER_CORRUPTING &&
           (one->peers[(size_t)other->number] ||
            other->peers[(size_t)one->number]);
}

int
add_device_copy(stream &s, const card *to_card, gb_cuda_address to,
                const card *from_card, gb_cuda_address from, size_t size)
{
    auto copy = std::make_unique<device_item>();

    if (!is_reachable(to_card, to, size, "copy to a card") ||
        !is_reachable(from_card, from, size, "copy from a card"))
        return GB_CUDA_INVALID_VALUE;
    copy->on = to_card;
    copy->from_card = from_card;
    copy->to = { memory_at(to), size };
    copy->from = { memory_at(from), size };
    copy->is_corrupted = to_card != from_card &&
                         may_corrupt(to_card, from_card);
    queue_add(s, std::move(copy));
    count_copy(size);
    return 0;
}

} // namespace

int
api::copy_to_device(gb_cuda_address to, const void *from, size_t size,
                    gb_cuda_stream stream)
{
    int result;
    const auto s = stream_of(stream, &result);

    if (s == nullptr || size == 0)
        return result;
    if (!is_reachable(s->on, to, size, "copy_to_device"))
        return GB_CUDA_INVALID_VALUE;

    auto copy = std::make_unique<to_device_item>();
    const char *source = (const char *)from;

    copy->on = s->on;
    copy->to = { memory_at(to), size };
    copy->from = { source, size };
    if (host_is_pinned(from, size))
        copy->sum = checksum(source, size);
    else
        copy->staged.assign(source, source + size);
    queue_add(*s, std::move(copy));
    count_copy(size);
    return 0;
}

int
api::copy_to_host(void *to, gb_cuda_address from, size_t size,
                  gb_cuda_stream stream)
{
    int result;
    const auto s = stream_of(stream, &result);

    if (s == nullptr || size == 0)
        return result;
    if (!is_reachable(s->on, from, size, "copy_to_host"))
        return GB_CUDA_INVALID_VALUE;

    auto copy = std::make_unique<to_host_item>();

    copy->on = s->on;
    copy->to = { (const char *)to, size };
    copy->from = { memory_at(from), size };
    queue_add(*s, std::move(copy));
    count_copy(size);
    if (host_is_pinned(to, size))
        return 0;
    return host_wait(s->on, [&s] { return s->queue.empty(); });
}

int
api::copy_on_device(gb_cuda_address to, gb_cuda_address from, size_t size,
                    gb_cuda_stream stream)
{
    int result;
    const auto s = stream_of(stream, &result);

    if (s == nullptr || size == 0)
        return result;
    return add_device_copy(*s, s->on, to, s->on, from, size);
}

int
api::copy_to_peer(gb_cuda_address to, gb_cuda_context to_context,
                  gb_cuda_address from, gb_cuda_context from_context,
                  size_t size, gb_cuda_stream stream)
{
    int result;
    const auto s = stream_of(stream, &result);
    const card *to_card = card_of_context(to_context);
    const card *from_card = card_of_context(from_context);

    if (s == nullptr)
        return result;
    if (to_card == nullptr || from_card == nullptr)
        return GB_CUDA_INVALID_CONTEXT;
    if (to_card->error != 0 || from_card->error != 0)
        return to_card->error != 0 ? to_card->error : from_card->error;
    if (size == 0)
        return 0;
    return add_device_copy(*s, to_card, to, from_card, from, size);
}

int
api::fill(gb_cuda_address to, unsigned char value, size_t size,
          gb_cuda_stream stream)
{
    int result;
    const auto s = stream_of(stream, &result);

    if (s == nullptr || size == 0)
        return result;
    if (!is_reachable(s->on, to, size, "fill"))
        return GB_CUDA_INVALID_VALUE;

    auto item = std::make_unique<fill_item>();

    item->on = s->on;
    item->to = { memory_at(to), size };
    item->value = value;
    queue_add(*s, std::move(item));
    count_copy(size);
    return 0;
}

} // namespace emu
