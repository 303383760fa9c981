/* SPDX-License-Identifier: MIT */
/*
 * common/output.c - a file that is there when it is whole, and else is not.
 */
#include "config.h"

#include "tools/common/output.h"

#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Names that are tried before giving up, and room for what is put into one. */
enum { N_NAMES = 1000, NAME_SIZE = 64 };

/* What ends a program in the middle of its work. */
static const int ending[] = {
    SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGXCPU, SIGXFSZ,
};

#define N_ENDING (sizeof(ending) / sizeof(ending[0]))

/* The file to take away when a signal comes; handlers read it. */
static _Atomic(const char *) unfinished;

void
output_abandon(void)
{
    const char *path = atomic_load(&unfinished);

    if (path != NULL)
        unlink(path);
}

/* The signal's usual action, which ends the program, comes after this. */
static void
abandon_and_end(int number)
{
    const int error = errno;

    output_abandon();
    raise(number);
    errno = error;
}

static void
catch_signals(void)
{
    struct sigaction action = { .sa_handler = abandon_and_end }, old;

    action.sa_flags = (int)SA_RESETHAND;
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < N_ENDING; i++)
        /* What is ignored, as under nohup, stays so. */
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ending[i], &action, NULL);
}

static void
let_signals_go(void)
{
    struct sigaction old;

    for (size_t i = 0; i < N_ENDING; i++)
        if (sigaction(ending[i], NULL, &old) == 0 &&
            old.sa_handler == abandon_and_end)
            signal(ending[i], SIG_DFL);
}

/*
 * A new file in TARGET's folder, its name in *OUT, which signals take away from
 * the moment it is there.  -1 with errno set.
 */
static int
create_beside(const char *target, char **out)
{
    const char *slash = strrchr(target, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - target) + 1;
    char *name = malloc((size_t)folder + NAME_SIZE);
    int fd = -1;
    sigset_t all, old;

    if (name == NULL)
        return -1;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    for (int i = 0; fd < 0 && i < N_NAMES; i++) {
        snprintf(name, (size_t)folder + NAME_SIZE, "%.*s.ggmlbackend-%ld-%d",
                 folder, target, (long)getpid(), i);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd >= 0)
        atomic_store(&unfinished, name);
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (fd < 0)
        free(name);
    else
        *out = name;
    return fd;
}

/* Beside a regular file, which INFO describes, or where there is none yet. */
static int
open_beside(struct output *o, const struct stat *info)
{
    int fd;

    o->target = info == NULL ? strdup(o->path) : realpath(o->path, NULL);
    if (o->target == NULL)
        return -1;
    catch_signals();
    fd = create_beside(o->target, &o->temporary);
    /* The new file is for whom the old one was. */
    if (fd >= 0 && info != NULL && fchmod(fd, info->st_mode & 0777) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A descriptor to write to, -1 with errno set, -2 after a message. */
static int
open_target(struct output *o, const struct stat *source)
{
    struct stat info;

    if (stat(o->path, &info) != 0) {
        if (errno != ENOENT)
            return -1;
        if (lstat(o->path, &info) != 0)
            return open_beside(o, NULL);
        tool_error("%s: is a symbolic link to a file that is not there",
                   o->path);
        return -2;
    }
    if (source != NULL && info.st_dev == source->st_dev &&
        info.st_ino == source->st_ino) {
        tool_error("%s: is the file that is read", o->path);
        return -2;
    }
    /* A file that may not be written is not to be replaced either. */
    if (S_ISREG(info.st_mode))
        return access(o->path, W_OK) == 0 ? open_beside(o, &info) : -1;
    return open(o->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

/* Give back what O holds; what is being written goes away. */
static void
discard(struct output *o)
{
    if (o->file != NULL)
        fclose(o->file);
    if (o->temporary != NULL)
        unlink(o->temporary);
    atomic_store(&unfinished, NULL);
    let_signals_go();
    free(o->temporary);
    free(o->target);
    memset(o, 0, sizeof(*o));
}

bool
output_open(struct output *o, const char *path, const struct stat *source)
{
    int fd;

    memset(o, 0, sizeof(*o));
    o->path = path;
    fd = open_target(o, source);
    if (fd >= 0)
        o->file = fdopen(fd, "wb");
    if (o->file != NULL)
        return true;
    if (fd != -2)
        tool_error("%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    discard(o);
    return false;
}

/* Everything on the disk, where there is one. */
static bool
is_flushed(FILE *file)
{
    if (ferror(file) || fflush(file) != 0)
        return false;
    return fsync(fileno(file)) == 0 || errno == EINVAL || errno == ENOTSUP ||
        errno == EROFS;
}

/*
 * The new name on the disk as well.  Without that the machine's end could bring
 * the old file back, which is whole too, so nothing is said.
 */
static void
flush_folder(const char *target)
{
    const char *slash = strrchr(target, '/');
    char *folder;
    int fd;

    folder = slash == NULL ? strdup(".")
                           : strndup(target, (size_t)(slash - target) + 1);
    if (folder == NULL)
        return;
    fd = open(folder, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

bool
output_close(struct output *o, bool is_whole)
{
    bool is_there = is_whole && is_flushed(o->file);
    int error = errno;

    if (fclose(o->file) != 0 && is_there) {
        is_there = false;
        error = errno;
    }
    o->file = NULL;
    if (is_there && o->temporary != NULL) {
        is_there = rename(o->temporary, o->target) == 0;
        error = errno;
    }
    if (is_there && o->temporary != NULL) {
        atomic_store(&unfinished, NULL);
        free(o->temporary);
        o->temporary = NULL;
        flush_folder(o->target);
    }
    if (is_whole && !is_there)
        tool_error("%s: %s", o->path, strerror(error));
    discard(o);
    return is_there;
}
