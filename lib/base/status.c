/* SPDX-License-Identifier: MIT */
/*
 * base/status.c - a thread's last failure, and what statuses are called.
 */
#include "config.h"

#include "lib/base/status.h"

#include "ggmlbackend.h"

#include "lib/base/log.h"
#include "lib/base/quote.h"

#include <stdio.h>
#include <string.h>

static _Thread_local char last_failure[GB_REASON_SIZE];
static _Thread_local uint64_t n_failures;

enum ggml_status
gb_fail_va(enum ggml_status status, const char *fmt, va_list args)
{
    char text[GB_REASON_SIZE], reason[GB_REASON_SIZE];

    /* Formatted beside its place: the last failure may be among ARGS. */
    vsnprintf(text, sizeof(text), fmt, args);
    gb_quote(text, "", reason, sizeof(reason));
    memcpy(last_failure, reason, sizeof(reason));
    n_failures++;
    gb_log(GGML_LOG_LEVEL_ERROR, "%s", reason);
    /* A client's sink may have called what failed in its turn; that is over. */
    memcpy(last_failure, reason, sizeof(reason));
    return status;
}

enum ggml_status
gb_fail(enum ggml_status status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    gb_fail_va(status, fmt, args);
    va_end(args);
    return status;
}

const char *
gb_last_failure(void)
{
    return last_failure;
}

void
gb_clear_failure(void)
{
    last_failure[0] = '\0';
}

uint64_t
gb_failure_count(void)
{
    return n_failures;
}

enum ggml_status
ggmlbackend_fail(enum ggml_status status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    gb_fail_va(status, fmt, args);
    va_end(args);
    return status;
}

const char *
ggmlbackend_last_failure(void)
{
    return gb_last_failure();
}

void
ggmlbackend_clear_failure(void)
{
    gb_clear_failure();
}

const char *
ggml_status_to_string(enum ggml_status status)
{
    switch (status) {
    case GGML_STATUS_ALLOC_FAILED:
        return "GGML status: error (failed to allocate memory)";
    case GGML_STATUS_FAILED:
        return "GGML status: error (operation failed)";
    case GGML_STATUS_SUCCESS:
        return "GGML status: success";
    case GGML_STATUS_ABORTED:
        return "GGML status: warning (operation aborted)";
    }
    return "GGML status: unknown";
}
