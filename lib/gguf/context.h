/* SPDX-License-Identifier: MIT */
/*
 * gguf/context.h - what a GGUF context is made of.
 */
#ifndef GB_GGUF_CONTEXT_H
#define GB_GGUF_CONTEXT_H

#include "gguf.h"

#include "lib/gguf/index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One key with its value.  A scalar is an array of one that knows it is none. */
struct gb_gguf_pair {
    char *key;
    enum gguf_type type; /* of the value, or of the array's elements */
    bool is_array;
    size_t n;       /* elements */
    void *data;     /* n elements as they are in the file; the strings' text */
    char **strings; /* n + 1 pointers into data, for strings only */
};

/*
 * Strings are stored as in a file: each follows a gap of this size, which is the
 * room of its length there.  The gap's first byte is 0 and ends the string before.
 * So the size of string I is known from its pointer and the next one; the last
 * pointer is where a string after all others would begin.
 */
#define GB_GGUF_GAP 8

/* Bytes of string I of a pair's STRINGS; any of them may be 0. */
static inline size_t
gb_gguf_string_size(char *const *strings, size_t i)
{
    return (size_t)(strings[i + 1] - strings[i]) - GB_GGUF_GAP;
}

/* One tensor: its description, and where its data is in the data section. */
struct gb_gguf_tensor {
    struct ggml_tensor tensor;
    size_t offset;
};

struct gguf_context {
    uint32_t version;
    size_t alignment;
    size_t data_offset; /* of the data section in the file; 0 if not from one */
    size_t data_size;   /* all tensors, each padded to the alignment */

    struct gb_gguf_pair *pairs;
    size_t n_pairs, pairs_room;
    struct gb_gguf_index keys;

    struct gb_gguf_tensor *tensors;
    size_t n_tensors, tensors_room;
    struct gb_gguf_index names;

    /* Something that was to go in did not, for want of memory or of room for
     * sizes.  Setters have no status, so it is writing that fails. */
    bool is_incomplete;
};

/* Bytes of one element; 0 for strings, arrays and unknown types. */
size_t gb_gguf_type_size(enum gguf_type type);

/* Frees what PAIR owns, not PAIR itself. */
void gb_gguf_pair_clear(struct gb_gguf_pair *pair);

/*
 * Appends PAIR, whose key must be new, and takes what it owns; false without
 * memory, and the caller still owns it.
 */
bool gb_gguf_pair_add(struct gguf_context *ctx, const struct gb_gguf_pair *pair);

/* Takes pair ID out and frees it; those behind it move up. */
void gb_gguf_pair_remove(struct gguf_context *ctx, size_t id);

/* Appends TENSOR, whose name must be new; false without memory. */
bool gb_gguf_tensor_add(
    struct gguf_context *ctx, const struct gb_gguf_tensor *tensor);

/* The pair or tensor with that number, NULL and a logged reason without one. */
const struct gb_gguf_pair *gb_gguf_pair_at(
    const struct gguf_context *ctx, int64_t id);
const struct gb_gguf_tensor *gb_gguf_tensor_at(
    const struct gguf_context *ctx, int64_t id);

/* SIZE rounded up to the context's alignment; false when that overflows. */
bool gb_gguf_pad(const struct gguf_context *ctx, size_t size, size_t *out);

/*
 * Where the tensors' data lies with ctx's alignment: sets every offset and
 * data_size from tensor FIRST on.  False, with nothing changed, when the sum
 * overflows.
 */
bool gb_gguf_place(struct gguf_context *ctx, size_t first);

/* The same with another alignment; false, with nothing changed, as there. */
bool gb_gguf_align(struct gguf_context *ctx, size_t alignment);

/* Are these the type, count and value that general.alignment may have? */
bool gb_gguf_is_alignment(const struct gb_gguf_pair *pair, size_t *out);

/* N bytes of TEXT for a message, in OUT: what is not printable is escaped. */
#define GB_GGUF_QUOTE 96
const char *gb_gguf_quote(char out[GB_GGUF_QUOTE], const char *text, size_t n);

#endif
