/* SPDX-License-Identifier: MIT */
/*
 * base/abort.c - the precondition hook; the only place that ends the process.
 *
 * It does so for a client that asked for it: with GGML_ASSERT and GGML_ABORT in
 * the client's own code, or with GGMLBACKEND_STRICT in the environment.
 */
#include "config.h"

#include "lib/base/env.h"
#include "lib/base/lock.h"
#include "lib/base/status.h"

#include "ggmlbackend.h"

#include <stdio.h>
#include <stdlib.h>

/* Under GB_LOCK_HOOK. */
static ggmlbackend_precondition_fn hook_fn;
static void *hook_data;

void
ggmlbackend_set_precondition_hook(
    ggmlbackend_precondition_fn hook, void *user_data)
{
    gb_lock(GB_LOCK_HOOK);
    hook_fn = hook;
    hook_data = user_data;
    gb_unlock(GB_LOCK_HOOK);
}

void
gb_precondition_va(const char *fmt, va_list args)
{
    ggmlbackend_precondition_fn hook;
    void *user_data;

    gb_fail_va(GGML_STATUS_FAILED, fmt, args);

    /* Called without the lock, so that a hook may set another one. */
    gb_lock(GB_LOCK_HOOK);
    hook = hook_fn;
    user_data = hook_data;
    gb_unlock(GB_LOCK_HOOK);

    if (hook != NULL)
        hook(gb_last_failure(), user_data);
    else if (gb_env_bool(GB_ENV_STRICT))
        abort();
}

void
gb_precondition(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    gb_precondition_va(fmt, args);
    va_end(args);
}

void
ggml_abort(const char *file, int line, const char *fmt, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}
