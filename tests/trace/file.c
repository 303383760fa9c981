/* SPDX-License-Identifier: MIT */
/*
 * tests/trace/file.c - the file of a timeline: always whole, and never in the
 * way.
 */
#include "config.h"

#include "lib/trace/trace.h"

#include "ggmlbackend.h"

#include "lib/base/mem.h"
#include "lib/trace/file.h"

#include "tests/trace/events.h"
#include "tests/util/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct gb_child child;

static void
wait_once(const char *backend)
{
    const int track = gb_trace_track(backend);

    if (track != 0)
        gb_trace_wait(track, gb_trace_now(), "event", backend);
}

static void
ask_only(void)
{
    fprintf(stderr, "%d", gb_trace_track("CPU"));
}

static void
a_timeline_without_spans_is_whole(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, ask_only, &child);
    assert_string_equal(child.errors, "1");
    events = events_load(events_file);
    assert_int_equal(json_array_size(events), 0);
    json_decref(events);
}

static void
without_the_variable_there_is_no_track(void **state)
{
    (void)state;
    events_run("", ask_only, &child);
    assert_string_equal(child.errors, "0");
}

/* Far more than a block holds. */
static void
write_many(void)
{
    for (int i = 0; i < 2000; i++)
        wait_once("CPU");
    gb_trace_flush();
    wait_once("never flushed");
}

static void
what_was_flushed_is_whole_when_the_process_is_gone(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, write_many, &child);
    assert_true(child.is_done);
    assert_string_equal(child.errors, "");
    events = events_load(events_file);
    assert_int_equal(events_count(events, "wait"), 2000);
    json_decref(events);
}

static void
an_older_file_is_replaced(void **state)
{
    json_t *events;

    (void)state;
    for (int i = 0; i < 2; i++)
        events_run(events_file, i == 0 ? write_many : ask_only, &child);
    events = events_load(events_file);
    assert_int_equal(json_array_size(events), 0);
    json_decref(events);
}

static const char *const names[] = {
    "quote \" back \\ slash /", "line\nfeed\ttab\x01",
    "K\xc3\xb6rper \xe2\x82\xac",
    "half a character: \xe2\x82", "\xff\xfe", "",
    "csi\302\2332J\177\xe2\x80\xae",
};

static void
write_names(void)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        wait_once(names[i]);
    gb_trace_flush();
}

/* Does the file at events_file have a byte that a terminal obeys? */
static bool
has_controls(void)
{
    FILE *file = fopen(events_file, "r");
    bool is_found = false;
    int before = 0, c;

    assert_non_null(file);
    for (; (c = getc(file)) != EOF; before = c)
        is_found = is_found || (c < 0x20 && c != '\n') || c == 0x7f ||
            (before == 0xc2 && c < 0xa0);
    fclose(file);
    return is_found;
}

static void
any_name_survives(void **state)
{
    const char *const read[] = {
        names[0], names[1], names[2],
        "half a character: \xef\xbf\xbd\xef\xbf\xbd",
        "\xef\xbf\xbd\xef\xbf\xbd", "", names[6],
    };
    json_t *events;

    (void)state;
    events_run(events_file, write_names, &child);
    assert_false(has_controls());
    events = events_load(events_file);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const json_t *event = events_get(events, "wait", i);

        assert_string_equal(event_text(event, "for"), read[i]);
        assert_string_equal(event_process(events, event), read[i]);
    }
    json_decref(events);
}

static void
write_twice(void)
{
    wait_once("CPU");
    gb_trace_flush();
    wait_once("CPU");
    gb_trace_flush();
}

static void
a_file_that_cannot_be_written_is_warned_of_once(void **state)
{
    static const char *const paths[] = { "no such folder/trace.json", ".",
                                         "/dev/full" };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        events_run(paths[i], write_twice, &child);
        assert_true(child.is_done);
        assert_memory_equal(child.errors, "trace: ", 7);
        assert_non_null(strstr(child.errors, paths[i]));
        /* One line. */
        assert_ptr_equal(strchr(child.errors, '\n'),
                         child.errors + strlen(child.errors) - 1);
    }
}

/* Nobody reads it, so an ordinary open would wait for ever. */
static void
a_pipe_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(events_file, 0600), 0);
    events_run(events_file, write_twice, &child);
    assert_true(child.is_done);
    assert_memory_equal(child.errors, "trace: ", 7);
}

static struct gb_trace_file file;

static void
put_event(const char *name)
{
    gb_trace_file_begin(&file);
    gb_trace_file_put_string(&file, name);
}

