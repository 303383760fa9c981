/* SPDX-License-Identifier: MIT */
/*
 * common/input.c - a model's file, mapped or read piece by piece.
 */
#include "config.h"

#include "tools/common/input.h"

#include "lib/base/quote.h"
#include "tools/common/output.h"
#include "tools/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The files that are mapped; the signal's handler looks for an address. */
static _Atomic(struct input *) mapped;

bool
input_open(struct input *input, const char *path)
{
    memset(input, 0, sizeof(*input));
    input->path = path;
    input->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (input->fd < 0)
        return tool_error("%s: %s", path, strerror(errno));
    if (fstat(input->fd, &input->info) != 0)
        tool_error("%s: %s", path, strerror(errno));
    else if (!S_ISREG(input->info.st_mode) || input->info.st_size == 0)
        tool_error("%s: not a regular file with contents", path);
    else if ((uintmax_t)input->info.st_size > SIZE_MAX)
        tool_error("%s: too large for this machine's addresses", path);
    else {
        input->size = (size_t)input->info.st_size;
        return true;
    }
    input_close(input);
    return false;
}

void
input_close(struct input *input)
{
    input_unmap(input);
    if (input->path != NULL && input->fd >= 0)
        close(input->fd);
    memset(input, 0, sizeof(*input));
    input->fd = -1;
}

/* What can be said from a handler has to be there before. */
static char *
make_message(const char *path)
{
    const size_t room = strlen(path) * 4 + 256;
    char *message = malloc(room), *text = malloc(room);

    if (message != NULL && text != NULL) {
        snprintf(text, room, "%s: %s: has lost pages that are in use, since it "
                 "was cut short or cannot be read", tool_name(), path);
        gb_quote(text, "", message, room - 1);
        strcat(message, "\n");
    } else {
        free(message);
        message = NULL;
    }
    free(text);
    return message;
}

static bool
is_inside(const struct input *input, const char *address)
{
    const char *bytes = input->bytes;

    /* The system maps whole pages. */
    return address >= bytes && (size_t)(address - bytes) < input->size + 65536;
}

/* In whichever thread touched the page; there is nothing to go back to. */
static void
say_lost(int number, siginfo_t *info, void *context)
{
    const struct input *input = atomic_load(&mapped);

    (void)context;
    while (input != NULL && !is_inside(input, info->si_addr))
        input = input->next;
    if (input == NULL) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    output_abandon();
    /* Where it cannot be said, the status has to do. */
    (void)!write(STDERR_FILENO, input->message, strlen(input->message));
    _exit(TOOL_FAILED);
}

static void
catch_loss(struct input *input)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = say_lost;
    action.sa_flags = SA_SIGINFO;
    sigfillset(&action.sa_mask);
    input->next = atomic_load(&mapped);
    atomic_store(&mapped, input);
    sigaction(SIGBUS, &action, NULL);
}

/* Say it of the first file only: others mostly lie beside it. */
static void
warn_of_reading(const struct input *input, const char *why)
{
    static bool is_said;

    if (!is_said)
        tool_warning("%s: cannot be mapped (%s), so it is read instead",
                     input->path, why);
    is_said = true;
}

bool
input_map(struct input *input)
{
    void *bytes =
        mmap(NULL, input->size, PROT_READ, MAP_PRIVATE, input->fd, 0);

    if (bytes == MAP_FAILED) {
        warn_of_reading(input, strerror(errno));
        return false;
    }
    input->message = make_message(input->path);
    if (input->message == NULL) {
        munmap(bytes, input->size);
        warn_of_reading(input, "no memory");
        return false;
    }
    input->bytes = bytes;
    catch_loss(input);
    return true;
}

void
input_unmap(struct input *input)
{
    struct input *before = atomic_load(&mapped);

    if (input->bytes == NULL)
        return;
    if (before == input)
        atomic_store(&mapped, input->next);
    for (; before != NULL; before = before->next)
        if (before->next == input)
            before->next = input->next;
    munmap(input->bytes, input->size);
    free(input->message);
    input->bytes = NULL;
    input->message = NULL;
}

bool
input_has(const struct input *input, size_t offset, size_t n)
{
    return offset <= input->size && n <= input->size - offset;
}

bool
input_read(const struct input *input, size_t offset, void *to, size_t n)
{
    while (n > 0) {
        const size_t piece = n < SSIZE_MAX ? n : SSIZE_MAX;
        const ssize_t got = pread(input->fd, to, piece, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tool_error("%s: %s", input->path, strerror(errno));
        if (got == 0)
            return tool_error("%s: was cut short while it was read",
                              input->path);
        to = (char *)to + got;
        offset += (size_t)got;
        n -= (size_t)got;
    }
    return true;
}
