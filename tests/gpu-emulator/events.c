/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/events.c - the emulated driver's streams run late, and as events
 * say.
 */
#include "config.h"

#include "tests/gpu-emulator/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two streams, and pinned memory that shows what card memory has. */
static gb_cuda_stream streams[2];
static gb_cuda_address memory;
static unsigned char *seen;

static void
begin(const char *settings)
{
    emu_begin_in_context(settings);
    streams[0] = emu_stream();
    streams[1] = emu_stream();
    memory = emu_memory(16);
    assert_int_equal(cu.host_alloc((void **)&seen, 16, 0), GB_CUDA_SUCCESS);
    seen[0] = 0;
    assert_int_equal(cu.fill(memory, 1, 16, streams[0]), GB_CUDA_SUCCESS);
    emu_wait(streams[0]);
}

static void
end(void)
{
    assert_int_equal(cu.host_free(seen), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(streams[0]), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(streams[1]), GB_CUDA_SUCCESS);
    assert_int_equal(emu.live(), 0);
    emu_end();
}

static void
write_in(int stream, unsigned char value)
{
    assert_int_equal(cu.fill(memory, value, 16, streams[stream]),
                     GB_CUDA_SUCCESS);
}

static void
read_in(int stream)
{
    assert_int_equal(cu.copy_to_host(seen, memory, 16, streams[stream]),
                     GB_CUDA_SUCCESS);
}

/* The other stream waits for what STREAM has so far. */
static gb_cuda_event
let_other_wait_for(int stream)
{
    gb_cuda_event event = emu_event();

    assert_int_equal(cu.event_record(event, streams[stream]), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_wait_event(streams[!stream], event, 0),
                     GB_CUDA_SUCCESS);
    return event;
}

static void
nothing_runs_before_the_host_waits(void **state)
{
    (void)state;
    begin("");
    write_in(0, 7);
    read_in(0);
    assert_int_equal(seen[0], 0);
    assert_int_equal(emu.queued(), 2);
    emu_wait(streams[0]);
    assert_int_equal(seen[0], 7);
    assert_int_equal(emu.queued(), 0);
    end();
}

/* Reads of one stream what another writes, without an event: luck. */
static int
value_read_without_event(const char *settings)
{
    int value;

    begin(settings);
    write_in(0, 7);
    read_in(1);
    emu_wait(streams[1]);
    value = seen[0];
    emu_wait(streams[0]);
    end();
    return value;
}

static void
streams_without_events_depend_on_the_order(void **state)
{
    int seen_values = 0;

    (void)state;
    assert_int_equal(value_read_without_event("ORDER=0"), 7);
    assert_int_equal(value_read_without_event("ORDER=1"), 1);
    for (char seed = '2'; seed <= '9'; seed++) {
        const char settings[] = { 'O', 'R', 'D', 'E', 'R', '=', seed, '\0' };

        seen_values |= 1 << value_read_without_event(settings);
    }
    assert_int_equal(seen_values, 1 << 7 | 1 << 1);
}

static void
a_stream_waits_for_another_ones_event(void **state)
{
    static const char *const orders[] = { "ORDER=0", "ORDER=1", "ORDER=2" };

    (void)state;
    for (int i = 0; i < 3; i++) {
        for (int writer = 0; writer < 2; writer++) {
            gb_cuda_event event;

            begin(orders[i]);
            write_in(writer, 7);
            event = let_other_wait_for(writer);
            read_in(!writer);
            emu_wait(streams[!writer]);
            assert_int_equal(seen[0], 7);
            assert_int_equal(cu.event_destroy(event), GB_CUDA_SUCCESS);
            end();
        }
    }
}

static void
an_event_that_is_recorded_again_keeps_older_waits(void **state)
{
    gb_cuda_event event;

    (void)state;
    begin("ORDER=1");
    write_in(0, 7);
    event = let_other_wait_for(0);
    read_in(1);
    write_in(0, 8);
    assert_int_equal(cu.event_record(event, streams[0]), GB_CUDA_SUCCESS);
    emu_wait(streams[1]);
    assert_int_equal(seen[0], 7);
    assert_int_equal(cu.event_query(event), GB_CUDA_NOT_READY);
    assert_int_equal(cu.event_wait(event), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_destroy(event), GB_CUDA_SUCCESS);
    end();
}

static void
a_wait_for_an_event_without_record_is_none(void **state)
{
    gb_cuda_event event;

    (void)state;
    begin("");
    event = emu_event();
    assert_int_equal(cu.event_query(event), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_wait(event), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_wait_event(streams[1], event, 0),
                     GB_CUDA_SUCCESS);
    read_in(1);
    emu_wait(streams[1]);
    assert_int_equal(seen[0], 1);
    assert_int_equal(cu.event_destroy(event), GB_CUDA_SUCCESS);
    end();
}

static void
questions_make_time_pass(void **state)
{
    gb_cuda_event event;
    int n = 0;

    (void)state;
    begin("");
    event = emu_event();
    write_in(0, 7);
    read_in(0);
    assert_int_equal(cu.event_record(event, streams[0]), GB_CUDA_SUCCESS);
    while (cu.event_query(event) == GB_CUDA_NOT_READY)
        n++;
    assert_int_equal(n, 3);
    assert_int_equal(seen[0], 7);
    write_in(0, 8);
    assert_int_equal(cu.stream_query(streams[0]), GB_CUDA_NOT_READY);
    assert_int_equal(cu.stream_query(streams[0]), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_destroy(event), GB_CUDA_SUCCESS);
    end();
}

