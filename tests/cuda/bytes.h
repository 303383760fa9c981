/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/bytes.h - buffers with one tensor of bytes, in emulated cases.
 */
#ifndef GB_TESTS_CUDA_BYTES_H
#define GB_TESTS_CUDA_BYTES_H

#include "tests/cuda/emulated.h"

/* More than the chunks of a ring of long copies, and a rest. */
#define LONG_SIZE ((11u << 20) + 4321)

struct bytes {
    struct ggml_context *ctx;
    struct ggml_tensor *tensor;
    ggml_backend_buffer_t buffer;
};

/* The tensor's SIZE bytes are not set. */
struct bytes bytes_make(ggml_backend_buffer_type_t buft, size_t size);
void bytes_free(struct bytes *b);

/* SIZE bytes that differ by SEED and have no period of a power of two; free. */
uint8_t *bytes_pattern(size_t size, int seed);
/* Does the tensor have what EXPECTED has? */
bool bytes_are(const struct ggml_tensor *tensor, const uint8_t *expected,
               size_t size);

/* The type of the memory of device NAME. */
ggml_backend_buffer_type_t bytes_type(const char *name);
/* No object of the driver's lives, and nothing was reported. */
void bytes_end(void);

#endif
