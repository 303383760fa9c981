/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/copies.c - copies of the emulated driver: what is read when,
 * what is refused, and cards that do not reach each other.
 */
#include "config.h"

#include "tests/gpu-emulator/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIZE = 10000 };

static gb_cuda_stream stream;
static gb_cuda_address memory;
static char *pinned;

static void
begin(const char *settings)
{
    emu_begin_in_context(settings);
    stream = emu_stream();
    memory = emu_memory(SIZE);
    assert_int_equal(cu.host_alloc((void **)&pinned, SIZE, 0), GB_CUDA_SUCCESS);
}

static void
end_with_reports(unsigned n)
{
    assert_int_equal(cu.host_free(pinned), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(stream), GB_CUDA_SUCCESS);
    emu_end_with_reports(n);
}

static int
first_byte(void)
{
    char byte;

    assert_int_equal(cu.copy_to_host(&byte, memory, 1, stream),
                     GB_CUDA_SUCCESS);
    return byte;
}

static void
pageable_memory_is_read_at_once(void **state)
{
    char data[SIZE];

    (void)state;
    begin("");
    memset(data, 4, SIZE);
    assert_int_equal(cu.copy_to_device(memory, data, SIZE, stream),
                     GB_CUDA_SUCCESS);
    memset(data, 5, SIZE);
    assert_int_equal(emu.queued(), 1);
    assert_int_equal(first_byte(), 4);
    end_with_reports(0);
}

static void
pageable_memory_is_written_before_the_call_returns(void **state)
{
    char data[SIZE];

    (void)state;
    begin("");
    assert_int_equal(cu.fill(memory, 6, SIZE, stream), GB_CUDA_SUCCESS);
    emu.reset();
    assert_int_equal(cu.copy_to_host(data, memory, SIZE, stream),
                     GB_CUDA_SUCCESS);
    assert_int_equal(data[SIZE - 1], 6);
    assert_int_equal(emu.count(EMU_HOST_WAITS), 1);
    assert_int_equal(emu.count(EMU_COPIES), 1);
    assert_int_equal(emu.count(EMU_COPIED_BYTES), SIZE);
    end_with_reports(0);
}

static void
pinned_memory_is_read_late_and_must_not_change(void **state)
{
    (void)state;
    begin("");
    memset(pinned, 4, SIZE);
    assert_int_equal(cu.copy_to_device(memory, pinned, SIZE, stream),
                     GB_CUDA_SUCCESS);
    pinned[0] = 5;
    assert_int_equal(first_byte(), 5);
    end_with_reports(1);
}

static void
pinned_memory_may_change_after_the_copy(void **state)
{
    (void)state;
    begin("");
    memset(pinned, 4, SIZE);
    assert_int_equal(cu.copy_to_device(memory, pinned, SIZE, stream),
                     GB_CUDA_SUCCESS);
    emu_wait(stream);
    pinned[0] = 5;
    assert_int_equal(first_byte(), 4);
    end_with_reports(0);
}

