/* SPDX-License-Identifier: MIT */
/*
 * gguf/source.h - reading a file that cannot be trusted, front to back.
 *
 * A regular file's size bounds every length in it.  A pipe has no size: what is
 * read from one grows its memory as the bytes arrive, never ahead of them.
 */
#ifndef GB_GGUF_SOURCE_H
#define GB_GGUF_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct gb_gguf_source {
    FILE *file;
    bool has_size;
    uint64_t size;     /* of the file, if has_size */
    uint64_t position; /* of the next byte */
    unsigned char *buffer;
    size_t at, filled; /* unread bytes are buffer[at … filled) */
};

/* Begins reading FILE, which the caller closes; false without memory. */
bool gb_gguf_source_open(struct gb_gguf_source *source, FILE *file);
void gb_gguf_source_close(struct gb_gguf_source *source);

/* Can N more bytes be there?  True for a pipe. */
bool gb_gguf_source_has(const struct gb_gguf_source *source, uint64_t n);

/* The next N bytes; false when the file ends before. */
bool gb_gguf_source_read(struct gb_gguf_source *source, void *out, size_t n);
bool gb_gguf_source_skip(struct gb_gguf_source *source, uint64_t n);

/*
 * The next N bytes behind the first USED of *BLOCK, which has *ROOM bytes and
 * grows.  False when the file ends before or without memory.
 */
bool gb_gguf_source_append(
    struct gb_gguf_source *source, char **block, size_t *room, size_t used,
    size_t n);

#endif
