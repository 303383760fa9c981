/* SPDX-License-Identifier: MIT */
/*
 * trace/file.h - a file of JSON events that is whole after every flush.
 */
#ifndef GB_TRACE_FILE_H
#define GB_TRACE_FILE_H

#include "lib/base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tensor's name, type and shape fit. */
#define GB_TRACE_MAX_STRING 192

/* One thread at a time.  Nothing here logs: who calls may hold a lock. */
struct gb_trace_file {
    int fd;
    int64_t end; /* where the next block goes: the array's end in the file */
    bool has_events;
    int error;     /* why a block could not be written; the rest is dropped */
    size_t n_used; /* bytes of the block that wait to be written */
    char *block;
};

/*
 * Make the file at PATH an empty array, or empty it.  0, or the number of the
 * error, EBUSY when another process writes the file; then there is nothing to
 * close.
 */
int gb_trace_file_open(struct gb_trace_file *file, const char *path);

/*
 * Begin the next event, which is at most some thousand bytes, and continue it.
 * Text that would be longer than that is left out.
 */
void gb_trace_file_begin(struct gb_trace_file *file);
GB_PRINTF(2, 3)
void gb_trace_file_put(struct gb_trace_file *file, const char *fmt, ...);

/*
 * TEXT between quotes, as JSON has it; what is not UTF-8 in it becomes U+FFFD,
 * what a terminal should not get (gb_quote_is_shown) becomes \uNNNN, and text of
 * GB_TRACE_MAX_STRING bytes or more is cut.
 */
void gb_trace_file_put_string(struct gb_trace_file *file, const char *text);

/*
 * Write what was begun so far.  When that fails, for instance because the disk
 * is full, the file ends with what was written before.
 */
void gb_trace_file_flush(struct gb_trace_file *file);

/* Write what was begun so far, and free everything. */
void gb_trace_file_close(struct gb_trace_file *file);

#endif
