/* SPDX-License-Identifier: MIT */
/*
 * tests/tools/run/program.c - tiny models, and the program run on them.
 */
#include "config.h"

#include "tests/tools/run/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

/* In a new process: COMMAND with the terminal NAME for everything. */
static _Noreturn void
become(const char *name, const char *command)
{
    int fd;

    setsid();
    fd = open(name, O_RDWR);
    if (fd >= 0 && dup2(fd, 0) >= 0 && dup2(fd, 1) >= 0 && dup2(fd, 2) >= 0)
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

struct result
run_on_terminal(const char *program, const char *arguments)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    struct result r = { .status = -1, .out = calloc(1, 1 << 16) };
    char command[4096];
    ssize_t n;
    pid_t child;
    int status;

    assert_non_null(r.out);
    assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    snprintf(command, sizeof(command), "exec '%s'/%s %s", build_folder(),
             program, arguments);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        become(ptsname(master), command);
    /* EIO when the program has closed its end, and once before it opened it. */
    while (r.size < (1 << 16) - 1) {
        n = read(master, r.out + r.size, (1 << 16) - 1 - r.size);
        if (n > 0)
            r.size += (size_t)n;
        else if (waitpid(child, &status, WNOHANG) == child)
            break;
    }
    close(master);
    assert_true(r.size < (1 << 16) - 1);
    if (WIFEXITED(status) && WEXITSTATUS(status) < 126)
        r.status = WEXITSTATUS(status);
    r.err = calloc(1, 1);
    return r;
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
