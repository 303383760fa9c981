/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/program.c - tiny models, and the program run on them.
 */
#include "config.h"

#include "tests/tools/run/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

int
folder_make(void **state)
{
    (void)state;
    strcpy(folder, "run-test-XXXXXX");
    return mkdtemp(folder) == NULL;
}

int
folder_remove(void **state)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    (void)state;
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlink(in_folder(entry->d_name));
    if (dir != NULL)
        closedir(dir);
    return rmdir(folder);
}

const char *
in_folder(const char *name)
{
    static char paths[10][512];
    static int next;
    char *path = paths[next];

    next = (next + 1) % 10;
    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

void
write_file(const char *name, const void *data, size_t size)
{
    FILE *file = fopen(in_folder(name), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* All of the file at PATH. */
static char *
slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(1 << 24);

    assert_non_null(file);
    assert_non_null(data);
    *size = fread(data, 1, (1 << 24) - 1, file);
    data[*size] = '\0';
    fclose(file);
    return data;
}

static const char *
build_folder(void)
{
    const char *path = getenv("top_builddir");

    return path == NULL ? "." : path;
}

void
make_model(const char *name, const char *options)
{
    char command[2048];

    if (access(in_folder(name), R_OK) == 0)
        return;
    snprintf(command, sizeof(command), "'%s'/examples/make-tiny-model %s '%s'",
             build_folder(), options, in_folder(name));
    if (system(command) != 0)
        fail_msg("%s", command);
}

void
write_model(const char *name, struct gguf_context *gguf,
            struct ggml_context *ctx)
{
    for (struct ggml_tensor *t = ggml_get_first_tensor(ctx); t != NULL;
         t = ggml_get_next_tensor(ctx, t))
        if (gguf_find_tensor(gguf, t->name) >= 0)
            gguf_set_tensor_data(gguf, t->name, t->data);
    assert_true(gguf_write_to_file(gguf, in_folder(name), false));
    gguf_free(gguf);
    ggml_free(ctx);
}

static struct result
run_v(const char *program, const char *arguments, va_list args)
{
    char line[2048], command[4096];
    struct result r = { .status = -1 };
    size_t size;
    int status;

    vsnprintf(line, sizeof(line), arguments, args);
    snprintf(command, sizeof(command), "'%s'/%s %s >%s 2>%s </dev/null",
             build_folder(), program, line, in_folder("out"),
             in_folder("err"));
    status = system(command);
    if (WIFEXITED(status) && WEXITSTATUS(status) < 126)
        r.status = WEXITSTATUS(status);
    r.out = slurp(in_folder("out"), &r.size);
    r.err = slurp(in_folder("err"), &size);
    return r;
}

struct result
run(const char *arguments, ...)
{
    struct result r;
    va_list args;

    va_start(args, arguments);
    r = run_v("ggmlbackend-run", arguments, args);
    va_end(args);
    return r;
}

struct result
run_other(const char *program, const char *arguments, ...)
{
    struct result r;
    va_list args;

    va_start(args, arguments);
    r = run_v(program, arguments, args);
    va_end(args);
    return r;
}

/* In a new process: COMMAND with the terminal NAME for everything.  The shell of a
 * background job, and nohup, have some signals ignored. */
static _Noreturn void
become(const char *name, const char *command)
{
    int fd;

    signal(SIGHUP, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    setsid();
    fd = open(name, O_RDWR);
    if (fd >= 0 && dup2(fd, 0) >= 0 && dup2(fd, 1) >= 0 && dup2(fd, 2) >= 0)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

#define SHOWN_MAX ((size_t)1 << 20)
#define LIMIT_S   300 /* of a program */

void
terminal_open(struct terminal *t, const char *program, const char *arguments)
{
    char command[4096];

    t->master = posix_openpt(O_RDWR | O_NOCTTY);
    t->shown = calloc(1, SHOWN_MAX);
    t->size = t->seen = 0;
    assert_non_null(t->shown);
    assert_true(t->master >= 0 && grantpt(t->master) == 0 &&
                unlockpt(t->master) == 0);
    snprintf(command, sizeof(command), "exec '%s'/%s %s", build_folder(),
             program, arguments);
    t->child = fork();
    assert_true(t->child >= 0);
    if (t->child == 0)
        become(ptsname(t->master), command);
    t->deadline = time(NULL) + LIMIT_S;
}

/* The test fails, and the program ends, after the deadline. */
static void
check_time(const struct terminal *t, const char *awaited)
{
    if (time(NULL) < t->deadline)
        return;
    kill(t->child, SIGKILL);
    fail_msg("no %s after %d s: %s", awaited, LIMIT_S, t->shown);
}

/* Read what is shown; false at the end, and after a second without any.  EIO when the
 * program has closed its end, and once before it opened it. */
static bool
read_shown(struct terminal *t)
{
    struct pollfd end = { .fd = t->master, .events = POLLIN };
    ssize_t n;

    if (poll(&end, 1, 1000) <= 0)
        return false;
    n = read(t->master, t->shown + t->size, SHOWN_MAX - 1 - t->size);
    assert_true(t->size < SHOWN_MAX - 1);
    if (n > 0)
        t->size += (size_t)n;
    return n > 0;
}

void
terminal_wait(struct terminal *t, const char *text)
{
    const char *at;

    while ((at = strstr(t->shown + t->seen, text)) == NULL) {
        check_time(t, text);
        if (!read_shown(t))
            usleep(1000);
    }
    t->seen = (size_t)(at - t->shown) + strlen(text);
}

void
terminal_type(struct terminal *t, const char *keys)
{
    assert_int_equal(write(t->master, keys, strlen(keys)), strlen(keys));
}

struct result
terminal_close(struct terminal *t)
{
    struct result r = { .status = -1 };
    int status;

    while (read_shown(t) || waitpid(t->child, &status, WNOHANG) != t->child)
        check_time(t, "end");
    close(t->master);
    if (WIFEXITED(status) && WEXITSTATUS(status) < 126)
        r.status = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
        r.status = -WTERMSIG(status);
    r.out = t->shown;
    r.size = t->size;
    r.err = calloc(1, 1);
    return r;
}

struct result
run_on_terminal(const char *program, const char *arguments)
{
    struct terminal t;

    terminal_open(&t, program, arguments);
    return terminal_close(&t);
}

void
result_free(struct result *result)
{
    free(result->out);
    free(result->err);
}

json_t *
run_json(const char *arguments, ...)
{
    struct result r;
    json_t *json;
    va_list args;

    va_start(args, arguments);
    r = run_v("ggmlbackend-run", arguments, args);
    va_end(args);
    if (r.status != 0)
        fail_msg("%s: status %d: %s", arguments, r.status, r.err);
    json = json_loads(r.out, JSON_ALLOW_NUL, NULL);
    if (json == NULL)
        fail_msg("%s: no JSON: %s", arguments, r.out);
    result_free(&r);
    return json;
}

double
number_at(const json_t *json, const char *key, size_t i)
{
    return json_number_value(json_array_get(json_object_get(json, key), i));
}
