/* SPDX-License-Identifier: MIT */
/*
 * base/log.h - one message, one line, to the client's sink.
 */
#ifndef GB_BASE_LOG_H
#define GB_BASE_LOG_H

#include "ggml.h"

#include "lib/base/attr.h"

#include <stdarg.h>
#include <stdbool.h>

/* A newline is added; FMT has none.  Any thread. */
GB_PRINTF(2, 3)
void gb_log(enum ggml_log_level level, const char *fmt, ...);
GB_PRINTF(2, 0)
void gb_log_va(enum ggml_log_level level, const char *fmt, va_list args);

/*
 * Text that a client asked to see (ggml_graph_print …), as it is: level INFO
 * for a client's sink, and shown by the default one whatever its level.  Any
 * thread.
 */
GB_PRINTF(1, 2)
void gb_log_print(const char *fmt, ...);

/* Is NAME a level of GGMLBACKEND_LOG? */
bool gb_log_is_level(const char *name);

#endif
