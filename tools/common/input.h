/* SPDX-License-Identifier: MIT */
/*
 * common/input.h - a model's file, mapped or read piece by piece.
 *
 * A file that somebody cuts short while it is mapped, or whose disk fails, has
 * pages that cannot be had: the system sends SIGBUS to who touches one.  While
 * a file is mapped here that signal ends the program with TOOL_FAILED and a
 * message that names the file.  What is read by input_read fails like any other
 * call.
 */
#ifndef TOOLS_COMMON_INPUT_H
#define TOOLS_COMMON_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct input {
    const char *path; /* kept */
    int fd;
    size_t size;
    struct stat info; /* which file it is */
    void *bytes;      /* all of it, NULL while it is not mapped */
    char *message;    /* what is said when pages are gone */
    struct input *next;
};

/*
 * Open PATH, which has to be a regular file with contents: nobody waits for the
 * other end of a pipe.  False after a message; input_close is for what is open.
 */
bool input_open(struct input *input, const char *path);
void input_close(struct input *input);

/*
 * Map all of it to be read, until input_unmap or input_close.  Some file systems
 * cannot do that: false then, and the first time in a program a warning says that
 * the file is read instead, which the caller does.  INPUT keeps its address until
 * then.
 */
bool input_map(struct input *input);
void input_unmap(struct input *input);

/* Has the file N bytes from OFFSET on? */
bool input_has(const struct input *input, size_t offset, size_t n);

/* Read N bytes from OFFSET on; false after a message. */
bool input_read(const struct input *input, size_t offset, void *to, size_t n);

#endif
