/* SPDX-License-Identifier: MIT */
/*
 * common/output.h - a file that is there when it is whole, and else is not.
 *
 * It is written beside its place, under a name of its own, and takes its place
 * when all of it is on the disk.  What was there before stays until then: a
 * program that fails, or that a signal ends, leaves everything as it was.
 *
 * What is no regular file (a device, a pipe) is written to as it stands, and is
 * never taken away.
 */
#ifndef TOOLS_COMMON_OUTPUT_H
#define TOOLS_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

struct output {
    FILE *file;       /* to write to */
    const char *path; /* as it was given; kept */
    char *target;     /* what is replaced: the end of PATH's links */
    char *temporary;  /* what is written, NULL where PATH itself is */
};

/*
 * Begin to write what shall be at PATH; one at a time in a process.  False
 * after a message, also when PATH is the file that SOURCE describes, which is
 * about to be read (NULL for none).
 */
bool output_open(struct output *o, const char *path, const struct stat *source);

/*
 * Put the file in its place, or take it away when it IS_WHOLE not.  True when
 * it is there; false after a message, or without one for what was not whole.
 */
bool output_close(struct output *o, bool is_whole);

/* Take away what is being written; from a signal's handler, before the end. */
void output_abandon(void);

#endif