static void
what_a_destroyed_stream_had_still_runs(void **state)
{
    gb_cuda_stream third;
    gb_cuda_event event;

    (void)state;
    begin("");
    third = emu_stream();
    event = emu_event();
    assert_int_equal(cu.fill(memory, 9, 16, third), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_record(event, third), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(third), GB_CUDA_SUCCESS);
    assert_int_equal(emu.queued(), 2);
    assert_int_equal(cu.stream_wait_event(streams[0], event, 0),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_destroy(event), GB_CUDA_SUCCESS);
    read_in(0);
    emu_wait(streams[0]);
    assert_int_equal(seen[0], 9);
    end();
}

static void
waits_of_the_host_are_counted(void **state)
{
    gb_cuda_event event;

    (void)state;
    begin("");
    event = emu_event();
    write_in(0, 7);
    assert_int_equal(cu.event_record(event, streams[0]), GB_CUDA_SUCCESS);
    emu.reset();
    assert_int_equal(cu.event_wait(event), GB_CUDA_SUCCESS);
    assert_int_equal(emu.count(EMU_HOST_WAITS), 1);
    assert_int_equal(cu.event_wait(event), GB_CUDA_SUCCESS);
    assert_int_equal(emu.count(EMU_HOST_WAITS), 1);
    assert_int_equal(emu.calls("cuEventSynchronize"), 2);
    assert_int_equal(cu.event_destroy(event), GB_CUDA_SUCCESS);
    end();
}

/* ---- work of other libraries, and time ---- */

static gb_cuda_event
timed_event(void)
{
    gb_cuda_event event;

    assert_int_equal(cu.event_create(&event, 0), GB_CUDA_SUCCESS);
    return event;
}

/* The byte at the address that DATA has. */
static void
add_one(const void *data)
{
    unsigned char *at;

    memcpy(&at, data, sizeof(at));
    if (emu.work_reads(at, 1) && emu.work_writes(at, 1))
        at[0]++;
}

static void
work_of_another_library_runs_in_its_place(void **state)
{
    (void)state;
    begin("");
    write_in(0, 7);
    assert_int_equal(emu.queue_work(streams[0], add_one, &memory,
                                    sizeof(memory), 0), GB_CUDA_SUCCESS);
    read_in(0);
    write_in(0, 3);
    assert_int_equal(seen[0], 0);
    emu_wait(streams[0]);
    assert_int_equal(seen[0], 8);
    end();
}

static void
its_reads_of_what_was_never_written_are_reported(void **state)
{
    gb_cuda_address fresh;

    (void)state;
    begin("");
    fresh = emu_memory(16);
    assert_int_equal(emu.queue_work(streams[0], add_one, &fresh,
                                    sizeof(fresh), 0), GB_CUDA_SUCCESS);
    emu_wait(streams[0]);
    assert_int_equal(cu.memory_free(fresh), GB_CUDA_SUCCESS);
    assert_int_equal(cu.host_free(seen), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(streams[0]), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(streams[1]), GB_CUDA_SUCCESS);
    emu_end_with_reports(1);
}

static void
events_tell_the_time_between_them(void **state)
{
    gb_cuda_event first, last, without;
    float ms = -1.0f;

    (void)state;
    begin("");
    first = timed_event();
    last = timed_event();
    without = emu_event();
    assert_int_equal(cu.event_elapsed(&ms, first, last),
                     GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.event_record(first, streams[0]), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_record(without, streams[0]), GB_CUDA_SUCCESS);
    assert_int_equal(emu.queue_work(streams[0], add_one, &memory,
                                    sizeof(memory), 2500), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_record(last, streams[0]), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_elapsed(&ms, first, last), GB_CUDA_NOT_READY);
    emu_wait(streams[0]);
    assert_int_equal(cu.event_elapsed(&ms, first, last), GB_CUDA_SUCCESS);
    assert_true(ms == 2.5f);
    assert_int_equal(cu.event_elapsed(&ms, without, last),
                     GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.event_elapsed(NULL, first, last),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.event_destroy(first), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_destroy(last), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_destroy(without), GB_CUDA_SUCCESS);
    end();
}

static void
handles_that_do_not_live_are_refused(void **state)
{
    gb_cuda_stream third;
    gb_cuda_event event;

    (void)state;
    begin("");
    third = emu_stream();
    event = emu_event();
    assert_int_equal(cu.stream_destroy(third), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_destroy(event), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_destroy(event), GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.event_wait(event), GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.event_query(event), GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.event_record(event, streams[0]),
                     GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.stream_wait_event(streams[0], event, 0),
                     GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.host_free(seen), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_query(third), GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.fill(memory, 1, 1, NULL), GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(streams[0]), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(streams[1]), GB_CUDA_SUCCESS);
    emu_end_with_reports(2);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_runs_before_the_host_waits),
        cmocka_unit_test(streams_without_events_depend_on_the_order),
        cmocka_unit_test(a_stream_waits_for_another_ones_event),
        cmocka_unit_test(an_event_that_is_recorded_again_keeps_older_waits),
        cmocka_unit_test(a_wait_for_an_event_without_record_is_none),
        cmocka_unit_test(questions_make_time_pass),
        cmocka_unit_test(what_a_destroyed_stream_had_still_runs),
        cmocka_unit_test(waits_of_the_host_are_counted),
        cmocka_unit_test(work_of_another_library_runs_in_its_place),
        cmocka_unit_test(its_reads_of_what_was_never_written_are_reported),
        cmocka_unit_test(events_tell_the_time_between_them),
        cmocka_unit_test(handles_that_do_not_live_are_refused),
    };

    return cmocka_run_group_tests_name(
        "streams and events of the emulated driver", tests, emu_open, NULL);
}