/* A descriptor that is only for reading stands for a disk that is full. */
static void
fill_the_disk(void)
{
    const char *name = getenv("GGMLBACKEND_TRACE");
    FILE *other;

    assert_int_equal(gb_trace_file_open(&file, name), 0);
    put_event("first");
    gb_trace_file_flush(&file);
    other = fopen(name, "r");
    dup2(fileno(other), file.fd);
    fclose(other);
    for (int i = 0; i < 3; i++) {
        put_event("lost");
        gb_trace_file_flush(&file);
    }
    fprintf(stderr, "%d", file.error == EBADF);
    gb_trace_file_close(&file);
}

static void
what_was_written_before_the_disk_was_full_is_whole(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, fill_the_disk, &child);
    assert_true(child.is_done);
    assert_string_equal(child.errors, "1");
    events = events_load(events_file);
    assert_int_equal(json_array_size(events), 1);
    json_decref(events);
}

/* A limit on files' sizes is like a disk with little room. */
static void
write_more_than_fits(void)
{
    struct rlimit before, limit;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &limit);
    write_twice();
    write_many();
    write_many();
    /* What else writes when the process ends, does so. */
    setrlimit(RLIMIT_FSIZE, &before);
}

static void
a_full_disk_ends_the_timeline_with_one_message(void **state)
{
    char message[256];
    json_t *events;

    (void)state;
    events_run(events_file, write_more_than_fits, &child);
    snprintf(message, sizeof(message),
             "trace: %s: %s; no more is written to it\n", events_file,
             strerror(EFBIG));
    assert_string_equal(child.errors, message);
    events = events_load(events_file);
    assert_int_equal(events_count(events, "wait"), 2);
    events_assert_nested(events);
    json_decref(events);
}

/* Those who have a track go on, and nothing comes of it. */
static void
go_on_after_it_was_full(void)
{
    const struct ggml_tensor x = { .op = GGML_OP_SQR, .ne = { 1, 1, 1, 1 } };
    const int track = gb_trace_track("CPU");
    const int64_t now = gb_trace_now();

    write_more_than_fits();
    gb_trace_node(track, now, &x);
    gb_trace_graph(track, now, 1, 1);
    gb_trace_split(track, now, 0, 1, 0);
    gb_trace_compute(track, now, 1, 1, 0);
    gb_trace_copy(track, now, &x, "CPU", "CPU");
    gb_trace_wait(track, now, "event", "CPU");
    gb_trace_flush();
    fprintf(stderr, "%d", gb_trace_track("CPU"));
}

static void
spans_after_the_end_of_a_timeline_are_not_written(void **state)
{
    static const char *const kinds[] = { "node", "graph", "split", "compute",
                                         "copy" };
    json_t *events;

    (void)state;
    events_run(events_file, go_on_after_it_was_full, &child);
    assert_non_null(strstr(child.errors, "no more is written to it\n0"));
    events = events_load(events_file);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        assert_int_equal(events_count(events, kinds[i]), 0);
    json_decref(events);
}

/* The clock began long before the timeline. */
static void
write_own_spans(void)
{
    const int track = ggmlbackend_trace_track("Plain0");
    const int64_t start = ggmlbackend_trace_now();

    ggmlbackend_trace_span(track, "outer", start, 5000);
    ggmlbackend_trace_span(track, "inner", start + 1000, 2500);
    ggmlbackend_trace_span(0, "of no track", start, 1);
    ggmlbackend_trace_flush();
    fprintf(stderr, "%d%s", track, ggmlbackend_last_failure());
    setenv("GGMLBACKEND_LOG", "none", 1);
    ggmlbackend_trace_span(track + 1, "of a track too high", start, 1);
    ggmlbackend_trace_span(-1, "of a track too low", start, 1);
    ggmlbackend_trace_span(track, "too early", 0, 1);
    ggmlbackend_trace_span(track, "backwards", start, -1);
    ggmlbackend_trace_span(track, NULL, start, 1);
    fprintf(stderr, "%d", ggmlbackend_trace_track(NULL));
    ggmlbackend_trace_flush();
}

static void
backends_add_spans_of_their_own(void **state)
{
    const json_t *outer, *inner;
    json_t *events;

    (void)state;
    events_run(events_file, write_own_spans, &child);
    assert_true(child.is_done);
    assert_memory_equal(child.errors, "1", 1);
    assert_null(strstr(child.errors, "outer"));
    events = events_load(events_file);
    events_assert_nested(events);
    assert_int_equal(events_count(events, "backend"), 2);
    outer = events_get(events, "backend", 0);
    inner = events_get(events, "backend", 1);
    assert_string_equal(
        json_string_value(json_object_get(outer, "name")), "outer");
    assert_string_equal(event_process(events, outer), "Plain0");
    assert_true(event_is_within(inner, outer));
    assert_true(
        json_number_value(json_object_get(inner, "dur")) == 2.5);
    json_decref(events);
}

