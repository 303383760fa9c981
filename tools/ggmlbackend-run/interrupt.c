/* SPDX-License-Identifier: MIT */
/*
 * run/interrupt.c - Ctrl-C ends what is computed, not the program.
 */
#include "tools/ggmlbackend-run/interrupt.h"

#include "ggml-backend.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t is_noted;

/* A pipe with a byte for each noted interrupt.  It wakes the wait for a line, even if
 * the interrupt came just before the wait.  -1 if no pipe could be made. */
static int wake[2] = { -1, -1 };

static void
note(int signal_number)
{
    const int error = errno;
    ssize_t n_written = 0;

    (void)signal_number;
    is_noted = 1;
    if (wake[1] >= 0)
        n_written = write(wake[1], "", 1);
    (void)n_written; /* a full pipe wakes the reader, too */
    errno = error;
}

/* Empty the pipe. */
static void
drain(void)
{
    struct pollfd pipe_end = { .fd = wake[0], .events = POLLIN };
    char bytes[16];

    while (wake[0] >= 0 && poll(&pipe_end, 1, 0) > 0 &&
           read(wake[0], bytes, sizeof(bytes)) > 0)
        continue;
}

static void
set_action(void (*handler)(int), int flags)
{
    struct sigaction old, action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
}

void
interrupt_arm(void)
{
    if (wake[0] < 0 && pipe(wake) != 0)
        wake[0] = wake[1] = -1;
    drain();
    is_noted = 0;
    set_action(note, (int)(SA_RESETHAND | SA_RESTART));
}

bool
interrupt_wait_for_line(void)
{
    struct pollfd ends[2] = { { .fd = STDIN_FILENO, .events = POLLIN },
                              { .fd = wake[0], .events = POLLIN } };
    int n = -1;

    while (is_noted == 0 && n < 0) {
        n = poll(ends, 2, -1);
        if (n < 0 && errno != EINTR)
            return true; /* the read itself finds out */
    }
    return is_noted == 0;
}

void
interrupt_disarm(void)
{
    set_action(SIG_DFL, 0);
}

bool
interrupt_is_noted(void)
{
    return is_noted != 0;
}

static bool
abort_asks(void *data)
{
    (void)data;
    return interrupt_is_noted();
}

void
interrupt_watch(struct engine *engine)
{
    const struct devices *devices = engine->model->devices;

    engine->is_stopped = interrupt_is_noted;
    for (int i = 0; i < devices->n; i++) {
        const struct device *d = &devices->at[i];
        const ggml_backend_set_abort_callback_t set =
            (ggml_backend_set_abort_callback_t)
                ggml_backend_reg_get_proc_address(
                    ggml_backend_dev_backend_reg(d->dev),
                    "ggml_backend_set_abort_callback");

        if (set != NULL)
            set(d->backend, abort_asks, NULL);
    }
}

void
interrupt_end(void)
{
    interrupt_disarm();
    raise(SIGINT);
}
