/* SPDX-License-Identifier: MIT */
/*
 * bench/library.c - files that the library's functions come from.
 */
#include "config.h"

#include "tools/ggmlbackend-bench/library.h"

#include "tools/common/tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_FILES 64

static const char *const functions[] = {
#define BENCH_FUNCTION(name) #name,
#include "tools/ggmlbackend-bench/functions.def"
#undef BENCH_FUNCTION
};

#define N_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

const char *
library_of(const void *address)
{
    Dl_info info;

    return address == NULL || dladdr(address, &info) == 0 ? NULL
                                                          : info.dli_fname;
}

const char *
library_here(void)
{
    const char *path = library_of(dlsym(RTLD_DEFAULT, "ggml_init"));

    return path == NULL ? "unknown library" : path;
}

/* How many files this process has. */
static size_t
count_files(void)
{
    const struct link_map *map = NULL;
    void *program = dlopen(NULL, RTLD_LAZY);
    size_t n = 0;

    if (program == NULL || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0)
        return 0;
    for (; map != NULL; map = map->l_next)
        n++;
    return n;
}

struct files {
    const char *at[MAX_FILES];
    int n;
};

static bool
add_file(struct files *files, const char *path)
{
    if (files->n == MAX_FILES)
        return tool_error("%s: is one of too many files", path);
    if (strpbrk(path, ": ") != NULL)
        return tool_error("%s: a path with a colon or a space cannot be used",
                          path);
    files->at[files->n++] = path;
    return true;
}

static bool
has_functions(const char *library, void *handle)
{
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (dlsym(handle, functions[i]) == NULL)
            return tool_error("%s: has no function %s", library, functions[i]);
    return true;
}

/*
 * LIBRARY and all that came with it.  What it needs must be found before what
 * the program needs, too: else a backend that it registers would be ours.
 */
static bool
find_files(const char *library, struct files *files)
{
    const size_t n_before = count_files();
    const struct link_map *map = NULL, *own;
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);

    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &own) != 0)
        return tool_error("%s", dlerror());
    if (!has_functions(library, handle) || !add_file(files, own->l_name))
        return false;
    dlinfo(dlopen(NULL, RTLD_LAZY), RTLD_DI_LINKMAP, &map);
    for (size_t i = 0; map != NULL; map = map->l_next, i++)
        if (i >= n_before && map != own && !add_file(files, map->l_name))
            return false;
    return true;
}

/* In the process of its own: write the paths to FD, and end. */
static _Noreturn void
tell_files(const char *library, int fd)
{
    struct files files = { .n = 0 };
    FILE *out = fdopen(fd, "w");

    /* What a library prints when it is loaded is no result. */
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (out == NULL || !find_files(library, &files))
        _exit(TOOL_FAILED);
    for (int i = 0; i < files.n; i++) {
        char *path = realpath(files.at[i], NULL);

        fprintf(out, "%s%s", i == 0 ? "" : ":", path == NULL ? "" : path);
        free(path);
    }
    _exit(fclose(out) == 0 ? TOOL_OK : TOOL_FAILED);
}

/* All that comes from FD, which is closed. */
static char *
read_line(int fd)
{
    FILE *in = fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;

    if (in == NULL || getline(&line, &room, in) <= 0) {
        free(line);
        line = NULL;
    }
    if (in != NULL)
        fclose(in);
    return line;
}

char *
library_files(const char *library)
{
    int ends[2], status;
    pid_t child;
    char *files;

    if (pipe(ends) != 0 || (child = fork()) < 0) {
        tool_error("%s: %s", library, strerror(errno));
        return NULL;
    }
    if (child == 0) {
        close(ends[0]);
        tell_files(library, ends[1]);
    }
    close(ends[1]);
    files = read_line(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFSIGNALED(status))
        tool_error("%s: ends the process that loads it with signal %d",
                   library, WTERMSIG(status));
    if (status == 0 && files != NULL)
        return files;
    if (status == 0)
        tool_error("%s: ends the process that loads it", library);
    free(files);
    return NULL;
}