static void
write_own_spans_without_a_file(void)
{
    fprintf(stderr, "%d", ggmlbackend_trace_track("Plain0"));
    ggmlbackend_trace_span(3, "for nobody", 0, -1);
    ggmlbackend_trace_flush();
}

static void
without_a_timeline_spans_are_nothing(void **state)
{
    (void)state;
    events_run("", write_own_spans_without_a_file, &child);
    assert_true(child.is_done);
    assert_string_equal(child.errors, "0");
}

/* The first process writes while a second one tries to. */
static void
write_beside_another(void)
{
    int status = 0;
    pid_t pid;

    wait_once("CPU");
    pid = fork();
    if (pid == 0) {
        struct gb_trace_file second;

        exit(gb_trace_file_open(&second, getenv("GGMLBACKEND_TRACE")));
    }
    waitpid(pid, &status, 0);
    fprintf(stderr, "%d", WEXITSTATUS(status) == EBUSY);
    gb_trace_flush();
}

static void
two_processes_do_not_share_a_file(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, write_beside_another, &child);
    assert_string_equal(child.errors, "1");
    events = events_load(events_file);
    assert_int_equal(events_count(events, "wait"), 1);
    json_decref(events);
}

/* With spans waiting in the block, which must not be written twice. */
static void
fork_after_a_span(void)
{
    int track, status = 0;
    pid_t pid;

    wait_once("CPU");
    track = gb_trace_track("CPU");
    pid = fork();
    if (pid == 0) {
        fprintf(stderr, "%d.", gb_trace_track("CPU"));
        gb_trace_wait(track, gb_trace_now(), "event", "CPU");
        gb_trace_flush();
        _exit(0);
    }
    waitpid(pid, &status, 0);
    wait_once("CPU");
    gb_trace_flush();
}

static void
a_forked_child_writes_nothing(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, fork_after_a_span, &child);
    assert_string_equal(child.errors, "0.");
    events = events_load(events_file);
    assert_int_equal(events_count(events, "wait"), 2);
    json_decref(events);
}

static void *
write_from_a_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++)
        wait_once("CPU");
    gb_trace_flush();
    return NULL;
}

static void
write_from_threads(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, write_from_a_thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void
threads_have_tracks_of_their_own(void **state)
{
    json_t *events;

    (void)state;
    events_run(events_file, write_from_threads, &child);
    events = events_load(events_file);
    assert_int_equal(events_count(events, "wait"), 800);
    events_assert_nested(events);
    for (size_t i = 0; i < 800; i++)
        assert_string_equal(
            event_process(events, events_get(events, "wait", i)), "CPU");
    json_decref(events);
}

/* Which allocation fails; the trace begins but once in a process. */
static int n_good;

static bool
is_its_turn(void *data)
{
    (void)data;
    return n_good-- == 0;
}

static void
write_with_little_memory(void)
{
    gb_mem_set_fault(is_its_turn, NULL);
    wait_once("CPU");
    wait_once("other");
    gb_trace_flush();
    gb_mem_set_fault(NULL, NULL);
    if (n_good < 0)
        fprintf(stderr, "failed");
}

static void
without_memory_the_timeline_ends(void **state)
{
    bool has_failed = true;

    (void)state;
    for (int n = 0; has_failed; n++) {
        n_good = n;
        events_run(events_file, write_with_little_memory, &child);
        assert_true(child.is_done);
        has_failed = strstr(child.errors, "failed") != NULL;
        if (access(events_file, F_OK) == 0)
            json_decref(events_load(events_file));
    }
}

int
main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, events_begin, events_end)
    /* All run in children: this process's environment stays unread. */
    static const struct CMUnitTest tests[] = {
        TEST(backends_add_spans_of_their_own),
        TEST(without_a_timeline_spans_are_nothing),
        TEST(a_timeline_without_spans_is_whole),
        TEST(without_the_variable_there_is_no_track),
        TEST(what_was_flushed_is_whole_when_the_process_is_gone),
        TEST(an_older_file_is_replaced),
        TEST(any_name_survives),
        TEST(a_file_that_cannot_be_written_is_warned_of_once),
        TEST(a_pipe_is_refused),
        TEST(what_was_written_before_the_disk_was_full_is_whole),
        TEST(a_full_disk_ends_the_timeline_with_one_message),
        TEST(spans_after_the_end_of_a_timeline_are_not_written),
        TEST(two_processes_do_not_share_a_file),
        TEST(a_forked_child_writes_nothing),
        TEST(threads_have_tracks_of_their_own),
        TEST(without_memory_the_timeline_ends),
    };
#undef TEST

    return cmocka_run_group_tests_name("a timeline's file", tests, NULL, NULL);
}
