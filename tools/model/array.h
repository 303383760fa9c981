/* SPDX-License-Identifier: MIT */
/*
 * model/array.h - growing arrays of token ids and of bytes.
 */
#ifndef TOOLS_MODEL_ARRAY_H
#define TOOLS_MODEL_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed is empty; …_clear empties it again. */
struct ids {
    int32_t *at;
    size_t n;
    size_t room;
};

struct bytes {
    char *at;
    size_t n;
    size_t room;
};

/* Append; false, after a message, without memory. */
bool ids_push(struct ids *ids, int32_t id);
bool bytes_push(struct bytes *bytes, const void *from, size_t n);

void ids_clear(struct ids *ids);
void bytes_clear(struct bytes *bytes);

/* N items of SIZE bytes, zeroed; NULL after a message. */
void *new_zeroed(size_t n, size_t size);

#endif
