/* SPDX-License-Identifier: MIT */
/*
 * bench/against.c - the same cases on two libraries, in turns.
 */
#include "tools/ggmlbackend-bench/against.h"

#include "tools/common/json.h"
#include "tools/common/tool.h"
#include "tools/ggmlbackend-bench/library.h"
#include "tools/ggmlbackend-bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Turns that each library gets with a case, and samples of a turn. */
#define N_TURNS       5
#define LEAST_SAMPLES 2

/* Pause before a turn, until the other library's threads no longer spin. */
#define PAUSE_NS 10000000

/* A process with a library. */
struct server {
    const char *preload; /* what it is started with, NULL for nothing */
    char **argv;
    pid_t pid;
    FILE *to, *from;
    char library[512];
    char device[64];
};

/* In the new process; does not come back. */
static _Noreturn void
become_server(const struct server *s, int in, int out)
{
    size_t n = 0;
    char **argv;

    while (s->argv[n] != NULL)
        n++;
    argv = calloc(n + 2, sizeof(*argv));
    if (argv != NULL && dup2(in, STDIN_FILENO) >= 0 &&
        dup2(out, STDOUT_FILENO) >= 0) {
        static char serve[] = "--serve";

        argv[0] = s->argv[0];
        argv[1] = serve;
        memcpy(argv + 2, s->argv + 1, (n - 1) * sizeof(*argv));
        if (s->preload != NULL)
            setenv("LD_PRELOAD", s->preload, 1);
        execv("/proc/self/exe", argv);
        execvp(argv[0], argv);
    }
    tool_error("%s: %s", s->argv[0], strerror(errno));
    _exit(TOOL_FAILED);
}

/* The next line of JSON that S writes; NULL when there is none. */
static json_t *
read_answer(struct server *s)
{
    char *line = NULL;
    size_t room = 0;
    json_t *json = NULL;

    /* Other lines may be some library's greetings. */
    while (json == NULL && getline(&line, &room, s->from) > 0)
        if (line[0] == '{')
            json = json_loads(line, 0, NULL);
    free(line);
    return json;
}

/* Does FILE, which may be none, belong to what S was started with? */
static bool
is_own(const struct server *s, const char *file)
{
    return s->preload == NULL || file == NULL ||
        strstr(s->preload, file) != NULL ||
        tool_error("%s: %s is used instead", s->preload, file);
}

static bool
read_greeting(struct server *s)
{
    json_t *json = read_answer(s);
    const char *library, *device, *backend;
    bool is_right;

    if (json == NULL)
        return false;
    library = json_string_value(json_object_get(json, "library"));
    device = json_string_value(json_object_get(json, "device"));
    backend = json_string_value(json_object_get(json, "backend"));
    snprintf(s->library, sizeof(s->library), "%s",
             library == NULL ? "" : library);
    snprintf(s->device, sizeof(s->device), "%s", device == NULL ? "" : device);
    is_right = is_own(s, s->library) && is_own(s, backend);
    json_decref(json);
    return is_right;
}

/*
 * End S; true unless a signal ended it, or it failed.  *SIGNAL is set to the
 * first, or 0.
 */
