/* SPDX-License-Identifier: MIT */
/*
 * gguf/source.c - reading a file that cannot be trusted, front to back.
 */
#include "config.h"

#include "lib/gguf/source.h"

#include "lib/base/checked.h"
#include "lib/base/file.h"
#include "lib/base/mem.h"

#include <string.h>

enum {
    BUFFER_SIZE = 64 * 1024,
    /* A pipe's block grows by at most this much ahead of its bytes. */
    PIECE = 1024 * 1024,
};

bool
gb_gguf_source_open(struct gb_gguf_source *source, FILE *file)
{
    memset(source, 0, sizeof(*source));
    source->file = file;
    source->has_size = gb_file_size(file, &source->size);
    source->buffer = gb_mem_alloc(BUFFER_SIZE);
    return source->buffer != NULL;
}

void
gb_gguf_source_close(struct gb_gguf_source *source)
{
    gb_mem_free(source->buffer);
    source->buffer = NULL;
}

bool
gb_gguf_source_has(const struct gb_gguf_source *source, uint64_t n)
{
    return !source->has_size || (source->position <= source->size &&
                                 n <= source->size - source->position);
}

/* What the buffer does not have: straight into OUT, or into the buffer first. */
static bool
read_more(struct gb_gguf_source *source, unsigned char *out, size_t n)
{
    if (n >= BUFFER_SIZE)
        return fread(out, 1, n, source->file) == n;
    source->at = 0;
    source->filled = 0;
    /* A pipe may hand over less than the buffer's size at a time; fread asks
     * again until it is full or the input ends. */
    source->filled = fread(source->buffer, 1, BUFFER_SIZE, source->file);
    if (source->filled < n)
        return false;
    memcpy(out, source->buffer, n);
    source->at = n;
    return true;
}

bool
gb_gguf_source_read(struct gb_gguf_source *source, void *out, size_t n)
{
    unsigned char *to = out;
    const size_t ready = source->filled - source->at;
    const size_t first = n < ready ? n : ready;

    if (!gb_gguf_source_has(source, n))
        return false;
    source->position += n;
    if (first > 0)
        memcpy(to, source->buffer + source->at, first);
    source->at += first;
    return first == n || read_more(source, to + first, n - first);
}

bool
gb_gguf_source_skip(struct gb_gguf_source *source, uint64_t n)
{
    unsigned char waste[4096];

    if (!gb_gguf_source_has(source, n))
        return false;
    if (source->has_size && n > source->filled - source->at) {
        source->at = source->filled = 0;
        source->position += n;
        return gb_file_seek(source->file, source->position);
    }
    while (n > 0) {
        const size_t piece = n < sizeof(waste) ? (size_t)n : sizeof(waste);

        if (!gb_gguf_source_read(source, waste, piece))
            return false;
        n -= piece;
    }
    return true;
}

/* At least WANTED bytes in *BLOCK, and more where that saves growing again. */
static bool
make_room(char **block, size_t *room, size_t wanted)
{
    size_t size = wanted;
    char *grown;

    if (wanted <= *room)
        return true;
    if (size < *room + *room / 2)
        size = *room + *room / 2;
    grown = gb_mem_realloc(*block, size, 1);
    if (grown == NULL)
        return false;
    *block = grown;
    *room = size;
    return true;
}

bool
gb_gguf_source_append(struct gb_gguf_source *source, char **block, size_t *room,
                      size_t used, size_t n)
{
    if (!gb_gguf_source_has(source, n))
        return false;
    do {
        const size_t piece = source->has_size || n < PIECE ? n : PIECE;
        size_t wanted;

        if (!gb_add_size(used, piece, &wanted) ||
            !make_room(block, room, wanted > 0 ? wanted : 1) ||
            !gb_gguf_source_read(source, *block + used, piece))
            return false;
        used = wanted;
        n -= piece;
    } while (n > 0);
    return true;
}
