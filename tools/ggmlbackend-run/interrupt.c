/* SPDX-License-Identifier: MIT */
/*
 * run/interrupt.c - Ctrl-C ends what is computed, not the program.
 */
#include "tools/ggmlbackend-run/interrupt.h"

#include "ggml-backend.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t is_noted;

static void
note(int signal_number)
{
    (void)signal_number;
    is_noted = 1;
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
    is_noted = 0;
    set_action(note, (int)(SA_RESETHAND | SA_RESTART));
}

void
interrupt_arm_reading(void)
{
    is_noted = 0;
    set_action(note, (int)SA_RESETHAND);
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
