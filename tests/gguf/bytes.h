/* SPDX-License-Identifier: MIT */
/*
 * gguf/bytes.h - making GGUF files byte by byte, right or wrong.
 */
#ifndef GB_TESTS_GGUF_BYTES_H
#define GB_TESTS_GGUF_BYTES_H

#include "gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing file in memory. */
struct bytes {
    unsigned char *data;
    size_t size, room;
};

void bytes_free(struct bytes *b);
void put_bytes(struct bytes *b, const void *data, size_t n);
void put_zeros(struct bytes *b, size_t n);
void put_u8(struct bytes *b, uint8_t value);

/* Little-endian, as files are. */
void put_u32(struct bytes *b, uint32_t value);
void put_u64(struct bytes *b, uint64_t value);
void put_text(struct bytes *b, const char *text); /* length and bytes */
void put_string(struct bytes *b, const void *data, size_t n);

/* Magic, version 3 and the counts. */
void put_head(struct bytes *b, uint64_t n_tensors, uint64_t n_pairs);

/* A key and its value's type; the value comes behind. */
void put_key(struct bytes *b, const char *key, uint32_t type);
void put_array(struct bytes *b, const char *key, uint32_t type, uint64_t n);
void put_key_u32(struct bytes *b, const char *key, uint32_t value);

/* A tensor's description. */
void put_info(struct bytes *b, const char *name, int n_dims, const int64_t *ne,
              uint32_t type, uint64_t offset);

/* Zeros up to a multiple of ALIGN. */
void put_padding(struct bytes *b, size_t align);

/* How a file is opened: metadata only, with a context, with its data. */
enum opening { META, NO_ALLOC, DATA };
#define N_OPENINGS 3

/*
 * Writes B to a file of its own and opens that.  *tensors becomes the context, NULL
 * without one; it held garbage before.  What was logged is counted below.
 */
struct gguf_context *open_bytes(const struct bytes *b, enum opening how,
                                struct ggml_context **tensors);

/* A file's name below the build folder, this process's own. */
const char *scratch_file(void);
void remove_scratch_file(void);

/* Errors logged since the last call, and the text of the last of them. */
int errors_logged(void);
const char *last_error(void);

/* Counts errors from here on, and writes none of them. */
void watch_log(void);

/* A file with every kind of value and five tensors, aligned to 64. */
void put_everything(struct bytes *b);

#endif
