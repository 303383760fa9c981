/* SPDX-License-Identifier: MIT */
/*
 * trace/file.c - a file of JSON events that is whole after every flush.
 *
 * Events are collected in a block.  Each block is written together with the
 * array's end, over the end that was written before it, so that nothing has to
 * be done when the process ends, in whatever way.
 */
#include "config.h"

#include "lib/trace/file.h"

#include "lib/base/mem.h"
#include "lib/base/quote.h"
#include "lib/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define BLOCK_SIZE ((size_t)64 * 1024)

/* More than any event has: a dozen strings with all their bytes escaped. */
#define MAX_EVENT ((size_t)16 * 1024)

static const char array_end[] = "\n]\n";

static bool
write_at(int fd, const char *bytes, size_t size, int64_t offset)
{
    while (size > 0) {
        const ssize_t n = pwrite(fd, bytes, size, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
        offset += n;
    }
    return true;
}

/* Cut off what was written of a block, and end the array where it ended. */
static void
mend(struct gb_trace_file *file)
{
    const size_t size = sizeof(array_end) - 1;

    if (ftruncate(file->fd, (off_t)file->end) == 0)
        (void)write_at(file->fd, array_end, size, file->end);
}

void
gb_trace_file_flush(struct gb_trace_file *file)
{
    const size_t end_size = sizeof(array_end) - 1;

    if (file->n_used == 0 || file->error != 0)
        return;
    memcpy(file->block + file->n_used, array_end, end_size);
    if (write_at(file->fd, file->block, file->n_used + end_size, file->end)) {
        file->end += (int64_t)file->n_used;
    } else {
        file->error = errno;
        mend(file);
    }
    file->n_used = 0;
}

/*
 * Is the file this process's alone?  Two that overwrite each other's events
 * would leave nothing that can be read.  Where there are no locks, it is hoped.
 */
static bool
lock(int fd)
{
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    return fcntl(fd, F_SETLK, &whole) == 0 ||
           (errno != EACCES && errno != EAGAIN);
}

static int
make_empty(int fd)
{
    if (!lock(fd))
        return EBUSY;
    /* What is no file of its own cannot be cut, and need not be. */
    if (ftruncate(fd, 0) != 0 && errno != EINVAL)
        return errno;
    return write_at(fd, "[\n]\n", 4, 0) ? 0 : errno;
}

int
gb_trace_file_open(struct gb_trace_file *file, const char *path)
{
    /* Without waiting for a pipe's reader; pipes cannot be written to here. */
    const int fd = open(
        path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    int error;

    if (fd < 0)
        return errno;
    memset(file, 0, sizeof(*file));
    file->fd = fd;
    file->end = 1; /* behind the bracket */
    error = make_empty(fd);
    if (error == 0) {
        file->block = gb_mem_alloc(BLOCK_SIZE);
        if (file->block != NULL)
            return 0;
        error = ENOMEM;
    }
    close(fd);
    return error;
}

static void
put_bytes(struct gb_trace_file *file, const char *bytes, size_t size)
{
    if (size > BLOCK_SIZE - sizeof(array_end) - file->n_used)
        return;
    memcpy(file->block + file->n_used, bytes, size);
    file->n_used += size;
}

void
gb_trace_file_begin(struct gb_trace_file *file)
{
    if (file->n_used + MAX_EVENT + sizeof(array_end) > BLOCK_SIZE)
        gb_trace_file_flush(file);
    if (file->has_events)
        put_bytes(file, ",", 1);
    put_bytes(file, "\n", 1);
    file->has_events = true;
}

void
gb_trace_file_put(struct gb_trace_file *file, const char *fmt, ...)
{
    const size_t room = BLOCK_SIZE - sizeof(array_end) - file->n_used;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(file->block + file->n_used, room, fmt, args);
    va_end(args);
    if (n > 0 && (size_t)n < room)
        file->n_used += (size_t)n;
}

void
gb_trace_file_put_string(struct gb_trace_file *file, const char *text)
{
    const size_t size = strnlen(text, GB_TRACE_MAX_STRING - 1);
    size_t n;

    put_bytes(file, "\"", 1);
    for (size_t i = 0; i < size; i += n > 0 ? n : 1) {
        const char *at = text + i;

        n = gb_utf8_length(at, size - i);
        if (n == 0)
            put_bytes(file, "\\ufffd", 6);
        else if (!gb_quote_is_shown(at, n))
            gb_trace_file_put(file, "\\u%04x", (unsigned)gb_utf8_code(at, n));
        else if (*at == '"' || *at == '\\')
            gb_trace_file_put(file, "\\%c", *at);
        else
            put_bytes(file, at, n);
    }
    put_bytes(file, "\"", 1);
}

void
gb_trace_file_close(struct gb_trace_file *file)
{
    gb_trace_file_flush(file);
    close(file->fd);
    gb_mem_free(file->block);
}
