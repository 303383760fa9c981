/* SPDX-License-Identifier: MIT */
/*
 * base/status.h - recording failures and passing them on.
 */
#ifndef GB_BASE_STATUS_H
#define GB_BASE_STATUS_H

#include "ggml.h"

#include "lib/base/attr.h"

#include <stdarg.h>
#include <stdint.h>

/* Bytes of a reason with its terminator; longer ones are cut. */
#define GB_REASON_SIZE 512

/*
 * Log the reason at level ERROR, keep it as the thread's last failure and give
 * STATUS back.  The function that first knows what is wrong calls it, once.
 */
GB_PRINTF(2, 3)
enum ggml_status gb_fail(enum ggml_status status, const char *fmt, ...);
GB_PRINTF(2, 0)
enum ggml_status gb_fail_va(
    enum ggml_status status, const char *fmt, va_list args);

/* The thread's last failure, "" for none. */
const char *gb_last_failure(void);
void gb_clear_failure(void);

/*
 * How often the thread has failed so far.  A function that calls what gives no
 * status (a void member of a backend) compares the count before with that after.
 */
uint64_t gb_failure_count(void);

/* A broken precondition: as gb_fail, and through the hook (base/abort.c). */
GB_PRINTF(1, 2)
void gb_precondition(const char *fmt, ...);
GB_PRINTF(1, 0)
void gb_precondition_va(const char *fmt, va_list args);

/* Return from the caller what EXPR gives, unless that is success. */
#define GB_TRY(expr)                             \
    do {                                         \
        const enum ggml_status try_ = (expr);    \
        if (try_ != GGML_STATUS_SUCCESS)         \
            return try_;                         \
    } while (0)

/*
 * Without COND the caller of a public function is wrong, and RESULT comes back.
 */
#define GB_NEED_OR(result, cond, ...)     \
    do {                                  \
        if (GB_UNLIKELY(!(cond))) {       \
            gb_precondition(__VA_ARGS__); \
            return result;                \
        }                                 \
    } while (0)

/* The same in functions that return nothing. */
#define GB_NEED_VOID(cond, ...)           \
    do {                                  \
        if (GB_UNLIKELY(!(cond))) {       \
            gb_precondition(__VA_ARGS__); \
            return;                       \
        }                                 \
    } while (0)

/*
 * An invariant of our own: stops in builds with --enable-debug, else nothing.
 */
#ifdef GB_DEBUG
#define GB_INVARIANT(cond) ((cond) ? (void)0 : __builtin_trap())
#else
#define GB_INVARIANT(cond) ((void)0)
#endif

#endif