static bool
stop(struct server *s, int *signal)
{
    int status = 0;

    if (s->to != NULL)
        fclose(s->to);
    if (s->from != NULL)
        fclose(s->from);
    while (s->pid > 0 && waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    s->to = s->from = NULL;
    s->pid = 0;
    *signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return status == 0;
}

static bool
start(struct server *s)
{
    int to[2], from[2], signal;

    if (pipe(to) != 0 || pipe(from) != 0)
        return tool_error("%s", strerror(errno));
    for (int i = 0; i < 2; i++) {
        fcntl(to[i], F_SETFD, FD_CLOEXEC);
        fcntl(from[i], F_SETFD, FD_CLOEXEC);
    }
    s->pid = fork();
    if (s->pid == 0)
        become_server(s, to[0], from[1]);
    close(to[0]);
    close(from[1]);
    s->to = fdopen(to[1], "w");
    s->from = fdopen(from[0], "r");
    if (s->pid > 0 && s->to != NULL && s->from != NULL && read_greeting(s))
        return true;
    stop(s, &signal);
    if (signal != 0)
        tool_error("%s: ended by signal %d",
                   s->preload == NULL ? library_here() : s->preload, signal);
    return false;
}

/* Take the samples of MORE, which is of the same case, and clear it. */
static bool
merge(struct result *r, struct result *more)
{
    bool is_done = true;

    for (size_t i = 0; is_done && i < more->seconds.n; i++)
        is_done = samples_push(&r->seconds, more->seconds.at[i]);
    result_clear(more);
    return is_done;
}

/*
 * S ended instead of answering.  Where a signal ended it the library cannot do
 * this case, and others may work; else it has said what is wrong.
 */
static bool
restart(struct server *s, struct result *r)
{
    int signal;

    if (stop(s, &signal) || signal == 0)
        return false;
    tool_warning("%s: ended by signal %d in %s", s->library, signal, r->name);
    r->is_supported = false;
    return start(s);
}

/* One turn of case INDEX on S, its samples into R. */
static bool
take_turn(struct server *s, size_t index, double seconds, struct result *r)
{
    const struct timespec pause = { 0, PAUSE_NS };
    struct result turn;
    json_t *json;
    bool is_read;

    nanosleep(&pause, NULL);
    fprintf(s->to, "%zu %.6f %d\n", index, seconds / N_TURNS, LEAST_SAMPLES);
    fflush(s->to);
    json = read_answer(s);
    if (json == NULL)
        return restart(s, r);
    is_read = result_from_json(&turn, json, s->library);
    json_decref(json);
    if (!is_read)
        return false;
    r->is_supported = r->is_supported && turn.is_supported;
    r->work = turn.work;
    r->demand = turn.demand;
    r->clock = turn.clock;
    r->power = turn.power;
    r->n_processes = turn.n_processes;
    if (turn.slowed[0] != '\0')
        memcpy(r->slowed, turn.slowed, sizeof(r->slowed));
    return merge(r, &turn);
}

/* All turns of case INDEX; each server goes first every other time. */
static bool
run_turns(struct server servers[2], const struct bench_case *c, size_t index,
          double seconds, struct result results[2])
{
    for (int i = 0; i < 2; i++) {
        results[i].is_supported = true;
        results[i].unit = c->kind->unit;
        snprintf(results[i].name, sizeof(results[i].name), "%s", c->name);
    }
    for (int turn = 0; turn < N_TURNS; turn++)
        for (int i = 0; i < 2; i++) {
            const int side = (turn + i) % 2;

            if (results[side].is_supported &&
                !take_turn(&servers[side], index, seconds, &results[side]))
                return false;
        }
    return true;
}

static bool
run_pair(struct server servers[2], const struct bench_case *c, size_t index,
         double seconds, struct machine *m, struct report *report)
{
    struct result results[2] = { { .n_threads = m->n_threads },
                                 { .n_threads = m->n_threads } };
    const bool is_done =
        run_turns(servers, c, index, seconds, results) &&
        machine_bound(m, &results[0]) && machine_bound(m, &results[1]) &&
        report_case(report, &results[0], &results[1]);

    result_clear(&results[0]);
    result_clear(&results[1]);
    return is_done;
}

static bool
run_list(struct server servers[2], const struct case_list *list,
         double seconds, struct machine *m, struct report *report)
{
    bool is_done = true;

    progress_begin(&report->bar, "measuring", list->n);
    for (size_t i = 0; is_done && i < list->n; i++) {
        progress_update(&report->bar, i);
        is_done = run_pair(servers, &list->at[i], i, seconds, m, report);
    }
    progress_end(&report->bar);
    return is_done;
}

bool
against_run(const struct case_list *list, const struct options *o, char **argv,
            const char *files, struct machine *m, struct report *report)
{
    struct server servers[2] = { { .argv = argv },
                                 { .argv = argv, .preload = files } };
    bool is_done = false;
    int ended_by;

    /* A server that ended is noticed by what it does not answer. */
    signal(SIGPIPE, SIG_IGN);
    if (start(&servers[0]) && start(&servers[1])) {
        for (int i = 0; i < 2; i++)
            snprintf(report->labels[i], sizeof(report->labels[i]), "%s",
                     servers[i].library);
        report->device = servers[0].device;
        is_done = report_limits(report, m) &&
            run_list(servers, list, o->seconds, m, report);
    }
    stop(&servers[0], &ended_by);
    stop(&servers[1], &ended_by);
    return is_done;
}

/* The whole path of FILE, as a string; null for NULL. */
static json_t *
whole_path(const char *file)
{
    char *path = file == NULL ? NULL : realpath(file, NULL);
    json_t *json = tool_json_text(path != NULL ? path : file);

    free(path);
    return json;
}

/* Where the functions are from, and where the device is that computes. */
static bool
greet(const struct bench *bench)
{
    const char *device = ggml_backend_dev_name(bench->device->dev);
    json_t *root = json_object();

    tool_json_put(root, "library", whole_path(library_here()));
    tool_json_put(root, "backend", whole_path(library_of(bench->device->dev)));
    tool_json_put(root, "device", tool_json_text(device));
    return tool_json_print(root) && fflush(stdout) == 0;
}

static bool
answer(struct measured *m, const struct bench *bench,
       const struct bench_case *c, double seconds, size_t n_least)
{
    struct result r = { .n_threads = (int)bench->options->n_threads };
    bool is_done;

    if (m->c != c) {
        if (m->c != NULL)
            measure_close(m);
        if (!measure_open(m, bench, c))
            return false;
    }
    is_done = measure_samples(m, seconds, n_least, &r) &&
        tool_json_print(result_to_json(&r)) && fflush(stdout) == 0;
    result_clear(&r);
    return is_done;
}

bool
against_serve(const struct case_list *list, const struct bench *bench)
{
    struct measured m = { .c = NULL };
    bool is_done = greet(bench);
    char *line = NULL;
    size_t room = 0;

    while (is_done && getline(&line, &room, stdin) > 0) {
        size_t index, n_least;
        double seconds;

        if (sscanf(line, "%zu %lf %zu", &index, &seconds, &n_least) != 3 ||
            index >= list->n || n_least > 1000)
            is_done = tool_error("standard input: is not 'case seconds "
                                 "samples'");
        else
            is_done = answer(&m, bench, &list->at[index], seconds, n_least);
    }
    /* No memory for a line is no end of the cases. */
    if (is_done && !feof(stdin))
        is_done = tool_error("standard input: %s", strerror(errno));
    if (m.c != NULL)
        measure_close(&m);
    free(line);
    return is_done;
}