static void
pinned_memory_is_written_late(void **state)
{
    (void)state;
    begin("");
    pinned[0] = 1;
    assert_int_equal(cu.fill(memory, 6, SIZE, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.copy_to_host(pinned, memory, SIZE, stream),
                     GB_CUDA_SUCCESS);
    assert_int_equal(pinned[0], 1);
    emu_wait(stream);
    assert_int_equal(pinned[0], 6);
    end_with_reports(0);
}

/* By way of pinned memory, all of it queued before anything runs. */
static void
copies_from_card_to_card_by_the_host_are_right(void **state)
{
    (void)state;
    begin("");
    memset(pinned, 1, SIZE);
    assert_int_equal(cu.fill(memory, 6, SIZE / 2, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.copy_to_host(pinned, memory, SIZE / 2, stream),
                     GB_CUDA_SUCCESS);
    assert_int_equal(
        cu.copy_to_device(memory + SIZE / 2, pinned, SIZE / 2, stream),
        GB_CUDA_SUCCESS);
    assert_int_equal(
        cu.copy_on_device(memory, memory + SIZE / 2, SIZE / 2, stream),
        GB_CUDA_SUCCESS);
    assert_int_equal(first_byte(), 6);
    end_with_reports(0);
}

/* The host writes what a copy brings, and what a later one reads. */
static void
the_hosts_writes_between_two_copies_are_found(void **state)
{
    (void)state;
    begin("");
    memset(pinned, 1, SIZE);
    assert_int_equal(cu.fill(memory, 6, SIZE, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.copy_to_host(pinned, memory, 16, stream),
                     GB_CUDA_SUCCESS);
    assert_int_equal(cu.copy_to_device(memory, pinned, SIZE, stream),
                     GB_CUDA_SUCCESS);
    pinned[100] = 2;
    emu_wait(stream);
    end_with_reports(1);
}

static void
copies_outside_memory_are_refused(void **state)
{
    char data[SIZE + 1];
    gb_cuda_address freed;

    (void)state;
    begin("");
    memset(data, 0, sizeof(data));
    freed = emu_memory(16);
    assert_int_equal(cu.memory_free(freed), GB_CUDA_SUCCESS);
    assert_int_equal(cu.copy_to_device(memory, data, SIZE + 1, stream),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.copy_to_host(data, memory + 1, SIZE, stream),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.fill(memory - 1, 0, 2, stream), GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.fill(freed, 0, 16, stream), GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.copy_on_device(memory, freed, 16, stream),
                     GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.copy_to_device(memory + SIZE, data, 0, stream),
                     GB_CUDA_SUCCESS);
    assert_int_equal(emu.queued(), 0);
    end_with_reports(5);
}

static void
bytes_that_were_never_written_are_reported(void **state)
{
    const char *checks = getenv("GGMLBACKEND_TEST_EMU_CHECK");
    char data[16];

    (void)state;
    if (checks != NULL && strcmp(checks, "0") == 0) {
        print_message("memory is not looked at\n");
        skip();
    }
    begin("");
    assert_int_equal(cu.copy_to_host(data, memory, 16, stream),
                     GB_CUDA_SUCCESS);
    end_with_reports(1);
}

/* A second card, in whose context copies go to the first. */
struct second {
    gb_cuda_context first, context;
    gb_cuda_stream stream;
    gb_cuda_address memory;
};

static void
begin_second(struct second *s)
{
    gb_cuda_context popped;

    assert_int_equal(cu.context_retain(&s->first, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_retain(&s->context, 1), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_push(s->context), GB_CUDA_SUCCESS);
    s->stream = emu_stream();
    s->memory = emu_memory(SIZE);
    assert_int_equal(cu.fill(s->memory, 8, SIZE, s->stream), GB_CUDA_SUCCESS);
    emu_wait(s->stream);
    assert_int_equal(cu.context_pop(&popped), GB_CUDA_SUCCESS);
}

static void
end_second(const struct second *s)
{
    gb_cuda_context popped;

    assert_int_equal(cu.context_push(s->context), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(s->memory), GB_CUDA_SUCCESS);
    assert_int_equal(cu.stream_destroy(s->stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_pop(&popped), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_release(1), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_release(0), GB_CUDA_SUCCESS);
}

/* How many bytes of a copy from card 1 to card 0 are wrong. */
static int
wrong_bytes(const struct second *s)
{
    int n = 0;

    assert_int_equal(cu.copy_to_peer(memory, s->first, s->memory, s->context,
                                     SIZE, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.copy_to_host(pinned, memory, SIZE, stream),
                     GB_CUDA_SUCCESS);
    emu_wait(stream);
    for (int i = 0; i < SIZE; i++)
        n += pinned[i] != 8;
    return n;
}

static void
cards_reach_each_other(void **state)
{
    struct second s;
    int possible;

    (void)state;
    begin("DEVICES=2");
    begin_second(&s);
    assert_int_equal(cu.peer_possible(&possible, 0, 1), GB_CUDA_SUCCESS);
    assert_int_equal(possible, 1);
    assert_int_equal(cu.peer_disable(s.context),
                     GB_CUDA_PEER_ACCESS_NOT_ENABLED);
    assert_int_equal(wrong_bytes(&s), 0);
    assert_int_equal(cu.peer_enable(s.context, 0), GB_CUDA_SUCCESS);
    assert_int_equal(cu.peer_enable(s.context, 0),
                     GB_CUDA_PEER_ACCESS_ALREADY_ENABLED);
    assert_int_equal(wrong_bytes(&s), 0);
    assert_int_equal(cu.peer_disable(s.context), GB_CUDA_SUCCESS);
    assert_int_equal(cu.peer_enable(s.first, 0), GB_CUDA_INVALID_VALUE);
    end_second(&s);
    end_with_reports(0);
}

static void
cards_refuse_each_other(void **state)
{
    struct second s;
    int possible;

    (void)state;
    begin("DEVICES=2 PEER=refused");
    begin_second(&s);
    assert_int_equal(cu.peer_possible(&possible, 0, 1), GB_CUDA_SUCCESS);
    assert_int_equal(possible, 0);
    assert_int_equal(cu.peer_enable(s.context, 0), 217);
    assert_int_equal(wrong_bytes(&s), 0);
    end_second(&s);
    end_with_reports(0);
}

/* As with a broken bridge: where cards reach each other without the host. */
static void
copies_between_cards_may_be_corrupted(void **state)
{
    struct second s;

    (void)state;
    begin("DEVICES=2 PEER=corrupting");
    begin_second(&s);
    assert_int_equal(wrong_bytes(&s), 0);
    assert_int_equal(cu.peer_enable(s.context, 0), GB_CUDA_SUCCESS);
    assert_int_equal(wrong_bytes(&s), 3);
    assert_int_equal(cu.peer_disable(s.context), GB_CUDA_SUCCESS);
    assert_int_equal(wrong_bytes(&s), 0);
    end_second(&s);
    end_with_reports(0);
}

static void
memory_of_another_card_is_refused(void **state)
{
    struct second s;

    (void)state;
    begin("DEVICES=2");
    begin_second(&s);
    assert_int_equal(cu.fill(s.memory, 1, SIZE, stream), GB_CUDA_INVALID_VALUE);
    assert_int_equal(cu.fill(memory, 1, SIZE, s.stream),
                     GB_CUDA_INVALID_HANDLE);
    assert_int_equal(cu.copy_to_peer(memory, s.first, s.memory, s.first, SIZE,
                                     stream), GB_CUDA_INVALID_VALUE);
    end_second(&s);
    end_with_reports(3);
}

/* What runs and fails is known to who waits, and ends what is queued. */
static void
an_error_of_queued_work_stays(void **state)
{
    struct second s;
    gb_cuda_context popped;
    gb_cuda_event event;

    (void)state;
    begin("DEVICES=2");
    begin_second(&s);
    event = emu_event();
    assert_int_equal(cu.copy_to_peer(memory, s.first, s.memory, s.context,
                                     SIZE, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.fill(memory, 1, SIZE, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_record(event, stream), GB_CUDA_SUCCESS);
    assert_int_equal(cu.context_push(s.context), GB_CUDA_SUCCESS);
    assert_int_equal(cu.memory_free(s.memory), GB_CUDA_SUCCESS);
    s.memory = 0;
    assert_int_equal(cu.context_pop(&popped), GB_CUDA_SUCCESS);
    assert_int_equal(cu.event_wait(event), GB_CUDA_ILLEGAL_ADDRESS);
    assert_int_equal(emu.queued(), 0);
    assert_int_equal(cu.event_query(event), GB_CUDA_ILLEGAL_ADDRESS);
    assert_int_equal(cu.fill(memory, 1, SIZE, stream), GB_CUDA_ILLEGAL_ADDRESS);
    end_second(&s);
    emu_end_with_reports(2);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pageable_memory_is_read_at_once),
        cmocka_unit_test(pageable_memory_is_written_before_the_call_returns),
        cmocka_unit_test(pinned_memory_is_read_late_and_must_not_change),
        cmocka_unit_test(pinned_memory_may_change_after_the_copy),
        cmocka_unit_test(pinned_memory_is_written_late),
        cmocka_unit_test(copies_from_card_to_card_by_the_host_are_right),
        cmocka_unit_test(the_hosts_writes_between_two_copies_are_found),
        cmocka_unit_test(copies_outside_memory_are_refused),
        cmocka_unit_test(bytes_that_were_never_written_are_reported),
        cmocka_unit_test(cards_reach_each_other),
        cmocka_unit_test(cards_refuse_each_other),
        cmocka_unit_test(copies_between_cards_may_be_corrupted),
        cmocka_unit_test(memory_of_another_card_is_refused),
        cmocka_unit_test(an_error_of_queued_work_stays),
    };

    return cmocka_run_group_tests_name("copies of the emulated driver", tests,
                                       emu_open, NULL);
}
